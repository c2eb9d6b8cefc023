//! Tasks on a store in memory, with tokio's clock paused.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::Policy;
use reattempt_supervisor::{
    Client, Direction, Event, Filter, Memory, RecordKind, Scheduler, State, Step, StepError,
    SubmitError, Supervisor, TaskHandle, WorkflowContext, step, workflow,
};

/// The log of the steps, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// How often something fails before it succeeds.
#[derive(Clone, Default)]
struct Faults(Arc<AtomicU32>);

impl Faults {
    fn are_left(&self) -> bool {
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            })
            .is_ok()
    }
}

#[step(complete_by = "10s")]
async fn reserve(_step: &Step, #[with] log: &Log, what: &str) -> Result<u32, String> {
    log.add(format!("reserve {what}"));
    Ok(7)
}

#[step(retry(max = 2, base = "10ms", on(_)), complete_by = "30s", undo = refund)]
async fn pay(
    _step: &Step,
    #[with] log: &Log,
    #[with] faults: &Faults,
    what: &str,
    amount: u32,
) -> Result<String, String> {
    if faults.are_left() {
        log.add("pay fails");
        return Err("no connection".to_owned());
    }
    log.add(format!("pay {amount} for {what}"));
    Ok(format!("receipt for {what}"))
}

#[step]
async fn refund(
    _step: &Step,
    #[with] log: &Log,
    what: &str,
    amount: u32,
    receipt: &String,
) -> Result<(), String> {
    log.add(format!("refund {amount} for {what}: {receipt}"));
    Ok(())
}

#[step]
async fn ship(_step: &Step, #[with] log: &Log, what: &str) -> Result<(), String> {
    log.add(format!("ship {what}"));
    if what == "nothing" {
        return Err("there is nothing to ship".to_owned());
    }
    Ok(())
}

#[workflow(max_failures = 2, complete_by = "1h")]
async fn order(context: &WorkflowContext, what: String) -> Result<String, StepError> {
    let amount = reserve(context, &what).await?;
    let receipt = pay(context, &what, amount).await?;
    ship(context, &what).await?;
    Ok(receipt)
}

#[workflow]
async fn patient(context: &WorkflowContext) -> Result<String, StepError> {
    reserve(context, "time").await?;
    context.sleep(Duration::from_secs(3 * 3600)).await;
    let word: Option<String> = context
        .signal("word", Some(Duration::from_secs(3600)))
        .await
        .unwrap();
    ship(context, "time").await?;
    Ok(word.unwrap_or_else(|| "nothing was said".to_owned()))
}

#[step]
async fn slow(_step: &Step, #[with] log: &Log, name: &str, millis: u64) -> Result<u64, String> {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    log.add(name);
    Ok(millis)
}

#[workflow]
async fn several(context: &WorkflowContext) -> Result<Vec<u64>, StepError> {
    let (a, b) = tokio::try_join!(slow(context, "a", 300), slow(context, "b", 200))?;
    let first = tokio::select! {
        c = slow(context, "c", 5_000) => c?,
        d = slow(context, "d", 100) => d?,
    };
    Ok(vec![a, b, first])
}

#[step(retry(max = 2, base = "1ms"), complete_by = "1m")]
async fn broken(
    _step: &Step,
    #[with] log: &Log,
    #[with] faults: &Faults,
) -> Result<u64, std::io::Error> {
    if faults.are_left() {
        return Err(std::io::ErrorKind::ConnectionReset.into());
    }
    log.add("fixed");
    Ok(1)
}

#[workflow]
async fn beside(context: &WorkflowContext) -> Result<u64, StepError> {
    let (slow, broken) = tokio::try_join!(slow(context, "slow", 300), broken(context))?;
    Ok(slow + broken)
}

#[step(undo = unbook)]
async fn book(_step: &Step, #[with] log: &Log, what: &str, millis: u64) -> Result<(), String> {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    log.add(format!("book {what}"));
    Ok(())
}

#[step]
async fn unbook(
    _step: &Step,
    #[with] log: &Log,
    what: &str,
    _millis: u64,
    _booked: &(),
) -> Result<(), String> {
    log.add(format!("unbook {what}"));
    Ok(())
}

#[workflow]
async fn trip(context: &WorkflowContext) -> Result<(), StepError> {
    tokio::try_join!(book(context, "hotel", 300), book(context, "flight", 100))?;
    book(context, "car", 0).await?;
    ship(context, "nothing").await
}

#[step(retry(max = 1))]
async fn once(_: &Step, #[with] faults: &Faults) -> Result<u32, std::io::Error> {
    if faults.are_left() {
        return Err(std::io::ErrorKind::TimedOut.into());
    }
    Ok(1)
}

#[step(retry(max = 1, on = |why: &String| why == "busy"))]
async fn once_if_busy(_: &Step, #[with] log: &Log, why: &str) -> Result<(), String> {
    log.add(why);
    Err(why.to_owned())
}

