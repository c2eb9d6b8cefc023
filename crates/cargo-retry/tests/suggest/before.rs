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

pub async fn whole_body(client: &Client) -> Result<u8, Error> {
    (|| client.ask())
        .retry(
            ExponentialBuilder::default()
                .with_min_delay(Duration::from_millis(100))
                .with_max_delay(Duration::from_secs(2))
                .with_max_times(4)
                .with_jitter(),
        )
        .when(|error| error.kind() == ErrorKind::TimedOut)
        .await
}

pub async fn a_part_of_it(client: &Client) -> Result<u8, String> {
    let policy = ConstantBuilder::default().with_delay(Duration::from_millis(50)).with_max_times(2);
    let ask = || async { client.ask().await };
    let answer = ask
        .retry(policy)
        .notify(|error: &Error, after: Duration| {
            assert_eq!((error.kind(), after), (ErrorKind::TimedOut, Duration::from_millis(50)));
            client.seen.set(client.seen.get() + 1);
        })
        .await
        .map_err(|error| error.to_string())?;
    Ok(answer)
}

pub fn blocking(client: &Client) -> Result<u8, Error> {
    (|| client.ask_now())
        .retry(ConstantBuilder::default().with_delay(Duration::from_millis(1)).with_max_times(1))
        .when(Client::is_worth_it)
        .call()
}

pub async fn with_context(client: &Client) -> (Vec<u8>, Result<u8, Error>) {
    {
        |mut seen: Vec<u8>| async move {
            seen.push(1);
            let answer = client.ask().await;
            (seen, answer)
        }
    }
    .retry(ExponentialBuilder::default().with_max_times(3))
    .context(Vec::new())
    .await
}

pub async fn by_count(client: &Client, retries: usize, least: Duration) -> Result<u8, Error> {
    let delays = ExponentialBuilder::new().with_max_times(retries).with_min_delay(least);
    (|| async {
        let answer = client.ask().await?;
        Ok(answer)
    })
    .retry(delays)
    .await
}

pub async fn strategies(client: &Client) -> Result<u8, Error> {
    let delays = ExponentialBackoff::from_millis(2)
        .factor(50)
        .max_delay(Duration::from_secs(2))
        .map(jitter)
        .take(4);
    RetryIf::start(delays, || client.ask(), |error: &Error| error.kind() == ErrorKind::TimedOut).await
}

pub async fn fixed_strategy(client: &Client) -> Result<u8, Error> {
    let answer = Retry::spawn(FixedInterval::from_millis(10).take(3), || async { client.ask().await }).await?;
    Ok(answer)
}

pub async fn permanent_and_transient(client: &Client) -> Result<u8, Error> {
    let policy = backoff::ExponentialBackoffBuilder::new()
        .with_initial_interval(Duration::from_millis(100))
        .with_max_elapsed_time(Some(Duration::from_secs(10)))
        .build();
    with_backoff(policy, || async {
        if client.calls.get() == 6 {
            return Err(backoff::Error::Permanent(ErrorKind::NotFound.into()));
        }
        client.ask().await.map_err(backoff::Error::transient)
    })
    .await
}

pub fn blocking_and_permanent(client: &Client) -> Result<u8, backoff::Error<Error>> {
    let policy = backoff::ExponentialBackoffBuilder::new().with_initial_interval(Duration::from_millis(100)).build();
    backoff::retry(policy, || {
        if client.calls.get() == 3 {
            return Err(backoff::Error::Permanent(ErrorKind::NotFound.into()));
        }
        client.ask_now().map_err(|error| backoff::Error::retry_after(error, Duration::from_millis(2)))
    })
}

pub fn by_hand(client: &Client) -> Result<u8, Error> {
    let mut attempts = 0;
    loop {
        match client.ask_now() {
            Ok(answer) => return Ok(answer),
            Err(_) if attempts < 3 => {
                attempts += 1;
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error),
        }
    }
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
