//! Closed breakers alone: ours and those of failsafe and recloser, around the same success. All of them are
//! made once and shared, also by the threads of `contended`.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Duration;

use failsafe::failure_policy::{ConsecutiveFailures, SuccessRateOverTimeWindow};
use failsafe::{CircuitBreaker as _, Config, StateMachine, backoff::EqualJittered};
use reattempt::Breaker;
use recloser::Recloser;

use super::{Fault, Run, Script};

static COUNT: Breaker = Breaker::count_window(100);
static TIME: Breaker = Breaker::time_window(Duration::from_secs(30));

// It has no window of calls: the cheapest that it has is a count of failures in a row.
static FAILSAFE: LazyLock<StateMachine<ConsecutiveFailures<EqualJittered>, ()>> =
    LazyLock::new(|| {
        Config::new()
            .failure_policy(ConsecutiveFailures::default())
            .build()
    });
static FAILSAFE_TIME: LazyLock<StateMachine<SuccessRateOverTimeWindow<EqualJittered>, ()>> =
    LazyLock::new(|| {
        let policy = SuccessRateOverTimeWindow::default();
        Config::new().failure_policy(policy).build()
    });

// The last 100 calls.
static RECLOSER: LazyLock<Recloser> = LazyLock::new(Recloser::default);

pub(super) const CASES: &[(&str, Run)] = &[
    ("call-bare", |_, n| called(n, Script::small)),
    ("call-ours", |_, n| ours(n)),
    ("call-failsafe", |_, n| failsafe(n)),
    ("call-recloser", |_, n| recloser(n)),
    ("permit-ours", |_, n| {
        called(n, |script| {
            let permit = black_box(&COUNT).permit()?;
            let answer = script.small();
            permit.succeeded();
            answer
        });
    }),
    ("permit-failsafe", |_, n| {
        let breaker = &*FAILSAFE;
        called(n, |script| {
            if !black_box(breaker).is_call_permitted() {
                return Err(Fault::Broken);
            }
            let answer = script.small();
            breaker.on_success();
            answer
        });
    }),
    ("time-ours", |_, n| {
        called(n, |script| black_box(&TIME).call(|| script.small()));
    }),
    ("time-failsafe", |_, n| {
        let breaker = &*FAILSAFE_TIME;
        called(n, |script| black_box(breaker).call(|| script.small()));
    }),
];

pub(crate) fn ours(calls: u64) {
    called(calls, |script| black_box(&COUNT).call(|| script.small()));
}

pub(crate) fn failsafe(calls: u64) {
    let breaker = &*FAILSAFE;
    called(calls, |script| black_box(breaker).call(|| script.small()));
}

pub(crate) fn recloser(calls: u64) {
    let breaker = &*RECLOSER;
    called(calls, |script| black_box(breaker).call(|| script.small()));
}

#[inline]
fn called<A>(calls: u64, call: impl Fn(&Script) -> A) {
    let script = Script::default();
    for _ in 0..calls {
        black_box(call(black_box(&script)));
    }
}
