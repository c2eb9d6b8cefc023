//! Sync functions.

use core::time::Duration;

use reattempt::{Policy, RetryError, retry};

use crate::support::{BASE, Fault, MAX, POLICY, Still, is_busy, is_final, seen, wait};

/// Every key, hooks as closures.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(
    max = 4,
    backoff = "exp",
    base = "1ms",
    first = "2ms",
    factor = 1.5,
    cap = "1s",
    jitter = "equal",
    fast_first,
    deadline = "30s",
    max_retry_after = "1s",
    on = |fault| *fault == Fault::Busy,
    except = |fault: &Fault| *fault == Fault::Wrong,
    until = |value| *value > 3,
    retry_after = |fault| (*fault == Fault::Over).then_some(BASE),
    fallback = |_| Ok(7),
    before_retry = |event| _ = event.delay(),
    on_retry = |event| _ = event.delay(),
    context = attempt,
    clone(text),
    name = "all.lints"
)]
pub fn closures(text: String, least: u32) -> Result<u32, Fault> {
    let owned = text.into_bytes();
    if owned.is_empty() {
        return Err(Fault::Wrong);
    }
    if attempt.number() < least {
        Err(Fault::Busy)?;
    }
    Ok(least)
}

/// Every key, hooks as paths, values as constants.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(
    max = MAX,
    backoff = "linear",
    base = BASE,
    first = BASE,
    cap = Duration::from_secs(1),
    jitter = 0.2,
    fast_first = true,
    deadline = Duration::from_secs(30),
    max_retry_after = Duration::from_secs(1),
    on(Fault::Busy | Fault::Over if least > 1),
    except(Fault::Wrong),
    until = is_final,
    retry_after = wait,
    fallback = nothing,
    before_retry = seen,
    on_retry = seen,
    context = attempt,
    clone(text),
    name = "all.lints",
    timer = Still,
    crate = ::reattempt
)]
pub fn paths(mut text: String, least: u32) -> Result<u32, Fault> {
    text.push('x');
    let owned = text.into_bytes();
    if owned.is_empty() {
        return Err(Fault::Wrong);
    }
    if attempt.number() < least {
        Err(Fault::Busy)?;
    }
    Ok(least)
}

const fn nothing(_: Fault) -> u32 {
    0
}

/// A delay that the error asks for, and nothing else.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, retry_after = wait)]
pub fn asked(value: u32) -> Result<u32, Fault> {
    if value > 3 {
        Ok(value)
    } else {
        Err(Fault::Busy)
    }
}

/// An inherited policy, constant.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(policy = POLICY, max = 3, on = is_busy)]
pub fn inherited(value: u32) -> Result<u32, Fault> {
    if value > 3 {
        Ok(value)
    } else {
        Err(Fault::Busy)
    }
}

/// An inherited policy, known when it is called.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(policy = *policy, max = 3, deadline = "3s", on(_))]
pub fn at_run_time(policy: &Policy, value: u32) -> Result<u32, Fault> {
    if value > 3 {
        Ok(value)
    } else {
        Err(Fault::Busy)
    }
}

/// The error says it.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry]
pub fn default(value: u32) -> Result<u32, Fault> {
    if value > 3 {
        Ok(value)
    } else {
        Err(Fault::Busy)
    }
}

/// Nothing to return but success.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, backoff = |again| BASE.saturating_mul(again), on(Fault::Busy))]
pub fn unit(value: u32) -> Result<(), Fault> {
    if value > 3 { Ok(()) } else { Err(Fault::Busy) }
}

/// An `Option`.
#[inline]
#[must_use]
#[retry(max = 2, backoff = "none", fallback = || 7, on_retry = |_| {})]
pub fn option(value: u32) -> Option<u32> {
    (value > 3).then_some(value)
}

/// Neither.
#[inline]
#[must_use]
#[retry(max = 2, backoff = "fixed", until = |value| *value > 3)]
pub fn polled(value: u32) -> u32 {
    value
}

/// The whole story.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, backoff = "fibonacci", deadline = "3s", on(_))]
pub fn failed(value: u32) -> Result<u32, RetryError<Fault>> {
    if value > 3 {
        Ok(value)
    } else {
        Err(Fault::Busy)
    }
}

/// Generic, with lifetimes.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, backoff = "decorrelated", on(_))]
pub fn generic<'list, T, E, F, const N: usize>(list: &'list [T; N], find: F) -> Result<&'list T, E>
where
    F: Fn(&'list [T; N]) -> Option<&'list T>,
    E: From<Fault>,
{
    find(list).ok_or_else(|| E::from(Fault::Busy))
}

/// `impl Trait` on both sides.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, on(_))]
pub fn opaque(value: impl Fn() -> u32) -> Result<impl Iterator<Item = u32>, Fault> {
    let end = value();
    if end > 3 {
        Ok(0..end)
    } else {
        Err(Fault::Busy)
    }
}

/// Parameters that look moved, and are copied.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, on(_))]
pub fn copied<T: Copy + Into<u32>>(
    found: Option<Fault>,
    value: T,
    fault: Fault,
) -> Result<u32, Fault> {
    match found {
        Some(other) => Err(other),
        None if fault == Fault::Busy => Err(fault),
        None => Ok(value.into()),
    }
}
