//! The deadline of a call: its own, one from above, and what its body and its hooks
//! see of it.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::time::Duration;

use reattempt::{GaveUp, GiveUpReason, Policy, RetryError, Verified, deadline, retry, retry_block};
use tokio::time::{Instant, sleep};

use crate::bombs::yield_once;
use crate::support::{Hand, assert_nothing_is_left, drive, ms};

/// A deadline of 20 ms and a delay of 100 ms: one execution, no sleep.
#[test]
fn too_short_for_a_retry() {
    const SHORT: Policy = Policy::new().max(7).jitter(reattempt::Jitter::None);
    #[retry(policy = policy, on(_), timer = hand)]
    fn own(policy: Policy, hand: &Hand) -> Result<u32, RetryError<u32>> {
        Err(1)
    }
    #[retry(policy = policy, on(_), timer = hand)]
    async fn own_async(policy: Policy, hand: &Hand) -> Result<u32, RetryError<u32>> {
        Err(1)
    }
    #[retry(base = "100ms", jitter = "none", on(_), timer = hand)]
    fn plain(hand: &Hand) -> Result<u32, RetryError<u32>> {
        Err(1)
    }
    #[retry(base = "100ms", jitter = "none", on(_), timer = hand, on_retry = |_| ())]
    async fn plain_async(hand: &Hand) -> Result<u32, RetryError<u32>> {
        Err(1)
    }
    let hand = &Hand::default();
    let limit = ms(20);
    let own_deadline = SHORT.deadline(limit);
    for answer in [
        own(own_deadline, hand),
        drive(own_async(own_deadline, hand)),
        deadline::within_blocking(limit, || own(SHORT, hand)),
        deadline::within_blocking(limit, || plain(hand)),
        drive(deadline::within(limit, own_async(SHORT, hand))),
        drive(deadline::within(limit, plain_async(hand))),
        deadline::within_blocking(limit, || drive(plain_async(hand))),
        drive(deadline::within(limit, async { plain(hand) })),
        own_deadline
            .on(|_: &u32| true)
            .timer(hand)
            .try_run(|| Err(1)),
        drive(
            own_deadline
                .on(|_: &u32| true)
                .timer(hand)
                .try_run_async(async || Err(1)),
        ),
    ] {
        let failed = answer.expect_err("always");
        assert_eq!(
            (failed.reason(), failed.attempts()),
            (GiveUpReason::Deadline, 1)
        );
        assert_eq!(failed.last(), Some(&1));
        assert!(failed.is_timeout());
    }
    assert_eq!(hand.passed(), Duration::ZERO);
    assert_nothing_is_left();
}

/// Exactly as long as the time that is left is too long.
#[test]
fn to_the_nanosecond() {
    const POLICY: Policy = Policy::new().jitter(reattempt::Jitter::None).base(ms(20));
    let attempts = |deadline: Duration| {
        let hand = Hand::default();
        let runner = POLICY.max(2).deadline(deadline);
        let runner = runner.on(|_: &u32| true).timer(&hand);
        let failed = runner.try_run(|| Err::<u32, u32>(1)).expect_err("always");
        (failed.attempts(), failed.reason())
    };
    assert_eq!(attempts(ms(20)), (1, GiveUpReason::Deadline));
    assert_eq!(
        attempts(ms(20) + Duration::from_nanos(1)),
        (2, GiveUpReason::Attempts)
    );
}

/// The body, the hooks and the calls below see what is left of the call's own.
#[test]
fn its_own_is_seen_below() {
    #[retry(on(_), timer = hand)]
    fn below(hand: &Hand) -> Result<u32, u32> {
        assert_eq!(
            deadline::remaining().map(|left| left <= ms(800)),
            Some(true)
        );
        hand.spend(ms(1));
        Err(7)
    }
    fn seen(hand: &Hand) {
        // By another clock than the call's own, but not by more than a test takes.
        let left = deadline::remaining().expect("one is set");
        let own = ms(800).saturating_sub(hand.passed());
        assert!(left <= own, "{left:?} of {own:?}");
        assert!(left + ms(60_000) > own);
    }
    #[retry(
        base = "1ms",
        deadline = "800ms",
        timer = hand,
        idempotent = false,
        on = |_| reattempt::Verdict::Transient,
        verify = |_| { seen(hand); Verified::NotDone::<u32> },
        on_retry = |_| seen(hand),
        before_retry = |_| seen(hand),
        fallback = |fault| { assert_nothing_is_left(); Err(fault) },
    )]
    fn sync(hand: &Hand) -> Result<u32, u32> {
        seen(hand);
        hand.spend(ms(10));
        below(hand)
    }
    #[retry(
        base = "1ms",
        deadline = "800ms",
        timer = hand,
        idempotent = false,
        on = |_| reattempt::Verdict::Transient,
        verify = async |_| { seen(hand); Verified::NotDone::<u32> },
        on_retry = |_| seen(hand),
        before_retry = async |_| seen(hand),
        fallback = async |failed| { assert_nothing_is_left(); Err(failed) },
    )]
    async fn asynchronous(hand: &Hand) -> Result<u32, Cut> {
        seen(hand);
        hand.spend(ms(10));
        yield_once().await;
        seen(hand);
        below(hand).map_err(Cut::Below)
    }
    assert_eq!(sync(&Hand::default()), Err(7));
    let hand = Hand::ticking(ms(1));
    assert_eq!(drive(asynchronous(&hand)), Err(Cut::Below(7)));
    // Three attempts, none of them cut off.
    assert!(hand.passed() >= ms(33) && hand.passed() < ms(800));
    assert_nothing_is_left();
}

