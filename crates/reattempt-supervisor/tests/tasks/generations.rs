//! Workflows that continue as new.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::kit::pass_on;
#[cfg(feature = "postgres")]
use crate::servers;
use reattempt::Verdict;
use reattempt_supervisor::replay::{Replay, export};
use reattempt_supervisor::store::{
    Filter, HeldTask, QueueStatus, Reclaimed, Schedules, Store, StoreError, StoreFuture, Sweep,
    UnknownWorkflow, Write, WriteResult,
};
use reattempt_supervisor::{
    ChildError, Client, Event, FailingStep, Memory, OperatorNote, Record, RunningStep, Scheduler,
    SchedulerHandle, Signal, State, Step, StepError, SubmitError, Task, TaskHandle, TaskId,
    WorkerId, WorkflowContext, step, workflow,
};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// What the steps did: numbers and keys, in order. The longest history that a step has seen.
#[derive(Clone)]
struct Log(Arc<Mutex<Vec<(u64, String)>>>, Arc<AtomicUsize>, Client);

impl Log {
    fn new(client: &Client) -> Self {
        Self(Arc::default(), Arc::default(), client.clone())
    }

    fn numbers(&self) -> Vec<u64> {
        (self.0.lock().unwrap().iter().map(|(number, _)| *number)).collect()
    }

    fn keys(&self) -> BTreeSet<String> {
        (self.0.lock().unwrap().iter().map(|(_, key)| key.clone())).collect()
    }
}

#[step]
async fn note(step: &Step, #[with] log: &Log, number: u64) -> Result<u64, String> {
    let history = log.2.store().history(step.task()).await;
    log.1.fetch_max(history.unwrap().len(), Ordering::SeqCst);
    let entry = (number, step.key().to_owned());
    log.0.lock().unwrap().push(entry);
    Ok(number)
}

#[step]
async fn slow(_step: &Step) -> Result<u64, String> {
    tokio::time::sleep(Duration::from_secs(50)).await;
    Ok(5)
}

#[step(undo = unbook)]
async fn book(_step: &Step) -> Result<u64, String> {
    Ok(7)
}

#[step]
async fn unbook(_: &Step, _booked: &u64) -> Result<(), String> {
    Ok(())
}

#[step(retry(idempotent = false, on = |_: &String| Verdict::Permanent))]
async fn charge(_step: &Step) -> Result<u64, String> {
    tokio::time::sleep(Duration::from_secs(50)).await;
    Ok(1)
}

/// Counts up to `end`, one generation for each number.
#[workflow]
async fn counting(context: &WorkflowContext, number: u64, end: u64) -> Result<u64, StepError> {
    note(context, number).await?;
    if number == end {
        return Ok(number);
    }
    context.continue_as_new(counting(number + 1, end)).await
}

/// Counts slowly; a process may end in between.
#[workflow]
async fn pausing(context: &WorkflowContext, number: u64, end: u64) -> Result<u64, StepError> {
    note(context, number).await?;
    context.sleep(Duration::from_secs(3)).await;
    if number < end {
        context.continue_as_new(pausing(number + 1, end)).await;
    }
    Ok(number)
}

/// Notes the numbers that it is sent, two in each generation.
#[workflow]
async fn listening(context: &WorkflowContext, heard: u64, end: u64) -> Result<u64, AnyError> {
    let mut number = 0;
    for _ in 0..2 {
        number = context.signal("number", None).await?.unwrap_or_default();
        note(context, number).await?;
    }
    if heard + 2 >= end {
        return Ok(number);
    }
    context.continue_as_new(listening(heard + 2, end)).await
}

/// Its random numbers and times.
#[workflow]
async fn rolling(context: &WorkflowContext, number: u64, end: u64) -> Result<(), StepError> {
    let began = context.now().as_micros().unsigned_abs();
    note(context, context.random() >> 1).await?;
    note(context, began).await?;
    context.sleep(Duration::from_secs(100)).await;
    if number == end {
        return Ok(());
    }
    context.continue_as_new(rolling(number + 1, end)).await
}

