//! Limits in time, and calls inside calls.

use core::time::Duration;

use reattempt::{Policy, RetryError, policy::Nested, retry, retry_block};

use crate::support::{Fault, POLICY};

/// A shared policy with both limits.
pub const LIMITED: Policy = Policy::new()
    .timeout(Duration::from_millis(500))
    .deadline(Duration::from_secs(5))
    .nested(Nested::Multiply);

/// A time-out, with everything around it.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(
    timeout = "1s",
    deadline = "10s",
    nested = "multiply",
    idempotent = false,
    verify = async |fault| (*fault == Fault::Over).then_some(least),
    before_retry = async |event| _ = event.delay(),
    on_retry = |event| _ = event.delay(),
    fallback = |_| least,
    clone(text)
)]
pub async fn around(text: String, least: u32) -> Result<u32, Fault> {
    core::future::ready(()).await;
    if text.into_bytes().is_empty() {
        return Err(Fault::Busy);
    }
    Ok(least)
}

/// Polled, with a time-out, reported.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(timeout = "1s", until = |value| *value > 3, context = attempt)]
pub async fn polled(least: u32) -> Result<u32, RetryError<Fault>> {
    core::future::ready(()).await;
    if least == 0 {
        return Err(Fault::Busy);
    }
    Ok(attempt.number())
}

/// A `None` when it is cut off.
#[inline]
#[retry(timeout = Duration::from_secs(1))]
pub async fn optional(least: u32) -> Option<u32> {
    core::future::ready(()).await;
    least.checked_sub(1)
}

/// Limits that come with a policy.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(policy = LIMITED, max = 2)]
pub async fn inherited(least: u32) -> Result<u32, Fault> {
    core::future::ready(()).await;
    if least == 0 {
        return Err(Fault::Busy);
    }
    Ok(least)
}

/// The same where nothing can be cut off, polled.
#[inline]
#[retry(policy = POLICY, until = |value| *value > 3)]
pub async fn plain(least: u32) -> u32 {
    core::future::ready(()).await;
    least.saturating_add(1)
}

/// A policy that is known when it runs.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(policy = *policy, before_retry = |event| _ = event.delay())]
pub async fn given(policy: &Policy, least: u32) -> Result<u32, Fault> {
    core::future::ready(()).await;
    if least == 0 {
        return Err(Fault::Busy);
    }
    Ok(least)
}

/// Blocks in a retried function.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(deadline = "10s", on_retry = |event| _ = event.delay())]
pub async fn blocks(least: u32) -> Result<u32, Fault> {
    let number = retry_block!(
        timeout = "1s",
        async || -> Result<u32, RetryError<Fault>> {
            if least == 0 {
                return Err(Fault::Busy);
            }
            Ok(least)
        }
    )
    .await
    .map_err(|failed| failed.into_last().unwrap_or(Fault::Over))?;
    retry_block!(
        nested = "multiply",
        deadline = "2s",
        || -> Result<u32, Fault> { number.checked_add(1).ok_or(Fault::Wrong) }
    )
}
