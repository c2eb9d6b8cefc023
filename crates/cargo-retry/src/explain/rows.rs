//! A schedule as a table.

use std::time::Duration;

use retry_runtime::duration::Human;

use super::schedule::{Attempt, Delay, Schedule};
use crate::plot::Look;
use crate::table;

/// Rows of a table that is shown whole.
const ROWS: usize = 20;

/// A row for each attempt, as far as they differ.
pub(super) fn attempts(schedule: &Schedule, look: Look) -> String {
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
    let delay = |of: fn(&Delay) -> Option<Duration>| {
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
pub(super) fn counted(schedule: &Schedule) -> Vec<String> {
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
    lines
}
