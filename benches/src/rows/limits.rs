//! The rows about limits: what they add to a success, and the breakers of other crates.

use super::{Row, counted};
use crate::measure::instructions;
use crate::table::{Bound, Columns};

/// Under `#[retry]` without the limit.
pub(super) const WITHOUT: Columns = ["bare", "without"];

pub(super) const PEERS: Columns = ["recloser", "failsafe"];

/// The case of a function with a limit, and those that it is compared with.
pub(super) fn limited(function: &str, limit: &str, way: &str) -> String {
    match way {
        "bare" => format!("{function}-bare"),
        "without" => format!("{function}-ours"),
        _ => format!("{function}-{limit}"),
    }
}

pub(super) const INSTRUCTIONS: &[Row] = &[
    Row {
        title: "sync success, budget shared",
        bound: Bound::OverHand(25.0),
        number: |way| instructions(&limited("sync-small", "budget", way), 0),
        bare: true,
    },
    Row {
        title: "sync success, budget of its own",
        bound: Bound::OverHand(25.0),
        number: |way| instructions(&limited("sync-small", "own", way), 0),
        bare: true,
    },
    Row {
        title: "sync success, budget of tokens",
        bound: Bound::OverHand(25.0),
        number: |way| instructions(&limited("sync-small", "tokens", way), 0),
        bare: true,
    },
    Row {
        title: "async success, budget shared",
        bound: Bound::OverHand(25.0),
        number: |way| instructions(&limited("async-pending", "budget", way), 0),
        bare: true,
    },
    Row {
        title: "sync success, breaker",
        bound: Bound::OverHand(60.0),
        number: |way| instructions(&limited("sync-small", "breaker", way), 0),
        bare: true,
    },
    Row {
        title: "async success, breaker",
        bound: Bound::OverHand(60.0),
        number: |way| instructions(&limited("async-pending", "breaker", way), 0),
        bare: true,
    },
    Row {
        title: "sync success, budget and breaker",
        bound: Bound::OverHand(85.0),
        number: |way| instructions(&limited("sync-small", "both", way), 0),
        bare: true,
    },
    Row {
        title: "async success, budget and breaker",
        bound: Bound::OverHand(85.0),
        number: |way| instructions(&limited("async-pending", "both", way), 0),
        bare: true,
    },
    // These read a clock.
    Row {
        title: "sync success, breaker of a time",
        bound: Bound::Nothing,
        number: |way| instructions(&limited("sync-small", "timed", way), 0),
        bare: true,
    },
    Row {
        title: "sync success, adaptive throttle",
        bound: Bound::Nothing,
        number: |way| instructions(&limited("sync-small", "adaptive", way), 0),
        bare: true,
    },
    Row {
        title: "async success, adaptive throttle",
        bound: Bound::Nothing,
        number: |way| instructions(&limited("async-pending", "adaptive", way), 0),
        bare: true,
    },
    // Nearly all of it is tokio's timer.
    Row {
        title: "async success in tokio, hedge that waits",
        bound: Bound::Nothing,
        number: |way| instructions(&format!("hedge-{way}"), 0),
        bare: true,
    },
    Row {
        title: "tower service success, budget",
        bound: Bound::Nothing,
        number: |way| instructions(&limited("tower", "budget", way), 0),
        bare: true,
    },
    Row {
        title: "breaker of a host, found (without: a static)",
        bound: Bound::Nothing,
        number: |way| instructions(&format!("keyed-{way}"), 0),
        bare: false,
    },
];

pub(super) const BREAKERS: &[Row] = &[
    Row {
        title: "call, the last 100 (failsafe: in a row)",
        bound: Bound::AtMost(60.0),
        number: |way| instructions(&format!("call-{way}"), 0),
        bare: true,
    },
    Row {
        title: "permit and success, the same",
        bound: Bound::AtMost(60.0),
        number: |way| instructions(&format!("permit-{way}"), 0),
        bare: false,
    },
    Row {
        title: "call, the last 30 s",
        bound: Bound::Nothing,
        number: |way| instructions(&format!("time-{way}"), 0),
        bare: false,
    },
];

pub(super) const ALLOCATIONS: &[Row] = &[
    Row {
        title: "sync success, budget and breaker, allocations",
        bound: Bound::AtMost(0.0),
        number: |way| counted(&limited("sync-small", "both", way), 0),
        bare: true,
    },
    Row {
        title: "async success, budget and breaker, allocations",
        bound: Bound::AtMost(0.0),
        number: |way| counted(&limited("async-pending", "both", way), 0),
        bare: true,
    },
    Row {
        title: "sync success, budget of tokens, allocations",
        bound: Bound::AtMost(0.0),
        number: |way| counted(&limited("sync-small", "tokens", way), 0),
        bare: true,
    },
    Row {
        title: "sync success, breaker of a time, allocations",
        bound: Bound::AtMost(0.0),
        number: |way| counted(&limited("sync-small", "timed", way), 0),
        bare: true,
    },
    Row {
        title: "async success, adaptive throttle, allocations",
        bound: Bound::Nothing,
        number: |way| counted(&limited("async-pending", "adaptive", way), 0),
        bare: true,
    },
    Row {
        title: "async success, hedge that waits, allocations",
        bound: Bound::Nothing,
        number: |way| counted(&format!("hedge-{way}"), 0),
        bare: true,
    },
    Row {
        title: "tower service success, budget, allocations",
        bound: Bound::AtMost(0.0),
        number: |way| counted(&limited("tower", "budget", way), 0),
        bare: true,
    },
    Row {
        title: "breaker of a host, found, allocations",
        bound: Bound::AtMost(0.0),
        number: |way| counted(&format!("keyed-{way}"), 0),
        bare: false,
    },
];
