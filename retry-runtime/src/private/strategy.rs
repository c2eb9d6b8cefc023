//! The step of a call whose strategy decides: everything around its decision is as in any other call.

use core::time::Duration;

use super::progress::{Around, go_on, in_time, stepped};
use super::{Limits, Progress, Until};
use crate::attempt::{Cause, Retry};
use crate::call::decided_delay;
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::strategy::{Decision, Failure, Strategy};
use crate::timer::Clock;
use crate::verdict::Verdict;

// `strategy`. Its state is made when it is first asked.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a step, and who decides it")]
pub fn decided<'a, E: ?Sized, S: Strategy<E> + ?Sized>(
    progress: &mut impl Progress,
    operation: &'a Operation,
    until: Until,
    clock: &impl Clock,
    cause: Cause<'a, E>,
    verdict: Verdict,
    limits: &mut impl Limits,
    state: &mut Option<S::State>,
    strategy: &S,
) -> Result<Retry<'a, E>, Interrupted> {
    decided_by(
        progress,
        operation,
        until,
        clock,
        cause,
        verdict,
        limits,
        |failure| {
            let state = state.get_or_insert_with(|| strategy.start());
            strategy.failed(state, failure)
        },
    )
}

// `strategy = |failure| ...`: says what the parameter is.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a step, and who decides it")]
pub fn decided_by<'a, E: ?Sized>(
    progress: &mut impl Progress,
    operation: &'a Operation,
    until: Until,
    clock: &impl Clock,
    cause: Cause<'a, E>,
    verdict: Verdict,
    limits: &mut impl Limits,
    decide: impl FnOnce(&Failure<'_, E>) -> Decision,
) -> Result<Retry<'a, E>, Interrupted> {
    stepped(
        progress,
        operation,
        clock,
        cause,
        verdict,
        limits,
        |progress, failed| {
            let mut call = progress.call();
            let admitted = call.admit(operation.policy(), verdict);
            progress.keep(call);
            let attempt = progress.failures();
            let around = Around::new(until, clock, failed);
            admitted
                .and_then(|retry_after| go_on(operation).map(|()| retry_after))
                .and_then(|retry_after| {
                    let decide = || {
                        decide(&Failure {
                            operation,
                            attempt,
                            cause,
                            retry_after,
                            around: &around,
                        })
                    };
                    decided_delay(operation.policy(), retry_after, &around, decide)
                })
                .and_then(|delay: Duration| in_time(delay, &around, clock))
                .map_err(|reason| Interrupted::new(reason, attempt))
        },
    )
}
