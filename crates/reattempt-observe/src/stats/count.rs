//! Where it is counted: a lock for each operation, which only failures take.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use super::breakers;
use super::snapshot::{LastError, OperationStats, Stats};
use crate::event::{CallInfo, Event};
use reattempt_core::{GiveUpReason, RetryCause};

/// Operations that are kept apart.
const OPERATIONS: usize = 1000;
/// Those that came later.
const OTHERS: &str = "(others)";
/// Characters of an error's message that are kept.
const MESSAGE: usize = 500;

static COUNTED: Operations = Operations::new();

/// Counts an event.
pub(crate) fn report(event: &Event<'_>) {
    COUNTED.report(event);
}

/// What was counted so far.
pub(super) fn snapshot(at: SystemTime) -> Stats {
    Stats {
        breakers: breakers::show(),
        ..COUNTED.snapshot(at)
    }
}

/// Forgets what was counted so far, of all operations: for tests.
pub fn reset() {
    COUNTED.reset();
}

/// A map that nearly always is only read, of what is counted by operation.
pub(super) struct Operations {
    by_name: RwLock<BTreeMap<&'static str, Arc<Mutex<OperationStats>>>>,
}

impl Operations {
    pub(super) const fn new() -> Self {
        Self {
            by_name: RwLock::new(BTreeMap::new()),
        }
    }

    pub(super) fn report(&self, event: &Event<'_>) {
        let Some(facts) = event.facts() else {
            return;
        };
        let operation = self.operation(facts.operation);
        // Numbers are whole wherever somebody panicked: what was counted then is at most one short.
        let mut operation = operation.lock().unwrap_or_else(PoisonError::into_inner);
        operation.count(event);
    }

    fn operation(&self, name: &'static str) -> Arc<Mutex<OperationStats>> {
        let by_name = self.by_name.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(operation) = by_name.get(name) {
            return Arc::clone(operation);
        }
        drop(by_name);
        let mut by_name = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
        let is_apart = by_name.len() < OPERATIONS || by_name.contains_key(name);
        let name = if is_apart { name } else { OTHERS };
        let operation = by_name
            .entry(name)
            .or_insert_with(|| Arc::new(Mutex::new(OperationStats::new(name))));
        Arc::clone(operation)
    }

    pub(super) fn snapshot(&self, at: SystemTime) -> Stats {
        // Copied one by one, so that nobody who fails waits for all of them.
        let operations: Vec<_> = {
            let by_name = self.by_name.read().unwrap_or_else(PoisonError::into_inner);
            by_name.values().map(Arc::clone).collect()
        };
        let copy = |operation: Arc<Mutex<OperationStats>>| {
            let operation = operation.lock().unwrap_or_else(PoisonError::into_inner);
            operation.clone()
        };
        Stats {
            at,
            operations: operations.into_iter().map(copy).collect(),
            breakers: Vec::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn panic_while_locked(&self, name: &'static str) {
        let operation = self.operation(name);
        let _names = self.by_name.write();
        let _operation = operation.lock();
        panic!("while everything is locked");
    }

    pub(super) fn reset(&self) {
        let mut by_name = self.by_name.write().unwrap_or_else(PoisonError::into_inner);
        by_name.clear();
    }
}

impl OperationStats {
    fn count(&mut self, event: &Event<'_>) {
        match *event {
            Event::AttemptFailed(facts) => {
                add_one(&mut self.failed_attempts);
                if let Some(error) = last_error(facts) {
                    self.last_error = Some(error);
                }
            }
            Event::Retry(facts, delay) => {
                add_one(&mut self.retries);
                if let Some(cause) = facts.cause {
                    add_one_of(&mut self.causes, cause, RetryCause::as_str);
                }
                self.delay = self.delay.saturating_add(delay);
            }
            Event::Recovered(_) => add_one(&mut self.recoveries),
            Event::Dropped(_) => add_one(&mut self.dropped),
            Event::GaveUp(_, reason) => {
                add_one_of(&mut self.give_ups, reason, GiveUpReason::as_str);
            }
            Event::CopyStarted(..) => add_one(&mut self.copies),
            Event::HedgeWon(_, 1..) => add_one(&mut self.copies_won),
            Event::HedgeWon(_, 0)
            | Event::BreakerChanged(_)
            | Event::TimeoutIgnored(_)
            | Event::InvalidPolicy { .. }
            | Event::Reloaded { .. }
            | Event::ReloadRefused(_)
            | Event::RetriesSwitched { .. } => {}
        }
    }
}

fn add_one(count: &mut u64) {
    *count = count.saturating_add(1);
}

/// Counts one of this kind; the kinds stay in the order of their words.
fn add_one_of<K: Copy + Eq>(counts: &mut Vec<(K, u64)>, kind: K, word: fn(K) -> &'static str) {
    if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == kind) {
        add_one(count);
        return;
    }
    counts.push((kind, 1));
    counts.sort_by_key(|(kind, _)| word(*kind));
}

fn last_error(facts: &CallInfo<'_>) -> Option<LastError> {
    let error = facts.error?;
    let message = error.message.as_deref();
    Some(LastError {
        kind: error.kind,
        message: message.map(|message| message.chars().take(MESSAGE).collect()),
        at: facts.ended_at,
    })
}
