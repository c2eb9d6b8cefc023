//! A connection with its own thread: SQLite blocks, and tasks must not.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use reattempt::retry;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::result_code::store_error;
use crate::store::limits::Limits;
use crate::store::{StoreError, StoreFuture};

/// How long a statement waits for another process that writes. Then the writer emits an event and
/// tries again.
pub(super) const BUSY: Duration = Duration::from_millis(250);

/// The size of the log in pages, 16 MB, at which SQLite moves the pages into the database. Each
/// time costs two more syncs, and pages that were written several times are moved once.
const CHECKPOINT: i32 = 4_000;

/// The size of the cache, in KiB because it is negative: the indexes of some hundred thousand
/// tasks.
const CACHE: i32 = -32_000;

/// How many statements stay prepared.
const PREPARED: usize = 64;

type ConnectionJob = Box<dyn FnOnce(&mut Connection) + Send>;

/// Sends jobs to the thread, which ends with the last sender.
#[derive(Debug, Clone)]
pub(super) struct Thread {
    jobs: mpsc::Sender<ConnectionJob>,
    limits: Arc<Limits>,
}

impl Thread {
    /// Opens a connection that is closed `before` another one. The last connection moves the log
    /// into the file and removes it; if two are closed at the same time, each takes the other for
    /// the last one.
    pub(super) async fn open(
        path: PathBuf,
        name: &str,
        before: Option<Self>,
    ) -> Result<Self, StoreError> {
        let (opened, answer) = oneshot::channel();
        let (sender, jobs) = mpsc::channel::<ConnectionJob>();
        let work = move || {
            let mut connection = match open(&path) {
                Ok(connection) => {
                    let _ = opened.send(Ok(()));
                    connection
                }
                Err(error) => {
                    let _ = opened.send(Err(error));
                    return;
                }
            };
            for job in jobs {
                // A value of the application whose caller is gone is dropped here, and may panic.
                let _ = catch_unwind(AssertUnwindSafe(|| job(&mut connection)));
            }
            drop(connection);
            drop(before);
        };
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(work)
            .map_err(|error| {
                StoreError::passing("the thread of the database cannot be started").because(error)
            })?;
        answer.await.map_err(|_| gone())??;
        Ok(Self {
            jobs: sender,
            limits: Arc::new(Limits::new()),
        })
    }

    /// Runs a job on the connection, after all earlier jobs. If its answer does not come in time, it may
    /// still be carried out, until a later job has an answer.
    pub(super) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        // With a limit, so that an event reports a disk that hangs.
        let (answer, limits) = (self.call_without_limit(work), Arc::clone(&self.limits));
        Box::pin(async move { limits.limited(answer).await })
    }

    /// Runs a job that may take long.
    pub(super) fn call_without_limit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(move |connection: &mut Connection| {
            let _ = reply.send(work(connection).map_err(store_error));
        });
        let sent = self.jobs.send(job);
        Box::pin(async move {
            sent.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        })
    }
}

fn gone() -> StoreError {
    StoreError::lasting("the thread of the database has ended")
}

/// Opens a connection; other processes may create the file at the same time.
#[retry(max = 20, base = "20ms", cap = "500ms", nested = "multiply")]
fn open(path: &std::path::Path) -> Result<Connection, StoreError> {
    let open = || {
        let connection = Connection::open(path)?;
        // First: another process may hold the lock while it creates the file.
        connection.busy_timeout(BUSY)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT)?;
        connection.pragma_update(None, "cache_size", CACHE)?;
        Ok(connection)
    };
    open().map_err(|error| {
        let error = store_error(error);
        let message = format!("{} cannot be used as a store", path.display());
        let store_error = if error.is_passing() {
            StoreError::passing(message)
        } else {
            StoreError::lasting(message)
        };
        store_error.because(error)
    })
}
