//! `cargo retry check`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use reattempt_config::{Config, ConfigError, Diagnostic};
use retry_runtime::rules::RuleId;
use serde::Serialize;

use crate::{input, output};

/// Checks configuration files, and says everything that is wrong with them
///
/// Variables of the environment that begin with `REATTEMPT_` are checked with each of them, as they hold over each. Ends with 0
/// when all is well, with 1 when something is wrong, with 2 when a file cannot be read,
/// is no regular one, or has more than 16 MiB.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The files; `retry.toml` where none is named
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Writes JSON
    #[arg(long)]
    json: bool,
}

const FILE: &str = "retry.toml";

/// What is said of a file.
#[derive(Debug, Serialize)]
struct Checked {
    file: String,
    ok: bool,
    faults: Vec<Report>,
    #[serde(flatten)]
    summary: Option<Summary>,
}

#[derive(Debug, Serialize)]
struct Summary {
    policies: Vec<String>,
    operations: Vec<String>,
    default: Option<String>,
    enabled: bool,
}

/// A fault, as JSON has it.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    line: Option<usize>,
    column: Option<usize>,
    key: String,
    rule: String,
    message: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let default = [PathBuf::from(FILE)];
    let files = if arguments.files.is_empty() {
        if !Path::new(FILE).exists() {
            return Err(format!("there is no `{FILE}` in this folder; name the file: `cargo retry check config/{FILE}`").into());
        }
        if !arguments.json {
            output::print(&format!("no file named: {FILE} of this folder\n"))?;
        }
        &default[..]
    } else {
        &arguments.files[..]
    };
    let mut code = 0;
    let mut all = Vec::new();
    for file in files {
        if let Some(why) = input::refused(file) {
            all.push(unread(file, why));
            code = 2;
            continue;
        }
        let (checked, own) = match Config::from_file(file) {
            Ok(config) => (good(file, &config), 0),
            Err(faults) => {
                let is_unreadable = faults.iter().any(|fault| fault.rule() == RuleId::File);
                (bad(file, &faults), if is_unreadable { 2 } else { 1 })
            }
        };
        code = code.max(own);
        all.push(checked);
    }
    if arguments.json {
        output::print_json(&all)?;
    } else {
        let texts: String = all.iter().map(text).collect();
        let mut faults = all.iter().flat_map(|checked| &checked.faults);
        output::print(&[texts, more(&mut faults)].concat())?;
    }
    Ok(ExitCode::from(code))
}

/// Shows the faults of a file, and ends with 1.
pub(crate) fn refuse(faults: &ConfigError, json: bool) -> Result<ExitCode, Box<dyn Error>> {
    let faults: Vec<_> = faults.iter().map(report).collect();
    if json {
        output::print_json(&serde_json::json!({ "faults": faults }))?;
    } else {
        let lines: String = faults.iter().map(line).collect();
        output::print(&[lines, more(&mut faults.iter())].concat())?;
    }
    Ok(ExitCode::FAILURE)
}

fn good(file: &Path, config: &Config) -> Checked {
    Checked {
        file: file.display().to_string(),
        ok: true,
        faults: Vec::new(),
        summary: Some(Summary {
            policies: config.policies().map(|(name, _)| name.to_owned()).collect(),
            operations: config.operations().map(str::to_owned).collect(),
            default: config.default().map(str::to_owned),
            enabled: config.is_enabled(),
        }),
    }
}

fn bad(file: &Path, faults: &ConfigError) -> Checked {
    Checked {
        file: file.display().to_string(),
        ok: false,
        faults: faults.iter().map(report).collect(),
        summary: None,
    }
}

/// A file that is none for reading.
fn unread(file: &Path, message: String) -> Checked {
    let file = file.display().to_string();
    let fault = Report {
        file: file.clone(),
        line: None,
        column: None,
        key: String::new(),
        rule: RuleId::File.as_str().to_owned(),
        message,
    };
    Checked {
        file,
        ok: false,
        faults: vec![fault],
        summary: None,
    }
}

/// Where more is said of the first rule that has a page.
fn more(faults: &mut dyn Iterator<Item = &Report>) -> String {
    let mut rules = faults.map(|fault| &fault.rule);
    rules
        .find(|rule| {
            RuleId::ALL
                .iter()
                .any(|known| known.as_str() == rule.as_str())
        })
        .map(|rule| format!("more of a rule: cargo retry explain {rule}\n"))
        .unwrap_or_default()
}

fn report(fault: &Diagnostic) -> Report {
    Report {
        file: fault.source().to_owned(),
        line: fault.line(),
        column: fault.column(),
        key: fault.key().to_owned(),
        rule: fault.rule().as_str().to_owned(),
        message: fault.message().to_owned(),
    }
}

/// `retry.toml:3:1: policies.storage.base: message [R17]`
fn line(report: &Report) -> String {
    let mut place = vec![report.file.clone()];
    let numbers = [report.line, report.column].into_iter().flatten();
    place.extend(numbers.map(|number| number.to_string()));
    let place = place.join(":");
    let key = if report.key.is_empty() {
        String::new()
    } else {
        format!("{}: ", report.key)
    };
    format!("{place}: {key}{} [{}]\n", report.message, report.rule)
}

fn text(checked: &Checked) -> String {
    let Some(summary) = &checked.summary else {
        let count = checked.faults.len();
        let lines: String = checked.faults.iter().map(line).collect();
        let noun = if count == 1 { "fault" } else { "faults" };
        return format!("{lines}{}: {count} {noun}\n", checked.file);
    };
    let counted = |names: &[String], one: &str, many: &str| match names.len() {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let policies = counted(&summary.policies, "policy", "policies");
    let operations = counted(&summary.operations, "operation", "operations");
    let default = match &summary.default {
        Some(name) => format!("default `{name}`"),
        None => "no default".to_owned(),
    };
    let off = if summary.enabled {
        ""
    } else {
        "; all retries are switched off"
    };
    format!(
        "{}: good: {policies}, {operations}, {default}{off}\n",
        checked.file
    )
}
