//! Runs workers of an earlier program beside workers of this one, and then the earlier one alone: nothing is lost,
//! and nothing happens twice.

use std::path::Path;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::TaskId;

use crate::killer::{self, Worker};
use crate::ledger::Ledger;
use crate::stores::Place;
use crate::{judge, work};

/// The number of tasks in each phase.
const TASKS: u32 = 150;

/// The number of kills in each phase.
const KILLS: u32 = 8;

/// `before` is an earlier build of this program.
pub(crate) async fn run(place: &Place, before: &Path, seed: u64) {
    let began = Instant::now();
    let ledger = Ledger::start().await;
    let mut chance = StdRng::seed_from_u64(seed);
    let this = std::env::current_exe().unwrap();

    // It creates the tables.
    let mut old = vec![Worker::spawn_from(before, place, &ledger).await];
    let client = place.client().await;
    let mut orders = Vec::new();
    for _ in 0..TASKS {
        orders.push(submit(&client, orders.len()).await);
    }
    tokio::time::sleep(Duration::from_millis(200)).await;

    let mut new = vec![Worker::spawn_from(&this, place, &ledger).await];
    for _ in 0..KILLS {
        for _ in 0..TASKS / KILLS {
            orders.push(submit(&client, orders.len()).await);
        }
        tokio::time::sleep(Duration::from_millis(chance.random_range(20..200))).await;
        let (kind, program) = if chance.random() {
            (&mut old, before)
        } else {
            (&mut new, &*this)
        };
        kind.remove(0).kill().await;
        kind.push(Worker::spawn_from(program, place, &ledger).await);
    }
    // And back.
    for worker in new {
        worker.kill().await;
    }
    for _ in 0..TASKS {
        orders.push(submit(&client, orders.len()).await);
    }
    old.push(Worker::spawn_from(before, place, &ledger).await);
    killer::wait_for_all(&client, &orders).await;
    for worker in old {
        worker.kill().await;
    }
    let found = judge::all(&client, &ledger, &orders).await;
    place.check_small_tables().await;
    println!(
        "{}: an earlier program and this one beside each other, seed {seed}, {} tasks, {KILLS} kills; {found}; {:?}",
        place.kind,
        orders.len(),
        began.elapsed()
    );
}

async fn submit(client: &reattempt_supervisor::Client, order: usize) -> TaskId {
    let order = u32::try_from(order).unwrap();
    let submission = work::order(order).key(order.to_string());
    client.submit(submission).await.unwrap().id()
}
