//! An agent runs one step under its own policy, and never past its `complete_by`.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use reattempt::deadline;

use super::step::{StepFailure, StepSpec};
use super::workflow_context::WorkflowContext;
use crate::store::Write;
use crate::store::expiry::GRACE;

/// An agent announces only steps that take longer: an announcement costs a write.
const ANNOUNCED_AFTER: Duration = Duration::from_millis(250);

tokio::task_local! {
    /// The attempts of the step that runs.
    static ATTEMPTS: Cell<u32>;
}

/// Counts an attempt of the step that runs: the body of a step with retries calls this.
pub(crate) fn count_attempt() {
    // A body that runs outside a step has nobody who wants to know.
    let _ = ATTEMPTS.try_with(|attempts| attempts.set(attempts.get().saturating_add(1)));
}

/// How a step ended.
pub(super) enum StepOutcome<T> {
    /// The step returned a value, after this many attempts.
    Done(T, u32),
    /// The step failed for good, with this message and after this many attempts.
    Failed(String, u32),
    /// The step failed with this message, and a later attempt may succeed.
    Again(String),
}

/// Runs the body of a step until it ends or its time is over.
pub(super) async fn run_step<T>(
    context: &WorkflowContext,
    spec: StepSpec,
    body: impl Future<Output = Result<T, StepFailure>>,
) -> StepOutcome<T> {
    // The scheduler ends the task itself when its time is over; calls inside the step see it coming.
    let body = ATTEMPTS.scope(Cell::new(0), async {
        let result = match context.time_left() {
            Some(left) => deadline::within(left, body).await,
            None => body.await,
        };
        // A step without retries does not count.
        let attempts = ATTEMPTS.with(Cell::get).max(1);
        result.map(|value| (value, attempts))
    });
    let Some(limit) = spec.complete_by else {
        return outcome_of(spec, body.await);
    };
    let mut body = pin!(deadline::within(limit, body));
    let mut over = pin!(tokio::time::sleep(limit));
    let mut announcement = pin!(tokio::time::sleep(ANNOUNCED_AFTER.min(limit)));
    let mut is_announced = limit <= ANNOUNCED_AFTER;
    poll_fn(|cx| {
        if let Poll::Ready(result) = body.as_mut().poll(cx) {
            return Poll::Ready(outcome_of(spec, result));
        }
        if over.as_mut().poll(cx).is_ready() {
            let name = spec.name;
            return Poll::Ready(StepOutcome::Again(format!(
                "step `{name}` was not done by its `complete_by` of {limit:?}"
            )));
        }
        if !is_announced && announcement.as_mut().poll(cx).is_ready() {
            is_announced = true;
            let left = limit.saturating_sub(ANNOUNCED_AFTER).saturating_add(GRACE);
            let by = context.inner.store_now().after(left);
            // Nobody waits for the result; if the task is lost, the next record shows it.
            drop(
                context
                    .inner
                    .writer
                    .send(Write::Announce(context.inner.lease, by)),
            );
        }
        Poll::Pending
    })
    .await
}

/// Decides whether a failure is final.
fn outcome_of<T>(spec: StepSpec, result: Result<(T, u32), StepFailure>) -> StepOutcome<T> {
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
