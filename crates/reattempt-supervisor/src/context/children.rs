//! The children of a task: their starts, and the waits for their ends.

use std::pin::pin;

use serde::{Deserialize, Serialize};

use super::arguments::hash;
use super::journal::{Lookup, Stop};
use super::started::{START, StartedChild};
use super::wait::Waiting;
use super::workflow_context::{Place, WorkflowContext};
use crate::payload::{storable, too_large};
use crate::store::last_outcome::Milestone;
use crate::store::{StoreError, Write};
use crate::task::{CHILD_ENDED, NewTask, Record, RecordKind, Signal, State, Task, TaskId};

/// How many outcomes one record has at most.
const CHUNK: usize = 100;

/// With this begin the names under which starts of children are counted; no step has such a name.
const CHILD: &str = "\0";

/// What the record of a start names as its compensation, unless the child is detached: so the
/// record decides what turns back, and not the code of today.
const END_CHILD: &str = "end the child";

/// How a child has ended, as it is recorded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) task: TaskId,
    pub(crate) workflow: String,
    pub(crate) state: State,
    /// The result, as JSON.
    pub(crate) output: Option<String>,
    pub(crate) error: Option<String>,
}

impl Outcome {
    fn of(task: Task) -> Self {
        Self {
            task: task.id,
            workflow: task.workflow,
            state: task.state,
            output: task.output.filter(|_| task.state == State::Processed),
            error: task.error.filter(|_| task.state != State::Processed),
        }
    }

    fn size(&self) -> usize {
        self.output.as_ref().map_or(0, String::len)
    }

    /// Returns why the child has no result.
    pub(crate) fn failure(&self) -> Option<String> {
        let Self {
            task,
            workflow,
            state,
            ..
        } = self;
        let why = self.error.as_deref().unwrap_or("it says nothing more");
        (*state != State::Processed)
            .then(|| format!("task {task} `{workflow}` ended as {state}: {why}"))
    }
}

impl WorkflowContext {
    /// Starts a child, or returns the one that was recorded. `new` makes it from its key.
    pub(crate) fn start_child(
        &self,
        workflow: &str,
        is_detached: bool,
        new: impl FnOnce(String) -> Result<NewTask, StoreError> + Send,
    ) -> impl Future<Output = TaskId> + Send {
        let place = Place::new(self);
        let name = format!("{START}{workflow}");
        let nth = self
            .inner
            .journal()
            .nth_call(format!("{CHILD}{workflow}").into());
        let key = self.inner.identity.child(workflow, nth);
        async move {
            let place = place; // all of it
            let seq = place.seq;
            self.refuse_engines().await;
            let new = match new(key) {
                Ok(new) => new,
                Err(error) => self.stop(refused(&name, &error)).await,
            };
            let size = (new.input.len(), self.inner.limits.max_payload);
            let what = format!("the argument list of `{name}`");
            if let Some(message) = too_large(&what, size.0, size.1, "") {
                self.stop(Stop::Refused(message)).await;
            }
            let args_hash = hash(&new.input);
            if self.is_undoing() {
                self.collect_child(seq, &name);
            }
            let lookup = self.look_up(seq, &name, Some(&args_hash)).await;
            let record = match lookup {
                Lookup::Ended(record) => record,
                Lookup::New(_) | Lookup::Wait => {
                    if new.lane.is_some() && new.lane == self.inner.task.lane {
                        let message = "it is in the lane of its parent and would wait for the end of it; set another `lane`, or none";
                        let error = StoreError::lasting(message);
                        self.stop(refused(&name, &error)).await;
                    }
                    let record = Record {
                        args_hash: Some(args_hash),
                        undo: (!is_detached).then(|| END_CHILD.to_owned()),
                        ..self.new_record(seq, RecordKind::Done, &name)
                    };
                    self.write_start(record, new).await
                }
            };
            match record.result.as_deref().map(str::parse) {
                Some(Ok(id)) => TaskId(id),
                _ => self.stop(unreadable(&record, "it has no number")).await,
            }
        }
    }

    /// Keeps a child that ends with this task. The record says whether it does, not the code of now.
    fn collect_child(&self, seq: i32, name: &str) {
        let journal = self.inner.journal();
        let record = journal.record_to_undo(seq);
        let record = record.filter(|record| record.name == name && record.undo.is_some());
        let child = record.and_then(StartedChild::of);
        self.inner.started_children().extend(child);
    }

    /// Writes the start of a child, and waits until it is the workflow's turn to get it.
    async fn write_start(&self, record: Record, new: NewTask) -> Record {
        let seq = record.seq;
        self.inner.journal().add_unwritten(record.clone());
        let milestone = Milestone::of(&record);
        let start = Write::Start(self.inner.lease, Box::new(record), Box::new(new));
        if let Some((status, Some(id))) = self.send(start, milestone).await {
            let mut journal = self.inner.journal();
            journal.set_result(seq, id.to_string());
            journal.mark_written(seq, status.now);
        }
        self.outcome(seq).await
    }

