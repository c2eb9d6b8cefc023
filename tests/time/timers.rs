//! Timers of the user's own, whose clock has another origin than that by which
//! deadlines travel.

use std::cell::Cell;
use std::time::Duration;

use reattempt::timer::{Clock, DefaultTimer, Smol, ThreadTimer, Timer, Timestamp, Tokio};
use reattempt::{GiveUpReason, Policy, RetryError, deadline, retry, retry_block};

use crate::support::{Hand, Nap, assert_nothing_is_left, drive, ms};

const HOUR: Duration = Duration::from_secs(3600);

/// By its own clock nothing is over; from above it is.
#[test]
fn a_deadline_from_above() {
    #[retry(max = 9, base = "1h", cap = "1h", jitter = "none", on(_), timer = hand)]
    fn sync(hand: &Hand) -> Result<u32, RetryError<u32>> {
        assert!(deadline::remaining().is_some());
        Err(1)
    }
    #[retry(max = 9, base = "1h", cap = "1h", jitter = "none", on(_), timer = hand)]
    async fn asynchronous(hand: &Hand) -> Result<u32, RetryError<u32>> {
        assert!(deadline::remaining().is_some());
        Err(1)
    }
    #[retry(max = 9, base = "1h", cap = "1h", jitter = "none", deadline = "24h", on(_), timer = hand)]
    async fn limited(hand: &Hand) -> Result<u32, RetryError<u32>> {
        assert!(deadline::remaining() <= Some(HOUR));
        Err(1)
    }
    let hand = &Hand::default();
    for answer in [
        deadline::within_blocking(HOUR, || sync(hand)),
        drive(deadline::within(HOUR, asynchronous(hand))),
        drive(deadline::within(HOUR, limited(hand))),
    ] {
        let failed = answer.expect_err("always");
        assert_eq!(
            (failed.reason(), failed.attempts()),
            (GiveUpReason::Deadline, 1)
        );
    }
    assert_eq!(hand.passed(), Duration::ZERO);
}

/// Its own deadline is by its own clock, and seen below by that of the others.
#[test]
fn its_own_deadline() {
    #[retry(max = 9, base = "1h", cap = "1h", jitter = "none", deadline = "10h", on(_), timer = hand)]
    fn fetch(hand: &Hand, calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        let left = (10 * HOUR).saturating_sub(hand.passed());
        let seen = deadline::remaining().expect("its own");
        // No test takes a minute.
        assert!(
            seen <= left && seen + ms(60_000) > left,
            "{seen:?} of {left:?}"
        );
        hand.spend(2 * HOUR);
        Err(1)
    }
    let (hand, calls) = (Hand::default(), Cell::new(0));
    let failed = fetch(&hand, &calls).expect_err("always");
    // 0 to 2, 3 to 5, 6 to 8; the next would begin at 9.
    assert_eq!((failed.reason(), calls.get()), (GiveUpReason::Deadline, 4));
    assert_eq!(hand.passed(), 11 * HOUR);
    assert_nothing_is_left();
}

/// Calls with clocks of their own, one below the other.
#[test]
fn clock_below_clock() {
    #[retry(max = 9, base = "1m", cap = "1m", jitter = "none", deadline = "24h", on(_), timer = hand)]
    fn inner(hand: &Hand) -> Result<u32, RetryError<u32>> {
        assert!(deadline::remaining() <= Some(Duration::from_secs(150)));
        Err(1)
    }
    #[retry(max = 9, deadline = "150s", timer = hand, on = |_| false)]
    async fn outer(hand: &Hand) -> Result<u32, RetryError<u32>> {
        let failed = inner(&Hand::default()).expect_err("always");
        assert_eq!(failed.reason(), GiveUpReason::Attempts);
        Err(failed.attempts())
    }
    // The inner clock goes on, the one by which the deadline travels does not.
    let failed = drive(outer(&Hand::default())).expect_err("always");
    assert_eq!(
        (failed.reason(), failed.last()),
        (GiveUpReason::Permanent, Some(&9))
    );
}

/// The timers that there are, by name and by feature.
#[test]
fn by_name() {
    fn a_timer<T: Timer>(_: T) {}
    a_timer(Tokio);
    a_timer(Smol);
    let quick = Policy::new().base(Duration::from_nanos(1));
    let calls = Cell::new(0);
    let body = || {
        calls.set(calls.get() + 1);
        Err::<u32, u32>(calls.get())
    };
    let runner = quick.on(|_: &u32| true);
    assert_eq!(runner.timer(ThreadTimer).run(body), Err(3));
    assert_eq!(runner.timer(DefaultTimer).run(body), Err(6));
    let on_smol = runner.timer(Smol).try_run_async(async || body());
    let answer = async_io::block_on(on_smol);
    assert_eq!(answer.map_err(RetryError::into_last), Err(Some(9)));
}

