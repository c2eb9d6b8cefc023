//! Connections to PostgreSQL that are cut in the middle of a transaction: nothing is done twice, and what comes late has
//! no effect.
#![cfg(feature = "postgres")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unused_async,
    reason = "a test that panics has failed; steps are async, also those that wait for nothing"
)]

#[path = "../kit/mod.rs"]
mod kit;
mod proxy;
#[path = "../../../../examples/servers/mod.rs"]
mod servers;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proxy::{Cut, Proxy};
use reattempt_supervisor::store::{ErrorKind, Store as _, Submitted, Write, WriteResult};
use reattempt_supervisor::{
    Client, Event, Lease, Postgres, RecordKind, Scheduler, SchedulerHandle, State, Step, StepError,
    TaskHandle, WorkflowContext, step, workflow,
};
use servers::Server;
use tokio::sync::watch;

/// The transactions of a writer, of a claim, of a record, of a change, of a submission.
const WRITER: &str = "retry_check_writer";
const CLAIM: &str =
    "WITH RECURSIVE level (queue, workflow, version, priority, wake_at, run_id, next)";
const RECORD: &str = "INSERT INTO retry_step";
const CHANGE: &str = "WHEN cancel_asked AND given.direction";
const SUBMIT: &str = "INSERT INTO retry_run";

/// How often each step has run.
#[derive(Clone)]
struct Log(Arc<Mutex<BTreeMap<(u32, u32), u32>>>, watch::Sender<usize>);

impl Log {
    fn new() -> Self {
        Self(Arc::default(), watch::Sender::new(0))
    }

    fn add(&self, task: u32, nth: u32) {
        *self.0.lock().unwrap().entry((task, nth)).or_default() += 1;
        self.1.send_modify(|all| *all += 1);
    }

    /// Waits until so many steps have run.
    async fn reaches(&self, steps: usize) {
        let mut all = self.1.subscribe();
        let reached = async { all.wait_for(|all| *all >= steps).await.map(drop) };
        let limit = Duration::from_secs(60);
        let result = tokio::time::timeout(limit, reached).await;
        assert!(result.is_ok(), "{} of {steps} steps", *self.1.borrow());
    }

    fn all_ran_once(&self, steps: usize) {
        let log = self.0.lock().unwrap();
        let twice: Vec<_> = log.iter().filter(|(_, times)| **times != 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        assert_eq!(log.len(), steps);
    }
}

#[step]
async fn work(_step: &Step, #[with] log: &Log, task: u32, nth: u32) -> Result<u32, String> {
    tokio::task::yield_now().await;
    log.add(task, nth);
    Ok(nth)
}

const STEPS: u32 = 20;

#[workflow]
async fn long(context: &WorkflowContext, task: u32) -> Result<u32, StepError> {
    let mut sum = 0;
    for nth in 0..STEPS {
        sum += work(context, task, nth).await?;
    }
    Ok(sum)
}

/// The lease of the scheduler.
const LEASE: Duration = Duration::from_secs(8);

/// A process that reaches its store through a proxy.
struct World {
    server: Server,
    proxy: Proxy,
    client: Client,
    log: Log,
    events: Arc<Mutex<Vec<Event>>>,
}

impl World {
    /// Returns `None` if PostgreSQL is not installed.
    async fn new() -> Option<Self> {
        let server = Server::postgres()?;
        let proxy = Proxy::start(server.port).await;
        let store = Postgres::connect(&servers::postgres_url(proxy.port))
            .await
            .unwrap();
        let events = Arc::<Mutex<Vec<Event>>>::default();
        let seen = Arc::clone(&events);
        let observer: Box<dyn Fn(&Event) + Send + Sync> =
            Box::new(move |event| seen.lock().unwrap().push(event.clone()));
        Some(Self {
            server,
            proxy,
            client: Client::with_observers(store, [observer]),
            log: Log::new(),
            events,
        })
    }

    fn start(&self) -> SchedulerHandle {
        let scheduler = Scheduler::new(&self.client).register(long);
        let scheduler = scheduler.with(self.log.clone()).lease(LEASE);
        scheduler.start().unwrap()
    }

