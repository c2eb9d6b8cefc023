//! Tasks that keep what they did, and what an operator does with them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::Policy;
use reattempt_supervisor::{
    Client, Event, Memory, RecordKind, Scheduler, SchedulerHandle, State, Step, StepError, Task,
    TaskHandle, WorkflowContext, step, workflow,
};

/// The log of the steps, and the names of the steps that fail.
#[derive(Clone, Default)]
struct World(Arc<Mutex<(Vec<String>, Vec<String>)>>);

impl World {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().0.push(line.into());
    }

    fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().0)
    }

    fn fail(&self, steps: &[&str]) {
        self.0.lock().unwrap().1 = steps.iter().map(|&step| step.to_owned()).collect();
    }

    fn fails(&self, step: &str) -> bool {
        self.0.lock().unwrap().1.iter().any(|it| it == step)
    }
}

#[step(undo = put_back)]
async fn take(_: &Step, #[with] world: &World, what: &str) -> Result<u32, String> {
    world.add(format!("take {what}"));
    Ok(1)
}

#[step]
async fn put_back(_: &Step, #[with] world: &World, what: &str, count: &u32) -> Result<(), String> {
    world.add(format!("put back {count} {what}"));
    Ok(())
}

#[step]
async fn send(_: &Step, #[with] world: &World, what: &str) -> Result<String, String> {
    world.add(format!("send {what}"));
    if world.fails(what) {
        return Err(format!("there is no {what}"));
    }
    Ok(format!("sent {what}"))
}

#[step(retry(max = 2, base = "1ms", on(_)))]
async fn flaky(_: &Step, #[with] world: &World) -> Result<(), String> {
    world.add("flaky");
    if world.fails("flaky") {
        return Err("not now".to_owned());
    }
    Ok(())
}

#[step]
async fn long(_: &Step, #[with] world: &World) -> Result<(), String> {
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.add("long");
    Ok(())
}

#[workflow(on_failure = "keep")]
async fn kept(context: &WorkflowContext) -> Result<String, StepError> {
    take(context, "a book").await?;
    send(context, "it").await
}

#[workflow(on_failure = "keep", max_failures = 1)]
async fn often(context: &WorkflowContext) -> Result<(), StepError> {
    take(context, "a pen").await?;
    flaky(context).await
}

#[workflow(on_failure = "keep", complete_by = "2s")]
async fn late(context: &WorkflowContext) -> Result<(), StepError> {
    take(context, "a cup").await?;
    long(context).await
}

/// What ended it is not its last record.
#[workflow(on_failure = "keep")]
async fn both(context: &WorkflowContext) -> Result<(), StepError> {
    let (sent, long) = tokio::join!(send(context, "both"), long(context));
    long?;
    sent.map(drop)
}

/// A failure that the workflow expects, and another that ends it.
#[workflow(on_failure = "keep")]
async fn second(context: &WorkflowContext) -> Result<String, StepError> {
    if send(context, "first").await.is_ok() {
        return Ok("first".to_owned());
    }
    let (second, long) = tokio::join!(send(context, "second"), long(context));
    long?;
    second
}

/// It fails although no step has failed.
#[workflow(on_failure = "keep")]
async fn own(context: &WorkflowContext) -> Result<(), String> {
    if send(context, "first").await.is_err() {
        long(context).await.map_err(|error| error.to_string())?;
    }
    Err("not approved".to_owned())
}

struct Place {
    world: World,
    client: Client,
    scheduler: SchedulerHandle,
    alerts: Arc<Mutex<usize>>,
}

impl Place {
    fn new() -> Self {
        let alerts = Arc::<Mutex<usize>>::default();
        let seen = Arc::clone(&alerts);
        let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(move |event: &Event| {
            if event.is_alert() {
                *seen.lock().unwrap() += 1;
            }
        });
        let client = Client::with_observers(Memory::new(), [observer]);
        let world = World::default();
        let scheduler = Scheduler::new(&client)
            .register(kept)
            .register(often)
            .register(late)
            .register(both)
            .register(second)
            .register(own)
            .with(world.clone())
            .delays(Policy::new().unlimited().base(Duration::from_secs(1)))
            .start()
            .unwrap();
        Self {
            world,
            client,
            scheduler,
            alerts,
        }
    }

