//! What a task has done so far, and in which order its workflow gets the results: without I/O and
//! without a clock.
//!
//! Whenever another process takes over a task, it runs the workflow again from its start. The
//! workflow comes to the same point because it gets all results - of steps, timers and signals -
//! one at a time and in the order in which the store recorded them, even where it waits for several
//! of them at once.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::task::Waker;

use crate::store::last_outcome::{LastOutcome, Milestone};
use crate::task::{Direction, Record, RecordKind};
use crate::time::Time;

/// A longer record takes a while to be read.
const LONG: usize = 100;

/// The journal of one task that one worker runs.
#[derive(Debug)]
pub(crate) struct Journal {
    next_seq: i32,
    next_ord: i32,
    /// The place of the last record that is a copy; -1 if the task is not a fork.
    copied: i32,
    /// How many calls of each name the workflow has made.
    calls: HashMap<Cow<'static, str>, u32>,
    /// The outcomes of calls, by number: recorded ones, and new ones until the workflow gets them.
    outcomes: HashMap<i32, Record>,
    begun: HashMap<i32, Record>,
    undone: HashSet<i32>,
    /// How many signals of each name the workflow has received.
    received: HashMap<String, usize>,
    /// The calls whose outcome the workflow has not got yet, in the order of the record.
    deliveries: VecDeque<i32>,
    /// How many of these come from the history.
    replaying: usize,
    /// The calls whose outcome is not on disk yet.
    unwritten: HashSet<i32>,
    may_deliver: bool,
    /// Whether the workflow has made a recorded call since the last poll, for the first time.
    has_new_request: bool,
    /// The calls of the history.
    recorded: Vec<(i32, String)>,
    /// The calls of the history that the workflow has made again.
    requested: HashSet<i32>,
    /// The calls without an outcome in the history that the workflow has made again.
    resumed: HashSet<i32>,
    /// The call that was woken because the workflow had not polled it.
    woken: Option<i32>,
    /// The wakers of the calls that wait for their outcome.
    waiting: HashMap<i32, Waker>,
    /// The wakers of the calls that may start when the history is over.
    blocked: Vec<Waker>,
    /// The calls whose result the workflow does not want any more.
    abandoned: HashSet<i32>,
    /// Whether no new call may start.
    closed: bool,
    active: usize,
    due: BTreeMap<i32, Option<Time>>,
    awaited_ends: BTreeMap<i32, u32>,
    now: Time,
    last_outcome: LastOutcome,
    /// The calls that may have to be undone, and what they are.
    undoable: BTreeMap<i32, String>,
    /// What the workflow has asked to continue with.
    continuation: Option<Continuation>,
    stop: Option<Stop>,
    /// The failures that the workflow has got: the steps and their errors.
    failures: Vec<(i32, String)>,
    /// The call whose outcome the workflow got last.
    last: Option<i32>,
}

/// What a workflow has asked to continue with.
#[derive(Debug)]
pub(crate) struct Continuation {
    pub(super) version: i32,
    /// The arguments, as JSON.
    pub(super) input: String,
}

/// Why a task does not continue in this process now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The code does not fit the record.
    Diverged(String),
    /// This step, or its compensation, has failed; `None` if other code of the task has.
    Failed(Option<i32>, String),
    /// Another worker holds the task.
    Lost,
    /// The store does not answer now; the task has not failed.
    Unavailable,
    /// A cancel is requested.
    Cancelled,
    /// This step has an unknown outcome.
    Ambiguous(i32, String),
    /// The store refuses a record for good.
    Refused(String),
}

impl Stop {
    /// Returns the reason as text.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Diverged(message)
            | Self::Ambiguous(_, message)
            | Self::Refused(message)
            | Self::Failed(_, message) => message,
            Self::Cancelled | Self::Lost | Self::Unavailable => "it was cancelled",
        }
    }
}

/// What the journal knows about a call.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// The call has ended, and it is its turn.
    Ended(Record),
    /// The call is to start now; the record is there if it began before.
    New(Option<Record>),
    /// Neither yet.
    Wait,
}

