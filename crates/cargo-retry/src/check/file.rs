//! A configuration file: its faults, or what it holds and the questions about its policies.

use std::fmt::Write as _;
use std::path::Path;

use reattempt_config::{Config, ConfigError};
use retry_runtime::rules::RuleId;
use serde::Serialize;

use super::questions::{Finding, Question, no_jitter};
use super::silence::{self, Answer};
use crate::faults::{self, Report};
use crate::input;

/// What is said of a file, or of the code.
#[derive(Debug, Serialize)]
pub(super) struct Checked {
    pub(super) file: String,
    pub(super) ok: bool,
    pub(super) faults: Vec<Report>,
    pub(super) questions: Vec<Finding>,
    #[serde(flatten)]
    pub(super) summary: Option<Summary>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Summary {
    File {
        policies: Vec<String>,
        operations: Vec<String>,
        default: Option<String>,
        enabled: bool,
    },
    Code {
        /// Places that retry.
        places: usize,
    },
}

impl Checked {
    pub(super) fn is_read(&self) -> bool {
        self.status() < 2
    }

    /// The exit status, as far as faults decide it.
    pub(super) fn status(&self) -> u8 {
        let is_unread = |fault: &Report| fault.rule == RuleId::File.as_str();
        match self.ok {
            true => 0,
            false if self.faults.iter().any(is_unread) => 2,
            false => 1,
        }
    }

    pub(super) fn questions(&self) -> impl Iterator<Item = Question> {
        self.questions.iter().map(|asked| asked.question)
    }
}

/// Reads a file, and looks at it.
pub(super) fn checked(file: &Path) -> Checked {
    if let Some(why) = input::refused(file) {
        return unread(file, why);
    }
    match Config::from_file(file) {
        Ok(config) => good(file, &config),
        Err(faults) => bad(file, &faults),
    }
}

fn good(file: &Path, config: &Config) -> Checked {
    Checked {
        file: file.display().to_string(),
        ok: true,
        faults: Vec::new(),
        questions: findings(file, config),
        summary: Some(Summary::File {
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
        faults: faults.iter().map(faults::report).collect(),
        questions: Vec::new(),
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
        questions: Vec::new(),
        summary: None,
    }
}

/// The questions about the policies of a file.
fn findings(file: &Path, config: &Config) -> Vec<Finding> {
    let text = input::text(file).unwrap_or_default();
    let shown = file.display().to_string();
    let policies = config.policies().filter_map(|(name, policy)| {
        let message = no_jitter(&policy)?;
        let line = line_of(&text, name);
        let question = Question::NoJitter;
        let asked = Finding {
            file: shown.clone(),
            line,
            column: None,
            of: format!("policies.{name}"),
            question,
            message,
            why: question.why(),
        };
        unless_answered(&text, asked)
    });
    policies.collect()
}

/// The question, if no comment answers it.
pub(super) fn unless_answered(text: &str, mut asked: Finding) -> Option<Finding> {
    match silence::answer(text, asked.line.unwrap_or_default(), asked.question) {
        Answer::Given => return None,
        Answer::Bare => {
            let word = asked.question.word();
            let _ = write!(
                asked.message,
                "; its comment gives no reason: `retry: {word}: reason`"
            );
        }
        Answer::None => {}
    }
    Some(asked)
}

/// The line of a policy: its table, or the key that holds it.
fn line_of(text: &str, name: &str) -> Option<usize> {
    let names = |line: &str| {
        let head = line.trim_start().trim_start_matches('[');
        let head = head.strip_prefix("policies.").unwrap_or(head);
        let head = head.trim_start_matches(['"', '\'']);
        head.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(|c: char| "\"'].= :".contains(c)))
    };
    Some(text.lines().position(names)? + 1)
}

/// All of it, for people.
pub(super) fn text(all: &[Checked]) -> String {
    let mut text: String = all.iter().map(of_one).collect();
    text += &faults::more(&mut all.iter().flat_map(|checked| &checked.faults));
    let mut explained = Vec::new();
    for question in all.iter().flat_map(Checked::questions) {
        if !explained.contains(&question) {
            explained.push(question);
            let _ = writeln!(text, "{}: {}", question.word(), question.why());
        }
    }
    if let Some(question) = explained.first() {
        let word = question.word();
        let _ = writeln!(
            text,
            "a comment at a place answers: `retry: {word}: ` and the reason"
        );
    }
    text
}

fn of_question(asked: &Finding) -> String {
    let place = [
        Some(asked.file.clone()),
        asked.line.map(|it| it.to_string()),
        asked.column.map(|it| it.to_string()),
    ];
    let place: Vec<_> = place.into_iter().flatten().collect();
    format!(
        "{}: {}: {} [{}]\n",
        place.join(":"),
        asked.of,
        asked.message,
        asked.question.word()
    )
}

fn of_one(checked: &Checked) -> String {
    let Some(summary) = &checked.summary else {
        let count = checked.faults.len();
        let lines: String = checked.faults.iter().map(faults::line).collect();
        let noun = if count == 1 { "fault" } else { "faults" };
        return format!("{lines}{}: {count} {noun}\n", checked.file);
    };
    let questions: String = checked.questions.iter().map(of_question).collect();
    let asked = match checked.questions.len() {
        0 => String::new(),
        1 => ", 1 question".to_owned(),
        count => format!(", {count} questions"),
    };
    let counted = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let file = &checked.file;
    match summary {
        Summary::Code { places } => {
            let places = counted(*places, "place that retries", "places that retry");
            format!("{questions}{file}: {places}{asked}\n")
        }
        Summary::File {
            policies,
            operations,
            default,
            enabled,
        } => {
            let policies = counted(policies.len(), "policy", "policies");
            let operations = counted(operations.len(), "operation", "operations");
            let default = match default {
                Some(name) => format!("default `{name}`"),
                None => "no default".to_owned(),
            };
            let off = if *enabled {
                ""
            } else {
                "; all retries are switched off"
            };
            format!("{questions}{file}: good: {policies}, {operations}, {default}{asked}{off}\n")
        }
    }
}
