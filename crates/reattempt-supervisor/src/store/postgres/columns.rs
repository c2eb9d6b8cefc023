//! The writes of a statement as columns: an array for each value.

use std::time::Duration;

use tokio_postgres::types::ToSql;

use crate::cell::Cell as _;
use crate::store::{Change, Wake, Write};
use crate::task::{FailingStep, Lease, NewTask, Record, RunningStep, TaskId};
use crate::time::Time;

/// A value of a statement.
type Value<'a> = &'a (dyn ToSql + Sync);

/// The columns of a statement.
pub(super) trait Columns: Send + Sync {
    /// Returns the values, in their order in the statement.
    fn values(&self) -> Vec<Value<'_>>;
}

/// Declares the columns of a statement, in their order in it, and what they have of each item of a list.
macro_rules! columns {
    ($name:ident of $item:pat in $of:ty { $($column:ident: $type:ty = $value:expr),* $(,)? }) => {
        #[derive(Debug, Default)]
        pub(super) struct $name<'a> {
            $($column: Vec<$type>,)*
            // Columns of numbers borrow nothing.
            of: std::marker::PhantomData<&'a ()>,
        }

        impl<'a> $name<'a> {
            pub(super) fn of(all: impl IntoIterator<Item = $of>) -> Self {
                let mut columns = Self::default();
                for $item in all {
                    $(columns.$column.push($value);)*
                }
                columns
            }
        }

        impl Columns for $name<'_> {
            fn values(&self) -> Vec<Value<'_>> {
                vec![$(&self.$column),*]
            }
        }
    };
}

columns! {
    Submits of new in &'a NewTask {
        workflow: &'a str = &new.workflow,
        version: i32 = new.version,
        queue: &'a str = &new.queue,
        priority: i16 = new.priority,
        key: &'a str = &new.key,
        delay: i64 = micros(new.delay),
        complete_in: Option<i64> = new.complete_by.map(micros),
        max_failures: i32 = new.max_failures,
        input: &'a str = &new.input,
        headers: Option<&'a str> = new.headers.as_deref(),
        on_failure: i16 = new.on_failure.number(),
        lane: Option<&'a str> = new.lane.as_deref(),
    }
}

columns! {
    Bounds of new in &'a NewTask {
        max_pending: Option<i64> = new.max_pending.map(i64::from),
    }
}

columns! {
    Records of (lease, record) in (&'a Lease, &'a Record) {
        task: i64 = lease.task.0,
        fence: i64 = lease.fence.0,
        seq: i32 = record.seq,
        kind: i16 = record.kind.number(),
        ord: i32 = record.ord,
        name: &'a str = &record.name,
        attempts: i32 = record.attempts,
        result: Option<&'a str> = record.result.as_deref(),
        error: Option<&'a str> = record.error.as_deref(),
        due_at: Option<i64> = record.due_at.map(Time::as_micros),
        args_hash: Option<&'a str> = record.args_hash.as_deref(),
        args: Option<&'a str> = record.args.as_deref(),
        undo: Option<&'a str> = record.undo.as_deref(),
    }
}

columns! {
    Running of step in &'a RunningStep {
        task: i64 = step.task.0,
        seq: i32 = step.seq,
        fence: i64 = step.fence.0,
        worker: &'a str = &step.worker.0,
        name: &'a str = &step.name,
        since: i64 = step.since.as_micros(),
        due: Option<i64> = step.due.map(Time::as_micros),
    }
}

columns! {
    Ended of (lease, seq) in &'a (Lease, i32) {
        task: i64 = lease.task.0,
        fence: i64 = lease.fence.0,
        seq: i32 = *seq,
    }
}

columns! {
    Changes of (lease, change) in (&'a Lease, &'a Change) {
        task: i64 = lease.task.0,
        fence: i64 = lease.fence.0,
        state: i16 = change.state.number(),
        direction: i16 = change.direction.number(),
        failures: i32 = change.counts.failures,
        output: Option<&'a str> = change.output.as_deref(),
        error: Option<&'a str> = change.error.as_deref(),
        failed_seq: Option<i32> = change.failed_seq,
        deaths: i32 = change.counts.deaths,
        failed_ord: i32 = change.counts.failed_ord,
    }
}

columns! {
    ChangesBefore of (lease, change) in (&'a Lease, &'a Change) {
        task: i64 = lease.task.0,
        fence: i64 = lease.fence.0,
        state: i16 = change.state.number(),
        direction: i16 = change.direction.number(),
        failures: i32 = change.counts.failures,
        output: Option<&'a str> = change.output.as_deref(),
        error: Option<&'a str> = change.error.as_deref(),
    }
}

