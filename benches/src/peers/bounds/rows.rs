//! The rows, and the bound of each.

use crate::peers::rows::{Counted, Row};
use crate::table::Bound;
use Bound::{AtMost, OverBare, OverHand, TimesHand};
use Counted::{Allocations, Bytes, Call, More, Retry};

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

/// The rows of this build: with a feature, those that it changes.
pub(super) fn rows() -> impl Iterator<Item = &'static Bounded> {
    let rows = match (cfg!(feature = "tracing"), cfg!(feature = "config")) {
        (false, false) => [ROWS, RETRIES, LIMITS],
        (tracing, config) => [
            if tracing { TRACED } else { &[] },
            if config { NAMED } else { &[] },
            &[],
        ],
    };
    rows.into_iter().flatten()
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
        OverHand(6.0),
    ),
    row(
        "async success, body inlined",
        Call("async-inlined", 0),
        OverHand(8.0),
    ),
    row(
        "async success, body a call",
        Call("async-call", 0),
        OverHand(8.0),
    ),
    row(
        "async success, 256 bytes kept, body inlined",
        Call("async-kept-inlined", 0),
        OverHand(8.0),
    ),
    row(
        "async success, 256 bytes kept, body a call",
        Call("async-kept-call", 0),
        OverHand(8.0),
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
        "run-time policy in a static, sync success",
        Call("static-sync", 0),
        AtMost(60.0),
    ),
    row(
        "run-time policy in a static, async success",
        Call("static-async", 0),
        AtMost(85.0),
    ),
    row(
        "run-time policy in a static, future, bytes",
        Bytes("static-async"),
        OverHand(24.0),
    ),
    row(
        "run-time policy in a static, sleeping task, bytes",
        Bytes("static-asleep"),
        TimesHand(1.0),
    ),
    row(
        "run-time policy in a field, sync success",
        Call("field-sync", 0),
        AtMost(60.0),
    ),
    row(
        "run-time policy in a field, async success",
        Call("field-async", 0),
        AtMost(85.0),
    ),
    row(
        "run-time policy in a field, future, bytes",
        Bytes("field-async"),
        OverHand(24.0),
    ),
    row(
        "run-time policy in a field, sleeping task, bytes",
        Bytes("field-asleep"),
        TimesHand(1.0),
    ),
];

const RETRIES: &[Bounded] = &retries(100.0, 130.0);

/// With the log compiled in, and nobody who reads it.
const TRACED: &[Bounded] = &retries(180.0, 250.0);

const fn retries(sync: f64, asynchronous: f64) -> [Bounded; 4] {
    [
        row(
            "sync retry without a timer, body inlined",
            Retry("still-inlined", 0, 4),
            OverBare(sync),
        ),
        row(
            "sync retry without a timer, body a call",
            Retry("still-call", 0, 4),
            OverBare(sync),
        ),
        row(
            "async retry without a timer, body inlined",
            Retry("async-still-inlined", 0, 4),
            OverBare(asynchronous),
        ),
        row(
            "async retry without a timer, body a call",
            Retry("async-still-call", 0, 4),
            OverBare(asynchronous),
        ),
    ]
}

const LIMITS: &[Bounded] = &[
    row(
        "tower layer, retry without a delay",
        Retry("service", 0, 2),
        AtMost(150.0),
    ),
    row(
        "tower layer, three retries with a delay, allocations",
        Allocations("service-wait", 3),
        AtMost(0.0),
    ),
    row(
        "withdrawal from a budget of deposits",
        Retry("withdraw", 0, 1),
        AtMost(80.0),
    ),
    row(
        "withdrawal from a budget of tokens",
        Retry("withdraw-tokens", 0, 1),
        AtMost(80.0),
    ),
    row("refusal by an open breaker", Call("open", 0), AtMost(100.0)),
];

/// The policy has a name: nothing is loaded, or a configuration that has it.
const NAMED: &[Bounded] = &[
    row(
        "named policy, sync success, over a constant one",
        More("named", "sync-call"),
        AtMost(10.0),
    ),
    row(
        "named policy, async success, over a constant one",
        More("named-async", "async-call"),
        AtMost(10.0),
    ),
    row(
        "named policy, sync retry without a timer",
        Retry("named-still", 0, 4),
        OverBare(220.0),
    ),
    row(
        "named policy, async retry without a timer",
        Retry("named-async-still", 0, 4),
        OverBare(220.0),
    ),
    row(
        "loaded policy, sync success, over a constant one",
        More("loaded", "sync-call"),
        AtMost(10.0),
    ),
    row(
        "loaded policy, async success, over a constant one",
        More("loaded-async", "async-call"),
        AtMost(10.0),
    ),
    row(
        "loaded policy, sync retry without a timer",
        Retry("loaded-still", 0, 4),
        OverBare(220.0),
    ),
    row(
        "loaded policy, async retry without a timer",
        Retry("loaded-async-still", 0, 4),
        OverBare(220.0),
    ),
];
