//! Copies that do what a script says, on tokio's paused clock.

mod copies;
mod measured;
mod runner;

use core::cell::Cell;
use core::future::Future;
use core::time::Duration;

use super::{Ended, Hedge, Hedged, Latencies, hedged};
use reattempt_core::{Classify, Verdict};
use retry_runtime::timer::{Clock, Timer, Timestamp};

const MS: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Passing(u32),
    Lasting(u32),
}
use Fault::{Lasting, Passing};

impl Classify for Fault {
    fn classify(&self) -> Verdict {
        matches!(self, Passing(_)).into()
    }
}

type Answer = Result<u32, Fault>;

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "answers are asked by reference"
)]
fn decide(answer: &Answer) -> Ended {
    match answer {
        Ok(_) => Ended::Well,
        Err(Passing(_)) => Ended::Retryably,
        Err(Lasting(_)) => Ended::Finally,
    }
}

/// tokio's clock and timer, with counts of what was asked.
#[derive(Debug, Default)]
struct Time {
    reads: Cell<u32>,
    sleeps: Cell<u32>,
}

impl Clock for Time {
    fn now(&self) -> Timestamp {
        self.reads.set(self.reads.get() + 1);
        tokio::time::Instant::now().into_std().into()
    }
}

impl Timer for Time {
    type Sleep = tokio::time::Sleep;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        self.sleeps.set(self.sleeps.get() + 1);
        tokio::time::sleep(duration)
    }
}

/// After how many milliseconds each copy answers, and what. At 0 it does not wait; beyond the end of the script
/// it never answers.
struct Script {
    answers: Vec<(u32, Answer)>,
    started: Cell<u32>,
    alive: Cell<u32>,
    most: Cell<u32>,
    time: Time,
}

/// Counts a copy until it is dropped.
struct Alive<'a>(&'a Script);

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.alive.set(self.0.alive.get() - 1);
    }
}

impl Script {
    fn new(answers: &[(u32, Answer)]) -> Self {
        Self {
            answers: answers.to_vec(),
            started: Cell::new(0),
            alive: Cell::new(0),
            most: Cell::new(0),
            time: Time::default(),
        }
    }

    fn copy(&self) -> impl Future<Output = Answer> {
        let answer = self.answers.get(self.started.get() as usize).copied();
        self.started.set(self.started.get() + 1);
        self.alive.set(self.alive.get() + 1);
        self.most.set(self.most.get().max(self.alive.get()));
        let alive = Alive(self);
        async move {
            let _alive = alive;
            match answer {
                Some((0, answer)) => answer,
                Some((wait, answer)) => {
                    tokio::time::sleep(MS * wait).await;
                    answer
                }
                None => core::future::pending().await,
            }
        }
    }

    /// What came out of it, after how many milliseconds. Nothing is left then, before the future is dropped, and no
    /// copy but those of `started` was made.
    async fn run(&self, hedge: Hedge, started: u32) -> (Answer, u128) {
        let start = tokio::time::Instant::now();
        let mut attempt = core::pin::pin!(self.attempt(hedge, None));
        let answer = attempt.as_mut().await;
        assert_eq!(self.alive.get(), 0, "left running");
        assert_eq!(self.started.get(), started, "started");
        (answer, start.elapsed().as_millis())
    }

    fn attempt<'l>(
        &self,
        hedge: Hedge,
        latencies: Option<&'l Latencies>,
    ) -> impl Future<Output = Answer> + use<'_, 'l> {
        hedged(
            (),
            hedge,
            latencies,
            &self.time,
            || self.copy(),
            decide,
            || true,
        )
    }
}
