//! Where the tasks are kept: a file, or a server that several processes share.

use std::path::PathBuf;
use std::sync::Arc;

use reattempt_supervisor::store::{Answer, Filter, Operation, Outcome, Store, Sweep, Swept};
use reattempt_supervisor::{Record, Run, RunId, Signal, Sqlite, State, Tasks};

use crate::servers;

pub(crate) fn all() -> Vec<String> {
    let mut all = vec!["sqlite".to_owned()];
    if cfg!(feature = "postgres") {
        all.push("postgres".to_owned());
    }
    all
}

/// A store that lives as long as this.
pub(crate) struct Place {
    pub(crate) kind: String,
    /// What a worker is told to open.
    pub(crate) name: String,
    kept: servers::Kept,
}

impl Place {
    /// `None` where its server is not installed.
    pub(crate) fn new(kind: &str) -> Option<Self> {
        let (name, kept) = servers::start(kind)?;
        Some(Self {
            kind: kind.to_owned(),
            name,
            kept,
        })
    }

    /// Whether it can be restarted under those who use it.
    pub(crate) fn is_server(&self) -> bool {
        !matches!(self.kept, servers::Kept::Folder(_))
    }

    pub(crate) fn restart(&mut self) {
        #[cfg(feature = "postgres")]
        if let servers::Kept::Server(server) = &mut self.kept {
            server.restart_postgres();
        }
    }

    pub(crate) async fn tasks(&self) -> Tasks {
        Tasks::new(open(&self.kind, &self.name).await)
    }
}

pub(crate) async fn open(kind: &str, name: &str) -> Any {
    let store: Arc<dyn Store> = match kind {
        "sqlite" => Arc::new(Sqlite::open(PathBuf::from(name)).await.unwrap()),
        #[cfg(feature = "postgres")]
        "postgres" => Arc::new(reattempt_supervisor::Postgres::connect(name).await.unwrap()),
        other => panic!("there is no store `{other}`"),
    };
    Any { store, gate: None }
}

/// Any store, with a gate before and after each write.
#[derive(Debug)]
pub(crate) struct Any {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) gate: Option<Gate>,
}

/// Which write is the last, and on which side of it the process ends.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) left: std::sync::atomic::AtomicI64,
    pub(crate) is_after: bool,
}

impl Gate {
    /// Whether this is the write.
    fn is_last(&self) -> bool {
        self.left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) == 1
    }
}

/// Says that it is time to be killed, and waits for it.
fn end() -> ! {
    println!("kill me");
    loop {
        std::thread::park();
    }
}

impl Store for Any {
    fn write(&self, operations: Arc<[Operation]>) -> Answer<'_, Vec<Outcome>> {
        let is_beat = operations
            .iter()
            .all(|operation| matches!(operation, Operation::Beat(..)));
        let gate = self.gate.as_ref().filter(|gate| !is_beat && gate.is_last());
        match gate {
            Some(gate) if gate.is_after => Box::pin(async move {
                let _ = self.store.write(operations).await;
                end()
            }),
            Some(_) => end(),
            None => self.store.write(operations),
        }
    }

    fn sweep(&self, sweep: Sweep) -> Answer<'_, Vec<Swept>> {
        self.store.sweep(sweep)
    }

    fn run(&self, id: RunId) -> Answer<'_, Option<Run>> {
        self.store.run(id)
    }

    fn history(&self, id: RunId) -> Answer<'_, Vec<Record>> {
        self.store.history(id)
    }

    fn signals(&self, id: RunId) -> Answer<'_, Vec<Signal>> {
        self.store.signals(id)
    }

    fn list(&self, filter: Filter) -> Answer<'_, Vec<Run>> {
        self.store.list(filter)
    }

    fn counts(&self) -> Answer<'_, Vec<(State, u64)>> {
        self.store.counts()
    }

    fn woken(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.store.woken()
    }

    fn salt(&self) -> u64 {
        self.store.salt()
    }
}
