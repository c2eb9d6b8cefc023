//! Tasks whose time is over, or that another worker may hold: what runs of them is dropped, and that is not a
//! failure.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::kit::{self, pass_on};
use reattempt::deadline;
use reattempt_supervisor::store::{
    Claim, Filter, HeldTask, QueueStatus, Reclaimed, Schedules, Store, StoreError, StoreFuture,
    Sweep, UnknownWorkflow, Write, WriteResult,
};
use reattempt_supervisor::{
    Client, Event, FailingStep, Memory, OperatorNote, Record, RunningStep, Scheduler,
    SchedulerHandle, Signal, State, Step, StepError, SubmitError, Task, TaskHandle, TaskId,
    WorkerId, WorkflowContext, step, workflow,
};
use tokio::time::{Instant, timeout};

/// What the steps did, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Says so when a body is dropped before its end.
struct Dropped<'l>(&'l Log, &'static str, bool);

impl Dropped<'_> {
    fn ends(mut self) {
        self.2 = true;
    }
}

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        if !self.2 {
            self.0.add(format!("{} is dropped", self.1));
        }
    }
}

#[step(undo = refund)]
async fn pay(_step: &Step, #[with] log: &Log) -> Result<(), String> {
    log.add("pay");
    Ok(())
}

#[step]
async fn refund(_step: &Step, #[with] log: &Log, _receipt: &()) -> Result<(), String> {
    log.add("refund");
    Ok(())
}

#[step]
async fn ship(_step: &Step, #[with] log: &Log, seconds: u64) -> Result<(), String> {
    if let Some(left) = deadline::remaining() {
        log.add(format!("ship within {} s", left.as_secs_f64().round()));
    }
    let dropped = Dropped(log, "ship", false);
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    dropped.ends();
    log.add("ship");
    Ok(())
}

#[workflow(complete_by = "2s")]
async fn hurried(context: &WorkflowContext) -> Result<(), StepError> {
    pay(context).await?;
    ship(context, 6).await
}

#[workflow(max_failures = 0)]
async fn order(context: &WorkflowContext, seconds: u64) -> Result<(), StepError> {
    pay(context).await?;
    ship(context, seconds).await
}

#[step]
async fn recite(_step: &Step, #[with] log: &Log, bytes: usize) -> Result<String, String> {
    log.add("recite");
    Ok("x".repeat(bytes))
}

#[workflow]
async fn verbose(context: &WorkflowContext, bytes: usize, all: usize) -> Result<String, StepError> {
    let part = recite(context, bytes).await?;
    Ok(part.repeat(all))
}

#[workflow]
async fn listens(context: &WorkflowContext) -> Result<(), StepError> {
    let _: Option<String> = context.signal("word", None).await?;
    Ok(())
}

/// Gives up in its first run.
#[step(retry(max = 2, base = "1ms", on(_)))]
async fn works_later(_step: &Step, #[with] log: &Log) -> Result<(), String> {
    log.add("works later");
    let runs = log.0.lock().unwrap().len();
    if runs <= 2 {
        return Err("not yet".to_owned());
    }
    Ok(())
}

#[workflow(max_failures = 0)]
async fn moody(context: &WorkflowContext) -> Result<(), StepError> {
    works_later(context).await
}

#[step(complete_by = "1s")]
async fn hurries(_step: &Step, #[with] log: &Log) -> Result<(), String> {
    tokio::time::sleep(Duration::from_millis(500)).await;
    log.add("hurries");
    Ok(())
}

#[workflow]
async fn short_then_long(context: &WorkflowContext) -> Result<(), StepError> {
    hurries(context).await?;
    ship(context, 600).await
}

#[workflow(step_complete_by = "2s")]
async fn beside(context: &WorkflowContext) -> Result<(), StepError> {
    let (one, other) = tokio::join!(slow(context), ship(context, 600));
    one.and(other)
}

#[step(complete_by = "700s")]
async fn slow(_step: &Step, #[with] log: &Log) -> Result<(), String> {
    tokio::time::sleep(Duration::from_secs(650)).await;
    log.add("slow");
    Ok(())
}

/// What a store refuses.
type Refuses = fn(&Write) -> bool;

/// A store whose answers can be held back, and that can refuse what is written.
#[derive(Debug)]
struct Gate {
    store: Memory,
    is_open: tokio::sync::watch::Receiver<bool>,
    refuses: Refuses,
    is_readable: tokio::sync::watch::Receiver<bool>,
    may_record: tokio::sync::watch::Receiver<bool>,
    is_answered: tokio::sync::watch::Receiver<bool>,
}

