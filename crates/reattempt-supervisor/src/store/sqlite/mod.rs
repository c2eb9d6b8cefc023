//! A store in a file: SQLite in WAL mode with `synchronous = FULL`, so that what was written is on disk. For the processes of one machine.

mod read;
mod schema;
mod sweep;
mod thread;
mod write;

use std::path::Path;
use std::sync::Arc;

use reattempt::retry;
use rusqlite::{Connection, OptionalExtension as _, ffi};

use super::{Answer, Filter, Operation, Outcome, Store, StoreError, Sweep, Swept};
use crate::task::{Record, Run, RunId, Signal, State};
use crate::workflow::{Submission, Workflow};
use thread::Thread;

/// Older ones can lose what was committed: a reset of the write-ahead log may overtake a checkpoint.
const OLDEST: i32 = 3_051_003;

/// Tasks in a SQLite database.
///
/// Its tables are named `retry_...`, so the file may be one that the application has tables of its own in: then a
/// task can be submitted in the application's own transaction, see [`submit_in`](Self::submit_in).
#[derive(Debug)]
pub struct Sqlite {
    writer: Thread,
    reader: Thread,
    salt: u64,
}

impl Sqlite {
    /// Opens a file, and makes it and its tables if they are not there. Any number of processes may do so at the same time.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened, is no database or is damaged; tables of a newer release; a SQLite older than 3.51.3.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        if rusqlite::version_number() < OLDEST {
            return Err(StoreError::lasting(format!(
                "SQLite {} is linked, which can lose what was committed (the WAL-reset bug); link 3.51.3 or newer, as the feature `bundled` \
                 of rusqlite 0.39 does",
                rusqlite::version()
            )));
        }
        let path = path.as_ref().to_owned();
        let writer = Thread::open(path.clone(), "retry-store", None).await?;
        let salt = migrated(&writer).await?;
        let reader = Thread::open(path, "retry-reads", Some(writer.clone())).await?;
        Ok(Self {
            writer,
            reader,
            salt,
        })
    }

    /// Stores a task in a transaction of the application, on a connection of its own to the same file: the task is there if and only
    /// if the transaction is committed. Schedulers find it when they look the next time.
    ///
    /// # Errors
    ///
    /// Arguments that cannot be written as JSON; what SQLite says.
    pub fn submit_in<W: Workflow>(
        transaction: &Connection,
        submission: Submission<W>,
    ) -> Result<RunId, StoreError> {
        let new = submission.into_new()?;
        let (id, _) =
            write::submit(transaction, &new, crate::Time::of_this_machine()).map_err(trouble)?;
        Ok(id)
    }
}

/// Others may be doing the same.
#[retry(max = 20, base = "20ms", cap = "500ms", nested = "multiply")]
async fn migrated(writer: &Thread) -> Result<u64, StoreError> {
    writer.call(schema::migrate).await
}

impl Store for Sqlite {
    fn write(&self, operations: Arc<[Operation]>) -> Answer<'_, Vec<Outcome>> {
        self.writer
            .call(move |connection| write::all(connection, &operations))
    }

    fn sweep(&self, sweep: Sweep) -> Answer<'_, Vec<Swept>> {
        Box::pin(async move {
            // Nobody waits for the one who writes if there is nothing to do.
            if !self.reader.call(sweep::is_worth).await? {
                return Ok(Vec::new());
            }
            self.writer
                .call(move |connection| sweep::all(connection, &sweep))
                .await
        })
    }

    fn run(&self, id: RunId) -> Answer<'_, Option<Run>> {
        self.reader
            .call(move |connection| read::run(connection, id))
    }

    fn history(&self, id: RunId) -> Answer<'_, Vec<Record>> {
        self.reader
            .call(move |connection| read::history(connection, id))
    }

    fn signals(&self, id: RunId) -> Answer<'_, Vec<Signal>> {
        self.reader
            .call(move |connection| read::signals(connection, id))
    }

    fn list(&self, filter: Filter) -> Answer<'_, Vec<Run>> {
        self.reader
            .call(move |connection| read::list(connection, &filter))
    }

    fn counts(&self) -> Answer<'_, Vec<(State, u64)>> {
        self.reader.call(read::counts)
    }

    fn salt(&self) -> u64 {
        self.salt
    }
}

/// Which trouble passes by itself, or when somebody makes room.
fn trouble(error: rusqlite::Error) -> StoreError {
    let code = error.sqlite_error_code();
    let (is_passing, message) = match code {
        Some(ffi::ErrorCode::DatabaseBusy | ffi::ErrorCode::DatabaseLocked) => {
            (true, "the database is locked by another process")
        }
        Some(ffi::ErrorCode::DiskFull) => (true, "the disk is full; make room, nothing is lost"),
        Some(ffi::ErrorCode::SystemIoFailure) => (true, "the disk cannot be read or written"),
        Some(ffi::ErrorCode::OutOfMemory) => (true, "there is no memory left"),
        Some(ffi::ErrorCode::NotADatabase) => {
            (false, "the file is no SQLite database; name another one")
        }
        Some(ffi::ErrorCode::DatabaseCorrupt) => (
            false,
            "the database is damaged; stop its processes and restore it from a backup, or save what can be saved with `sqlite3 FILE .recover`",
        ),
        Some(ffi::ErrorCode::ReadOnly) => (
            false,
            "the database cannot be written; give this process the right to write the file and its folder",
        ),
        Some(ffi::ErrorCode::CannotOpen) => (
            false,
            "the database cannot be opened; see that its folder is there and may be written",
        ),
        _ => (false, "SQLite"),
    };
    let trouble = if is_passing {
        StoreError::passing(message)
    } else {
        StoreError::lasting(message)
    };
    trouble.because(error)
}

/// What a store made by others holds is not trusted.
fn unknown(what: &str, number: i16) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(
        0,
        rusqlite::types::Type::Integer,
        format!("{number} is no {what} that this release knows").into(),
    )
}

/// One row, or none.
fn one<T>(
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