/// What to do after a poll of the workflow.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Poll it again: there is another result for it.
    Again,
    /// Wait: something runs that will wake it.
    Rest,
    /// Wait: steps run beside a failure or a cancellation.
    Ending(Stop),
    /// Wait: the workflow has not made this recorded call yet.
    Stalled(String),
    /// Set the task aside until this time or a signal: nothing runs.
    Idle(Option<Time>),
    /// Continue as new: nothing runs.
    Continue,
    /// Stop the task.
    Stop(Stop),
}

impl Journal {
    /// Creates the journal of a task without a history.
    pub(crate) fn new(direction: Direction, created_at: Time) -> Self {
        Self {
            next_seq: 0,
            next_ord: 0,
            copied: -1,
            calls: HashMap::new(),
            outcomes: HashMap::new(),
            begun: HashMap::new(),
            undone: HashSet::new(),
            received: HashMap::new(),
            deliveries: VecDeque::new(),
            replaying: 0,
            unwritten: HashSet::new(),
            may_deliver: false,
            has_new_request: false,
            recorded: Vec::new(),
            requested: HashSet::new(),
            resumed: HashSet::new(),
            woken: None,
            waiting: HashMap::new(),
            blocked: Vec::new(),
            abandoned: HashSet::new(),
            closed: direction != Direction::Forward,
            active: 0,
            due: BTreeMap::new(),
            awaited_ends: BTreeMap::new(),
            now: created_at,
            last_outcome: LastOutcome::new(),
            undoable: BTreeMap::new(),
            continuation: None,
            stop: None,
            failures: Vec::new(),
            last: None,
        }
    }

    /// Notes up to which place the records of a fork are copies: the original undoes those.
    pub(crate) const fn note_copies(&mut self, to: i32) {
        self.copied = to;
    }

    /// Adds the history of the task, in any order, before the workflow is polled first.
    pub(crate) fn load(&mut self, mut history: Vec<Record>) {
        history.sort_by_key(|record| record.ord);
        self.last_outcome = LastOutcome::of(&history);
        for record in history {
            self.next_ord = self.next_ord.max(record.ord.saturating_add(1));
            match record.kind {
                RecordKind::Begun => {
                    self.note_undoable(&record);
                    if record.undo.is_some() {
                        self.recorded.push((record.seq, record.name.clone()));
                    }
                    self.begun.insert(record.seq, record);
                }
                RecordKind::Undone => {
                    self.undone.insert(record.seq);
                }
                RecordKind::Done | RecordKind::Failed => {
                    self.recorded.push((record.seq, record.name.clone()));
                    self.deliver(record);
                }
            }
        }
        self.replaying = self.deliveries.len();
    }

    /// Returns the number of the next call.
    pub(crate) fn next_seq(&mut self) -> i32 {
        let seq = self.next_seq;
        self.next_seq = seq.saturating_add(1);
        seq
    }

    /// Counts a call of this name. Returns how many the workflow has made before.
    pub(crate) fn nth_call(&mut self, name: Cow<'static, str>) -> u32 {
        let calls = self.calls.entry(name).or_default();
        let nth = *calls;
        *calls = nth.saturating_add(1);
        nth
    }

    /// Returns the place of the next record among all records of the task.
    pub(crate) fn next_ord(&mut self) -> i32 {
        let ord = self.next_ord;
        self.next_ord = ord.saturating_add(1);
        ord
    }

    /// Looks up the call `seq`. The waker wakes the caller when a second look makes sense.
    pub(crate) fn look_up(
        &mut self,
        seq: i32,
        name: &str,
        args_hash: Option<&str>,
        waker: &Waker,
    ) -> Lookup {
        if self.stop.is_some() {
            return Lookup::Wait;
        }
        let known = self.outcomes.get(&seq).or_else(|| self.begun.get(&seq));
        if let Some(record) = known
            && record.name != name
        {
            let message = format!(
                "step {seq} was `{}` when it was recorded and is `{name}` now: the code of the workflow has changed; \
                 restore the old code and resubmit the task, or raise its `version` and let tasks of the old version finish with the old code",
                record.name
            );
            self.stop = Some(Stop::Diverged(message));
            return Lookup::Wait;
        }
        // A task that goes back undoes its steps with the recorded arguments.
        let recorded = known.and_then(|record| record.args_hash.as_deref());
        if let (Some(recorded), Some(now)) = (recorded, args_hash)
            && recorded != now
            && !self.closed
        {
            self.stop = Some(Stop::Diverged(other_arguments(seq, name)));
            return Lookup::Wait;
        }
        if self.outcomes.contains_key(&seq) {
            // As in the first run: the workflow gets a result only after it has made all its calls.
            if self.requested.insert(seq) {
                self.has_new_request = true;
                self.wait(seq, waker);
                return Lookup::Wait;
            }
            return match self.take_outcome(seq, waker) {
                Some(record) => Lookup::Ended(record),
                None => Lookup::Wait,
            };
        }
        if self.begun.contains_key(&seq) {
            self.resumed.insert(seq);
        }
        if self.replaying > 0 || self.closed {
            self.blocked.push(waker.clone());
            return Lookup::Wait;
        }
        self.waiting.remove(&seq);
        Lookup::New(self.begun.get(&seq).cloned())
    }

