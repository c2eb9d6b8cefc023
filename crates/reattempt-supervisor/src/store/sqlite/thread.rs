//! A connection with a thread of its own: SQLite blocks, and tasks must not.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use reattempt::retry;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::{Answer, StoreError};
use super::trouble;

/// How long a statement waits for another process that writes. Whoever writes tries again, and tells of it.
const BUSY: Duration = Duration::from_millis(250);

/// Pages of the log, 16 MB, until they are written to where they belong: each time costs two more syncs, and pages that
/// were written several times until then are written once.
const CHECKPOINT: i32 = 4_000;

/// In KiB where it is negative: the indexes of some hundred thousand tasks.
const CACHE: i32 = -32_000;

/// Statements that stay prepared.
const PREPARED: usize = 64;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// The way to the thread, which ends with the last one.
#[derive(Debug, Clone)]
pub(super) struct Thread(mpsc::Sender<Job>);

impl Thread {
    /// With one that is to be closed `before` another: whoever is last writes the log into the file and removes it, and of
    /// two that are closed at the same moment each takes the other for the last one.
    pub(super) async fn open(
        path: PathBuf,
        name: &str,
        before: Option<Self>,
    ) -> Result<Self, StoreError> {
        let (opened, answer) = oneshot::channel();
        let (sender, jobs) = mpsc::channel::<Job>();
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
                job(&mut connection);
            }
            drop(connection);
            drop(before);
        };
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(work)
            .map_err(|error| StoreError::passing("no thread for the database").because(error))?;
        answer.await.map_err(|_| gone())??;
        Ok(Self(sender))
    }

    /// Has something done with the connection, after what was asked for before.
    pub(super) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Answer<'static, T> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(move |connection: &mut Connection| {
            let _ = reply.send(work(connection).map_err(trouble));
        });
        let sent = self.0.send(job);
        Box::pin(async move {
            sent.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        })
    }
}

fn gone() -> StoreError {
    StoreError::lasting("the thread of the database has ended")
}

/// Other processes may be making the same file.
#[retry(max = 20, base = "20ms", cap = "500ms", nested = "multiply")]
fn open(path: &std::path::Path) -> Result<Connection, StoreError> {
    let open = || {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT)?;
        connection.pragma_update(None, "cache_size", CACHE)?;
        Ok(connection)
    };
    open().map_err(|error| {
        let error = trouble(error);
        let message = format!("{} cannot be used as a store", path.display());
        let named = if error.is_passing() {
            StoreError::passing(message)
        } else {
            StoreError::lasting(message)
        };
        named.because(error)
    })
}
