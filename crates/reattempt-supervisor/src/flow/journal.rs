//! What a task has done so far, and in which order its workflow may hear of it: no I/O, no clock.
//!
//! A workflow is code that is run again from its start whenever another process takes it over. It comes to the same
//! point because all that it can hear of - outcomes of steps, timers, signals - comes to it one at a time and in the
//! order in which it was recorded, also where it waits for several things at once.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::task::Waker;

use crate::task::{Direction, Kind, Record};
use crate::time::Time;

/// The journal of one task in the hands of one worker.
#[derive(Debug)]
pub(crate) struct Journal {
    next_seq: i32,
    next_ord: i32,
    /// How asked-for things ended, by seq; live ones too, from when they are recorded until they are delivered.
    outcomes: HashMap<i32, Record>,
    begun: HashMap<i32, Record>,
    undone: HashSet<i32>,
    /// How many signals of a name were heard.
    heard: HashMap<String, usize>,
    /// What ended and was not delivered yet, in that order.
    deliveries: VecDeque<i32>,
    /// How many of these are history.
    replaying: usize,
    /// Written down, but not yet on disk.
    unwritten: HashSet<i32>,
    may_deliver: bool,
    /// Somebody asked for the first time for what is history.
    is_new_asked: bool,
    /// What is history.
    recorded: Vec<(i32, String)>,
    /// Of this, what was asked for.
    found: HashSet<i32>,
    /// Who was woken because nobody polled it.
    woken: Option<i32>,
    /// Who waits for what.
    waiting: HashMap<i32, Waker>,
    /// Who may begin as soon as the history is heard.
    held: Vec<Waker>,
    /// Whoever asked for it does not want it any more.
    dropped: HashSet<i32>,
    /// Nothing new begins.
    closed: bool,
    active: usize,
    due: BTreeMap<i32, Option<Time>>,
    now: Time,
    stop: Option<Stop>,
}

/// Why a task does not go on here and now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The code does not fit what was recorded.
    Diverged(String),
    /// It counts as a failure.
    Failed(String),
    /// Another worker holds it.
    Lost,
    /// Somebody wants it cancelled.
    Cancelled,
    /// Nobody knows whether it was executed.
    Ambiguous(String),
}

/// What somebody who asks for a step gets.
#[derive(Debug)]
pub(crate) enum Asked {
    /// How it ended.
    Ended(Record),
    /// It is to be done now; the record is there if it has begun before.
    New(Option<Record>),
    /// Neither yet.
    Wait,
}

/// What is left to do after the workflow was polled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Poll it again: there is more for it to hear.
    Again,
    /// Something runs that will wake it.
    Rest,
    /// Of what it heard before, this was not asked for (yet).
    Stalled(String),
    /// Nothing runs; until this moment, or a signal.
    Idle(Option<Time>),
    /// It does not go on.
    Stop(Stop),
}

impl Journal {
    pub(crate) fn new(history: Vec<Record>, direction: Direction, created_at: Time) -> Self {
        let mut journal = Self {
            next_seq: 0,
            next_ord: 0,
            outcomes: HashMap::new(),
            begun: HashMap::new(),
            undone: HashSet::new(),
            heard: HashMap::new(),
            deliveries: VecDeque::new(),
            replaying: 0,
            unwritten: HashSet::new(),
            may_deliver: false,
            is_new_asked: false,
            recorded: Vec::new(),
            found: HashSet::new(),
            woken: None,
            waiting: HashMap::new(),
            held: Vec::new(),
            dropped: HashSet::new(),
            closed: direction != Direction::Forward,
            active: 0,
            due: BTreeMap::new(),
            now: created_at,
            stop: None,
        };
        let mut history = history;
        history.sort_by_key(|record| record.ord);
        for record in history {
            journal.next_ord = journal.next_ord.max(record.ord.saturating_add(1));
            match record.kind {
                Kind::Begun => {
                    journal.begun.insert(record.seq, record);
                }
                Kind::Undone => {
                    journal.undone.insert(record.seq);
                }
                Kind::Done | Kind::Failed => {
                    journal.recorded.push((record.seq, record.name.clone()));
                    journal.deliver(record);
                }
            }
        }
        journal.replaying = journal.deliveries.len();
        journal
    }

    /// The number of what is asked for now.
    pub(crate) fn next_seq(&mut self) -> i32 {
        let seq = self.next_seq;
        self.next_seq = seq.saturating_add(1);
        seq
    }

    /// The place of the next record among all.
    pub(crate) fn next_ord(&mut self) -> i32 {
        let ord = self.next_ord;
        self.next_ord = ord.saturating_add(1);
        ord
    }

    /// Somebody asks for `seq` by its name.
    pub(crate) fn asked(&mut self, seq: i32, name: &str, waker: &Waker) -> Asked {
        if self.stop.is_some() {
            return Asked::Wait;
        }
        let known = self.outcomes.get(&seq).or_else(|| self.begun.get(&seq));
        if let Some(record) = known
            && record.name != name
        {
            let message = format!(
                "step {seq} was `{}` when it was recorded and is `{name}` now: the code of the workflow has changed; \
                 put the old code back and resubmit the task, or raise its `version` and let tasks of the old one end with the old code",
                record.name
            );
            self.stop = Some(Stop::Diverged(message));
            return Asked::Wait;
        }
        if self.outcomes.contains_key(&seq) {
            // As when it was new: what was asked for is answered only after everything else was asked for, too.
            if self.found.insert(seq) {
                self.is_new_asked = true;
                self.wait(seq, waker);
                return Asked::Wait;
            }
            return match self.delivered(seq, waker) {
                Some(record) => Asked::Ended(record),
                None => Asked::Wait,
            };
        }
        if self.replaying > 0 || self.closed {
            self.held.push(waker.clone());
            return Asked::Wait;
        }
        self.waiting.remove(&seq);
        Asked::New(self.begun.get(&seq).cloned())
    }