/// Continues as new beside a step.
#[workflow]
async fn beside(context: &WorkflowContext, number: u64) -> Result<u64, StepError> {
    if number > 0 {
        return Ok(number);
    }
    let result = tokio::select! {
        biased;
        never = context.continue_as_new(beside(number + 1)) => never,
        result = slow(context) => result,
    };
    context.sleep(Duration::from_secs(9)).await;
    result
}

/// Continues as new although something may have to be undone.
#[workflow]
async fn refused(context: &WorkflowContext, why: String) -> Result<u64, AnyError> {
    let again = || refused(String::new());
    match &*why {
        "undo" => {
            book(context).await?;
        }
        "child" => {
            let child = context.start(counting(1, 1)).await;
            context.result(&child).await?;
        }
        "detached" => {
            let child = context.start(counting(1, 1).detached()).await;
            context.result(&child).await?;
        }
        "unknown" => {
            tokio::select! {
                _ = charge(context) => {}
                () = context.sleep(Duration::from_secs(1)) => {}
            }
        }
        "other" => context.continue_as_new(counting(1, 1)).await,
        "delay" => {
            let later = again().delay(Duration::from_secs(9));
            context.continue_as_new(later).await;
        }
        "large" => {
            context.continue_as_new(refused("x".repeat(300))).await;
        }
        "" => return Ok(0),
        _ => {}
    }
    context.continue_as_new(again()).await
}

#[workflow]
async fn parent(context: &WorkflowContext) -> Result<u64, ChildError> {
    let child = context.start(pausing(1, 5)).await;
    context.result(&child).await
}

mod second {
    use super::*;

    #[workflow(version = 2)]
    pub(crate) async fn pausing(
        context: &WorkflowContext,
        number: u64,
        _end: u64,
    ) -> Result<u64, StepError> {
        note(context, number * 1_000).await
    }
}

#[workflow(name = "pausing")]
async fn upgrading(context: &WorkflowContext, number: u64, end: u64) -> Result<u64, StepError> {
    note(context, number).await?;
    context
        .continue_as_new(second::pausing(number + 1, end))
        .await
}

/// A client of a store, and the log of the process that runs its tasks.
struct Place {
    client: Client,
    log: Log,
    running: SchedulerHandle,
}

impl Place {
    fn new() -> Self {
        Self::of(Client::new(Memory::new()))
    }

