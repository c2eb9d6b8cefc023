//! Operations of one kind as columns: an array for each value of a statement.

use tokio_postgres::types::ToSql;

use super::micros;
use crate::store::Operation;
use crate::task::NewRun;
use crate::time::Time;

type Value<'a> = &'a (dyn ToSql + Sync);

/// A struct of columns, and their order in the statement.
macro_rules! columns {
    ($(#[$meta:meta])* $name:ident { $($column:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub(super) struct $name<'a> {
            $($column: Vec<$type>,)*
            // Columns of numbers borrow nothing.
            of: std::marker::PhantomData<&'a ()>,
        }

        impl $name<'_> {
            pub(super) fn values(&self) -> Vec<Value<'_>> {
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
    }
}

columns! {
    Records {
        run: i64,
        fence: i64,
        seq: i32,
        kind: i16,
        ord: i32,
        name: &'a str,
        attempts: i32,
        result: Option<&'a str>,
        error: Option<&'a str>,
        due_at: Option<i64>,
    }
}

columns! { Signals { run: i64, name: &'a str, payload: &'a str } }

impl<'a> Submits<'a> {
    pub(super) fn of(all: impl Iterator<Item = &'a NewRun>) -> Self {
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
        }
        columns
    }
}

impl<'a> Records<'a> {
    pub(super) fn of(all: impl Iterator<Item = &'a Operation>) -> Self {
        let mut columns = Self::default();
        for operation in all {
            if let Operation::Record(hold, record) = operation {
                columns.run.push(hold.run.0);
                columns.fence.push(hold.fence.0);
                columns.seq.push(record.seq);
                columns.kind.push(record.kind.number());
                columns.ord.push(record.ord);
                columns.name.push(&record.name);
                columns.attempts.push(record.attempts);
                columns.result.push(record.result.as_deref());
                columns.error.push(record.error.as_deref());
                columns.due_at.push(record.due_at.map(Time::as_micros));
            }
        }
        columns
    }
}

impl<'a> Signals<'a> {
    pub(super) fn of(all: impl Iterator<Item = &'a Operation>) -> Self {
        let mut columns = Self::default();
        for operation in all {
            if let Operation::Signal { run, name, payload } = operation {
                columns.run.push(run.0);
                columns.name.push(name);
                columns.payload.push(payload);
            }
        }
        columns
    }
}
