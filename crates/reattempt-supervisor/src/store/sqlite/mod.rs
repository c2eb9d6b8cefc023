//! A store in a file, for the processes of one machine: SQLite in WAL mode with
//! `synchronous = FULL`, so that committed writes are on disk.

mod apply;
mod children;
mod claims;
mod commands;
mod expired;
mod feed;
mod forks;
mod generations;
mod lane_limits;
mod queries;
mod queue_limits;
mod records;
mod result_code;
mod retention;
mod row;
mod schedules;
mod schema;
mod submit;
mod thread;
mod transaction;

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reattempt::retry;
use rusqlite::Connection;
use tokio::sync::Notify;

use super::feed::unknown_reader;
use super::tables;
use super::{
    FeedCursor, FeedPage, Filter, HeldTask, Page, QueueStatus, Reclaimed, Salt, Schedules,
    SharedCodec, Store, StoreError, StoreFuture, Submitted, Sweep, TaskLimit, UnknownWorkflow,
    Write, WriteResult,
};
use crate::task::{
    FailingStep, NewTask, OperatorNote, Record, RecordKind, RunningStep, Signal, State, Task,
    TaskId, WorkerId,
};
use crate::time::{Clock, Time};
use result_code::store_error;
use thread::Thread;
pub(crate) use transaction::Recorded;

/// The oldest supported version. Older ones can lose committed data: a reset of the write-ahead log
/// may overtake a checkpoint.
const OLDEST: i32 = 3_051_003;

/// Tasks in a SQLite database.
///
/// The names of its tables start with `retry_`, so your application can have tables of its own in
/// the same file: see [`transaction`](crate::transaction). Clones are cheap and share the connections.
#[derive(Debug, Clone)]
pub struct Sqlite {
    writer: Thread,
    reader: Thread,
    clock: Clock,
    salt: Salt,
    /// Notified when parents go on.
    woken: Arc<Notify>,
    /// Notified when this process ends tasks.
    ended: Arc<Notify>,
}

impl Sqlite {
    /// Opens a file, and creates the file and its tables if they are missing. Any number of
    /// processes may do so at the same time.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be opened, is not a database or is damaged, if its tables come from
    /// a newer release or from a development version before the first one, or if SQLite is older than 3.51.3.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with_clock(path, Time::of_this_machine).await
    }

    /// Opens a file as [`open`](Self::open) does, with a clock: a test may set it. All processes that
    /// use the file need the same clock.
    ///
    /// # Errors
    ///
    /// Fails as [`open`](Self::open) does.
    pub async fn open_with_clock(
        path: impl AsRef<Path>,
        clock: impl Fn() -> Time + Send + Sync + 'static,
    ) -> Result<Self, StoreError> {
        if rusqlite::version_number() < OLDEST {
            return Err(StoreError::lasting(format!(
                "SQLite {} can lose committed data (the WAL-reset bug); link 3.51.3 or newer, as the feature `bundled` \
                 of rusqlite 0.39 does",
                rusqlite::version()
            )));
        }
        let path = path.as_ref().to_owned();
        // Reads have a connection of their own: in WAL mode they do not wait for writes.
        let writer = Thread::open(path.clone(), "retry-store", None).await?;
        let clock = Clock::new(clock);
        let salt = create_tables(&writer).await?;
        let reader = Thread::open(path, "retry-reads", Some(writer.clone())).await?;
        Ok(Self {
            writer,
            reader,
            clock,
            salt,
            woken: Arc::default(),
            ended: Arc::default(),
        })
    }

    /// Sets `synchronous = NORMAL` for the writes of this process: a commit returns before it is on the disk, which a
    /// disk with slow `fdatasync` makes many times faster. Without it they run with `FULL`.
    ///
    /// Nothing is lost when processes die. When the machine loses power, or its system crashes, the commits of the
    /// last moments may be gone, in the order from the newest back, and the file is not damaged. So a task that was
    /// submitted may not be there: submit again what has no end. A step that was carried out may run again, with the
    /// same key. A signal that was accepted may not come.
    ///
    /// # Errors
    ///
    /// Fails if the thread of the store has ended.
    pub async fn synchronous_normal(self) -> Result<Self, StoreError> {
        let set =
            |connection: &mut Connection| connection.pragma_update(None, "synchronous", "normal");
        self.writer.call(set).await?;
        Ok(self)
    }

    /// Stores a task in a transaction of the application.
    pub(crate) fn submit(
        connection: &Connection,
        salt: Salt,
        new: &NewTask,
        codec: Option<&SharedCodec>,
    ) -> Result<Submitted, StoreError> {
        let sql = "SELECT value FROM retry_meta WHERE key = 'store'";
        let own = connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        // In another file the task would be stored for nothing: no scheduler looks there.
        if own.ok() != Some(salt.store_id()) {
            return Err(StoreError::lasting(
                "the transaction is not in the file of the store",
            ));
        }
        let now = Time::of_this_machine();
        let Some(codec) = codec else {
            return submit::submit(connection, new, None, now).map_err(store_error);
        };
        let encoded = codec.encode_task(new)?;
        let submitted = submit::submit(connection, &encoded, None, now).map_err(store_error)?;
        if submitted.same_arguments != Some(false) {
            return Ok(submitted);
        }
        let id = submitted.id;
        let sql = "SELECT version, input FROM retry_run WHERE id = ?1";
        let old = connection.query_row(sql, [id.0], |row| Ok((row.get(0)?, row.get(1)?)));
        let (version, input): (Option<i32>, String) = old.map_err(store_error)?;
        Ok(Submitted::earlier(id, version, &codec.decode(input), new))
    }
}

