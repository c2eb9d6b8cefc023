//! Circuit breakers alone: closed ones around a success, as in `cases::breakers`, and open ones.

use std::hint::black_box;
use std::time::Duration;

use failsafe::CircuitBreaker as _;
use reattempt::Breaker;
use recloser::Recloser;

use super::ways::Way;
use crate::cases::{Fault, Run, breakers};

pub(super) const OURS: &[(&str, Run)] = &[
    ("closed", |_, n| breakers::ours(n)),
    ("open", |_, n| {
        static BREAKER: Breaker = Breaker::count_window(10).cooldown(LONG);
        refused(
            n,
            || BREAKER.call(fails),
            reattempt::overload::breaker::Rejected::is_open,
        );
    }),
];

pub(super) const FAILSAFE: Way = Way {
    name: "failsafe",
    lacks: None,
    runs: &[&[
        ("closed", |_, n| breakers::failsafe(n)),
        ("open", |_, n| {
            let policy = failsafe::failure_policy::consecutive_failures(
                1,
                failsafe::backoff::constant(LONG),
            );
            let breaker = failsafe::Config::new().failure_policy(policy).build();
            refused(
                n,
                || breaker.call(fails),
                |error| matches!(error, failsafe::Error::Rejected),
            );
        }),
    ]],
    sizes: &[],
};

pub(super) const RECLOSER: Way = Way {
    name: "recloser",
    lacks: None,
    runs: &[&[
        ("closed", |_, n| breakers::recloser(n)),
        ("open", |_, n| {
            let breaker = Recloser::custom().closed_len(2).open_wait(LONG).build();
            refused(
                n,
                || breaker.call(fails),
                |error| matches!(error, recloser::Error::Rejected),
            );
        }),
    ]],
    sizes: &[],
};

const LONG: Duration = Duration::from_secs(3_600);

fn fails() -> Result<u64, Fault> {
    Err(black_box(Fault::Busy))
}

/// Calls until the breaker is open, then so often.
fn refused<E>(calls: u64, call: impl Fn() -> Result<u64, E>, is_refusal: fn(&E) -> bool) {
    let open = (0..1_000).any(|_| call().as_ref().is_err_and(is_refusal));
    assert!(open, "opened by failures");
    for _ in 0..calls {
        let _ = black_box(call());
    }
}