    /// Takes the outcome of `seq`, if it is its turn.
    pub(crate) fn take_outcome(&mut self, seq: i32, waker: &Waker) -> Option<Record> {
        let is_next = self.deliveries.front() == Some(&seq) && !self.unwritten.contains(&seq);
        if !is_next || !self.may_deliver || self.stop.is_some() {
            self.wait(seq, waker);
            return None;
        }
        self.pop();
        self.may_deliver = false;
        self.waiting.remove(&seq);
        let record = self.outcomes.remove(&seq)?;
        self.last = Some(seq);
        if let Some(error) = &record.error {
            self.failures.push((seq, error.clone()));
        }
        self.now = self.now.max(record.at);
        Some(record)
    }

    fn wait(&mut self, seq: i32, waker: &Waker) {
        self.waiting.insert(seq, waker.clone());
    }

    fn pop(&mut self) {
        if self.deliveries.pop_front().is_some() {
            self.replaying = self.replaying.saturating_sub(1);
        }
    }

    /// Notes that the workflow does not want the result of `seq` any more.
    pub(crate) fn abandon(&mut self, seq: i32) {
        self.waiting.remove(&seq);
        self.abandoned.insert(seq);
    }

    /// Adds a record of a call that began.
    pub(crate) fn add_begun(&mut self, record: Record) {
        self.begun.insert(record.seq, record);
    }

    /// Adds the outcome of a call, which is not on disk yet.
    pub(crate) fn add_unwritten(&mut self, record: Record) {
        self.unwritten.insert(record.seq);
        self.deliver(record);
    }

    /// Forgets an outcome that was not written and never will be.
    pub(crate) fn withdraw(&mut self, seq: i32) {
        if !self.unwritten.remove(&seq) {
            return;
        }
        self.deliveries.retain(|other| *other != seq);
        if let Some(record) = self.outcomes.remove(&seq)
            && let Some(received) = self.received.get_mut(&record.name)
        {
            *received = received.saturating_sub(1);
        }
    }

    /// Queues an outcome for the workflow.
    fn deliver(&mut self, record: Record) {
        self.note_undoable(&record);
        // The signals of a copy came to the original.
        if record.result.is_some() && record.ord > self.copied {
            match self.received.get_mut(&record.name) {
                Some(received) => *received = received.saturating_add(1),
                None => drop(self.received.insert(record.name.clone(), 1)),
            }
        }
        // A transaction on another thread may have come in between: a replay has the order of the
        // records.
        let seq = record.seq;
        let last = self
            .deliveries
            .back()
            .and_then(|seq| self.outcomes.get(seq));
        let is_early = last.is_some_and(|last| last.ord > record.ord);
        self.deliveries.push_back(seq);
        self.outcomes.insert(seq, record);
        if is_early {
            let ord = |seq: &i32| self.outcomes.get(seq).map(|record| record.ord);
            self.deliveries.make_contiguous().sort_by_key(ord);
        }
    }

    /// Returns how many outcomes of this name have a result, without copies.
    pub(crate) fn count_received(&self, name: &str) -> usize {
        self.received.get(name).copied().unwrap_or_default()
    }

    /// Notes that the outcome of `seq` is on disk since `at`.
    pub(crate) fn mark_written(&mut self, seq: i32, at: Time) {
        self.unwritten.remove(&seq);
        if let Some(record) = self.outcomes.get_mut(&seq) {
            record.at = at;
        }
    }

