//! Kills the workers of a task that continues as new, before and after each of their first writes: no turn is
//! left out, and none has the key of another.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::killer::Worker;
use crate::ledger::Ledger;
use crate::stores::Place;
use crate::work;

/// How many writes the workers make before they are killed.
const WRITES: i64 = 8;

/// How many turns there are: more than the workers that are killed begin.
const TURNS: u32 = 40;

pub(crate) async fn run(place: &Place) {
    let began = Instant::now();
    let ledger = Ledger::start().await;
    let client = place.client().await;
    let task = client.submit(work::turns(1, TURNS)).await.unwrap();
    for writes in 1..=WRITES {
        for side in ["before", "after"] {
            let mut worker = Worker::spawn(place, &ledger, writes, side);
            worker.says("kill me").await;
            worker.kill().await;
        }
    }
    let worker = Worker::spawn(place, &ledger, 0, "before");
    assert_eq!(task.wait().await.unwrap(), TURNS);
    worker.kill().await;
    let calls = ledger.calls();
    // A turn may call twice, with the same key; then the next turn calls.
    let mut turns = calls.iter().map(|call| &call.key).collect::<Vec<_>>();
    turns.dedup();
    let distinct: BTreeSet<_> = turns.iter().collect();
    let wanted = usize::try_from(TURNS).unwrap();
    assert_eq!((turns.len(), distinct.len()), (wanted, wanted));
    let progress = task.progress().await.unwrap();
    let generations = u32::try_from(progress.task.generation).unwrap();
    assert_eq!((generations, progress.history.len()), (TURNS - 1, 1));
    place.check_small_tables().await;
    println!(
        "{}: {TURNS} generations, {} workers killed, {} calls; {:?}",
        place.kind,
        2 * WRITES,
        calls.len(),
        began.elapsed()
    );
}
