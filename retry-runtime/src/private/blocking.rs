//! What the loop of a sync function needs besides the step.

use core::time::Duration;

use crate::timer::Blocking;

// One attempt. `FnMut`, because a body that could run only once can't be
// retried: the compiler then points at the parameter that the body moves.
#[inline(always)]
pub fn attempt<R>(mut body: impl FnMut() -> R) -> R {
    body()
}

#[inline(always)]
pub fn sleep(delay: Duration, timer: &impl Blocking) {
    if !delay.is_zero() {
        timer.sleep(delay);
    }
}
