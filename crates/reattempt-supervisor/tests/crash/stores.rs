//! The stores of the tasks: a file, or a server that several processes share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::kit::{SMALL_TABLES_FIT, pass_on};
use reattempt_supervisor::store::{
    FeedCursor, FeedPage, Filter, HeldTask, Page, QueueStatus, Reclaimed, Schedules, Store,
    StoreFuture, Sweep, UnknownWorkflow, Write, WriteResult,
};
use reattempt_supervisor::{
    Client, FailingStep, OperatorNote, Record, RecordKind, RunningStep, Signal, Sqlite, State,
    Task, TaskId, WorkerId,
};

use crate::servers;

pub(crate) fn all() -> Vec<String> {
    let mut all = vec!["sqlite".to_owned()];
    if cfg!(feature = "postgres") {
        all.push("postgres".to_owned());
    }
    all
}

/// A store, and the resources that keep it alive.
pub(crate) struct Place {
    pub(crate) kind: String,
    /// The arguments with which a worker opens the store.
    pub(crate) name: String,
    kept: servers::Kept,
}

impl Place {
    /// Returns `None` if its server is not installed.
    pub(crate) fn new(kind: &str) -> Option<Self> {
        let (name, kept) = servers::start(kind)?;
        Some(Self {
            kind: kind.to_owned(),
            name,
            kept,
        })
    }

    /// Returns whether it can be restarted while it is in use.
    pub(crate) fn is_server(&self) -> bool {
        !matches!(self.kept, servers::Kept::Folder(_))
    }

    pub(crate) fn restart(&mut self) {
        #[cfg(feature = "postgres")]
        if let servers::Kept::Server(server) = &mut self.kept {
            server.restart_postgres();
        }
    }

    /// Returns whether its server has ended.
    #[cfg(feature = "postgres")]
    pub(crate) fn is_over(&mut self) -> bool {
        match &mut self.kept {
            servers::Kept::Server(server) => server.is_over(),
            servers::Kept::Folder(_) => false,
        }
    }

    /// Returns the port of its server.
    #[cfg(feature = "postgres")]
    pub(crate) fn port(&self) -> u16 {
        match &self.kept {
            servers::Kept::Server(server) => server.port,
            servers::Kept::Folder(_) => 0,
        }
    }

    /// Creates a user without the right to end connections of others, so that only the epoch of a
    /// writer keeps late transactions out.
    #[cfg(feature = "postgres")]
    pub(crate) async fn create_user_without_termination(&self) -> &'static str {
        self.execute(
            "CREATE ROLE app LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO app; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO app;
             REVOKE EXECUTE ON FUNCTION pg_terminate_backend(integer, bigint) FROM PUBLIC",
        )
        .await;
        "app"
    }

    /// Carries out statements as an application does, without this library.
    pub(crate) async fn execute(&self, sql: &str) {
        if !self.is_server() {
            let connection = rusqlite::Connection::open(&self.name).unwrap();
            connection.busy_timeout(Duration::from_secs(5)).unwrap();
            return connection.execute_batch(sql).unwrap();
        }
        #[cfg(feature = "postgres")]
        {
            let connecting = tokio_postgres::connect(&self.name, tokio_postgres::NoTls);
            let (client, connection) = connecting.await.unwrap();
            let connection = tokio::spawn(connection);
            client.batch_execute(sql).await.unwrap();
            connection.abort();
        }
    }

    /// Checks that the small tables of a server say what its tasks say.
    pub(crate) async fn check_small_tables(&self) {
        if self.is_server() {
            let fit = SMALL_TABLES_FIT;
            let check = format!("DO $$ BEGIN ASSERT ({fit}), 'the small tables differ'; END $$");
            self.execute(&check).await;
        }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::new(open(&self.kind, &self.name).await)
    }
}

pub(crate) async fn open(kind: &str, name: &str) -> Any {
    let store: Arc<dyn Store> = match kind {
        "sqlite" => Arc::new(Sqlite::open(PathBuf::from(name)).await.unwrap()),
        #[cfg(feature = "postgres")]
        "postgres" => Arc::new(connect(name).await.unwrap()),
        other => panic!("there is no store `{other}`"),
    };
    Any {
        store,
        gate: None,
        reads: Reads::default(),
    }
}