#[step]
async fn plain(_: &Step, #[with] faults: &Faults) -> Result<u32, std::io::Error> {
    if faults.are_left() {
        return Err(std::io::ErrorKind::TimedOut.into());
    }
    Ok(1)
}

#[workflow]
async fn one_attempt(context: &WorkflowContext) -> Result<u32, StepError> {
    once(context).await
}

#[workflow]
async fn no_policy(context: &WorkflowContext) -> Result<u32, StepError> {
    plain(context).await
}

#[workflow(max_failures = 1)]
async fn one_attempt_if(context: &WorkflowContext, why: String) -> Result<(), StepError> {
    once_if_busy(context, &why).await
}

struct World {
    client: Client,
    log: Log,
    faults: Faults,
    events: Arc<Mutex<Vec<String>>>,
}

impl World {
    fn new() -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(move |event: &Event| {
            if !matches!(event, Event::Claimed { .. }) {
                eprintln!("{event:?}");
                seen.lock().unwrap().push(format!("{event:?}"));
            }
        });
        Self {
            client: Client::with_observers(Memory::new(), [observer]),
            log: Log::default(),
            faults: Faults::default(),
            events,
        }
    }

    fn scheduler(&self) -> Scheduler {
        Scheduler::new(&self.client)
            .register(order)
            .register(patient)
            .register(several)
            .register(beside)
            .register(trip)
            .register(one_attempt)
            .register(one_attempt_if)
            .register(no_policy)
            .with(self.log.clone())
            .with(self.faults.clone())
            .delays(
                Policy::new()
                    .unlimited()
                    .base(Duration::from_secs(1))
                    .cap(Duration::from_secs(60)),
            )
    }

    async fn history<T>(&self, task: &TaskHandle<T>) -> Vec<(i32, RecordKind, String)> {
        let progress = task.progress().await.unwrap();
        let records = progress.history.into_iter();
        records
            .map(|record| (record.seq, record.kind, record.name))
            .collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_does_its_steps_and_answers() {
    let world = World::new();
    let running = world.scheduler().start().unwrap();
    let task = world
        .client
        .submit(order("book".to_owned()).key("k"))
        .await
        .unwrap();
    assert_eq!(task.wait().await.unwrap(), "receipt for book");
    assert_eq!(
        world.log.take(),
        ["reserve book", "pay 7 for book", "ship book"]
    );
    let names = ["reserve", "pay", "ship"];
    let done = (0..)
        .zip(names)
        .map(|(seq, name)| (seq, RecordKind::Done, name.to_owned()));
    assert_eq!(world.history(&task).await, done.collect::<Vec<_>>());
    let again = world
        .client
        .submit(order("book".to_owned()).key("k"))
        .await
        .unwrap();
    assert_eq!(again.id(), task.id());
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_step_that_fails_runs_again_and_what_was_done_does_not() {
    let world = World::new();
    world.faults.0.store(3, Ordering::SeqCst);
    let running = world.scheduler().start().unwrap();
    let task = world.client.submit(order("book".to_owned())).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), "receipt for book");
    assert_eq!(
        world.log.take(),
        [
            "reserve book",
            "pay fails",
            "pay fails",
            "pay fails",
            "pay 7 for book",
            "ship book"
        ]
    );
    running.stop(Duration::from_secs(1)).await;
}

