//! Breakers and throttles as gates, and who may lend one to a call.

use core::borrow::Borrow;
use core::time::Duration;

use super::Gate;
use crate::breaker::{self, Breaker};
use crate::call::GaveUp;
use crate::throttle::{self, Throttle};
use crate::timer::{Clock, Moment};
use crate::verdict::Verdict;

macro_rules! gate {
    ($name:ident, $module:ident :: $kind:ident, $reason:ident, $wait:expr) => {
        #[derive(Debug)]
        pub struct $name<'g> {
            gate: &'g $kind,
            permit: Option<$module::Permit<'g>>,
        }

        impl Gate for $name<'_> {
            #[inline(always)]
            fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp> {
                let Ok(permit) = self.gate.permit_by(&Counted(clock)) else {
                    return Err(GaveUp::$reason);
                };
                let wait = $wait(&permit);
                self.permit = Some(permit);
                Ok(wait)
            }

            #[inline(always)]
            fn refuses(&self, clock: &impl Clock) -> Result<(), GaveUp> {
                if self.gate.refuses_by(&Counted(clock)) {
                    Err(GaveUp::$reason)
                } else {
                    Ok(())
                }
            }

            #[inline(always)]
            fn answered(&mut self, clock: &impl Clock) {
                if let Some(permit) = self.permit.take() {
                    permit.succeeded_by(&Counted(clock));
                }
            }

            #[inline(always)]
            fn failed(&mut self, verdict: Verdict, clock: &impl Clock) {
                if let Some(permit) = self.permit.take() {
                    permit.failed_by(verdict, &Counted(clock));
                }
            }
        }
    };
}

gate!(Breaking, breaker::Breaker, BreakerOpen, |_: &breaker::Permit<'_>| Duration::ZERO);
gate!(Throttling, throttle::Throttle, Throttle, throttle::Permit::wait);

#[inline(always)]
pub const fn breaking(breaker: &Breaker) -> Breaking<'_> {
    Breaking {
        gate: breaker,
        permit: None,
    }
}

#[inline(always)]
pub const fn throttled(throttle: &Throttle) -> Throttling<'_> {
    Throttling {
        gate: throttle,
        permit: None,
    }
}

// What the keys `breaker`, `throttle` and `budget` take.
#[diagnostic::on_unimplemented(
    message = "`{Self}` lends no `{T}`",
    label = "expected `&{T}` or `Arc<{T}>`",
    note = "what is made when it is first used, such as a `LazyLock`, is dereferenced: `&*SHARED`"
)]
pub trait Lend<T> {
    fn lend(&self) -> &T;
}

#[diagnostic::do_not_recommend]
impl<T, L: Borrow<T> + ?Sized> Lend<T> for L {
    #[inline(always)]
    fn lend(&self) -> &T {
        self.borrow()
    }
}

#[inline(always)]
pub fn lent<T, L: Lend<T> + ?Sized>(lender: &L) -> &T {
    lender.lend()
}

// What calls share counts by a clock that all of them can read.
pub(super) struct Counted<'c, C>(pub(super) &'c C);

impl<C: Clock> Clock for Counted<'_, C> {
    #[inline(always)]
    fn now(&self) -> Moment {
        self.0.shared()
    }

    #[inline(always)]
    fn random(&self) -> u64 {
        self.0.random()
    }
}