    async fn end<T>(&self, task: &TaskHandle<T>) -> Task {
        task.follow(|_| {}).await.unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_kept_task_ends_with_an_alert_and_goes_on_at_the_step_that_failed() {
    let place = Place::new();
    place.world.fail(&["it"]);
    let task = place.client.submit(kept()).await.unwrap();
    let end = place.end(&task).await;
    assert_eq!((end.state, end.failed_seq), (State::Error, Some(1)));
    assert_eq!(*place.alerts.lock().unwrap(), 1);
    assert_eq!(place.world.log(), ["take a book", "send it"]);

    place.world.fail(&[]);
    place.client.resubmit(task.id()).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), "sent it");
    assert_eq!(place.world.log(), ["send it"]);
    place.scheduler.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn an_operator_undoes_a_kept_task() {
    let place = Place::new();
    place.world.fail(&["it"]);
    let task = place.client.submit(kept()).await.unwrap();
    place.end(&task).await;
    place.world.log();
    place.client.undo(task.id()).await.unwrap();
    assert_eq!(place.end(&task).await.state, State::Compensated);
    assert_eq!(place.world.log(), ["put back 1 a book"]);
    place.client.undo(task.id()).await.unwrap_err();
    place.scheduler.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_failed_too_often_or_came_too_late_is_kept_too() {
    let place = Place::new();
    place.world.fail(&["flaky"]);
    let task = place.client.submit(often()).await.unwrap();
    let end = place.end(&task).await;
    assert_eq!((end.state, end.failed_seq), (State::Error, Some(1)));
    let wanted = ["take a pen", "flaky", "flaky", "flaky", "flaky"];
    assert_eq!(place.world.log(), wanted);
    place.world.fail(&[]);
    place.client.resubmit(task.id()).await.unwrap();
    assert_eq!(place.end(&task).await.state, State::Processed);
    assert_eq!(place.world.log(), ["flaky"]);

    let task = place.client.submit(late()).await.unwrap();
    assert_eq!(place.end(&task).await.state, State::Error);
    place.client.resubmit(task.id()).await.unwrap();
    assert_eq!(place.end(&task).await.state, State::Processed);
    assert_eq!(place.world.log(), ["take a cup", "long"]);
    place.scheduler.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn the_step_that_ended_the_task_runs_again_though_others_ended_after_it() {
    let place = Place::new();
    place.world.fail(&["first", "second", "both"]);
    let task = place.client.submit(both()).await.unwrap();
    let other = place.client.submit(second()).await.unwrap();
    assert_eq!(place.end(&task).await.failed_seq, Some(0));
    assert_eq!(place.end(&other).await.failed_seq, Some(1));
    place.world.log();
    place.world.fail(&["first"]);
    for task in [task.id(), other.id()] {
        place.client.resubmit(task).await.unwrap();
    }
    assert_eq!(place.end(&task).await.state, State::Processed);
    assert_eq!(other.wait().await.unwrap(), "sent second");
    let mut log = place.world.log();
    log.sort();
    assert_eq!(log, ["send both", "send second"]);
    place.scheduler.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_the_workflow_expects_stays() {
    let place = Place::new();
    place.world.fail(&["first"]);
    let task = place.client.submit(own()).await.unwrap();
    assert_eq!(place.end(&task).await.failed_seq, None);
    place.client.resubmit(task.id()).await.unwrap();
    assert_eq!(place.end(&task).await.state, State::Error);
    let history = task.progress().await.unwrap().history;
    let kinds: Vec<_> = history.iter().map(|record| record.kind).collect();
    assert_eq!(kinds, [RecordKind::Failed, RecordKind::Done]);
    assert_eq!(place.world.log(), ["send first", "long"]);
    place.scheduler.stop(Duration::from_secs(1)).await;
}
