//! Kills the worker of a parent twice while it gathers its children, and prunes meanwhile: there is each
//! child once, each works once, and the parent reads little.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reattempt_supervisor::{Client, RecordKind, State, TaskId};

use crate::killer::Worker;
use crate::ledger::Ledger;
use crate::stores::Place;
use crate::work;

/// How many outcomes one record of a gather has at most.
const CHUNK: i64 = 100;

/// How long a run may take.
const LIMIT: Duration = Duration::from_secs(600);

/// How many records, signals and children the workers of a parent have read.
type Reads = [u64; 3];

pub(crate) async fn run(place: &Place, count: u32) {
    let began = Instant::now();
    let ledger = Ledger::start().await;
    let client = place.client().await;
    let album = client.submit(work::album(count)).await.unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let pruning = tokio::spawn(prune_meanwhile(client.clone(), Arc::clone(&is_over)));
    let half = i64::from(count) / CHUNK / 2;
    let mut reads = Reads::default();
    for (gathers, side) in [
        (half + 1, "gather before"),
        ((half / 2).max(1), "gather after"),
    ] {
        let mut worker = Worker::spawn(place, &ledger, gathers, side);
        let says = worker.lines_until("kill me");
        let mut lines = tokio::time::timeout(LIMIT, says).await.unwrap();
        lines.extend(worker.kill_and_hear().await);
        add(&mut reads, &lines);
    }
    let last = Worker::spawn(place, &ledger, 0, "gather");
    wait_for_the_end_of_the_gather(&client, album.id()).await;
    is_over.store(true, Ordering::SeqCst);
    let (others, pruned) = pruning.await.unwrap();
    check_children(&client, &ledger, album.id(), count).await;
    client.signal(album.id(), "go", &0).await.unwrap();
    let wanted: u64 = (0..u64::from(count)).sum();
    assert_eq!(album.wait().await.unwrap(), wanted);
    add(&mut reads, &last.kill_and_hear().await);
    let left = prune_all(&client).await;
    assert_eq!(
        pruned + left,
        u64::from(count) + 1 + others,
        "pruned tasks before and after the end of their parent"
    );
    place.check_small_tables().await;
    let [records, signals, children] = reads;
    println!(
        "{}: {count} children, 2 workers killed in the gather, {pruned} other tasks pruned meanwhile; the parent read {records} records, {signals} signals and {children} children; {:?}",
        place.kind,
        began.elapsed()
    );
    assert!(records > u64::from(count), "{records}");
    assert!(
        records + children <= 5 * u64::from(count),
        "{records} + {children}"
    );
}

/// Cancels a parent, and kills its workers while it turns back: no child stays behind.
pub(crate) async fn turn_back(place: &Place, count: u32) {
    let began = Instant::now();
    let ledger = Ledger::start().await;
    let client = place.client().await;
    let album = client.submit(work::album(count)).await.unwrap();
    let mut worker = Worker::spawn(place, &ledger, 0, "before");
    wait_for_the_end_of_the_gather(&client, album.id()).await;
    client.cancel(album.id()).await.unwrap();
    for kill in 0..6_u64 {
        tokio::time::sleep(Duration::from_millis(kill * 40)).await;
        worker.kill().await;
        worker = Worker::spawn(place, &ledger, 0, "before");
        worker.says("ready").await;
    }
    assert!(album.wait().await.is_err());
    let history = client.store().history(album.id()).await.unwrap();
    let undone = history
        .iter()
        .filter(|record| record.kind == RecordKind::Undone);
    assert_eq!(undone.count(), usize::try_from(count).unwrap());
    let states = client.store().counts().await.unwrap();
    assert_eq!(states, [(State::Cancelled, u64::from(count) + 1)]);
    worker.kill().await;
    prune_all(&client).await;
    place.check_small_tables().await;
    println!(
        "{}: a parent turned back with {count} children, 6 workers killed meanwhile; {:?}",
        place.kind,
        began.elapsed()
    );
}

/// Adds what a worker has read: its last line counts.
fn add(reads: &mut Reads, lines: &[String]) {
    let mut newest_first = lines.iter().rev();
    let last = newest_first.find_map(|line| line.strip_prefix("read "));
    for (sum, read) in reads.iter_mut().zip(last.unwrap_or_default().split(' ')) {
        *sum += read.parse::<u64>().unwrap_or_default();
    }
}

/// Submits other tasks and prunes whatever has ended. Returns how many there were, and how many of all
/// were pruned.
async fn prune_meanwhile(client: Client, is_over: Arc<AtomicBool>) -> (u64, u64) {
    let (mut others, mut pruned) = (0, 0);
    while !is_over.load(Ordering::SeqCst) {
        client.submit(work::photo(0)).await.unwrap();
        others += 1;
        pruned += client.prune(Duration::ZERO, 10_000).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    (others, pruned)
}

/// Prunes until nothing is left.
async fn prune_all(client: &Client) -> u64 {
    let deadline = Instant::now() + LIMIT;
    let mut pruned = 0;
    loop {
        pruned += client.prune(Duration::ZERO, 10_000).await.unwrap();
        let counts = client.store().counts().await.unwrap();
        if counts.is_empty() {
            return pruned;
        }
        assert!(Instant::now() < deadline, "{counts:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the parent waits for its signal.
async fn wait_for_the_end_of_the_gather(client: &Client, parent: TaskId) {
    let deadline = Instant::now() + LIMIT;
    loop {
        let task = client.store().task(parent).await.unwrap().unwrap();
        if task.state == State::Waiting {
            let history = client.store().history(parent).await.unwrap();
            if history.iter().any(|record| record.name == "signal go") {
                return;
            }
        }
        assert!(Instant::now() < deadline, "{task:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Checks that there is each child once, and that each has worked once.
async fn check_children(client: &Client, ledger: &Ledger, parent: TaskId, count: u32) {
    let history = client.store().history(parent).await.unwrap();
    let starts = history
        .iter()
        .filter(|record| record.name == "start photo" && record.kind == RecordKind::Done);
    let children: Vec<i64> = starts
        .map(|start| start.result.as_ref().unwrap().parse().unwrap())
        .collect();
    let distinct: BTreeSet<i64> = children.iter().copied().collect();
    let wanted = usize::try_from(count).unwrap();
    assert_eq!((children.len(), distinct.len()), (wanted, wanted));
    for child in &distinct {
        let task = client.store().task(TaskId(*child)).await.unwrap();
        assert_eq!(task.unwrap().state, State::Processed);
    }
    let mut calls: Vec<i64> = ledger.calls().iter().map(|call| call.task).collect();
    calls.retain(|task| distinct.contains(task));
    calls.sort_unstable();
    assert!(calls.iter().eq(&distinct), "a child has worked twice");
}