    /// Sets the result of `seq`, which is known only after it is written.
    pub(crate) fn set_result(&mut self, seq: i32, result: String) {
        if let Some(record) = self.outcomes.get_mut(&seq) {
            record.result = Some(result);
        }
    }

    /// Notes that a record is on disk. Returns whether it is progress.
    pub(crate) fn add_written(&mut self, record: Milestone) -> bool {
        let before = self.last_outcome.ord();
        self.last_outcome.add(record);
        self.last_outcome.ord() > before
    }

    /// Returns the place of the newest outcome on disk; -1 if there is none.
    pub(crate) const fn progress(&self) -> i32 {
        self.last_outcome.ord()
    }

    /// Counts something that runs by itself.
    pub(crate) fn add_active(&mut self) {
        self.active = self.active.saturating_add(1);
    }

    /// Counts something that has ended.
    pub(crate) fn remove_active(&mut self) {
        self.active = self.active.saturating_sub(1);
    }

    /// Returns how many things run by themselves.
    pub(crate) const fn active(&self) -> usize {
        self.active
    }

    /// Notes that the call `seq` waits until `due`, or for a signal without a limit.
    pub(crate) fn add_wait(&mut self, seq: i32, due: Option<Time>) {
        self.due.insert(seq, due);
    }

    /// Notes that the call `seq` does not wait any more.
    pub(crate) fn remove_wait(&mut self, seq: i32) {
        self.due.remove(&seq);
        self.awaited_ends.remove(&seq);
    }

    /// Notes that the call `seq` waits until so many more children have ended.
    pub(crate) fn await_ends(&mut self, seq: i32, ends: usize) {
        self.awaited_ends
            .insert(seq, u32::try_from(ends).unwrap_or(u32::MAX));
    }

    /// Returns after how many ends of children a call may go on; `None` if none waits for children.
    pub(crate) fn awaited_ends(&self) -> Option<u32> {
        self.awaited_ends.values().min().copied()
    }

    /// Returns whether the task waits for children and has a long record: it is read at each wake.
    pub(crate) fn is_slow_to_wake(&self) -> bool {
        self.recorded.len() > LONG && self.awaited_ends().is_some()
    }

    /// Returns the time of the result that the workflow got last.
    pub(crate) const fn now(&self) -> Time {
        self.now
    }

    /// Stops the task. The first reason counts.
    pub(crate) fn stop(&mut self, stop: Stop) {
        let counts = match &self.stop {
            None => true,
            // A lost task is lost, whatever else went wrong.
            Some(Stop::Lost) => false,
            // So is one whose failure cannot be stored.
            Some(_) => matches!(stop, Stop::Lost | Stop::Unavailable),
        };
        if counts {
            self.stop = Some(stop);
        }
    }

    /// Returns why the task stops.
    pub(crate) fn stop_reason(&self) -> Option<Stop> {
        self.stop.clone()
    }

    /// Prepares for a poll of the workflow, which may then take one outcome.
    pub(crate) const fn before_poll(&mut self) {
        self.may_deliver = true;
        self.has_new_request = false;
    }

    /// Returns what to do after a poll that left the workflow waiting, and the wakers to wake.
    pub(crate) fn after_poll(&mut self) -> (Next, Vec<Waker>) {
        let mut wakers = Vec::new();
        let next = self.next(&mut wakers);
        if self.replaying == 0 && !self.closed {
            wakers.append(&mut self.blocked);
        }
        (next, wakers)
    }

    /// Decides what to do after a poll, and collects the wakers to wake.
    fn next(&mut self, wakers: &mut Vec<Waker>) -> Next {
        match &self.stop {
            // Steps that run beside it may end and be recorded: otherwise they would have to run
            // again.
            Some(stop @ (Stop::Failed(..) | Stop::Cancelled)) if self.active > 0 => {
                return Next::Ending(stop.clone());
            }
            Some(stop) => return Next::Stop(stop.clone()),
            None => {}
        }
        let has_delivered = !std::mem::replace(&mut self.may_deliver, false);
        if has_delivered || self.has_new_request {
            return Next::Again;
        }
        if let Some(front) = self.deliveries.front().copied() {
            if self.abandoned.contains(&front) {
                self.pop();
                self.outcomes.remove(&front);
                return Next::Again;
            }
            // Some combinators poll only the futures that were woken.
            if !self.unwritten.contains(&front)
                && self.woken != Some(front)
                && let Some(waker) = self.waiting.get(&front)
            {
                self.woken = Some(front);
                wakers.push(waker.clone());
                return Next::Again;
            }
            if self.replaying > 0 {
                let name = self.outcomes.get(&front).map_or("", |record| &record.name);
                return Next::Stalled(format!("step {front} `{name}`"));
            }
            return Next::Rest;
        }
        if self.closed {
            return Next::Idle(None);
        }
        if self.active > 0 {
            return Next::Rest;
        }
        if self.continuation.is_some() {
            return Next::Continue;
        }
        if self.due.is_empty() {
            return Next::Rest;
        }
        Next::Idle(self.due.values().copied().flatten().min())
    }

