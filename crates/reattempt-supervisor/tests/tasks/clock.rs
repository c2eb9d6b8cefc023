//! Sets the clock of a store back and forth: nothing is lost, and tasks do not wait for as long.
#![cfg(all(feature = "sqlite", feature = "postgres"))]

use std::sync::Arc;
use std::time::Duration;

use crate::kit;
use crate::servers;
use reattempt::Policy;
use reattempt_supervisor::store::{ClaimedTask, Expiry, Store, Sweep, Write, WriteResult};
use reattempt_supervisor::{Lease, NewTask, Postgres, Sqlite, State, TaskLimit, WorkerId};

const HOURS: i64 = 10 * 3_600_000_000;

fn new() -> NewTask {
    NewTask {
        max_failures: 5,
        ..kit::plain("a")
    }
}

async fn write(store: &dyn Store, write: Write) -> WriteResult {
    let results = store.write(Arc::from([write])).await.unwrap();
    results.into_iter().next().unwrap()
}

/// Claims the tasks for a worker with a lease of a few milliseconds.
async fn claim_all(store: &dyn Store, worker: &str) -> Vec<ClaimedTask> {
    let lease = Duration::from_millis(20);
    let id = WorkerId(worker.to_owned());
    store.heartbeat(id, lease, None).await.unwrap();
    let claim = kit::claim(worker, "plain", 1);
    match write(store, Write::Claim(claim)).await {
        WriteResult::Claimed(claimed, _) => claimed,
        result => panic!("{result:?}"),
    }
}

/// `moved` sets the clock of the store back by this many microseconds: it moves all stored times
/// into the future.
async fn check(store: &dyn Store, moved: impl AsyncFn(i64)) {
    write(store, Write::Submit(Box::new(new()))).await;
    for by in [HOURS, -HOURS] {
        let held = claim_all(store, "gone").await;
        assert_eq!(held.len(), 1);
        moved(by).await;
        let sweep = Sweep {
            limit: 10,
            every: Duration::from_secs(3_600),
            delays: Policy::new()
                .unlimited()
                .base(Duration::from_micros(1))
                .cap(Duration::from_micros(1)),
            in_turn: false,
        };
        // It takes as long as the lease, not as long as the clock was set back.
        let began = std::time::Instant::now();
        let reclaimed = loop {
            let reclaimed = store.sweep(sweep).await.unwrap();
            if !reclaimed.is_empty() {
                break reclaimed;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "nobody found it");
            tokio::task::yield_now().await;
        };
        assert_eq!(reclaimed[0].expiry, Expiry::Owner);
        let again = loop {
            let again = claim_all(store, "next").await;
            if !again.is_empty() {
                break again;
            }
        };
        assert!(again[0].task.fence > held[0].task.fence);
        // Another death would make it a suspect.
        let lease = Lease {
            task: again[0].task.id,
            fence: again[0].task.fence,
        };
        write(store, Write::ClearDeaths(lease)).await;
        write(store, Write::Leave(WorkerId("next".to_owned()))).await;
    }
}

/// F11: a program locked the file of tasks for longer than the leases, and all tasks failed. `passed`
/// lets this many microseconds pass in which no worker could write: it moves all stored times into
/// the past.
async fn check_outage(store: &dyn Store, passed: impl AsyncFn(i64)) {
    const SECOND: i64 = 1_000_000;
    let lease = Duration::from_secs(10);
    let (alive, dead) = (WorkerId("alive".to_owned()), WorkerId("dead".to_owned()));
    let mut held = Vec::new();
    for worker in [&alive, &dead] {
        let new = NewTask {
            key: worker.to_string(),
            ..new()
        };
        write(store, Write::Submit(Box::new(new))).await;
        held.extend(claim_all(store, &worker.0).await);
        store.heartbeat(worker.clone(), lease, None).await.unwrap();
    }
    let sweep = Sweep {
        limit: 10,
        every: Duration::from_secs(1),
        delays: Policy::new(),
        in_turn: false,
    };
    assert_eq!(store.sweep(sweep).await.unwrap(), []);
    passed(12 * SECOND).await;
    // Both leases are over, but no worker could renew one.
    assert_eq!(store.sweep(sweep).await.unwrap(), []);
    store.heartbeat(alive.clone(), lease, None).await.unwrap();
    passed(4 * SECOND).await;
    store.heartbeat(alive.clone(), lease, None).await.unwrap();
    assert_eq!(store.sweep(sweep).await.unwrap(), []);
    passed(4 * SECOND).await;
    assert_eq!(store.sweep(sweep).await.unwrap(), []);
    passed(4 * SECOND).await;
    let reclaimed = store.sweep(sweep).await.unwrap();
    let found: Vec<_> = reclaimed
        .iter()
        .map(|one| (one.task, one.owner.clone(), one.expiry))
        .collect();
    assert_eq!(found, [(held[1].task.id, Some(dead), Expiry::Owner)]);
    // One worker that is silent later is none of it.
    passed(4 * SECOND).await;
    let reclaimed = store.sweep(sweep).await.unwrap();
    assert_eq!(reclaimed.len(), 1, "{reclaimed:?}");
    assert_eq!(reclaimed[0].counts.failures, 0);
}

