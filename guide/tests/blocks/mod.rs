//! The blocks of code in a chapter, and what is wrong with one that the compiler does not see.

mod commands;

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
        self.missing_include().or_else(|| match &*self.language {
            "rust" | "rust,no_run" | "text" => None,
            "rust,ignore" => self.ignored(),
            "toml" => self.configuration(),
            "sh" => self.shell(),
            "python" => run(
                "python3",
                &["-c", "import ast, sys; ast.parse(sys.stdin.read())"],
                &self.text,
            ),
            "promql" => self.metrics(),
            other => Some(format!("nothing checks a block of the language `{other}`")),
        })
    }

    /// mdBook leaves such a line as it is.
    fn missing_include(&self) -> Option<String> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let includes = self.text.split("{{#include ").skip(1);
        let mut files = includes.filter_map(|include| include.split([':', '}']).next());
        let file = files.find(|file| !sources.join(file).is_file())?;
        Some(format!("there is no `{file}`"))
    }

    /// Compiled by nobody, so it is one of the listings that a test of the macros compares.
    fn ignored(&self) -> Option<String> {
        let is_listing =
            self.text.starts_with("{{#include expansion/") && self.text.lines().count() == 1;
        (!is_listing).then(|| "`ignore` is for listings of `expansion` alone".to_owned())
    }

    fn configuration(&self) -> Option<String> {
        let faults = Config::from_text("retry.toml", &self.text, []).err()?;
        Some(faults.to_string())
    }

    fn shell(&self) -> Option<String> {
        run("bash", &["-n"], &self.text)
            .map(|fault| format!("syntax: {fault}"))
            .or_else(|| self.text.lines().find_map(commands::fault))
    }

    /// The page `watching` has a table of all metrics.
    fn metrics(&self) -> Option<String> {
        let table = include_str!("../../../docs/watching.md");
        let is_name = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '_';
        let words = self.text.split(|symbol| !is_name(symbol));
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
