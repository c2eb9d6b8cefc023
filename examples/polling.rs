//! Polling: a call that succeeds is repeated `until` its value is final.
//!
//! `RetryError<E>` says why a call ended: one that gives up on a value that is not
//! final has no error of its own. tokio's clock is paused: no wait takes time.
//!
//! `cargo run --example polling`

use std::time::Duration;

use reattempt::{GiveUpReason, RetryError, retry};

#[derive(Debug, PartialEq)]
enum State {
    Running(u8),
    Done,
}

#[derive(Debug, PartialEq)]
enum Fault {
    OutOfReach,
    NoSuchJob,
}

/// Every second for at most a minute; a service out of reach is asked again too.
#[retry(
    until = |state| *state == State::Done,
    on(Fault::OutOfReach),
    max = "unlimited",
    deadline = "1m",
    backoff = "fixed",
    base = "1s",
    jitter = 0.1,
)]
async fn finished(job: &mut Job) -> Result<State, RetryError<Fault>> {
    job.state().await
}

/// A job on some other machine.
struct Job {
    asked: u8,
    steps: u8,
}

impl Job {
    async fn state(&mut self) -> Result<State, Fault> {
        tokio::time::sleep(Duration::from_millis(5)).await;
        self.asked += 1;
        match self.asked {
            _ if self.steps == 0 => Err(Fault::NoSuchJob),
            2 => Err(Fault::OutOfReach),
            n if n < self.steps => Ok(State::Running(n)),
            _ => Ok(State::Done),
        }
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let mut job = Job { asked: 0, steps: 5 };
    let state = finished(&mut job).await;
    println!("{state:?} after {} questions", job.asked);
    assert!(matches!(state, Ok(State::Done)));
    assert_eq!(job.asked, 5);

    // The function's own error, which is not one that is retried.
    let mut missing = Job { asked: 0, steps: 0 };
    let failed = finished(&mut missing).await.err();
    println!("{failed:?}");
    assert_eq!(
        failed.as_ref().map(RetryError::reason),
        Some(GiveUpReason::Permanent)
    );
    assert_eq!(
        failed.and_then(RetryError::into_last),
        Some(Fault::NoSuchJob)
    );

    // No final value in time, and no error either.
    let mut endless = Job {
        asked: 0,
        steps: 255,
    };
    let failed = finished(&mut endless).await.err();
    println!("{failed:?}");
    assert_eq!(
        failed.as_ref().map(RetryError::reason),
        Some(GiveUpReason::Deadline)
    );
    assert_eq!(failed.and_then(RetryError::into_last), None);
}