    /// Waits until all of these children have ended, and returns how, in their order.
    pub(crate) fn gather_outcomes(
        &self,
        children: Vec<TaskId>,
    ) -> impl Future<Output = Vec<Outcome>> + Send + '_ {
        let mut place = Place::new(self);
        async move {
            let mut outcomes = Vec::with_capacity(children.len());
            while let Some(left) = children
                .get(outcomes.len()..)
                .filter(|left| !left.is_empty())
            {
                if !outcomes.is_empty() {
                    place = Place::new(self);
                }
                outcomes.extend(self.gather_some(place.seq, left).await);
            }
            drop(place);
            outcomes
        }
    }

    /// Returns the outcomes of the first of these children: one record has as many as fit.
    async fn gather_some(&self, seq: i32, children: &[TaskId]) -> Vec<Outcome> {
        self.refuse_engines().await;
        let args_hash = hash(&serde_json::to_string(children).unwrap_or_default());
        let lookup = self.look_up(seq, "gather", Some(&args_hash)).await;
        let record = match lookup {
            Lookup::Ended(record) => record,
            Lookup::New(_) | Lookup::Wait => {
                let outcomes = loop {
                    self.wait_for_children(seq, children).await;
                    if let Some(outcomes) = self.read_outcomes(children).await {
                        break outcomes;
                    }
                };
                // A record of the kind `Failed` is deleted when an operator resubmits the task,
                // which then looks at its children again.
                let error = outcomes.iter().find_map(Outcome::failure);
                let kind = match error {
                    None => RecordKind::Done,
                    Some(_) => RecordKind::Failed,
                };
                let record = Record {
                    result: serde_json::to_string(&outcomes).ok(),
                    error: error.map(|error| storable(&error)),
                    args_hash: Some(args_hash),
                    ..self.new_record(seq, kind, "gather")
                };
                self.finish(record).await
            }
        };
        // From the record, also the first time: an operator may resubmit a child later, and a
        // replay must return the same.
        let result = record.result.as_deref().unwrap_or_default();
        match serde_json::from_str::<Vec<Outcome>>(result) {
            Ok(outcomes) if !outcomes.is_empty() && outcomes.len() <= children.len() => outcomes,
            Ok(_) => self.stop(unreadable(&record, "other children")).await,
            Err(error) => self.stop(unreadable(&record, &error.to_string())).await,
        }
    }

    /// Waits until all of these children have ended. The task goes on only then, if it waits for nothing
    /// else.
    async fn wait_for_children(&self, seq: i32, children: &[TaskId]) {
        let _waiting = Waiting::new(self, seq, None);
        loop {
            let mut changed = pin!(self.inner.changed.notified());
            changed.as_mut().enable();
            let left = {
                let ended = self.inner.ended_children();
                children
                    .iter()
                    .filter(|child| !ended.contains(child))
                    .count()
            };
            if left == 0 {
                return;
            }
            self.inner.journal().await_ends(seq, left);
            changed.await;
        }
    }

    /// Reads how the first of these children have ended. Returns `None` if one goes on, because an
    /// operator has resubmitted it.
    async fn read_outcomes(&self, children: &[TaskId]) -> Option<Vec<Outcome>> {
        let _active = self.active();
        let Some(store) = &self.inner.store else {
            self.stop(Stop::Unavailable).await
        };
        let mut outcomes = Vec::new();
        let mut size = 0_usize;
        for id in children.iter().take(CHUNK) {
            let outcome = match store.task(*id).await {
                Ok(Some(task)) if !task.state.has_ended() => {
                    if let Some(stop) = self.unheard(*id) {
                        self.stop(stop).await;
                    }
                    self.inner.ended_children().remove(id);
                    return None;
                }
                Ok(Some(task)) => Outcome::of(task),
                Ok(None) => {
                    let gone = format!(
                        "child {id} is not in the store, so nobody knows how it ended: somebody has deleted it"
                    );
                    self.stop(Stop::Diverged(gone)).await
                }
                Err(error) if error.is_passing() => self.stop(Stop::Unavailable).await,
                Err(error) => self.stop(refused("gather", &error)).await,
            };
            size = size.saturating_add(outcome.size());
            if size > self.inner.limits.max_payload && !outcomes.is_empty() {
                break;
            }
            outcomes.push(outcome);
        }
        Some(outcomes)
    }

    /// Returns the stop for a child of the original of this fork that goes on: its end is signaled to the original
    /// alone.
    fn unheard(&self, child: TaskId) -> Option<Stop> {
        let origin = self.inner.task.copies()?;
        let id = child.to_string();
        let is_end = |signal: &Signal| signal.name == CHILD_ENDED && signal.payload == id;
        if self.inner.signals().iter().any(is_end) {
            return None;
        }
        Some(Stop::Refused(format!(
            "child {child} goes on, and was started by task {}, of which this one is a fork: resubmit this one when it has ended",
            origin.task
        )))
    }

    /// Parks the task if an engine keeps its record.
    async fn refuse_engines(&self) {
        if self.inner.engine_calls().is_some() {
            let message =
                "children need a store of this crate; call the other workflow through the engine";
            self.stop(Stop::Refused(message.to_owned())).await;
        }
    }
}

/// Returns the stop for a child that cannot be stored or read.
fn refused(name: &str, error: &StoreError) -> Stop {
    Stop::Refused(format!("`{name}` failed: {error}"))
}

/// Returns the stop for a record of a child that does not fit.
fn unreadable(record: &Record, why: &str) -> Stop {
    let Record { seq, name, .. } = record;
    Stop::Diverged(format!(
        "the record of call {seq} `{name}` cannot be read ({why}): the code of the workflow has changed; \
         raise its `version` and let tasks of the old version finish with the old code"
    ))
}
