//! `cut_off = false`: a limit in time leaves an attempt running.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::observe::{self, Event};
use reattempt::{GiveUpReason, Policy, RetryError, deadline, retry, retry_block};
use tokio::time::{Instant, sleep};

use crate::support::ms;

const POLICY: Policy = Policy::new().max(3).base(Duration::from_millis(1));

/// An error that cannot say that a call was cut off.
#[derive(Debug, PartialEq, Eq)]
struct Busy(Duration);

async fn busy(start: Instant) -> Result<u32, Busy> {
    sleep(ms(40)).await;
    Err(Busy(start.elapsed()))
}

/// The second attempt outlasts the deadline; no third one follows, and the answer is its error.
#[tokio::test(start_paused = true)]
async fn a_deadline_is_tested_between_attempts() {
    #[retry(
        max = 3,
        base = "10ms",
        jitter = "none",
        deadline = "60ms",
        cut_off = false,
        on(_)
    )]
    async fn own(start: Instant) -> Result<u32, Busy> {
        assert_eq!(
            deadline::remaining(),
            Some(ms(60).saturating_sub(start.elapsed()))
        );
        busy(start).await
    }
    #[retry(policy = policy, cut_off = false, on(_))]
    async fn of_the_policy(policy: Policy, start: Instant) -> Result<u32, Busy> {
        busy(start).await
    }
    #[retry(
        max = 3,
        base = "10ms",
        jitter = "none",
        deadline = "60ms",
        cut_off = false,
        on(_)
    )]
    async fn with_the_reason(start: Instant) -> Result<u32, RetryError<Busy>> {
        busy(start).await
    }
    let policy = Policy::new()
        .max(3)
        .base(ms(10))
        .jitter(reattempt::Jitter::None)
        .deadline(ms(60));
    assert_eq!(own(Instant::now()).await, Err(Busy(ms(90))));
    assert_eq!(
        of_the_policy(policy, Instant::now()).await,
        Err(Busy(ms(90)))
    );
    let start = Instant::now();
    let in_a_block = retry_block!(
        max = 3,
        base = "10ms",
        jitter = "none",
        deadline = "60ms",
        cut_off = false,
        on(_),
        async { busy(start).await }
    );
    assert_eq!(in_a_block.await, Err(Busy(ms(90))));
    let error = with_the_reason(Instant::now()).await.unwrap_err();
    assert_eq!(
        (error.reason(), error.attempts()),
        (GiveUpReason::Deadline, 2)
    );
    assert_eq!(error.into_last(), Some(Busy(ms(90))));
}

/// A success that comes after the deadline is one.
#[tokio::test(start_paused = true)]
async fn a_late_success_is_a_success() {
    #[retry(policy = POLICY, deadline = "10ms", cut_off = false, on(_))]
    async fn late() -> Result<u32, Busy> {
        sleep(ms(40)).await;
        Ok(7)
    }
    assert_eq!(late().await, Ok(7));
    assert_eq!(deadline::within(ms(20), late()).await, Ok(7));
}

/// The first attempt of a call under a deadline that has passed is made, and no other.
#[tokio::test(start_paused = true)]
async fn one_attempt_is_made_after_the_deadline() {
    #[retry(policy = POLICY, deadline = "1s", cut_off = false, on(_))]
    async fn late(start: Instant) -> Result<u32, Busy> {
        busy(start).await
    }
    let answer = deadline::within(ms(20), async {
        sleep(ms(30)).await;
        late(Instant::now()).await
    });
    assert_eq!(answer.await, Err(Busy(ms(40))));
}

/// A `timeout` that only the running program knows is not applied; observers learn it once for each place.
#[tokio::test(start_paused = true)]
async fn a_timeout_that_is_ignored_is_reported() {
    #[retry(policy = policy, name = "cut_off.ignored", cut_off = false, on(_))]
    async fn ignored(policy: Policy) -> Result<u32, Busy> {
        sleep(ms(40)).await;
        Ok(7)
    }
    #[retry(policy = policy, name = "cut_off.another", cut_off = false, on(_))]
    async fn another(policy: Policy) -> Result<u32, Busy> {
        Ok(7)
    }
    let policy = POLICY.timeout(ms(10));
    let reported = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&reported);
    let observer = move |event: &Event<'_>| {
        if let Event::TimeoutIgnored(operation) = event {
            assert!(event.to_string().contains("`cut_off = false`"), "{event}");
            seen.lock().unwrap().push(*operation);
        }
    };
    observe::scope(Arc::new(observer), async {
        assert_eq!(ignored(POLICY).await, Ok(7));
        assert!(reported.lock().unwrap().is_empty());
        for _ in 0..2 {
            assert_eq!(ignored(policy).await, Ok(7));
            assert_eq!(another(policy).await, Ok(7));
            assert_eq!(reported.lock().unwrap().len(), 2);
        }
    })
    .await;
    let reported = reported.lock().unwrap();
    assert_eq!(*reported, ["cut_off.ignored", "cut_off.another"]);
}
