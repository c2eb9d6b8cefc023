//! Submissions of many tasks, and limits, on a store in memory with tokio's clock paused.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt_supervisor::store::Filter;
use reattempt_supervisor::{
    ChildError, Client, Memory, Scheduler, Step, StepError, SubmitError, WorkflowContext, step,
    workflow,
};

#[workflow]
async fn double(_context: &WorkflowContext, number: u32) -> Result<u32, StepError> {
    Ok(number * 2)
}

#[tokio::test(start_paused = true)]
async fn many_tasks_are_submitted_at_once() {
    let client = Client::new(Memory::new());
    let scheduler = Scheduler::new(&client).register(double).start().unwrap();
    let began = tokio::time::Instant::now();
    let tasks = client.submit_many((0..700).map(double)).await.unwrap();
    for (nth, task) in (0..).zip(tasks) {
        assert_eq!(task.unwrap().wait().await.unwrap(), nth * 2);
    }
    // The worker of this process has not waited for its next look.
    assert_eq!(began.elapsed(), Duration::ZERO);
    scheduler.stop(Duration::ZERO).await;
    let none = client.submit_many((0..0).map(double)).await.unwrap();
    assert!(none.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_works_with_the_longest_times() {
    let client = Client::new(Memory::new());
    for set in [Scheduler::lease, Scheduler::poll] {
        let scheduler = set(Scheduler::new(&client).register(double), Duration::MAX);
        let scheduler = scheduler.start().unwrap();
        let task = client.submit(double(2)).await.unwrap();
        let waiting = tokio::time::timeout(Duration::from_secs(60), task.wait());
        assert_eq!(waiting.await.unwrap().unwrap(), 4);
        scheduler.stop(Duration::MAX).await;
    }
}

#[tokio::test(start_paused = true)]
async fn each_of_many_tasks_has_a_result() {
    let client = Client::new(Memory::new());
    let first = client.submit(double(1).key("first")).await.unwrap();
    let list = || {
        [
            double(2).key("second"),
            double(7).key("first").strict(),
            double(1).key("first").strict(),
        ]
    };
    let invalid = client.submit_many(list().map(|one| one.headers("7"))).await;
    assert!(matches!(invalid, Err(SubmitError::Store(_))), "{invalid:?}");
    assert_eq!(client.list(Filter::default()).await.unwrap().len(), 1);
    let [second, other, same] =
        <[_; 3]>::try_from(client.submit_many(list()).await.unwrap()).unwrap();
    assert!(second.unwrap().submitted().unwrap().is_new);
    let other = other.unwrap_err().to_string();
    assert!(
        other.contains("the same key and other arguments"),
        "{other}"
    );
    assert_eq!(same.unwrap().id(), first.id());
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_tasks_with_a_clear_error() {
    let client = Client::new(Memory::new()).max_pending("small", 2);
    let small = |number: u32| double(number).key(number.to_string()).queue("small");
    let first = client.submit(small(1)).await.unwrap();
    let [second, third] =
        <[_; 2]>::try_from(client.submit_many([2, 3].map(small)).await.unwrap()).unwrap();
    second.unwrap();
    for refused in [third, client.clone().submit(small(4)).await] {
        assert_eq!(
            refused.unwrap_err().to_string(),
            "2 tasks wait in the queue `small`, the most that it may have: submit later, start more workers, or raise \
             `max_pending`"
        );
    }
    assert_eq!(client.submit(small(1)).await.unwrap().id(), first.id());
    client.submit(double(1)).await.unwrap();
    let client = client.max_pending("small", 3);
    client.submit(small(3)).await.unwrap();
}

/// The numbers of tasks, when they begin and when they end.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u32>>>);

#[step]
async fn work(_step: &Step, #[with] log: &Log, number: u32) -> Result<(), String> {
    log.0.lock().unwrap().push(number);
    tokio::time::sleep(Duration::from_secs(1)).await;
    log.0.lock().unwrap().push(number);
    Ok(())
}

#[workflow]
async fn slow(context: &WorkflowContext, number: u32) -> Result<(), StepError> {
    context.sleep(Duration::from_secs(5)).await;
    work(context, number).await
}

#[workflow(max_failures = 1)]
async fn parent(context: &WorkflowContext) -> Result<(), ChildError> {
    let child = context.start(slow(7).lane("mine")).await;
    context.result(&child).await
}

#[tokio::test(start_paused = true)]
async fn tasks_of_a_lane_run_one_at_a_time_also_while_they_sleep() {
    let (client, log) = (Client::new(Memory::new()), Log::default());
    let scheduler = Scheduler::new(&client)
        .register(slow)
        .with(log.clone())
        .start()
        .unwrap();
    let began = tokio::time::Instant::now();
    let tasks = (0..4).map(|number| slow(number).lane("mine"));
    for task in client.submit_many(tasks).await.unwrap() {
        task.unwrap().wait().await.unwrap();
    }
    assert_eq!(*log.0.lock().unwrap(), [0, 0, 1, 1, 2, 2, 3, 3]);
    assert!(
        began.elapsed() < Duration::from_secs(28),
        "{:?}",
        began.elapsed()
    );
    scheduler.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_child_cannot_be_in_the_lane_of_its_parent() {
    let client = Client::new(Memory::new());
    let scheduler = Scheduler::new(&client)
        .register(parent)
        .register(slow)
        .with(Log::default())
        .start()
        .unwrap();
    let task = client.submit(parent().lane("mine")).await.unwrap();
    let error = task.wait().await.unwrap_err().to_string();
    assert!(error.contains("set another `lane`, or none"), "{error}");
    // It keeps its turn until an operator has decided.
    client.cancel(task.id()).await.unwrap();
    client
        .submit(parent().lane("other"))
        .await
        .unwrap()
        .wait()
        .await
        .unwrap();
    scheduler.stop(Duration::ZERO).await;
}
