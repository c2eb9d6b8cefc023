//! A store, its clock, and what it returns and keeps.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use reattempt::{Jitter, Policy};
use reattempt_supervisor::store::{
    ClaimedTask, Ending, Filter, Store, StoreError, Sweep, WriteResult,
};
use reattempt_supervisor::{Lease, Memory, Postgres, Sqlite, State, Time, WorkerId};
use tokio::runtime::{Builder, Runtime};

use crate::generator::Operation;
use crate::ids::Ids;
use crate::{kit, s, servers};

const CLOCK: &str = include_str!("../kit/clock.sql");

/// What an operation returned, and what the store keeps.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) lines: Vec<String>,
    /// The leases of the tasks that were claimed.
    pub(crate) leases: Vec<Lease>,
    /// How many tasks there ever were.
    pub(crate) tasks: i64,
    /// The signals that there are.
    pub(crate) signals: Vec<i64>,
}

/// What sets the clock of a store.
enum Clock {
    /// The paused one of tokio.
    Paused,
    Shared(Arc<AtomicI64>),
    Table(tokio_postgres::Client),
}

/// A store under test.
pub(crate) struct Subject {
    store: Arc<dyn Store>,
    clock: Clock,
    runtime: Arc<Runtime>,
    now: Time,
    ids: Ids,
    _folder: Option<Folder>,
}

