//! A policy that takes an hour, to the millisecond, while tokio's time is paused.

use std::cell::RefCell;
use std::time::Duration;

use reattempt::{GiveUpReason, Policy, RetryError, retry};
use tokio::time::Instant;

use crate::support::{Hand, ms};

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

struct Log {
    start: Instant,
    attempts: RefCell<Vec<Duration>>,
}

impl Log {
    fn start() -> Self {
        Self {
            start: Instant::now(),
            attempts: RefCell::default(),
        }
    }

    fn fail(&self) -> Result<u32, u32> {
        self.attempts.borrow_mut().push(self.start.elapsed());
        Err(1)
    }
}

#[tokio::test(start_paused = true)]
async fn an_hour() {
    #[retry(max = 7, base = "1m", cap = "1h", jitter = "none", on(_))]
    async fn fetch(log: &Log) -> Result<u32, u32> {
        log.fail()
    }
    #[retry(
        max = 7,
        base = "1m",
        cap = "1h",
        jitter = "none",
        deadline = "24h",
        on(_)
    )]
    async fn limited(log: &Log) -> Result<u32, RetryError<u32>> {
        log.fail()
    }
    let expected = [0, 1, 3, 7, 15, 31, 63].map(minutes);
    let log = Log::start();
    assert_eq!(fetch(&log).await, Err(1));
    assert_eq!(*log.attempts.borrow(), expected);
    assert_eq!(log.start.elapsed(), minutes(63));
    let log = Log::start();
    assert_eq!(
        limited(&log).await.map_err(|failed| failed.attempts()),
        Err(7)
    );
    assert_eq!(*log.attempts.borrow(), expected);
}

/// A deadline ends it where the next delay would end too late.
#[tokio::test(start_paused = true)]
async fn an_hour_and_its_deadline() {
    #[retry(max = 7, base = "1m", cap = "1h", deadline = "63m", on(_))]
    async fn fetch(log: &Log) -> Result<u32, RetryError<u32>> {
        log.fail()
    }
    const POLICY: Policy = Policy::new()
        .max(7)
        .base(minutes(1))
        .cap(minutes(60))
        .jitter(reattempt::Jitter::None);
    let log = Log::start();
    let policy = POLICY.deadline(minutes(63));
    let failed = policy
        .on(|_: &u32| true)
        .try_run_async(async || log.fail())
        .await
        .expect_err("always");
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Deadline, 6)
    );
    assert_eq!(*log.attempts.borrow(), [0, 1, 3, 7, 15, 31].map(minutes));
    // At once, without the wait.
    assert_eq!(log.start.elapsed(), minutes(31));
    let log = Log::start();
    assert!(fetch(&log).await.is_err());
    assert!(log.start.elapsed() < minutes(63));
}

/// With time-outs: each attempt takes all of its own.
#[tokio::test(start_paused = true)]
async fn hanging_attempts() {
    #[retry(max = 4, base = "1m", cap = "1h", jitter = "none", timeout = "10m")]
    async fn fetch(log: &Log) -> Option<u32> {
        let _ = log.fail();
        std::future::pending().await
    }
    let log = Log::start();
    assert_eq!(fetch(&log).await, None);
    assert_eq!(*log.attempts.borrow(), [0, 11, 23, 37].map(minutes));
    assert_eq!(log.start.elapsed(), minutes(47));
}

/// The same schedule in a sync function whose clock is moved by hand.
#[test]
fn an_hour_by_hand() {
    #[retry(max = 7, base = "1m", cap = "1h", jitter = "none", deadline = "24h", on(_), timer = hand)]
    fn fetch(hand: &Hand, attempts: &mut Vec<Duration>) -> Result<u32, u32> {
        attempts.push(hand.passed());
        hand.spend(ms(1));
        Err(1)
    }
    let (hand, mut attempts) = (Hand::default(), vec![]);
    assert_eq!(fetch(&hand, &mut attempts), Err(1));
    let expected = [0, 1, 3, 7, 15, 31, 63].map(minutes);
    let late = (0..).map(ms);
    assert!(
        attempts
            .into_iter()
            .eq(expected.into_iter().zip(late).map(|(at, late)| at + late))
    );
}
