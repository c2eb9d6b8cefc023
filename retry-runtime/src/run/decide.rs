//! What decides about a retry of a runner: its policy, or a strategy.

use core::borrow::Borrow;

use crate::attempt::Retry;
use crate::engine::{CallContext, Describe, Described, Gate, LiveCall, Place};
use crate::failure::GaveUp;
use crate::policy::Policy;
use crate::strategy::Strategy;
use crate::timer::Clock;
use crate::verdict::Verdict;

/// A strategy decides in place of the delays of the policy: made by
/// [`Runner::strategy`](super::Runner::strategy).
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct ByStrategy<S>(pub(super) S);

/// The policy as the decision reads it.
#[doc(hidden)]
pub trait DecidingPolicy {
    type Policy<'p>: Borrow<Policy> + Send;

    fn policy(policy: &Policy) -> Self::Policy<'_>;
}

impl DecidingPolicy for () {
    type Policy<'p> = &'p Policy;

    fn policy(policy: &Policy) -> &Policy {
        policy
    }
}

impl<S> DecidingPolicy for ByStrategy<S> {
    type Policy<'p> = Policy;

    fn policy(policy: &Policy) -> Policy {
        policy.decided()
    }
}

/// The step after a failure.
#[doc(hidden)]
pub trait Decide<E>: DecidingPolicy {
    /// What one call remembers; nothing until the strategy is asked.
    type State: Default;

    fn failed<'a, T: Clock>(
        &self,
        state: &mut Self::State,
        call: &mut LiveCall<impl Place>,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        failure: Described<'a, E, impl Describe<E>>,
        verdict: Verdict,
    ) -> Result<Retry<'a, E>, GaveUp>;
}

impl<E> Decide<E> for () {
    type State = ();

    #[inline(always)]
    fn failed<'a, T: Clock>(
        &self,
        (): &mut (),
        call: &mut LiveCall<impl Place>,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        failure: Described<'a, E, impl Describe<E>>,
        verdict: Verdict,
    ) -> Result<Retry<'a, E>, GaveUp> {
        call.failed(context, gates, failure, verdict)
    }
}

impl<E, S: Strategy<E>> Decide<E> for ByStrategy<S> {
    type State = Option<S::State>;

    #[inline(always)]
    fn failed<'a, T: Clock>(
        &self,
        state: &mut Option<S::State>,
        call: &mut LiveCall<impl Place>,
        context: CallContext<'_, T>,
        gates: &mut impl Gate,
        failure: Described<'a, E, impl Describe<E>>,
        verdict: Verdict,
    ) -> Result<Retry<'a, E>, GaveUp> {
        call.failed_by_strategy(context, gates, failure, verdict, state, &self.0)
    }
}
