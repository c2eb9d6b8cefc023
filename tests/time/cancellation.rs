//! Dropped at every await point in turn: after the k-th poll, for all k.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use reattempt::{Policy, RetryError, retry, retry_block};

use crate::bombs::yield_once;
use crate::support::{Alive, Fault, Hand, assert_nothing_is_left, ms};

/// Polls what `make` makes 0, 1, 2, ... times and drops it, until it comes to an
/// end; answers with the number of polls that it takes.
#[track_caller]
fn dropped_after_each_poll<F: Future>(make: impl Fn() -> F) -> usize {
    for polls in 0..1000 {
        let ended = {
            let mut future = pin!(make());
            (0..polls).any(|_| {
                let mut context = Context::from_waker(Waker::noop());
                let poll = future.as_mut().poll(&mut context);
                assert_nothing_is_left();
                matches!(poll, Poll::Ready(_))
            })
        };
        assert_eq!(Alive::count(), 0, "after {polls} polls");
        assert_nothing_is_left();
        if ended {
            return polls;
        }
    }
    panic!("it never ends");
}

/// Of each of these some waits are over sooner than others.
const TICKS: [std::time::Duration; 4] = [ms(7), ms(30), ms(99), ms(400)];

async fn work() -> Result<u32, Fault> {
    let _alive = Alive::new();
    yield_once().await;
    yield_once().await;
    Err(Fault::new())
}

#[test]
fn plain() {
    #[retry(timer = &hand)]
    async fn fetch(hand: Hand) -> Result<u32, Fault> {
        work().await
    }
    // Three attempts of two waits, two delays, and the end.
    assert_eq!(dropped_after_each_poll(|| fetch(Hand::default())), 9);
}

#[test]
fn with_a_deadline() {
    #[retry(deadline = "20s", timer = &hand)]
    async fn fetch(hand: Hand) -> Result<u32, Fault> {
        work().await
    }
    #[retry(deadline = "500ms", timer = &hand)]
    async fn reported(hand: Hand) -> Result<u32, RetryError<Fault>> {
        work().await
    }
    for tick in TICKS {
        assert!(dropped_after_each_poll(|| fetch(Hand::ticking(tick))) > 8);
        assert!(dropped_after_each_poll(|| reported(Hand::ticking(tick))) > 2);
    }
    // Each wait takes the whole time there is.
    assert_eq!(dropped_after_each_poll(|| fetch(Hand::default())), 2);
}

#[test]
fn with_a_time_out() {
    #[retry(timeout = "100ms", timer = &hand)]
    async fn fetch(hand: Hand) -> Result<u32, Fault> {
        work().await
    }
    #[retry(timeout = "100ms", deadline = "400ms", timer = &hand, on_retry = |_| ())]
    async fn both(hand: Hand) -> Option<u32> {
        work().await.ok()
    }
    for tick in TICKS {
        assert!(dropped_after_each_poll(|| fetch(Hand::ticking(tick))) > 4);
        assert!(dropped_after_each_poll(|| both(Hand::ticking(tick))) > 2);
    }
}

#[test]
fn with_hooks() {
    #[retry(timer = &hand, before_retry = async |_| { drop(work().await); })]
    async fn fetch(hand: Hand) -> Result<u32, Fault> {
        work().await
    }
    #[retry(
        max = 4,
        deadline = "20s",
        timer = &hand,
        idempotent = false,
        on = |_| reattempt::Verdict::Transient,
        verify = async |_| { drop(work().await); reattempt::Verified::NotDone::<u32> },
        before_retry = async |_| { drop(work().await); },
        fallback = async |fault| { drop(work().await); drop(fault); 7 },
    )]
    async fn all(hand: Hand) -> Result<u32, Fault> {
        work().await
    }
    assert_eq!(dropped_after_each_poll(|| fetch(Hand::default())), 13);
    assert!(dropped_after_each_poll(|| all(Hand::default())) > 1);
}

#[test]
fn nested() {
    #[retry(timer = &hand, max = 2)]
    async fn inner(hand: Hand) -> Result<u32, Fault> {
        work().await
    }
    #[retry(timer = &hand, max = 2)]
    async fn outer(hand: Hand) -> Result<u32, Fault> {
        let _alive = Alive::new();
        inner(hand.clone()).await
    }
    #[retry(timer = &hand, deadline = "700ms", max = 2)]
    async fn limited(hand: Hand) -> Result<u32, Fault> {
        let _alive = Alive::new();
        outer(hand.clone()).await
    }
    // Two attempts below the first one, one below the second.
    assert_eq!(dropped_after_each_poll(|| outer(Hand::default())), 9);
    for tick in TICKS {
        let hand = || Hand::ticking(tick);
        assert!(dropped_after_each_poll(|| limited(hand())) > 2);
        let both = || futures::future::join(outer(hand()), limited(hand()));
        assert!(dropped_after_each_poll(both) > 8);
    }
}

#[test]
fn inherited() {
    const POLICY: Policy = Policy::new().timeout(ms(500)).deadline(ms(9_000));
    async fn block(hand: Hand) -> Result<u32, RetryError<Fault>> {
        retry_block!(
            policy = POLICY,
            timer = &hand,
            async || -> Result<u32, RetryError<Fault>> { work().await }
        )
        .await
    }
    let run = || async { POLICY.runner().timer(Hand::default()).run_async(work).await };
    let tried = || async {
        POLICY
            .runner()
            .timer(Hand::default())
            .try_run_async(work)
            .await
    };
    assert!(dropped_after_each_poll(|| block(Hand::default())) > 1);
    assert!(dropped_after_each_poll(run) > 1);
    assert!(dropped_after_each_poll(tried) > 1);
}

#[test]
fn below_a_deadline() {
    #[retry(timer = &hand)]
    async fn fetch(hand: Hand) -> Result<u32, Fault> {
        let _alive = Alive::new();
        assert!(reattempt::deadline::remaining().is_some());
        work().await
    }
    let hour = ms(3_600_000);
    let within = || reattempt::deadline::within(hour, fetch(Hand::default()));
    assert_eq!(dropped_after_each_poll(within), 9);
    let scope = || reattempt::deadline::scope(reattempt::deadline::Deadline::after(hour), within());
    assert_eq!(dropped_after_each_poll(scope), 9);
}

/// One of two futures is dropped between the polls of the other.
#[test]
fn one_of_two() {
    #[retry(timer = &hand, max = 2)]
    async fn fetch(hand: Hand) -> Result<u32, Fault> {
        work().await
    }
    for polls in 0..=5 {
        let mut context = Context::from_waker(Waker::noop());
        let mut kept = Box::pin(fetch(Hand::default()));
        let mut dropped = Box::pin(fetch(Hand::default()));
        for _ in 0..polls {
            let _ = kept.as_mut().poll(&mut context);
            let _ = dropped.as_mut().poll(&mut context);
        }
        drop(dropped);
        drop(kept);
        assert_eq!(Alive::count(), 0);
        assert_nothing_is_left();
    }
}