    /// The outcome of `seq`, if it is its turn.
    pub(crate) fn delivered(&mut self, seq: i32, waker: &Waker) -> Option<Record> {
        let is_next = self.deliveries.front() == Some(&seq) && !self.unwritten.contains(&seq);
        if !is_next || !self.may_deliver || self.stop.is_some() {
            self.wait(seq, waker);
            return None;
        }
        self.pop();
        self.may_deliver = false;
        self.waiting.remove(&seq);
        let record = self.outcomes.remove(&seq)?;
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

    /// Nobody wants `seq` any more.
    pub(crate) fn dropped(&mut self, seq: i32) {
        self.waiting.remove(&seq);
        self.dropped.insert(seq);
    }

    /// It is recorded that something began.
    pub(crate) fn began(&mut self, record: Record) {
        self.begun.insert(record.seq, record);
    }

    /// Something ended and is about to be written.
    pub(crate) fn ended(&mut self, record: Record) {
        self.unwritten.insert(record.seq);
        self.deliver(record);
    }

    fn deliver(&mut self, record: Record) {
        if record.result.is_some() {
            let heard = self.heard.entry(record.name.clone()).or_default();
            *heard = heard.saturating_add(1);
        }
        self.deliveries.push_back(record.seq);
        self.outcomes.insert(record.seq, record);
    }

    /// How many things of this name were told with an answer.
    pub(crate) fn count_heard(&self, name: &str) -> usize {
        self.heard.get(name).copied().unwrap_or_default()
    }

    /// It is on disk.
    pub(crate) fn written(&mut self, seq: i32, at: Time) {
        self.unwritten.remove(&seq);
        if let Some(record) = self.outcomes.get_mut(&seq) {
            record.at = at;
        }
    }

    /// Something began that will go on by itself.
    pub(crate) fn begin(&mut self) {
        self.active = self.active.saturating_add(1);
    }

    /// It is over.
    pub(crate) fn end(&mut self) {
        self.active = self.active.saturating_sub(1);
    }

    /// How much goes on by itself.
    pub(crate) const fn active(&self) -> usize {
        self.active
    }

    /// Somebody waits until `due`, or for a signal without a limit.
    pub(crate) fn wait_until(&mut self, seq: i32, due: Option<Time>) {
        self.due.insert(seq, due);
    }

    /// Not any more.
    pub(crate) fn wait_no_more(&mut self, seq: i32) {
        self.due.remove(&seq);
    }

    /// The moment of what the workflow heard last.
    pub(crate) const fn now(&self) -> Time {
        self.now
    }

    /// The first reason holds.
    pub(crate) fn stop(&mut self, stop: Stop) {
        // What is lost is lost, whatever else went wrong.
        if self.stop.is_none() || stop == Stop::Lost {
            self.stop = Some(stop);
        }
    }

    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stop.clone()
    }

    /// The workflow is about to be polled.
    pub(crate) const fn poll(&mut self) {
        self.may_deliver = true;
        self.is_new_asked = false;
    }

    /// It was polled, and waits. Those who are to be woken come along.
    pub(crate) fn polled(&mut self) -> (Next, Vec<Waker>) {
        let mut wakers = Vec::new();
        let next = self.next(&mut wakers);
        if self.replaying == 0 && !self.closed {
            wakers.append(&mut self.held);
        }
        (next, wakers)
    }

    fn next(&mut self, wakers: &mut Vec<Waker>) -> Next {
        match &self.stop {
            // What runs beside it may end and be written down: else it would have to be done again.
            Some(Stop::Failed(_) | Stop::Cancelled) if self.active > 0 => return Next::Rest,
            Some(stop) => return Next::Stop(stop.clone()),
            None => {}
        }
        let has_heard = !std::mem::replace(&mut self.may_deliver, false);
        if has_heard || self.is_new_asked {
            return Next::Again;
        }
        if let Some(front) = self.deliveries.front().copied() {
            if self.dropped.contains(&front) {
                self.pop();
                self.outcomes.remove(&front);
                return Next::Again;
            }
            // Some poll only who was woken.
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
        if self.active > 0 || self.due.is_empty() {
            return Next::Rest;
        }
        Next::Idle(self.due.values().copied().flatten().min())
    }

    /// What is recorded and was not asked for by a workflow that has ended, or has nothing more to hear.
    pub(crate) fn left_over(&self) -> Option<String> {
        let mut recorded = self.recorded.iter();
        let (seq, name) = recorded.find(|(seq, _)| !self.found.contains(seq))?;
        Some(format!(
            "the workflow did not ask for step {seq} `{name}`, which is recorded: its code has changed; put the old code back and \
             resubmit the task, or raise its `version` and let tasks of the old one end with the old code"
        ))
    }

    /// What step `seq` answered, if it was done and is to be undone.
    pub(crate) fn to_undo(&self, seq: i32) -> Option<&Record> {
        let record = self.outcomes.get(&seq)?;
        let is_done = record.kind == Kind::Done && !self.undone.contains(&seq);
        (self.closed && is_done).then_some(record)
    }

    /// Whether anything was undone before.
    pub(crate) fn has_undone(&self) -> bool {
        !self.undone.is_empty()
    }
}

#[cfg(test)]
mod tests;
