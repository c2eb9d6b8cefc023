//! Tasks that start other tasks, on a store in memory with tokio's clock paused.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt_supervisor::store::Filter;
use reattempt_supervisor::{
    Child, ChildError, Client, Fence, Memory, Scheduler, SchedulerHandle, State, Step, StepError,
    Task, TaskId, WorkflowContext, step, workflow,
};

/// The numbers of the parts that were done, in order, and how many of them fail.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u32>>>, Arc<AtomicU32>);

#[step]
async fn work(_step: &Step, #[with] log: &Log, number: u32) -> Result<u32, String> {
    tokio::time::sleep(Duration::from_millis(u64::from(number) * 100)).await;
    log.0.lock().unwrap().push(number);
    if number == 13 && log.1.load(Ordering::SeqCst) > 0 {
        log.1.fetch_sub(1, Ordering::SeqCst);
        return Err("thirteen is too many".to_owned());
    }
    Ok(number * 10)
}

#[workflow(max_failures = 1)]
async fn part(context: &WorkflowContext, number: u32) -> Result<u32, StepError> {
    context.sleep(Duration::from_secs(u64::from(number))).await;
    work(context, number).await
}

#[workflow(on_failure = "keep")]
async fn one(context: &WorkflowContext, number: u32) -> Result<u32, ChildError> {
    let child = context.start(part(number)).await;
    context.result(&child).await
}

#[workflow]
async fn all(context: &WorkflowContext, numbers: Vec<u32>) -> Result<Vec<String>, StepError> {
    let mut children: Vec<Child<u32>> = Vec::new();
    for number in numbers {
        children.push(context.start(part(number)).await);
    }
    let results = context.gather(&children).await;
    let show = |result: Result<u32, ChildError>| match result {
        Ok(value) => value.to_string(),
        Err(error) => error.state().to_string(),
    };
    Ok(results.into_iter().map(show).collect())
}

#[workflow]
async fn first_of_two(context: &WorkflowContext) -> Result<u32, ChildError> {
    let slow = context.start(part(500)).await;
    let fast = context.start(part(2)).await;
    tokio::select! {
        slow = context.result(&slow) => slow,
        fast = context.result(&fast) => fast,
    }
}

#[workflow]
async fn with_key(context: &WorkflowContext) -> Result<u32, ChildError> {
    let child = context.start(part(1).key("mine")).await;
    context.result(&child).await
}

/// A client of a store, and the log of the process that runs its tasks.
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

    fn done(&self) -> Vec<u32> {
        self.log.0.lock().unwrap().clone()
    }

    /// Waits until the task is in this state.
    async fn wait_for(&self, id: TaskId, state: State) -> Task {
        loop {
            let task = self.client.store().task(id).await.unwrap().unwrap();
            if task.state == state {
                return task;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn start(client: &Client, log: &Log) -> SchedulerHandle {
    Scheduler::new(client)
        .register(part)
        .register(one)
        .register(all)
        .register(first_of_two)
        .register(with_key)
        .with(log.clone())
        .start()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_workflow_gets_the_result_of_its_child() {
    let place = Place::new();
    let start = tokio::time::Instant::now();
    let task = place.client.submit(one(7)).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 70);
    assert_eq!(place.done(), [7]);
    // 7 s and 0.7 s for the child; a worker looks for work each second.
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(9), "{elapsed:?}");
    let history = task.progress().await.unwrap().history;
    let names: Vec<_> = history.iter().map(|record| &*record.name).collect();
    assert_eq!(names, ["start part", "gather"]);
    let child = history[0].result.as_deref().unwrap().parse().unwrap();
    let child = place
        .client
        .task::<u32>(TaskId(child))
        .progress()
        .await
        .unwrap();
    assert_eq!(child.task.state, State::Processed);
}

#[tokio::test(start_paused = true)]
async fn a_child_that_fails_is_a_typed_error_and_may_be_resubmitted() {
    let place = Place::new();
    place.log.1.store(1, Ordering::SeqCst);
    let task = place.client.submit(one(13)).await.unwrap();
    let failed = place.wait_for(task.id(), State::Error).await;
    let error = failed.error.unwrap();
    let wanted = "`part` ended as error: step `work` failed: thirteen is too many";
    assert!(error.contains(wanted), "{error}");
    // The child succeeds when it runs again, and so does its parent.
    let history = task.progress().await.unwrap().history;
    let child = TaskId(history[0].result.as_deref().unwrap().parse().unwrap());
    place.client.resubmit(child).await.unwrap();
    place.wait_for(child, State::Processed).await;
    place.client.resubmit(task.id()).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 130);
}

#[tokio::test(start_paused = true)]
async fn children_are_gathered_in_their_order_and_their_parent_wakes_once() {
    let place = Place::new();
    place.log.1.store(1, Ordering::SeqCst);
    let task = place.client.submit(all(vec![20, 13, 1, 40])).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), ["200", "error", "10", "400"]);
    assert_eq!(place.done(), [1, 13, 20, 40]);
    // It was claimed at its start and at the end of the last child.
    assert_eq!(task.progress().await.unwrap().task.fence, Fence(2));
}

#[tokio::test(start_paused = true)]
async fn a_gather_of_many_has_few_records() {
    let place = Place::new();
    let task = place.client.submit(all((0..250).collect())).await.unwrap();
    let wanted: Vec<_> = (0..250).map(|nth| (nth * 10).to_string()).collect();
    assert_eq!(task.wait().await.unwrap(), wanted);
    let progress = task.progress().await.unwrap();
    assert_eq!(progress.history.len(), 253);
    assert_eq!(progress.task.fence, Fence(2));
}

#[tokio::test(start_paused = true)]
async fn children_go_on_once_when_another_process_takes_over() {
    let mut place = Place::new();
    let task = place.client.submit(all(vec![2, 5, 9])).await.unwrap();
    for nth in 0..7_u64 {
        tokio::time::sleep(Duration::from_millis(900 + nth * 150)).await;
        place.restart().await;
    }
    assert_eq!(task.wait().await.unwrap(), ["20", "50", "90"]);
    let listed = place.client.list(Filter::default()).await.unwrap();
    assert_eq!(listed.len(), 4);
    let history = task.progress().await.unwrap().history;
    assert_eq!(history.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn the_first_of_two_children_counts() {
    let place = Place::new();
    let start = tokio::time::Instant::now();
    let task = place.client.submit(first_of_two()).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 20);
    assert!(start.elapsed() < Duration::from_secs(4));
}

#[tokio::test(start_paused = true)]
async fn a_child_has_a_key_of_its_own() {
    let place = Place::new();
    let task = place.client.submit(with_key()).await.unwrap();
    let parked = place.wait_for(task.id(), State::Parked).await;
    let error = parked.error.unwrap();
    assert!(
        error.contains("a child has a key of its own; leave out `key`"),
        "{error}"
    );
}
