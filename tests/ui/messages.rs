//! What the expected outputs of a folder say, and what every message has to be.

use std::fs;
use std::path::{Path, PathBuf};

/// A message of the compiler: its first line, and where it points.
pub(crate) struct Message {
    pub(crate) file: PathBuf,
    pub(crate) text: String,
    line: usize,
    column: usize,
}

/// The messages in all expected outputs of a folder.
pub(crate) fn messages(folder: &str) -> Vec<Message> {
    let outputs: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|ending| ending == "stderr"))
        .collect();
    assert!(!outputs.is_empty(), "{folder} says nothing");
    outputs
        .into_iter()
        .flat_map(|file| {
            let output = fs::read_to_string(&file).unwrap_or_default();
            let lines: Vec<_> = output.lines().collect();
            let pairs = lines.windows(2);
            let found = pairs.filter_map(|pair| Message::of(&file, pair[0], pair[1]));
            found.collect::<Vec<_>>()
        })
        .collect()
}

impl Message {
    /// What a line says if it begins a message; the next line says where.
    fn of(file: &Path, said: &str, place: &str) -> Option<Self> {
        if !said.starts_with("error") && !said.starts_with("warning") {
            return None;
        }
        let mut place = place.split("--> ").nth(1)?.split(':').skip(1);
        Some(Self {
            file: file.to_owned(),
            text: said.to_owned(),
            line: place.next()?.parse().ok()?,
            column: place.next()?.parse().ok()?,
        })
    }
}

pub(crate) fn report(faults: &[String], what: &str) {
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

/// A message stands at a token of the user, never at the attribute or the macro as a whole; but for these files.
pub(crate) fn point_at_a_token(folders: &[&str], but: &[&str]) {
    let mut faults = Vec::new();
    for message in folders.iter().flat_map(|folder| messages(folder)) {
        let source = message.file.with_extension("rs");
        if but.iter().any(|file| source.ends_with(file)) {
            continue;
        }
        let source = fs::read_to_string(source).unwrap_or_default();
        let line = source.lines().nth(message.line - 1).unwrap_or_default();
        let there = line.get(message.column - 1..).unwrap_or_default();
        if there.starts_with("#[") || there.starts_with("retry_block!") {
            faults.push(format!("{}: {}", message.file.display(), message.text));
        }
    }
    report(&faults, "these stand at the whole");
}

/// Our own messages: lower case, no full stop, the rule and then the mend.
pub(crate) fn name_the_rule_and_the_mend(folders: &[&str], mends: &[&str]) {
    let mut faults = Vec::new();
    for message in folders.iter().flat_map(|folder| messages(folder)) {
        let Some(text) = message.text.strip_prefix("error: ") else {
            continue; // the compiler's own have a number
        };
        let upper = text.starts_with(|first: char| first.is_uppercase());
        let mended = mends.iter().any(|mend| text.contains(mend));
        if upper || text.ends_with('.') || !mended {
            faults.push(format!("{}: {text}", message.file.display()));
        }
    }
    report(&faults, "these name no mend, or are no fragment");
}

/// What was refused causes no second message: neither its callers nor what follows it.
pub(crate) fn do_not_cascade(folders: &[&str], is_second: impl Fn(&Message) -> bool) {
    let all = folders.iter().flat_map(|folder| messages(folder));
    let faults = all.filter(is_second);
    let faults: Vec<_> = faults
        .map(|fault| format!("{}: {}", fault.file.display(), fault.text))
        .collect();
    report(&faults, "these tell what follows a refusal");
}
