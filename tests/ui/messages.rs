//! What the expected outputs of a folder say, and what every message has to be.

use std::fs;
use std::path::{Path, PathBuf};

use reattempt_policy::rules::RuleId;

/// A message of the compiler: its first line, the others below it, and where it points.
pub(crate) struct Message {
    pub(crate) file: PathBuf,
    pub(crate) text: String,
    pub(crate) below: String,
    line: usize,
    column: usize,
}

fn outputs(folder: &str) -> Vec<PathBuf> {
    let outputs: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|ending| ending == "stderr"))
        .collect();
    assert!(!outputs.is_empty(), "{folder} says nothing");
    outputs
}

/// The messages in all expected outputs of a folder.
pub(crate) fn messages(folder: &str) -> Vec<Message> {
    outputs(folder)
        .into_iter()
        .flat_map(|file| {
            let output = fs::read_to_string(&file).unwrap_or_default();
            let lines: Vec<_> = output.lines().collect();
            let starts = (0..lines.len()).filter_map(|start| Message::of(&file, &lines[start..]));
            starts.collect::<Vec<_>>()
        })
        .collect()
}

impl Message {
    /// What the first of some lines says if it begins a message: those that follow are indented, and the one after them
    /// says where.
    fn of(file: &Path, lines: &[&str]) -> Option<Self> {
        let (said, rest) = lines.split_first()?;
        if !said.starts_with("error") && !said.starts_with("warning") {
            return None;
        }
        let end = rest.iter().position(|line| line.contains("--> "))?;
        let (below, rest) = rest.split_at(end);
        if below.iter().any(|line| !line.starts_with(' ')) {
            return None;
        }
        let mut place = rest.first()?.split("--> ").nth(1)?.split(':').skip(1);
        Some(Self {
            file: file.to_owned(),
            text: (*said).to_owned(),
            below: below.join("\n"),
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

/// Our own messages: lower case, no full stop, the rule and then the fix.
pub(crate) fn name_the_rule_and_the_fix(folders: &[&str], fixes: &[&str]) {
    let mut faults = Vec::new();
    for message in folders.iter().flat_map(|folder| messages(folder)) {
        let Some(text) = message.text.strip_prefix("error: ") else {
            continue; // the compiler's own have a number
        };
        let upper = text.starts_with(|first: char| first.is_uppercase());
        let names_one = fixes.iter().any(|fix| text.contains(fix));
        if upper || text.ends_with('.') || !names_one {
            faults.push(format!("{}: {text}", message.file.display()));
        }
    }
    report(&faults, "these name no fix, or are not a fragment");
}

/// The last line of our own messages says where the rule is explained; the first is about the user's value alone.
pub(crate) fn end_with_their_rule(folders: &[&str]) {
    let mut faults = Vec::new();
    for message in folders.iter().flat_map(|folder| messages(folder)) {
        if !message.text.starts_with("error: ") && !message.text.contains("evaluation panicked") {
            continue; // the compiler's own
        }
        let line = message.below.lines().last().unwrap_or_default().trim();
        let known = RuleId::ALL.iter().any(|rule| rule.footer() == line);
        if !known || message.text.contains("rule ") {
            faults.push(format!("{}: {}", message.file.display(), message.text));
        }
    }
    report(&faults, "these do not say where their rule is explained");
}

/// A rule is spelled with its own address wherever it is named: in notes, too, which are written by hand.
pub(crate) fn name_rules_that_exist(folders: &[&str]) {
    let mut faults = Vec::new();
    for file in folders.iter().flat_map(|folder| outputs(folder)) {
        let output = fs::read_to_string(&file).unwrap_or_default();
        for line in output.lines().filter(|line| line.contains("/errors.html#")) {
            let said = line.find("rule ").and_then(|start| line.get(start..));
            if !RuleId::ALL.iter().any(|rule| Some(rule.footer()) == said) {
                faults.push(format!("{}: {line}", file.display()));
            }
        }
    }
    report(&faults, "these name a rule that is not in the index");
}

/// No message quotes std: rustc shows its lines where `rust-src` is installed, and only their file where it is not. A
/// case uses types of its own instead.
pub(crate) fn quote_no_std(folders: &[&str]) {
    let mut faults = Vec::new();
    for file in folders.iter().flat_map(|folder| outputs(folder)) {
        let output = fs::read_to_string(&file).unwrap_or_default();
        for line in output.lines().filter(|line| line.contains("$RUST/")) {
            faults.push(format!("{}: {line}", file.display()));
        }
    }
    report(&faults, "these quote std");
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
