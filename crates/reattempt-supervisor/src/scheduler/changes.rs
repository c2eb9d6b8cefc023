//! What a task becomes after a failure, a stop or a pause.

use crate::client::Shared;
use crate::context::Inner;
use crate::context::journal::Stop;
use crate::payload::storable;
use crate::store::next_state::failures_of;
use crate::store::{Change, Counts, Failure, NextState, Wake};
use crate::task::{Direction, FailingStep, State};
use crate::time::Time;
use reattempt::Policy;
use std::time::Duration;

/// Returns the change of a task that goes forward to this state.
pub(super) fn change_without_failure(inner: &Inner, state: State) -> Change {
    Change {
        state,
        direction: Direction::Forward,
        counts: inner.counts(),
        failing_step: None,
        wake: Wake::In(Duration::ZERO),
        output: None,
        error: None,
        failed_seq: None,
    }
}

/// Returns the new state of a stopped task, or `None` if another worker holds it.
pub(super) async fn change_after_stop(
    inner: &Inner,
    stop: Stop,
    shared: &Shared,
    delays: &Policy,
) -> Option<Change> {
    match stop {
        Stop::Lost | Stop::Unavailable => None,
        Stop::Diverged(message) | Stop::Refused(message) => Some(change_to_parked(inner, message)),
        Stop::Ambiguous(seq, message) => Some(Change {
            failed_seq: Some(seq),
            ..change_to_parked(inner, message)
        }),
        Stop::Failed(seq, message) => {
            change_after_failure(inner, (seq, message), shared, delays).await
        }
        Stop::Cancelled => Some(Change {
            state: State::Pending,
            direction: Direction::Cancelling,
            counts: Counts::NONE,
            failing_step: None,
            wake: Wake::In(Duration::ZERO),
            output: None,
            error: Some("it was cancelled".to_owned()),
            failed_seq: None,
        }),
    }
}

/// Returns the state of a task that has failed for good, perhaps because of one step.
pub(super) fn change_after_final_failure(
    inner: &Inner,
    error: String,
    failed_seq: Option<i32>,
) -> Change {
    Change {
        failed_seq,
        ..change_to(
            NextState::after_final_failure(inner.task.on_failure, inner.journal().progress()),
            error,
        )
    }
}

/// Returns the state of a task after one more failure, of this step or of other code. Returns `None`
/// if the store does not say how often the step has failed: trouble with the store is not a failure.
pub(super) async fn change_after_failure(
    inner: &Inner,
    (seq, message): (Option<i32>, String),
    shared: &Shared,
    delays: &Policy,
) -> Option<Change> {
    let task = &inner.task;
    let mut step_failures = None;
    if let Some(seq) = seq {
        let failing = match shared.store().failures(task.id).await {
            Ok(failing) => failing,
            Err(error) => {
                shared.emit_store_error(&error);
                inner.journal().stop(Stop::Unavailable);
                return None;
            }
        };
        step_failures = Some(failures_of(&failing, task.direction, seq));
    }
    let failure = Failure {
        counts: inner.counts(),
        step_failures,
    };
    let next = NextState::after_failure(task, failure, delays, rand::random());
    let failing_step = seq.zip(step_failures).map(|(seq, earlier)| FailingStep {
        direction: task.direction,
        seq,
        failures: earlier.saturating_add(1),
        error: storable(&message),
        at: Time::default(),
    });
    let goes_on = next.state == State::Pending && next.direction == task.direction;
    Some(Change {
        failing_step,
        failed_seq: seq.filter(|_| !goes_on),
        ..change_to(next, message)
    })
}

/// Returns the change to a next state.
pub(super) fn change_to(next: NextState, error: String) -> Change {
    Change {
        state: next.state,
        direction: next.direction,
        counts: next.counts,
        failing_step: None,
        wake: Wake::In(next.delay),
        output: None,
        error: Some(error),
        failed_seq: None,
    }
}

/// Returns the state of a task that waits for an operator.
pub(super) fn change_to_parked(inner: &Inner, message: String) -> Change {
    Change {
        state: State::Parked,
        direction: inner.task.direction,
        counts: inner.counts(),
        failing_step: None,
        wake: Wake::In(Duration::ZERO),
        output: None,
        error: Some(message),
        failed_seq: None,
    }
}
