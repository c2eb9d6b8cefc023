//! Suspends a worker for longer than its lease: the store refuses its writes when it continues.

use std::process::Command;
use std::time::Duration;

use reattempt_supervisor::Client;
use reattempt_supervisor::store::Write;

use crate::killer::Worker;
use crate::ledger::Ledger;
use crate::stores::Place;
use crate::{judge, work};

pub(crate) async fn run(place: &Place) {
    let ledger = Ledger::start().await;
    let client = place.client().await;
    let (held, held_again) = (ledger.hold("pack"), ledger.hold("pack"));
    let mut first = Worker::spawn(place, &ledger, 0, "before");
    first.says("ready").await;
    let task = client
        .submit(work::order(0).key("of two workers"))
        .await
        .unwrap();
    held.called.notified().await;
    stop(&first, &client).await;

    // Another worker takes over when the lease is over, and runs the same step when the first
    // worker continues.
    let second = Worker::spawn(place, &ledger, 0, "before");
    within("nobody took over", held_again.called.notified()).await;
    held.go.notify_one();
    signal(&first, "-CONT");
    let lost = format!("lost {}", task.id());
    within("the first worker did not notice", first.says(&lost)).await;
    held_again.go.notify_one();
    assert_eq!(
        within("the second worker did not end it", task.wait())
            .await
            .unwrap(),
        0
    );

    let history = client.store().history(task.id()).await.unwrap();
    let fence = |name: &str| {
        history
            .iter()
            .find(|record| record.name == name)
            .unwrap()
            .fence
    };
    assert!(fence("pay") < fence("pack"), "{history:?}");
    assert_eq!(fence("pack"), fence("ship"), "{history:?}");
    let seen = judge::all(&client, &ledger, &[task.id()]).await;
    println!(
        "{}: a worker was stopped past its lease and could write nothing; {seen}",
        place.kind
    );
    first.kill().await;
    second.kill().await;
}

/// Suspends a worker. It may be in the middle of a write, and then no other worker could write.
async fn stop(worker: &Worker, client: &Client) {
    loop {
        signal(worker, "-STOP");
        let nothing = Write::Prune(Duration::from_secs(3_600).into(), 0);
        if client.store().write([nothing].into()).await.is_ok() {
            return;
        }
        signal(worker, "-CONT");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) fn signal(worker: &Worker, signal: &str) {
    let id = worker.child.id().unwrap().to_string();
    assert!(
        Command::new("kill")
            .args([signal, &id])
            .status()
            .unwrap()
            .success()
    );
}

async fn within<T>(what: &str, wait: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(Duration::from_secs(20), wait).await;
    waited.unwrap_or_else(|_| panic!("{what}"))
}
