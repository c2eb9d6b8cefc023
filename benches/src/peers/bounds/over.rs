//! The rows that are over their bounds, and why. None is loosened in silence: a row has to be here
//! with its figure, and a row that is here has to be as bad as it says, and no worse. One within
//! its bound may not be worse than in `BENCHMARKS.md`.

use std::{fmt, fs, io};

use crate::table::short;

/// A row, what it costs, and why it cannot cost less.
const KNOWN: &[(&str, f64, &str)] = &[
    (
        "async success, body inlined",
        77.0,
        "each poll reads how many operations were marked, and the call lies in the future",
    ),
    (
        "async success, 256 bytes kept, body inlined",
        116.0,
        "each poll reads how many operations were marked, and the call lies in the future",
    ),
    (
        "future, bytes, body inlined",
        168.0,
        "the first attempt keeps a reference to its call",
    ),
    (
        "future, bytes, body a call",
        168.0,
        "the first attempt keeps a reference to its call",
    ),
    (
        "sync retry without a delay, 8 bytes, body inlined",
        38.5,
        "registers of the cold loop are saved, and it asks the thread and the process",
    ),
    (
        "sync retry without a delay, io::Error, body inlined",
        85.0,
        "the same, and the answer is copied once",
    ),
    (
        "sync retry without a delay, an error of 128 bytes, body inlined",
        90.5,
        "the same, and the answer is copied once",
    ),
    (
        "sync retry without a delay, 8 bytes, body a call",
        46.0,
        "registers of the cold loop are saved, and it asks the thread and the process",
    ),
    (
        "sync retry without a delay, io::Error, body a call",
        92.0,
        "the same, and the answer is copied once",
    ),
    (
        "sync retry without a delay, an error of 128 bytes, body a call",
        105.0,
        "the same, and the answer is copied once",
    ),
    (
        "sync retry without a timer, body inlined",
        102.0,
        "the random number mixes in the clock, 28 instructions, in place of a system call",
    ),
    (
        "sync retry without a timer, body a call",
        106.2,
        "the random number mixes in the clock, 28 instructions, in place of a system call",
    ),
    (
        "async retry without a timer, body inlined",
        265.0,
        "the same, a retry is a state machine of its own, and what makes its future is part of it",
    ),
    (
        "async retry without a timer, body a call",
        276.8,
        "the same, a retry is a state machine of its own, and what makes its future is part of it",
    ),
    (
        "async retry, tokio timer, body inlined",
        3817.2,
        "the same; 470 are for a runtime with one thread that nobody drives, has no timer or is shut down",
    ),
    (
        "async retry, tokio timer, body a call",
        3828.2,
        "the same; 470 are for a runtime with one thread that nobody drives, has no timer or is shut down",
    ),
    (
        "async retry under a deadline",
        533.2,
        "two readings of the clock, 64 each: is there time for the delay, and was the timer late?",
    ),
    (
        "async retry with deadline, timeout and budget",
        1084.0,
        "the same, and the budget and the deadline take the full decision, 309, beside the loop",
    ),
    (
        "run-time policy in a static, async success",
        127.0,
        "limits and budget are stored with the future and asked for at its end, 37, and it is dropped out of line, 11",
    ),
    (
        "run-time policy in a static, future, bytes",
        216.0,
        "the first attempt keeps a reference to its call",
    ),
    (
        "run-time policy in a static, sleeping task, bytes",
        484.0,
        "the delay of tokio and the limits of the policy do not fit into the next size, and a table of waits grows",
    ),
    (
        "run-time policy in a field, async success",
        127.0,
        "limits and budget are stored with the future and asked for at its end, 37, and it is dropped out of line, 11",
    ),
    (
        "run-time policy in a field, future, bytes",
        216.0,
        "the first attempt keeps a reference to its call",
    ),
    (
        "run-time policy in a field, sleeping task, bytes",
        384.0,
        "the delay of tokio and the limits of the policy do not fit into the next size",
    ),
    (
        "tower layer, success",
        205.0,
        "the row itself takes 55; the future is made, 53, and polled, 59; its drop asks for what it may hold, 32",
    ),
    (
        "tower layer, retry without a delay",
        252.0,
        "the policy of the running program is asked, 63; the service sees that it is a retry, 51; the answer goes from the poll through the cold loop, 47; the state is replaced twice, 24",
    ),
    (
        "one more async function, release build, bytes",
        5980.0,
        "the poll of the function is compiled with two copies of its body",
    ),
    (
        "tracing, sync retry without a timer, body a call",
        119.5,
        "without `tracing` it is 106; whether somebody reads, and whether the thread may wait, are a look at one level each",
    ),
    (
        "tracing, async retry without a timer, body inlined",
        283.5,
        "without `tracing` it is 265; whether somebody reads is asked of `tracing` when a retry begins and fails",
    ),
    (
        "tracing, async retry without a timer, body a call",
        296.0,
        "without `tracing` it is 277; whether somebody reads is asked of `tracing` when a retry begins and fails",
    ),
    (
        "named policy, sync success, over a constant one",
        13.0,
        "a bit says whether the policy counts from the start",
    ),
    (
        "named policy, sync retry, over a constant one",
        113.8,
        "a call that fails counts one reference, 81 in four retries, and numbers that a constant folds are read, 73",
    ),
    (
        "named policy, async success, over a constant one",
        58.0,
        "limits, budget and the policy that holds are stored with the future and asked for at its end, 48, and it is dropped out of line, 11",
    ),
    (
        "named policy, async retry, over a constant one",
        214.2,
        "the same as sync; each attempt is one that may have a limit, and each part of the loop asks the policy that holds again",
    ),
    (
        "loaded policy, sync success, over a constant one",
        13.0,
        "a bit says whether the policy counts from the start",
    ),
    (
        "loaded policy, sync retry, over a constant one",
        113.8,
        "a call that fails counts one reference, 81 in four retries, and numbers that a constant folds are read, 73",
    ),
    (
        "loaded policy, async success, over a constant one",
        58.0,
        "limits, budget and the policy that holds are stored with the future and asked for at its end, 48, and it is dropped out of line, 11",
    ),
    (
        "loaded policy, async retry, over a constant one",
        214.2,
        "the same as sync; each attempt is one that may have a limit, and each part of the loop asks the policy that holds again",
    ),
    (
        "run-time policy in a static, sync success",
        43.0,
        "a success reads whether the operation's own budget has to learn of it",
    ),
    (
        "the default budget, sync retry, over none",
        94.0,
        "the first retry of a call reads the shared clock, 64 in two; the token is taken and given back by atomic operations",
    ),
];