/// All times that such a test moves.
const TIMES: [(&str, &str, &str); 2] = [
    ("retry_worker", "lease_until", "true"),
    ("retry_meta", "value", "key IN ('last_sweep', 'judge_from')"),
];

fn moved_back(by: i64) -> Vec<String> {
    let moved = |(table, column, which): &(&str, &str, &str)| {
        format!("UPDATE {table} SET {column} = {column} - {by} WHERE {which}")
    };
    TIMES.iter().map(moved).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite() {
    let folder = servers::folder("clock");
    let file = folder.join("tasks.db");
    let store = Sqlite::open(&file).await.unwrap();
    let moved = async |by: i64| {
        let other = rusqlite::Connection::open(&file).unwrap();
        let sql = "UPDATE retry_worker SET lease_until = lease_until + ?1";
        other.execute(sql, [by]).unwrap();
    };
    check(&store, moved).await;
    let store = Sqlite::open(folder.join("outage.db")).await.unwrap();
    let passed = async |by: i64| {
        let other = rusqlite::Connection::open(folder.join("outage.db")).unwrap();
        for sql in moved_back(by) {
            other.execute(&sql, []).unwrap();
        }
    };
    check_outage(&store, passed).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    let Some(server) = servers::Server::postgres() else {
        return;
    };
    let url = server.url();
    let store = Postgres::connect(&url).await.unwrap();
    let client = kit::session(&url).await;
    let moved = async |by: i64| {
        let sql = "UPDATE retry_worker SET lease_until = lease_until + $1";
        client.execute(sql, &[&by]).await.unwrap();
    };
    check(&store, moved).await;
    let forget = "TRUNCATE retry_run, retry_worker; DELETE FROM retry_meta WHERE key IN ('last_sweep', 'judge_from')";
    client.batch_execute(forget).await.unwrap();
    let passed = async |by: i64| {
        for sql in moved_back(by) {
            client.batch_execute(&sql).await.unwrap();
        }
    };
    check_outage(&store, passed).await;
}

#[tokio::test]
async fn a_task_that_has_left_before_the_clock_was_set_back_takes_no_room() {
    let Some(server) = servers::Server::postgres() else {
        return;
    };
    let url = server.url();
    let store = Postgres::connect(&url).await.unwrap();
    let client = kit::session(&url).await;
    let limit = TaskLimit::new().concurrency(1);
    write(&store, Write::LimitQueue("default".to_owned(), limit)).await;
    write(&store, Write::Submit(Box::new(new()))).await;
    let held = claim_all(&store, "one").await;
    let lease = Lease {
        task: held[0].task.id,
        fence: held[0].task.fence,
    };
    write(
        &store,
        Write::Change(lease, Box::new(kit::change_to(State::Processed))),
    )
    .await;
    let back = format!("UPDATE retry_run SET updated_at = updated_at + {HOURS}");
    client.batch_execute(&back).await.unwrap();
    write(&store, Write::Submit(Box::new(kit::plain("b")))).await;
    assert_eq!(claim_all(&store, "one").await.len(), 1);
    assert_eq!(claim_all(&store, "one").await.len(), 0);
}
