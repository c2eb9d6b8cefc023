//! The calls of a workflow whose record and time an engine keeps: no call starts by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Waker;

use crate::time::Time;

/// The open calls of a workflow, and which of them may run.
#[derive(Debug, Default)]
pub(crate) struct EngineCalls {
    open: BTreeMap<i32, OpenCall>,
    /// The steps that a command of the engine's journal has named. They may have started, in this
    /// run or an earlier one.
    named: BTreeSet<i32>,
    /// The steps that may start here.
    allowed: BTreeSet<i32>,
    /// Why a step gave up here; the steps beside it go on.
    failure: Option<String>,
    wakers: Vec<Waker>,
}

/// A call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenCall {
    pub(crate) name: String,
    pub(crate) wait: Option<Wait>,
}

/// A timer, or a wait for a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) due: Option<Time>,
    pub(crate) is_signal: bool,
}

impl EngineCalls {
    /// Opens a call.
    pub(crate) fn open(&mut self, seq: i32, name: &str, wait: Option<Wait>) {
        let name = name.to_owned();
        self.open.insert(seq, OpenCall { name, wait });
    }

    /// Closes a call that has ended, or whose result the workflow does not want any more.
    pub(crate) fn close(&mut self, seq: i32) {
        self.open.remove(&seq);
        self.named.remove(&seq);
        self.allowed.remove(&seq);
    }

    pub(crate) fn may_begin(&self, seq: i32) -> bool {
        self.allowed.contains(&seq)
    }

    /// Keeps a waker until something has changed.
    pub(crate) fn wake_later(&mut self, waker: &Waker) {
        self.wakers.push(waker.clone());
    }

    /// Takes the wakers, for the caller to wake.
    pub(crate) fn take_wakers(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.wakers)
    }

    /// Puts all open steps into the next command.
    pub(crate) fn name_steps(&mut self) {
        let steps = self.open.iter().filter(|(_, call)| call.wait.is_none());
        self.named.extend(steps.map(|(seq, _)| *seq));
    }

    /// Returns the names of the steps of the next command.
    pub(crate) fn named_steps(&self) -> Vec<&str> {
        let steps = self.named.iter().filter_map(|seq| self.open.get(seq));
        steps.map(|call| call.name.as_str()).collect()
    }

    /// Lets the steps of the command start. After a failure no step starts.
    pub(crate) fn allow_named_steps(&mut self) {
        if self.failure.is_none() {
            self.allowed.clone_from(&self.named);
        }
    }

    /// Notes that a step must run again, in a later run of the task. The first message counts.
    pub(crate) fn fail(&mut self, message: String) {
        self.failure.get_or_insert(message);
    }

    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Gives up the steps that may have started.
    pub(crate) fn give_up(&mut self) {
        self.named.clear();
        self.allowed.clear();
        self.failure = None;
    }

    pub(crate) fn get(&self, seq: i32) -> Option<&OpenCall> {
        self.open.get(&seq)
    }

    /// Returns the timers and the waits for signals, in the order of their calls.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (i32, &str, Wait)> {
        self.open
            .iter()
            .filter_map(|(seq, call)| Some((*seq, call.name.as_str(), call.wait?)))
    }
}
