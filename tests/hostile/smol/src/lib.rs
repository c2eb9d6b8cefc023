//! Nothing names a timer: the feature chooses it.
#![deny(missing_docs)]

use std::future::pending;
use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::timer::{DefaultTimer, Smol};
use reattempt::{Policy, RetryError, retry};

/// Answers at the third call.
#[derive(Debug, Default)]
pub struct Service(AtomicU32);

impl Service {
    async fn call(&self) -> Result<u32, Error> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            2 => Ok(3),
            _ => Err(ErrorKind::ConnectionReset.into()),
        }
    }
}

/// A future that may be sent.
#[retry(base = "1us")]
pub async fn plain(service: &Service) -> Result<u32, Error> {
    service.call().await
}

/// It hangs, and time cuts it off.
#[retry(base = "1us", deadline = "2us", on_retry = |_| ())]
pub async fn stuck() -> Result<u32, RetryError<Error>> {
    pending().await
}

const QUICK: Policy = Policy::new().base(Duration::from_micros(1));

/// The programmatic form, with the timer that the features choose.
pub async fn run(service: &Service) -> Result<u32, Error> {
    QUICK
        .runner()
        .timer(DefaultTimer)
        .run_async(|| service.call())
        .await
}

/// The timer by its name.
#[retry(policy = QUICK, timer = Smol)]
pub async fn named(service: &Service) -> Result<u32, RetryError<Error>> {
    service.call().await
}
