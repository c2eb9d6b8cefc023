//! The limit of one attempt.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::pending;
use std::time::Duration;

use reattempt::{
    GaveUp, GiveUpReason, Policy, RetryError, Verified, attempt::Cause, deadline, retry,
    retry_block,
};
use tokio::time::{Instant, sleep};

use crate::support::{assert_nothing_is_left, ms};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, PartialEq, Eq)]
enum Fault {
    Busy,
    Cut(GaveUp),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("busy"),
            Self::Cut(end) => end.fmt(f),
        }
    }
}

impl From<GaveUp> for Fault {
    fn from(end: GaveUp) -> Self {
        Self::Cut(end)
    }
}

/// So many attempts hang before one answers.
struct Service {
    hangs: u32,
    refuses: bool,
    calls: Cell<u32>,
}

impl Service {
    const fn hanging(hangs: u32) -> Self {
        Self {
            hangs,
            refuses: false,
            calls: Cell::new(0),
        }
    }

    async fn call(&self) -> Result<u32, Fault> {
        self.calls.set(self.calls.get() + 1);
        match self.hangs.checked_sub(self.calls.get()) {
            None => Ok(self.calls.get()),
            // The one before the answer.
            Some(0) if self.refuses => Err(Fault::Busy),
            Some(_) => pending().await,
        }
    }
}

/// It is a failure like others: retried, counted, reported.
#[tokio::test(start_paused = true)]
async fn retried_counted_and_reported() {
    #[retry(
        max = 3,
        base = "1s",
        jitter = "none",
        timeout = "10s",
        on(Fault::Busy),
        on_retry = |retry| {
            assert!(matches!(retry.cause(), Cause::TimedOut));
            assert!(retry.error().is_none());
            assert_eq!(retry.cause().to_string(), "the attempt timed out");
            reported.borrow_mut().push((retry.attempt(), retry.delay()));
        },
    )]
    async fn fetch(
        service: &Service,
        reported: &RefCell<Vec<(u32, Duration)>>,
    ) -> Result<u32, Fault> {
        service.call().await
    }
    let (reported, start) = (RefCell::default(), Instant::now());
    assert_eq!(fetch(&Service::hanging(2), &reported).await, Ok(3));
    assert_eq!(start.elapsed(), 23 * SECOND);
    assert_eq!(*reported.borrow(), [(1, SECOND), (2, 2 * SECOND)]);
    let Err(Fault::Cut(end)) = fetch(&Service::hanging(9), &reported).await else {
        panic!("cut off");
    };
    assert_eq!((end.reason(), end.attempts()), (GiveUpReason::Attempts, 3));
    assert!(end.is_timeout());
    assert_eq!(start.elapsed(), 23 * SECOND + 33 * SECOND);
    assert_nothing_is_left();
}

/// `is_timeout` is about the last attempt, and `last` about the last one that had an error.
#[tokio::test(start_paused = true)]
async fn an_error_after_a_time_out() {
    #[retry(max = 2, timeout = "1s", on(_))]
    async fn fetch(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        if calls.get() % 2 == 1 {
            pending().await
        } else {
            Err(2)
        }
    }
    let calls = Cell::new(0);
    let failed = fetch(&calls).await.expect_err("always");
    assert_eq!(
        (failed.reason(), failed.last()),
        (GiveUpReason::Attempts, Some(&2))
    );
    assert!(!failed.is_timeout());
    calls.set(1);
    let failed = fetch(&calls).await.expect_err("always");
    assert_eq!(
        (failed.reason(), failed.last()),
        (GiveUpReason::Attempts, Some(&2))
    );
    assert!(failed.is_timeout());
}

/// Ready in the very poll in which time runs out counts as ready.
#[tokio::test(start_paused = true)]
async fn just_in_time() {
    #[retry(max = 1, timeout = "1s")]
    async fn fetch() -> Result<u32, RetryError<u32>> {
        sleep(SECOND).await;
        Ok(1)
    }
    assert_eq!(fetch().await, Ok(1));
}

