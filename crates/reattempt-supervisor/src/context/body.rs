//! Runs the body of one step under its own policy, and never past its `complete_by`.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use reattempt::deadline;

use super::attempts::ATTEMPTS;
use super::commit_slot::CommitSlot;
use super::failure::StepFailure;
use super::journal::Stop;
use super::spec::StepSpec;
use super::workflow_context::WorkflowContext;
use crate::events::StepEnding;
use crate::events::spans::Span;
use crate::running::CurrentStep;
use crate::store::GRACE;

/// How a step ended.
pub(super) enum StepOutcome<T> {
    /// The step returned a value, after this many attempts.
    Done(T, u32),
    /// The step failed for good, with this message and after this many attempts.
    Failed(String, u32),
    /// The step failed with this message, and a later attempt may succeed.
    Again(String),
    /// The transaction of the step stops the task.
    Stopped(Stop),
}

/// Runs the body of step `seq` until it ends or its time is over.
pub(super) async fn run_step<T>(
    context: &WorkflowContext,
    seq: i32,
    spec: StepSpec,
    commit: Option<&CommitSlot>,
    body: impl Future<Output = Result<T, StepFailure>>,
) -> StepOutcome<T> {
    let inner = &context.inner;
    // Without a limit of its own a step has a long one: a limit that is too short repeats a good
    // step, and one that is too long only delays the discovery of a bad one, which `show` names
    // meanwhile.
    let limit = spec.complete_by.or(inner.limits.step_complete_by);
    let since = inner.store_now();
    let span = Span::of_step(inner.task.id, seq, spec.name);
    let step = CurrentStep {
        lease: inner.lease,
        seq,
        name: spec.name,
        since,
        due: limit.map(|limit| since.after(limit).after(GRACE)),
    };
    let mut entry = span.enter(|| inner.steps.enter(step, &inner.task.workflow));
    // The scheduler ends the task itself when its time is over; calls inside the step see it coming.
    let attempts = commit.map_or_else(Arc::default, CommitSlot::attempts);
    let body = ATTEMPTS.scope(Arc::clone(&attempts), async {
        let result = match context.time_left() {
            Some(left) => deadline::within(left, body).await,
            None => body.await,
        };
        result.map(|value| (value, attempts.count()))
    });
    let mut body = pin!(async {
        match spec.complete_by {
            Some(limit) => deadline::within(limit, body).await,
            None => body.await,
        }
    });
    let mut over = pin!(async {
        match limit {
            Some(limit) => {
                tokio::time::sleep(limit).await;
                limit
            }
            None => std::future::pending().await,
        }
    });
    let outcome = poll_fn(|cx| {
        let polled = entry.poll(|| span.enter(|| body.as_mut().poll(cx)));
        if let Some(stop) = commit.and_then(|commit| commit.take_stop(cx.waker())) {
            return Poll::Ready(StepOutcome::Stopped(stop));
        }
        if let Poll::Ready(result) = polled {
            return Poll::Ready(outcome_of(spec, result));
        }
        over.as_mut().poll(cx).map(|limit| {
            let name = spec.name;
            StepOutcome::Again(format!(
                "step `{name}` was not done by its `complete_by` of {limit:?}"
            ))
        })
    })
    .await;
    entry.set_ending(match outcome {
        StepOutcome::Done(..) => StepEnding::Done,
        StepOutcome::Failed(..) => StepEnding::Failed,
        StepOutcome::Again(_) => StepEnding::Again,
        StepOutcome::Stopped(_) => StepEnding::Unknown,
    });
    // A step that will run again has no record: other steps may go on beside it for a while. The record
    // of a transaction may have come before the last report.
    if commit.is_none() && !matches!(outcome, StepOutcome::Again(_)) {
        entry.end();
    }
    outcome
}

/// Decides whether a failure is final.
pub(super) fn outcome_of<T>(
    spec: StepSpec,
    result: Result<(T, u32), StepFailure>,
) -> StepOutcome<T> {
    let failure = match result {
        Ok((value, attempts)) => return StepOutcome::Done(value, attempts),
        Err(failure) => failure,
    };
    match failure.retry_reason {
        None => StepOutcome::Failed(failure.message, failure.attempts),
        Some(reason) => StepOutcome::Again(format!(
            "step `{}` gave up after {} attempts, {reason}: {}",
            spec.name, failure.attempts, failure.message
        )),
    }
}
