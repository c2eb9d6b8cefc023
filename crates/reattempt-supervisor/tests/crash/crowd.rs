//! Runs eight schedulers and four supervisors, each in a process, on one server that restarts
//! meanwhile: nothing is lost, and nothing happens twice.

use std::time::{Duration, Instant};

use crate::killer::Worker;
use crate::ledger::Ledger;
use crate::stores::Place;
use crate::{judge, work};

/// The time between two restarts.
const EVERY: Duration = Duration::from_secs(10);

pub(crate) async fn run(place: &mut Place, count: u32) {
    let began = Instant::now();
    let ledger = Ledger::start().await;
    let client = place.client().await;
    let mut crowd = Vec::new();
    for nth in 0..12 {
        let side = if nth < 8 { "schedules" } else { "supervises" };
        let mut worker = Worker::spawn(place, &ledger, 0, side);
        worker.says("ready").await;
        crowd.push(worker);
    }
    let submitting = tokio::spawn({
        let client = client.clone();
        async move {
            let mut orders = Vec::new();
            for order in 0..count {
                let submission = work::order(order).key(format!("crowd {order}"));
                orders.push(client.submit(submission).await.unwrap().id());
            }
            orders
        }
    });
    let mut restarts = 0;
    let mut last = Instant::now();
    loop {
        let counts = client.store().counts().await.unwrap_or_default();
        let ended = counts.iter().filter(|(state, _)| state.is_final());
        let ended: u64 = ended.map(|(_, count)| count).sum();
        if submitting.is_finished() && is_all_ended(&counts) && restarts > 0 {
            break;
        }
        // Restart at once when half of the tasks are done, so that small crowds see a restart, too.
        if last.elapsed() > EVERY || (restarts == 0 && ended * 2 > u64::from(count)) {
            place.restart();
            restarts += 1;
            last = Instant::now();
        }
        assert!(
            began.elapsed() < Duration::from_secs(900),
            "it does not end: {counts:?}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let orders = submitting.await.unwrap();
    let seen = judge::all(&client, &ledger, &orders).await;
    println!(
        "{}: 8 schedulers, 4 supervisors, {} tasks, {restarts} restarts of the server; {seen}; {:?}",
        place.kind,
        orders.len(),
        began.elapsed()
    );
    for worker in crowd {
        worker.kill().await;
    }
}

fn is_all_ended(counts: &[(reattempt_supervisor::State, u64)]) -> bool {
    !counts.is_empty() && counts.iter().all(|(state, _)| state.is_final())
}
