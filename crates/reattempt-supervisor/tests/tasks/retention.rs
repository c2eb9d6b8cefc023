//! A supervisor that deletes what has ended long ago.

use std::time::Duration;

use reattempt_supervisor::{
    Client, Filter, Memory, Retention, StepError, Supervisor, WorkflowContext, workflow,
};

const DAY: Duration = Duration::from_secs(86_400);

#[workflow]
async fn order(_: &WorkflowContext, _: u32) -> Result<(), StepError> {
    Ok(())
}

/// A store with so many tasks that have ended, and one that has not.
async fn ended(count: u32) -> Client {
    let client = Client::new(Memory::new());
    for number in 0..count {
        let task = client.submit(order(number)).await.unwrap();
        client.cancel(task.id()).await.unwrap();
    }
    client.submit(order(count)).await.unwrap();
    client
}

async fn count(client: &Client) -> usize {
    let filter = Filter {
        limit: 10_000,
        ..Filter::default()
    };
    client.list(filter).await.unwrap().len()
}

/// In portions, until nothing is left but what has not ended.
#[tokio::test(start_paused = true)]
async fn what_has_ended_goes_in_portions() {
    let client = ended(1_234).await;
    assert_eq!(count(&client).await, 1_235);
    let at_once = Retention {
        lag: Duration::ZERO,
        ..Retention::from(Duration::ZERO)
    };
    let supervisor = Supervisor::new(&client).keep(at_once).start();
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(count(&client).await, 1_235, "it looks about once a minute");
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(count(&client).await, 1);
    supervisor.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_has_just_ended_stays() {
    let client = ended(3).await;
    let keeps = Supervisor::new(&client).keep(30 * DAY).start();
    let by_default = Supervisor::new(&client).start();
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(count(&client).await, 4);
    keeps.stop().await;
    by_default.stop().await;
}
