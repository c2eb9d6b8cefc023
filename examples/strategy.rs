//! Decisions of one's own: a `Strategy` is asked after each failure whether there is another attempt, and when.
//!
//! One is the exponential of transient-fault handling, which draws the part that grows, and not the least; the
//! other stops when the same error comes twice in a row, which it knows by a state that each call has for itself.
//! Everything else of a policy stands beside a strategy as ever. tokio's clock is paused: no wait takes time.
//!
//! `cargo run --example strategy`

use std::time::Duration;

use reattempt::{
    GiveUpReason, RetryError, Strategy, retry, strategy::Decision, strategy::FailedAttempt,
};
use tokio::time::Instant;

/// The delay before retry n is `min(max, min + (2^n - 1) * delta * r)`, with r drawn from 0.8 to 1.2.
#[derive(Debug, Clone, Copy)]
pub struct Exponential {
    /// How often.
    pub retries: u32,
    /// The first delay.
    pub min: Duration,
    /// No delay is longer.
    pub max: Duration,
    /// What grows.
    pub delta: Duration,
    /// The first retry comes at once.
    pub fast_first: bool,
    /// The bounds of r.
    pub spread: (f64, f64),
}

impl Exponential {
    /// The delay before retry `retry`; `random` from 0 up to 1. What overflows is `max`.
    pub fn delay(&self, retry: u32, random: f64) -> Duration {
        if retry == 0 && self.fast_first {
            return Duration::ZERO;
        }
        let (least, most) = self.spread;
        let steps = f64::from(retry).exp2() - 1.0;
        let grown = self.delta.as_secs_f64() * steps * (least + (most - least) * random);
        let delay = Duration::try_from_secs_f64(self.min.as_secs_f64() + grown);
        delay.map_or(self.max, |delay| delay.min(self.max))
    }
}

impl<E> Strategy<E> for Exponential {
    // The number of the retry is all there is to remember, and the failure tells it.
    type State = ();

    fn start(&self) {}

    fn failed(&self, (): &mut (), failure: &FailedAttempt<'_, E>) -> Decision {
        if failure.retry() >= self.retries {
            return Decision::Stop;
        }
        Decision::Retry(self.delay(failure.retry(), failure.random()))
    }
}

/// Goes on as long as each error is another than the one before.
#[derive(Debug, Clone, Copy)]
pub struct UntilTheSameTwice(pub Duration);

impl<E: Clone + PartialEq> Strategy<E> for UntilTheSameTwice {
    type State = Option<E>;

    fn start(&self) -> Option<E> {
        None
    }

    fn failed(&self, last: &mut Option<E>, failure: &FailedAttempt<'_, E>) -> Decision {
        let error = failure.error().cloned();
        if error.is_some() && *last == error {
            return Decision::Stop;
        }
        *last = error;
        Decision::Retry(self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
    Reset,
    Busy,
}

const STORAGE: Exponential = Exponential {
    retries: 4,
    min: Duration::from_secs(1),
    max: Duration::from_secs(30),
    delta: Duration::from_secs(10),
    fast_first: false,
    spread: (0.8, 1.2),
};

#[retry(strategy = STORAGE, on(_), on_retry = |retry| delays.push(retry.delay()))]
async fn store(delays: &mut Vec<Duration>) -> Result<(), RetryError<Fault>> {
    Err(Fault::Reset)
}

#[retry(strategy = UntilTheSameTwice(Duration::from_secs(1)), on(_), deadline = "30s")]
async fn fetch(answers: &mut impl Iterator<Item = Fault>) -> Result<u32, RetryError<Fault>> {
    match answers.next() {
        Some(fault) => Err(fault),
        None => Ok(7),
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let (start, mut delays) = (Instant::now(), Vec::new());
    let failed = store(&mut delays).await.err();
    println!("{delays:?} in {:?}: {failed:?}", start.elapsed());
    assert_eq!(
        failed.map(|failed| failed.reason()),
        Some(GiveUpReason::Strategy)
    );
    // 1, then 9 to 13, then what is above the maximum or hardly below.
    let seconds: Vec<_> = delays.iter().map(Duration::as_secs_f64).collect();
    let bounds = [(1.0, 1.0), (9.0, 13.0), (25.0, 30.0), (30.0, 30.0)];
    assert_eq!(seconds.len(), bounds.len());
    for (delay, (least, most)) in seconds.into_iter().zip(bounds) {
        assert!((least..=most).contains(&delay), "{delay}");
    }

    // Each call begins with a state of its own: the reset that ended the first is no second one here.
    let mut faults = [Fault::Busy, Fault::Reset, Fault::Reset, Fault::Reset].into_iter();
    let failed = fetch(&mut faults).await.err();
    println!("{failed:?}");
    assert_eq!(
        failed.map(|failed| (failed.reason(), failed.attempts())),
        Some((GiveUpReason::Strategy, 3))
    );
    assert_eq!(fetch(&mut faults).await.ok(), Some(7));
}