/// Creates the tables; other processes may do so at the same time.
#[retry(max = 20, base = "20ms", cap = "500ms", nested = "multiply")]
async fn create_tables(writer: &Thread) -> Result<Salt, StoreError> {
    writer.call_without_limit(schema::create).await
}

impl Store for Sqlite {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        let (clock, written) = (self.clock.clone(), Arc::clone(&writes));
        let writing =
            (self.writer).call(move |connection| apply::apply_all(connection, &writes, &clock));
        Box::pin(async move {
            let (results, wakes) = writing.await?;
            if wakes {
                self.woken.notify_waiters();
            }
            let mut pairs = results.iter().zip(&*written);
            if pairs.any(|(result, write)| write.ended(result).next().is_some()) {
                self.ended.notify_waiters();
            }
            Ok(results)
        })
    }

    fn settle(&self) -> StoreFuture<'_, ()> {
        // The thread carries out one write after another.
        self.writer.call(|_| Ok(()))
    }

    fn heartbeat(
        &self,
        worker: WorkerId,
        lease: Duration,
        _: Option<Vec<TaskId>>,
    ) -> StoreFuture<'_, Vec<HeldTask>> {
        let clock = self.clock.clone();
        self.writer
            .call(move |connection| apply::heartbeat(connection, &worker, lease, &clock))
    }

    fn sweep(&self, sweep: Sweep) -> StoreFuture<'_, Vec<Reclaimed>> {
        Box::pin(async move {
            let clock = self.clock.clone();
            let now = clock.now();
            // If there is nothing to do, do not wait for the writer.
            if !self
                .reader
                .call(move |connection| expired::has_expired(connection, &sweep, now))
                .await?
            {
                return Ok(Vec::new());
            }
            let reclaiming = self
                .writer
                .call(move |connection| expired::reclaim_all(connection, &sweep, &clock));
            let reclaimed = reclaiming.await?;
            if reclaimed.iter().any(|one| one.state.is_final()) {
                self.ended.notify_waiters();
            }
            Ok(reclaimed)
        })
    }

    fn task(&self, id: TaskId) -> StoreFuture<'_, Option<Task>> {
        self.reader
            .call(move |connection| queries::task(connection, id))
    }

    fn history(&self, id: TaskId) -> StoreFuture<'_, Vec<Record>> {
        self.reader
            .call(move |connection| queries::history(connection, id))
    }

    fn failures(&self, id: TaskId) -> StoreFuture<'_, Vec<FailingStep>> {
        self.reader
            .call(move |connection| queries::failures(connection, id))
    }

    fn running(&self, id: TaskId) -> StoreFuture<'_, Vec<RunningStep>> {
        self.reader
            .call(move |connection| queries::running(connection, id))
    }

    fn notes(&self, id: TaskId) -> StoreFuture<'_, Vec<OperatorNote>> {
        self.reader
            .call(move |connection| queries::notes(connection, id))
    }

    fn signals(&self, id: TaskId) -> StoreFuture<'_, Vec<Signal>> {
        self.reader
            .call(move |connection| queries::signals(connection, id))
    }

    fn history_page(
        &self,
        id: TaskId,
        after: Option<(i32, RecordKind)>,
    ) -> StoreFuture<'_, Option<Page<Record>>> {
        self.reader
            .call(move |connection| queries::history_page(connection, id, after))
    }

    fn signals_page(&self, id: TaskId, after: i64) -> StoreFuture<'_, Option<Page<Signal>>> {
        self.reader
            .call(move |connection| queries::signals_page(connection, id, after))
    }

    fn list(&self, filter: Filter) -> StoreFuture<'_, Vec<Task>> {
        self.reader
            .call(move |connection| queries::list(connection, &filter))
    }

    fn counts(&self) -> StoreFuture<'_, Vec<(State, u64)>> {
        self.reader.call(queries::counts)
    }

    fn queues(&self) -> StoreFuture<'_, Vec<QueueStatus>> {
        let now = self.clock.now();
        self.reader
            .call(move |connection| queries::queues(connection, now))
    }

    fn lane_limits(&self) -> StoreFuture<'_, BTreeMap<String, TaskLimit>> {
        self.reader.call(|connection| lane_limits::all(connection))
    }

    fn unknown_workflows(
        &self,
        queues: Vec<String>,
        known: Vec<(String, i32)>,
        waited: Duration,
    ) -> StoreFuture<'_, Vec<UnknownWorkflow>> {
        let now = self.clock.now();
        self.reader.call(move |connection| {
            claims::unknown_workflows(connection, &queues, &known, (now, waited))
        })
    }

    fn schedules(&self, due: Option<u32>) -> StoreFuture<'_, Schedules> {
        let now = self.clock.now();
        self.reader
            .call(move |connection| schedules::read(connection, due, now))
    }

    fn read_feed(&self, reader: String, limit: u32, _: bool) -> StoreFuture<'_, FeedPage> {
        let name = reader.clone();
        let known = self
            .reader
            .call(move |connection| feed::read(connection, &name, limit));
        Box::pin(async move {
            if let Some(page) = known.await? {
                return Ok(page);
            }
            let reading = self.writer.call(move |connection| {
                feed::add_reader(connection, &reader)?;
                feed::read(connection, &reader, limit)
            });
            reading.await?.ok_or_else(unknown_reader)
        })
    }

    fn move_reader(&self, reader: String, to: FeedCursor, reported: u64) -> StoreFuture<'_, bool> {
        self.writer
            .call(move |connection| feed::move_reader(connection, &reader, &to, reported))
    }

    fn wait_for_ends(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.ended.notified())
    }

    fn renew(&self) -> StoreFuture<'_, bool> {
        let now = self.clock.now().as_micros().to_string();
        let renewal = tables::renewal(Salt::random(), &now);
        self.writer
            .call(move |connection| Ok(connection.execute(&renewal, [])? > 0))
    }

    fn wait_for_work(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.woken.notified())
    }

    fn salt(&self) -> Salt {
        self.salt
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

    use std::sync::mpsc;

    use super::*;
    use crate::store::ErrorKind;

    #[tokio::test]
    async fn commits_are_on_the_disk_unless_the_program_says_so() {
        let file = std::env::temp_dir().join(format!("retry-normal-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let store = Sqlite::open(&file).await.unwrap();
        let asked = |connection: &mut Connection| {
            connection.pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0))
        };
        assert_eq!(store.writer.call(asked).await.unwrap(), 2);
        let store = store.synchronous_normal().await.unwrap();
        assert_eq!(store.writer.call(asked).await.unwrap(), 1);
        drop(store);
        std::fs::remove_file(&file).unwrap();
    }

    /// The clock stands still, and goes on by itself while the thread of the store is busy.
    #[tokio::test(start_paused = true)]
    async fn a_disk_that_hangs_is_noticed_and_settled() {
        let file = std::env::temp_dir().join(format!("retry-hangs-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&file);
        tokio::time::resume();
        let store = Sqlite::open(&file).await.unwrap();
        tokio::time::pause();
        let (go_on, hangs) = mpsc::channel::<()>();
        let hanging = store.writer.call_without_limit(move |_| {
            let _ = hangs.recv();
            Ok(())
        });
        let worker = WorkerId("one".to_owned());
        let leave: Arc<[Write]> = vec![Write::Leave(worker.clone())].into();
        let late = [
            store.write(leave).await.map(drop),
            store
                .heartbeat(worker, Duration::from_secs(10), None)
                .await
                .map(drop),
            store.settle().await,
        ];
        for answer in late {
            assert_eq!(answer.unwrap_err().kind(), ErrorKind::TimedOut);
        }
        tokio::time::resume();
        go_on.send(()).unwrap();
        hanging.await.unwrap();
        store.settle().await.unwrap();
        drop(store);
        std::fs::remove_file(&file).unwrap();
    }
}
