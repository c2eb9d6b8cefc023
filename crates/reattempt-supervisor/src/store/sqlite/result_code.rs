//! The result codes of SQLite as errors of a store.

use rusqlite::ffi;

use super::row::Unreadable;
use crate::store::error::StoreError;

/// Returns whether an error of SQLite may be over soon.
pub(super) fn is_passing(error: &rusqlite::Error) -> bool {
    explain(error).0
}

/// Returns whether an error may be over soon, and what to do about it.
fn explain(error: &rusqlite::Error) -> (bool, &'static str) {
    match error.sqlite_error_code() {
        Some(ffi::ErrorCode::DatabaseBusy | ffi::ErrorCode::DatabaseLocked) => {
            (true, "another process has locked the database")
        }
        Some(ffi::ErrorCode::DiskFull) => (true, "the disk is full; make room, nothing is lost"),
        Some(ffi::ErrorCode::SystemIoFailure) => (true, "the disk cannot be read or written"),
        Some(ffi::ErrorCode::OutOfMemory) => (true, "there is no memory left"),
        Some(ffi::ErrorCode::NotADatabase) => {
            (false, "the file is not a SQLite database; use another file")
        }
        Some(ffi::ErrorCode::DatabaseCorrupt) => (
            false,
            "the database is damaged; stop its processes and restore it from a backup, or save what you can with `sqlite3 FILE .recover`",
        ),
        Some(ffi::ErrorCode::ReadOnly) => (
            false,
            "the database cannot be written; give this process write access to the file and its folder",
        ),
        Some(ffi::ErrorCode::CannotOpen) => (
            false,
            "the database cannot be opened; check that its folder exists and that this process may write to it",
        ),
        _ => (false, "SQLite"),
    }
}

/// Converts an error of SQLite, with what to do about it.
pub(super) fn store_error(error: rusqlite::Error) -> StoreError {
    let (is_passing, message) = explain(&error);
    let store_error = if is_passing {
        StoreError::passing(message)
    } else {
        StoreError::lasting(message)
    };
    let unreadable = match &error {
        rusqlite::Error::FromSqlConversionFailure(_, _, source) => {
            source.downcast_ref::<Unreadable>()
        }
        _ => None,
    };
    let (task, table) = unreadable.map_or((None, None), |value| (value.task, Some(value.table)));
    store_error.about(task, table).because(error)
}
