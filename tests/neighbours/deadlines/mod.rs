//! An inherited deadline: one policy, however it is written, gives the same answer after the same
//! time.
//!
//! The deadline cuts an attempt off if its call has a `deadline` or a `timeout` of its own, and
//! else the call looks at it between attempts. A delay that would end after the deadline does not
//! begin, and costs nothing.

mod scenarios;
mod ways;
mod written;

use std::rc::Rc;

use reattempt::tower::RetryLayer;
use reattempt::{Budget, Policy, RetryError, retry, retry_block};
use tower::{Layer as _, ServiceExt as _, service_fn};

use self::scenarios::{DEADLINE, Deadline, Mute, PLAIN, SCENARIOS, Scenario, Script, TIMEOUT};
use self::ways::{Call, Way, Ways};
use self::written::{attribute, blocks, runner, ways};
use crate::clock::Time;
use crate::service::{Answer, Fault};

/// Those whose delays end when they should: the default timer is never late.
fn on_time() -> impl Iterator<Item = &'static Scenario> {
    SCENARIOS.iter().filter(|scenario| scenario.late == 0)
}

#[test]
fn async_calls_that_tell_all() {
    ways!([Result<(), RetryError<Fault>>] try_run_async, keys = [, on(_)], methods = [])
        .check(on_time());
}

#[test]
fn async_calls_with_plain_errors() {
    ways!([Result<(), Fault>] run_async, keys = [, on(_)], methods = []).check(on_time());
}

#[test]
fn async_calls_by_another_timer() {
    ways!(
        [Result<(), RetryError<Fault>>] try_run_async,
        keys = [, timer = Time], methods = [.timer(Time)]
    )
    .check(SCENARIOS);
}

#[test]
fn async_calls_with_plain_errors_by_another_timer() {
    ways!([Result<(), Fault>] run_async, keys = [, timer = Time], methods = [.timer(Time)])
        .check(SCENARIOS);
}

#[test]
fn blocking_calls_that_tell_all() {
    ways!(blocking [Result<(), RetryError<Fault>>] try_run, keys = [, on(_)], methods = [])
        .check(on_time());
}

#[test]
fn blocking_calls_with_plain_errors() {
    ways!(blocking [Result<(), Fault>] run, keys = [, on(_)], methods = []).check(on_time());
}

#[test]
fn blocking_calls_by_another_timer() {
    ways!(
        blocking [Result<(), RetryError<Fault>>] try_run,
        keys = [, timer = Time], methods = [.timer(Time)]
    )
    .check(SCENARIOS);
    ways!(blocking [Result<(), Fault>] run, keys = [, timer = Time], methods = [.timer(Time)])
        .check(SCENARIOS);
}

/// Nothing cuts an attempt off that could not say so, and no attempt begins too late all the same.
#[test]
fn calls_whose_errors_cannot_say_it() {
    let ways = |answers: [Way; 4]| Ways {
        without: answers.into(),
        with: Vec::new(),
        budget: None,
    };
    ways([
        attribute!(PLAIN, [Result<(), Mute>] |script| { policy = PLAIN }),
        attribute!(PLAIN, [Result<(), Mute>] |script| { policy = script.policy, cut_off = false }),
        attribute!(PLAIN, [Result<(), Mute>] |script| { policy = "plain", cut_off = false }),
        attribute!(DEADLINE, [Result<(), Mute>] |script| { policy = DEADLINE, cut_off = false }),
    ])
    .check(on_time());
    ways([
        attribute!(PLAIN, [Result<(), Mute>] |script| { policy = PLAIN, timer = Time }),
        attribute!(PLAIN, [Result<(), Mute>] |script| {
            policy = script.policy, cut_off = false, timer = Time
        }),
        attribute!(PLAIN, [Result<(), Mute>] |script| {
            policy = "plain", cut_off = false, timer = Time
        }),
        attribute!(DEADLINE, [Result<(), Mute>] |script| {
            policy = DEADLINE, cut_off = false, timer = Time
        }),
    ])
    .check(SCENARIOS);
}

