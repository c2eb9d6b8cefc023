//! The rows: what is measured, and what is promised about it.

mod limits;
#[cfg(feature = "config")]
mod named;

use std::error::Error;

use crate::allocations::allocations;
use crate::cases;
use crate::measure::instructions;
use crate::sizes::{self, Sizes};
use crate::table::{self, BY_HAND, Bound, Columns, Number, Numbers};
use limits::{PEERS, WITHOUT};

/// A row of measured cases: its number for each column.
struct Row {
    title: &'static str,
    bound: Bound,
    number: fn(&str) -> Number,
    /// Whether there is a number for the first column.
    bare: bool,
}

/// Instructions of an attempt that fails: calls that fail `from` and `to` times
/// differ by `to - from` of them.
fn attempt(case: &str, from: u32, to: u32) -> Number {
    let more = instructions(case, to)? - instructions(case, from)?;
    Ok(more / f64::from(to - from))
}

/// Instructions of a delay: what a loop without delays does not need, which ends after two failures.
fn delay(way: &str, from: u32, to: u32) -> Number {
    let with = attempt(&format!("delay-{way}"), from, to)?;
    Ok(with - attempt(&format!("none-{way}"), from, from + 1)?)
}

fn counted(case: &str, failures: u32) -> Number {
    let run = cases::find(case).ok_or("no case of this name")?;
    Ok(allocations(run, failures))
}

const INSTRUCTIONS: &[Row] = &[
    Row {
        title: "sync success, Result<u64, Fault>",
        bound: Bound::OverHand(0.0),
        number: |way| instructions(&format!("sync-small-{way}"), 0),
        bare: true,
    },
    Row {
        title: "sync success, Result<[u64; 8], io::Error>",
        bound: Bound::OverHand(0.0),
        number: |way| instructions(&format!("sync-large-{way}"), 0),
        bare: true,
    },
    Row {
        title: "async success, ready at once",
        bound: Bound::OverHand(2.0),
        number: |way| instructions(&format!("async-ready-{way}"), 0),
        bare: true,
    },
    Row {
        title: "async success, pending once",
        bound: Bound::OverHand(2.0),
        number: |way| instructions(&format!("async-pending-{way}"), 0),
        bare: true,
    },
    Row {
        title: "async success, pending once, [u64; 8]",
        bound: Bound::OverHand(2.0),
        number: |way| instructions(&format!("async-large-{way}"), 0),
        bare: true,
    },
    // What it cost before a call knew whether one above is retrying.
    Row {
        title: "sync success inside another",
        bound: Bound::AtMost(44.0),
        number: |way| instructions(&format!("sync-inner-{way}"), 0),
        bare: true,
    },
    Row {
        title: "async success inside another",
        bound: Bound::AtMost(270.0),
        number: |way| instructions(&format!("async-inner-{way}"), 0),
        bare: true,
    },
    Row {
        title: "tower service success (by hand: tower::retry)",
        bound: Bound::OverHand(35.0),
        number: |way| instructions(&format!("tower-{way}"), 0),
        bare: true,
    },
    Row {
        title: "sync retry, no delay, Fault",
        bound: Bound::OverHand(10.0),
        number: |way| attempt(&format!("none-{way}"), 0, 2),
        bare: false,
    },
    Row {
        title: "sync retry, no delay, io::Error",
        bound: Bound::OverHand(10.0),
        number: |way| attempt(&format!("none-large-{way}"), 0, 2),
        bare: false,
    },
    Row {
        title: "async retry, tokio timer, first",
        bound: Bound::TimesHand(1.1),
        number: |way| attempt(&format!("timer-{way}"), 0, 1),
        bare: false,
    },
    Row {
        title: "async retry, tokio timer, later",
        bound: Bound::TimesHand(1.1),
        number: |way| attempt(&format!("timer-{way}"), 1, 3),
        bare: false,
    },
    Row {
        title: "delay, exp and full jitter, first",
        bound: Bound::AtMost(110.0),
        number: |way| delay(way, 0, 1),
        bare: false,
    },
    Row {
        title: "delay, exp and full jitter, 2nd to 6th",
        bound: Bound::AtMost(110.0),
        number: |way| delay(way, 1, 6),
        bare: false,
    },
    Row {
        title: "  of which 64 random bits",
        bound: Bound::Nothing,
        number: |way| instructions(&format!("random-{way}"), 0),
        bare: false,
    },
];

const ALLOCATIONS: &[Row] = &[
    Row {
        title: "sync success, allocations",
        bound: Bound::AtMost(0.0),
        number: |way| counted(&format!("sync-small-{way}"), 0),
        bare: true,
    },
    Row {
        title: "async success, allocations",
        bound: Bound::AtMost(0.0),
        number: |way| counted(&format!("async-pending-{way}"), 0),
        bare: true,
    },
    Row {
        title: "tower service success, allocations",
        bound: Bound::AtMost(0.0),
        number: |way| counted(&format!("tower-{way}"), 0),
        bare: true,
    },
    Row {
        title: "async, one retry, allocations",
        bound: Bound::Nothing,
        number: |way| counted(&format!("timer-{way}"), 1),
        bare: false,
    },
    Row {
        title: "async, three retries, allocations",
        bound: Bound::Nothing,
        number: |way| counted(&format!("timer-{way}"), 3),
        bare: false,
    },
];

/// Prints the rows whose title contains `word`.
pub(crate) fn print(word: &str) -> Result<(), Box<dyn Error>> {
    section("instructions", BY_HAND, INSTRUCTIONS, word)?;
    section(
        "instructions with limits",
        WITHOUT,
        limits::INSTRUCTIONS,
        word,
    )?;
    #[cfg(feature = "config")]
    section("instructions with a name", WITHOUT, named::ROWS, word)?;
    section(
        "instructions of a closed breaker",
        PEERS,
        limits::BREAKERS,
        word,
    )?;
    section("allocations", BY_HAND, ALLOCATIONS, word)?;
    section(
        "allocations with limits",
        WITHOUT,
        limits::ALLOCATIONS,
        word,
    )?;
    table::heading("bytes of the future", BY_HAND);
    for Sizes {
        title,
        numbers,
        bound,
    } in sizes::all()
    {
        if title.contains(word) {
            table::row(title, BY_HAND, &numbers, bound);
        }
    }
    Ok(())
}

fn section(title: &str, columns: Columns, rows: &[Row], word: &str) -> Result<(), Box<dyn Error>> {
    table::heading(title, columns);
    let [bare, hand] = columns;
    for row in rows.iter().filter(|row| row.title.contains(word)) {
        let bare = row.bare.then(|| (row.number)(bare)).transpose()?;
        let (hand, ours) = ((row.number)(hand)?, (row.number)("ours")?);
        let numbers = Numbers { bare, hand, ours };
        table::row(row.title, columns, &numbers, row.bound);
    }
    Ok(())
}
