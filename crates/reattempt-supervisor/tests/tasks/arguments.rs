//! The arguments of steps when a task runs again with other code.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt_supervisor::{
    Client, Memory, Scheduler, SchedulerHandle, State, Step, StepError, Submission, TaskHandle,
    Workflow, WorkflowContext, WorkflowFn, step, workflow,
};

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

/// The code as it was when the task began, and as it is when the task runs again.
mod before {
    use super::*;

    #[step(undo = refund, retry(max = 3, base = "1ms", on(_)))]
    pub(crate) async fn pay(
        _: &Step,
        #[with] log: &Log,
        who: &str,
        cents: u32,
    ) -> Result<String, String> {
        log.add(format!("pay {who} {cents}"));
        if log.0.lock().unwrap().len() < 3 {
            return Err("not yet".to_owned());
        }
        Ok("receipt".to_owned())
    }

    #[step]
    pub(crate) async fn refund(
        _: &Step,
        #[with] log: &Log,
        who: &str,
        cents: u32,
        receipt: &str,
    ) -> Result<(), String> {
        log.add(format!("refund {who} {cents}: {receipt}"));
        Ok(())
    }

    #[workflow(name = "order")]
    pub(crate) async fn order(context: &WorkflowContext) -> Result<(), StepError> {
        pay(context, "Ada", 99).await?;
        context.sleep(Duration::from_secs(3600)).await;
        Ok(())
    }
}

/// Another price.
mod price {
    use super::*;

    #[workflow(name = "order")]
    pub(crate) async fn order(context: &WorkflowContext) -> Result<(), StepError> {
        before::pay(context, "Ada", 1).await?;
        context.sleep(Duration::from_secs(3600)).await;
        Ok(())
    }
}

/// Another price, and a step that does not care.
mod ignored {
    use super::*;

    #[step(undo = refund, args = "ignore")]
    async fn pay(_: &Step, _who: &str, _cents: u32) -> Result<String, String> {
        Err("it is recorded".to_owned())
    }

    use before::refund;

    #[workflow(name = "order")]
    pub(crate) async fn order(context: &WorkflowContext) -> Result<(), StepError> {
        pay(context, "Ada", 1).await?;
        context.sleep(Duration::from_secs(3600)).await;
        Ok(())
    }
}

/// The step has lost its compensation.
mod without_undo {
    use super::*;

    #[step]
    async fn pay(_: &Step, _who: &str, _cents: u32) -> Result<String, String> {
        Err("it is recorded".to_owned())
    }

    #[workflow(name = "order")]
    pub(crate) async fn order(context: &WorkflowContext) -> Result<(), StepError> {
        pay(context, "Ada", 99).await?;
        context.sleep(Duration::from_secs(3600)).await;
        Ok(())
    }
}

/// Another step undoes it.
mod other_undo {
    use super::*;

    #[step(undo = give_back)]
    async fn pay(_: &Step, _who: &str, _cents: u32) -> Result<String, String> {
        Err("it is recorded".to_owned())
    }

    use before::refund as give_back;

    #[workflow(name = "order")]
    pub(crate) async fn order(context: &WorkflowContext) -> Result<(), StepError> {
        pay(context, "Ada", 99).await?;
        context.sleep(Duration::from_secs(3600)).await;
        Ok(())
    }
}

/// Arguments that no record keeps.
mod unrecorded {
    use super::*;

    struct Handle;

    #[step(args = "ignore")]
    async fn hold(_: &Step, _handle: &Handle) -> Result<u32, String> {
        Ok(7)
    }

    #[workflow]
    pub(crate) async fn holds(context: &WorkflowContext) -> Result<u32, StepError> {
        hold(context, &Handle).await
    }
}

struct Place {
    client: Client,
    log: Log,
}

impl Place {
    fn new() -> Self {
        Self {
            client: Client::new(Memory::new()),
            log: Log::default(),
        }
    }

