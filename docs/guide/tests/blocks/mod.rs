//! The blocks of code in a chapter, and what is wrong with one that the compiler does not see.

mod commands;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use reattempt::config::Config;

/// A block between two fences.
#[derive(Debug)]
pub(crate) struct Block {
    chapter: String,
    line: usize,
    language: String,
    text: String,
}

/// All blocks of a chapter.
pub(crate) fn of(chapter: &str, text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_inside = false;
    for (number, line) in text.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            if !is_inside {
                blocks.push(Block {
                    chapter: chapter.to_owned(),
                    line: number + 1,
                    language: language.trim().to_owned(),
                    text: String::new(),
                });
            }
            is_inside = !is_inside;
        } else if let (true, Some(block)) = (is_inside, blocks.last_mut()) {
            block.text.push_str(line);
            block.text.push('\n');
        }
    }
    assert!(!is_inside, "{chapter}: a block without an end");
    blocks
}

impl Block {
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.chapter, self.line)
    }

    /// What is wrong with it; nothing where the compiler, or nobody, has to judge.
    pub(crate) fn fault(&self) -> Option<String> {
        let text = match self.expanded() {
            Ok(text) => text,
            Err(fault) => return Some(fault),
        };
        match &*self.language {
            "rust" | "rust,no_run" | "text" | "text,message" => None,
            "rust,ignore" => self.ignored(),
            "toml" => Self::configuration(&text),
            "toml,manifest" => Self::manifest(&text),
            "toml,refused" => match Self::configuration(&text) {
                Some(_) => None,
                None => Some("nothing is wrong with it".to_owned()),
            },
            "sh" => Self::shell(&text),
            "python" => run(
                "python3",
                &["-c", "import ast, sys; ast.parse(sys.stdin.read())"],
                &text,
            ),
            "promql" => Self::metrics(&text),
            other => Some(format!("nothing checks a block of the language `{other}`")),
        }
    }

    /// What mdBook puts in the place of lines that include a file, or a part of its lines; a fault where there is none.
    fn expanded(&self) -> Result<String, String> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut expanded = String::new();
        for line in self.text.lines() {
            let include = line.strip_prefix("{{#include ");
            let Some(include) = include.and_then(|rest| rest.strip_suffix("}}")) else {
                expanded += line;
                expanded.push('\n');
                continue;
            };
            let mut parts = include.split(':');
            let file = parts.next().unwrap_or_default();
            let text = fs::read_to_string(sources.join(file));
            let text = text.map_err(|fault| format!("`{file}`: {fault}"))?;
            let mut numbers = parts.map(|part| part.parse::<usize>().ok());
            let first = numbers.next().flatten().unwrap_or(1);
            let last = numbers.next().flatten().unwrap_or(usize::MAX);
            let lines: Vec<_> = text
                .lines()
                .take(last)
                .skip(first.saturating_sub(1))
                .collect();
            if lines.iter().all(|line| line.is_empty()) {
                return Err(format!("`{include}`: there is nothing in it"));
            }
            expanded += &lines.join("\n");
            expanded.push('\n');
        }
        Ok(expanded)
    }

    /// Compiled by nobody here, so it is a listing that a test of the macros compares, or the program of `tests/shop`.
    fn ignored(&self) -> Option<String> {
        let is_listing = self.text.lines().count() == 1
            && ["expansion/", "../tests/shop/src/", "../tests/others/src/"]
                .iter()
                .any(|folder| self.text.starts_with(&format!("{{{{#include {folder}")));
        (!is_listing).then(|| "`ignore` is for listings alone, which a test knows".to_owned())
    }

    fn configuration(text: &str) -> Option<String> {
        let faults = Config::from_text("retry.toml", text, []).err()?;
        Some(faults.to_string())
    }

    /// A part of a `Cargo.toml`: a dependency on a crate of ours has its version.
    fn manifest(text: &str) -> Option<String> {
        let version = concat!(
            "version = \"",
            env!("CARGO_PKG_VERSION_MAJOR"),
            ".",
            env!("CARGO_PKG_VERSION_MINOR"),
            "\""
        );
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
        let is_known = |line: &&str| {
            let name = line.split(' ').next().unwrap_or_default();
            crates.join(name).is_dir() && line.contains(version)
        };
        let mut ours = text
            .lines()
            .filter(|line| line.starts_with("reattempt-"))
            .peekable();
        if ours.peek().is_none() {
            return Some("it has no dependencies".to_owned());
        }
        let unknown = ours.find(|line| !is_known(line))?;
        Some(format!("there is no `{unknown}`"))
    }

    fn shell(text: &str) -> Option<String> {
        run("bash", &["-n"], text)
            .map(|fault| format!("syntax: {fault}"))
            .or_else(|| text.lines().find_map(commands::fault))
    }

    /// The page `watching` has a table of all metrics.
    fn metrics(text: &str) -> Option<String> {
        let table = include_str!("../../../watching.md");
        let is_name = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_';
        let words = text.split(|symbol| !is_name(symbol));
        let mut metrics = words.filter(|word| word.starts_with("retry_"));
        let unknown = metrics.find(|name| !table.contains(&format!("| `{name}` |")))?;
        Some(format!("there is no metric `{unknown}`"))
    }
}

/// What a program says of its input, if it is not content.
fn run(program: &str, arguments: &[&str], input: &str) -> Option<String> {
    let said = output(program, arguments, input);
    said.unwrap_or_else(|fault| Some(fault.to_string()))
        .map(|said| format!("{program}: {said}"))
}

fn output(program: &str, arguments: &[&str], input: &str) -> io::Result<Option<String>> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((!output.status.success()).then_some(said))
}
