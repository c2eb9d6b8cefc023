//! Queues with limits, on a store in memory with tokio's clock paused. The schedulers look so rarely by
//! themselves that only the end of a task or the time of a rate makes them look.

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::kit::{self, pass_on};
#[cfg(feature = "postgres")]
use crate::servers;
use reattempt_supervisor::store::{
    Filter, HeldTask, QueueStatus, Reclaimed, Schedules, Store, StoreFuture, Sweep,
    UnknownWorkflow, Write, WriteResult,
};
use reattempt_supervisor::{
    Client, FailingStep, Memory, OperatorNote, Record, RunningStep, Scheduler, SchedulerHandle,
    Signal, State, Step, StepError, Task, TaskId, TaskLimit, WorkerId, WorkflowContext, step,
    workflow,
};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);
const RARELY: Duration = Duration::from_secs(100);

/// When each task began.
#[derive(Clone, Default)]
struct Begun(Arc<Mutex<Vec<Instant>>>);

impl Begun {
    /// Returns the largest number of them in a second.
    fn most_in_a_second(&self) -> usize {
        let times = self.0.lock().unwrap();
        let within = |(nth, first): (usize, &Instant)| {
            times.partition_point(|time| *time < *first + SECOND) - nth
        };
        times.iter().enumerate().map(within).max().unwrap()
    }
}

#[step]
async fn work(_step: &Step, #[with] begun: &Begun, time: Duration) -> Result<(), String> {
    begun.0.lock().unwrap().push(Instant::now());
    tokio::time::sleep(time).await;
    Ok(())
}

#[workflow]
async fn limited(context: &WorkflowContext, time: Duration) -> Result<(), StepError> {
    work(context, time).await
}

/// A store that counts claims.
#[derive(Debug, Clone)]
struct Counted {
    store: Arc<Memory>,
    claims: Arc<AtomicU32>,
}

impl Store for Counted {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        let claims = writes
            .iter()
            .filter(|write| matches!(write, Write::Claim(_)));
        self.claims
            .fetch_add(claims.count().try_into().unwrap(), Ordering::Relaxed);
        self.store.write(writes)
    }

    pass_on! {}

    pass_on! {
        heartbeat(worker: WorkerId, lease: Duration, known: Option<Vec<TaskId>>) -> Vec<HeldTask>;
        sweep(sweep: Sweep) -> Vec<Reclaimed>;
        history(id: TaskId) -> Vec<Record>;
        failures(id: TaskId) -> Vec<FailingStep>;
    }

    fn wait_for_work(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.store.wait_for_work()
    }
}

/// Two schedulers that take tasks of the queues `limited` and `free`.
struct Fixture {
    client: Client,
    schedulers: Vec<SchedulerHandle>,
    begun: Begun,
    claims: Arc<AtomicU32>,
    start: Instant,
}

impl Fixture {
    async fn new(limit: TaskLimit) -> Self {
        let (begun, claims) = (Begun::default(), Arc::default());
        let store = Counted {
            store: Arc::new(Memory::new()),
            claims: Arc::clone(&claims),
        };
        let clients = [(); 2].map(|()| Client::new(store.clone()));
        clients[0].limit_queue("limited", limit).await.unwrap();
        let schedulers = clients.each_ref().map(|client| {
            let scheduler = Scheduler::new(client).register(limited).with(begun.clone());
            let scheduler = scheduler.queues(["limited", "free"]).poll(RARELY);
            scheduler.start().unwrap()
        });
        let [client, _] = clients;
        Self {
            client,
            schedulers: schedulers.into(),
            begun,
            claims,
            start: Instant::now(),
        }
    }

    /// Submits tasks that take so long, and waits for their ends.
    async fn run(&self, queue: &str, tasks: u32, time: Duration) {
        let tasks = (0..tasks).map(|_| limited(time).queue(queue));
        for task in self.client.submit_many(tasks).await.unwrap() {
            task.unwrap().wait().await.unwrap();
        }
    }

