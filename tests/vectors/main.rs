//! The delays that other systems specify must come out of ours: the same table
//! through the pure schedule, a sync function and an async one.
#![allow(
    clippy::expect_used,
    clippy::unreadable_literal,
    clippy::cast_possible_truncation,
    reason = "a test that panics has failed, and its numbers are small"
)]

mod breaker;
mod budget;
mod cap;
mod grpc;
mod grpc_go;
mod strategy;
mod table;
mod throttle;

use std::cell::RefCell;
use std::time::Duration;

use proptest::prelude::*;
use reattempt::timer::{BlockingTimer, Clock, Timestamp};
use reattempt::{Backoff, Jitter, Policy, retry};
use table::{VECTORS, Vector, ms};

/// A clock that stands still but for the sleeps, which it records.
#[derive(Default)]
struct Recorder {
    sleeps: RefCell<Vec<Duration>>,
}

impl Clock for Recorder {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.sleeps.borrow().iter().sum())
    }
}

impl BlockingTimer for Recorder {
    fn sleep(&self, duration: Duration) {
        self.sleeps.borrow_mut().push(duration);
    }
}

/// A fault that stays for the first `faults` calls.
struct Fault {
    left: u32,
    calls: u32,
}

impl Fault {
    fn strike(&mut self) -> Result<u32, &'static str> {
        self.calls += 1;
        if self.left == 0 {
            return Ok(self.calls);
        }
        self.left -= 1;
        Err("struck")
    }
}

#[retry(policy = policy, on(_), timer = timer)]
fn blocking(policy: Policy, timer: &Recorder, fault: &mut Fault) -> Result<u32, &'static str> {
    fault.strike()
}

#[retry(policy = policy, cut_off = false, on(_), on_retry = |retry| delays.push(retry.delay()))]
async fn asynchronous(
    policy: Policy,
    delays: &mut Vec<Duration>,
    fault: &mut Fault,
) -> Result<u32, &'static str> {
    fault.strike()
}

fn fault(vector: &Vector) -> Fault {
    Fault {
        left: vector.faults,
        calls: 0,
    }
}

#[test]
fn schedule() {
    for vector in VECTORS {
        for (retry, expected) in vector.delays.iter().enumerate() {
            let retry = u32::try_from(retry).expect("tables are short");
            assert_eq!(
                vector.policy.delay(retry),
                ms(*expected),
                "{} retry {retry}",
                vector.id
            );
        }
    }
}

#[test]
fn sync_function() {
    for vector in VECTORS {
        let (timer, mut fault) = (Recorder::default(), fault(vector));
        let answer = blocking(vector.policy, &timer, &mut fault);
        assert_eq!(answer.is_ok(), vector.succeeds, "{}", vector.id);
        assert_eq!(fault.calls, vector.calls, "{}", vector.id);
        // A delay of nothing is not slept at all.
        let expected: Vec<_> = vector.slept().filter(|delay| !delay.is_zero()).collect();
        assert_eq!(timer.sleeps.into_inner(), expected, "{}", vector.id);
    }
}

#[tokio::test(start_paused = true)]
async fn async_function() {
    for vector in VECTORS {
        let (mut delays, mut fault) = (Vec::new(), fault(vector));
        let start = tokio::time::Instant::now();
        let answer = asynchronous(vector.policy, &mut delays, &mut fault).await;
        assert_eq!(answer.is_ok(), vector.succeeds, "{}", vector.id);
        assert_eq!(fault.calls, vector.calls, "{}", vector.id);
        assert_eq!(delays, vector.slept().collect::<Vec<_>>(), "{}", vector.id);
        // tokio rounds each sleep up to a millisecond.
        let (slept, least) = (start.elapsed(), vector.slept().sum::<Duration>());
        assert!(slept >= least, "{}: {slept:?} < {least:?}", vector.id);
        assert!(
            slept <= least + ms(2.0) * vector.calls,
            "{}: {slept:?} > {least:?}",
            vector.id
        );
    }
}

/// V8: no retry is too late for the arithmetic.
#[test]
fn late_retries_get_the_cap() {
    let policy = Policy::new()
        .base(ms(1000.0))
        .cap(ms(20_000.0))
        .jitter(Jitter::None);
    for retry in [33, 100, 100_000, u32::MAX] {
        assert_eq!(policy.delay(retry), ms(20_000.0), "V8 retry {retry}");
    }
}