/// A server may restart, and a proxy may cut, at any moment.
#[cfg(feature = "postgres")]
#[reattempt::retry(max = 20, base = "50ms", cap = "4s")]
async fn connect(
    url: &str,
) -> Result<reattempt_supervisor::Postgres, reattempt_supervisor::store::StoreError> {
    reattempt_supervisor::Postgres::connect(url).await
}

/// Any store, with a gate before and after each write.
#[derive(Debug)]
pub(crate) struct Any {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) gate: Option<Gate>,
    pub(crate) reads: Reads,
}

/// How many records, signals and tasks this process has read.
#[derive(Debug, Default)]
pub(crate) struct Reads([AtomicUsize; 3]);

impl Reads {
    fn add(&self, what: usize, count: usize) {
        self.0[what].fetch_add(count, Ordering::SeqCst);
    }

    /// Tells the test.
    fn report(&self) {
        let [records, signals, tasks] = self.0.each_ref().map(|read| read.load(Ordering::SeqCst));
        println!("read {records} {signals} {tasks}");
    }
}

/// Returns whether a write records a part of a gather.
fn is_of_gather(write: &Write) -> bool {
    matches!(write, Write::Record(_, record) if record.name == "gather")
}

/// The last write, and whether the process ends before or after it.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) left: AtomicI64,
    pub(crate) is_after: bool,
    /// Whether only the records of a gather count.
    pub(crate) of_gathers: bool,
}

impl Gate {
    /// Returns whether this is the last write.
    fn is_last(&self, writes: &[Write]) -> bool {
        let counts = !self.of_gathers || writes.iter().any(is_of_gather);
        counts && self.left.fetch_sub(1, Ordering::SeqCst) == 1
    }
}

/// Asks to be killed, and waits for it.
fn end() -> ! {
    println!("kill me");
    loop {
        std::thread::park();
    }
}

impl Store for Any {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        if writes.iter().any(is_of_gather) {
            self.reads.report();
        }
        let gate = (self.gate.as_ref()).filter(|gate| gate.is_last(&writes));
        match gate {
            Some(gate) if gate.is_after => Box::pin(async move {
                let _ = self.store.write(writes).await;
                end()
            }),
            Some(_) => end(),
            None => self.store.write(writes),
        }
    }

    fn task(&self, id: TaskId) -> StoreFuture<'_, Option<Task>> {
        self.reads.add(2, 1);
        self.store.task(id)
    }

    fn history_page(
        &self,
        id: TaskId,
        after: Option<(i32, RecordKind)>,
    ) -> StoreFuture<'_, Option<Page<Record>>> {
        Box::pin(async move {
            let page = self.store.history_page(id, after).await?;
            self.reads
                .add(0, page.as_ref().map_or(0, |page| page.items.len()));
            Ok(page)
        })
    }

    fn signals_page(&self, id: TaskId, after: i64) -> StoreFuture<'_, Option<Page<Signal>>> {
        Box::pin(async move {
            let page = self.store.signals_page(id, after).await?;
            self.reads
                .add(1, page.as_ref().map_or(0, |page| page.items.len()));
            Ok(page)
        })
    }

    pass_on! {
        settle() -> ();
        read_feed(reader: String, limit: u32, old_gaps: bool) -> FeedPage;
        move_reader(reader: String, to: FeedCursor, reported: u64) -> bool;
        running(id: TaskId) -> Vec<RunningStep>;
        notes(id: TaskId) -> Vec<OperatorNote>;
        signals(id: TaskId) -> Vec<Signal>;
        list(filter: Filter) -> Vec<Task>;
        counts() -> Vec<(State, u64)>;
        queues() -> Vec<QueueStatus>;
        lane_limits() -> std::collections::BTreeMap<String, reattempt_supervisor::TaskLimit>;
        schedules(due: Option<u32>) -> Schedules;
        unknown_workflows(queues: Vec<String>, known: Vec<(String, i32)>, waited: Duration) -> Vec<UnknownWorkflow>;
        heartbeat(worker: WorkerId, lease: Duration, known: Option<Vec<TaskId>>) -> Vec<HeldTask>;
        sweep(sweep: Sweep) -> Vec<Reclaimed>;
        history(id: TaskId) -> Vec<Record>;
        failures(id: TaskId) -> Vec<FailingStep>;
    }

    fn salt(&self) -> reattempt_supervisor::store::Salt {
        self.store.salt()
    }

    fn wait_for_work(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.store.wait_for_work()
    }

    fn wait_for_end(
        &self,
        task: TaskId,
    ) -> Option<std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>>> {
        self.store.wait_for_end(task)
    }
}