/// The committed tables, read when it runs: else each change of them compiles this program again.
pub(super) fn committed() -> io::Result<String> {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../BENCHMARKS.md"))
}

/// Returns how far a figure may be from what is written. The functions of the C library differ
/// between machines, and a row of thousands of instructions calls many of them.
fn slack(written: f64) -> f64 {
    f64::max(5.0, written / 100.0)
}

/// Whether a row is as it should be.
#[derive(Debug, PartialEq)]
pub(super) enum Kept {
    Within,
    Known(&'static str),
    /// Above the bound by so much.
    Over(f64),
    /// The same of a time, which is the machine's to say: shown, and no reason to stop.
    Slow(f64),
    /// Listed here with a figure that is not true any more.
    Outdated(f64),
    /// Within the bound, but above what is committed.
    Worse(f64),
}

impl Kept {
    pub(super) fn of(title: &str, ours: f64, limit: f64, committed: &str) -> Self {
        let known = KNOWN.iter().find(|(name, ..)| *name == title);
        let kept = Self::judged(known.map(|&(_, figure, why)| (figure, why)), ours, limit);
        match in_table(committed, title) {
            _ if !Self::is_counted(title) => match kept {
                Self::Over(by) => Self::Slow(by),
                kept => kept,
            },
            Some(figure) if kept == Self::Within && ours > figure + slack(figure) => {
                Self::Worse(figure)
            }
            _ => kept,
        }
    }