impl Store for Gate {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        if writes.iter().any(self.refuses) {
            return Box::pin(async { Err(StoreError::lasting("it is too large")) });
        }
        let (mut is_open, mut may_record) = (self.is_open.clone(), self.may_record.clone());
        let is_record = |write: &Write| matches!(write, Write::Record(..));
        let has_record = writes.iter().any(is_record);
        Box::pin(async move {
            is_open.wait_for(|is_open| *is_open).await.unwrap();
            may_record
                .wait_for(|may| *may || !has_record)
                .await
                .unwrap();
            self.store.write(writes).await
        })
    }

    fn heartbeat(
        &self,
        worker: WorkerId,
        lease: Duration,
        known: Option<Vec<TaskId>>,
    ) -> StoreFuture<'_, Vec<HeldTask>> {
        let (mut is_open, mut is_answered) = (self.is_open.clone(), self.is_answered.clone());
        Box::pin(async move {
            is_open.wait_for(|is_open| *is_open).await.unwrap();
            let held = self.store.heartbeat(worker, lease, known).await;
            is_answered
                .wait_for(|is_answered| *is_answered)
                .await
                .unwrap();
            held
        })
    }

    fn sweep(&self, sweep: Sweep) -> StoreFuture<'_, Vec<Reclaimed>> {
        let mut is_open = self.is_open.clone();
        Box::pin(async move {
            is_open.wait_for(|is_open| *is_open).await.unwrap();
            self.store.sweep(sweep).await
        })
    }

    pass_on! {}

    fn history(&self, id: TaskId) -> StoreFuture<'_, Vec<Record>> {
        if !*self.is_readable.borrow() {
            return Box::pin(async { Err(StoreError::passing("it cannot be read now")) });
        }
        self.store.history(id)
    }

    fn failures(&self, id: TaskId) -> StoreFuture<'_, Vec<FailingStep>> {
        if !*self.is_readable.borrow() {
            return Box::pin(async { Err(StoreError::passing("not now")) });
        }
        self.store.failures(id)
    }
}

struct World {
    client: Client,
    log: Log,
    opens: tokio::sync::watch::Sender<bool>,
    reads: tokio::sync::watch::Sender<bool>,
    records: tokio::sync::watch::Sender<bool>,
    answers: tokio::sync::watch::Sender<bool>,
    scheduler: SchedulerHandle,
}

/// The lease of the scheduler.
const LEASE: Duration = Duration::from_secs(9);

impl World {
    fn new() -> Self {
        Self::refusing(|_| false)
    }

    fn refusing(refuses: Refuses) -> Self {
        let (opens, is_open) = tokio::sync::watch::channel(true);
        let (reads, is_readable) = tokio::sync::watch::channel(true);
        let (records, may_record) = tokio::sync::watch::channel(true);
        let (answers, is_answered) = tokio::sync::watch::channel(true);
        let log = Log::default();
        let seen = log.clone();
        let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(move |event| match event {
            Event::Lost { .. } => seen.add("lost"),
            Event::Reclaimed(_) => seen.add("reclaimed"),
            Event::Failed { .. } => seen.add("failed"),
            _ => {}
        });
        let gate = Gate {
            store: Memory::new(),
            is_open,
            refuses,
            is_readable,
            may_record,
            is_answered,
        };
        let client = Client::with_observers(gate, [observer]);
        let scheduler = Scheduler::new(&client)
            .register(hurried)
            .register(order)
            .register(verbose)
            .register(moody)
            .register(short_then_long)
            .register(beside)
            .with(log.clone())
            .lease(LEASE)
            .start()
            .unwrap();
        Self {
            client,
            log,
            opens,
            reads,
            records,
            answers,
            scheduler,
        }
    }