/// V31: what would overflow is the longest there is.
#[test]
fn overflow_is_the_longest_delay() {
    let day = Duration::from_secs(24 * 60 * 60);
    let policy = Policy::new().base(day).jitter(Jitter::None);
    assert_eq!(policy.cap(day * 2).delay(1000), day * 2);
    for shape in [Backoff::Exp, Backoff::Linear, Backoff::Fibonacci] {
        let endless = policy.backoff(shape).cap(Duration::MAX).base(Duration::MAX);
        assert_eq!(endless.delay(1000), Duration::MAX, "{shape:?}");
    }
    assert_eq!(policy.cap(Duration::MAX).delay(1000), Duration::MAX);
}

/// V48: an error that both `on` and `except` name is not retried.
#[test]
fn except_wins() {
    #[retry(backoff = "none", on(&"struck" | &"lost"), except(&"struck"))]
    fn excepted(fault: &mut Fault) -> Result<u32, &'static str> {
        fault.strike()
    }
    let mut fault = Fault { left: 2, calls: 0 };
    assert_eq!(excepted(&mut fault), Err("struck"));
    assert_eq!(fault.calls, 1);
}

/// V77: a delay that would outlive the deadline is not begun.
#[test]
fn no_sleep_beyond_the_deadline() {
    let policy = Policy::new()
        .base(ms(100.0))
        .jitter(Jitter::None)
        .deadline(ms(20.0));
    let (timer, mut fault) = (Recorder::default(), Fault { left: 9, calls: 0 });
    assert_eq!(blocking(policy, &timer, &mut fault), Err("struck"));
    assert_eq!((fault.calls, timer.sleeps.into_inner()), (1, Vec::new()));
}

fn shapes() -> impl Strategy<Value = Backoff> {
    prop::sample::select(vec![
        Backoff::None,
        Backoff::Fixed,
        Backoff::Linear,
        Backoff::Exp,
        Backoff::Fibonacci,
        Backoff::Decorrelated,
    ])
}

fn jitters() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        prop::sample::select(Jitter::WORDS).prop_map(|(_, jitter)| jitter),
        (0.0..=1.0f64).prop_map(Jitter::Ratio),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// V87: any random value, any policy, also one that the rules refuse.
    #[test]
    fn never_above_the_cap(
        shape in shapes(),
        jitter in jitters(),
        base in any::<Duration>(),
        first in any::<Option<Duration>>(),
        factor in any::<f64>(),
        cap in any::<Duration>(),
        fast in any::<bool>(),
        retry in any::<u32>(),
        previous in any::<Option<Duration>>(),
        r in any::<u64>(),
    ) {
        let mut policy = Policy::new().backoff(shape).jitter(jitter).base(base).factor(factor).cap(cap).fast_first(fast);
        if let Some(first) = first {
            policy = policy.first(first);
        }
        prop_assert!(policy.delay(retry) <= cap);
        prop_assert!(policy.sample_delay(retry, previous, || r) <= cap);
        let (low, high) = policy.delay_bounds(retry);
        prop_assert!(low <= high && high <= cap, "{low:?} {high:?}");
    }

    /// What a drawn delay can be is what `delay_bounds` says.
    #[test]
    fn within_its_bounds(
        shape in shapes(),
        jitter in jitters(),
        base in 1u64..10_000_000_000,
        factor in 1.01..10.0f64,
        cap in 1u64..100_000_000_000,
        retry in 0u32..100,
        r in any::<u64>(),
    ) {
        let policy = Policy::new()
            .backoff(shape)
            .jitter(jitter)
            .base(Duration::from_nanos(base))
            .factor(factor)
            .cap(Duration::from_nanos(cap));
        let (low, high) = policy.delay_bounds(retry);
        let previous = retry.checked_sub(1).map(|before| policy.delay_bounds(before).1);
        let drawn = policy.sample_delay(retry, previous, || r);
        // One nanosecond of rounding.
        let slack = Duration::from_nanos(1 + high.as_nanos() as u64 / 1_000_000_000_000);
        prop_assert!(drawn + slack >= low && drawn <= high + slack, "{drawn:?} not in {low:?}..{high:?}");
    }
}
