//! Limits that a service may have or not: `timeout = self.timeout` with an `Option`.

use std::cell::Cell;
use std::io::{Error, ErrorKind};
use std::time::Duration;

use reattempt::testing::virtual_time;
use reattempt::{GiveUpReason, RetryError, retry};

#[derive(Default)]
struct Client {
    timeout: Option<Duration>,
    deadline: Option<Duration>,
    cap: Option<Duration>,
    calls: Cell<u32>,
}

impl Client {
    #[retry(max = 3, jitter = "none", timeout = self.timeout, deadline = self.deadline(), on(_))]
    async fn hang(&self) -> Result<(), RetryError<Error>> {
        self.calls.set(self.calls.get() + 1);
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(())
    }

    #[retry(max = 4, base = "1s", jitter = "none", cap = self.cap, deadline = self.deadline, on(_))]
    fn fail(&self) -> Result<(), RetryError<Error>> {
        self.calls.set(self.calls.get() + 1);
        Err(Error::from(ErrorKind::TimedOut))
    }

    /// Evaluated once.
    fn deadline(&self) -> Option<Duration> {
        self.deadline
    }
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_is_there_holds_and_none_is_none() {
    let none = Client::default();
    assert!(none.hang().await.is_ok());

    let each = Client {
        timeout: Some(seconds(1)),
        ..Client::default()
    };
    let ended = each.hang().await.unwrap_err();
    assert_eq!(
        (ended.reason(), each.calls.get()),
        (GiveUpReason::Attempts, 3)
    );

    let all = Client {
        deadline: Some(seconds(2)),
        ..Client::default()
    };
    let start = tokio::time::Instant::now();
    assert_eq!(
        all.hang().await.unwrap_err().reason(),
        GiveUpReason::Deadline
    );
    assert_eq!(start.elapsed().as_secs(), 2);
}

#[test]
fn what_is_none_leaves_the_default() {
    let time = virtual_time();
    let waited = |client: &Client| {
        let before = time.elapsed();
        let _ = client.fail();
        time.elapsed().saturating_sub(before)
    };
    // 1 s, 2 s, 4 s: below the 20 s of the default.
    assert_eq!(waited(&Client::default()), seconds(7));
    let capped = Client {
        cap: Some(seconds(2)),
        ..Client::default()
    };
    assert_eq!(waited(&capped), seconds(5));
    let limited = Client {
        deadline: Some(seconds(2)),
        ..Client::default()
    };
    assert_eq!(waited(&limited), seconds(1));
}

/// A constant, too.
#[test]
fn a_constant_that_may_be_none() {
    const CAP: Option<Duration> = None;
    #[retry(max = 2, base = "1s", jitter = "none", cap = CAP, on(_))]
    fn fails() -> Result<(), Error> {
        Err(ErrorKind::TimedOut.into())
    }
    let _time = virtual_time();
    assert!(fails().is_err());
}
