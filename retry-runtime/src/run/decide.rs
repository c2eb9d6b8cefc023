//! Who decides about a retry of a runner: its policy, or a strategy.

use crate::attempt::{Cause, Retry};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::private::{Limits, Progress, Until, decided, failed};
use crate::strategy::Strategy;
use crate::timer::Clock;
use crate::verdict::Verdict;

/// A strategy decides in place of the delays of the policy: made by
/// [`Runner::strategy`](super::Runner::strategy).
#[derive(Debug, Clone, Copy)]
pub struct ByStrategy<S>(pub(super) S);

/// The step after a failure.
pub(super) trait Decide<E> {
    /// What one call remembers; nothing until it is asked.
    type State: Default;

    #[expect(clippy::too_many_arguments, reason = "a step, and its state")]
    fn failed<'a>(
        &self,
        state: &mut Self::State,
        progress: &mut impl Progress,
        operation: &'a Operation,
        until: Until,
        clock: &impl Clock,
        cause: Cause<'a, E>,
        verdict: Verdict,
        limits: &mut impl Limits,
    ) -> Result<Retry<'a, E>, Interrupted>;
}

impl<E> Decide<E> for () {
    type State = ();

    #[inline(always)]
    fn failed<'a>(
        &self,
        (): &mut (),
        progress: &mut impl Progress,
        operation: &'a Operation,
        until: Until,
        clock: &impl Clock,
        cause: Cause<'a, E>,
        verdict: Verdict,
        limits: &mut impl Limits,
    ) -> Result<Retry<'a, E>, Interrupted> {
        failed(progress, operation, until, clock, cause, verdict, limits)
    }
}

impl<E, S: Strategy<E>> Decide<E> for ByStrategy<S> {
    type State = Option<S::State>;

    #[inline(always)]
    fn failed<'a>(
        &self,
        state: &mut Option<S::State>,
        progress: &mut impl Progress,
        operation: &'a Operation,
        until: Until,
        clock: &impl Clock,
        cause: Cause<'a, E>,
        verdict: Verdict,
        limits: &mut impl Limits,
    ) -> Result<Retry<'a, E>, Interrupted> {
        decided(
            progress, operation, until, clock, cause, verdict, limits, state, &self.0,
        )
    }
}
