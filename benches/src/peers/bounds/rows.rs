//! The rows, and the bound of each: the one place for them. What is over its bound is in `over.rs`.

use crate::peers::rows::{Counted, Row};
use crate::table::Bound;
use Bound::{AtMost, OverBare, OverHand, TimesHand};
use Counted::{Allocations, Built, Bytes, Call, Over, Retry};

pub(super) struct Bounded {
    pub(super) row: Row,
    pub(super) bound: Bound,
}

const fn row(title: &'static str, counted: Counted, bound: Bound) -> Bounded {
    Bounded {
        row: Row { title, counted },
        bound,
    }
}

/// The builds of this program: a feature changes rows, so those without it are measured without.
pub(super) const BUILDS: &[Build] = &[
    Build {
        feature: "",
        words: "",
        rows: ROWS,
    },
    Build {
        feature: "tracing",
        words: "With the feature `tracing` compiled in and nobody subscribed:",
        rows: TRACED,
    },
    Build {
        feature: "config",
        words: "With the feature `config`. Of a named policy nothing is loaded:",
        rows: NAMED,
    },
];

pub(super) struct Build {
    pub(super) feature: &'static str,
    pub(super) words: &'static str,
    rows: &'static [Bounded],
}

impl Build {
    /// Whether this program is it.
    pub(super) fn is_current(&self) -> bool {
        let current = match () {
            () if cfg!(feature = "config") => "config",
            () if cfg!(feature = "tracing") => "tracing",
            () => "",
        };
        self.feature == current
    }

    /// The rows whose title has `word` at the beginning of a word: `sync` is not in `async`.
    pub(super) fn rows(&self, word: &str) -> Vec<&'static Bounded> {
        let rows = self.rows.iter();
        rows.filter(|row| has(row.row.title, word)).collect()
    }
}

fn has(title: &str, word: &str) -> bool {
    title.starts_with(word) || title.contains(&format!(" {word}"))
}

const ROWS: &[Bounded] = &[
    row(
        "sync success, body inlined",
        Call("sync-inlined", 0),
        OverHand(6.0),
    ),
    row(
        "sync success, body a call",
        Call("sync-call", 0),
        AtMost(30.0),
    ),
    row(
        "async success, body inlined",
        Call("async-inlined", 0),
        OverHand(8.0),
    ),
    row(
        "async success, body a call",
        Call("async-call", 0),
        AtMost(79.0),
    ),
    row(
        "async success, 256 bytes kept, body inlined",
        Call("async-kept-inlined", 0),
        OverHand(8.0),
    ),
    row(
        "async success, 256 bytes kept, body a call",
        Call("async-kept-call", 0),
        AtMost(111.0),
    ),
    // What it cost before marks belonged to the call that is polled, and 5.
    row(
        "async success, each suspension, body inlined",
        Retry("suspended-inlined", 0, 4),
        AtMost(68.0),
    ),
    row(
        "async success, each suspension, body a call",
        Retry("suspended-call", 0, 4),
        AtMost(58.0),
    ),
    row(
        "future, bytes, body inlined",
        Bytes("async-inlined"),
        OverHand(16.0),
    ),
    row(
        "future, bytes, body a call",
        Bytes("async-call"),
        OverHand(16.0),
    ),
    row(
        "future, bytes, 256 kept, body inlined",
        Bytes("async-kept-inlined"),
        OverHand(16.0),
    ),
    row(
        "future, bytes, 256 kept, body a call",
        Bytes("async-kept-call"),
        OverHand(16.0),
    ),
    row(
        "sync retry without a delay, 8 bytes, body inlined",
        Retry("none-inlined", 0, 2),
        AtMost(33.0),
    ),
    row(
        "sync retry without a delay, io::Error, body inlined",
        Retry("none-large-inlined", 0, 2),
        AtMost(72.0),
    ),
    row(
        "sync retry without a delay, an error of 128 bytes, body inlined",
        Retry("none-huge-inlined", 0, 2),
        AtMost(70.0),
    ),
    row(
        "sync retry without a delay, 8 bytes, body a call",
        Retry("none-call", 0, 2),
        AtMost(33.0),
    ),
    row(
        "sync retry without a delay, io::Error, body a call",
        Retry("none-large-call", 0, 2),
        AtMost(72.0),
    ),
    row(
        "sync retry without a delay, an error of 128 bytes, body a call",
        Retry("none-huge-call", 0, 2),
        AtMost(70.0),
    ),
    row(
        "sync retry without a timer, body inlined",
        Retry("still-inlined", 0, 4),
        AtMost(65.0),
    ),
    row(
        "sync retry without a timer, body a call",
        Retry("still-call", 0, 4),
        AtMost(65.0),
    ),
    row(
        "async retry without a timer, body inlined",
        Retry("async-still-inlined", 0, 4),
        AtMost(200.0),
    ),
    row(
        "async retry without a timer, body a call",
        Retry("async-still-call", 0, 4),
        AtMost(208.0),
    ),
    row(
        "async retry, tokio timer, body inlined",
        Retry("wait-inlined", 0, 1),
        OverHand(200.0),
    ),
    row(
        "async retry, tokio timer, body a call",
        Retry("wait-call", 0, 1),
        OverHand(200.0),
    ),
    // None above what it cost before the loops became one.
    row(
        "sync retry inside a retry",
        Retry("inside", 1, 3),
        AtMost(438.0),
    ),
    row(
        "async retry inside a retry",
        Retry("async-inside", 1, 3),
        AtMost(524.0),
    ),
    row(
        "sync retry under a deadline",
        Retry("until", 0, 4),
        AtMost(480.0),
    ),
    row(
        "async retry under a deadline",
        Retry("async-until", 0, 4),
        AtMost(429.0),
    ),
    row(
        "async success with deadline, timeout and budget",
        Call("limits", 0),
        AtMost(382.0),
    ),
    row(
        "async retry with deadline, timeout and budget",
        Retry("limits", 0, 1),
        AtMost(941.0),
    ),
    row(
        "run-time policy in a static, sync success",
        Call("static-sync", 0),
        AtMost(42.0),
    ),
    row(
        "run-time policy in a static, async success",
        Call("static-async", 0),
        AtMost(96.0),
    ),
    row(
        "run-time policy in a static, future, bytes",
        Bytes("static-async"),
        AtMost(184.0),
    ),
    row(
        "run-time policy in a static, sleeping task, bytes",
        Bytes("static-asleep"),
        TimesHand(1.0),
    ),
    row(
        "run-time policy in a field, sync success",
        Call("field-sync", 0),
        AtMost(42.0),
    ),
    row(
        "run-time policy in a field, async success",
        Call("field-async", 0),
        AtMost(96.0),
    ),
    row(
        "run-time policy in a field, future, bytes",
        Bytes("field-async"),
        AtMost(184.0),
    ),
    row(
        "run-time policy in a field, sleeping task, bytes",
        Bytes("field-asleep"),
        TimesHand(1.0),
    ),
    row("tower layer, success", Call("service", 0), AtMost(150.0)),
    row(
        "tower layer, retry without a delay",
        Retry("service", 0, 2),
        AtMost(200.0),
    ),
    row(
        "tower layer, future, bytes",
        Bytes("service"),
        AtMost(216.0),
    ),
    row(
        "tower layer, three retries with a delay, allocations",
        Allocations("service-wait", 3),
        AtMost(0.0),
    ),
    row(
        "protocol, a request without the header",
        Retry("protocol-absent", 0, 1),
        AtMost(200.0),
    ),
    row(
        "protocol, a request with the header",
        Retry("protocol-read", 0, 1),
        AtMost(10_000.0),
    ),
    row(
        "withdrawal from a budget of deposits",
        Retry("withdraw", 0, 1),
        AtMost(165.0),
    ),
    row(
        "withdrawal from a budget of tokens",
        Retry("withdraw-tokens", 0, 1),
        AtMost(87.0),
    ),
    row("refusal by an open breaker", Call("open", 0), AtMost(118.0)),
    row(
        "the default budget, sync success, over none",
        Over(&Call("shared", 0), &Call("sync-call", 0)),
        AtMost(3.0),
    ),
    row(
        "the default budget, async success, over none",
        Over(&Call("shared-async", 0), &Call("async-call", 0)),
        AtMost(3.0),
    ),
    row(
        "the default budget, sync retry, over none",
        Over(&Retry("shared-none", 0, 2), &Retry("none-call", 0, 2)),
        AtMost(90.0),
    ),
    row(
        "the default budget, async retry, over none",
        Over(
            &Retry("shared-async-still", 0, 4),
            &Retry("async-still-call", 0, 4),
        ),
        AtMost(90.0),
    ),
    row(
        "one more async function, check, ms",
        Built(|cost| cost.check),
        OverBare(4.0),
    ),
    row(
        "one more async function, debug build, ms",
        Built(|cost| cost.debug),
        OverBare(8.0),
    ),
    row(
        "200 async functions, release build, s",
        Built(|cost| cost.release),
        AtMost(11.0),
    ),
    row(
        "one more async function, release build, bytes",
        Built(|cost| cost.code),
        AtMost(3_400.0),
    ),
];

