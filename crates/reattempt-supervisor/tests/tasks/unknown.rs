//! Steps of unknown outcome.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt_supervisor::store::{Resolution, Verdict};
use reattempt_supervisor::{
    Client, Memory, RecordKind, Scheduler, SchedulerHandle, State, Step, StepError, Task,
    TaskHandle, WorkflowContext, step, workflow,
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

/// It must not run twice, and never ends in time.
#[step(retry(idempotent = false), undo = refund)]
async fn charge(_: &Step, #[with] log: &Log, who: &str) -> Result<u32, std::io::Error> {
    log.add(format!("charge {who}"));
    tokio::time::sleep(Duration::from_secs(60)).await;
    Ok(1)
}

#[step]
async fn refund(_: &Step, #[with] log: &Log, who: &str, receipt: &u32) -> Result<(), String> {
    log.add(format!("refund {who} {receipt}"));
    Ok(())
}

/// It may run twice, and is undone in any case.
#[step(undo = release, undo_unknown = release_any)]
async fn reserve(step: &Step, #[with] log: &Log, what: &str) -> Result<u32, String> {
    log.add(format!("reserve {what} {}", step.key().len()));
    tokio::time::sleep(Duration::from_secs(60)).await;
    Ok(5)
}

#[step]
async fn release(_: &Step, #[with] log: &Log, what: &str, seat: &u32) -> Result<(), String> {
    log.add(format!("release {what} {seat}"));
    Ok(())
}

#[step]
async fn release_any(step: &Step, #[with] log: &Log, what: &str) -> Result<(), String> {
    assert!(step.key().ends_with("-undo-unknown"));
    log.add(format!("release any {what}"));
    Ok(())
}

#[workflow]
async fn charged(context: &WorkflowContext) -> Result<u32, StepError> {
    charge(context, "Ada").await
}

#[workflow]
async fn reserved(context: &WorkflowContext) -> Result<u32, StepError> {
    reserve(context, "a seat").await
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

    fn run(&self) -> SchedulerHandle {
        Scheduler::new(&self.client)
            .register(charged)
            .register(reserved)
            .with(self.log.clone())
            .start()
            .unwrap()
    }

    /// Stops a scheduler in the middle of a task's step.
    async fn cut_off(&self) {
        let running = self.run();
        tokio::time::sleep(Duration::from_secs(5)).await;
        running.stop(Duration::ZERO).await;
    }

    /// Runs a task until it ends or is parked.
    async fn end<T>(&self, task: &TaskHandle<T>) -> Task {
        let running = self.run();
        let end = task.follow(|_| {}).await.unwrap();
        running.stop(Duration::from_secs(1)).await;
        end
    }

    /// Parks a task because the outcome of its step is unknown.
    async fn ambiguous(&self) -> TaskHandle<u32> {
        let task = self.client.submit(charged()).await.unwrap();
        self.cut_off().await;
        let end = self.end(&task).await;
        assert_eq!((end.state, end.failed_seq), (State::Parked, Some(0)));
        assert!(end.error.unwrap().contains("`resolve` step 0"));
        assert_eq!(self.log.take(), ["charge Ada"]);
        task
    }

    async fn resolve(&self, task: &TaskHandle<u32>, verdict: Verdict) {
        let resolution = Resolution {
            seq: 0,
            verdict,
            by: "Ada".to_owned(),
            why: "she asked the bank".to_owned(),
        };
        self.client.resolve(task.id(), resolution).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_operator_says_that_a_step_was_not_done_and_it_runs_again() {
    let place = Place::new();
    let task = place.ambiguous().await;
    place.resolve(&task, Verdict::NotDone).await;
    assert_eq!(place.end(&task).await.state, State::Processed);
    assert_eq!(place.log.take(), ["charge Ada"]);
    let notes = task.progress().await.unwrap().notes;
    assert_eq!(notes.first().unwrap().by, "Ada");
}

#[tokio::test(start_paused = true)]
async fn an_operator_says_that_a_step_was_done_and_what_its_result_is() {
    let place = Place::new();
    let task = place.ambiguous().await;
    place.resolve(&task, Verdict::Done("7".to_owned())).await;
    let end = place.end(&task).await;
    assert_eq!(
        (end.state, end.output.as_deref()),
        (State::Processed, Some("7"))
    );
    assert_eq!(place.log.take(), [""; 0]);
}

/// A step of unknown outcome is neither refunded nor kept before an operator has said what it is.
#[tokio::test(start_paused = true)]
async fn a_cancelled_task_with_a_step_of_unknown_outcome_waits_for_the_operator() {
    for (verdict, wanted) in [
        (Verdict::Done("7".to_owned()), vec!["refund Ada 7"]),
        (Verdict::NotDone, vec![]),
    ] {
        let place = Place::new();
        let task = place.ambiguous().await;
        place.client.cancel(task.id()).await.unwrap();
        assert_eq!(place.end(&task).await.state, State::Parked);
        place.client.resubmit(task.id()).await.unwrap();
        assert_eq!(place.end(&task).await.state, State::Parked);
        assert_eq!(place.log.take(), [""; 0]);
        place.resolve(&task, verdict).await;
        assert_eq!(place.end(&task).await.state, State::Cancelled);
        assert_eq!(place.log.take(), wanted);
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_of_unknown_outcome_is_undone_with_its_arguments() {
    let place = Place::new();
    let task = place.client.submit(reserved()).await.unwrap();
    place.cut_off().await;
    let history = task.progress().await.unwrap().history;
    let begun = history.first().unwrap();
    assert_eq!(begun.kind, RecordKind::Begun);
    assert_eq!(begun.undo.as_deref(), Some("release_any"));
    assert_eq!(begun.args.as_deref(), Some(r#"["a seat"]"#));
    place.log.take();
    place.client.cancel(task.id()).await.unwrap();
    assert_eq!(place.end(&task).await.state, State::Cancelled);
    assert_eq!(place.log.take(), ["release any a seat"]);
}

#[tokio::test(start_paused = true)]
async fn a_step_with_undo_unknown_runs_again_and_is_undone_by_undo_when_it_was_done() {
    let place = Place::new();
    let task = place.client.submit(reserved()).await.unwrap();
    place.cut_off().await;
    assert_eq!(place.end(&task).await.state, State::Processed);
    assert_eq!(place.log.take().len(), 2);
    let kinds = task.progress().await.unwrap().history;
    let kinds: Vec<_> = kinds.iter().map(|record| record.kind).collect();
    assert_eq!(kinds, [RecordKind::Begun, RecordKind::Done]);
}

/// An operator turns a task back by its step of unknown outcome.
#[tokio::test(start_paused = true)]
async fn an_operator_undoes_a_step_of_unknown_outcome() {
    let place = Place::new();
    let task = place.client.submit(reserved()).await.unwrap();
    place.cut_off().await;
    place.client.park(task.id(), "to look").await.unwrap();
    place.log.take();
    place.resolve(&task, Verdict::Undo).await;
    assert_eq!(place.end(&task).await.state, State::Compensated);
    assert_eq!(place.log.take(), ["release any a seat"]);
}
