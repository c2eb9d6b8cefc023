//! An attempt of a call, or one poll of it, that is a retry or has bounds: what it calls sees both.

use crate::around::{Bounds, BoundsScope, RetryScope, on_shared_clock};
use crate::call::{AttemptMarks, Call};
use crate::timer::Clock;

/// Runs an attempt with these bounds, or one poll of it: its call takes over what is marked meanwhile.
#[inline(always)]
pub(crate) fn attempt_inside<R>(
    call: Option<&mut Call>,
    bounds: Bounds,
    is_enforced: bool,
    clock: &impl Clock,
    body: impl FnOnce() -> R,
) -> R {
    // Guards, so that a panic puts back what was there before, too.
    let _bounds = (!bounds.is_none()).then(|| bounded(bounds, is_enforced, clock));
    retry_inside(call, body)
}

#[inline(never)]
fn bounded(bounds: Bounds, is_enforced: bool, clock: &impl Clock) -> BoundsScope {
    BoundsScope::new(on_shared_clock(clock, bounds), is_enforced)
}

/// Runs a retry, or one poll of it, which what it calls can see. Without a call it is a hook.
#[inline(always)]
pub(crate) fn retry_inside<R>(call: Option<&mut Call>, body: impl FnOnce() -> R) -> R {
    let retries = call.as_ref().map_or(0, |call| call.retries());
    // What asks again for a value that is not final is no retry: the one around it stays in view.
    let retry = (retries > 0).then(|| RetryScope::new(retries));
    let _marks = call.map(|call| AttemptMarks::new(call, retry.is_some()));
    body()
}