/// Both features are on, and no runtime of tokio is: a delay is waited for all the same.
#[test]
fn outside_a_runtime() {
    #[retry(max = 3, base = "1ns", on(_), deadline = "1h")]
    async fn plain(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        assert!(deadline::remaining() <= Some(HOUR));
        calls.set(calls.get() + 1);
        Err(calls.get())
    }
    #[retry(max = 2, base = "1ns", timeout = "1ms", on(_))]
    async fn stuck() -> Result<u32, RetryError<u32>> {
        std::future::pending().await
    }
    let failed = futures::executor::block_on(plain(&Cell::default())).expect_err("always");
    assert_eq!(failed.last(), Some(&3));
    let failed = async_io::block_on(plain(&Cell::default())).expect_err("always");
    assert_eq!(failed.last(), Some(&3));
    let failed = futures::executor::block_on(stuck()).expect_err("always");
    let reason = (failed.reason(), failed.attempts());
    assert_eq!(reason, (GiveUpReason::Attempts, 2));
}

/// A clock that begins when it is made; its sleeps take as long again.
fn made(times: &Cell<u32>) -> Hand {
    times.set(times.get() + 1);
    Hand::late(ms(100))
}

#[test]
fn a_clock_made_in_place() {
    #[retry(max = 9, backoff = "fixed", base = "100ms", jitter = "none", deadline = "850ms", on(_), timer = made(times))]
    fn sync(times: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        Err(times.get())
    }
    #[retry(max = 9, backoff = "fixed", base = "100ms", jitter = "none", deadline = "850ms", on(_), timer = made(times))]
    async fn asynchronous(times: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        Err(times.get())
    }
    #[retry(max = 9, backoff = "fixed", base = "100ms", jitter = "none", deadline = "850ms", on(_),
        timer = made(times), context = attempt, before_retry = async |_| assert!(attempt.number() < 5))]
    async fn hooked(times: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        Err(times.get())
    }
    let times = &Cell::new(0);
    let block = || {
        retry_block!(
            max = 9,
            backoff = "fixed",
            base = "100ms",
            jitter = "none",
            deadline = "850ms",
            on(_),
            timer = made(times),
            || -> Result<u32, RetryError<u32>> { Err(times.get()) }
        )
    };
    let async_block = retry_block!(
        max = 9,
        backoff = "fixed",
        base = "100ms",
        jitter = "none",
        deadline = "850ms",
        on(_),
        timer = made(times),
        async || -> Result<u32, RetryError<u32>> { Err(times.get()) }
    );
    for (call, answer) in (1..).zip([
        sync(times),
        drive(asynchronous(times)),
        drive(hooked(times)),
        block(),
        drive(async_block),
    ]) {
        let failed = answer.expect_err("always");
        let end = (failed.reason(), failed.attempts(), failed.last());
        assert_eq!(end, (GiveUpReason::Deadline, 5, Some(&call)));
    }
}

/// Nothing else is evaluated where a call without a deadline needs a clock.
#[test]
fn a_timer_is_evaluated_once() {
    #[retry(max = 4, base = "1s", on(_), timer = made(times))]
    fn sync(times: &Cell<u32>) -> Result<u32, u32> {
        Err(times.get())
    }
    #[retry(max = 4, base = "1s", on(_), timer = made(times))]
    async fn asynchronous(times: &Cell<u32>) -> Result<u32, u32> {
        Err(times.get())
    }
    let times = &Cell::new(0);
    assert_eq!((sync(times), times.get()), (Err(1), 1));
    assert_eq!((drive(asynchronous(times)), times.get()), (Err(2), 2));
}

/// Goes on by two seconds whenever somebody looks.
struct Hasty(Hand);

impl Clock for Hasty {
    fn now(&self) -> Timestamp {
        self.0.spend(ms(2000));
        self.0.now()
    }
}

impl Timer for Hasty {
    type Sleep = Nap;

    fn sleep(&self, duration: Duration) -> Nap {
        Timer::sleep(&self.0, duration)
    }
}

/// Even if all of its time passes before its first poll.
#[test]
fn the_first_attempt_is_begun() {
    #[retry(deadline = "1s", on(_), timer = hasty)]
    async fn fetch(hasty: &Hasty) -> Result<u32, RetryError<u32>> {
        Ok(7)
    }
    assert_eq!(drive(fetch(&Hasty(Hand::default()))).ok(), Some(7));
    assert_nothing_is_left();
}
