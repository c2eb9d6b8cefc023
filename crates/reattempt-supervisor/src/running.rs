//! The steps that this process runs. A step enters before its first poll and leaves when it ends, so
//! that a step that blocks its thread is here, too.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::events::{Event, Observers, StepEnding};
use crate::store::Write;
use crate::task::{Lease, RunningStep, WorkerId};
use crate::time::Time;

/// The store learns of steps that take longer: a report costs a write.
const REPORTED_AFTER: Duration = Duration::from_millis(250);

/// How long the record of a reported step may wait for the store before a report says that the step
/// has ended: a supervisor would take it for overdue. Shorter than its grace.
const RECORDED_WITHIN: Duration = Duration::from_millis(250);

/// A step that this process runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurrentStep {
    pub(crate) lease: Lease,
    pub(crate) seq: i32,
    pub(crate) name: &'static str,
    pub(crate) since: Time,
    pub(crate) due: Option<Time>,
}

impl CurrentStep {
    /// Returns the step as the store knows it.
    fn of(self, worker: &WorkerId) -> RunningStep {
        RunningStep {
            task: self.lease.task,
            seq: self.seq,
            fence: self.lease.fence,
            worker: worker.clone(),
            name: self.name.to_owned(),
            since: self.since,
            due: self.due,
        }
    }
}

/// The steps that one worker runs.
#[derive(Debug, Clone)]
pub(crate) struct RunningSteps {
    worker: WorkerId,
    observers: Observers,
    steps: Arc<Mutex<Steps>>,
}

#[derive(Debug, Default)]
struct Steps {
    next: u64,
    entries: BTreeMap<u64, Entry>,
    /// Reported steps that were dropped: no record removes their lines.
    dropped: Vec<(Lease, i32)>,
    /// Reported steps that have ended, and since when they wait for their record.
    unrecorded: Vec<(Lease, i32, Instant)>,
}

#[derive(Debug)]
struct Entry {
    step: CurrentStep,
    entered: Instant,
    is_reported: bool,
    is_polled: Arc<AtomicBool>,
}

