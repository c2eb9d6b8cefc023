//! For people: a row for each place, with what is below it and what is wrong with it underneath.

use std::fmt::Write as _;

use comfy_table::{ColumnConstraint, Width};

use super::cells::{attempts, attempts_below, callee, delays, limits, load, time, what};
use super::{Below, Listing, Row, narrow};
use crate::table;

/// Columns below which no table can be read.
const NARROW: u16 = 100;

pub(super) fn text(listing: &Listing) -> String {
    if listing.policies.is_empty() {
        return "nothing here is retried: no `#[retry]`, no `retry_block!` and no policy of reattempt was found; `cargo retry suggest` finds other retries\n".to_owned();
    }
    if width() < NARROW {
        let mut text = narrow::text(listing, width());
        end(listing, &mut text);
        return text;
    }
    let headings = [
        "what and where",
        "attempts",
        "delays",
        "time at most",
        "load at most",
        "policy and limits",
    ];
    let mut all = table::new(&headings, width(), false);
    all.set_header(headings);
    if let Some(column) = all.column_mut(0) {
        let longest = listing
            .policies
            .iter()
            .flat_map(|row| {
                let place = format!("{}:{}", row.file, row.line);
                [row.operation.len(), place.len()]
            })
            .max();
        let room = usize::from(width()).saturating_mul(2) / 5;
        // With a space on both sides.
        let least = longest.unwrap_or_default().saturating_add(2).min(room);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(
            u16::try_from(least).unwrap_or_default(),
        )));
    }
    for row in &listing.policies {
        all.add_row([
            what(row),
            attempts(row),
            delays(row),
            time(row),
            load(row),
            limits(row),
        ]);
    }
    let mut text = format!("{all}\n");
    let calls = listing.policies.iter();
    let calls: Vec<_> = calls
        .flat_map(|row| row.calls.iter().map(move |below| (row, below)))
        .collect();
    if !calls.is_empty() {
        let _ = write!(text, "\n{}\n", levels(&calls));
        text +=
            "attempts below: those of the innermost call, at most, for one call of what retries";
        if calls.iter().any(|(_, below)| below.is_held()) {
            text +=
                ";\na retry inside a retry makes one attempt, so they add up and do not multiply";
        }
        if calls.iter().any(|(_, below)| below.is_in_places()) {
            text += ";\nwhat stands in several places of an attempt is counted in each, in branches too";
        }
        if calls.iter().any(|(_, below)| below.in_loop) {
            text += ";\nhow often a loop turns nobody knows here, so there is no limit over all its turns";
        }
        text += "\n\n";
    }
    end(listing, &mut text);
    text
}

/// What is wrong, and how many there are.
fn end(listing: &Listing, text: &mut String) {
    for row in &listing.policies {
        for fault in &row.faults {
            let _ = writeln!(
                text,
                "error: {}:{}:{}: {} [{}]",
                row.file, fault.line, fault.column, fault.message, fault.rule
            );
        }
    }
    let mut faults = listing.policies.iter().flat_map(|row| &row.faults);
    if let Some(first) = faults.next() {
        let _ = writeln!(text, "more of a rule: cargo retry explain {}", first.rule);
    }
    if listing.policies.iter().any(Row::waits) {
        text.push_str(ASKED);
    }
    text.push_str(&summary(listing));
}

/// What nobody knows before an error comes.
const ASKED: &str = "times do not count delays that an error asks for (`Retry-After`), each up to `max_retry_after`\n\n";

/// Retries below retries.
fn levels(calls: &[(&Row, &Below)]) -> comfy_table::Table {
    let headings = ["what retries", "and calls what retries", "attempts below"];
    let mut all = table::new(&headings, width(), false);
    all.set_header(headings);
    for (row, below) in calls {
        all.add_row([row.operation.clone(), callee(below), attempts_below(below)]);
    }
    all
}

/// What `COLUMNS` says, or that of the terminal; a file is wide.
fn width() -> u16 {
    let columns = std::env::var("COLUMNS").ok().and_then(|it| it.parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0);
    columns.or_else(terminal).unwrap_or(160).max(60)
}

fn summary(listing: &Listing) -> String {
    let counted = |count: usize, one: &str, many: &str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    let rows = &listing.policies;
    let mut packages: Vec<_> = rows.iter().map(|row| &row.package).collect();
    packages.dedup();
    packages.sort();
    packages.dedup();
    let mut text = format!(
        "{} in {}",
        counted(rows.len(), "place retries", "places retry"),
        counted(packages.len(), "package", "packages"),
    );
    let nested = rows.iter().filter(|row| !row.calls.is_empty()).count();
    if nested > 0 {
        let _ = write!(
            text,
            "; {nested} of them call{} what retries itself",
            if nested == 1 { "s" } else { "" }
        );
    }
    let faulty = rows.iter().filter(|row| !row.faults.is_empty()).count();
    if faulty > 0 {
        let _ = write!(text, "; {faulty} would not compile");
    }
    text.push('\n');
    text
}
