//! Async functions and functions that return futures.

use core::future::Future;
use core::pin::Pin;
use core::time::Duration;

use reattempt::{Policy, Retry, RetryError, retry};

use crate::support::{BASE, Fault, MAX, POLICY, Still, is_busy, is_final, seen};

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
    fallback = async |fault| Err(fault),
    before_retry = async |event| refresh(event).await,
    on_retry = |event| _ = event.delay(),
    context = attempt,
    clone(text),
    name = "all.lints"
)]
pub async fn closures(text: String, least: u32) -> Result<u32, Fault> {
    let owned = text.into_bytes();
    core::future::ready(()).await;
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
    fallback = nothing,
    before_retry = refresh,
    on_retry = seen,
    context = attempt,
    clone(text),
    name = "all.lints",
    timer = Still,
    crate = ::reattempt
)]
pub async fn paths(mut text: String, least: u32) -> Result<u32, Fault> {
    text.push('x');
    let owned = text.into_bytes();
    core::future::ready(()).await;
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

async fn refresh(event: &Retry<'_, Fault>) {
    seen(event);
    core::future::ready(()).await;
}

/// An inherited policy, constant.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(policy = POLICY, max = 3, on = is_busy)]
pub async fn inherited(value: u32) -> Result<u32, Fault> {
    core::future::ready(()).await;
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
#[retry(policy = *policy, max = 3, deadline = "3s", on(_), before_retry = |_| {})]
pub async fn at_run_time(policy: &Policy, value: u32) -> Result<u32, Fault> {
    core::future::ready(()).await;
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
pub async fn default(value: u32) -> Result<u32, Fault> {
    core::future::ready(()).await;
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
pub async fn unit(value: u32) -> Result<(), Fault> {
    core::future::ready(()).await;
    if value > 3 { Ok(()) } else { Err(Fault::Busy) }
}

/// An `Option`.
#[inline]
#[retry(max = 2, backoff = "none", fallback = || 7, on_retry = |_| {})]
pub async fn option(value: u32) -> Option<u32> {
    core::future::ready(()).await;
    (value > 3).then_some(value)
}

/// Neither.
#[inline]
#[retry(max = 2, backoff = "fixed", until = |value| *value > 3)]
pub async fn polled(value: u32) -> u32 {
    core::future::ready(value).await
}

/// The whole story.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, backoff = "fibonacci", deadline = "3s", on(_))]
pub async fn failed(value: u32) -> Result<u32, RetryError<Fault>> {
    core::future::ready(()).await;
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
pub async fn generic<'list, T, E, F, const N: usize>(
    list: &'list [T; N],
    find: F,
) -> Result<&'list T, E>
where
    T: Sync,
    F: Fn(&'list [T; N]) -> Option<&'list T> + Send + Sync,
    E: From<Fault> + Send,
{
    core::future::ready(()).await;
    find(list).ok_or_else(|| E::from(Fault::Busy))
}

/// A future in the signature.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, on(_))]
pub fn returned(value: u32) -> impl Future<Output = Result<u32, Fault>> + Send {
    let twice = value.wrapping_mul(2);
    async move {
        core::future::ready(()).await;
        if twice > 3 {
            Ok(twice)
        } else {
            Err(Fault::Busy)
        }
    }
}

/// A boxed future.
#[inline]
#[must_use]
#[retry(max = 2, on(_))]
pub fn boxed(value: &u32) -> Pin<Box<dyn Future<Output = Result<u32, Fault>> + Send + '_>> {
    Box::pin(async move {
        core::future::ready(()).await;
        if *value > 3 {
            Ok(*value)
        } else {
            Err(Fault::Busy)
        }
    })
}

/// A future that is made elsewhere.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, on(_))]
pub fn elsewhere(value: u32) -> impl Future<Output = Result<u32, Fault>> + Send {
    returned(value)
}

/// The same, for which each attempt reads a reference.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, on(_))]
pub fn elsewhere_by_reference(value: &u32) -> impl Future<Output = Result<u32, Fault>> + Send + '_ {
    returned(*value)
}

/// A future that has what its attempts read.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, on(_))]
pub fn owning(value: Option<u32>) -> impl Future<Output = Result<u32, Fault>> + Send {
    let most = 3;
    async move {
        core::future::ready(()).await;
        value.filter(|it| *it <= most).ok_or(Fault::Busy)
    }
}

/// Parameters that look moved, and are copied.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, on(_))]
pub async fn copied<T: Copy + Into<u32> + Send + Sync>(
    found: Option<Fault>,
    value: T,
    fault: Fault,
) -> Result<u32, Fault> {
    core::future::ready(()).await;
    match found {
        Some(other) => Err(other),
        None if fault == Fault::Busy => Err(fault),
        None => Ok(value.into()),
    }
}