const TRACED: &[Bounded] = &[
    row(
        "tracing, sync retry without a timer, body inlined",
        Retry("still-inlined", 0, 4),
        AtMost(115.0),
    ),
    row(
        "tracing, sync retry without a timer, body a call",
        Retry("still-call", 0, 4),
        AtMost(115.0),
    ),
    row(
        "tracing, async retry without a timer, body inlined",
        Retry("async-still-inlined", 0, 4),
        AtMost(255.0),
    ),
    row(
        "tracing, async retry without a timer, body a call",
        Retry("async-still-call", 0, 4),
        AtMost(255.0),
    ),
];

const NAMED: &[Bounded] = &[
    row(
        "named policy, sync success, over a constant one",
        Over(&Call("named", 0), &Call("sync-call", 0)),
        AtMost(12.0),
    ),
    row(
        "named policy, sync retry, over a constant one",
        Over(&Retry("named-still", 0, 4), &Retry("still-call", 0, 4)),
        AtMost(90.0),
    ),
    row(
        "named policy, async success, over a constant one",
        Over(&Call("named-async", 0), &Call("async-call", 0)),
        AtMost(12.0),
    ),
    row(
        "named policy, async retry, over a constant one",
        Over(
            &Retry("named-async-still", 0, 4),
            &Retry("async-still-call", 0, 4),
        ),
        AtMost(90.0),
    ),
    row(
        "loaded policy, sync success, over a constant one",
        Over(&Call("loaded", 0), &Call("sync-call", 0)),
        AtMost(12.0),
    ),
    row(
        "loaded policy, sync retry, over a constant one",
        Over(&Retry("loaded-still", 0, 4), &Retry("still-call", 0, 4)),
        AtMost(90.0),
    ),
    row(
        "loaded policy, async success, over a constant one",
        Over(&Call("loaded-async", 0), &Call("async-call", 0)),
        AtMost(12.0),
    ),
    row(
        "loaded policy, async retry, over a constant one",
        Over(
            &Retry("loaded-async-still", 0, 4),
            &Retry("async-still-call", 0, 4),
        ),
        AtMost(90.0),
    ),
];
