//! Many clients contend for one row with optimistic locking: each reads it, writes it with the version it has
//! read, and where another was faster waits and starts over with reading.
//!
//! One-way delays of the network are |Normal(10, 2)| ms, the waits at most 2 s. The article counts attempts
//! from 1 with a base of 5 ms, so that its first wait is up to 10 ms: in the terms of [`Policy`] a base of 10 ms.
//! Writes are those that reach the server, refused ones included; the time is that of the last answer.
//!
//! # Source
//!
//! "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.

use std::time::Duration;

use retry_runtime::driver::AttemptResult;
use retry_runtime::{Jitter, Policy, Verdict};

use crate::client::{Client, Request};
use crate::clock::Virtual;
use crate::engine::Agenda;
use crate::figures::{Expected, Figure};

/// What came of one run.
#[derive(Debug, Clone)]
pub struct Contention {
    /// Writes that reached the server.
    pub writes: u32,
    /// When the last client was done.
    pub time: Duration,
    /// When each client was done, in order.
    pub done: Vec<Duration>,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    /// The row is read at the server.
    Read,
    /// The version that was read is with the client, which writes at once.
    Answer { version: u32 },
    /// The write is at the server.
    Write { version: u32 },
    /// The client learns whether it was the first.
    Written { first: bool },
}

/// The policy of the article with this jitter.
pub const fn policy(jitter: Jitter) -> Policy {
    Policy::new()
        .unlimited()
        .base(Duration::from_millis(10))
        .cap(Duration::from_secs(2))
        .jitter(jitter)
}

/// One run with `contenders` clients, all of which start at 0.
pub fn run(contenders: usize, policy: Policy, seed: u64) -> Contention {
    let clock = Virtual::new(seed);
    let client = Client::new(policy.without_budget());
    let mut agenda = Agenda::new();
    let network = || clock.normal(Duration::from_millis(10), Duration::from_millis(2));

    let mut requests: Vec<Option<Request<'_>>> = Vec::new();
    for contender in 0..contenders {
        requests.push(Some(client.call(&clock)));
        agenda.plan(&clock, network(), (contender, Event::Read));
    }

    let mut row = 0_u32;
    let mut outcome = Contention {
        writes: 0,
        time: Duration::ZERO,
        done: Vec::new(),
    };
    while let Some((contender, event)) = agenda.next(&clock) {
        let (delay, next) = match event {
            Event::Read => (network(), Event::Answer { version: row }),
            Event::Answer { version } => (network(), Event::Write { version }),
            Event::Write { version } => {
                outcome.writes = outcome.writes.saturating_add(1);
                let first = version == row;
                row = row.saturating_add(u32::from(first));
                (network(), Event::Written { first })
            }
            Event::Written { first } => {
                let Some(slot) = requests.get_mut(contender) else {
                    continue;
                };
                if first {
                    *slot = None;
                    outcome.done.push(clock.elapsed());
                    continue;
                }
                let Some(wait) = slot.as_mut().and_then(|it| {
                    // A refused write was certainly not executed.
                    it.failed(AttemptResult::Failed(Verdict::Refused), &clock)
                }) else {
                    continue;
                };
                (wait.saturating_add(network()), Event::Read)
            }
        };
        agenda.plan(&clock, delay, (contender, next));
    }
    outcome.time = clock.elapsed();
    outcome
}

/// The mean writes and the mean time in milliseconds of 100 runs of 100 clients.
fn mean(jitter: Jitter) -> (f64, f64) {
    let runs: Vec<Contention> = (0..100)
        .map(|seed| run(100, policy(jitter), seed))
        .collect();
    let writes: u32 = runs.iter().map(|it| it.writes).sum();
    let time: Duration = runs.iter().map(|it| it.time).sum();
    (
        f64::from(writes) / 100.0,
        time.as_secs_f64() * 1000.0 / 100.0,
    )
}

/// Q8: what the article found.
pub fn figures() -> Vec<Figure> {
    let mut figures = Vec::new();
    for (jitter, word, writes, time) in [
        (Jitter::Full, "full jitter", 795.0, 4_925.0),
        (Jitter::None, "no jitter", 1_861.0, 63_572.0),
    ] {
        let came_out = mean(jitter);
        for (what, value, share, came_out) in [
            ("writes", writes, 0.03, came_out.0),
            ("ms", time, 0.08, came_out.1),
        ] {
            let case = format!("100 clients contend for a row, {word}: {what}");
            let expected = Expected::Near { value, share };
            figures.push(Figure::new("Q8", case, expected, came_out));
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::assert_met;

    #[test]
    fn q8_contention() {
        assert_met(&figures());
    }

    #[test]
    fn each_client_is_done_once() {
        let run = run(100, policy(Jitter::Full), 7);
        assert_eq!(run.done.len(), 100);
        assert_eq!(run.done.last(), Some(&run.time));
        assert!(run.writes > 100);
    }

    #[test]
    fn the_first_wait_is_that_of_the_article() {
        assert_eq!(policy(Jitter::None).delay(0), Duration::from_millis(10));
        assert_eq!(policy(Jitter::None).delay(9), Duration::from_secs(2));
    }
}
