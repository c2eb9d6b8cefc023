//! The retry budget of Envoy: retries in flight are at most a share of the attempts in flight.

use std::cell::Cell;

use retry_runtime::GiveUpReason;
use retry_runtime::Operation;
use retry_runtime::driver::{self, AttemptResult};
use retry_runtime::timer::Clock;

use super::Client;

/// Retries of a hundred attempts in flight.
const PERCENT: u32 = 20;

/// The retries in flight that are always allowed.
const FEWEST: u32 = 3;

/// What one process has in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    attempts: Cell<u32>,
    /// Those that wait for their turn count, too.
    retries: Cell<u32>,
}

/// What one call has in flight.
#[derive(Debug)]
pub(super) struct Gate<'c> {
    all: &'c InFlight,
    attempts: u32,
    retries: u32,
}

impl Client {
    /// With the retry budget of Envoy for all its calls.
    #[must_use]
    pub(crate) fn limited_in_flight(mut self) -> Self {
        self.in_flight = Some(InFlight::default());
        self
    }
}

impl InFlight {
    pub(super) const fn gate(&self) -> Gate<'_> {
        Gate {
            all: self,
            attempts: 0,
            retries: 0,
        }
    }
}

impl Gate<'_> {
    /// What the call has in flight from here on.
    fn has(&mut self, attempts: u32, retries: u32) {
        let change = |all: &Cell<u32>, before, after| all.set(all.get() - before + after);
        change(&self.all.attempts, self.attempts, attempts);
        change(&self.all.retries, self.retries, retries);
        (self.attempts, self.retries) = (attempts, retries);
    }
}

impl driver::Gate for Gate<'_> {
    fn begin(&mut self, _: &dyn Clock) {
        self.has(1, self.retries);
    }

    fn record(&mut self, _: AttemptResult, _: &Operation<'_>, _: &dyn Clock) {
        self.has(0, 0);
    }

    fn permit_retry(&mut self, _: AttemptResult, _: &dyn Clock) -> Result<(), GiveUpReason> {
        let most = (self.all.attempts.get() * PERCENT / 100).max(FEWEST);
        if self.all.retries.get() >= most {
            return Err(GiveUpReason::Budget);
        }
        self.has(0, 1);
        Ok(())
    }
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        self.has(0, 0);
    }
}

#[cfg(test)]
mod tests {
    use retry_runtime::{Policy, Verdict};

    use super::*;
    use crate::client::Request;
    use crate::clock::Virtual;

    const FAILED: AttemptResult = AttemptResult::Failed(Verdict::Transient);

    /// How many of `failing` calls retry while `waiting` others wait for their answers.
    fn retries(failing: usize, waiting: usize) -> usize {
        let clock = Virtual::new(0);
        let client = Client::new(Policy::new().max(3).without_budget()).limited_in_flight();
        let begin = |count| {
            let mut requests: Vec<Request<'_>> = (0..count).map(|_| client.call(&clock)).collect();
            assert!(requests.iter_mut().all(|it| it.attempt(&clock).is_some()));
            requests
        };
        let (others, mut requests) = (begin(waiting), begin(failing));
        requests.retain_mut(|it| it.failed(FAILED, &clock).is_some());
        let all = client.in_flight.as_ref().expect("it is limited");
        let retries = requests.len();
        assert_eq!(usize::try_from(all.retries.get()), Ok(retries));
        drop((others, requests));
        assert_eq!((all.attempts.get(), all.retries.get()), (0, 0));
        retries
    }

    #[test]
    fn retries_are_a_share_of_the_attempts_in_flight() {
        assert_eq!((retries(2, 0), retries(9, 0)), (2, 3));
        // 216 are a fifth of the 1084 that have not failed then.
        assert_eq!((retries(50, 1000), retries(300, 1000)), (50, 216));
    }

    #[test]
    fn a_retry_that_fails_makes_room_for_its_own_next_one() {
        let clock = Virtual::new(0);
        let client = Client::new(Policy::new().max(9).without_budget()).limited_in_flight();
        let mut requests: Vec<Request<'_>> = (0..3).map(|_| client.call(&clock)).collect();
        for _ in 0..8 {
            for request in &mut requests {
                assert!(
                    request.attempt(&clock).is_some() && request.failed(FAILED, &clock).is_some()
                );
            }
        }
    }
}
