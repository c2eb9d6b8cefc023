//! `cargo retry check`: files and code -> faults, and questions that only a person can answer.

mod code;
mod file;
mod questions;
mod silence;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::output;
use file::Checked;
use questions::Question;

/// Checks configuration files, and asks about policies that are allowed and seldom meant
///
/// Variables of the environment that begin with `REATTEMPT_` are checked with each file, as they hold over each. Where no file
/// is named, the code of the package or the workspace in this folder is asked about as well.
///
/// The questions: `no_limit` (nothing ends a call that takes too long), `no_timeout` (nothing ends an attempt, nor does its client),
/// `no_jitter` (all clients wait for the same time), `no_budget` (nothing bounds the retries of all calls together),
/// `lone_budget` (a budget that one operation alone has), `no_effect` (a table of the file for code that does not ask for a
/// policy by name). A comment at the place or above it answers one for good:
/// `// retry: no_limit: the caller has a time-out`.
///
/// Ends with 0 when all is well, with 1 when something is wrong or a question is asked that `--deny` names, with 2 when a file
/// cannot be read, is no regular one, or has more than 16 MiB.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The files; where none is named, `retry.toml` and the code of this folder
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Questions that must not be open: their words, separated by commas, or `all`
    #[arg(long, value_name = "QUESTION", value_delimiter = ',', value_parser = questions::words())]
    deny: Vec<String>,

    /// Writes JSON
    #[arg(long)]
    json: bool,
}

const FILE: &str = "retry.toml";

const CARGO: &str = "Cargo.toml";

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let (files, has_code) = chosen(arguments)?;
    let mut all: Vec<_> = files.iter().map(|file| file::checked(file)).collect();
    if has_code {
        let configuration = files.first().map(PathBuf::as_path);
        all.push(code::checked(
            configuration.filter(|_| all.iter().all(Checked::is_read)),
        )?);
    }
    if arguments.json {
        output::print_json(&all)?;
    } else {
        output::print(&file::text(&all))?;
    }
    let is_denied = |question: Question| {
        let words = ["all", question.word()];
        arguments.deny.iter().any(|it| words.contains(&it.as_str()))
    };
    let is_open = all.iter().flat_map(Checked::questions).any(is_denied);
    let code = all.iter().map(Checked::status).max().unwrap_or_default();
    Ok(ExitCode::from(code.max(u8::from(is_open))))
}

/// The files that are checked, and whether the code is.
fn chosen(arguments: &Arguments) -> Result<(Vec<PathBuf>, bool), Box<dyn Error>> {
    if !arguments.files.is_empty() {
        return Ok((arguments.files.clone(), false));
    }
    let here = |name: &str| Path::new(name).exists().then(|| PathBuf::from(name));
    let (file, code) = (here(FILE), here(CARGO));
    if file.is_none() && code.is_none() {
        return Err(format!("there is no `{FILE}` and no `{CARGO}` in this folder; name the file: `cargo retry check config/{FILE}`").into());
    }
    if !arguments.json {
        let found = [(&file, FILE), (&code, "the code")].into_iter();
        let found: Vec<_> = found
            .filter_map(|(it, name)| it.as_ref().map(|_| name))
            .collect();
        output::print(&format!(
            "no file named: {} of this folder\n",
            found.join(" and ")
        ))?;
    }
    Ok((file.into_iter().collect(), code.is_some()))
}
