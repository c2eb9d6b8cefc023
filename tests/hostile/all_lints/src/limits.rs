//! What bounds attempts besides the policy.

extern crate alloc;

use alloc::sync::Arc;
use core::time::Duration;

use reattempt::{
    Breaker, Budget, GiveUpReason, Hedge, Policy, RetryError, Throttle, retry, retry_block,
};

use crate::support::Fault;

/// Shared by all.
pub static BUDGET: Budget = Budget::per_success(0.1);
/// Shared by all.
pub static BREAKER: Breaker = Breaker::count_window(20);
/// Shared by all.
pub static THROTTLE: Throttle = Throttle::adaptive();
/// A policy with a budget.
pub const BUDGETED: Policy = Policy::new().max(5).budget(&BUDGET);
/// Two copies.
pub const HEDGE: Hedge = Hedge::after(Duration::from_millis(50)).max(2);

/// All of them.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(budget = 0.1, breaker = &BREAKER, throttle = &THROTTLE, fallback = |_| least)]
pub fn all(least: u32) -> Result<u32, Fault> {
    if least == 0 {
        return Err(Fault::Busy);
    }
    Ok(least)
}

/// The same, as they are shared.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(budget = &BUDGET, breaker = &BREAKER, throttle = &THROTTLE, hedge = "50ms", timeout = "1s")]
pub async fn shared(least: u32) -> Result<u32, RetryError<Fault>> {
    core::future::ready(()).await;
    if least == 0 {
        return Err(Fault::Busy);
    }
    Ok(least)
}

/// Lent to each call.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(budget = Arc::clone(budget), breaker = breaker, hedge = quantile(0.95))]
pub async fn borrowed(
    budget: &Arc<Budget>,
    breaker: &Breaker,
    least: u32,
) -> Result<u32, RetryError<Fault>> {
    core::future::ready(()).await;
    if least == 0 {
        return Err(Fault::Busy);
    }
    Ok(least)
}

/// From a policy.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(policy = BUDGETED, hedge = HEDGE, until = |value| *value > 1)]
pub async fn inherited(least: u32) -> Result<u32, RetryError<Fault>> {
    core::future::ready(()).await;
    if least == 0 {
        return Err(Fault::Busy);
    }
    Ok(least)
}

/// In a block.
#[inline]
#[must_use]
pub fn block(least: u32) -> Option<u32> {
    retry_block!(budget = 0.5, breaker = &BREAKER, || -> Option<u32> {
        least.checked_sub(1)
    })
}

/// Says why a call ended.
fn reason(error: RetryError<Fault>) -> GiveUpReason {
    let reason = error.reason();
    error
        .into_last()
        .map_or(GiveUpReason::Deadline, |_last| reason)
}

/// With an error of the caller's.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(breaker = &BREAKER, timeout = "1s", deadline = "3s", map_err = reason)]
pub async fn mapped(least: u32) -> Result<u32, GiveUpReason> {
    core::future::ready(()).await;
    if least == 0 {
        return Err(Fault::Busy);
    }
    Ok(least)
}

/// The same in sync code, with a closure.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 3, map_err = |error: RetryError<Fault>| (least, error.attempts()))]
pub fn mapped_sync(least: u32) -> Result<u32, (u32, u32)> {
    if least == 0 {
        return Err(Fault::Busy);
    }
    Ok(least)
}

/// Nothing cuts it off.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(policy = *policy, deadline = "3s", cut_off = false, on(_))]
pub async fn uncut(policy: &Policy, least: u32) -> Result<u32, u8> {
    core::future::ready(()).await;
    if least == 0 {
        return Err(0);
    }
    Ok(least)
}

/// Answers whatever happens.
///
/// # Errors
///
/// None.
#[inline]
#[retry(policy = *policy, breaker = &BREAKER, on(_), fallback = |_| 0)]
pub async fn answered(policy: &Policy, least: u32) -> Result<u32, u8> {
    core::future::ready(()).await;
    if least == 0 {
        return Err(0);
    }
    Ok(least)
}

/// The same with polling and hooks.
///
/// # Errors
///
/// None.
#[inline]
#[retry(policy = BUDGETED, deadline = "3s", timeout = "1s", on(_), until = |value| *value > 1, before_retry = |_| {}, fallback = |_| 0)]
pub async fn answered_late(least: u32) -> Result<u32, u8> {
    core::future::ready(()).await;
    if least == 0 {
        return Err(0);
    }
    Ok(least)
}
