//! A client: a policy, and the limits that its calls share. It drives the runtime's own code.

use std::fmt;
use std::time::Duration;

use retry_runtime::breaker::Breaker;
use retry_runtime::budget::{Budget, RefundBudget};
use retry_runtime::bulkhead::Bulkhead;
use retry_runtime::driver::{
    AttemptResult, Bounds, BoundsScope, BreakerGate, BudgetGate, BulkheadGate, Gate as _, Gates,
    Site, ThrottleGate,
};
use retry_runtime::throttle::Throttle;
use retry_runtime::timer::{Clock, Timestamp};
use retry_runtime::{Call, CallEnv, GiveUpReason, Operation, Policy, Verdict};

use crate::clock::{START, Virtual};

#[cfg(test)]
mod in_flight;

/// A process whose calls share a budget, a breaker, a bulkhead and a throttle.
#[derive(Debug)]
pub struct Client {
    policy: Policy,
    budget: Option<Budget>,
    breaker: Option<Breaker>,
    bulkhead: Option<Bulkhead>,
    throttle: Option<Throttle>,
    /// The share of its calls that have a low priority.
    low: f64,
    #[cfg(test)]
    in_flight: Option<in_flight::InFlight>,
}

impl Client {
    /// A client without a breaker; with another budget like that which the policy brings along, if it does, or the one
    /// that an operation has by default.
    pub const fn new(policy: Policy) -> Self {
        Self {
            // Simulated as it is written, also where a call would be kept from hammering.
            policy: policy.trusted(),
            budget: match (policy.shared_budget(), policy.attempts()) {
                (Some(budget), _) => Some(budget.another()),
                (None, Some(max)) if policy.has_default_budget() => {
                    Some(Budget::refunding(RefundBudget::capacity(max)))
                }
                _ => None,
            },
            breaker: None,
            bulkhead: None,
            throttle: None,
            low: 0.0,
            #[cfg(test)]
            in_flight: None,
        }
    }

    /// With this budget for all its calls.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// With this breaker in front of all its attempts.
    #[must_use]
    pub fn breaker(mut self, breaker: Breaker) -> Self {
        self.breaker = Some(breaker);
        self
    }

    /// With this bulkhead in front of all its attempts.
    #[must_use]
    pub fn bulkhead(mut self, bulkhead: Bulkhead) -> Self {
        self.bulkhead = Some(bulkhead);
        self
    }

    /// With this throttle in front of all its attempts.
    #[must_use]
    pub fn throttle(mut self, throttle: Throttle) -> Self {
        self.throttle = Some(throttle);
        self
    }

    /// With a low priority for this share of its calls.
    #[must_use]
    pub const fn low(mut self, share: f64) -> Self {
        self.low = share;
        self
    }

    /// A call begins.
    pub fn call(&self, clock: &Virtual) -> Request<'_> {
        let started = clock.now();
        let limit = self.policy.values().deadline;
        Request {
            client: self,
            call: Call::new(),
            started,
            until: limit.map(|limit| started.after(limit)),
            gates: Gates::new(
                self.breaker.as_ref().map(BreakerGate::new),
                Gates::new(
                    (),
                    self.bulkhead.as_ref().map(BulkheadGate::new),
                    (),
                    #[cfg(not(test))]
                    (),
                    #[cfg(test)]
                    self.in_flight.as_ref().map(in_flight::InFlight::gate),
                ),
                self.throttle.as_ref().map(ThrottleGate::new),
                self.budget.as_ref().map(|it| BudgetGate::new(it, clock)),
            ),
            nested: false,
            wait: Duration::ZERO,
            has_used_up: false,
            // Drawn only where it matters: the other runs of a seed stay the same.
            is_low: self.policy.values().is_low() || self.low > 0.0 && clock.happens(self.low),
        }
    }

    /// One call from its beginning to its end, with nothing else going on: attempts in all, and whether it succeeded.
    pub fn run(
        &self,
        clock: &Virtual,
        mut service: impl FnMut() -> Result<(), Verdict>,
    ) -> (u32, bool) {
        let mut request = self.call(clock);
        let mut attempts = 0_u32;
        while let Some(wait) = request.attempt(clock) {
            if !wait.is_zero() {
                clock.sleep(wait);
                continue;
            }
            attempts = attempts.saturating_add(1);
            match service() {
                Ok(()) => {
                    request.succeeded(clock);
                    return (attempts, true);
                }
                Err(verdict) => match request.failed(AttemptResult::Failed(verdict), clock) {
                    Some(delay) => clock.sleep(delay),
                    None => break,
                },
            }
        }
        (attempts, false)
    }
}

/// What the clients call.
static SITE: Site = Site::of_name("storm");

