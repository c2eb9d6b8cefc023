//! The rows that SQLite and PostgreSQL keep alike: which column has which field.

use super::feed::Ending;
use super::schedules::StoredSchedule;
use crate::cell::Cell;
use crate::task::{FailingStep, OperatorNote, Record, RunningStep, Signal, Task};

/// A row of a database.
pub(super) trait Row {
    /// Why it cannot be read.
    type Error;

    /// Returns the value in a column.
    fn cell<T: Cell>(&self, column: usize) -> Result<T, Self::Error>;
}

/// What a row is read as.
pub(super) trait FromRow: Sized {
    /// Returns it, from the row's columns that begin with this one.
    fn from_row<R: Row>(row: &R, first: usize) -> Result<Self, R::Error>;
}

/// Reads a row.
pub(super) fn read<T: FromRow, R: Row>(row: &R) -> Result<T, R::Error> {
    T::from_row(row, 0)
}

/// The columns of a row that are read one after the other.
struct Cells<'r, R> {
    row: &'r R,
    next: usize,
}

impl<R: Row> Cells<'_, R> {
    fn next<T: Cell>(&mut self) -> Result<T, R::Error> {
        let column = self.next;
        self.next = column.saturating_add(1);
        self.row.cell(column)
    }
}

/// Names the fields of a type, in the order of the columns that have them.
macro_rules! rows {
    ($($type:ident: $($field:ident),*;)*) => {$(
        impl FromRow for $type {
            fn from_row<R: Row>(row: &R, first: usize) -> Result<Self, R::Error> {
                let mut cells = Cells { row, next: first };
                Ok(Self { $($field: cells.next()?),* })
            }
        }
    )*};
}

/// The fields of a row, each with its column, as a list of columns for a statement.
macro_rules! listed {
    ($type:ident: $first:ident $first_column:ident $(, $field:ident $column:ident)*) => {
        concat!(stringify!($first_column) $(, ", ", stringify!($column))*)
    };
}

macro_rules! without_columns {
    ($type:ident: $($field:ident $column:ident),*) => {
        rows! { $type: $($field),*; }
    };
}

/// The fields of a task, each with its column.
macro_rules! task {
    ($list:ident) => {
        $crate::store::rows::$list! {
            Task: id id, workflow workflow, version version, queue queue, priority priority, key idem_key, state state,
            direction direction, wake_at wake_at, complete_by complete_by, step_by step_by, owner owner, fence fence,
            failures failures, max_failures max_failures, cancel_requested cancel_asked, input input, output output,
            error error, headers headers, created_at created_at, updated_at updated_at, incarnation incarnation,
            on_failure on_failure, deaths deaths, failed_ord failed_ord, failed_seq failed_seq, lane lane,
            generation generation, continued_at continued_at, origin origin
        }
    };
}

/// The fields of a record, each with its column. `HISTORY_PAGE` of PostgreSQL lists them, too.
macro_rules! record {
    ($list:ident) => {
        $crate::store::rows::$list! {
            Record: seq seq, kind kind, ord ord, name name, attempts attempts, result result, error error, due_at due_at,
            at at, fence fence, args_hash args_hash, args args, undo undo
        }
    };
}

/// The fields of a schedule, each with its column. What PostgreSQL stores lists them, too.
macro_rules! schedule {
    ($list:ident) => {
        $crate::store::rows::$list! {
            StoredSchedule: name name, version version, revision revision, cron cron, missed missed, task task, state state,
            next_at next_at, last_at last_at, by operator, why why
        }
    };
}

pub(super) use {listed, record, schedule, task, without_columns};

task!(without_columns);
record!(without_columns);
schedule!(without_columns);

rows! {
    FailingStep: direction, seq, failures, error, at;
    OperatorNote: seq, verdict, by, why, at;
    Signal: id, name, payload;
    Ending: number, task, workflow, queue, key, state, error, headers, at;
    RunningStep: task, seq, fence, worker, name, since, due;
}
