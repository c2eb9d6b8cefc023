//! Children whose parents turn back, on a store in memory with tokio's clock paused.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::kit::pass_on;
use reattempt_supervisor::store::{
    Filter, HeldTask, QueueStatus, Reclaimed, Schedules, Store, StoreFuture, Sweep,
    UnknownWorkflow, Write, WriteResult,
};
use reattempt_supervisor::{
    ChildError, Client, FailingStep, Memory, OperatorNote, Record, RunningStep, Scheduler,
    SchedulerHandle, Signal, State, Step, StepError, Task, TaskId, WorkerId, WorkflowContext, step,
    workflow,
};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// What was booked, and what was cancelled again: its negative.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<i32>>>);

#[step(undo = unbook)]
async fn book(_step: &Step, #[with] log: &Log, number: i32) -> Result<i32, String> {
    log.0.lock().unwrap().push(number);
    Ok(number)
}

#[step]
async fn unbook(_: &Step, #[with] log: &Log, number: i32, _booked: &i32) -> Result<(), String> {
    tokio::time::sleep(Duration::from_secs(2)).await;
    log.0.lock().unwrap().push(-number);
    Ok(())
}

#[step]
async fn refuse(_step: &Step) -> Result<(), String> {
    Err("there is no room".to_owned())
}

#[workflow]
async fn room(context: &WorkflowContext, number: i32, nights: u64) -> Result<i32, StepError> {
    let booked = book(context, number).await?;
    context.sleep(Duration::from_secs(nights * 100)).await;
    Ok(booked)
}

/// A child with a child.
#[workflow]
async fn house(context: &WorkflowContext, number: i32) -> Result<i32, AnyError> {
    let room = context.start(room(number + 1, 0)).await;
    book(context, number).await?;
    Ok(context.result(&room).await?)
}

#[workflow(on_failure = "keep")]
async fn kept(context: &WorkflowContext, number: i32) -> Result<(), StepError> {
    book(context, number).await?;
    refuse(context).await
}

/// Fails at the end, or waits for a signal that does not come.
#[workflow]
async fn trip(context: &WorkflowContext, fails: bool) -> Result<i32, AnyError> {
    book(context, 1).await?;
    let _ = context.start(room(60, 1)).await;
    let first = context.start(house(10)).await;
    context.result(&first).await?;
    book(context, 2).await?;
    let failed = context.start(kept(20)).await;
    let _: Result<(), ChildError> = context.result(&failed).await;
    let _ = context.start(room(30, 0)).await;
    let _ = context.start(room(40, 1)).await;
    let _ = context.start(room(50, 1).detached()).await;
    context.sleep(Duration::from_secs(20)).await;
    book(context, 3).await?;
    if fails {
        refuse(context).await?;
    }
    Ok(context.signal("never", None).await?.unwrap_or_default())
}

#[workflow(on_failure = "keep")]
async fn keeper(context: &WorkflowContext) -> Result<(), StepError> {
    let _ = context.start(room(1, 1)).await;
    let _ = context.start(room(2, 0)).await;
    context.sleep(Duration::from_secs(20)).await;
    refuse(context).await
}

struct Place {
    client: Client,
    log: Log,
    running: SchedulerHandle,
}

impl Place {
    fn new() -> Self {
        let (client, log) = (Client::new(Memory::new()), Log::default());
        let running = start(&client, &log);
        Self {
            client,
            log,
            running,
        }
    }

    /// Stops the scheduler in the middle of what it does, and starts another one.
    async fn restart(&mut self) {
        let next = start(&self.client, &self.log);
        let old = std::mem::replace(&mut self.running, next);
        old.stop(Duration::ZERO).await;
    }

    /// Returns what was cancelled again, in order, but for these.
    fn undone(&self, but: &[i32]) -> Vec<i32> {
        let log = self.log.0.lock().unwrap().clone();
        let is_undone = |number: &i32| *number < 0 && !but.contains(number);
        log.into_iter().filter(is_undone).collect()
    }

