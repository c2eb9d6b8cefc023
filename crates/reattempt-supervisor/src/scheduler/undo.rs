//! Turns a task back: undoes its finished steps, the last first, and ends its children.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use reattempt::Policy;

use super::changes::{change_after_failure, change_after_stop, change_to_parked};
use crate::client::Shared;
use crate::context::journal::Stop;
use crate::context::poll::{poll_once, stop_of_panic};
use crate::context::{Inner, StartedChild, StepError, Undo, UndoneStep, WorkflowContext, stop_of};
use crate::store::{Change, Wake, Write, WriteResult};
use crate::task::{Record, RecordKind, State, TaskId};
use crate::time::Time;

/// How many children one write ends at most.
const CHILDREN: usize = 500;

/// Undoes the finished steps and ends the children, the last first. Returns `None` if another worker
/// holds the task.
pub(super) async fn undo_all(
    inner: &Arc<Inner>,
    shared: &Shared,
    delays: &Policy,
) -> Option<Change> {
    if let Some(message) = inner.journal().missing_request() {
        return Some(change_to_parked(inner, message));
    }
    // An agent that takes a call now would work after the compensations.
    if inner.has_agents()
        && let Err(error) = shared.store().withdraw_calls(inner.lease).await
    {
        let stop = stop_of(&error);
        inner.journal().stop(stop.clone());
        return change_after_stop(inner, stop, shared, delays).await;
    }
    let mut undos = std::mem::take(&mut *inner.undos());
    undos.sort_by_key(|undo| undo.ord);
    let mut children = std::mem::take(&mut *inner.started_children());
    children.sort_by_key(|child| child.ord);
    let mut has_undone = inner.journal().has_undone() || !undos.is_empty();
    // What runs stops at once: this task has not got its result, so nothing that was done later
    // depends on it.
    if let Err(stop) = end_children(inner, &children, false).await {
        return change_after_stop(inner, stop, shared, delays).await;
    }
    loop {
        let group = take_last_group(&mut children, undos.last());
        if !group.is_empty() {
            match undo_children(inner, &group).await {
                Ok(Ended::All(are_undone)) => has_undone |= are_undone,
                // Without a worker: if all seats were held by parents, no child could end.
                Ok(Ended::Not(left)) => return Some(change_to_waiting(inner, Some(left))),
                Err(stop) => return change_after_stop(inner, stop, shared, delays).await,
            }
            continue;
        }
        let Some(undo) = undos.pop() else { break };
        let (undone, name) = (undo.step, undo.name);
        let seq = undone.seq;
        let context = WorkflowContext::new(Arc::clone(inner)).for_compensation(undone);
        let message = match undo_one(inner, (undo.compensation)(context)).await {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => format!("step {seq} `{name}` could not be undone: {error}"),
            Err(Stop::Failed(_, message)) => message,
            Err(stop) => return change_after_stop(inner, stop, shared, delays).await,
        };
        return change_after_failure(inner, (Some(seq), message), shared, delays).await;
    }
    Some(Change {
        state: inner.task.direction.final_state(has_undone),
        ..change_to_waiting(inner, None)
    })
}

/// Returns the state of a task that waits for children.
fn change_to_waiting(inner: &Inner, left: Option<Left>) -> Change {
    Change {
        state: State::Waiting,
        direction: inner.task.direction,
        counts: inner.counts(),
        failing_step: None,
        wake: match left {
            None => Wake::In(Duration::ZERO),
            Some(Left { ends, seen }) => Wake::Children {
                at: Time::NEVER,
                seen,
                ends,
            },
        },
        output: None,
        error: None,
        failed_seq: None,
    }
}