/// Last is what ended last, whichever was called first.
#[tokio::test(start_paused = true)]
async fn steps_are_undone_the_last_first() {
    let world = World::new();
    let running = world.scheduler().start().unwrap();
    let task = world.client.submit(trip()).await.unwrap();
    let Err(SubmitError::Ended(_, State::Compensated, _)) = task.wait().await else {
        panic!("it was not undone");
    };
    let (done, undone) = (["flight", "hotel", "car"], ["car", "hotel", "flight"]);
    let done = done.map(|what| format!("book {what}"));
    let undone = undone.map(|what| format!("unbook {what}"));
    let log: Vec<_> = world
        .log
        .take()
        .into_iter()
        .filter(|line| line.contains("book"))
        .collect();
    assert_eq!(log, [done, undone].concat());
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_for_good_undoes_what_it_did() {
    let world = World::new();
    let running = world.scheduler().start().unwrap();
    let task = world
        .client
        .submit(order("nothing".to_owned()))
        .await
        .unwrap();
    let Err(SubmitError::Ended(_, State::Compensated, why)) = task.wait().await else {
        panic!("it did not fail");
    };
    assert_eq!(why, "step `ship` failed: there is nothing to ship");
    assert_eq!(
        world.log.take(),
        [
            "reserve nothing",
            "pay 7 for nothing",
            "ship nothing",
            "refund 7 for nothing: receipt for nothing"
        ]
    );
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_too_often_is_undone() {
    let world = World::new();
    world.faults.0.store(100, Ordering::SeqCst);
    let running = world.scheduler().start().unwrap();
    let task = world.client.submit(order("book".to_owned())).await.unwrap();
    let Err(SubmitError::Ended(_, State::Error, why)) = task.wait().await else {
        panic!("it did not fail");
    };
    assert_eq!(
        why,
        "step `pay` gave up after 2 attempts, all attempts are used up: no connection"
    );
    assert_eq!(world.log.take().len(), 1 + 3 * 2);
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_sleeps_for_days_and_hears_signals() {
    let world = World::new();
    let running = world.scheduler().start().unwrap();
    let silent = world.client.submit(patient()).await.unwrap();
    let waiting = world.client.submit(patient()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(waiting.progress().await.unwrap().task.state, State::Waiting);
    world
        .client
        .signal(waiting.id(), "other", &1)
        .await
        .unwrap();
    world
        .client
        .signal(waiting.id(), "word", &"now")
        .await
        .unwrap();
    assert_eq!(waiting.wait().await.unwrap(), "now");
    assert_eq!(silent.wait().await.unwrap(), "nothing was said");
    assert_eq!(
        world.log.take(),
        ["reserve time", "reserve time", "ship time", "ship time"]
    );
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn results_of_parallel_steps_come_in_the_order_of_their_ends() {
    let world = World::new();
    let running = world.scheduler().start().unwrap();
    let task = world.client.submit(several()).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), [300, 200, 100]);
    assert_eq!(world.log.take(), ["b", "a", "d"]);
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_is_undone() {
    let world = World::new();
    world.faults.0.store(1, Ordering::SeqCst);
    let running = world.scheduler().start().unwrap();
    let task = world.client.submit(patient()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    world.client.cancel(task.id()).await.unwrap();
    let Err(SubmitError::Ended(_, State::Cancelled, _)) = task.wait().await else {
        panic!("it was not cancelled: {:?}", world.events.lock());
    };
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_goes_on_where_another_scheduler_left_it() {
    let world = World::new();
    let first = world.scheduler().start().unwrap();
    let task = world.client.submit(several()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(250)).await;
    first.stop(Duration::ZERO).await;
    assert_eq!(world.log.take(), ["b"]);
    let second = world.scheduler().start().unwrap();
    assert_eq!(task.wait().await.unwrap(), [300, 200, 100]);
    assert_eq!(world.log.take(), ["a", "d"]);
    second.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn steps_beside_a_failure_are_recorded_and_do_not_run_again() {
    let world = World::new();
    world.faults.0.store(2, Ordering::SeqCst);
    let running = world.scheduler().start().unwrap();
    let task = world.client.submit(beside()).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 301);
    assert_eq!(world.log.take(), ["slow", "fixed"]);
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_is_cancelled_between_its_steps() {
    let world = World::new();
    let running = world.scheduler().start().unwrap();
    let task = world.client.submit(several()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    world.client.cancel(task.id()).await.unwrap();
    task.wait().await.unwrap_err();
    assert_eq!(task.progress().await.unwrap().task.state, State::Cancelled);
    // Both had begun.
    assert_eq!(world.log.take(), ["b", "a"]);
    running.stop(Duration::from_secs(1)).await;
}

/// `max = 1` says that the step does not retry, not that its errors are final.
#[tokio::test(start_paused = true)]
async fn after_one_attempt_the_task_goes_on_later_if_the_error_may_pass() {
    let world = World::new();
    let running = world.scheduler().start().unwrap();
    world.faults.0.store(2, Ordering::SeqCst);
    let task = world.client.submit(one_attempt()).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 1);

    for (why, attempts) in [("busy", 2), ("gone", 1)] {
        let task = world.client.submit(one_attempt_if(why.to_owned()));
        task.await.unwrap().wait().await.unwrap_err();
        assert_eq!(world.log.take().len(), attempts, "{why}");
    }

    // Without `retry` every error is final.
    world.faults.0.store(1, Ordering::SeqCst);
    let task = world.client.submit(no_policy()).await.unwrap();
    task.wait().await.unwrap_err();
    running.stop(Duration::from_secs(1)).await;
}

/// A supervisor runs no workflows: it ends a task that no worker takes in time, and looks as often as `every` says.
#[tokio::test(start_paused = true)]
async fn a_supervisor_without_workflows_looks_as_often_as_it_is_told() {
    const MINUTE: Duration = Duration::from_secs(60);

    let client = Client::new(Memory::new());
    let submission = patient().complete_by(Duration::from_secs(1));
    client.submit(submission).await.unwrap();
    let direction = async || client.list(Filter::default()).await.unwrap()[0].direction;
    let supervisor = Supervisor::new(&client).every(10 * MINUTE).start();
    // A pause is half as long to one and a half as long.
    tokio::time::sleep(4 * MINUTE).await;
    assert_eq!(direction().await, Direction::Forward);
    tokio::time::sleep(12 * MINUTE).await;
    assert_eq!(direction().await, Direction::Undoing);
    supervisor.stop().await;
}