columns! { Delays of delay in &'a Duration { delay: i64 = micros(*delay) } }

columns! {
    Waits of (at, seen, ends) in (&'a Time, i64, Option<u32>) {
        wake_at: i64 = at.as_micros(),
        seen: i64 = seen,
        ends: Option<i64> = ends.map(i64::from),
    }
}

columns! {
    Failures of (lease, step) in (&'a Lease, &'a FailingStep) {
        task: i64 = lease.task.0,
        fence: i64 = lease.fence.0,
        direction: i16 = step.direction.number(),
        seq: i32 = step.seq,
        count: i32 = step.failures,
        error: &'a str = &step.error,
    }
}

columns! {
    Signals of (task, name, payload, nonce) in (TaskId, &'a str, &'a str, i64) {
        task: i64 = task.0,
        name: &'a str = name,
        payload: &'a str = payload,
        nonce: i64 = nonce,
    }
}

/// Two groups of columns, one after the other.
impl<A: Columns, B: Columns> Columns for (A, B) {
    fn values(&self) -> Vec<Value<'_>> {
        self.0.values().into_iter().chain(self.1.values()).collect()
    }
}

impl Bounds<'_> {
    /// Returns whether the queue of a task has a bound.
    pub(super) fn has_any(&self) -> bool {
        self.max_pending.iter().any(Option::is_some)
    }
}

impl Ended<'_> {
    pub(super) const fn is_empty(&self) -> bool {
        self.task.is_empty()
    }
}

/// Returns the records among these writes.
pub(super) fn records<'a>(writes: impl Iterator<Item = &'a Write>) -> Records<'a> {
    Records::of(writes.filter_map(|write| match write {
        Write::Record(lease, record) => Some((lease, &**record)),
        _ => None,
    }))
}

/// Returns the signals among these writes.
pub(super) fn signals<'a>(writes: impl Iterator<Item = &'a Write>) -> Signals<'a> {
    Signals::of(writes.filter_map(|write| match write {
        Write::Signal {
            task,
            name,
            payload,
            nonce,
        } => Some((*task, &**name, &**payload, *nonce)),
        _ => None,
    }))
}

/// Returns the changes among these writes.
pub(super) fn changes<'a>(
    writes: impl Iterator<Item = &'a Write> + Clone,
) -> impl Iterator<Item = (&'a Lease, &'a Change)> + Clone {
    writes.filter_map(|write| match write {
        Write::Change(lease, change) => Some((lease, &**change)),
        _ => None,
    })
}

impl<'a> Changes<'a> {
    /// Returns changes of tasks that wake up after a delay, and their delays.
    pub(super) fn after_delays(
        all: impl Iterator<Item = (&'a Lease, &'a Change)> + Clone,
    ) -> (Self, Delays<'a>) {
        let delays = all.clone().filter_map(|(_, change)| match &change.wake {
            Wake::In(delay) => Some(delay),
            Wake::At(..) | Wake::Children { .. } => None,
        });
        (Self::of(all), Delays::of(delays))
    }

    /// Returns changes of tasks that wait, and what they wait for.
    pub(super) fn that_wait(
        all: impl Iterator<Item = (&'a Lease, &'a Change)> + Clone,
    ) -> (Self, Waits<'a>) {
        let waits = all.clone().filter_map(|(_, change)| match &change.wake {
            Wake::In(_) => None,
            Wake::At(at, seen) => Some((at, *seen, None)),
            Wake::Children { at, seen, ends } => Some((at, *seen, Some(*ends))),
        });
        (Self::of(all), Waits::of(waits))
    }
}

/// Returns the failures of steps; `None` if there are none.
pub(super) fn failures<'a>(
    all: impl Iterator<Item = (&'a Lease, &'a Change)>,
) -> Option<Failures<'a>> {
    let failing = |(lease, change): (&'a Lease, &'a Change)| {
        let step = change.failing_step.as_ref()?;
        Some((lease, step))
    };
    let failures = Failures::of(all.filter_map(failing));
    (!failures.task.is_empty()).then_some(failures)
}

/// Returns names and versions.
pub(super) fn of_workflows(workflows: &[(String, i32)]) -> (Vec<&str>, Vec<i32>) {
    let pairs = workflows.iter();
    pairs.map(|(name, version)| (&**name, *version)).unzip()
}

/// Returns a duration in microseconds, bounded so that its sum with the time of the server cannot
/// overflow.
pub(super) fn micros(duration: Duration) -> i64 {
    duration.to_stored()
}
