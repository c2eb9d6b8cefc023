//! What is wrong with a configuration file, as every command shows it.

use std::error::Error;
use std::process::ExitCode;

use reattempt_config::{ConfigError, Diagnostic};
use retry_runtime::rules::RuleId;
use serde::Serialize;

use crate::output;

/// A fault, as JSON has it.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) file: String,
    pub(crate) line: Option<usize>,
    pub(crate) column: Option<usize>,
    pub(crate) key: String,
    pub(crate) rule: String,
    pub(crate) message: String,
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

/// Where more is said of the first rule that has a page.
pub(crate) fn more(faults: &mut dyn Iterator<Item = &Report>) -> String {
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

pub(crate) fn report(fault: &Diagnostic) -> Report {
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
pub(crate) fn line(report: &Report) -> String {
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