    async fn submit(&self, tasks: u32) -> Vec<TaskHandle<u32>> {
        let mut submitted = Vec::new();
        for task in 0..tasks {
            submitted.push(self.client.submit(long(task)).await.unwrap());
        }
        submitted
    }

    /// Checks that all tasks end, without a failure, and that each step ran once and is recorded
    /// once.
    async fn all_end(&self, tasks: &[TaskHandle<u32>]) {
        for task in tasks {
            let ended = tokio::time::timeout(Duration::from_secs(60), task.wait()).await;
            assert_eq!(ended.unwrap().unwrap(), (0..STEPS).sum::<u32>());
            let progress = task.progress().await.unwrap();
            assert_eq!(progress.task.failures, 0);
            let done = progress.history.iter();
            let done = done.filter(|record| record.kind == RecordKind::Done);
            assert_eq!(done.count(), STEPS as usize);
        }
        self.log.all_ran_once(tasks.len() * STEPS as usize);
        let events = self.events.lock().unwrap();
        let lost = |event: &&Event| matches!(event, Event::Lost { .. } | Event::Reclaimed(_));
        assert_eq!(
            events.iter().find(lost).map(|event| format!("{event:?}")),
            None
        );
        let ends = events.iter();
        let ends = ends.filter(|event| matches!(event, Event::Ended { .. }));
        assert_eq!(ends.count(), tasks.len());
    }

    fn store_errors(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        let errors = events.iter().filter_map(|event| match event {
            Event::StoreError { error, .. } => Some(error.clone()),
            _ => None,
        });
        errors.collect()
    }
}

/// F4: in fifteen minutes of watching, no process heard anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_goes_on_within_a_lease_after_a_black_hole() {
    let Some(world) = World::new().await else {
        return;
    };
    let scheduler = world.start();
    let tasks = world.submit(30).await;
    world.log.reaches(100).await;
    world.proxy.cut(Cut::BlackHole, WRITER);
    while world.proxy.hits(Cut::BlackHole) == 0 {
        tokio::task::yield_now().await;
    }
    let start = Instant::now();
    let done = *world.log.1.borrow();
    // One step of each task was under way when nothing came through any more.
    world.log.reaches((done + 100).min(600)).await;
    assert!(start.elapsed() < LEASE, "{:?}", start.elapsed());
    world.all_end(&tasks).await;
    assert_eq!(world.proxy.hits(Cut::BlackHole), 1);
    assert_eq!(
        world.store_errors(),
        ["the database has not answered in time"]
    );
    scheduler.stop(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_each_kind_of_cut_everything_is_done_and_recorded_once() {
    let Some(world) = World::new().await else {
        return;
    };
    let scheduler = world.start();
    let tasks = world.submit(20).await;
    let cuts = [Cut::BeforeTheSend, Cut::AnswerLost, Cut::DeliveredLate];
    let mut steps = 0;
    for at in [RECORD, CLAIM, CHANGE] {
        for cut in cuts {
            steps += 30;
            world.log.reaches(steps).await;
            world.proxy.cut(cut, at);
            world.proxy.deliver_late().await;
        }
    }
    world.all_end(&tasks).await;
    for code in world.proxy.deliver_late().await {
        assert!(["RS002", "25P02"].contains(&&*code), "{code}");
    }
    for cut in cuts {
        assert!(world.proxy.hits(cut) >= 2, "{cut:?}");
    }
    scheduler.stop(Duration::from_secs(1)).await;
    let again = world.submit(1).await;
    world.proxy.cut(Cut::AnswerLost, SUBMIT);
    assert_ne!(world.submit(1).await[0].id(), again[0].id());
    assert_eq!(
        world.client.store().counts().await.unwrap(),
        [(State::Pending, 2), (State::Processed, 20)]
    );
}

/// N2: the client had lost the connection and given the task back when the claim took place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_comes_late_has_no_effect() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let proxy = Proxy::start(server.port).await;
    let store = Postgres::connect(&servers::postgres_url(proxy.port))
        .await
        .unwrap();
    let submitted = store.write([submission("a")].into()).await.unwrap();
    let [WriteResult::Submitted(Submitted { id, .. })] = submitted[..] else {
        panic!("{submitted:?}")
    };
    proxy.cut(Cut::DeliveredLate, CLAIM);
    let error = store.write([claim()].into()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Passing);
    store.settle().await.unwrap();
    let codes = proxy.deliver_late().await;
    assert_eq!(
        codes.first().map(String::as_str),
        Some("RS002"),
        "{codes:?}"
    );
    let task = store.task(id).await.unwrap().unwrap();
    assert_eq!((task.state, task.fence.0), (State::Pending, 0));
    let claimed = store.write([claim()].into()).await.unwrap();
    assert!(matches!(&claimed[..], [WriteResult::Claimed(tasks, _)] if tasks.len() == 1));
}

/// F5: the whole process waited for a transaction of the application, and its heartbeats with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submission_that_waits_for_the_application_delays_nobody() {
    let Some(world) = World::new().await else {
        return;
    };
    let scheduler = world.start();
    let url = servers::postgres_url(world.server.port);
    let mut application = kit::session(&url).await;
    let mut transaction = application.transaction().await.unwrap();
    let tasks = &world.client;
    let id = tasks.submit_in(&mut transaction, long(99).key("K"));
    let id = id.await.unwrap().id;
    let client = world.client.clone();
    let waiting = tokio::spawn(async move { client.submit(long(99).key("K")).await.unwrap().id() });
    let waits = "SELECT 1 FROM pg_locks WHERE NOT granted";
    while transaction.query(waits, &[]).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let tasks = world.submit(10).await;
    world.all_end(&tasks).await;
    assert!(!waiting.is_finished());
    transaction.commit().await.unwrap();
    assert_eq!(waiting.await.unwrap(), id);
    scheduler.stop(Duration::from_secs(1)).await;
}

