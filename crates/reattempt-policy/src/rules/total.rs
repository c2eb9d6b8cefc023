//! What a call does in total, if every attempt fails at once: the figures of X19.
//!
//! Delays with jitter are random. A second is judged by delays of which 100 together are shorter about once in ten million
//! times, a whole call by those of which 10,000 are.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use crate::backoff::Backoff;
use crate::duration::{Nanos, is_shorter, shorter};
use crate::values::Values;

/// The most attempts in any second after the first failure.
pub(super) const IN_A_SECOND: u32 = 100;

/// The most attempts of a call.
pub(super) const IN_ALL: u32 = 10_000;

/// How far from its least to its longest a delay is at least: of the sum of n even random numbers, 5.3 standard deviations
/// below the mean.
const OF_A_HUNDRED: f64 = 1.0 / 3.0;
const OF_ALL: f64 = 0.48;

/// One delay alone, however long it may be: the first, which may have a base of its own.
const ALONE: f64 = 0.0;

/// The same of decorrelated delays, of which each depends on the one before: a hundred may be short, and ten thousand were
/// measured.
const OF_ALL_DECORRELATED: f64 = 0.2;

const SECOND: Duration = Duration::from_secs(1);

/// Whether a call makes too many attempts, and no budget of its own limits them.
pub(super) const fn is_too_much(policy: &Values) -> bool {
    // What a strategy decides it bounds.
    if policy.is_budgeted() || policy.decided || policy.max <= IN_A_SECOND.saturating_add(1) {
        return false;
    }
    in_a_second(policy) > IN_A_SECOND || in_all(policy) > IN_ALL
}

/// The most attempts in a second after the first failure: in the one that begins with the first retry, as no later delay is
/// shorter than the one before.
pub(super) const fn in_a_second(policy: &Values) -> u32 {
    let share = match policy.backoff {
        // What a function of one's own answers nobody knows.
        Backoff::Custom(_) => return 0,
        Backoff::Decorrelated => 0.0,
        _ => OF_A_HUNDRED,
    };
    let second = match policy.deadline {
        Some(deadline) => {
            let rest = deadline.saturating_sub(policy.between(0, ALONE));
            if rest.is_zero() {
                return 0;
            }
            shorter(SECOND, rest)
        }
        None => SECOND,
    };
    fitting(policy, 1, second, share).saturating_add(1)
}

/// The attempts of a whole call. Of calls that nothing ends X6 speaks.
pub(super) const fn in_all(policy: &Values) -> u32 {
    let Some(deadline) = policy.deadline else {
        return match policy.attempts() {
            Some(max) => max,
            None => 0,
        };
    };
    let share = match policy.backoff {
        // It says how long it waits.
        Backoff::Custom(_) => return 0,
        Backoff::Decorrelated => OF_ALL_DECORRELATED,
        _ => OF_ALL,
    };
    let all = fitting(policy, 0, deadline, share).saturating_add(1);
    // Short delays may follow each other where each depends on the one before.
    let second = in_a_second(policy).saturating_add(1);
    if all > second { all } else { second }
}

/// How many delays are over before `limit`, from that of `first` on. From the 128th on they are taken in groups, each as long
/// as the first of its group.
const fn fitting(policy: &Values, first: u32, limit: Duration, share: f64) -> u32 {
    const STEPS: u32 = 64;
    let retries = policy.max.saturating_sub(1);
    let mut retry = first;
    let mut waited = Duration::ZERO;
    while retry < retries {
        let rest = retries.saturating_sub(retry);
        let step = match retry.checked_div(STEPS) {
            Some(0) | None => 1,
            Some(step) if step < rest => step,
            Some(_) => rest,
        };
        let share = if retry == 0 { ALONE } else { share };
        let delay = policy.between(retry, share);
        let after = waited.saturating_add(delay.saturating_mul(step));
        if !is_shorter(after, limit) {
            let left = Nanos::new(limit.saturating_sub(waited)).0 / Nanos::new(delay).0;
            return retry.saturating_sub(first).saturating_add(below(left));
        }
        waited = after;
        retry = retry.saturating_add(step);
    }
    retry.saturating_sub(first)
}

/// The largest whole number below this one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and it is at least 0"
)]
const fn below(number: f64) -> u32 {
    let whole = number as u32;
    if (whole as f64) < number {
        whole
    } else {
        whole.saturating_sub(1)
    }
}

/// The largest `max` that is accepted.
pub(super) const fn fewer(policy: &Values) -> u32 {
    if in_a_second(policy) > IN_A_SECOND {
        IN_A_SECOND.saturating_add(1)
    } else {
        IN_ALL
    }
}