#[derive(Debug, PartialEq, Eq)]
enum Cut {
    Below(u32),
    Off(GaveUp),
}

impl From<GaveUp> for Cut {
    fn from(end: GaveUp) -> Self {
        Self::Off(end)
    }
}

/// However long a hook took, no attempt starts after the deadline.
#[test]
fn a_hook_that_outlasts_the_deadline() {
    #[retry(base = "1ms", deadline = "2s", on(_), timer = hand, before_retry = |_| hand.spend(ms(3000)))]
    fn fetch(hand: &Hand, calls: &mut u32) -> Result<u32, RetryError<u32>> {
        *calls += 1;
        Err(*calls)
    }
    #[retry(base = "1ms", deadline = "2s", on(_), timer = hand, before_retry = |_| hand.spend(ms(3000)))]
    async fn fetch_async(hand: &Hand, calls: &mut u32) -> Result<u32, RetryError<u32>> {
        *calls += 1;
        Err(*calls)
    }
    for call in [
        |calls: &mut u32| fetch(&Hand::default(), calls),
        |calls: &mut u32| drive(fetch_async(&Hand::default(), calls)),
    ] {
        let mut calls = 0;
        let failed = call(&mut calls).unwrap_err();
        assert_eq!(
            (failed.reason(), failed.attempts()),
            (GiveUpReason::Deadline, 1)
        );
        assert_eq!((failed.into_last(), calls), (Some(1), 1));
    }
}

/// A hook that hangs is cut off, and the call ends with its last error.
#[tokio::test(start_paused = true)]
async fn a_hanging_hook() {
    #[retry(base = "1ms", deadline = "2s", on(_), before_retry = async |_| pending().await)]
    async fn fetch(calls: &Cell<u32>) -> Result<u32, RetryError<&'static str>> {
        calls.set(calls.get() + 1);
        Err("busy")
    }
    #[retry(
        base = "1ms",
        deadline = "2s",
        idempotent = false,
        on = |_| reattempt::Verdict::Transient,
        verify = async |_| pending::<Verified<u32>>().await,
    )]
    async fn verified(calls: &Cell<u32>) -> Result<u32, RetryError<&'static str>> {
        calls.set(calls.get() + 1);
        Err("busy")
    }
    let (calls, start) = (Cell::new(0), Instant::now());
    for (answer, after) in [
        (fetch(&calls).await, 2_000),
        (verified(&calls).await, 4_000),
    ] {
        let failed = answer.expect_err("cut off");
        assert_eq!(
            (failed.reason(), failed.attempts()),
            (GiveUpReason::Deadline, 1)
        );
        assert_eq!(failed.last(), Some(&"busy"));
        assert!(start.elapsed() >= ms(after.min(2_000)));
    }
    assert!(start.elapsed() < ms(4_010));
    assert_eq!(calls.get(), 2);
    assert_nothing_is_left();
}