    async fn stop(self) {
        for scheduler in self.schedulers {
            scheduler.stop(Duration::ZERO).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_is_never_exceeded_and_used_without_looking_all_the_time() {
    let fixture = Fixture::new(TaskLimit::new().rate(10, SECOND)).await;
    let before = fixture.claims.load(Ordering::Relaxed);
    fixture.run("limited", 300, SECOND / 5).await;
    assert_eq!(fixture.begun.most_in_a_second(), 10);
    // 95 % of the rate; a caller that waits for a task looks once a second.
    let elapsed = fixture.start.elapsed();
    assert!(elapsed < SECOND * 34, "{elapsed:?}");
    // Both schedulers look when the time has come and when a task has ended, and for suspects.
    let claims = fixture.claims.load(Ordering::Relaxed) - before;
    assert!(claims < 200, "{claims} claims");
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn slots_are_used_at_once_when_they_are_free() {
    let fixture = Fixture::new(TaskLimit::new().concurrency(3)).await;
    fixture.run("limited", 30, SECOND).await;
    let begun = fixture.begun.0.lock().unwrap().clone();
    for (nth, time) in (0..).zip(&begun) {
        let after = time.duration_since(fixture.start);
        let due = SECOND * (nth / 3);
        let is_due = (due..due + SECOND / 10).contains(&after);
        assert!(is_due, "task {nth} began after {after:?}");
    }
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stopped_queue_holds_back_no_other() {
    let fixture = Fixture::new(TaskLimit::new().concurrency(0)).await;
    let (client, other) = (fixture.client.clone(), limited(SECOND).queue("limited"));
    let waiting = client.submit(other).await.unwrap();
    fixture.run("free", 300, SECOND).await;
    assert!(fixture.start.elapsed() < SECOND * 5);
    let task = fixture.client.task::<()>(waiting.id());
    assert_eq!(task.progress().await.unwrap().task.state, State::Pending);
    // It goes on at once when the limit is removed.
    let removed = fixture.client.limit_queue("limited", TaskLimit::new());
    removed.await.unwrap();
    waiting.wait().await.unwrap();
    assert!(fixture.start.elapsed() < SECOND * 10);
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn limits_that_no_queue_can_have_are_refused() {
    let client = Client::new(Memory::new());
    for (limit, wanted) in [
        (
            TaskLimit::new().rate(0, SECOND),
            "a rate needs at least 1 task; `concurrency` 0 stops a queue or a lane",
        ),
        (
            TaskLimit::new().rate(1, Duration::from_millis(99)),
            "the period of a rate is at least 100ms; give more tasks for a longer period: 10 in 1ms are 1000 in 100ms",
        ),
        (
            TaskLimit::new().rate(1, SECOND * 86_401),
            "the period of a rate is at most a day",
        ),
    ] {
        let refused = client.limit_queue("q", limit).await.unwrap_err();
        assert_eq!(refused.to_string(), wanted);
    }
    assert!(client.queues().await.unwrap().is_empty());
    let limit = TaskLimit::new().concurrency(5).rate(50, SECOND);
    assert_eq!(limit.to_string(), "5 at once, 50 in 1s");
    client.limit_queue("q", limit).await.unwrap();
    assert_eq!(client.queues().await.unwrap()[0].limit, limit);
}

/// By the clock of the store a task runs until the transaction begins in which it ends.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_transaction_counts_what_has_left_since_it_began() {
    use reattempt_supervisor::{Lease, Postgres};

    let Some(server) = servers::Server::postgres() else {
        return;
    };
    let url = server.url();
    let store = Postgres::connect(&url).await.unwrap();
    let other = kit::session(&url).await;
    let room = async || {
        let room = "SELECT room FROM retry_room('default')";
        let row = other.query_one(room, &[]).await.unwrap();
        row.get::<_, i64>(0)
    };
    let limit = Write::LimitQueue("default".to_owned(), TaskLimit::new().concurrency(1));
    let task = Write::Submit(Box::new(kit::plain("one")));
    let claim = Write::Claim(kit::claim("a", "plain", 1));
    let results = store.write([limit, task, claim].into()).await.unwrap();
    let Some(WriteResult::Claimed(claimed, _)) = results.last() else {
        panic!("{results:?}");
    };
    let lease = Lease {
        task: claimed[0].task.id,
        fence: claimed[0].task.fence,
    };
    let end = kit::change_to(State::Processed);
    assert_eq!(room().await, 0);
    other.batch_execute("BEGIN; SELECT 1").await.unwrap();
    let end = Write::Change(lease, Box::new(end));
    store.write([end].into()).await.unwrap();
    // Another claim looks in between, and takes nothing.
    let none = Write::Claim(kit::claim("b", "plain", 0));
    store.write([none].into()).await.unwrap();
    assert_eq!(room().await, 0);
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(room().await, 1);
}
