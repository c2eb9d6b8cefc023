//! The commit of a step, while its transaction runs.

use super::attempts::Attempts;
use super::journal::Stop;
use super::workflow_context::WorkflowContext;
use crate::payload::too_large;
use crate::task::Record;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;
use tokio::time::Instant;

/// The commit of a step, while its transaction runs.
pub(crate) struct CommitSlot {
    pub(super) context: WorkflowContext,
    /// The record of the step, without its result and its place.
    pub(super) template: Record,
    /// When the step must be done.
    #[cfg_attr(
        not(any(feature = "postgres", feature = "sqlite")),
        expect(dead_code, reason = "only transactions of these ask")
    )]
    pub(super) deadline: Option<Instant>,
    attempts: Arc<Attempts>,
    state: Mutex<CommitState>,
}

#[derive(Debug, Default)]
struct CommitState {
    phase: Phase,
    stop: Option<Stop>,
    waker: Option<Waker>,
}

/// How far the transaction has come.
#[derive(Debug, Default)]
enum Phase {
    /// It is not recorded.
    #[default]
    Open,
    /// Whether it is committed is unknown.
    Sent(Box<Record>),
    /// It is committed.
    Done(Box<Record>),
    /// The step has ended without it.
    Closed,
}

impl fmt::Debug for CommitSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CommitSlot").field(&*self.state()).finish()
    }
}

/// What became of a transaction when its step has ended.
pub(super) enum Settled {
    /// It was rolled back, or there was none.
    RolledBack,
    /// It is committed, with this record.
    Done(Record),
    /// Its outcome is unknown.
    Unknown,
}

impl CommitSlot {
    pub(super) fn new(
        context: &WorkflowContext,
        template: Record,
        limit: Option<Duration>,
    ) -> Arc<Self> {
        let limit = limit.into_iter().chain(context.time_left()).min();
        Arc::new(Self {
            context: context.share(),
            template,
            deadline: limit.and_then(|limit| Instant::now().checked_add(limit)),
            attempts: Arc::default(),
            state: Mutex::default(),
        })
    }

    /// Returns what counts the attempts of the step.
    pub(super) fn attempts(&self) -> Arc<Attempts> {
        Arc::clone(&self.attempts)
    }

    fn state(&self) -> MutexGuard<'_, CommitState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what became of the transaction when the step has ended. From here on no transaction
    /// can record the step: code that the step has left behind may still try.
    pub(super) fn settle(&self) -> Settled {
        let mut state = self.state();
        match &state.phase {
            Phase::Sent(_) => Settled::Unknown,
            Phase::Done(record) => Settled::Done((**record).clone()),
            Phase::Open | Phase::Closed => {
                state.phase = Phase::Closed;
                Settled::RolledBack
            }
        }
    }

    /// Returns why the step cannot go on, or wakes the caller when there is a reason.
    pub(super) fn take_stop(&self, waker: &Waker) -> Option<Stop> {
        let mut state = self.state();
        state.waker = Some(waker.clone());
        state.stop.take()
    }

    /// Stops the step, whatever its body does.
    pub(super) fn stop(&self, stop: Stop) {
        let mut state = self.state();
        state.stop.get_or_insert(stop);
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Returns why the step must run again: the record decides then.
    pub(super) fn unsettled(&self) -> Stop {
        let Record { seq, name, .. } = &self.template;
        let message = format!(
            "the answer to the COMMIT of step {seq} `{name}` was lost; when the task runs again, the record says whether it took place"
        );
        Stop::Failed(Some(*seq), message)
    }

    /// Begins to record the step with this result, and returns the record as the store keeps it. Fails
    /// if the step is being recorded already.
    pub(super) fn begin(&self, json: String) -> Result<Record, Stop> {
        let Record { seq, name, .. } = &self.template;
        let inner = &self.context.inner;
        let limit = inner.limits.max_payload;
        let what = format!("the result of step {seq} `{name}`");
        let fix = "; then resubmit the task, which runs the step again";
        if let Some(message) = too_large(&what, json.len(), limit, fix) {
            return Err(Stop::Refused(message));
        }
        if inner.engine_calls().is_some() {
            return Err(Stop::Refused(format!(
                "step {seq} `{name}` has `transaction`, and an engine keeps its record elsewhere; drop `transaction`"
            )));
        }
        let mut state = self.state();
        match state.phase {
            Phase::Open => {}
            Phase::Closed => {
                let message =
                    format!("step {seq} `{name}` has ended; its transaction comes too late");
                return Err(Stop::Failed(Some(*seq), message));
            }
            Phase::Sent(_) | Phase::Done(_) => return Err(self.unsettled()),
        }
        let mut journal = inner.journal();
        let record = Record {
            ord: journal.next_ord(),
            result: Some(json),
            // The time of the worker, so that no answer of the database has to be read.
            at: inner.store_now(),
            attempts: i32::try_from(self.attempts.count()).unwrap_or(i32::MAX),
            ..self.template.clone()
        };
        let stored = inner.encode(record.clone())?;
        // In its place from here on: what comes later waits for it, as it will in a replay.
        if !self.context.is_compensation() {
            journal.add_unwritten(record.clone());
        }
        state.phase = Phase::Sent(Box::new(record));
        Ok(stored)
    }

    pub(super) fn end(&self, is_committed: bool) {
        let mut state = self.state();
        state.phase = match std::mem::take(&mut state.phase) {
            Phase::Sent(record) if is_committed => Phase::Done(record),
            Phase::Sent(record) => {
                if !self.context.is_compensation() {
                    self.context.inner.journal().withdraw(record.seq);
                }
                Phase::Open
            }
            other => other,
        };
    }

    /// Returns the record as the text that the store takes.
    pub(super) fn text(&self, record: &Record) -> String {
        let Record {
            seq,
            kind,
            ord,
            name,
            attempts,
            result,
            at,
            fence,
            args_hash,
            args,
            undo,
            ..
        } = record;
        serde_json::json!({
            "store": self.context.inner.store.as_ref().map(|store| store.salt().store_id()),
            "task": self.context.inner.task.id,
            "fence": fence,
            "seq": seq,
            "kind": kind.number(),
            "ord": ord,
            "name": name,
            "attempts": attempts,
            "result": result,
            "at": at.as_micros(),
            "args_hash": args_hash,
            "args": args,
            "undo": undo,
        })
        .to_string()
    }
}
