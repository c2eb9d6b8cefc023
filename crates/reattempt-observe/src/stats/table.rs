//! Statistics for a terminal.

use core::fmt;

use super::snapshot::{OperationStats, Stats};
use super::words::{OneLine, rounded};
use crate::breaker::BreakerStats;
use crate::time::rfc3339;
use reattempt_core::{GiveUpReason, RetryCause};

/// Characters of a name and of an error in the table.
const WIDEST: usize = 60;

const OPERATIONS: [&str; 9] = [
    "operation",
    "calls",
    "failed attempts",
    "retries",
    "recovered",
    "gave up",
    "dropped",
    "delay",
    "last error",
];
const BREAKERS: [&str; 6] = ["breaker", "state", "calls", "failures", "slow", "since"];
/// The columns that are texts, which begin at the left.
const TEXTS_OF_OPERATIONS: [usize; 4] = [0, 3, 5, 8];
const TEXTS_OF_BREAKERS: [usize; 2] = [0, 1];

/// A table with a line for each operation, and one with a line for each breaker.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            f.write_str("nothing has failed since the start")?;
        } else {
            let operations = self.operations.iter().map(cells);
            write_table(f, OPERATIONS, operations, &TEXTS_OF_OPERATIONS)?;
        }
        if self.breakers.is_empty() {
            return Ok(());
        }
        f.write_str("\n\n")?;
        let breakers = self.breakers.iter().map(cells_of_breaker);
        write_table(f, BREAKERS, breakers, &TEXTS_OF_BREAKERS)
    }
}

fn write_table<const COLUMNS: usize>(
    f: &mut fmt::Formatter<'_>,
    head: [&str; COLUMNS],
    lines: impl Iterator<Item = [String; COLUMNS]>,
    texts: &[usize],
) -> fmt::Result {
    let lines: Vec<_> = core::iter::once(head.map(str::to_owned))
        .chain(lines)
        .collect();
    let mut widths = [0; COLUMNS];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            f.write_str("\n")?;
        }
        write_line(f, line, &widths, texts)?;
    }
    Ok(())
}

fn write_line(
    f: &mut fmt::Formatter<'_>,
    line: &[String],
    widths: &[usize],
    texts: &[usize],
) -> fmt::Result {
    for (column, (cell, &width)) in line.iter().zip(widths).enumerate() {
        if column > 0 {
            f.write_str("  ")?;
        }
        if column.saturating_add(1) == line.len() {
            f.write_str(cell)?;
        } else if texts.contains(&column) {
            write!(f, "{cell:<width$}")?;
        } else {
            write!(f, "{cell:>width$}")?;
        }
    }
    Ok(())
}

fn cells(operation: &OperationStats) -> [String; OPERATIONS.len()] {
    [
        OneLine(operation.name, WIDEST).to_string(),
        operation.calls().to_string(),
        operation.failed_attempts.to_string(),
        with_kinds(operation.retries, &operation.causes, RetryCause::as_str),
        operation.recoveries.to_string(),
        with_kinds(
            operation.gave_up(),
            &operation.give_ups,
            GiveUpReason::as_str,
        ),
        operation.dropped.to_string(),
        rounded(operation.delay).to_string(),
        last_error(operation),
    ]
}

fn cells_of_breaker(breaker: &BreakerStats) -> [String; BREAKERS.len()] {
    let since = breaker.state_time();
    [
        OneLine(breaker.name(), WIDEST).to_string(),
        breaker.state().to_string(),
        breaker.calls().to_string(),
        breaker.failures().to_string(),
        breaker.slow_calls().to_string(),
        since.map_or_else(|| "-".to_owned(), |since| rounded(since).to_string()),
    ]
}

/// `3 (attempts 2, deadline 1)`.
fn with_kinds<K: Copy>(sum: u64, counts: &[(K, u64)], word: fn(K) -> &'static str) -> String {
    let kinds = counts.iter();
    let kinds = kinds.map(|(kind, count)| format!("{} {count}", word(*kind)));
    match kinds.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => sum.to_string(),
        kinds => format!("{sum} ({kinds})"),
    }
}

/// `2026-03-01T12:00:00.250Z shop::Error: 503`.
fn last_error(operation: &OperationStats) -> String {
    let Some(error) = &operation.last_error else {
        return "-".to_owned();
    };
    let (at, kind) = (rfc3339(error.at), OneLine(error.kind, WIDEST));
    match &error.message {
        Some(message) => format!("{at} {kind}: {}", OneLine(message, WIDEST)),
        None => format!("{at} {kind}"),
    }
}
