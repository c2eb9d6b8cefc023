//! Submissions of many tasks, and limits, on a store in memory with tokio's clock paused.
#![allow(
    clippy::unwrap_used,
    clippy::unused_async,
    reason = "a test that panics has failed; workflows are async, also those that wait for nothing"
)]

use std::time::Duration;

use reattempt_supervisor::store::Filter;
use reattempt_supervisor::{
    Client, Memory, Scheduler, StepError, SubmitError, WorkflowContext, workflow,
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
