//! V81, the exponential of transient-fault handling: a strategy as a user writes it, that of the example.

use std::cell::RefCell;
use std::time::Duration;

use reattempt::{Policy, retry};

use crate::table::ms;
use crate::{Fault, Recorder};

#[expect(
    dead_code,
    unreachable_pub,
    reason = "the example, whose `main` is run by itself"
)]
#[path = "../../examples/strategy.rs"]
mod example;
use example::Exponential;

const STRUCK: &str = "struck";

/// First 1 s, base 10 s, factor 2, cap 30 s, no jitter.
const V81: Exponential = Exponential {
    retries: 4,
    min: Duration::from_secs(1),
    max: Duration::from_secs(30),
    delta: Duration::from_secs(10),
    fast_first: false,
    spread: (1.0, 1.0),
};

const FAST_FIRST: Exponential = Exponential {
    fast_first: true,
    ..V81
};

fn seconds(delays: &[u64]) -> Vec<Duration> {
    delays.iter().copied().map(Duration::from_secs).collect()
}

#[retry(strategy = strategy, on(_), timer = timer)]
fn blocking(
    strategy: Exponential,
    timer: &Recorder,
    fault: &mut Fault,
) -> Result<u32, &'static str> {
    fault.strike()
}

#[retry(strategy = strategy, on(_), on_retry = |retry| delays.push(retry.delay()))]
async fn asynchronous(
    strategy: &Exponential,
    delays: &mut Vec<Duration>,
    fault: &mut Fault,
) -> Result<u32, &'static str> {
    fault.strike()
}

fn always() -> Fault {
    Fault {
        left: u32::MAX,
        calls: 0,
    }
}

#[test]
fn sync_function() {
    // A delay of nothing is not slept at all.
    for (strategy, expected) in [(V81, &[1, 11, 30, 30][..]), (FAST_FIRST, &[11, 30, 30][..])] {
        let (timer, mut fault) = (Recorder::default(), always());
        assert_eq!(blocking(strategy, &timer, &mut fault), Err(STRUCK));
        assert_eq!(fault.calls, 5);
        assert_eq!(timer.sleeps.into_inner(), seconds(expected), "{strategy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn async_function() {
    for (strategy, expected) in [(V81, [1, 11, 30, 30]), (FAST_FIRST, [0, 11, 30, 30])] {
        let (mut delays, mut fault) = (Vec::new(), always());
        let answer = asynchronous(&strategy, &mut delays, &mut fault).await;
        assert_eq!((answer, fault.calls), (Err(STRUCK), 5));
        assert_eq!(delays, seconds(&expected), "{strategy:?}");
    }
}

#[test]
fn runner() {
    let (timer, policy) = (Recorder::default(), Policy::new());
    let delays = RefCell::new(Vec::new());
    let runner = policy.on(|_: &&str| true).timer(&timer);
    let answer = runner
        .on_retry(|retry: &reattempt::Retry<'_, &str>| delays.borrow_mut().push(retry.delay()))
        .strategy(&FAST_FIRST)
        .run(|| Err::<(), _>(STRUCK));
    assert_eq!(answer, Err(STRUCK));
    assert_eq!(delays.into_inner(), seconds(&[0, 11, 30, 30]));
}

/// The shape of the policy comes to the same where there is no jitter.
#[test]
fn the_shape_of_a_policy_agrees() {
    let policy = Policy::new()
        .first(V81.min)
        .base(V81.delta)
        .cap(V81.max)
        .jitter(reattempt::Jitter::None);
    for retry in 0..100 {
        assert_eq!(policy.delay(retry), V81.delay(retry, 0.5), "{retry}");
    }
}

/// B5: within the bounds of r, and overflow is the longest.
#[test]
fn drawn_and_overflowing() {
    let drawn = Exponential {
        max: Duration::from_secs(3600),
        spread: (0.8, 1.2),
        ..V81
    };
    assert_eq!(drawn.delay(1, 0.0), ms(9000.0));
    assert_eq!(drawn.delay(1, 0.5), ms(11_000.0));
    assert_eq!(drawn.delay(2, 0.0), ms(25_000.0));
    for retry in [12, 100, 1023, 1024, u32::MAX] {
        assert_eq!(drawn.delay(retry, 0.0), drawn.max, "{retry}");
    }
    let endless = Exponential {
        delta: Duration::MAX,
        max: Duration::MAX,
        ..V81
    };
    assert_eq!(endless.delay(u32::MAX, 0.9), Duration::MAX);
}