    fn of(client: Client) -> Self {
        let log = Log::new(&client);
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

    async fn wait_for(&self, id: TaskId, is_it: impl Fn(&Task) -> bool) -> Task {
        loop {
            let task = self.client.store().task(id).await.unwrap().unwrap();
            if is_it(&task) {
                return task;
            }
            assert!(!task.state.is_final(), "{task:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn start(client: &Client, log: &Log) -> SchedulerHandle {
    Scheduler::new(client)
        .register(counting)
        .register(pausing)
        .register(second::pausing)
        .register(listening)
        .register(rolling)
        .register(beside)
        .register(refused)
        .register(parent)
        .with(log.clone())
        .start()
        .unwrap()
}

async fn check_count(place: &Place, end: u64) {
    let task = place.client.submit(counting(1, end)).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), end);
    assert_eq!(place.log.numbers(), (1..=end).collect::<Vec<_>>());
    // No step has the key of one in another generation.
    assert_eq!(u64::try_from(place.log.keys().len()).unwrap(), end);
    let progress = task.progress().await.unwrap();
    assert_eq!(u64::try_from(progress.task.generation).unwrap(), end - 1);
    assert_eq!(progress.history.len(), 1);
    assert_eq!(place.log.1.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_loop_of_a_thousand_generations_has_a_short_history() {
    let start = tokio::time::Instant::now();
    check_count(&Place::new(), 1_000).await;
    // The task does not wait for the next look.
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn observers_hear_of_each_generation() {
    let heard = Arc::<Mutex<Vec<_>>>::default();
    let own = Arc::clone(&heard);
    let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(move |event| {
        if let Event::Continued {
            workflow,
            generation,
            ..
        } = event
        {
            own.lock().unwrap().push((workflow.clone(), *generation));
        }
    });
    check_count(
        &Place::of(Client::with_observers(Memory::new(), [observer])),
        4,
    )
    .await;
    let generations = [1, 2, 3].map(|generation| ("counting".to_owned(), generation));
    assert_eq!(*heard.lock().unwrap(), generations);
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generations_follow_each_other_in_postgres() {
    let Some(server) = servers::Server::postgres() else {
        return;
    };
    let url = server.url();
    let store = reattempt_supervisor::Postgres::connect(&url);
    let place = Place::of(Client::new(store.await.unwrap()));
    check_count(&place, 50).await;
    place.log.0.lock().unwrap().clear();
    check_signals(&place, 1).await;
    place.running.stop(Duration::from_secs(5)).await;
}

#[tokio::test(start_paused = true)]
async fn signals_reach_the_generation_that_waits_for_them_once() {
    check_signals(&Place::new(), 2_000).await;
}

/// Sends some signals at once, and others after up to so many milliseconds each.
async fn check_signals(place: &Place, pause: u64) {
    let task = place.client.submit(listening(0, 40)).await.unwrap();
    let send = async |number: u64| {
        place
            .client
            .signal(task.id(), "number", &number)
            .await
            .unwrap();
    };
    for number in 0..13 {
        send(number).await;
    }
    for number in 13..40 {
        tokio::time::sleep(Duration::from_millis(number * 37 % pause)).await;
        send(number).await;
    }
    assert_eq!(task.wait().await.unwrap(), 39);
    assert_eq!(place.log.numbers(), (0..40).collect::<Vec<_>>());
    // Two signals and two steps: begun and done, and done.
    assert!(place.log.1.load(Ordering::SeqCst) <= 6);
}

#[tokio::test(start_paused = true)]
async fn each_generation_has_its_own_time_and_random_numbers() {
    let place = Place::new();
    let task = place.client.submit(rolling(0, 3)).await.unwrap();
    task.wait().await.unwrap();
    let noted = place.log.numbers();
    let random: BTreeSet<_> = noted.iter().step_by(2).collect();
    assert_eq!(random.len(), 4);
    let times: Vec<_> = noted.iter().skip(1).step_by(2).collect();
    for pair in times.windows(2) {
        let apart = (pair[1] - pair[0]) / 1_000_000;
        assert!((100..103).contains(&apart), "{times:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn generations_go_on_when_another_process_takes_over() {
    for first in 0..10 {
        let mut place = Place::new();
        let task = place.client.submit(pausing(1, 20)).await.unwrap();
        for nth in 0..15 {
            let pause = Duration::from_millis((first * 311 + nth * 717) % 4_000);
            tokio::time::sleep(pause).await;
            place.restart().await;
        }
        assert_eq!(task.wait().await.unwrap(), 20);
        assert_eq!(place.log.numbers(), (1..=20).collect::<Vec<_>>());
        let progress = task.progress().await.unwrap();
        assert_eq!((progress.task.generation, progress.history.len()), (19, 3));
    }
}

/// Answers none of the first writes that end a generation, although they take place.
#[derive(Debug)]
struct Forgetful {
    store: Memory,
    has_answered: AtomicBool,
    repeated: Arc<AtomicUsize>,
}

impl Store for Forgetful {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        let ends = |write: &Write| matches!(write, Write::Continue(..));
        let is_end = writes.iter().any(ends);
        Box::pin(async move {
            let results = self.store.write(writes).await;
            if is_end && !self.has_answered.fetch_not(Ordering::SeqCst) {
                self.repeated.fetch_add(1, Ordering::SeqCst);
                return Err(StoreError::passing("the answer is lost"));
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
async fn a_generation_that_begins_without_an_answer_begins_once() {
    let repeated = Arc::default();
    let place = Place::of(Client::new(Forgetful {
        store: Memory::new(),
        has_answered: AtomicBool::new(false),
        repeated: Arc::clone(&repeated),
    }));
    check_count(&place, 30).await;
    assert_eq!(repeated.load(Ordering::SeqCst), 29);
}

#[tokio::test(start_paused = true)]
async fn a_step_beside_the_call_ends_first() {
    let place = Place::new();
    let task = place.client.submit(beside(0)).await.unwrap();
    // The workflow gets its result, and drops the call.
    assert_eq!(task.wait().await.unwrap(), 5);
    assert_eq!(task.progress().await.unwrap().task.generation, 0);
}

#[tokio::test(start_paused = true)]
async fn a_child_goes_on_to_its_last_generation() {
    let place = Place::new();
    let task = place.client.submit(parent()).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 5);
    assert_eq!(place.log.numbers(), [1, 2, 3, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn a_later_generation_can_be_cancelled() {
    let place = Place::new();
    let task = place.client.submit(pausing(1, 99)).await.unwrap();
    place.wait_for(task.id(), |task| task.generation == 3).await;
    place.client.cancel(task.id()).await.unwrap();
    let end = task.wait().await;
    let is_cancelled = matches!(end, Err(SubmitError::Ended(_, State::Cancelled, _)));
    assert!(is_cancelled, "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_next_generation_could_not_undo_parks_the_task() {
    let place = Place::of(Client::new(Memory::new()).max_payload(200));
    let submit = async |why: &str| place.client.submit(refused(why.to_owned())).await.unwrap();
    for (why, message) in [
        ("undo", "because `unbook` may have to undo 0 `book`"),
        (
            "undo",
            "put what has to be undone into a child with `detached`",
        ),
        (
            "child",
            "because `end the child` may have to undo 0 `start counting`",
        ),
        (
            "unknown",
            "because nobody knows whether step 0 `charge` was done",
        ),
        (
            "other",
            "a task of workflow `refused` cannot continue as `counting`",
        ),
        ("delay", "leave out all settings but the arguments"),
        ("large", "the argument list of `continue_as_new`"),
    ] {
        let task: TaskHandle<u64> = submit(why).await;
        let parked = place.wait_for(task.id(), |task| task.state == State::Parked);
        let parked = parked.await;
        let error = parked.error.unwrap();
        assert!(error.contains(message), "{why}: {error}");
        assert_eq!(parked.generation, 0, "{why}");
        if why != "unknown" {
            place.client.cancel(task.id()).await.unwrap();
            let is_cancelled = |task: &Task| task.state == State::Cancelled;
            place.wait_for(task.id(), is_cancelled).await;
        }
    }
    assert_eq!(submit("detached").await.wait().await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_next_generation_may_have_another_version() {
    let client = Client::new(Memory::new());
    let log = Log::new(&client);
    let scheduler = Scheduler::new(&client).register(upgrading);
    let _running = scheduler
        .register(second::pausing)
        .with(log.clone())
        .start()
        .unwrap();
    let task = client.submit(upgrading(1, 9)).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 2_000);
    assert_eq!(task.progress().await.unwrap().task.version, 2);
    assert_eq!(log.numbers(), [1, 2_000]);
}

mod early {
    use super::*;

    #[workflow]
    pub(crate) async fn rolling(
        context: &WorkflowContext,
        number: u64,
        end: u64,
    ) -> Result<(), StepError> {
        note(context, context.random() >> 1).await?;
        context.continue_as_new(rolling(number + 1, end)).await
    }
}

mod endless {
    use super::*;

    #[workflow]
    pub(crate) async fn rolling(
        context: &WorkflowContext,
        number: u64,
        end: u64,
    ) -> Result<(), StepError> {
        let began = context.now().as_micros().unsigned_abs();
        note(context, context.random() >> 1).await?;
        note(context, began).await?;
        context.sleep(Duration::from_secs(100)).await;
        context.continue_as_new(rolling(number + 1, end)).await
    }
}

#[tokio::test(start_paused = true)]
async fn exported_generations_are_replayed() {
    let place = Place::new();
    let task = place.client.submit(rolling(0, 2)).await.unwrap();
    let has_slept = |generation| {
        move |task: &Task| (task.generation, task.state) == (generation, State::Waiting)
    };
    place.wait_for(task.id(), has_slept(1)).await;
    let second = export(&place.client, task.id()).await.unwrap();
    task.wait().await.unwrap();
    let last = export(&place.client, task.id()).await.unwrap();
    for history in [&second, &last] {
        assert_eq!(Replay::new().register(rolling).replay(history), None);
        let message = Replay::new().register(early::rolling).replay(history);
        assert!(
            message
                .unwrap()
                .contains("step 2 `note`, which is recorded")
        );
    }
    let endless = Replay::new().register(endless::rolling);
    assert_eq!(endless.replay(&second), None);
    let message = endless.replay(&last).unwrap();
    assert!(
        message.contains("continues as new, and the task has ended"),
        "{message}"
    );
}
