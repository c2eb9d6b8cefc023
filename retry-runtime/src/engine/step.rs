//! The step after a failed attempt: it asks the machine, and reports what follows.

use core::time::Duration;

#[cfg(feature = "std")]
use super::invalid;
use super::result::{AttemptResult, Ending};
use super::watch::{Began, Described, ErrorText, Report};
use super::{CallContext, Gate, LiveCall, Place};
use crate::call;
use crate::call::{Call, CallEnv, GiveUpReason};
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

/// A failed attempt that has been judged. Nothing in it depends on the types of its call.
#[derive(Debug)]
pub(super) struct Judged {
    report: Report,
    result: AttemptResult,
    verdict: Verdict,
    /// When it began, if the policy wants to know.
    started: Option<Timestamp>,
}

impl<P: Place> LiveCall<P> {
    /// Returns what the decision needs to know of the attempt that has just failed.
    #[inline(always)]
    pub(super) fn judged<E: ?Sized>(
        &self,
        context: CallContext<'_, impl Clock>,
        mut failure: Described<'_, E, impl FnOnce(&E) -> ErrorText>,
        verdict: Verdict,
    ) -> Judged {
        Judged {
            result: AttemptResult::of(&failure.cause, verdict),
            report: self.attempt_ended(context, &mut failure),
            verdict,
            started: failure.started,
        }
    }
}

/// Decides what follows a failed attempt, and reports it: returns the delay before the next one. In line, so that a
/// constant policy folds to the little that is left of it. A debug build folds nothing, and each operation would have
/// 3 kB of it.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn step<T: Clock>(
    call: &mut Call,
    began: &mut Began,
    context: CallContext<'_, T>,
    gates: &mut impl Gate,
    judged: Judged,
    strategy: impl AskStrategy,
) -> Result<Duration, GaveUp> {
    let Judged {
        report,
        result,
        verdict,
        started,
    } = judged;
    gates.record(result, context.timer);
    call.attempt_failed();
    let mut env = LiveEnv {
        context,
        gates,
        result,
        started,
        strategy: Some(strategy),
    };
    let policy = context.operation.policy();
    let decided = call.failed(policy, verdict, &mut env);
    let report = report.numbered(call.failures());
    match decided {
        Ok(delay) => {
            if result == AttemptResult::NotFinal {
                call.asks_again();
            }
            report.retries(call, context.operation, result, delay, began);
            Ok(delay)
        }
        Err(reason) => {
            let attempts = call.failures();
            let ending = Ending::Attempt(result);
            let end = call.end(report, context.operation, ending, reason, attempts, began);
            Err(end.known(verdict, gates, context.timer))
        }
    }
}

/// An end of which the call knows more than the reason.
pub(super) trait Known {
    /// Returns the same end, with the delay that the last error or a gate asks for.
    fn known(self, verdict: Verdict, gates: &mut impl Gate, clock: &impl Clock) -> Self;
}

impl Known for GaveUp {
    #[cold]
    #[inline]
    fn known(self, verdict: Verdict, gates: &mut impl Gate, clock: &impl Clock) -> Self {
        let wait = match (self.reason(), verdict) {
            (GiveUpReason::BreakerOpen, _) => gates.retry_after(clock),
            (_, Verdict::TransientAfter(delay) | Verdict::Throttled(Some(delay))) => Some(delay),
            _ => None,
        };
        wait.map_or(self, |wait| self.with_retry_after(wait))
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
