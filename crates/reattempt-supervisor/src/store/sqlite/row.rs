//! Helpers for single rows and their numbers.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _};

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

/// Returns the error for a number without a meaning: other programs may have changed the store.
pub(super) fn unknown_number(what: &str, number: i16) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(
        0,
        Type::Integer,
        format!("{number} is not a {what} that this release knows").into(),
    )
}
