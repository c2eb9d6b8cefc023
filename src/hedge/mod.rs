//! Hedging: a second copy of a call that takes long, and the first good answer of the two. What is kept here
//! are the settings; `future` runs the copies, and `run` is the form for programs.

mod future;
mod run;
#[cfg(test)]
mod tests;

use core::time::Duration;

pub use future::{Ended, Hedged, hedged};
pub use retry_runtime::Latencies;
pub use run::HedgeRunner;

use reattempt_policy::rules::{self, Violation};

use retry_runtime::Policy;

/// When a call is started a second time, and how often, because it takes long.
///
/// An attempt that has not answered after a delay gets a second copy; the first that answers well wins, and the
/// others are dropped. It shortens the slowest answers where single calls are slow by chance. Where the service as
/// a whole is slow it adds load, up to twice as much: so let a budget pay for the copies.
///
/// A copy is a call: the operation is executed twice, so it must be idempotent. It must be async, too, because
/// a blocked thread can't be interrupted.
///
/// # Default
///
/// One copy beyond the first.
///
/// # Source
///
/// Dean and Barroso, [The Tail at Scale](https://research.google/pubs/the-tail-at-scale/): hedged requests.
///
/// # Examples
///
/// ```
/// use reattempt::Hedge;
/// use std::time::Duration;
///
/// const SEARCH: Hedge = Hedge::after(Duration::from_millis(50)).max(2);
/// assert_eq!(SEARCH, Hedge::after(Duration::from_millis(50)).max(2));
/// ```
///
/// A bad value in a constant does not compile:
///
/// ```compile_fail
/// # use reattempt::Hedge;
/// const SEARCH: Hedge = Hedge::quantile(95.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use = "a hedge does nothing until something runs under it"]
pub struct Hedge {
    pub(crate) when: When,
    /// Copies beyond the first.
    pub(crate) max: u8,
}

/// How long an attempt may take before it gets another copy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum When {
    After(Duration),
    Quantile(f64),
}

impl Hedge {
    /// Returns the violation of X12 by this hedge under `policy`, whose `timeout` or `deadline` is over before the last
    /// copy starts.
    ///
    /// `#[retry]` asks this of constants.
    pub const fn violation(&self, policy: &Policy) -> Option<Violation> {
        let When::After(delay) = self.when else {
            return None;
        };
        let copies = self.max as u32;
        if let Some(timeout) = policy.values().timeout
            && let Some(violation) = rules::hedge_beyond_timeout(copies, delay, timeout)
        {
            return Some(violation);
        }
        match policy.values().deadline {
            Some(deadline) => rules::hedge_beyond_deadline(copies, delay, deadline),
            None => None,
        }
    }

    /// Another copy after `delay`, and after the same time again each further one.
    ///
    /// # Units and ranges
    ///
    /// Above 0, at most 24 hours. About the time in which 95 of 100 calls are answered is good: then 5 of 100
    /// are made twice.
    ///
    /// # Panics
    ///
    /// Outside this range; in a constant that is an error of the compiler.
    #[track_caller]
    pub const fn after(delay: Duration) -> Self {
        if let Some(refusal) = rules::hedge_delay(delay) {
            refusal.refuse();
        }
        Self {
            when: When::After(delay),
            max: 1,
        }
    }

    /// Another copy after the time in which this share of the calls is answered, by what was measured:
    /// `quantile(0.95)` makes about 5 of 100 calls twice, whatever the service's speed.
    ///
    /// Until [`Latencies`] have seen 100 successes there is no other copy.
    ///
    /// # Units and ranges
    ///
    /// Between 0 and 1, both excluded. Above 0.99 it rests on a handful of the latest calls.
    ///
    /// # Panics
    ///
    /// Outside this range; in a constant that is an error of the compiler.
    #[track_caller]
    pub const fn quantile(quantile: f64) -> Self {
        if let Some(refusal) = rules::hedge_quantile(quantile) {
            refusal.refuse();
        }
        Self {
            when: When::Quantile(quantile),
            max: 1,
        }
    }

    /// Sets the number of copies beyond the first.
    ///
    /// # Units and ranges
    ///
    /// From 1 to 10.
    ///
    /// # Default
    ///
    /// 1.
    ///
    /// # Panics
    ///
    /// Outside this range; in a constant that is an error of the compiler.
    #[track_caller]
    #[expect(clippy::cast_possible_truncation, reason = "at most 10")]
    pub const fn max(self, copies: u32) -> Self {
        if let Some(refusal) = rules::hedge_copies(copies) {
            refusal.refuse();
        }
        Self {
            max: copies as u8,
            ..self
        }
    }
}
