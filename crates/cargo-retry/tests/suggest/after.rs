//! Retries by hand and by other libraries. `after.rs` is this file with every suggestion in its place.

use std::cell::Cell;
use std::io::{Error, ErrorKind};
use std::time::Duration;

use backoff::future::retry as with_backoff;
use backon::{BlockingRetryable, ConstantBuilder, ExponentialBuilder, Retryable, RetryableWithContext};
use tokio_retry::{Retry, RetryIf, strategy::{ExponentialBackoff, FixedInterval, jitter}};

#[derive(Default)]
pub struct Client {
    pub calls: Cell<u32>,
    pub seen: Cell<u32>,
}

impl Client {
    pub async fn ask(&self) -> Result<u8, Error> {
        self.ask_now()
    }

    pub fn ask_now(&self) -> Result<u8, Error> {
        self.calls.set(self.calls.get() + 1);
        Err(ErrorKind::TimedOut.into())
    }

    fn is_worth_it(error: &Error) -> bool {
        error.kind() == ErrorKind::TimedOut
    }
}

#[reattempt::retry(max = 5, base = "100ms", cap = "2s", on = |error| error.kind() == ErrorKind::TimedOut)]
pub async fn whole_body(client: &Client) -> Result<u8, Error> {
    client.ask().await
}

pub async fn a_part_of_it(client: &Client) -> Result<u8, String> {
    let policy = ConstantBuilder::default().with_delay(Duration::from_millis(50)).with_max_times(2);
    let ask = || async { client.ask().await };
    let answer = reattempt::retry_block!(
    max = 3,
    backoff = "fixed",
    base = "50ms",
    jitter = "none",
    on(_),
    on_retry = |retry| if let Some(error) = retry.error() { let after = retry.delay(); {
            assert_eq!((error.kind(), after), (ErrorKind::TimedOut, Duration::from_millis(50)));
            client.seen.set(client.seen.get() + 1);
        }; },
    async {
        ask().await
    },
).await
        .map_err(|error| error.to_string())?;
    Ok(answer)
}

#[reattempt::retry(max = 2, backoff = "fixed", base = "1ms", jitter = "none", on = Client::is_worth_it)]
pub fn blocking(client: &Client) -> Result<u8, Error> {
    client.ask_now()
}

pub async fn with_context(client: &Client) -> (Vec<u8>, Result<u8, Error>) {
    {
    let mut context = Some(Vec::new());
    let answer = reattempt::retry_block!(
    max = 4,
    base = "1s",
    cap = "60s",
    jitter = "none",
    on(_),
    async {
        let operation = {
        |mut seen: Vec<u8>| async move {
            seen.push(1);
            let answer = client.ask().await;
            (seen, answer)
        }
    };
let (next, answer) = operation(context.take().unwrap()).await;
context = Some(next);
answer
    },
).await;
    (context.unwrap(), answer)
}
}

pub async fn by_count(client: &Client, retries: usize, least: Duration) -> Result<u8, Error> {
    let delays = ExponentialBuilder::new().with_max_times(retries).with_min_delay(least);
    reattempt::retry_block!(
    max = retries + 1,
    base = least,
    cap = "60s",
    jitter = "none",
    on(_),
    async {
        let answer = client.ask().await?;
        Ok(answer)
    },
).await
}

pub async fn strategies(client: &Client) -> Result<u8, Error> {
    let delays = ExponentialBackoff::from_millis(2)
        .factor(50)
        .max_delay(Duration::from_secs(2))
        .map(jitter)
        .take(4);
    reattempt::retry_block!(
    max = 5,
    base = "100ms",
    cap = "2s",
    on = |error: &Error| error.kind() == ErrorKind::TimedOut,
    async {
        client.ask().await
    },
).await
}

pub async fn fixed_strategy(client: &Client) -> Result<u8, Error> {
    let answer = reattempt::retry_block!(
    max = 4,
    backoff = "fixed",
    base = "10ms",
    jitter = "none",
    on(_),
    async {
        client.ask().await
    },
).await?;
    Ok(answer)
}

pub async fn permanent_and_transient(client: &Client) -> Result<u8, Error> {
    let policy = backoff::ExponentialBackoffBuilder::new()
        .with_initial_interval(Duration::from_millis(100))
        .with_max_elapsed_time(Some(Duration::from_secs(10)))
        .build();
    reattempt::retry_block!(
    max = "unlimited",
    base = "100ms",
    factor = 1.5,
    cap = "60s",
    jitter = 0.5,
    deadline = "10s",
    cut_off = false,
    on = |error: &backoff::Error<_>| matches!(error, backoff::Error::Transient { .. }),
    retry_after = |error: &backoff::Error<_>| match error { backoff::Error::Transient { retry_after, .. } => *retry_after, _ => None },
    async {
        if client.calls.get() == 6 {
            return Err(backoff::Error::Permanent(ErrorKind::NotFound.into()));
        }
        client.ask().await.map_err(backoff::Error::transient)
    },
).await.map_err(|error| match error { backoff::Error::Permanent(error) | backoff::Error::Transient { err: error, .. } => error })
}

pub fn blocking_and_permanent(client: &Client) -> Result<u8, backoff::Error<Error>> {
    let policy = backoff::ExponentialBackoffBuilder::new().with_initial_interval(Duration::from_millis(100)).build();
    reattempt::retry_block!(
    max = "unlimited",
    base = "100ms",
    factor = 1.5,
    cap = "60s",
    jitter = 0.5,
    deadline = "15m",
    cut_off = false,
    on = |error: &backoff::Error<_>| matches!(error, backoff::Error::Transient { .. }),
    retry_after = |error: &backoff::Error<_>| match error { backoff::Error::Transient { retry_after, .. } => *retry_after, _ => None },
    {
        if client.calls.get() == 3 {
            return Err(backoff::Error::Permanent(ErrorKind::NotFound.into()));
        }
        client.ask_now().map_err(|error| backoff::Error::retry_after(error, Duration::from_millis(2)))
    },
)
}

pub fn by_hand(client: &Client) -> Result<u8, Error> {
    let mut attempts = 0;
    return reattempt::retry_block!(
    max = 4,
    backoff = "fixed",
    base = "2ms",
    jitter = "none",
    on(_),
    {
        client.ask_now()
    },
)
}

pub async fn by_hand_in_turns(client: &Client) -> Result<u8, Error> {
    for attempt in 0..4_u32 {
        if let Ok(answer) = client.ask().await {
            return Ok(answer);
        }
        tokio::time::sleep(Duration::from_millis(100) * 2_u32.pow(attempt)).await;
    }
    client.ask().await
}

/// Nothing fails here, and nothing is retried.
pub async fn polls_for_ever(client: &Client) {
    loop {
        if client.calls.get() > 3 {
            break;
        }
        _ = client.ask().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
