//! Which failures count: those of one step, and those of a task in a row.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::Policy;
use reattempt_supervisor::{
    Client, Direction, FailingStep, Memory, Scheduler, SchedulerHandle, State, Step, StepError,
    SubmitError, TaskHandle, WorkflowContext, step, workflow,
};

/// How often each step has run.
#[derive(Clone, Default)]
struct Runs(Arc<Mutex<HashMap<String, u32>>>);

impl Runs {
    /// Counts one more run, and returns how many there were before.
    fn count(&self, name: impl Into<String>) -> u32 {
        let mut runs = self.0.lock().unwrap();
        let runs = runs.entry(name.into()).or_default();
        *runs += 1;
        *runs - 1
    }
}

/// Gives up in its first `faults` runs.
#[step(retry(max = 2, base = "1ms", on(_)), undo = take_back)]
async fn works_later(step: &Step, #[with] runs: &Runs, faults: u32) -> Result<(), String> {
    // Two attempts in each run.
    if runs.count(step.key()) < 2 * faults {
        return Err("not yet".to_owned());
    }
    Ok(())
}

/// Gives up in its first run.
#[step(retry(max = 2, base = "1ms", on(_)))]
async fn take_back(
    step: &Step,
    #[with] runs: &Runs,
    _faults: u32,
    _done: &(),
) -> Result<(), String> {
    if runs.count(step.key()) < 2 {
        return Err("not yet".to_owned());
    }
    Ok(())
}

#[step]
async fn refuse(_step: &Step) -> Result<(), String> {
    Err("no".to_owned())
}

#[workflow(max_failures = 5)]
async fn long(context: &WorkflowContext, faults: u32, fails: bool) -> Result<(), StepError> {
    for _ in 0..12 {
        works_later(context, faults).await?;
    }
    if fails {
        refuse(context).await?;
    }
    Ok(())
}

/// A step that never works beside steps that do.
#[workflow(max_failures = 5)]
async fn stubborn(context: &WorkflowContext) -> Result<(), StepError> {
    let others = async {
        for _ in 0..100 {
            works_later(context, 0).await?;
        }
        Ok(())
    };
    tokio::try_join!(works_later(context, 1_000), others).map(drop)
}

/// How many panics are left in each of these workflows.
static PANICS: [AtomicU32; 2] = [AtomicU32::new(12), AtomicU32::new(100)];

fn panic_if_left(workflow: usize) {
    let left = &PANICS[workflow];
    let count = |left: u32| left.checked_sub(1);
    let was = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count);
    assert!(was.is_err(), "it panics");
}

#[workflow(max_failures = 5)]
async fn panics_between_steps(context: &WorkflowContext) -> Result<(), StepError> {
    for nth in 0..12 {
        works_later(context, 0).await?;
        if PANICS[0].load(Ordering::SeqCst) == 12 - nth {
            panic_if_left(0);
        }
    }
    Ok(())
}

#[workflow(max_failures = 5)]
async fn panics_between_timers(context: &WorkflowContext) -> Result<(), StepError> {
    for nth in 0..100 {
        context.sleep(Duration::from_secs(1)).await;
        if PANICS[1].load(Ordering::SeqCst) == 100 - nth {
            panic_if_left(1);
        }
    }
    Ok(())
}

fn start() -> (Client, SchedulerHandle) {
    let client = Client::new(Memory::new());
    let delays = Policy::new()
        .unlimited()
        .base(Duration::from_secs(1))
        .cap(Duration::from_secs(60));
    let scheduler = Scheduler::new(&client)
        .register(long)
        .register(stubborn)
        .register(panics_between_steps)
        .register(panics_between_timers)
        .with(Runs::default())
        .delays(delays)
        .start()
        .unwrap();
    (client, scheduler)
}

async fn end(task: &TaskHandle<()>) -> State {
    match task.wait().await {
        Err(SubmitError::Ended(_, state, _)) => state,
        other => other.map(|()| State::Processed).unwrap(),
    }
}

/// Returns the failures of each step in one direction.
fn failures(steps: &[FailingStep], direction: Direction) -> Vec<(i32, i32)> {
    let steps = steps.iter().filter(|step| step.direction == direction);
    steps.map(|step| (step.seq, step.failures)).collect()
}

/// F2: after the failures of six different steps the task was undone.
#[tokio::test(start_paused = true)]
async fn the_failures_of_different_steps_are_not_added_up() {
    let (client, _scheduler) = start();
    let task = client.submit(long(1, false)).await.unwrap();
    assert_eq!(end(&task).await, State::Processed);
    let progress = task.progress().await.unwrap();
    assert_eq!((progress.task.failures, progress.task.fence.0), (0, 13));
    let once: Vec<_> = (0..12).map(|seq| (seq, 1)).collect();
    assert_eq!(failures(&progress.failures, Direction::Forward), once);
    assert!(
        progress.failures[0]
            .error
            .contains("gave up after 2 attempts")
    );
}

#[tokio::test(start_paused = true)]
async fn the_failures_of_one_step_are() {
    for (faults, ends) in [(5, State::Processed), (6, State::Error)] {
        let (client, _scheduler) = start();
        let task = client.submit(long(faults, false)).await.unwrap();
        assert_eq!(end(&task).await, ends);
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_that_never_works_ends_the_task_although_others_make_progress() {
    let (client, _scheduler) = start();
    let task = client.submit(stubborn()).await.unwrap();
    assert_eq!(end(&task).await, State::Compensated);
    let progress = task.progress().await.unwrap();
    assert_eq!(failures(&progress.failures, Direction::Forward), [(0, 6)]);
}

/// Twelve compensations, each of which works when it runs again.
#[tokio::test(start_paused = true)]
async fn the_failures_of_different_compensations_are_not_added_up() {
    let (client, _scheduler) = start();
    let task = client.submit(long(0, true)).await.unwrap();
    assert_eq!(end(&task).await, State::Compensated);
    let progress = task.progress().await.unwrap();
    let once: Vec<_> = (0..12).map(|seq| (seq, 1)).collect();
    assert_eq!(failures(&progress.failures, Direction::Undoing), once);
}

#[tokio::test(start_paused = true)]
async fn panics_count_in_a_row() {
    let (client, _scheduler) = start();
    let task = client.submit(panics_between_steps()).await.unwrap();
    assert_eq!(end(&task).await, State::Processed);
    assert_eq!(PANICS[0].load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn timers_are_not_progress() {
    let (client, _scheduler) = start();
    let task = client.submit(panics_between_timers()).await.unwrap();
    assert_eq!(end(&task).await, State::Error);
    assert_eq!(PANICS[1].load(Ordering::SeqCst), 100 - 6);
}
