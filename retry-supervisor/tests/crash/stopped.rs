//! A worker that stands still for longer than its lease and goes on: what it writes then is refused.

use std::process::Command;
use std::time::Duration;

use crate::killer::Worker;
use crate::ledger::Ledger;
use crate::stores::Place;
use crate::{judge, work};

pub(crate) async fn run(place: &Place) {
    let ledger = Ledger::start().await;
    let tasks = place.tasks().await;
    let held = ledger.hold("pack");
    let mut first = Worker::spawn(place, &ledger, 0, "before");
    first.says("ready").await;
    let task = tasks
        .submit(work::order(0).key("of two workers"))
        .await
        .unwrap();
    held.called.notified().await;
    signal(&first, "-STOP");

    // Another takes over as soon as the lease is over.
    let second = Worker::spawn(place, &ledger, 0, "before");
    let ended = tokio::time::timeout(Duration::from_secs(20), task.wait()).await;
    assert_eq!(ended.expect("nobody took over").unwrap(), 0);

    held.go.notify_one();
    signal(&first, "-CONT");
    let lost = format!("lost {}", task.id());
    let told = tokio::time::timeout(Duration::from_secs(20), first.says(&lost)).await;
    told.expect("the first worker did not notice that its task was lost");
    let history = tasks.store().history(task.id()).await.unwrap();
    let fence = |name: &str| {
        history
            .iter()
            .find(|record| record.name == name)
            .unwrap()
            .fence
    };
    assert!(fence("pay") < fence("pack"), "{history:?}");
    assert_eq!(fence("pack"), fence("ship"), "{history:?}");
    let seen = judge::all(&tasks, &ledger, &[task.id()]).await;
    println!(
        "{}: a worker was stopped past its lease and could write nothing; {seen}",
        place.kind
    );
    first.kill().await;
    second.kill().await;
}

fn signal(worker: &Worker, signal: &str) {
    let id = worker.child.id().unwrap().to_string();
    assert!(
        Command::new("kill")
            .args([signal, &id])
            .status()
            .unwrap()
            .success()
    );
}
