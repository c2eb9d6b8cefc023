//! An attempt under a constant policy, of which only the compiler knows whether it has a limit in time.

use core::convert::Infallible;
use core::future::Future;

use retry_runtime::driver::{LiveCall, Lost, Place, TimedOut, Until, limited, not_cut_off};
use retry_runtime::timer::Timer;

/// Whether a policy has a limit in time, as a type.
#[derive(Debug)]
pub struct HasLimit<const YES: bool>;

/// What such a limit does to an attempt.
pub trait LimitByPolicy {
    /// What is left of an attempt that is cut off.
    type Lost: Lost;

    /// Returns an attempt that `limit` cuts off, if there is one; `until` is the deadline of the call.
    fn limited<T: Timer, F: Future>(
        body: F,
        limit: Until,
        until: Until,
        call: &mut LiveCall<impl Place>,
        timer: T,
    ) -> impl Future<Output = Result<F::Output, Self::Lost>>;
}

impl LimitByPolicy for HasLimit<true> {
    type Lost = TimedOut;

    fn limited<T: Timer, F: Future>(
        body: F,
        limit: Until,
        _: Until,
        call: &mut LiveCall<impl Place>,
        timer: T,
    ) -> impl Future<Output = Result<F::Output, TimedOut>> {
        limited(body, limit, call, timer)
    }
}

impl LimitByPolicy for HasLimit<false> {
    type Lost = Infallible;

    fn limited<T: Timer, F: Future>(
        body: F,
        _: Until,
        until: Until,
        call: &mut LiveCall<impl Place>,
        timer: T,
    ) -> impl Future<Output = Result<F::Output, Infallible>> {
        not_cut_off(body, until, call, timer)
    }
}