    async fn wait_for(&self, id: TaskId, state: State) -> Task {
        loop {
            let task = self.client.store().task(id).await.unwrap().unwrap();
            if task.state == state {
                return task;
            }
            assert!(!task.state.is_final(), "{task:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Returns the states of all tasks, by their arguments.
    async fn states(&self) -> BTreeMap<String, State> {
        let tasks = self.client.list(Filter::default()).await.unwrap();
        let state = |task: Task| (format!("{}{}", task.workflow, task.input), task.state);
        tasks.into_iter().map(state).collect()
    }

    /// Checks that a trip has turned back with its children.
    async fn check_trip(&self, end: State) {
        assert_eq!(self.undone(&[-40, -60]), [-3, -30, -20, -2, -10, -11, -1]);
        // They ran, so they were cancelled before the rest was undone.
        let log = self.log.0.lock().unwrap().clone();
        let place = |number: i32| log.iter().position(|other| *other == number);
        assert!(place(-40) < place(-20), "{log:?}");
        assert!(place(-60).is_some() && place(-60) < place(-2), "{log:?}");
        assert!(place(-50).is_none());
        tokio::time::sleep(Duration::from_secs(200)).await;
        let states = self.states().await;
        let wanted = [
            ("house[10]", State::Cancelled),
            ("kept[20]", State::Cancelled),
            ("room[11,0]", State::Cancelled),
            ("room[30,0]", State::Cancelled),
            ("room[40,1]", State::Cancelled),
            ("room[60,1]", State::Cancelled),
            ("room[50,1]", State::Processed),
            ("trip", end),
        ];
        let found = wanted.map(|(name, _)| {
            let found = states.iter().find(|(other, _)| other.starts_with(name));
            (name, *found.unwrap().1)
        });
        assert_eq!(found, wanted);
    }
}

fn start(client: &Client, log: &Log) -> SchedulerHandle {
    Scheduler::new(client)
        .register(room)
        .register(house)
        .register(kept)
        .register(trip)
        .register(keeper)
        .with(log.clone())
        .start()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn children_turn_back_with_a_parent_that_fails() {
    let place = Place::new();
    let task = place.client.submit(trip(true)).await.unwrap();
    place.wait_for(task.id(), State::Compensated).await;
    place.check_trip(State::Compensated).await;
}

#[tokio::test(start_paused = true)]
async fn children_turn_back_with_a_parent_that_is_cancelled() {
    let place = Place::new();
    let task = place.client.submit(trip(false)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(40)).await;
    place.client.cancel(task.id()).await.unwrap();
    place.wait_for(task.id(), State::Cancelled).await;
    place.check_trip(State::Cancelled).await;
}

#[tokio::test(start_paused = true)]
async fn children_turn_back_once_whenever_the_process_ends() {
    for start in 0..5 {
        let mut place = Place::new();
        let task = place.client.submit(trip(true)).await.unwrap();
        tokio::time::sleep(Duration::from_secs(22)).await;
        for nth in 0..20 {
            let pause = Duration::from_millis(300 + (start * 7 + nth * 211) % 2_900);
            tokio::time::sleep(pause).await;
            place.restart().await;
        }
        place.wait_for(task.id(), State::Compensated).await;
        place.check_trip(State::Compensated).await;
    }
}

#[tokio::test(start_paused = true)]
async fn children_go_on_as_long_as_their_parent_is_kept() {
    let place = Place::new();
    let task = place.client.submit(keeper()).await.unwrap();
    place.wait_for(task.id(), State::Error).await;
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert_eq!(place.states().await["room[1,1]"], State::Processed);
    place.client.undo(task.id()).await.unwrap();
    place.wait_for(task.id(), State::Compensated).await;
    let states = place.states().await;
    assert_eq!(states["room[1,1]"], State::Cancelled);
    assert_eq!(states["room[2,0]"], State::Cancelled);
}

/// One worker with one seat runs parents and children.
#[tokio::test(start_paused = true)]
async fn a_parent_that_waits_for_its_children_to_turn_back_holds_no_seat() {
    let (client, log) = (Client::new(Memory::new()), Log::default());
    let scheduler = Scheduler::new(&client).register(keeper).register(room);
    let running = scheduler.with(log.clone()).at_once(1).start().unwrap();
    let place = Place {
        client,
        log,
        running,
    };
    let task = place.client.submit(keeper()).await.unwrap();
    place.wait_for(task.id(), State::Error).await;
    place.client.undo(task.id()).await.unwrap();
    place.wait_for(task.id(), State::Compensated).await;
    let mut undone = place.undone(&[]);
    undone.sort_unstable();
    assert_eq!(undone, [-2, -1]);
}

/// Workers look for work by themselves every hour.
#[tokio::test(start_paused = true)]
async fn the_last_child_wakes_its_parent() {
    let (client, log) = (Client::new(Memory::new()), Log::default());
    let scheduler = Scheduler::new(&client).register(house).register(room);
    let _running = scheduler
        .with(log)
        .poll(Duration::from_secs(3_600))
        .start()
        .unwrap();
    let start = tokio::time::Instant::now();
    let task = client.submit(house(1)).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 2);
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
}

/// A process with a slow connection to a store: it hears late how children have been turned back.
#[derive(Debug)]
struct Slow {
    store: Arc<Memory>,
    is_slow: bool,
}

impl Store for Slow {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        let turns_back = |write: &Write| matches!(write, Write::EndChildren { undo: true, .. });
        let is_late = self.is_slow && writes.iter().any(turns_back);
        Box::pin(async move {
            let results = self.store.write(writes).await;
            if is_late {
                tokio::time::sleep(Duration::from_secs(9)).await;
            }
            results
        })
    }

    pass_on! {}

    pass_on! {
        heartbeat(worker: WorkerId, lease: Duration, known: Option<Vec<TaskId>>) -> Vec<HeldTask>;
        sweep(sweep: Sweep) -> Vec<Reclaimed>;
        history(id: TaskId) -> Vec<Record>;
        failures(id: TaskId) -> Vec<FailingStep>;
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_that_ends_before_its_parent_waits_counts() {
    let store = Arc::new(Memory::new());
    let [parents, children] = [true, false].map(|is_slow| {
        Client::new(Slow {
            store: Arc::clone(&store),
            is_slow,
        })
    });
    let log = Log::default();
    let scheduler = Scheduler::new(&parents).register(keeper);
    let _running = scheduler.with(log.clone()).start().unwrap();
    let running = Scheduler::new(&children).register(room).with(log.clone());
    let place = Place {
        running: running.start().unwrap(),
        client: children,
        log,
    };
    let task = parents.submit(keeper()).await.unwrap();
    place.wait_for(task.id(), State::Error).await;
    parents.undo(task.id()).await.unwrap();
    let turned_back = place.wait_for(task.id(), State::Compensated);
    let limit = Duration::from_secs(600);
    tokio::time::timeout(limit, turned_back).await.unwrap();
}