fn submission(key: &str) -> Write {
    Write::Submit(Box::new(kit::plain(key)))
}

fn answer(lease: Lease, seq: i32, megabytes: usize) -> Write {
    kit::done(
        lease,
        seq,
        Some(format!("\"{}\"", "x".repeat(megabytes << 20))),
    )
}

/// Claims the only task that is ready.
async fn claim_one(store: &Postgres) -> Lease {
    let results = store.write([claim()].into()).await.unwrap();
    let [WriteResult::Claimed(claimed, _)] = &results[..] else {
        panic!("{results:?}");
    };
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    Lease {
        task: claimed[0].task.id,
        fence: claimed[0].task.fence,
    }
}

#[tokio::test]
async fn a_claim_beside_64_mb_of_answers_receives_little() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let proxy = Proxy::start(server.port).await;
    let store = Postgres::connect(&servers::postgres_url(proxy.port))
        .await
        .unwrap();
    store.write([submission("large")].into()).await.unwrap();
    let large = claim_one(&store).await;
    for seq in 0..16 {
        store.write([answer(large, seq, 4)].into()).await.unwrap();
    }
    let mut received = 0;
    let mut times = [Vec::new(), Vec::new()];
    let mut large = Some(large);
    for round in 0..60 {
        // Every other time the large task is claimed as well.
        let beside = round % 2;
        if beside == 1 {
            let lease = large.take().unwrap();
            store
                .write([Write::GiveBack(vec![lease])].into())
                .await
                .unwrap();
        }
        store
            .write([submission(&round.to_string())].into())
            .await
            .unwrap();
        let (before, began) = (proxy.received(), Instant::now());
        let first = claim_one(&store).await;
        let second = if beside == 1 {
            claim_one(&store).await
        } else {
            first
        };
        times[beside].push(began.elapsed() / u32::try_from(beside + 1).unwrap());
        received = received.max(proxy.received() - before);
        if beside == 1 {
            large = Some(if first.fence > second.fence {
                first
            } else {
                second
            });
        }
    }
    let medians = times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    });
    println!("at most {received} bytes; medians without and with the large task {medians:?}");
    assert!(received < 64 << 10, "{received} bytes");
}

fn claim() -> Write {
    Write::Claim(kit::claim("one", "plain", 1))
}
