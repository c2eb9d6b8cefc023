//! The step after a failed attempt: it asks the machine, and reports what follows.

use core::time::Duration;

#[cfg(feature = "std")]
use super::invalid;
use super::result::{AttemptResult, Ending};
use super::watch::{Described, ErrorText};
use super::{CallContext, Gate, LiveCall, Place};
use crate::call;
use crate::call::{CallEnv, GiveUpReason};
use crate::failure::GaveUp;
use crate::inherited;
use crate::rules::Violation;
use crate::strategy::Decision;
use crate::timer::{Clock, Timestamp};
use crate::verdict::Verdict;

/// The strategy of a call, asked after this attempt, with this delay that the error asks for.
pub(super) trait AskStrategy:
    FnOnce(u32, Option<Duration>, &dyn CallEnv) -> Option<Decision>
{
}

impl<F: FnOnce(u32, Option<Duration>, &dyn CallEnv) -> Option<Decision>> AskStrategy for F {}

/// The strategy of a call that has none.
pub(super) const fn no_strategy(_: u32, _: Option<Duration>, _: &dyn CallEnv) -> Option<Decision> {
    None
}

/// Decides what follows a failed attempt, and reports it: returns the delay before the next one. In line, so that a
/// constant policy folds to the little that is left of it.
#[inline(always)]
pub(super) fn step<T: Clock, E: ?Sized>(
    call: &mut LiveCall<impl Place>,
    context: CallContext<'_, T>,
    gates: &mut impl Gate,
    failure: &mut Described<'_, E, impl FnOnce(&E) -> ErrorText>,
    verdict: Verdict,
    strategy: impl AskStrategy,
) -> Result<Duration, GaveUp> {
    let result = AttemptResult::of(&failure.cause, verdict);
    let report = call.attempt_ended(context, failure);
    gates.record(result, context.timer);
    call.machine.attempt_failed();
    let mut env = LiveEnv {
        context,
        gates,
        result,
        started: failure.started,
        strategy: Some(strategy),
    };
    let policy = context.operation.policy();
    let decided = call.machine.failed(policy, verdict, &mut env);
    let report = report.numbered(call.failures());
    match decided {
        Ok(delay) => {
            if result == AttemptResult::NotFinal {
                call.machine.asks_again();
            }
            report.retries(&call.machine, context.operation, result, delay);
            Ok(delay)
        }
        Err(reason) => {
            let attempts = call.failures();
            let ending = Ending::Attempt(result);
            Err((call.machine).end(report, context.operation, ending, reason, attempts))
        }
    }
}

/// What the machine asks of a call that runs.
struct LiveEnv<'a, T, G, S> {
    context: CallContext<'a, T>,
    gates: &'a mut G,
    result: AttemptResult,
    started: Option<Timestamp>,
    strategy: Option<S>,
}

impl<T: Clock, G: Gate, S: AskStrategy> CallEnv for LiveEnv<'_, T, G, S> {
    #[inline]
    fn remaining(&self) -> Option<Duration> {
        self.context.remaining()
    }

    #[inline]
    fn random(&self) -> u64 {
        self.context.timer.random()
    }

    #[inline]
    fn attempt_time(&self) -> Option<Duration> {
        let started = self.started?;
        Some(self.context.timer.now().since(started))
    }

    #[inline]
    fn slack(&self) -> Duration {
        self.context.timer.slack()
    }

    #[inline]
    fn is_disabled(&self) -> bool {
        self.context.operation.is_disabled()
    }

    // A value that is not final is not a failure: no call around this one would ask for it again.
    #[inline]
    fn is_nested(&self) -> bool {
        self.result != AttemptResult::NotFinal
            && inherited::retries() > 0
            && call::is_marked(self.context.operation.id())
    }

    fn invalid_policy(&mut self, violation: &Violation, is_tamed: bool) {
        #[cfg(feature = "std")]
        invalid::report(self.context.operation, violation, is_tamed);
        #[cfg(not(feature = "std"))]
        let _ = (violation, is_tamed);
    }

    #[inline]
    fn strategy(&mut self, attempt: u32, retry_after: Option<Duration>) -> Option<Decision> {
        let strategy = self.strategy.take()?;
        strategy(attempt, retry_after, self)
    }

    #[inline]
    fn permit_retry(&mut self) -> Result<(), GiveUpReason> {
        self.gates.permit_retry(self.result, self.context.timer)
    }
}