    /// Returns a message if the workflow has ended, or has got everything, and has not made every
    /// recorded call again.
    pub(crate) fn missing_request(&self) -> Option<String> {
        let mut recorded = self.recorded.iter();
        let (seq, name) = recorded
            .find(|(seq, _)| !self.requested.contains(seq) && !self.resumed.contains(seq))?;
        Some(format!(
            "the workflow did not call step {seq} `{name}`, which is recorded: its code has changed; restore the old code and \
             resubmit the task, or raise its `version` and let tasks of the old version finish with the old code"
        ))
    }

    /// Notes whether a call with this record may have to be undone.
    pub(crate) fn note_undoable(&mut self, record: &Record) {
        let Record {
            seq, name, undo, ..
        } = record;
        let what = match (record.kind, undo) {
            (RecordKind::Begun, _) if !record.begins_wait() => {
                format!("nobody knows whether step {seq} `{name}` was done")
            }
            (RecordKind::Done, Some(undo)) => format!("`{undo}` may have to undo {seq} `{name}`"),
            _ => {
                self.undoable.remove(seq);
                return;
            }
        };
        self.undoable.insert(*seq, what);
    }

    /// Returns why the task cannot continue as new, if it cannot.
    pub(crate) fn why_not_continue(&self) -> Option<String> {
        let what = self.undoable.values().next()?;
        Some(format!(
            "the task cannot continue as new, because {what}, and the next generation does not know of it: put what has to be undone into a \
             child with `detached`, or let this workflow return"
        ))
    }

    /// Notes what the workflow asks to continue with; `None` if it does not any more.
    pub(crate) fn continue_with(&mut self, next: Option<Continuation>) {
        self.continuation = next;
    }

    /// Takes what the workflow has asked to continue with.
    pub(crate) const fn take_continuation(&mut self) -> Option<Continuation> {
        self.continuation.take()
    }

    /// Returns the record of step `seq` if it was done, or has begun and not ended, and was not
    /// undone. A copy is not this task's to undo.
    pub(crate) fn record_to_undo(&self, seq: i32) -> Option<&Record> {
        let record = self.outcomes.get(&seq).or_else(|| self.begun.get(&seq))?;
        let is_own = record.kind != RecordKind::Failed && record.ord > self.copied;
        (self.closed && is_own && !self.undone.contains(&seq)).then_some(record)
    }

    /// Returns the step whose failure ended the workflow with this error: the newest one with an
    /// error that is in the text, or one that was the last thing that the workflow got.
    pub(crate) fn failed_seq(&self, error: &str) -> Option<i32> {
        let mut newest_first = self.failures.iter().rev();
        let is_in = |(_, part): &&(i32, String)| !part.is_empty() && error.contains(part);
        let last = self
            .failures
            .last()
            .filter(|(seq, _)| Some(*seq) == self.last);
        let found = newest_first.find(is_in).or(last);
        found.map(|(seq, _)| *seq)
    }

    /// Returns whether a step was undone before.
    pub(crate) fn has_undone(&self) -> bool {
        !self.undone.is_empty()
    }
}

/// Returns the message for a step whose recorded arguments differ from those of now.
pub(super) fn other_arguments(seq: i32, name: &str) -> String {
    format!(
        "step {seq} `{name}` was recorded with other arguments than it has now: the code of the workflow has changed, or it uses \
         something from outside its steps; restore the old code and resubmit the task, or raise its `version` and let tasks of the \
         old version finish with the old code; `#[step(args = \"ignore\")]` does not compare arguments"
    )
}

#[cfg(test)]
mod tests;
