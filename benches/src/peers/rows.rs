//! The rows of the table, and what is said of each.

use super::ours::ALIAS_NAME;
use super::ways::{PLAIN_NAME, Way};
use crate::building::functions::Cost;

/// What a row counts, of the case that has this name in each way.
#[derive(Clone, Copy)]
pub(super) enum Counted {
    /// Instructions of a call that fails so often.
    Call(&'static str, u32),
    /// Instructions of each failure from the first number to the second.
    Retry(&'static str, u32, u32),
    /// Of the first beyond the second.
    Over(&'static Self, &'static Self),
    /// Instructions of a delay, without what surrounds it where it is measured inside a loop.
    Delay,
    /// Allocations of a call that fails so often.
    Allocations(&'static str, u32),
    /// Bytes of the future.
    Bytes(&'static str),
    /// What it costs to compile one more async function.
    Built(fn(&Cost) -> f64),
}

/// A case that fails so often, and how many times its instructions count.
pub(super) type Term = (&'static str, u32, f64);

impl Counted {
    /// The sum of calls that is the number of a row, if instructions are counted.
    pub(super) fn terms(self, is_loop: bool) -> Vec<Term> {
        let over = |terms: Vec<Term>, others: Vec<Term>| {
            let others = others.into_iter().map(|(kind, k, times)| (kind, k, -times));
            terms.into_iter().chain(others).collect()
        };
        match self {
            Self::Call(kind, failures) => vec![(kind, failures, 1.0)],
            Self::Retry(kind, from, to) => {
                let each = 1.0 / f64::from(to - from);
                vec![(kind, to, each), (kind, from, -each)]
            }
            Self::Over(counted, other) => over(counted.terms(is_loop), other.terms(is_loop)),
            Self::Delay if is_loop => {
                over(DELAY.terms(true), Self::Retry("none", 0, 2).terms(true))
            }
            Self::Delay => DELAY.terms(false),
            Self::Allocations(..) | Self::Bytes(_) | Self::Built(_) => Vec::new(),
        }
    }
}

const DELAY: Counted = Retry("delay", 1, 6);

pub(super) struct Row {
    pub(super) title: &'static str,
    pub(super) counted: Counted,
}

const fn row(title: &'static str, counted: Counted) -> Row {
    Row { title, counted }
}

use Counted::{Allocations, Bytes, Call, Delay, Retry};

pub(super) const ROWS: &[Row] = &[
    row("sync success, Result<u64, Fault>", Call("small", 0)),
    row(
        "sync success, Result<[u64; 8], io::Error>",
        Call("large", 0),
    ),
    row("sync success, an error of 128 bytes", Call("huge", 0)),
    row(
        "sync success, one retried call in another",
        Call("nested", 0),
    ),
    row("async success, ready at once", Call("ready", 0)),
    row("async success, pending once", Call("pending", 0)),
    row("async success, pending once, [u64; 8]", Call("many", 0)),
    row("async success, 256 bytes kept", Call("kept", 0)),
    row(
        "async success, an error of 128 bytes",
        Call("async-huge", 0),
    ),
    row("sync success, allocations", Allocations("small", 0)),
    row(
        "sync success, [u64; 8], allocations",
        Allocations("large", 0),
    ),
    row("async success, allocations", Allocations("pending", 0)),
    row(
        "async success, [u64; 8], allocations",
        Allocations("many", 0),
    ),
    row("bytes of the future", Bytes("pending")),
    row("bytes of the future, 256 kept", Bytes("kept")),
    row(
        "bytes of the future, an error of 128 bytes",
        Bytes("async-huge"),
    ),
    row("sync retry, no delay, Fault", Retry("none", 0, 2)),
    row("sync retry, no delay, io::Error", Retry("none-large", 0, 2)),
    row(
        "sync retry, no delay, an error of 128 bytes",
        Retry("none-huge", 0, 2),
    ),
    row("async retry, tokio timer, first", Retry("wait", 0, 1)),
    row("async retry, tokio timer, later", Retry("wait", 1, 3)),
    row("async, three retries, allocations", Allocations("wait", 3)),
    row("delay, exp and jitter, 2nd to 6th", Delay),
    row("service success", Call("service", 0)),
    row("service success, allocations", Allocations("service", 0)),
    row("service retry, no delay", Retry("service", 0, 2)),
    row(
        "service retry, tokio timer, first",
        Retry("service-wait", 0, 1),
    ),
    row(
        "service retry, tokio timer, later",
        Retry("service-wait", 1, 3),
    ),
    row("service, bytes of the future", Bytes("service")),
    row("service success, budget", Call("budget", 0)),
    row("service retry, budget", Retry("budget", 0, 1)),
    row("service, budget refuses, whole call", Call("refused", 1)),
    row("service success, breaker", Call("guarded", 0)),
    row(
        "service success, breaker, allocations",
        Allocations("guarded", 0),
    ),
    row("service, open breaker refuses", Call("guarded-open", 1)),
    row("service success, bulkhead", Call("bulkhead", 0)),
    row(
        "service success, bulkhead, allocations",
        Allocations("bulkhead", 0),
    ),
    row("service, full bulkhead refuses", Call("bulkhead-full", 1)),
    row("closed breaker, success", Call("closed", 0)),
    row("closed breaker, allocations", Allocations("closed", 0)),
    row("open breaker, refusal", Call("open", 0)),
    row("open breaker, allocations", Allocations("open", 0)),
];

pub(super) struct Verdict {
    pub(super) is_kept: bool,
    pub(super) words: String,
}

/// Whether ours is the best of the libraries and at most 10 % over the loop by hand.
pub(super) fn judged(ways: &[Way], numbers: &[Option<f64>]) -> Verdict {
    let known = || {
        ways.iter()
            .zip(numbers)
            .filter_map(|(way, number)| Some((way, (*number)?)))
    };
    let of = |name: &str| known().find(|(way, _)| way.name == name);
    // The worse one, however the type is spelled.
    let ours = [of("ours"), of(ALIAS_NAME)].into_iter().flatten();
    let Some((_, ours)) = ours.max_by(|(_, a), (_, b)| a.total_cmp(b)) else {
        return Verdict {
            is_kept: true,
            words: String::new(),
        };
    };
    let libraries = || {
        known().filter(|(way, _)| {
            !["bare", "hand", "ours", ALIAS_NAME, PLAIN_NAME].contains(&way.name)
        })
    };
    // Less than what is shown is no difference.
    let mut ahead: Vec<_> = libraries()
        .filter(|(_, number)| *number < ours - 0.05)
        .collect();
    ahead.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut words = Vec::new();
    if !ahead.is_empty() {
        words.push(format!("behind {}", list(&ahead)));
    } else if libraries().next().is_some() {
        words.push("best".to_owned());
    }
    let mut is_kept = ahead.is_empty();
    if let Some((_, hand)) = of("hand") {
        let is_near = ours <= hand * 1.1 + 0.05;
        is_kept &= is_near;
        let word = if is_near { "" } else { ", OVER" };
        words.push(format!("hand {}{word}", change(hand, ours)));
    }
    Verdict {
        is_kept,
        words: words.join(", "),
    }
}

/// Those that are ahead; of those that do all of it the first.
fn list(ahead: &[(&Way, f64)]) -> String {
    let mut words = Vec::new();
    for (way, _) in ahead {
        words.push(way.described());
        if way.lacks.is_none() {
            break;
        }
    }
    words.join(", ")
}

fn change(from: f64, to: f64) -> String {
    let more = (to - from) / from * 100.0;
    if more.is_finite() {
        format!("{more:+.0} %")
    } else {
        format!("{:+.0}", to - from)
    }
}
