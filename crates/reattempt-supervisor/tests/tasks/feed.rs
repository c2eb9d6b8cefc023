//! The feed of ends, as its readers see it.

use std::time::Duration;

use crate::kit;
use reattempt_supervisor::store::{AdminCommand, Write};
use reattempt_supervisor::{Client, Ending, Ends, EndsError, Memory, NewTask, State, TaskId};
use tokio::time::Instant;

/// Submits a task and parks it. Returns its number.
async fn park(client: &Client, new: NewTask) -> TaskId {
    let task = kit::submit(client.store(), new).await;
    let park = AdminCommand::Park("it waits".to_owned());
    let parked = client.store().write([Write::Admin(task, park)].into());
    parked.await.unwrap();
    task
}

fn tasks(endings: &[Ending]) -> Vec<TaskId> {
    endings.iter().map(|end| end.task).collect()
}

/// Returns whether a reader has nothing to get for an hour.
async fn gets_nothing(ends: &mut Ends) -> bool {
    let next = tokio::time::timeout(Duration::from_secs(3_600), ends.next());
    next.await.is_err()
}

#[tokio::test(start_paused = true)]
async fn a_reader_gets_ends_again_until_it_has_acknowledged_them() {
    let client = Client::new(Memory::new());
    let first = park(&client, kit::plain("one")).await;
    let second = park(&client, kit::plain("two")).await;
    let mut killed = client.ends("billing").limit(1);
    assert_eq!(tasks(&killed.next().await.unwrap()), [first]);
    assert_eq!(tasks(&killed.next().await.unwrap()), [first]);
    // Another process goes on under the name.
    drop(killed);
    let mut ends = client.ends("billing").limit(1);
    assert_eq!(tasks(&ends.next().await.unwrap()), [first]);
    ends.acknowledge().await.unwrap();
    let mut later = client.ends("billing");
    assert_eq!(tasks(&later.next().await.unwrap()), [second]);
    later.acknowledge().await.unwrap();
    later.acknowledge().await.unwrap();
    assert!(gets_nothing(&mut later).await);
    // What the other process has acknowledged meanwhile stays so.
    let mut other = client.ends("shipping");
    assert_eq!(tasks(&other.next().await.unwrap()), [first, second]);
    ends.acknowledge().await.unwrap();
    assert!(gets_nothing(&mut ends).await);
}

#[tokio::test(start_paused = true)]
async fn a_reader_waits_for_the_next_end_that_fits() {
    let client = Client::new(Memory::new());
    let other = |key: &str| NewTask {
        workflow: "other".to_owned(),
        queue: "slow".to_owned(),
        headers: Some(r#"{"tenant":7}"#.to_owned()),
        ..kit::plain(key)
    };
    // The reader reads them in several looks.
    for nth in 0..5 {
        park(&client, kit::plain(&format!("plain {nth}"))).await;
    }
    let filters: [fn(Ends) -> Ends; 3] = [
        |ends| ends.workflow("other"),
        |ends| ends.queue("slow"),
        |ends| ends.header("tenant", "7"),
    ];
    let mut fitting = Vec::new();
    for (nth, filter) in filters.into_iter().enumerate() {
        // Only a notification can wake it within an hour.
        let ends = client.ends(format!("reader {nth}")).limit(2);
        let mut ends = filter(ends).every(Duration::from_secs(7_200));
        let writer = client.clone();
        let writing = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(60)).await;
            park(&writer, other(&format!("other {nth}"))).await
        });
        let began = Instant::now();
        let mut got = Vec::new();
        while got.len() <= nth {
            got.extend(tasks(&ends.next().await.unwrap()));
            ends.acknowledge().await.unwrap();
        }
        fitting.push(writing.await.unwrap());
        assert_eq!(got, fitting);
        assert_eq!(began.elapsed(), Duration::from_secs(60));
        assert!(gets_nothing(&mut ends).await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_behind_the_retention_is_told_how_much_it_has_missed() {
    let client = Client::new(Memory::new());
    let mut ends = client.ends("billing");
    assert!(gets_nothing(&mut ends).await);
    for nth in 0..5 {
        park(&client, kit::plain(&format!("early {nth}"))).await;
    }
    tokio::time::advance(Duration::from_secs(60)).await;
    let late = park(&client, kit::plain("late")).await;
    // Nothing has ended: parked tasks stay. All old lines go, two at a time.
    assert_eq!(client.prune(Duration::from_secs(30), 2).await.unwrap(), 0);
    for _ in 0..2 {
        match ends.next().await {
            Err(EndsError::Missed(5)) => {}
            other => panic!("{other:?}"),
        }
        // Another process hears of it until one has skipped them.
        ends = client.ends("billing");
    }
    let error = ends.next().await.unwrap_err();
    assert!(error.to_string().starts_with("5 ends were pruned"));
    ends.skip_missed().await.unwrap();
    assert_eq!(tasks(&ends.next().await.unwrap()), [late]);
    let mut new = client.ends("shipping");
    let left = new.next().await.unwrap();
    assert_eq!((tasks(&left), left[0].state), (vec![late], State::Parked));
}