/// Time-outs and errors are counted together.
#[tokio::test(start_paused = true)]
async fn mixed_with_errors() {
    #[retry(max = 4, timeout = "1s", on(Fault::Busy))]
    async fn fetch(service: &Service) -> Result<u32, Fault> {
        service.call().await
    }
    let service = |hangs| Service {
        refuses: true,
        ..Service::hanging(hangs)
    };
    assert_eq!(fetch(&service(3)).await, Ok(4));
    assert_eq!(fetch(&service(4)).await, Err(Fault::Busy));
}

/// Nobody knows whether it was executed.
#[tokio::test(start_paused = true)]
async fn what_is_not_idempotent() {
    #[retry(timeout = "1s", idempotent = false, on = |_| reattempt::Verdict::Refused)]
    async fn post(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call().await
    }
    let service = Service::hanging(9);
    let failed = post(&service).await.expect_err("cut off");
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::NotIdempotent, 1)
    );
    assert!(failed.is_timeout());
    assert_eq!((failed.last(), service.calls.get()), (None, 1));
}

/// `verify` is asked about it, with an error that says what happened.
#[tokio::test(start_paused = true)]
async fn verified() {
    #[retry(
        timeout = "1s",
        idempotent = false,
        on(_),
        verify = async |fault| {
            assert!(matches!(fault, Fault::Cut(end) if end.is_timeout()), "{fault:?}");
            sleep(SECOND).await;
            finding
        },
    )]
    async fn post(service: &Service, finding: Verified<u32>) -> Result<u32, Fault> {
        service.call().await
    }
    assert_eq!(post(&Service::hanging(1), Verified::Done(77)).await, Ok(77));
    assert_eq!(post(&Service::hanging(1), Verified::NotDone).await, Ok(2));
    let service = Service::hanging(9);
    let Err(Fault::Cut(end)) = post(&service, Verified::Unknown).await else {
        panic!("cut off");
    };
    assert_eq!(
        (end.reason(), service.calls.get()),
        (GiveUpReason::NotIdempotent, 1)
    );
}

/// A question that hangs takes no more than there is.
#[tokio::test(start_paused = true)]
async fn polled() {
    #[retry(max = 4, base = "1s", jitter = "none", timeout = "1s", on(_), until = |calls| *calls > 2)]
    async fn reported(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call().await
    }
    #[retry(max = 4, timeout = "1s", on(_), until = |calls| *calls > 2)]
    async fn cut(service: &Service) -> Result<u32, Fault> {
        service.call().await
    }
    #[retry(max = 4, timeout = "1s", until = |calls| *calls > Some(2))]
    async fn absent(service: &Service) -> Option<u32> {
        service.call().await.ok()
    }
    for hangs in [0, 1, 2, 3] {
        let last = 3.max(hangs + 1);
        assert_eq!(reported(&Service::hanging(hangs)).await, Ok(last));
        assert_eq!(cut(&Service::hanging(hangs)).await, Ok(last));
        assert_eq!(absent(&Service::hanging(hangs)).await, Some(last));
    }
    let failed = reported(&Service::hanging(4)).await.expect_err("cut off");
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Attempts, 4)
    );
    assert!(failed.is_timeout() && failed.last().is_none());
    assert!(matches!(cut(&Service::hanging(4)).await, Err(Fault::Cut(end)) if end.is_timeout()));
    assert_eq!(absent(&Service::hanging(4)).await, None);
}

/// `None` can say that it was cut off.
#[tokio::test(start_paused = true)]
async fn absent() {
    #[retry(max = 3, timeout = "1s")]
    async fn find(service: &Service) -> Option<u32> {
        service.call().await.ok()
    }
    #[retry(max = 3, timeout = "1s", fallback = || 300)]
    async fn falls_back(service: &Service) -> Option<u32> {
        service.call().await.ok()
    }
    let service = Service::hanging(2);
    assert_eq!(find(&service).await, Some(3));
    let service = Service::hanging(3);
    assert_eq!((find(&service).await, service.calls.get()), (None, 3));
    assert_eq!(falls_back(&Service::hanging(3)).await, Some(300));
    assert_eq!(falls_back(&Service::hanging(1)).await, Some(2));
}

