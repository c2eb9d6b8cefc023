//! The writes of a statement as columns: an array for each value.

use std::time::Duration;

use tokio_postgres::types::ToSql;

use crate::store::{Change, Wake, Write};
use crate::task::{Lease, NewTask, RunningStep};
use crate::time::Time;

/// A value of a statement.
type Value<'a> = &'a (dyn ToSql + Sync);

/// The columns of a statement.
pub(super) trait Columns: Send + Sync {
    /// Returns the values, in their order in the statement.
    fn values(&self) -> Vec<Value<'_>>;
}

/// Declares a struct of columns, in their order in the statement.
macro_rules! columns {
    ($(#[$meta:meta])* $name:ident { $($column:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub(super) struct $name<'a> {
            $($column: Vec<$type>,)*
            // Columns of numbers borrow nothing.
            of: std::marker::PhantomData<&'a ()>,
        }

        impl Columns for $name<'_> {
            fn values(&self) -> Vec<Value<'_>> {
                vec![$(&self.$column),*]
            }
        }
    };
}

columns! {
    Submits {
        workflow: &'a str,
        version: i32,
        queue: &'a str,
        priority: i16,
        key: &'a str,
        delay: i64,
        complete_in: Option<i64>,
        max_failures: i32,
        input: &'a str,
        headers: Option<&'a str>,
        on_failure: i16,
        lane: Option<&'a str>,
    }
}

columns! {
    Records {
        task: i64,
        fence: i64,
        seq: i32,
        kind: i16,
        ord: i32,
        name: &'a str,
        attempts: i32,
        result: Option<&'a str>,
        error: Option<&'a str>,
        due_at: Option<i64>,
        args_hash: Option<&'a str>,
        args: Option<&'a str>,
        undo: Option<&'a str>,
    }
}

columns! {
    Running {
        task: i64,
        seq: i32,
        fence: i64,
        worker: &'a str,
        name: &'a str,
        since: i64,
        due: Option<i64>,
    }
}

columns! { Ended { task: i64, fence: i64, seq: i32 } }

columns! {
    Changes {
        task: i64,
        fence: i64,
        state: i16,
        direction: i16,
        failures: i32,
        output: Option<&'a str>,
        error: Option<&'a str>,
        failed_seq: Option<i32>,
        deaths: i32,
        failed_ord: i32,
    }
}

columns! {
    ChangesBefore {
        task: i64,
        fence: i64,
        state: i16,
        direction: i16,
        failures: i32,
        output: Option<&'a str>,
        error: Option<&'a str>,
    }
}

columns! { Delays { delay: i64 } }

columns! { Waits { wake_at: i64, seen: i64, ends: Option<i64> } }

columns! {
    Failures {
        task: i64,
        fence: i64,
        direction: i16,
        seq: i32,
        count: i32,
        error: &'a str,
    }
}

columns! { Signals { task: i64, name: &'a str, payload: &'a str, nonce: i64 } }

impl<'a> Submits<'a> {
    pub(super) fn of(all: impl Iterator<Item = &'a NewTask>) -> Self {
        let mut columns = Self::default();
        for new in all {
            columns.workflow.push(&new.workflow);
            columns.version.push(new.version);
            columns.queue.push(&new.queue);
            columns.priority.push(new.priority);
            columns.key.push(&new.key);
            columns.delay.push(micros(new.delay));
            columns.complete_in.push(new.complete_by.map(micros));
            columns.max_failures.push(new.max_failures);
            columns.input.push(&new.input);
            columns.headers.push(new.headers.as_deref());
            columns.on_failure.push(new.on_failure.number());
            columns.lane.push(new.lane.as_deref());
        }
        columns
    }
}

columns! { Bounds { max_pending: Option<i64> } }

impl<'a> Bounds<'a> {
    /// Returns how many tasks may wait in the queue of each task; `None` if there is no bound at all.
    pub(super) fn of(all: impl Iterator<Item = &'a NewTask>) -> Option<Self> {
        let max_pending: Vec<_> = all.map(|new| new.max_pending.map(i64::from)).collect();
        (max_pending.iter().any(Option::is_some)).then(|| Self {
            max_pending,
            ..Self::default()
        })
    }
}

/// Two groups of columns, one after the other.
impl<A: Columns, B: Columns> Columns for (A, B) {
    fn values(&self) -> Vec<Value<'_>> {
        self.0.values().into_iter().chain(self.1.values()).collect()
    }
}

impl<'a> Records<'a> {
    pub(super) fn of(all: impl Iterator<Item = &'a Write>) -> Self {
        let mut columns = Self::default();
        for write in all {
            if let Write::Record(lease, record) = write {
                columns.task.push(lease.task.0);
                columns.fence.push(lease.fence.0);
                columns.seq.push(record.seq);
                columns.kind.push(record.kind.number());
                columns.ord.push(record.ord);
                columns.name.push(&record.name);
                columns.attempts.push(record.attempts);
                columns.result.push(record.result.as_deref());
                columns.error.push(record.error.as_deref());
                columns.due_at.push(record.due_at.map(Time::as_micros));
                columns.args_hash.push(record.args_hash.as_deref());
                columns.args.push(record.args.as_deref());
                columns.undo.push(record.undo.as_deref());
            }
        }
        columns
    }
}

