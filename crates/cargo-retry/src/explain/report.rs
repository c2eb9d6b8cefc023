//! Everything there is to say about a policy: as JSON by its fields, as text here.

use serde::Serialize;

use super::rows::{attempts, counted};
use super::schedule::Schedule;
use super::timeline::Timeline;
use super::worst::{self, Worst};
use super::{faults, timeline};
use crate::output::shown;
use crate::plot::Look;
use crate::policy::Given;
use crate::wrap::wrapped;

/// What is said of one policy.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    #[serde(skip)]
    given: &'a Given,
    policy: &'a str,
    faults: Vec<Fault<'a>>,
    notes: Vec<String>,
    unknown: Vec<Unknown<'a>>,
    /// Nothing of this where what is given cannot be read.
    #[serde(flatten)]
    known: Option<Known>,
}

#[derive(Debug, Serialize)]
struct Known {
    words: String,
    /// None where a strategy has its own.
    #[serde(flatten)]
    schedule: Option<Schedule>,
    worst_case: Worst,
    open_questions: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Fault<'a> {
    rule: &'a str,
    message: &'a str,
    /// From 1, as `column`, which counts characters.
    line: Option<usize>,
    column: Option<usize>,
    written: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Unknown<'a> {
    key: &'a str,
    written: &'a str,
}

impl<'a> Report<'a> {
    pub(super) fn of(given: &'a Given) -> Self {
        let fault = |broken: &'a crate::policy::Broken| {
            let place = broken.place.clone();
            let before = place
                .as_ref()
                .and_then(|place| given.text.get(..place.start));
            let start = before.map(|before| before.rsplit('\n').next().unwrap_or_default());
            Fault {
                rule: &broken.rule,
                message: &broken.message,
                line: before.map(|before| before.matches('\n').count().saturating_add(1)),
                column: start.map(|start| start.chars().count().saturating_add(1)),
                written: place.and_then(|place| given.text.get(place)),
            }
        };
        let known = || Known {
            words: given.policy.explain().to_string(),
            schedule: (!given.is_decided()).then(|| Schedule::of(&given.policy)),
            worst_case: Worst::of(given),
            open_questions: worst::not_known(given),
        };
        let unknown = given.unknown.iter();
        Self {
            given,
            policy: &given.text,
            faults: given.broken.iter().map(fault).collect(),
            notes: given
                .notes
                .iter()
                .cloned()
                .chain(worst::stand_ins(given))
                .collect(),
            unknown: unknown
                .map(|(key, written)| Unknown { key, written })
                .collect(),
            known: given.is_read.then(known),
        }
    }

    pub(super) fn timeline(&self) -> Option<Timeline> {
        let schedule = self.known.as_ref()?.schedule.as_ref()?;
        Timeline::of(schedule)
    }

    pub(super) fn text(&self, look: Look) -> String {
        // Last, where they are seen.
        let faults = faults::words(self.given, look);
        let Some(known) = &self.known else {
            return faults;
        };
        let mut out = String::new();
        let mut line = |text: &str| {
            out += text;
            out += "\n";
        };
        for text in wrapped(&known.words, "", look.width) {
            line(&text);
        }
        for note in &self.notes {
            for text in wrapped(&shown(note), "note: ", look.width) {
                line(&text);
            }
        }
        if let Some(schedule) = &known.schedule {
            line("");
            line(&attempts(schedule, look));
            if schedule.attempts.len() > 1 || schedule.never.is_some() {
                for words in counted(schedule) {
                    for text in wrapped(&words, "", look.width) {
                        line(&text);
                    }
                }
            }
        }
        if let Some(timeline) = self.timeline() {
            line("");
            line(&timeline::text(&timeline, look));
        }
        line("");
        line(if self.unknown.is_empty() || self.given.is_decided() {
            "Worst case"
        } else {
            "Worst case, with these defaults"
        });
        for (heading, words) in known.worst_case.words(self.given) {
            for text in wrapped(&words, &format!("  {heading:<12}"), look.width) {
                line(&text);
            }
        }
        if !known.open_questions.is_empty() {
            line("");
            line("Not known from the keys");
        }
        for words in &known.open_questions {
            for text in wrapped(words, "  - ", look.width) {
                line(&text);
            }
        }
        if !faults.is_empty() {
            line("");
        }
        out.push_str(&faults);
        out
    }
}
