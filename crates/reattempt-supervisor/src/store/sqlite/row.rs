//! Helpers for single rows and their numbers.

use std::fmt;

use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension as _};

use crate::cell::Cell;
use crate::store::rows::Row;
use crate::task::TaskId;

/// Runs a query that returns at most one row.
pub(super) fn query_one<T>(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    read: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    connection
        .prepare_cached(sql)?
        .query_row(values, read)
        .optional()
}

impl Row for rusqlite::Row<'_> {
    type Error = Error;

    fn cell<T: Cell>(&self, column: usize) -> rusqlite::Result<T> {
        T::from_stored(self.get(column)?).map_err(|why| {
            let kind = self
                .get_ref(column)
                .map_or(Type::Null, |value| value.data_type());
            Error::FromSqlConversionFailure(column, kind, why)
        })
    }
}

/// A value that cannot be read.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) task: Option<TaskId>,
    pub(super) table: &'static str,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl std::error::Error for Unreadable {}

/// Adds the table and the task to the error for a value that cannot be read.
pub(super) fn in_table(error: Error, table: &'static str, task: Option<TaskId>) -> Error {
    let (column, kind, source) = match error {
        Error::FromSqlConversionFailure(column, kind, source) => (column, kind, source),
        Error::Utf8Error(column, error) => (column, Type::Text, error.into()),
        Error::InvalidColumnType(column, _, kind) => (column, kind, error.into()),
        error => return error,
    };
    let source = Box::new(Unreadable {
        task,
        table,
        source,
    });
    Error::FromSqlConversionFailure(column, kind, source)
}