/// One call on its way.
pub struct Request<'c> {
    client: &'c Client,
    call: Call,
    started: Timestamp,
    /// The deadline of its policy, or an earlier one of its caller.
    until: Option<Timestamp>,
    gates: CallGates<'c>,
    nested: bool,
    /// How long the next attempt waits for its turn.
    wait: Duration,
    has_used_up: bool,
    is_low: bool,
}

impl Request<'_> {
    /// This call, made in a retry of another call if `nested`.
    #[must_use]
    pub const fn nested(mut self, nested: bool) -> Self {
        self.nested = nested;
        self
    }

    /// This call, until then and no longer.
    #[must_use]
    pub fn until(mut self, end: Timestamp) -> Self {
        self.until = Some(self.until.map_or(end, |until| until.min(end)));
        self
    }

    /// The limit of an attempt that begins now: that of the policy, or else `timeout`, and never more than is left of
    /// the deadline.
    pub fn limit(&self, timeout: Duration, clock: &Virtual) -> Duration {
        let limit = self.client.policy.values().timeout;
        let limit = limit.unwrap_or(timeout);
        match self.until {
            Some(until) => until.since(clock.now()).min(limit),
            None => limit,
        }
    }

    /// When it began.
    pub fn began(&self) -> Duration {
        self.started.since(START)
    }

    /// Since it began.
    pub fn elapsed(&self, clock: &Virtual) -> Duration {
        clock.now().since(self.started)
    }

    /// Whether it has a low priority.
    pub const fn is_low(&self) -> bool {
        self.is_low
    }

    /// Lets the limits see its priority until what it returns is dropped.
    fn asking(&self) -> Option<BoundsScope> {
        self.is_low.then(|| BoundsScope::new(Bounds::LOW, false))
    }

    /// Asks for an attempt. Without a wait it begins; after one, ask again. `None` if a limit refuses it, which ends the
    /// call.
    pub fn attempt(&mut self, clock: &Virtual) -> Option<Duration> {
        let _priority = self.asking();
        let wait = if self.wait.is_zero() {
            self.gates.enter(clock)
        } else {
            self.gates.wait_left(clock)
        };
        self.wait = wait.ok()?;
        if self.wait.is_zero() {
            self.gates.begin(clock);
            return Some(self.wait);
        }
        let left = self.until.map(|until| until.since(clock.now()));
        let is_late = left.is_some_and(|left| left < self.wait.max(self.gates.forecast()));
        (!is_late).then_some(self.wait)
    }

    /// The attempt has failed: the delay before the next one, or `None` when the call ends.
    pub fn failed(&mut self, result: AttemptResult, clock: &Virtual) -> Option<Duration> {
        let verdict = result.verdict().unwrap_or(Verdict::Permanent);
        let operation = Operation::new(&SITE, &self.client.policy);
        let _priority = self.asking();
        self.gates.record(result, &operation, clock);
        let mut env = Env {
            clock,
            until: self.until,
            nested: self.nested,
            gates: &mut self.gates,
            result,
        };
        let next = self.call.failed(&self.client.policy, verdict, &mut env);
        self.has_used_up = matches!(
            next,
            Err(GiveUpReason::Attempts
                | GiveUpReason::Strategy
                | GiveUpReason::Deadline
                | GiveUpReason::Budget)
        );
        next.ok()
    }

    /// Whether it ended because its retries are used up, which a call above may learn.
    pub(crate) const fn has_used_up(&self) -> bool {
        self.has_used_up
    }

    /// The attempt, and with it the call, has succeeded.
    pub fn succeeded(mut self, clock: &Virtual) {
        self.gates.settle(clock);
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("call", &self.call)
            .field("nested", &self.nested)
            .finish_non_exhaustive()
    }
}

/// What bounds the attempts of a call: the limits of its client.
type CallGates<'c> = Gates<
    Option<BreakerGate<'c>>,
    Gates<(), Option<BulkheadGate<'c>>, (), Rival<'c>>,
    Option<ThrottleGate<'c>>,
    Option<BudgetGate<'c>>,
>;

/// A rule for retries that this library does not have, to compare with.
#[cfg(test)]
type Rival<'c> = Option<in_flight::Gate<'c>>;
#[cfg(not(test))]
type Rival<'c> = ();

/// What the machine asks: time and randomness are the run's.
struct Env<'a, 'c> {
    clock: &'a Virtual,
    until: Option<Timestamp>,
    nested: bool,
    gates: &'a mut CallGates<'c>,
    result: AttemptResult,
}

impl CallEnv for Env<'_, '_> {
    fn remaining(&self) -> Option<Duration> {
        Some(self.until?.since(self.clock.now()))
    }

    fn random(&self) -> u64 {
        self.clock.random()
    }

    fn is_nested(&self) -> bool {
        self.nested
    }

    fn permit_retry(&mut self) -> Result<(), GiveUpReason> {
        self.gates.permit_retry(self.result, self.clock)
    }
}
