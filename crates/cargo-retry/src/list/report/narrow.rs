//! For people whose terminal has no room for a table: a paragraph for each place.

use std::fmt::Write as _;

use super::cells::{attempts, attempts_below, callee, delays, limits, load, time, what};
use super::{Listing, Row};
use crate::wrap::wrapped;

pub(super) fn text(listing: &Listing, width: u16) -> String {
    let mut text = String::new();
    for row in &listing.policies {
        for (number, line) in what(row).lines().enumerate() {
            let indent = if number == 0 { "" } else { "  " };
            let _ = writeln!(text, "{indent}{line}");
        }
        for (first, words) in said(row) {
            for line in wrapped(&words, &format!("  {first:<9}"), width) {
                let _ = writeln!(text, "{line}");
            }
        }
        text.push('\n');
    }
    text
}

/// The lines of a place: what they begin with, and their words.
fn said(row: &Row) -> Vec<(&'static str, String)> {
    let one_line = |cell: String| cell.lines().collect::<Vec<_>>().join(", ");
    let mut said = vec![
        ("attempts", attempts(row)),
        ("delays", delays(row)),
        (
            "at most",
            format!("{}; load {}", time(row), one_line(load(row))),
        ),
        ("by", one_line(limits(row))),
    ];
    said.retain(|(_, words)| !words.is_empty());
    said.extend(row.calls.iter().map(|below| {
        let callee = callee(below).replace('\n', " ");
        let attempts = attempts_below(below).replace('\n', ", ");
        ("calls", format!("{callee}; attempts below: {attempts}"))
    }));
    said
}