    fn run<W: Workflow, A>(&self, workflow: impl WorkflowFn<W, A>) -> SchedulerHandle {
        let scheduler = Scheduler::new(&self.client).register(workflow);
        scheduler.with(self.log.clone()).start().unwrap()
    }

    /// Runs a task with the old code until it sleeps.
    async fn begin(&self) -> TaskHandle<()> {
        let running = self.run(before::order);
        let task = self.client.submit(before::order()).await.unwrap();
        while task.progress().await.unwrap().task.state != State::Waiting {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        running.stop(Duration::from_secs(1)).await;
        assert_eq!(self.log.take(), ["pay Ada 99"; 3]);
        task
    }

    /// Runs the task with other code to its end. Returns its state and why.
    async fn go_on<W: Workflow>(
        &self,
        task: &TaskHandle<()>,
        workflow: fn() -> Submission<W>,
    ) -> (State, String) {
        let running = self.run(workflow);
        let end = task.follow(|_| {}).await.unwrap();
        running.stop(Duration::from_secs(1)).await;
        (end.state, end.error.unwrap_or_default())
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_has_the_attempts_and_the_arguments_of_a_step_that_can_be_undone() {
    let place = Place::new();
    let task = place.begin().await;
    let history = task.progress().await.unwrap().history;
    let first = history.first().unwrap();
    assert_eq!(first.attempts, 3);
    assert_eq!(first.args.as_deref(), Some(r#"["Ada",99]"#));
    assert_eq!(first.undo.as_deref(), Some("refund"));
    assert_eq!(first.args_hash.as_ref().map(String::len), Some(32));
    // The timer has none.
    assert_eq!(history.get(1).unwrap().args_hash, None);
}

#[tokio::test(start_paused = true)]
async fn a_task_with_other_arguments_is_parked_and_goes_on_with_the_old_code() {
    let place = Place::new();
    let task = place.begin().await;
    let (state, why) = place.go_on(&task, price::order).await;
    assert_eq!(state, State::Parked);
    for part in [
        "step 0 `pay`",
        "other arguments",
        "restore the old code",
        "args = \"ignore\"",
    ] {
        assert!(why.contains(part), "{why}");
    }
    place.client.resubmit(task.id()).await.unwrap();
    let (state, _) = place.go_on(&task, before::order).await;
    assert_eq!((state, place.log.take().len()), (State::Processed, 0));
}

#[tokio::test(start_paused = true)]
async fn a_step_can_ignore_changes_of_its_arguments() {
    let place = Place::new();
    let task = place.begin().await;
    let (state, _) = place.go_on(&task, ignored::order).await;
    assert_eq!((state, place.log.take().len()), (State::Processed, 0));
    let running = place.run(unrecorded::holds);
    let task = place.client.submit(unrecorded::holds()).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 7);
    let history = task.progress().await.unwrap().history;
    assert_eq!(history.first().unwrap().args_hash, None);
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_compensation_gets_the_arguments_of_then() {
    let place = Place::new();
    let task = place.begin().await;
    place.client.cancel(task.id()).await.unwrap();
    let (state, why) = place.go_on(&task, price::order).await;
    assert_eq!(state, State::Cancelled, "{why}");
    assert_eq!(place.log.take(), ["refund Ada 99: receipt"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_compensation_is_missing_is_parked_and_names_it() {
    let place = Place::new();
    let task = place.begin().await;
    place.client.cancel(task.id()).await.unwrap();
    let (state, why) = place.go_on(&task, without_undo::order).await;
    assert_eq!(state, State::Parked);
    for part in ["step 0 `pay`", "`refund`", "has none"] {
        assert!(why.contains(part), "{why}");
    }
    place.client.resubmit(task.id()).await.unwrap();
    let (state, why) = place.go_on(&task, other_undo::order).await;
    assert!(
        state == State::Parked && why.contains("has `give_back`"),
        "{why}"
    );
    place.client.resubmit(task.id()).await.unwrap();
    let (state, _) = place.go_on(&task, before::order).await;
    assert_eq!(state, State::Cancelled);
    assert_eq!(place.log.take(), ["refund Ada 99: receipt"]);
}