/// Runs one compensation. The outer error stops the task.
async fn undo_one(
    inner: &Inner,
    compensation: impl Future<Output = Result<(), StepError>>,
) -> Result<Result<(), StepError>, Stop> {
    let mut compensation = pin!(compensation);
    poll_fn(|cx| match poll_once(compensation.as_mut(), cx) {
        Err(panic) => Poll::Ready(Err(stop_of_panic(&*panic))),
        Ok(Poll::Ready(result)) => Poll::Ready(Ok(result)),
        Ok(Poll::Pending) => match inner.journal().stop_reason() {
            Some(stop) => Poll::Ready(Err(stop)),
            None => Poll::Pending,
        },
    })
    .await
}

/// Takes the last children that were started after `undo`, one after the other with nothing recorded in
/// between: none of them depends on another.
fn take_last_group(children: &mut Vec<StartedChild>, undo: Option<&Undo>) -> Vec<StartedChild> {
    let after = undo.map_or(-1, |undo| undo.ord);
    let mut next = None;
    let mut group = Vec::new();
    while let Some(child) =
        children.pop_if(|child| child.ord > after && next.is_none_or(|next| child.ord == next))
    {
        next = Some(child.ord.saturating_sub(1));
        group.push(child);
    }
    group
}

/// Whether all children have ended.
enum Ended {
    /// They have; this says whether one of them was undone or cancelled.
    All(bool),
    /// Some have not.
    Not(Left),
}

/// The children that have not ended.
#[derive(Clone, Copy)]
struct Left {
    ends: u32,
    /// The newest signal before the look: a child that ends between the look and the wait counts.
    seen: i64,
}

/// Undoes those of these children that were processed. Records those that have turned back.
async fn undo_children(inner: &Arc<Inner>, children: &[StartedChild]) -> Result<Ended, Stop> {
    let seen = inner.newest_signal();
    let states = end_children(inner, children, true).await?;
    if let Some(gone) = children
        .iter()
        .find(|child| !states.contains_key(&child.task))
    {
        let stop = Stop::Diverged(format!(
            "child {} of call {} `{}` is not in the store, so nobody knows whether it was undone",
            gone.task, gone.seq, gone.name
        ));
        return Err(stop);
    }
    let left = states.values().filter(|state| !state.has_ended()).count();
    if left > 0 {
        let ends = u32::try_from(left).unwrap_or(u32::MAX);
        return Ok(Ended::Not(Left { ends, seen }));
    }
    let step = UndoneStep {
        seq: 0,
        key: None,
        is_unknown: false,
    };
    let context = WorkflowContext::new(Arc::clone(inner)).for_compensation(step);
    let mut writes = Vec::new();
    for child in children {
        // Another child has failed by itself, and was undone or kept then.
        if states.get(&child.task) == Some(&State::Cancelled) {
            writes.push(context.write(Record {
                result: Some("null".to_owned()),
                ..context.new_record(child.seq, RecordKind::Undone, &child.name)
            }));
        }
    }
    let are_undone = !writes.is_empty();
    for write in writes {
        if write.await.is_none() {
            return Err(inner.journal().stop_reason().unwrap_or(Stop::Unavailable));
        }
    }
    Ok(Ended::All(are_undone))
}

/// Cancels those of these children that go on; with `undo`, turns back those that have ended. Returns
/// their states.
async fn end_children(
    inner: &Inner,
    children: &[StartedChild],
    undo: bool,
) -> Result<HashMap<TaskId, State>, Stop> {
    let mut states = HashMap::new();
    let mut left = children.iter().map(|child| child.task);
    loop {
        let some: Vec<TaskId> = left.by_ref().take(CHILDREN).collect();
        if some.is_empty() {
            return Ok(states);
        }
        let write = Write::EndChildren {
            lease: inner.lease,
            children: some,
            undo,
        };
        let stop = match inner.writer.send(write).await {
            Ok(WriteResult::Children(_, ended)) => {
                states.extend(ended);
                continue;
            }
            Ok(_) => Stop::Lost,
            Err(error) => stop_of(&error),
        };
        inner.journal().stop(stop.clone());
        return Err(stop);
    }
}