    /// Whether a row counts instructions or bytes, which each machine counts nearly alike.
    fn is_counted(title: &str) -> bool {
        !title.ends_with(", s") && !title.ends_with(", ms")
    }

    fn judged(known: Option<(f64, &'static str)>, ours: f64, limit: f64) -> Self {
        // Less than what is shown is no difference.
        let is_within = ours <= limit + 0.05;
        match known {
            Some((figure, why)) if !is_within && (ours - figure).abs() <= slack(figure) => {
                Self::Known(why)
            }
            Some((figure, _)) => Self::Outdated(figure),
            None if is_within => Self::Within,
            None => Self::Over(ours - limit),
        }
    }

    pub(super) fn is_broken(&self) -> bool {
        matches!(self, Self::Over(_) | Self::Outdated(_) | Self::Worse(_))
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Within => f.write_str("ok"),
            Self::Known(why) => write!(f, "over, known: {why}"),
            Self::Over(by) => write!(f, "OVER by {}", short(*by)),
            Self::Slow(by) => write!(f, "over by {} here, a time", short(*by)),
            Self::Outdated(figure) => write!(f, "OUTDATED: `over.rs` says {}", short(*figure)),
            Self::Worse(figure) => write!(f, "WORSE: BENCHMARKS.md has {}", short(*figure)),
        }
    }
}

/// What a table of bounds has for ours, the worse of the spellings.
fn in_table(text: &str, title: &str) -> Option<f64> {
    let mut columns = Vec::new();
    for line in text.lines() {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        match cells.first() {
            Some(&"bounds") => columns = cells,
            Some(&name) if name == title => {
                let named = columns.iter().zip(&cells);
                let ours = named.filter(|(column, _)| column.starts_with("ours"));
                return ours
                    .filter_map(|(_, cell)| cell.parse().ok())
                    .reduce(f64::max);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, Kept, in_table};
    use crate::peers::bounds::rows::BUILDS;

    #[test]
    fn a_listed_row_is_as_bad_as_it_says() {
        let known = Some((60.0, "why"));
        assert_eq!(Kept::judged(known, 62.0, 50.0), Kept::Known("why"));
        assert_eq!(Kept::judged(known, 66.0, 50.0), Kept::Outdated(60.0));
        assert_eq!(Kept::judged(known, 54.0, 50.0), Kept::Outdated(60.0));
        assert_eq!(Kept::judged(known, 50.0, 50.0), Kept::Outdated(60.0));
        let known = Some((3000.0, "why"));
        assert_eq!(Kept::judged(known, 3030.0, 50.0), Kept::Known("why"));
        assert_eq!(Kept::judged(known, 3031.0, 50.0), Kept::Outdated(3000.0));
        assert_eq!(Kept::judged(None, 52.0, 50.0), Kept::Over(2.0));
        assert_eq!(Kept::judged(None, 50.0, 50.0), Kept::Within);
    }

    #[test]
    fn a_row_is_no_worse_than_in_the_table() {
        let table = "| bounds | bare | ours | ours, alias | bound |\n| row | 1 | 7 | 9.5 | 30 |";
        assert_eq!(in_table(table, "row"), Some(9.5));
        assert_eq!(Kept::of("row", 14.0, 30.0, table), Kept::Within);
        assert_eq!(Kept::of("row", 15.0, 30.0, table), Kept::Worse(9.5));
        let table = "| bounds | ours |\n| row | 7220 |";
        assert_eq!(Kept::of("row", 7292.0, 9e3, table), Kept::Within);
        assert_eq!(Kept::of("row", 7293.0, 9e3, table), Kept::Worse(7220.0));
        assert_eq!(Kept::of("another", 15.0, 30.0, table), Kept::Within);
    }

    #[test]
    fn each_listed_row_exists() {
        let rows: Vec<_> = BUILDS.iter().flat_map(|build| build.rows("")).collect();
        for (title, ..) in KNOWN {
            assert!(rows.iter().any(|row| row.row.title == *title), "{title}");
        }
    }
}