/// An inherited policy cuts off what can say so, and a block too.
#[tokio::test(start_paused = true)]
async fn an_inherited_deadline() {
    const SHORT: Policy = Policy::new().deadline(ms(2_000));
    #[retry(policy = SHORT, on(_))]
    async fn reported() -> Result<u32, RetryError<u32>> {
        pending().await
    }
    #[retry(policy = SHORT, on(_))]
    async fn cut() -> Result<u32, Cut> {
        pending().await
    }
    #[retry(policy = SHORT)]
    async fn absent() -> Option<u32> {
        pending().await
    }
    #[retry(policy = policy, on(_))]
    async fn at_run_time(policy: Policy) -> Result<u32, Cut> {
        pending().await
    }
    #[retry(policy = SHORT, cut_off = false, on(_))]
    async fn endures() -> Result<u32, u32> {
        sleep(ms(10_000)).await;
        Err(5)
    }
    let end = Instant::now() + ms(2_000);
    let failed = reported().await.expect_err("cut off");
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Deadline, 1)
    );
    assert_eq!((failed.last(), Instant::now()), (None, end));
    let is_cut = |answer: Result<u32, Cut>| match answer {
        Err(Cut::Off(end)) => (end.reason(), end.attempts(), end.is_timeout()),
        other => panic!("{other:?}"),
    };
    let expected = (GiveUpReason::Deadline, 1, true);
    assert_eq!(is_cut(cut().await), expected);
    assert_eq!(absent().await, None);
    assert_eq!(is_cut(at_run_time(SHORT).await), expected);
    assert_eq!(Instant::now(), end + 3 * ms(2_000));
    // Its error cannot say it: the deadline is looked at afterwards.
    assert_eq!(endures().await, Err(5));
    assert_eq!(Instant::now(), end + ms(16_000));
    let block = retry_block!(policy = SHORT, on(_), async || -> Result<u32, Cut> {
        pending().await
    });
    assert_eq!(is_cut(block.await), expected);
    assert_eq!(Instant::now(), end + ms(18_000));
}

/// What a body sees of `context` and of the ambient deadline is the same.
#[tokio::test(start_paused = true)]
async fn context_and_remaining_agree() {
    #[retry(base = "1s", jitter = "none", deadline = "10s", on(_), context = attempt)]
    async fn fetch(seen: &RefCell<Vec<Duration>>) -> Result<u32, RetryError<u32>> {
        assert_eq!(attempt.remaining(), deadline::remaining());
        seen.borrow_mut().extend(attempt.remaining());
        sleep(ms(2_000)).await;
        assert_eq!(
            attempt.remaining(),
            deadline::remaining().map(|left| left + ms(2_000))
        );
        Err(1)
    }
    let seen = RefCell::default();
    assert!(deadline::within(ms(9_000), fetch(&seen)).await.is_err());
    // The third attempt is cut off.
    assert_eq!(*seen.borrow(), [9_000, 6_000, 2_000].map(ms));
}

/// A timer that comes late: what it waited for is not begun.
#[test]
fn a_late_timer() {
    const SHORT: Policy = Policy::new()
        .max(2)
        .base(ms(90))
        .jitter(reattempt::Jitter::None)
        .deadline(ms(100));
    #[retry(max = 2, base = "90ms", jitter = "none", deadline = "100ms", on(_), timer = hand)]
    fn sync(hand: &Hand, calls: &Cell<u32>) -> Result<u32, u32> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    #[retry(max = 2, base = "90ms", jitter = "none", deadline = "100ms", on(_), timer = hand, on_retry = |_| ())]
    fn reported(hand: &Hand, calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    #[retry(max = 2, base = "90ms", jitter = "none", deadline = "100ms", on(_), timer = hand)]
    async fn asynchronous(hand: &Hand, calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    #[retry(policy = SHORT, cut_off = false, on(_), timer = hand)]
    async fn endures(hand: &Hand, calls: &Cell<u32>) -> Result<u32, u32> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    let calls = |run: &dyn Fn(&Hand, &Cell<u32>)| {
        let calls = Cell::new(0);
        run(&Hand::late(ms(20)), &calls);
        calls.get()
    };
    let run = |hand: &Hand, calls: &Cell<u32>| {
        let body = || {
            calls.set(calls.get() + 1);
            Err::<u32, u32>(1)
        };
        let _ = SHORT.on(|_: &u32| true).timer(hand).run(body);
    };
    let run_async = |hand: &Hand, calls: &Cell<u32>| {
        let body = async || {
            calls.set(calls.get() + 1);
            Err::<u32, u32>(1)
        };
        let _ = drive(SHORT.on(|_: &u32| true).timer(hand).try_run_async(body));
    };
    let found = [
        calls(&|hand, calls| assert!(drive(asynchronous(hand, calls)).is_err())),
        calls(&|hand, calls| assert!(sync(hand, calls).is_err())),
        calls(&|hand, calls| assert!(reported(hand, calls).is_err())),
        calls(&run),
        calls(&run_async),
        calls(&|hand, calls| assert!(drive(endures(hand, calls)).is_err())),
    ];
    assert_eq!(found, [1; 6]);
}

/// On a clock that runs: converted anew at each poll, it would move by what two readings are apart.
#[tokio::test]
async fn it_stays_the_same_from_poll_to_poll() {
    #[retry(deadline = "10s", on(_))]
    async fn seen() -> Result<[Option<deadline::Deadline>; 2], RetryError<u32>> {
        let first = deadline::current();
        yield_once().await;
        Ok([first, deadline::current()])
    }
    let [first, second] = seen().await.unwrap();
    assert!(first.is_some());
    assert_eq!(first, second);
}
