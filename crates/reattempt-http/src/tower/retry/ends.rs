//! What may end a call besides its attempts: the deadline that cancels one, and the limits that refuse one.

use reattempt_core::GaveUp;
use retry_runtime::driver::{BreakerGate, BudgetGate, BulkheadGate, Gate, Gates, ThrottleGate};
use retry_runtime::timer::Clock;
use retry_runtime::{Breaker, Budget, Bulkhead, Throttle};

/// What may end a call without an answer of the service, whose error is `E`: nothing, [`CutOff`] or [`Limits`]. It is
/// sealed.
#[diagnostic::on_unimplemented(
    message = "a deadline, a breaker, a bulkhead or a throttle can end a call of this layer, which its error cannot report",
    label = "the error of the service is `{E}`, without `From<reattempt::GaveUp>`",
    note = "boxed errors and `reattempt::http::RequestError` have it; `map_err` of tower makes another error of that of the service"
)]
pub trait MayEnd<E>: sealed::Sealed {
    /// Whether they are asked before each attempt.
    #[doc(hidden)]
    const ASKS: bool;

    /// Makes the error of a call that they have ended; `None` where they end none.
    #[doc(hidden)]
    const ERROR: Option<fn(GaveUp) -> E>;

    #[doc(hidden)]
    type Gates: Gate;

    #[doc(hidden)]
    fn gates(&self, budget: Option<&'static Budget>, clock: &impl Clock) -> Self::Gates;
}

pub(super) mod sealed {
    use super::{CutOff, Limits};

    pub trait Sealed {
        /// The same where the deadline cancels attempts.
        type CutOff;

        fn cut_off(self) -> Self::CutOff;
    }

    impl Sealed for () {
        type CutOff = CutOff;

        fn cut_off(self) -> CutOff {
            CutOff(())
        }
    }

    impl Sealed for CutOff {
        type CutOff = Self;

        fn cut_off(self) -> Self {
            self
        }
    }

    // They have an error for it.
    impl Sealed for Limits {
        type CutOff = Self;

        fn cut_off(self) -> Self {
            self
        }
    }
}

fn paid(budget: Option<&'static Budget>, clock: &impl Clock) -> Option<BudgetGate<'static>> {
    budget.map(|budget| BudgetGate::new(budget, clock))
}

impl<E> MayEnd<E> for () {
    const ASKS: bool = false;
    const ERROR: Option<fn(GaveUp) -> E> = None;

    type Gates = Option<BudgetGate<'static>>;

    #[inline(always)]
    fn gates(&self, budget: Option<&'static Budget>, clock: &impl Clock) -> Self::Gates {
        paid(budget, clock)
    }
}

/// The deadline cancels the attempt that runs: made by [`RetryLayer::cut_off`](super::RetryLayer::cut_off).
#[derive(Debug, Clone, Copy)]
pub struct CutOff(pub(super) ());

#[diagnostic::do_not_recommend]
impl<E: From<GaveUp>> MayEnd<E> for CutOff {
    const ASKS: bool = false;
    const ERROR: Option<fn(GaveUp) -> E> = Some(E::from);

    type Gates = Option<BudgetGate<'static>>;

    #[inline(always)]
    fn gates(&self, budget: Option<&'static Budget>, clock: &impl Clock) -> Self::Gates {
        paid(budget, clock)
    }
}

/// A breaker, a bulkhead, a throttle or several of them: made by [`RetryLayer::breaker`](super::RetryLayer::breaker) and
/// its like.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    pub(super) breaker: Option<&'static Breaker>,
    pub(super) bulkhead: Option<&'static Bulkhead>,
    pub(super) throttle: Option<&'static Throttle>,
}

impl From<()> for Limits {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl From<CutOff> for Limits {
    fn from(_: CutOff) -> Self {
        Self::default()
    }
}

#[diagnostic::do_not_recommend]
impl<E: From<GaveUp>> MayEnd<E> for Limits {
    const ASKS: bool = true;
    const ERROR: Option<fn(GaveUp) -> E> = Some(E::from);

    type Gates = Gates<
        Option<BreakerGate<'static>>,
        Option<BulkheadGate<'static>>,
        Option<ThrottleGate<'static>>,
        Option<BudgetGate<'static>>,
    >;

    fn gates(&self, budget: Option<&'static Budget>, clock: &impl Clock) -> Self::Gates {
        Gates::new(
            self.breaker.map(BreakerGate::new),
            self.bulkhead.map(BulkheadGate::new),
            self.throttle.map(ThrottleGate::new),
            paid(budget, clock),
        )
    }
}
