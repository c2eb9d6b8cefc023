//! Commands of our own, in blocks of shell: what they name exists.

use std::fs;
use std::path::{Path, PathBuf};

use reattempt::config::Config;

/// What a line names and nobody has.
pub(crate) fn fault(line: &str) -> Option<String> {
    let words: Vec<_> = line.split_whitespace().collect();
    let unknown = match *words.as_slice() {
        ["cargo", "add", ref rest @ ..] => added(rest),
        ["cargo", "run", ref rest @ ..] => example(rest).or_else(|| member(rest)),
        ["cargo", "test", ref rest @ ..] => member(rest),
        ["cargo", "retry", ref rest @ ..] => subcommand(rest),
        _ => None,
    };
    unknown
        .map(|unknown| format!("`{line}` names `{unknown}`, which there is not"))
        .or_else(|| variables(&words))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|fault| panic!("{file}: {fault}"))
}

/// The word behind an option.
fn value<'a>(words: &[&'a str], option: &str) -> Option<&'a str> {
    let place = words.iter().position(|word| *word == option)?;
    words.get(place + 1).copied()
}

/// A feature of `cargo add` that the crate of this workspace has not.
fn added(words: &[&str]) -> Option<String> {
    let manifest = if words.contains(&"reattempt") {
        read("Cargo.toml")
    } else if words.contains(&"reattempt-supervisor") {
        read("crates/reattempt-supervisor/Cargo.toml")
    } else {
        return None; // of somebody else
    };
    let mut features = value(words, "--features")?.split(',');
    let has = |feature: &str| {
        manifest
            .lines()
            .any(|line| line.starts_with(&format!("{feature} = [")))
    };
    features.find(|feature| !has(feature)).map(str::to_owned)
}

/// An example that the package does not have: that of `-p`, else `reattempt`.
fn example(words: &[&str]) -> Option<String> {
    let name = value(words, "--example")?;
    let manifest = match value(words, "-p") {
        Some("service-examples") => read("examples/services/Cargo.toml"),
        _ => read("Cargo.toml"),
    };
    let is_there = manifest.contains(&format!("[[example]]\nname = \"{name}\"\n"));
    (!is_there).then(|| name.to_owned())
}

fn member(words: &[&str]) -> Option<String> {
    let name = value(words, "-p")?;
    let ours = ["0.0.0", "0.1.0"];
    let lock = read("Cargo.lock");
    let is_member = ours
        .iter()
        .any(|version| lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\ndep")));
    (!is_member).then(|| name.to_owned())
}

/// A command of `cargo retry`, or an option of it, that is not in its source.
fn subcommand(words: &[&str]) -> Option<String> {
    let (command, rest) = words.split_first()?;
    let folder = root().join("crates/cargo-retry/src");
    let mut source =
        fs::read_to_string(folder.join(command).with_extension("rs")).unwrap_or_default();
    for file in fs::read_dir(folder.join(command))
        .into_iter()
        .flatten()
        .flatten()
    {
        source += &fs::read_to_string(file.path()).unwrap_or_default();
    }
    if source.is_empty() {
        return Some((*command).to_owned());
    }
    let mut options = rest.iter().filter_map(|word| word.strip_prefix("--"));
    let has = |option: &str| {
        let field = option.replace('-', "_");
        source.contains(&format!("{field}:")) || source.contains(&format!("\"{option}\""))
    };
    options.find(|option| !has(option)).map(str::to_owned)
}

/// Variables of the environment are judged as a configuration reads them.
fn variables(words: &[&str]) -> Option<String> {
    let assignments = words.iter().map(|word| word.trim_matches('\''));
    let ours = assignments.filter(|word| word.starts_with("REATTEMPT_"));
    let pairs = ours.filter_map(|word| {
        let (name, value) = word.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    });
    let policies = "[policies.storage]\nmax = 3\n";
    let faults = Config::from_text("retry.toml", policies, pairs).err()?;
    Some(faults.to_string())
}
