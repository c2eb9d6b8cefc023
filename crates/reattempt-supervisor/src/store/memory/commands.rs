//! Signals, and the commands of operators.

use super::{Tables, restart};
use crate::store::{AdminCommand, Resolution, SignalResult, Verdict};
use crate::task::{
    Direction, Fence, OperatorNote, Record, RecordKind, Signal, State, Task, TaskId,
};
use crate::time::Time;

impl Tables {
    /// Adds a signal, and wakes its task.
    pub(super) fn signal(
        &mut self,
        id: TaskId,
        name: String,
        payload: String,
        now: Time,
    ) -> SignalResult {
        let Some(task) = self.tasks.get_mut(&id) else {
            return SignalResult::UnknownTask;
        };
        if task.state.is_final() {
            return SignalResult::NotAllowed(task.state);
        }
        if task.state == State::Waiting {
            task.state = State::Pending;
            task.wake_at = now;
            task.updated_at = now;
        }
        self.last_signal = self.last_signal.saturating_add(1);
        let id_of_signal = self.last_signal;
        let signals = self.signals.entry(id).or_default();
        signals.push(Signal {
            id: id_of_signal,
            name,
            payload,
        });
        SignalResult::Accepted
    }

    /// Carries out the command of an operator.
    pub(super) fn apply_command(
        &mut self,
        id: TaskId,
        command: AdminCommand,
        now: Time,
    ) -> SignalResult {
        if let AdminCommand::Signed { command, by, why } = command {
            let verdict = command.as_str().to_owned();
            let result = self.apply_command(id, *command, now);
            if result == SignalResult::Accepted {
                let notes = self.notes.entry(id).or_default();
                notes.push(OperatorNote {
                    seq: None,
                    verdict,
                    by,
                    why,
                    at: now,
                });
            }
            return result;
        }
        let Some(task) = self.tasks.get_mut(&id) else {
            return SignalResult::UnknownTask;
        };
        if !command.states().contains(&task.state) {
            return SignalResult::NotAllowed(task.state);
        }
        match command {
            AdminCommand::Cancel => {
                if task.state == State::Parked {
                    self.failing.remove(&id);
                }
                cancel(task, now);
            }
            AdminCommand::Park(why) => {
                task.state = State::Parked;
                task.owner = None;
                task.step_by = None;
                task.fence = task.fence.next();
                task.error = Some(why);
            }
            // As cancelled: a task in an error could be resubmitted, and would run forward although
            // a part of it may be undone.
            AdminCommand::GiveUp => {
                task.state = State::Cancelled;
                task.fence = task.fence.next();
            }
            AdminCommand::Resolve(resolution) => {
                let records = self.records.entry(id).or_default();
                let notes = self.notes.get(&id).map_or(&[][..], Vec::as_slice);
                if !resolve(records, notes, task, (&resolution, now)) {
                    return SignalResult::UnknownStep;
                }
                match resolution.verdict {
                    Verdict::Undo if task.direction == Direction::Forward => {
                        task.direction = Direction::Undoing;
                    }
                    Verdict::Undo => {}
                    Verdict::NotDone | Verdict::Done(_) => {
                        if task.state == State::Error {
                            task.direction = Direction::Forward;
                        }
                        task.failed_seq = None;
                        // A limit that is over would turn the task back at once.
                        task.complete_by = task.complete_by.filter(|by| *by > now);
                    }
                }
                self.notes.entry(id).or_default().push(OperatorNote {
                    seq: Some(resolution.seq),
                    verdict: resolution.verdict.as_str().to_owned(),
                    by: resolution.by,
                    why: resolution.why,
                    at: now,
                });
                self.failing.remove(&id);
                restart(task, now);
            }
            AdminCommand::Undo => {
                if task.direction == Direction::Forward {
                    task.direction = Direction::Undoing;
                }
                self.failing.remove(&id);
                restart(task, now);
            }
            AdminCommand::Resubmit => {
                if task.state == State::Error {
                    task.direction = Direction::Forward;
                }
                // A task that turns back keeps the records: they say what may have to be undone.
                if task.direction == Direction::Forward {
                    let records = self.records.entry(id).or_default();
                    forget_failure(records, task);
                }
                task.failed_seq = None;
                task.complete_by = task.complete_by.filter(|by| *by > now);
                self.failing.remove(&id);
                restart(task, now);
            }
            // Its command was given above.
            AdminCommand::Signed { .. } => {}
        }
        task.updated_at = now;
        SignalResult::Accepted
    }
}

fn cancel(task: &mut Task, now: Time) {
    task.cancel_requested = true;
    match task.state {
        State::Processing => {}
        State::Parked => restart(task, now),
        _ => {
            task.wake_at = now;
            // Without a fence no worker has ever held it.
            task.state = if task.fence == Fence(0) {
                State::Cancelled
            } else {
                State::Pending
            };
        }
    }
}

/// Deletes the records of the step that ended or parked the task, so that it runs again.
fn forget_failure(records: &mut Vec<Record>, task: &Task) {
    // Where the store does not know which step it was, it was the last one, or none.
    let last = records.iter().max_by_key(|record| record.ord);
    let last = last.filter(|last| last.kind == RecordKind::Failed && task.state == State::Error);
    let Some(seq) = task.failed_seq.or(last.map(|last| last.seq)) else {
        return;
    };
    if !records
        .iter()
        .any(|old| old.seq == seq && old.kind == RecordKind::Done)
    {
        records.retain(|old| old.seq != seq);
    }
}

/// Changes the records of a step as an operator says. Returns `false` if the step has an outcome, or
/// has not begun.
fn resolve(
    records: &mut Vec<Record>,
    notes: &[OperatorNote],
    task: &Task,
    (resolution, now): (&Resolution, Time),
) -> bool {
    let seq = resolution.seq;
    let is_own = |note: &OperatorNote| note.seq == Some(seq) && note.verdict == "done";
    // An operator may correct a result that the code could not read, as long as nothing was
    // recorded after it.
    let is_given = task.state == State::Parked && notes.iter().any(is_own);
    let last = records.iter().map(|record| record.ord).max();
    let own = records.iter().filter(|record| record.seq == seq);
    let is_open = |record: &&Record| match record.kind {
        RecordKind::Begun => record.due_at.is_none() && !record.name.starts_with("signal "),
        RecordKind::Failed => task.state == State::Error,
        RecordKind::Done => is_given && Some(record.ord) == last,
        RecordKind::Undone => false,
    };
    let Some(open) = own.clone().find(is_open).cloned() else {
        return false;
    };
    if !own.clone().all(|record| is_open(&record)) {
        return false;
    }
    let result = match &resolution.verdict {
        Verdict::Undo => return true,
        Verdict::NotDone => {
            records.retain(|old| old.seq != seq);
            return true;
        }
        Verdict::Done(result) => result.clone(),
    };
    records.retain(|old| old.seq != seq || old.kind == RecordKind::Begun);
    records.push(Record {
        kind: RecordKind::Done,
        ord: last.map_or(0, |last| last.saturating_add(1)),
        attempts: 0,
        result: Some(result),
        error: None,
        undo: None,
        at: now,
        fence: task.fence,
        ..open
    });
    true
}
