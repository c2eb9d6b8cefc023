//! The statistics as tables.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use comfy_table::Cell;
use retry_runtime::duration::Human;

use super::http::Address;
use super::stats::{Breaker, Operation, Rates, Stats};
use crate::output::shown;
use crate::plot::{Look, bold};
use crate::table;
use crate::wrap::wrapped;

/// A message is looked at, not read to its end.
const MESSAGE: usize = 60;

/// The tables, each line ended. `before` is what was read before, and how long ago.
pub(super) fn text(stats: &Stats, before: Option<(&Stats, Duration)>, look: Look) -> String {
    // A page may say anything.
    let sum = |count: fn(&Operation) -> u64| {
        let counts = stats.operations.iter().map(count);
        counts.fold(0, u64::saturating_add)
    };
    let mut out = String::new();
    let title = format!(
        "Retries since the start of the process, at {}",
        moment(&stats.at)
    );
    for line in wrapped(&title, "", look.width) {
        out.extend([&*bold(&line, look), "\n"]);
    }
    let sums = format!(
        "{} calls did not succeed at once: {} recovered, {} gave up, {} dropped; {} retries",
        grouped(sum(|it| it.calls)),
        grouped(sum(|it| it.recovered)),
        grouped(sum(|it| it.gave_up)),
        grouped(sum(|it| it.dropped)),
        grouped(sum(|it| it.retries)),
    );
    for line in wrapped(&sums, "", look.width) {
        out.extend([&*line, "\n"]);
    }
    if !stats.breakers.is_empty() {
        _ = write!(out, "\n{}\n", breakers(&stats.breakers, look));
    }
    if !stats.operations.is_empty() {
        _ = write!(out, "\n{}\n", operations(stats, before, look));
    }
    out
}

/// Those that give up most often, now or since the start, are first.
fn operations(stats: &Stats, before: Option<(&Stats, Duration)>, look: Look) -> String {
    let rates = |it: &Operation| before.map(|(before, time)| Rates::of(it, before, time));
    let mut rows: Vec<_> = stats.operations.iter().map(|it| (it, rates(it))).collect();
    rows.sort_by(|(one, one_rates), (other, other_rates)| {
        let now = |rates: &Option<Rates>| rates.map_or(0.0, |it| it.gave_up);
        let ever = |it: &Operation| Reverse((it.gave_up, it.retries));
        let by_now = now(other_rates).total_cmp(&now(one_rates));
        let by_sum = ever(one).cmp(&ever(other));
        by_now.then(by_sum).then(one.name.cmp(&other.name))
    });
    let mut headings = vec!["operation", "calls", "retries", "recovered", "gave up"];
    if before.is_some() {
        headings.extend(["retries/s", "gave up/s"]);
    }
    headings.push("last error");
    let mut table = table::new(&headings, look.width, look.ascii);
    for (it, rates) in rows {
        let mut cells = vec![Cell::new(shown(&it.name))];
        cells.extend([
            table::right(grouped(it.calls)),
            table::right(with_kinds(it.retries, &it.causes)),
            table::right(grouped(it.recovered)),
            table::right(with_kinds(it.gave_up, &it.give_ups)),
        ]);
        if let Some(rates) = rates {
            let rates = [rates.retries, rates.gave_up];
            cells.extend(rates.map(|rate| table::right(format!("{rate:.1}"))));
        }
        cells.push(Cell::new(last_error(it)));
        table.add_row(cells);
    }
    table.to_string()
}

/// How many, and how often for which cause or reason.
fn with_kinds(sum: u64, counts: &BTreeMap<String, u64>) -> String {
    let mut text = grouped(sum);
    for (kind, count) in counts {
        let kind = shown(kind).replace('_', " ");
        // Writing to a `String` does not fail.
        _ = write!(text, "\n{kind} {}", grouped(*count));
    }
    text
}

fn last_error(operation: &Operation) -> String {
    let Some(error) = &operation.last_error else {
        return String::new();
    };
    let kind = shown(&error.kind);
    let Some(message) = &error.message else {
        return kind;
    };
    let message = shown(&message.lines().next().unwrap_or_default());
    let mut short: String = message.chars().take(MESSAGE).collect();
    if short.len() < message.len() {
        short.push_str("...");
    }
    format!("{kind}: {short}")
}

/// Those that are open are first.
fn breakers(breakers: &[Breaker], look: Look) -> String {
    let mut rows: Vec<_> = breakers.iter().collect();
    rows.sort_by_key(|it| (it.state == "closed", Reverse(it.failures), &it.name));
    let headings = [
        "breaker",
        "state",
        "since",
        "calls",
        "failures",
        "slow calls",
    ];
    let mut table = table::new(&headings, look.width, look.ascii);
    for it in rows {
        let since = it
            .state_time
            .and_then(|time| Duration::try_from_secs_f64(time.round()).ok());
        let since = since.map_or_else(|| "the start".to_owned(), |it| Human(it).to_string());
        let mut cells = vec![
            Cell::new(shown(&it.name)),
            Cell::new(shown(&it.state).replace('_', " ")),
            table::right(since),
        ];
        cells.extend([it.calls, it.failures, it.slow_calls].map(|it| table::right(grouped(it))));
        table.add_row(cells);
    }
    table.to_string()
}

/// The last line of the screen.
pub(super) fn status(
    address: &Address,
    every: Duration,
    fault: Option<&str>,
    ago: Option<Duration>,
) -> String {
    match (fault, ago) {
        (None, _) => format!("{address}, every {}; q quits", Human(every)),
        (Some(fault), None) => format!("{fault}; q quits"),
        (Some(fault), Some(ago)) => {
            let ago = Human(Duration::from_secs(ago.as_secs()));
            format!("these numbers are {ago} old: {fault}; q quits")
        }
    }
}

/// `2026-03-01 12:00:00 UTC` for a moment as in RFC 3339.
fn moment(text: &str) -> String {
    let whole = text
        .split_once('.')
        .map_or(text.trim_end_matches('Z'), |(whole, _)| whole);
    shown(&format!("{} UTC", whole.replace('T', " ")))
}

/// `12,345`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in (0..digits.len()).rev().zip(digits.chars()) {
        text.push(digit);
        if place > 0 && place.is_multiple_of(3) {
            text.push(',');
        }
    }
    text
}