impl RunningSteps {
    pub(crate) fn new(worker: WorkerId, observers: Observers) -> Self {
        Self {
            worker,
            observers,
            steps: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Steps> {
        // No code of the application runs under the lock, and each change is whole, so a poisoned
        // lock guards valid data.
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the name of the worker.
    pub(crate) const fn worker(&self) -> &WorkerId {
        &self.worker
    }

    /// Enters a step of a task of this workflow. It leaves when the entry is dropped.
    pub(crate) fn enter<'r>(&'r self, step: CurrentStep, workflow: &'r str) -> StepEntry<'r> {
        self.observers.emit_with(|| Event::StepStarted {
            task: step.lease.task,
            workflow: workflow.to_owned(),
            seq: step.seq,
            step: step.name.to_owned(),
        });
        let is_polled = Arc::<AtomicBool>::default();
        let mut steps = self.lock();
        let key = steps.next;
        steps.next = key.wrapping_add(1);
        let entry = Entry {
            step,
            entered: Instant::now(),
            is_reported: false,
            is_polled: Arc::clone(&is_polled),
        };
        steps.entries.insert(key, entry);
        StepEntry {
            all: self,
            workflow,
            key,
            is_polled,
            ending: StepEnding::Unknown,
            has_ended: false,
        }
    }

    /// Sends what has changed since the last report, if anything has. A step cannot leave meanwhile,
    /// so its record comes after the report.
    pub(crate) fn report(&self, send: impl FnOnce(Write)) {
        let mut steps = self.lock();
        let ended = std::mem::take(&mut steps.dropped);
        let mut started = Vec::new();
        for entry in steps.entries.values_mut() {
            // The start of a step is not recorded: that would double the writes, and after a crash
            // an idempotent step runs again either way. Most steps end before their report.
            if !entry.is_reported && entry.entered.elapsed() >= REPORTED_AFTER {
                entry.is_reported = true;
                started.push(entry.step.of(&self.worker));
            }
        }
        if !started.is_empty() || !ended.is_empty() {
            send(Write::Running { started, ended });
        }
    }

    /// Notes that a step has its record.
    pub(crate) fn recorded(&self, lease: Lease, seq: i32) {
        let mut steps = self.lock();
        steps
            .unrecorded
            .retain(|step| (step.0, step.1) != (lease, seq));
    }

    /// Takes the steps that have waited too long for their record.
    pub(crate) fn take_late(&self) -> Vec<(Lease, i32)> {
        let mut steps = self.lock();
        // The line says that the step still runs. A supervisor would take it for overdue although
        // it was in time and only its record waits.
        let is_late = |step: &mut (Lease, i32, Instant)| step.2.elapsed() >= RECORDED_WITHIN;
        let late = steps.unrecorded.extract_if(.., is_late);
        late.map(|(lease, seq, _)| (lease, seq)).collect()
    }

    /// Puts steps back that could not be reported.
    pub(crate) fn put_back(&self, late: &[(Lease, i32)]) {
        // The time begins anew: what has failed now is not tried again at once.
        let now = Instant::now();
        let late = late.iter().map(|(lease, seq)| (*lease, *seq, now));
        self.lock().unrecorded.extend(late);
    }

    /// Returns the steps whose bodies have a thread now.
    pub(crate) fn polled(&self) -> Vec<RunningStep> {
        let steps = self.lock();
        let polled = steps
            .entries
            .values()
            .filter(|entry| entry.is_polled.load(Ordering::Relaxed));
        polled.map(|entry| entry.step.of(&self.worker)).collect()
    }

    /// Returns the tasks that run a step now.
    pub(crate) fn tasks(&self) -> HashSet<Lease> {
        let steps = self.lock();
        steps
            .entries
            .values()
            .map(|entry| entry.step.lease)
            .collect()
    }
}

/// The entry of a step that runs; dropping it removes the entry.
#[derive(Debug)]
pub(crate) struct StepEntry<'r> {
    all: &'r RunningSteps,
    workflow: &'r str,
    key: u64,
    is_polled: Arc<AtomicBool>,
    ending: StepEnding,
    has_ended: bool,
}

impl StepEntry<'_> {
    /// Runs one poll of the step.
    pub(crate) fn poll<T>(&self, poll: impl FnOnce() -> T) -> T {
        // Only the event about a blocked runtime reads the flag, so no other memory needs an order.
        self.is_polled.store(true, Ordering::Relaxed);
        let result = poll();
        self.is_polled.store(false, Ordering::Relaxed);
        result
    }

    /// Notes how the step has ended.
    pub(crate) const fn set_ending(&mut self, ending: StepEnding) {
        self.ending = ending;
    }

    /// Removes the entry of a step that has ended: its record, or the new state of its task, removes
    /// its line from the store.
    pub(crate) fn end(mut self) {
        self.has_ended = true;
    }
}

impl Drop for StepEntry<'_> {
    fn drop(&mut self) {
        let mut steps = self.all.lock();
        let Some(entry) = steps.entries.remove(&self.key) else {
            return;
        };
        // The store knows no line of a step that was not reported. That of a dropped step is
        // removed by the next report, because no record will do it.
        if entry.is_reported {
            let (lease, seq) = (entry.step.lease, entry.step.seq);
            if self.has_ended {
                steps.unrecorded.push((lease, seq, Instant::now()));
            } else {
                steps.dropped.push((lease, seq));
            }
        }
        // Observers are code of the application. They must not run under the lock, and may look at
        // steps.
        drop(steps);
        self.all.observers.emit_with(|| Event::StepEnded {
            task: entry.step.lease.task,
            workflow: self.workflow.to_owned(),
            seq: entry.step.seq,
            step: entry.step.name.to_owned(),
            ending: self.ending,
            duration: entry.entered.elapsed(),
        });
    }
}
