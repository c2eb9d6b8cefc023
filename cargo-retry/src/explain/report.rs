//! Everything there is to say about a policy: as JSON by its fields, as text here.

use retry_runtime::duration::Human;
use retry_storm::draw::Chart;
use serde::Serialize;

use super::schedule::{Attempt, Schedule};
use super::worst::{self, Worst};
use super::{faults, picture};
use crate::plot::{self, Look};
use crate::policy::Given;
use crate::table;
use crate::wrap::wrapped;

/// What is said of one policy.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    #[serde(skip)]
    given: &'a Given,
    policy: &'a str,
    faults: Vec<Fault<'a>>,
    notes: &'a [String],
    unknown: Vec<Unknown<'a>>,
    /// Nothing of this where what is given cannot be read.
    #[serde(flatten)]
    known: Option<Known>,
}

#[derive(Debug, Serialize)]
struct Known {
    words: String,
    #[serde(flatten)]
    schedule: Schedule,
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
            schedule: Schedule::of(&given.policy),
            worst_case: Worst::of(given),
            open_questions: worst::not_known(given),
        };
        let unknown = given.unknown.iter();
        Self {
            given,
            policy: &given.text,
            faults: given.broken.iter().map(fault).collect(),
            notes: &given.notes,
            unknown: unknown
                .map(|(key, written)| Unknown { key, written })
                .collect(),
            known: given.is_read.then(known),
        }
    }

    pub(super) fn charts(&self) -> Vec<Chart> {
        self.known
            .iter()
            .flat_map(|known| picture::charts(&known.schedule))
            .collect()
    }

    pub(super) fn text(&self, look: Look) -> String {
        let mut out = faults::words(self.given, look);
        let Some(known) = &self.known else {
            return out;
        };
        let mut line = |text: &str| {
            out += text;
            out += "\n";
        };
        for text in wrapped(&known.words, "", look.width) {
            line(&text);
        }
        for note in self.notes {
            for text in wrapped(note, "note: ", look.width) {
                line(&text);
            }
        }
        line("");
        line(&attempts(&known.schedule, look));
        if known.schedule.attempts.len() > 1 || known.schedule.never.is_some() {
            line(&counted(&known.schedule));
        }
        for chart in self.charts() {
            line("");
            line(plot::draw(&chart, look).trim_end_matches('\n'));
        }
        line("");
        line("Worst case");
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
        out
    }
}

/// Rows of a table that is shown whole.
const ROWS: usize = 20;

fn attempts(schedule: &Schedule, look: Look) -> String {
    let headings = [
        "attempt",
        "delay: least",
        "nominal",
        "longest",
        "start: earliest",
        "latest",
    ];
    let mut table = table::new(&headings, look.width, look.ascii);
    let all = &schedule.attempts;
    let shown = if all.len() > ROWS {
        ROWS.saturating_sub(5)
    } else {
        all.len()
    };
    for attempt in all.iter().take(shown) {
        table.add_row(row(attempt, schedule).map(table::right));
    }
    if let Some(last) = all.last().filter(|_| shown < all.len()) {
        table.add_row(["..."; 6].map(table::right));
        table.add_row(row(last, schedule).map(table::right));
    }
    if let Some(rest) = schedule.rest {
        let to = rest
            .to
            .map_or_else(|| "...".to_owned(), |to| to.to_string());
        let (least, longest) = (
            Human(rest.least).to_string(),
            Human(rest.longest).to_string(),
        );
        let cells = [
            format!("{}-{to}", rest.from),
            least,
            "-".to_owned(),
            longest,
            "-".to_owned(),
            "-".to_owned(),
        ];
        table.add_row(cells.map(table::right));
    }
    table.to_string()
}

fn row(attempt: &Attempt, schedule: &Schedule) -> [String; 6] {
    let human = |duration| Human(duration).to_string();
    let delay = |of: fn(&super::schedule::Delay) -> Option<std::time::Duration>| {
        attempt
            .delay
            .as_ref()
            .and_then(of)
            .map_or_else(|| "-".to_owned(), human)
    };
    let start = attempt.start;
    let latest = match schedule.deadline {
        Some(deadline) if !start.is_certain => format!("before {}", Human(deadline)),
        _ => human(start.latest),
    };
    [
        attempt.number.to_string(),
        delay(|it| Some(it.least)),
        delay(|it| it.nominal),
        delay(|it| Some(it.longest)),
        human(start.earliest),
        latest,
    ]
}

/// What the moments of the table count.
fn counted(schedule: &Schedule) -> String {
    let mut lines = vec![match schedule.timeout {
        Some(_) => {
            "starts: delays, and at the latest all of `timeout` for each attempt before".to_owned()
        }
        None => "starts: delays alone, as if attempts took no time".to_owned(),
    }];
    if schedule
        .attempts
        .iter()
        .any(|attempt| !attempt.start.is_certain)
    {
        lines.push("\"before ...\": or never, if the deadline comes first".to_owned());
    }
    if let Some(never) = schedule.never {
        lines.push(format!(
            "attempt {never} never starts: the deadline always comes first"
        ));
    }
    lines.join("\n")
}
