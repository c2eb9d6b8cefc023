//! `retry_block!` in all its forms.

use core::future::Future;
use core::time::Duration;

use reattempt::retry_block;

use crate::support::{BASE, Fault, MAX, POLICY, Still, is_busy};

/// A block.
///
/// # Errors
///
/// For the lints.
#[inline]
pub fn block(least: u32) -> Result<u32, Fault> {
    let mut calls = 0_u32;
    retry_block!(
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
        retry_after = |_| BASE,
        fallback = |_| Ok(7),
        before_retry = |event| _ = event.delay(),
        on_retry = |event| _ = event.delay(),
        context = attempt,
        name = "all.lints",
        {
            calls = calls.wrapping_add(attempt.number());
            if calls < least {
                return Err(Fault::Busy);
            }
            Ok(calls)
        }
    )
}

/// A closure.
///
/// # Errors
///
/// For the lints.
#[inline]
pub fn closure(least: u32) -> Result<u32, Fault> {
    retry_block!(
        policy = POLICY,
        max = MAX,
        on = is_busy,
        || -> Result<u32, Fault> {
            if least < 3 {
                Err(Fault::Busy)?;
            }
            Ok(least)
        }
    )
}

/// An async block.
///
/// # Errors
///
/// For the lints.
#[inline]
pub async fn async_block(least: u32) -> Result<u32, Fault> {
    retry_block!(
        max = 2,
        base = BASE,
        cap = Duration::from_secs(1),
        timer = Still,
        on(_),
        async {
            core::future::ready(()).await;
            if least < 3 {
                return Err(Fault::Busy);
            }
            Ok(least)
        }
    )
    .await
}

/// An async closure.
///
/// # Errors
///
/// For the lints.
#[inline]
pub fn async_closure(least: u32) -> impl Future<Output = Result<u32, Fault>> + Send {
    let more = least.wrapping_add(1);
    retry_block!(
        max = 2,
        deadline = "3s",
        on(_),
        async move || -> Result<u32, Fault> {
            core::future::ready(()).await;
            if more < 3 {
                Err(Fault::Busy)?;
            }
            Ok(more)
        }
    )
}