    /// Waits until the log has these lines, at most so long.
    async fn logs(&self, lines: &[&str], limit: Duration) {
        let mut seen = Vec::new();
        let all = async {
            while seen.len() < lines.len() {
                seen.append(&mut self.log.take());
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let is_in_time = timeout(limit, all).await.is_ok();
        assert!(is_in_time, "after {limit:?}: {seen:?}");
        assert_eq!(seen, lines);
    }
}

async fn end<T: serde::de::DeserializeOwned>(task: &TaskHandle<T>) -> (State, String) {
    match task.wait().await {
        Err(SubmitError::Ended(_, state, why)) => (state, why),
        other => (State::Processed, other.map(|_| String::new()).unwrap()),
    }
}

/// F1: the effect of a step came four seconds after its task was compensated.
#[tokio::test(start_paused = true)]
async fn the_time_of_a_task_is_that_of_its_steps() {
    let world = World::new();
    let start = Instant::now();
    let task = world.client.submit(hurried()).await.unwrap();
    let (state, why) = end(&task).await;
    assert_eq!(state, State::Compensated);
    assert_eq!(why, "the task was not done by its `complete_by`");
    assert_eq!(start.elapsed().as_secs(), 2);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(
        world.log.take(),
        ["pay", "ship within 2 s", "ship is dropped", "refund"]
    );
    assert_eq!(
        world
            .client
            .store()
            .task(task.id())
            .await
            .unwrap()
            .unwrap()
            .failures,
        0
    );
}

/// F1: an operator takes it away, and the next heartbeat says so.
#[tokio::test(start_paused = true)]
async fn what_the_store_does_not_assign_any_more_is_dropped() {
    let world = World::new();
    let task = world.client.submit(order(3600)).await.unwrap();
    world.logs(&["pay"], LEASE).await;
    world.client.park(task.id(), "wait").await.unwrap();
    world
        .logs(
            &["ship is dropped", "lost"],
            LEASE / 3 + Duration::from_secs(1),
        )
        .await;
}

/// The answer to a heartbeat says nothing about a task that was claimed after it was sent.
#[tokio::test(start_paused = true)]
async fn what_is_claimed_during_a_heartbeat_is_kept() {
    let world = World::new();
    tokio::time::sleep(LEASE / 9).await;
    world.answers.send_replace(false);
    tokio::time::sleep(LEASE / 3).await;
    let task = world.client.submit(order(1)).await.unwrap();
    world.logs(&["pay"], LEASE / 9).await;
    world.answers.send_replace(true);
    assert_eq!(end(&task).await.0, State::Processed);
    assert_eq!(world.log.take(), ["ship"]);
}

/// F1: a worker that is cut off does not act for ever.
#[tokio::test(start_paused = true)]
async fn without_an_answer_for_a_lease_everything_is_dropped() {
    let world = World::new();
    world.client.submit(order(20)).await.unwrap();
    world.logs(&["pay"], LEASE).await;
    world.opens.send_replace(false);
    world
        .logs(&["ship is dropped", "lost"], LEASE + Duration::from_secs(1))
        .await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(world.log.take(), [""; 0]);
}

/// N2: a claim whose answer was lost, and that took place later.
#[tokio::test(start_paused = true)]
async fn what_nobody_runs_is_given_back() {
    let world = World::new();
    let other = order(0).queue("other");
    let task = world.client.submit(other).await.unwrap();
    let claim = Write::Claim(Claim {
        worker: world.scheduler.worker().clone(),
        queues: vec!["other".to_owned()],
        ..kit::claim("", "order", 1)
    });
    let claimed = world.client.store().write([claim].into()).await.unwrap();
    assert!(matches!(&claimed[..], [WriteResult::Claimed(tasks, _)] if tasks.len() == 1));
    let mut states = Vec::new();
    for _ in 0..3 {
        tokio::time::sleep(LEASE / 3 + Duration::from_millis(100)).await;
        let task = world.client.store().task(task.id()).await.unwrap().unwrap();
        states.push((task.state, task.failures));
    }
    // It is a stranger at one heartbeat, and goes at the next.
    assert_eq!(states[0], (State::Processing, 0));
    assert_eq!(states[2], (State::Pending, 0));
}

/// What runs beside a cancellation may end and is recorded; a step without end is cut off.
#[tokio::test(start_paused = true)]
async fn beside_a_cancellation_steps_have_half_a_minute() {
    for (seconds, lines) in [
        (25, ["pay", "ship", "refund"]),
        (3600, ["pay", "ship is dropped", "refund"]),
    ] {
        let world = World::new();
        let task = world.client.submit(order(seconds)).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        world.client.cancel(task.id()).await.unwrap();
        let asked = Instant::now();
        assert_eq!(end(&task).await.0, State::Cancelled);
        assert!(asked.elapsed() < LEASE / 3 + Duration::from_secs(31));
        assert_eq!(world.log.take(), lines);
    }
}

/// N2: a new state that the store refuses for good left the task `processing`, and no worker ran
/// it.
#[tokio::test(start_paused = true)]
async fn what_the_store_refuses_for_good_is_parked() {
    let ends = |write: &Write| matches!(write, Write::Change(_, change) if change.state == State::Processed);
    let records =
        |write: &Write| matches!(write, Write::Record(_, record) if record.name == "ship");
    let refusals: [(Refuses, &str); 2] = [
        (
            ends,
            "the store refuses its new state `processed`: it is too large (task 1)",
        ),
        (
            records,
            "the store refuses a record: it is too large (task 1)",
        ),
    ];
    for (refuses, what) in refusals {
        let world = World::refusing(refuses);
        let task = world.client.submit(order(0)).await.unwrap();
        assert_eq!(end(&task).await, (State::Parked, what.to_owned()));
        let task = world.client.store().task(task.id()).await.unwrap().unwrap();
        assert_eq!(task.failures, 0);
    }
}

/// F7: a task whose history cannot be read now waits elsewhere, and does not fail.
#[tokio::test(start_paused = true)]
async fn a_history_that_cannot_be_read_now_is_nobodys_failure() {
    let world = World::new();
    let task = world.client.submit(order(30)).await.unwrap();
    world.logs(&["pay"], LEASE).await;
    world.client.park(task.id(), "wait").await.unwrap();
    world.logs(&["ship is dropped", "lost"], LEASE).await;
    world.reads.send_replace(false);
    world.client.resubmit(task.id()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.log.take(), [""; 0]);
    world.reads.send_replace(true);
    assert_eq!(end(&task).await.0, State::Processed);
    let task = world.client.store().task(task.id()).await.unwrap().unwrap();
    assert_eq!(task.failures, 0);
    assert!(task.fence.0 > 4, "{task:?}");
    assert_eq!(world.log.take(), ["ship"]);
}

/// F7: what is too large is refused when it is written, and names what it is.
#[tokio::test(start_paused = true)]
async fn what_is_too_large_is_named_and_parks_its_task() {
    let world = World::new();
    let client = world.client.clone().max_payload(1_000);
    let limit = "bytes, and the limit is 1000: keep the data elsewhere and return or send a reference to it, or raise \
         `Client::max_payload`";
    for (bytes, all, what, fix, runs) in [
        (
            1_000,
            0,
            "the result of step 0 `recite` has 1002",
            "; then resubmit the task, which runs the step again",
            2,
        ),
        (
            500,
            2,
            "the result of workflow `verbose` has 1002",
            "; then resubmit the task, which does not run its finished steps again",
            1,
        ),
    ] {
        let task = client.submit(verbose(bytes, all)).await.unwrap();
        let parked = (State::Parked, format!("{what} {limit}{fix}"));
        assert_eq!(end(&task).await, parked);
        // Nothing is lost: it goes on with a larger limit.
        let _ = client.clone().max_payload(2_000);
        client.resubmit(task.id()).await.unwrap();
        assert_eq!(end(&task).await.0, State::Processed);
        let _ = client.clone().max_payload(1_000);
        assert_eq!(world.log.take().len(), runs);
    }
    let headers = format!("{{\"a\":\"{}\"}}", "x".repeat(1_001));
    let submitted = client.submit(order(0).headers(headers)).await;
    let message = submitted.map(|_| ()).unwrap_err().to_string();
    assert_eq!(message, format!("the headers of `order` has 1009 {limit}"));
    let waits = client.submit(listens()).await.unwrap();
    let signal = client.signal(waits.id(), "word", &"x".repeat(1_001)).await;
    let message = signal.unwrap_err().to_string();
    assert_eq!(message, format!("the signal `word` has 1003 {limit}"));
}

/// The same in each store, and before anything is stored.
#[tokio::test(start_paused = true)]
async fn names_that_no_index_takes_are_refused() {
    let world = World::new();
    let client = &world.client;
    let (long, too_long) = ("x".repeat(1_000), "x".repeat(1_001));
    let fits = order(0).key(&*long).lane(&*long).queue(&*long);
    client.submit(fits).await.unwrap();
    for (what, submission) in [
        ("key", order(0).key(&*too_long)),
        ("lane", order(0).lane(&*too_long)),
        ("queue", order(0).queue(&*too_long)),
    ] {
        let message = client.submit(submission).await.map(|_| ()).unwrap_err();
        assert_eq!(
            message.to_string(),
            format!(
                "the {what} has 1001 bytes, and may have 1000: use a shorter one, such as a hash"
            )
        );
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_sends_signals_in_the_name_of_the_store() {
    let world = World::new();
    let waits = world.client.submit(listens()).await.unwrap();
    let signal = world.client.signal(waits.id(), "reattempt:child", &7).await;
    assert_eq!(
        signal.unwrap_err().to_string(),
        "names of signals with `reattempt:` are reserved: use another for `reattempt:child`"
    );
}

/// A failure that cannot be counted is not a failure of the task.
#[tokio::test(start_paused = true)]
async fn trouble_with_the_store_is_nobodys_failure() {
    let world = World::new();
    world.reads.send_replace(false);
    let task = world.client.submit(moody()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.reads.send_replace(true);
    assert_eq!(end(&task).await.0, State::Processed);
    assert_eq!(world.log.take(), ["works later"; 3]);
    let task = world.client.store().task(task.id()).await.unwrap().unwrap();
    assert_eq!(task.failures, 0);
}

/// N1: the limit of a short step ended the long one after it.
#[tokio::test(start_paused = true)]
async fn the_limit_of_a_step_is_not_that_of_the_next() {
    let world = World::new();
    let task = world.client.submit(short_then_long()).await.unwrap();
    world.logs(&["hurries"], LEASE).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let running = task.progress().await.unwrap().running;
    let [step] = &running[..] else {
        panic!("{running:?}");
    };
    assert_eq!((step.seq, &*step.name), (1, "ship"));
    assert_eq!(step.worker, *world.scheduler.worker());
    // A day, and the second that the worker has before a supervisor acts.
    assert_eq!(step.due.unwrap().since(step.since).as_secs(), 86_401);
    assert_eq!(end(&task).await.0, State::Processed);
    assert_eq!(world.log.take(), ["ship"]);
    let progress = task.progress().await.unwrap();
    assert_eq!((progress.task.fence.0, progress.running.len()), (1, 0));
}

/// The record of a step that was in time waits for the store: no supervisor takes the step for
/// overdue.
#[tokio::test(start_paused = true)]
async fn a_step_whose_record_waits_is_not_overdue() {
    let world = World::new();
    let task = world.client.submit(short_then_long()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(400)).await;
    world.records.send_replace(false);
    // It has ended after half a second, and its limit is a second.
    tokio::time::sleep(5 * LEASE).await;
    assert_eq!(world.log.take(), ["hurries"]);
    world.records.send_replace(true);
    assert_eq!(end(&task).await.0, State::Processed);
    assert_eq!(world.log.take(), ["ship"]);
    assert_eq!(task.progress().await.unwrap().task.fence.0, 1);
}

/// N1: two steps that run beside each other have a limit each, also the one of their workflow.
#[tokio::test(start_paused = true)]
async fn steps_beside_each_other_have_their_own_limits() {
    let world = World::new();
    let task = world.client.submit(beside()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let running = task.progress().await.unwrap().running;
    let limits = running.iter().map(|step| {
        let limit = step.due.unwrap().since(step.since);
        (&*step.name, limit.as_secs())
    });
    assert_eq!(limits.collect::<Vec<_>>(), [("slow", 701), ("ship", 3)]);
    world
        .logs(&["ship is dropped", "failed"], Duration::from_secs(40))
        .await;
}

/// Neither the first heartbeat of a worker nor a look of its supervisor is answered.
#[tokio::test(start_paused = true)]
async fn a_scheduler_stops_although_the_store_never_answers() {
    let world = World::new();
    world.opens.send_replace(false);
    tokio::time::sleep(LEASE).await;
    let stop = world.scheduler.stop(Duration::from_secs(1));
    timeout(3 * LEASE, stop).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_panics_stops_nobody() {
    let panics: Box<dyn Fn(&Event) + Send + Sync> = Box::new(|event| panic!("{event:?}"));
    let log = Log::default();
    let client = Client::with_observers(Memory::new(), [panics]);
    let scheduler = Scheduler::new(&client).register(order).with(log.clone());
    let scheduler = scheduler.start().unwrap();
    let task = client.submit(order(1)).await.unwrap();
    let ended = timeout(10 * LEASE, end(&task)).await.unwrap();
    assert_eq!(ended.0, State::Processed);
    assert_eq!(log.take(), ["pay", "ship"]);
    scheduler.stop(Duration::ZERO).await;
}

/// Whether a step blocks its thread, and what lets it go on.
struct Blocked {
    begins: mpsc::Sender<()>,
    goes_on: Mutex<mpsc::Receiver<()>>,
    is_over: AtomicBool,
}

#[step]
async fn blocks(_step: &Step, #[with] blocked: &Arc<Blocked>) -> Result<(), String> {
    blocked.begins.send(()).unwrap();
    let _ = blocked.goes_on.lock().unwrap().recv();
    blocked.is_over.store(true, Ordering::SeqCst);
    Ok(())
}

#[workflow]
async fn blocking(context: &WorkflowContext) -> Result<(), StepError> {
    blocks(context).await
}

/// F9: a scheduler that waits for a step that never ends never gives the others back.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_scheduler_stops_although_a_step_blocks_its_thread() {
    let (begins, begun) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel();
    let blocked = Arc::new(Blocked {
        begins,
        goes_on: Mutex::new(goes_on),
        is_over: AtomicBool::new(false),
    });
    let client = Client::new(Memory::new());
    let scheduler = Scheduler::new(&client)
        .register(blocking)
        .register(order)
        .with(Arc::clone(&blocked))
        .with(Log::default())
        .start()
        .unwrap();
    let healthy = client.submit(order(3600)).await.unwrap();
    let stuck = client.submit(blocking()).await.unwrap();
    tokio::task::spawn_blocking(move || begun.recv().unwrap())
        .await
        .unwrap();
    let stopped = timeout(Duration::from_secs(10), scheduler.stop(Duration::ZERO)).await;
    assert!(!blocked.is_over.load(Ordering::SeqCst));
    assert!(stopped.is_ok(), "it waits for the step");
    for task in [healthy.id(), stuck.id()] {
        let task = client.store().task(task).await.unwrap().unwrap();
        assert_eq!((task.state, task.failures), (State::Pending, 0));
    }
    go_on.send(()).unwrap();
}

#[step(complete_by = "100ms")]
async fn blocks_briefly(_step: &Step, #[with] blocked: &Arc<Blocked>) -> Result<(), String> {
    let _ = blocked.goes_on.lock().unwrap().recv();
    Ok(())
}

#[workflow]
async fn blocking_briefly(context: &WorkflowContext) -> Result<(), StepError> {
    blocks_briefly(context).await
}

/// Runs a step that blocks its thread until an observer has seen an event.
fn blocked_until(
    threads: usize,
    is_awaited: impl Fn(&Event) -> bool + Send + Sync + 'static,
) -> Vec<String> {
    let (go_on, goes_on) = mpsc::channel();
    let (begins, _) = mpsc::channel();
    let blocked = Arc::new(Blocked {
        begins,
        goes_on: Mutex::new(goes_on),
        is_over: AtomicBool::new(false),
    });
    let runtime = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    }
    .enable_all()
    .build()
    .unwrap();
    let seen = Log::default();
    let log = seen.clone();
    let go_on = Mutex::new(go_on);
    let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(move |event| {
        if is_awaited(event) {
            log.add(format!("{event:?}"));
            go_on.lock().unwrap().send(()).unwrap();
        }
    });
    runtime.block_on(async {
        let client = Client::with_observers(Memory::new(), [observer]);
        let scheduler = Scheduler::new(&client)
            .register(blocking_briefly)
            .with(Arc::clone(&blocked))
            .lease(Duration::from_secs(3))
            .start()
            .unwrap();
        client.submit(blocking_briefly()).await.unwrap();
        while seen.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        scheduler.stop(Duration::ZERO).await;
    });
    seen.take()
}

/// F6: a step that blocks its thread was never announced, so its limit never counted.
#[test]
fn a_step_that_blocks_its_thread_is_reclaimed_after_its_limit() {
    let seen = blocked_until(2, |event| matches!(event, Event::Reclaimed(_)));
    assert!(seen[0].contains("expiry: Step"), "{seen:?}");
}

/// F6: a runtime whose threads are all blocked says which steps block them.
#[test]
fn a_blocked_runtime_names_the_steps() {
    let seen = blocked_until(1, |event| matches!(event, Event::Blocked { .. }));
    assert!(seen[0].contains("\"blocks_briefly\""), "{seen:?}");
}