/// A folder that is deleted.
struct Folder(std::path::PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Subject {
    /// Returns the stores: memory, SQLite, and PostgreSQL where that is installed.
    pub(crate) fn all(
        runtime: &Arc<Runtime>,
        server: Option<&servers::Server>,
        nth: usize,
    ) -> Vec<Self> {
        let paused = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        let paused = Arc::new(paused.unwrap());
        let memory: Arc<dyn Store> = paused.block_on(async { Arc::new(Memory::new()) });
        let now = paused.block_on(async { memory.schedules(None).await.unwrap().now });
        let place = |store, clock, runtime: &Arc<Runtime>, folder| Self {
            store,
            clock,
            runtime: Arc::clone(runtime),
            now,
            ids: Ids::default(),
            _folder: folder,
        };
        let mut all = vec![place(memory, Clock::Paused, &paused, None)];
        let folder = Folder(servers::folder("agree"));
        let micros = Arc::new(AtomicI64::new(now.as_micros()));
        let clock = Arc::clone(&micros);
        let sqlite = runtime.block_on(Sqlite::open_with_clock(
            folder.0.join("tasks.db"),
            move || Time::from_micros(clock.load(Ordering::Relaxed)),
        ));
        let sqlite: Arc<dyn Store> = Arc::new(sqlite.unwrap());
        all.push(place(sqlite, Clock::Shared(micros), runtime, Some(folder)));
        if let Some(server) = server {
            let (store, client) = runtime.block_on(async {
                let client = kit::session(&server.url()).await;
                let schema = format!(
                    "{CLOCK} UPDATE sim.clock SET micros = {}; CREATE SCHEMA s{nth}",
                    now.as_micros()
                );
                client.batch_execute(&schema).await.unwrap();
                let url = format!(
                    "{}?options=-csearch_path%3Ds{nth},sim,pg_catalog",
                    server.url()
                );
                (Postgres::connect(&url).await.unwrap(), client)
            });
            all.push(place(Arc::new(store), Clock::Table(client), runtime, None));
        }
        all
    }

    pub(crate) const fn now(&self) -> Time {
        self.now
    }

    /// Carries out an operation.
    pub(crate) fn run(&mut self, operation: &Operation) -> Seen {
        let runtime = Arc::clone(&self.runtime);
        runtime.block_on(async {
            let mut seen = Seen::default();
            self.carry_out(operation, &mut seen).await;
            self.look(&mut seen).await;
            // Two operations are never at the same moment.
            self.pass(Duration::from_micros(1)).await;
            seen
        })
    }

    async fn carry_out(&mut self, operation: &Operation, seen: &mut Seen) {
        match operation {
            Operation::Pass(time) => self.pass(*time).await,
            Operation::Write(writes) => {
                let writes: Vec<_> = writes.iter().map(|write| self.ids.write(write)).collect();
                match self.store.write(Arc::from(writes)).await {
                    Ok(results) => {
                        for result in results {
                            let result = self.ids.result(result);
                            if let WriteResult::Claimed(claimed, _) = &result {
                                seen.leases.extend(claimed.iter().map(lease));
                            }
                            seen.add("result", &result);
                        }
                    }
                    Err(error) => panic!("{operation:?}\n{error:?}"),
                }
            }
            Operation::Heartbeat(worker, time) => {
                let held = self
                    .store
                    .heartbeat(WorkerId((*worker).to_owned()), *time, None)
                    .await;
                let mut held: Vec<_> = held
                    .unwrap()
                    .into_iter()
                    .map(|one| self.ids.held(one))
                    .collect();
                held.sort_by_key(|one| one.lease.task);
                seen.add("held", &held);
            }
            Operation::List(filter) => {
                let filter = Filter {
                    before: filter.before.map(|task| self.ids.real(task)),
                    ..filter.clone()
                };
                for task in self.store.list(filter).await.unwrap() {
                    let task = self.ids.task(task);
                    seen.add("listed", &task);
                }
            }
            Operation::Sweep => {
                let sweep = Sweep {
                    limit: 1_000,
                    every: s(10),
                    delays: Policy::new()
                        .base(s(1))
                        .cap(s(60))
                        .jitter(Jitter::None)
                        .unlimited(),
                    in_turn: false,
                };
                let reclaimed = self.store.sweep(sweep).await.unwrap();
                let mut reclaimed: Vec<_> = reclaimed
                    .into_iter()
                    .map(|one| self.ids.reclaimed(one))
                    .collect();
                reclaimed.sort_by_key(|one| one.task);
                seen.add("reclaimed", &reclaimed);
            }
        }
    }

    async fn pass(&mut self, time: Duration) {
        self.now = self.now.after(time);
        let micros = self.now.as_micros();
        match &self.clock {
            Clock::Paused => tokio::time::advance(time).await,
            Clock::Shared(clock) => clock.store(micros, Ordering::Relaxed),
            Clock::Table(client) => {
                let sql = format!("UPDATE sim.clock SET micros = {micros}");
                client.batch_execute(&sql).await.unwrap();
            }
        }
    }

    /// Adds all that the store keeps.
    async fn look(&mut self, seen: &mut Seen) {
        let store = Arc::clone(&self.store);
        let filter = Filter {
            limit: 1_000,
            ..Filter::default()
        };
        for task in store.list(filter).await.unwrap() {
            let task = self.ids.task(task);
            seen.add("task", &task);
        }
        for task in self.ids.all() {
            let place = self.ids.place(task);
            seen.tasks += 1;
            let mut records = store.history(task).await.unwrap();
            records.sort_by_key(|record| (record.seq, record.kind));
            for record in records {
                seen.add(&format!("record of {place}"), &self.ids.record(record));
            }
            for signal in store.signals(task).await.unwrap() {
                // It stands for one that was heard, so that a repetition of that is none.
                if signal.name == "reattempt:heard" {
                    continue;
                }
                let signal = self.ids.signal_of(task, signal);
                seen.signals.push(signal.id);
                seen.add(&format!("signal of {place}"), &signal);
            }
            seen.add_all(&format!("failure of {place}"), store.failures(task).await);
            seen.add_all(&format!("note of {place}"), store.notes(task).await);
            let running = store.running(task).await;
            let running =
                running.map(|all| all.into_iter().map(|one| self.ids.running(one)).collect());
            seen.add_all(&format!("running of {place}"), running);
        }
        self.look_at_the_feed(seen).await;
        let mut counts = store.counts().await.unwrap();
        counts.retain(|(_, count)| *count > 0);
        counts.sort_by_key(|(state, _): &(State, u64)| state.number());
        seen.add("counts", &counts);
        seen.add_all("queue", store.queues().await);
        for due in [None, Some(1)] {
            let schedules = store.schedules(due).await.unwrap();
            seen.add("schedules", &schedules);
        }
        let (queues, known) = (
            vec!["q".to_owned(), "r".to_owned()],
            vec![("w".to_owned(), 1)],
        );
        seen.add_all(
            "unknown",
            store.unknown_workflows(queues, known, s(2)).await,
        );
    }
}

impl Subject {
    /// Adds the lines of the feed, task by task: two tasks may have ended in one statement, in any order.
    async fn look_at_the_feed(&mut self, seen: &mut Seen) {
        let page = self.store.read_feed("all".to_owned(), 10_000, true).await;
        let mut page = page.unwrap();
        page.endings.sort_by_key(|line| (line.task, line.number));
        for line in page.endings {
            let line = Ending {
                number: 0,
                task: self.ids.place(line.task),
                ..line
            };
            seen.add("end", &line);
        }
        seen.add("missed", &page.missed);
    }
}

impl Seen {
    fn add(&mut self, what: &str, value: &impl Debug) {
        self.lines.push(format!("{what}: {value:?}"));
    }

    fn add_all(&mut self, what: &str, values: Result<Vec<impl Debug>, StoreError>) {
        for value in values.unwrap() {
            self.add(what, &value);
        }
    }
}

const fn lease(claimed: &ClaimedTask) -> Lease {
    Lease {
        task: claimed.task.id,
        fence: claimed.task.fence,
    }
}
