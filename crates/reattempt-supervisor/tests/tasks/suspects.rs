//! Tasks during which workers died: nothing is undone, and no other task waits for long.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::kit::{self, pass_on};
use reattempt::{Jitter, Policy};
use reattempt_supervisor::store::{
    Filter, HeldTask, QueueStatus, Reclaimed, Schedules, Store, StoreFuture, Sweep,
    UnknownWorkflow, Write, WriteResult,
};
use reattempt_supervisor::{
    Client, FailingStep, Memory, OperatorNote, Record, RunningStep, Scheduler, SchedulerHandle,
    Signal, State, Step, StepError, Task, TaskHandle, TaskId, WorkerId, WorkflowContext, step,
    workflow,
};
use tokio::time::Instant;

/// Which tasks have begun their step, and when.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(TaskId, Instant)>>>);

impl Log {
    fn begun(&self) -> Vec<TaskId> {
        let begun = self.0.lock().unwrap();
        begun.iter().map(|(task, _)| *task).collect()
    }
}

#[step]
async fn lasts(step: &Step, #[with] log: &Log, seconds: u64) -> Result<(), String> {
    log.0.lock().unwrap().push((step.task(), Instant::now()));
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    Ok(())
}

#[workflow(max_failures = 0)]
async fn job(context: &WorkflowContext, seconds: u64) -> Result<(), StepError> {
    lasts(context, seconds).await?;
    lasts(context, 0).await
}

struct World {
    client: Client,
    log: Log,
}

impl World {
    fn new() -> Self {
        Self::on(Memory::new())
    }

    fn on(store: impl Store) -> Self {
        Self {
            client: Client::new(store),
            log: Log::default(),
        }
    }

    /// Submits tasks, and lets two workers die with all of them.
    async fn submit_suspects(&self, count: usize, seconds: u64) -> Vec<TaskHandle<()>> {
        let mut tasks = Vec::new();
        for _ in 0..count {
            tasks.push(self.client.submit(job(seconds)).await.unwrap());
        }
        for _ in 0..2 {
            let claim = Write::Claim(kit::claim("dead", "job", u32::MAX));
            let claimed = self.client.store().write([claim].into()).await.unwrap();
            assert!(matches!(&claimed[..], [WriteResult::Claimed(all, _)] if all.len() == count));
            let delays = Policy::new().base(Duration::ZERO).jitter(Jitter::None);
            let limit = u32::MAX;
            let sweep = self.client.store().sweep(Sweep {
                limit,
                every: Duration::from_secs(1),
                delays,
                in_turn: false,
            });
            assert_eq!(sweep.await.unwrap().len(), count);
        }
        tasks
    }

    fn start(&self) -> SchedulerHandle {
        Scheduler::new(&self.client)
            .register(job)
            .with(self.log.clone())
            .start()
            .unwrap()
    }

    /// Submits a task, and returns how long it waits for its start.
    async fn start_of_fresh(&self) -> Duration {
        let submitted = Instant::now();
        let task = self.client.submit(job(0)).await.unwrap();
        task.wait().await.unwrap();
        let log = self.log.0.lock().unwrap();
        let (_, begun) = log.iter().find(|(id, _)| *id == task.id()).unwrap();
        *begun - submitted
    }

    async fn ends(&self, tasks: &[TaskHandle<()>]) {
        for task in tasks {
            task.wait().await.unwrap();
            let task = task.progress().await.unwrap().task;
            assert_eq!((task.failures, task.deaths), (0, 0), "{task:?}");
        }
    }
}

/// With the default lease of 10 s, and with steps of ten minutes.
#[tokio::test(start_paused = true)]
async fn a_fresh_task_starts_in_time_beside_suspects() {
    let world = World::new();
    let tasks = world.submit_suspects(40, 600).await;
    let start = Instant::now();
    let _scheduler = world.start();
    for _ in 0..200 {
        let waited = world.start_of_fresh().await;
        assert!(waited < Duration::from_secs(5), "{waited:?}");
        tokio::time::sleep(Duration::from_millis(2_700)).await;
    }
    world.ends(&tasks).await;
    // Each is under suspicion for two leases, and then others run beside it.
    let limit = Duration::from_secs(40 * 22 + 600);
    assert!(start.elapsed() < limit, "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_suspect_is_none_any_more_when_it_makes_progress() {
    let world = World::new();
    let tasks = world.submit_suspects(40, 0).await;
    let start = Instant::now();
    let _scheduler = world.start();
    world.ends(&tasks).await;
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_suspect_runs_alone_and_others_wait_four_seconds_at_most() {
    let world = World::new();
    let tasks = world.submit_suspects(2, 30).await;
    let start = Instant::now();
    let _scheduler = world.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let fresh = world.client.submit(job(100)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(2_900)).await;
    assert_eq!(world.log.begun(), [tasks[0].id()]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.log.begun(), [tasks[0].id(), fresh.id()]);
    // The other suspect has waited for its turn for two leases.
    tokio::time::sleep_until(start + Duration::from_millis(19_500)).await;
    assert_eq!(world.log.begun().len(), 2);
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let all = [tasks[0].id(), fresh.id(), tasks[1].id()];
    assert_eq!(world.log.begun(), all);
}

/// Its deaths are forgotten on disk, so that a later death of its worker is its first.
#[tokio::test(start_paused = true)]
async fn a_suspect_that_has_run_for_two_leases_is_cleared() {
    let world = World::new();
    let tasks = world.submit_suspects(1, 600).await;
    let _scheduler = world.start();
    let mut deaths = Vec::new();
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_secs(15)).await;
        deaths.push(tasks[0].progress().await.unwrap().task.deaths);
    }
    assert_eq!(deaths, [2, 0]);
    world.ends(&tasks).await;
}

/// A store whose answers take some time.
#[derive(Debug)]
struct Slow {
    store: Memory,
}

impl Store for Slow {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.store.write(writes).await
        })
    }

    pass_on! {
        heartbeat(worker: WorkerId, lease: Duration, known: Option<Vec<TaskId>>) -> Vec<HeldTask>;
        sweep(sweep: Sweep) -> Vec<Reclaimed>;
        history(id: TaskId) -> Vec<Record>;
        failures(id: TaskId) -> Vec<FailingStep>;
    }
    pass_on! {}
}

/// A claim of other tasks may be under way when the worker asks for a suspect.
#[tokio::test(start_paused = true)]
async fn a_suspect_gets_no_seat_that_another_task_takes() {
    let world = World::on(Slow {
        store: Memory::new(),
    });
    let mut tasks = world.submit_suspects(1, 30).await;
    let scheduler = Scheduler::new(&world.client).at_once(1);
    let scheduler = scheduler.register(job).with(world.log.clone());
    let _scheduler = scheduler.start().unwrap();
    // While the first claim, which finds nothing, is under way.
    tokio::time::sleep(Duration::from_millis(10)).await;
    for _ in 0..4 {
        tasks.push(world.client.submit(job(30)).await.unwrap());
    }
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let counts = world.client.store().counts().await.unwrap();
        let held = counts.iter().find(|(state, _)| *state == State::Processing);
        let held = held.map_or(0, |(_, tasks)| *tasks);
        assert!(held <= 1, "{held} tasks at once");
    }
    world.ends(&tasks).await;
}