impl<'a> Running<'a> {
    pub(super) fn of(all: &'a [RunningStep]) -> Self {
        let mut columns = Self::default();
        for step in all {
            columns.task.push(step.task.0);
            columns.seq.push(step.seq);
            columns.fence.push(step.fence.0);
            columns.worker.push(&step.worker.0);
            columns.name.push(&step.name);
            columns.since.push(step.since.as_micros());
            columns.due.push(step.due.map(Time::as_micros));
        }
        columns
    }
}

impl Ended<'_> {
    pub(super) const fn is_empty(&self) -> bool {
        self.task.is_empty()
    }

    pub(super) fn of(all: &[(Lease, i32)]) -> Self {
        let mut columns = Self::default();
        for (lease, seq) in all {
            columns.task.push(lease.task.0);
            columns.fence.push(lease.fence.0);
            columns.seq.push(*seq);
        }
        columns
    }
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
    fn of(all: impl Iterator<Item = (&'a Lease, &'a Change)>) -> Self {
        let mut columns = Self::default();
        for (lease, change) in all {
            columns.task.push(lease.task.0);
            columns.fence.push(lease.fence.0);
            columns.state.push(change.state.number());
            columns.direction.push(change.direction.number());
            columns.failures.push(change.counts.failures);
            columns.output.push(change.output.as_deref());
            columns.error.push(change.error.as_deref());
            columns.failed_seq.push(change.failed_seq);
            columns.deaths.push(change.counts.deaths);
            columns.failed_ord.push(change.counts.failed_ord);
        }
        columns
    }

    /// Returns changes of tasks that wake up after a delay, and their delays.
    pub(super) fn after_delays(
        all: impl Iterator<Item = (&'a Lease, &'a Change)> + Clone,
    ) -> (Self, Delays<'a>) {
        let mut delays = Delays::default();
        for (_, change) in all.clone() {
            if let Wake::In(delay) = change.wake {
                delays.delay.push(micros(delay));
            }
        }
        (Self::of(all), delays)
    }

    /// Returns changes of tasks that wait, and what they wait for.
    pub(super) fn that_wait(
        all: impl Iterator<Item = (&'a Lease, &'a Change)> + Clone,
    ) -> (Self, Waits<'a>) {
        let mut waits = Waits::default();
        for (_, change) in all.clone() {
            let (at, seen, ends) = match change.wake {
                Wake::In(_) => continue,
                Wake::At(at, seen) => (at, seen, None),
                Wake::Children { at, seen, ends } => (at, seen, Some(ends)),
            };
            waits.wake_at.push(at.as_micros());
            waits.seen.push(seen);
            waits.ends.push(ends.map(i64::from));
        }
        (Self::of(all), waits)
    }
}

impl<'a> ChangesBefore<'a> {
    pub(super) fn of(all: impl Iterator<Item = (&'a Lease, &'a Change)>) -> Self {
        let mut columns = Self::default();
        for (lease, change) in all {
            columns.task.push(lease.task.0);
            columns.fence.push(lease.fence.0);
            columns.state.push(change.state.number());
            columns.direction.push(change.direction.number());
            columns.failures.push(change.counts.failures);
            columns.output.push(change.output.as_deref());
            columns.error.push(change.error.as_deref());
        }
        columns
    }
}

impl<'a> Failures<'a> {
    /// Returns the failures of steps; `None` if there are none.
    pub(super) fn of(all: impl Iterator<Item = (&'a Lease, &'a Change)>) -> Option<Self> {
        let mut columns = Self::default();
        for (lease, change) in all {
            if let Some(step) = &change.failing_step {
                columns.task.push(lease.task.0);
                columns.fence.push(lease.fence.0);
                columns.direction.push(step.direction.number());
                columns.seq.push(step.seq);
                columns.count.push(step.failures);
                columns.error.push(&step.error);
            }
        }
        (!columns.task.is_empty()).then_some(columns)
    }
}

impl<'a> Signals<'a> {
    pub(super) fn of(all: impl Iterator<Item = &'a Write>) -> Self {
        let mut columns = Self::default();
        for write in all {
            if let Write::Signal {
                task,
                name,
                payload,
                nonce,
            } = write
            {
                columns.task.push(task.0);
                columns.name.push(name);
                columns.payload.push(payload);
                columns.nonce.push(*nonce);
            }
        }
        columns
    }
}

/// Returns names and versions.
pub(super) fn of_workflows(workflows: &[(String, i32)]) -> (Vec<&str>, Vec<i32>) {
    let pairs = workflows.iter();
    pairs.map(|(name, version)| (&**name, *version)).unzip()
}

/// Returns a duration in microseconds, bounded so that its sum with the time of the server cannot
/// overflow.
pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros())
        .unwrap_or(i64::MAX)
        .min(i64::MAX / 2)
}
