//! What a workflow asks for when an engine elsewhere keeps its record and its time: here nothing begins by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Waker;

use crate::time::Time;

/// What is asked for and has not ended, and what of it may run.
#[derive(Debug, Default)]
pub(crate) struct Paced {
    open: BTreeMap<i32, Open>,
    /// What a command of the journal named: in this life of the task or in another it may have begun.
    named: BTreeSet<i32>,
    /// What of it may begin here.
    allowed: BTreeSet<i32>,
    /// A step gave up here; what runs beside it goes on.
    failure: Option<String>,
    held: Vec<Waker>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) name: String,
    pub(crate) wait: Option<Wait>,
}

/// A timer, or a signal that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) due: Option<Time>,
    pub(crate) is_signal: bool,
}

impl Paced {
    pub(crate) fn asked(&mut self, seq: i32, name: &str, wait: Option<Wait>) {
        let name = name.to_owned();
        self.open.insert(seq, Open { name, wait });
    }

    /// It has ended, or nobody wants it any more.
    pub(crate) fn closed(&mut self, seq: i32) {
        self.open.remove(&seq);
        self.named.remove(&seq);
        self.allowed.remove(&seq);
    }

    pub(crate) fn may_begin(&self, seq: i32) -> bool {
        self.allowed.contains(&seq)
    }

    /// To be woken when something has changed.
    pub(crate) fn hold(&mut self, waker: &Waker) {
        self.held.push(waker.clone());
    }

    /// Who is to be woken.
    pub(crate) fn take_held(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.held)
    }

    /// All steps that are open go into the next command.
    pub(crate) fn name(&mut self) {
        let steps = self.open.iter().filter(|(_, open)| open.wait.is_none());
        self.named.extend(steps.map(|(seq, _)| *seq));
    }

    /// The steps of the next command.
    pub(crate) fn steps(&self) -> Vec<&str> {
        let steps = self.named.iter().filter_map(|seq| self.open.get(seq));
        steps.map(|open| open.name.as_str()).collect()
    }

    /// The command is executed here. After a failure nothing new begins.
    pub(crate) fn allow(&mut self) {
        if self.failure.is_none() {
            self.allowed.clone_from(&self.named);
        }
    }

    /// A step is to be run again, in another life of the task. The first reason holds.
    pub(crate) fn failed(&mut self, message: String) {
        self.failure.get_or_insert(message);
    }

    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// What may have begun will not end.
    pub(crate) fn give_up(&mut self) {
        self.named.clear();
        self.allowed.clear();
        self.failure = None;
    }

    pub(crate) fn get(&self, seq: i32) -> Option<&Open> {
        self.open.get(&seq)
    }

    /// Timers and signals, in the order in which they were asked for.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (i32, &str, Wait)> {
        self.open
            .iter()
            .filter_map(|(seq, open)| Some((*seq, open.name.as_str(), open.wait?)))
    }
}
