//! Transactions of the application on the thread that writes: what it writes and the record of its
//! step are committed together.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior, ffi};

use super::result_code::is_passing;
use super::thread::BUSY;
use super::{Sqlite, records};
use crate::store::{Salt, StoreFuture};
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
    /// Returns whether this is the store with this salt.
    pub(crate) fn has_salt(&self, salt: Salt) -> bool {
        self.salt.store_id() == salt.store_id()
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
        let called = Instant::now();
        // `left` ends the statements. With another limit the step could lose the outcome of a
        // transaction that is committed.
        self.writer.call_without_limit(move |connection| {
            let left = left.map(|left| left.saturating_sub(called.elapsed()));
            let left = left.map_or(LONGEST, |left| left.min(LONGEST));
            let began = Instant::now();
            connection.progress_handler(INSTRUCTIONS, Some(move || began.elapsed() >= left))?;
            // The step waits for its own time, and not only for that of other writes.
            connection.busy_timeout(left)?;
            // The closure, the types of the value and of the error: a panic of them must not end the thread.
            let recorded = AssertUnwindSafe(|| match run(connection, lease, work, record) {
                Err(error) if !is_passing(&error) => Ok(Recorded::RolledBack(error.into())),
                recorded => recorded,
            });
            let recorded = catch_unwind(recorded);
            // A panic leaves the hook and the limits set, and other writes need the connection.
            connection.commit_hook(None::<fn() -> bool>)?;
            connection.busy_timeout(BUSY)?;
            connection.progress_handler(0, None::<fn() -> bool>)?;
            recorded.unwrap_or_else(|panic| Ok(Recorded::Panicked(panic)))
        })
    }
}

/// Runs the transaction; an error or a panic rolls it back.
fn run<T, E, R>(
    connection: &mut Connection,
    lease: Lease,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    record: impl FnOnce(&T) -> Result<Record, R>,
) -> rusqlite::Result<Recorded<T, E, R>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // SQLite ends the transaction after some errors, and `work` may go on: what it writes then must not
    // be kept.
    transaction.commit_hook(Some(|| true))?;
    let worked = work(&transaction);
    transaction.commit_hook(None::<fn() -> bool>)?;
    let value = match worked {
        Ok(value) => value,
        Err(error) => return Ok(Recorded::RolledBack(error)),
    };
    if transaction.is_autocommit() {
        let code = ffi::Error::new(ffi::SQLITE_ABORT_ROLLBACK);
        let message = "the transaction of the step was rolled back before its end".to_owned();
        return Err(rusqlite::Error::SqliteFailure(code, Some(message)));
    }
    let record = match record(&value) {
        Ok(record) => record,
        Err(refused) => return Ok(Recorded::Refused(refused)),
    };
    // Last, so that a task that has changed hands meanwhile refuses all of it.
    let written = records::record(&transaction, lease, &record, record.at, true)?;
    if written.is_none() {
        return Ok(Recorded::Lost);
    }
    transaction.commit()?;
    Ok(Recorded::Committed(value))
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::panic,
        reason = "a test that panics has failed"
    )]

    use super::*;
    use crate::task::{Fence, TaskId};

    #[tokio::test]
    async fn a_locked_file_delays_a_step_and_does_not_fail_it() {
        let name = format!("retry-locked-{}.db", rand::random::<u64>());
        let file = std::env::temp_dir().join(name);
        let store = Sqlite::open(&file).await.unwrap();
        let mut other = Connection::open(&file).unwrap();
        let lock = other
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .unwrap();
        let lease = Lease {
            task: TaskId(1),
            fence: Fence(1),
        };
        let work = |_: &Transaction<'_>| Ok::<(), rusqlite::Error>(());
        let record = |(): &()| Err::<Record, ()>(());
        let (began, left) = (
            Instant::now(),
            BUSY.saturating_add(Duration::from_millis(100)),
        );
        match store.transaction(lease, Some(left), work, record).await {
            Err(error) => assert!(error.is_passing(), "{error}"),
            Ok(_) => panic!("the step failed"),
        }
        // Not only as long as other writes wait.
        assert!(began.elapsed() >= left, "{:?}", began.elapsed());
        drop(lock);
        let recorded = store.transaction(lease, None, work, record).await;
        assert!(matches!(recorded, Ok(Recorded::Refused(()))));
        std::fs::remove_file(file).unwrap();
    }
}
