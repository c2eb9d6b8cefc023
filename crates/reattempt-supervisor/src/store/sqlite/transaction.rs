//! Transactions of the application on the thread that writes: what it writes and the record of its
//! step are committed together.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{Sqlite, apply};
use crate::store::StoreFuture;
use crate::task::{Lease, Record};

/// How long the statements of one transaction may take: heartbeats wait meanwhile.
const LONGEST: Duration = Duration::from_millis(2_500);

/// How many instructions SQLite carries out between two looks at the clock.
const INSTRUCTIONS: i32 = 10_000;

/// What became of a transaction of the application.
pub(crate) enum Recorded<T, E, R> {
    /// It is committed.
    Committed(T),
    /// The application or SQLite has refused it.
    RolledBack(E),
    /// The task has changed hands.
    Lost,
    /// The value cannot be recorded.
    Refused(R),
    /// The code of the application has panicked.
    Panicked(Box<dyn Any + Send>),
}

impl Sqlite {
    /// Returns whether this is the store with this number.
    pub(crate) const fn has_salt(&self, salt: u64) -> bool {
        self.salt == salt
    }

    /// Runs `work` and writes the record of its value, all or nothing.
    pub(crate) fn transaction<T, E, R>(
        &self,
        lease: Lease,
        left: Option<Duration>,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
        record: impl FnOnce(&T) -> Result<Record, R> + Send + 'static,
    ) -> StoreFuture<'static, Recorded<T, E, R>>
    where
        T: Send + 'static,
        E: From<rusqlite::Error> + Send + 'static,
        R: Send + 'static,
    {
        let end = Instant::now().checked_add(left.unwrap_or(LONGEST));
        self.writer.call_without_limit(move |connection| {
            let longest = Instant::now().checked_add(LONGEST);
            let end = end.into_iter().chain(longest).min();
            let is_over = move || end.is_some_and(|end| Instant::now() >= end);
            connection.progress_handler(INSTRUCTIONS, Some(is_over))?;
            let recorded = run(connection, lease, work, record);
            connection.progress_handler(0, None::<fn() -> bool>)?;
            Ok(recorded.unwrap_or_else(|error| Recorded::RolledBack(error.into())))
        })
    }
}

/// Runs the transaction; an error rolls it back.
fn run<T, E, R>(
    connection: &mut Connection,
    lease: Lease,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    record: impl FnOnce(&T) -> Result<Record, R>,
) -> rusqlite::Result<Recorded<T, E, R>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = match catch_unwind(AssertUnwindSafe(|| work(&transaction))) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => return Ok(Recorded::RolledBack(error)),
        Err(panic) => return Ok(Recorded::Panicked(panic)),
    };
    let record = match record(&value) {
        Ok(record) => record,
        Err(refused) => return Ok(Recorded::Refused(refused)),
    };
    let written = apply::record(&transaction, lease, &record, record.at, true)?;
    if written.is_none() {
        return Ok(Recorded::Lost);
    }
    transaction.commit()?;
    Ok(Recorded::Committed(value))
}