/// A layer cancels nothing.
fn layers(plain: Policy, deadline: Policy) -> Ways {
    let of = |name, policy| Way {
        name,
        policy,
        call: Call::Async(|script| {
            Box::pin(async move {
                let layer = RetryLayer::new(script.policy).timer(Time);
                let attempt = async |script: Rc<Script>| -> Answer { script.attempt().await };
                layer
                    .layer(service_fn(attempt))
                    .oneshot(script)
                    .await
                    .into()
            })
        }),
    };
    let without = vec![
        of("layer of PLAIN", plain),
        of("layer of DEADLINE", deadline),
    ];
    Ways {
        without,
        with: Vec::new(),
        budget: None,
    }
}

#[test]
fn layers_by_another_timer() {
    layers(PLAIN, DEADLINE).check(SCENARIOS);
}

/// A retry that is not made costs nothing.
#[test]
fn calls_that_pay_for_retries() {
    static PRICE: Budget = Budget::tokens(100).cost(1);
    ways!(
        [Result<(), RetryError<Fault>>] try_run_async,
        keys = [, timer = Time, budget = &PRICE], methods = [.timer(Time).budget(&PRICE)]
    )
    .paid_by(&PRICE)
    .check(SCENARIOS);
}

#[test]
fn plain_calls_that_pay_for_retries() {
    static PRICE: Budget = Budget::tokens(100).cost(1);
    ways!(
        [Result<(), Fault>] run_async,
        keys = [, timer = Time, budget = &PRICE], methods = [.timer(Time).budget(&PRICE)]
    )
    .paid_by(&PRICE)
    .check(SCENARIOS);
}

#[test]
fn blocking_calls_and_layers_that_pay_for_retries() {
    static PRICE: Budget = Budget::tokens(100).cost(1);
    ways!(
        blocking [Result<(), RetryError<Fault>>] try_run,
        keys = [, timer = Time, budget = &PRICE], methods = [.timer(Time).budget(&PRICE)]
    )
    .paid_by(&PRICE)
    .check(SCENARIOS);
    layers(PLAIN.budget(&PRICE), DEADLINE.budget(&PRICE))
        .paid_by(&PRICE)
        .check(SCENARIOS);
}

/// Polls of a value that is not final.
#[test]
fn calls_that_poll() {
    const POLLS: &[Scenario] = &[
        Scenario {
            name: "a delay before a poll would end after the deadline",
            attempts: &[(1, Ok(()))],
            late: 0,
            endures: (19, 3, Deadline(3)),
            is_cut_off: (19, 3, Deadline(3)),
        },
        Scenario {
            name: "a delay before a poll ends late, after the deadline",
            attempts: &[(1, Ok(()))],
            late: 15,
            endures: (24, 1, Deadline(1)),
            is_cut_off: (24, 1, Deadline(1)),
        },
    ];
    macro_rules! polling {
        (|$script:ident| $([$($policy:ident)+ { $($keys:tt)* }])*) => {
            vec![$(attribute!($($policy)+, [Result<(), RetryError<Fault>>] |$script| {
                $($keys)*, until = |()| false, timer = Time
            })),*]
        };
    }
    let without = polling!(|script|
        [PLAIN { policy = PLAIN }]
        [PLAIN { policy = script.policy }]
        [PLAIN { policy = "plain" }]
        [blocking PLAIN { policy = PLAIN }]
        [blocking PLAIN { policy = script.policy }]
        [blocking PLAIN { policy = "plain" }]
        [blocking DEADLINE { policy = DEADLINE }]
        [blocking DEADLINE { policy = script.policy }]
    );
    let with = polling!(|script|
        [DEADLINE { policy = DEADLINE }]
        [DEADLINE { policy = script.policy }]
        [TIMEOUT { policy = TIMEOUT }]
        [TIMEOUT { policy = script.policy }]
    );
    Ways {
        without,
        with,
        budget: None,
    }
    .check(POLLS);
}