/// From an inherited policy, in every form that can say that it was cut off.
#[tokio::test(start_paused = true)]
async fn inherited() {
    const POLICY: Policy = Policy::new().timeout(SECOND);
    #[retry(policy = POLICY, on(_))]
    async fn reported(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call().await
    }
    #[retry(policy = policy, on(_))]
    async fn cut(policy: Policy, service: &Service) -> Result<u32, Fault> {
        service.call().await
    }
    async fn block(service: &Service) -> Result<u32, RetryError<Fault>> {
        retry_block!(
            policy = POLICY,
            on(_),
            async || -> Result<u32, RetryError<Fault>> { service.call().await }
        )
        .await
    }
    async fn run(service: &Service) -> Result<u32, RetryError<Fault>> {
        let runner = POLICY.on(|_: &Fault| true);
        runner.try_run_async(async || service.call().await).await
    }
    for (hangs, ok) in [(2, true), (3, false)] {
        let service = Service::hanging(hangs);
        let others = [
            reported(&service).await,
            block(&Service::hanging(hangs)).await,
            run(&Service::hanging(hangs)).await,
        ];
        assert_eq!(cut(POLICY, &Service::hanging(hangs)).await.is_ok(), ok);
        for answer in others {
            match answer {
                Ok(calls) => assert!(ok && calls == 3),
                Err(failed) => assert!(!ok && failed.is_timeout() && failed.attempts() == 3),
            }
        }
    }
}

/// The deadline comes first when both run out together, and nothing is tried anew.
#[tokio::test(start_paused = true)]
async fn beside_a_deadline() {
    #[retry(
        max = 3,
        base = "1s",
        jitter = "none",
        timeout = "2s",
        deadline = "5s",
        on(_)
    )]
    async fn fetch(service: &Service) -> Result<u32, RetryError<Fault>> {
        assert!(deadline::remaining() <= Some(2 * SECOND));
        service.call().await
    }
    let (service, start) = (Service::hanging(9), Instant::now());
    let failed = fetch(&service).await.expect_err("cut off");
    // 2 s, 1 s of delay, 2 s.
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Deadline, 2)
    );
    assert!(failed.is_timeout());
    assert_eq!((service.calls.get(), start.elapsed()), (2, 5 * SECOND));
}

/// The next attempt sees a limit of its own, and no rest of the one before.
#[tokio::test(start_paused = true)]
async fn each_has_its_own() {
    #[retry(max = 3, base = "1ms", timeout = "2s", on(_))]
    async fn fetch(seen: &RefCell<Vec<Duration>>) -> Result<u32, RetryError<u32>> {
        seen.borrow_mut().extend(deadline::remaining());
        sleep(ms(500)).await;
        seen.borrow_mut().extend(deadline::remaining());
        Err(1)
    }
    let seen = RefCell::default();
    assert!(fetch(&seen).await.is_err());
    assert_eq!(
        *seen.borrow(),
        [2_000, 1_500, 2_000, 1_500, 2_000, 1_500].map(ms)
    );
}

/// The time-out of a call around another is its own, though the one below sees it as
/// its deadline: what is below could only say that in an error of its own.
#[tokio::test(start_paused = true)]
async fn an_outer_time_out_is_not_the_error_of_the_inner_call() {
    #[retry(deadline = "10s", on(_))]
    async fn inner() -> Result<u32, Fault> {
        assert!(deadline::remaining() <= Some(SECOND));
        pending().await
    }
    #[retry(max = 2, base = "1ms", timeout = "1s", on = |_| false, on_retry = |retry| {
        causes.borrow_mut().push(retry.cause().to_string());
    })]
    async fn outer(causes: &RefCell<Vec<String>>) -> Result<u32, Fault> {
        inner().await
    }
    let causes = RefCell::default();
    let Err(Fault::Cut(end)) = outer(&causes).await else {
        panic!("not cut off");
    };
    assert!(end.is_timeout());
    assert_eq!((end.attempts(), end.reason()), (2, GiveUpReason::Attempts));
    assert_eq!(*causes.borrow(), ["the attempt timed out"]);
    assert_nothing_is_left();
}

