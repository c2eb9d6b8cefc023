//! Rules about hedges.

use core::time::Duration;

use super::{Violation, hedge};
#[cfg(feature = "std")]
use crate::hedge::{Hedge, When};
#[cfg(feature = "std")]
use crate::policy::Policy;

/// R12: why [`Hedge::max`](crate::Hedge::max) refuses a number of copies.
pub const fn hedge_copies(copies: u32) -> Option<Violation> {
    hedge::copies(copies)
}

/// R12: why [`Hedge::after`](crate::Hedge::after) refuses a delay.
pub const fn hedge_delay(delay: Duration) -> Option<Violation> {
    hedge::delay(delay)
}

/// R12: why [`Hedge::quantile`](crate::Hedge::quantile) refuses a number.
pub const fn hedge_quantile(quantile: f64) -> Option<Violation> {
    hedge::quantile(quantile)
}

/// X12: why so many copies, each `delay` after the one before, do not fit into a deadline.
pub const fn hedge_beyond_deadline(
    copies: u32,
    delay: Duration,
    deadline: Duration,
) -> Option<Violation> {
    hedge::beyond_deadline(copies, delay, deadline)
}

/// X12: why so many copies, each `delay` after the one before, do not fit into the time-out of an attempt.
pub const fn hedge_beyond_timeout(
    copies: u32,
    delay: Duration,
    timeout: Duration,
) -> Option<Violation> {
    hedge::beyond_timeout(copies, delay, timeout)
}

#[cfg(feature = "std")]
impl Hedge {
    /// X12: why this hedge does not fit attempts under `policy`: its `timeout` or its `deadline` is over before the
    /// last copy starts.
    ///
    /// `#[retry]` asks this of constants.
    pub const fn violation(&self, policy: &Policy) -> Option<Violation> {
        let When::After(delay) = self.when else {
            return None;
        };
        let copies = self.max as u32;
        if let Some(timeout) = policy.timeout
            && let Some(refusal) = hedge_beyond_timeout(copies, delay, timeout)
        {
            return Some(refusal);
        }
        match policy.deadline {
            Some(deadline) => hedge_beyond_deadline(copies, delay, deadline),
            None => None,
        }
    }
}
