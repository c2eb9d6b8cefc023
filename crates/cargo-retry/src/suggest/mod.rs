//! `cargo retry suggest`: the code of a workspace -> what retries by hand or by another library -> the code of ours that
//! replaces it, and what differs.
//!
//! It replaces bytes, not trees: what an attempt runs is copied as it is written, so that comments
//! and macros stay. A policy that is made elsewhere gets the defaults of its library, and a line
//! says so: the suggestion compiles, and what is unknown is named. `tests/suggested.rs` runs the
//! same code before and after, and compares the attempts.

mod body;
mod callees;
mod delays;
mod find;
mod keys;
mod libraries;
mod loops;

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use crate::code::modules::Code;
use crate::code::workspace::Workspace;
use crate::output;
use crate::wrap::wrapped;

/// Finds retries that are written by hand or with another library, and prints what replaces each
///
/// Knows loops that sleep or count attempts, and backon, backoff, tokio-retry, tokio-retry2, retry,
/// tryhard and tower's `retry`. Nothing is compiled and nothing is changed. What only the types or
/// the running program tell is listed below each suggestion.
///
/// Exit status: 0, 1 if a file could not be read, 2 if it was called wrongly.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only these packages
    #[arg(short, long = "package", value_name = "NAME")]
    packages: Vec<String>,
    /// The manifest of the workspace, or of a package in it
    #[arg(long, value_name = "FILE")]
    manifest_path: Option<PathBuf>,
    /// Leaves out tests, examples, benchmarks and what is below `#[cfg(test)]`
    #[arg(long)]
    no_tests: bool,
    /// Writes JSON, with the bytes of the file that each suggestion replaces
    #[arg(long)]
    json: bool,
}

/// A place that retries without this library.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Finding {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// The library, or `a loop`.
    pub(crate) by: &'static str,
    /// What replaces it, if that is known.
    pub(crate) suggestion: Option<Suggestion>,
    pub(crate) differs: Vec<String>,
    /// What the suggestion lacks; with something in it, it is a sketch.
    pub(crate) missing: Vec<String>,
    pub(crate) unknown: Vec<String>,
}

/// What replaces a place.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Suggestion {
    /// An attribute to insert at this byte.
    pub(crate) attribute: Option<(usize, String)>,
    /// The bytes of the file that go, and what comes in their place; nothing where the code is a sketch.
    pub(crate) replaces: Option<(usize, usize)>,
    pub(crate) code: String,
}

/// Each of these once, in their order.
fn unique(all: &[String]) -> Vec<String> {
    let mut known = BTreeSet::new();
    let new = all.iter().filter(|it| known.insert(*it));
    new.cloned().collect()
}

/// Code in a sentence, where it has no room for all of it.
fn brief(code: &str) -> String {
    const LONGEST: usize = 72;
    if code.chars().count() <= LONGEST {
        return code.to_owned();
    }
    let head: String = code.chars().take(LONGEST).collect();
    format!("{} ...", head.trim_end())
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let workspace = Workspace::load(arguments.manifest_path.as_deref())?;
    let code = Code::read(&workspace.only(&arguments.packages)?);
    let findings = find::all(&code, &arguments.packages, arguments.no_tests);
    code.report_unread();
    if arguments.json {
        output::print_json(&findings)?;
    } else {
        output::print(&text(&findings))?;
    }
    Ok(if code.unread.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn text(findings: &[Finding]) -> String {
    const WIDTH: u16 = 100;
    let mut out = String::new();
    for finding in findings {
        let Finding {
            file, line, column, ..
        } = finding;
        // Writing to a `String` does not fail.
        _ = writeln!(out, "{file}:{line}:{column}: {}\n", finding.by);
        if let Some(Suggestion {
            attribute,
            code,
            replaces,
        }) = &finding.suggestion
        {
            if let Some((_, attribute)) = attribute {
                _ = writeln!(out, "    {attribute}\n    // in place of the expression:");
            } else if replaces.is_none() {
                _ = writeln!(out, "    // a sketch; what is missing stands below:");
            }
            for line in code.lines() {
                _ = writeln!(out, "    {line}");
            }
            out.push('\n');
        }
        for (what, words) in [
            ("missing: ", &finding.missing),
            ("differs: ", &finding.differs),
            ("not known: ", &finding.unknown),
        ] {
            for words in words {
                for line in wrapped(words, &format!("  {what}"), WIDTH) {
                    _ = writeln!(out, "{line}");
                }
            }
        }
        out.push('\n');
    }
    let with = findings.iter().filter(|it| it.suggestion.is_some()).count();
    _ = match findings.len() {
        0 => writeln!(
            out,
            "no retries by hand or by another library; `cargo retry list` shows those of this one"
        ),
        1 => writeln!(out, "1 place retries without reattempt"),
        all => writeln!(
            out,
            "{all} places retry without reattempt; {with} have a suggestion. Add the library with `cargo add reattempt`."
        ),
    };
    out
}