/// A hook that hangs ends with a deadline from above, too.
#[tokio::test(start_paused = true)]
async fn a_hanging_hook_under_a_deadline_from_above() {
    #[retry(base = "1ms", on(_), before_retry = async |_| pending().await)]
    async fn fetch() -> Result<u32, RetryError<u32>> {
        Err(1)
    }
    let start = Instant::now();
    let failed = deadline::within(SECOND, fetch()).await.unwrap_err();
    assert_eq!(
        (failed.reason(), failed.last()),
        (GiveUpReason::Deadline, Some(&1))
    );
    assert_eq!(start.elapsed(), SECOND);
}

/// The limit of each attempt by its number, which may read what the function gets.
#[tokio::test(start_paused = true)]
async fn grows_with_the_attempts() {
    #[retry(max = 4, backoff = "fixed", base = "1s", jitter = "none", timeout = |attempt| unit * attempt, on(_))]
    async fn fetch(service: &Service, unit: Duration) -> Result<u32, Fault> {
        service.call().await
    }
    let (start, service) = (Instant::now(), Service::hanging(3));
    assert_eq!(fetch(&service, SECOND).await, Ok(4));
    // 1 + 2 + 3 s in attempts, and three delays.
    assert_eq!(start.elapsed(), 9 * SECOND);
    let (start, service) = (Instant::now(), Service::hanging(9));
    let end = fetch(&service, SECOND).await.expect_err("it hangs");
    let Fault::Cut(end) = end else {
        panic!("{end:?} is no time-out")
    };
    assert!(end.is_timeout());
    assert_eq!((start.elapsed(), service.calls.get()), (13 * SECOND, 4));
}

/// It ends with the deadline, stands over the limit of an inherited policy, and one below 1 ms is none.
#[tokio::test(start_paused = true)]
async fn grows_within_the_deadline_and_over_a_policy() {
    const POLICY: Policy = Policy::new().timeout(Duration::from_mins(1));
    #[retry(policy = POLICY, deadline = "10s", base = "1s", jitter = "none", timeout = |attempt: u32| SECOND * 2 * attempt, on(_))]
    async fn fetch(service: &Service) -> Result<u32, Fault> {
        service.call().await
    }
    #[retry(max = 2, timeout = |_| Duration::ZERO, on(_))]
    async fn unlimited() -> Result<u32, Fault> {
        sleep(SECOND).await;
        Ok(1)
    }
    let (start, service) = (Instant::now(), Service::hanging(9));
    let end = fetch(&service).await;
    assert!(matches!(end, Err(Fault::Cut(end)) if end.reason() == GiveUpReason::Deadline));
    // 2 + 1 + 4 + 2 s: 1 s is left for the third.
    assert_eq!((start.elapsed(), service.calls.get()), (10 * SECOND, 3));

    assert_eq!(unlimited().await, Ok(1));
}

/// A block, whose closure reads what stands around it, and which polls.
#[tokio::test(start_paused = true)]
async fn grows_in_a_block_that_polls() {
    let (calls, start) = (Cell::new(0), Instant::now());
    let answer: Result<u32, RetryError<Fault>> = retry_block!(
        max = 3,
        backoff = "fixed",
        base = "1s",
        jitter = "none",
        until = |ready| *ready == 3,
        timeout = |attempt| SECOND * attempt,
        on(_),
        async || -> Result<u32, RetryError<Fault>> {
            calls.set(calls.get() + 1);
            if calls.get() == 2 {
                pending::<()>().await;
            }
            Ok(calls.get())
        }
    )
    .await;
    assert_eq!(answer.expect("the third is ready"), 3);
    assert_eq!(start.elapsed(), 4 * SECOND);
}
