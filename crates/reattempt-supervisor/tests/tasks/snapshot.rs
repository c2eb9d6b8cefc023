//! What a claim and a heartbeat read beside an old snapshot, such as that of a dump: VACUUM removes nothing, and they read
//! no more than at first. A round is also compared with one without a snapshot.
//!
//! `SNAPSHOT_TASKS=20000 cargo test --release --test tasks -- snapshot:: --nocapture` takes four rounds of 20,000 tasks.
#![cfg(feature = "postgres")]

use std::time::{Duration, Instant};

use crate::kit;
use crate::servers::Server;
use reattempt_supervisor::store::{Change, ClaimedTask, Store as _, Write, WriteResult};
use reattempt_supervisor::{Lease, Postgres, State, TaskId, WorkerId};

const ROUNDS: usize = 4;

/// How many buffers the calls of a statement read on average, and how many calls there were.
const BUFFERS: &str =
    "SELECT (sum(shared_blks_hit + shared_blks_read) / greatest(sum(calls), 1))::float8, sum(calls)::bigint
     FROM pg_stat_statements WHERE position($1 IN query) > 0 AND position('pg_stat' IN query) = 0";

/// A part of the statement of a claim, and of a heartbeat.
const STATEMENTS: [&str; 2] = [
    "retry_signal WHERE run_id = found.id",
    "INSERT INTO retry_worker",
];

/// What a round has measured.
#[derive(Debug)]
struct Round {
    claim: f64,
    beat: f64,
    took: Duration,
}

async fn submit(store: &Postgres, round: usize, tasks: usize) {
    let mut keys: Vec<_> = (0..tasks).map(|nth| format!("{round} {nth}")).collect();
    while !keys.is_empty() {
        let some = keys.split_off(keys.len().saturating_sub(500));
        let some = some
            .iter()
            .map(|key| Write::Submit(Box::new(kit::plain(key))));
        store.write(some.collect()).await.unwrap();
    }
}

async fn claim(store: &Postgres) -> Vec<ClaimedTask> {
    let claim = Write::Claim(kit::claim("one", "plain", 32));
    let mut results = store.write([claim].into()).await.unwrap();
    match results.pop() {
        Some(WriteResult::Claimed(claimed, _)) => claimed,
        other => panic!("{other:?}"),
    }
}

fn end(claimed: &ClaimedTask) -> Write {
    let lease = Lease {
        task: claimed.task.id,
        fence: claimed.task.fence,
    };
    let change = Change {
        output: Some("null".to_owned()),
        ..kit::change_to(State::Processed)
    };
    Write::Change(lease, Box::new(change))
}

/// Processes tasks: four of five claims find some, and one finds none.
async fn round(
    store: &Postgres,
    admin: &tokio_postgres::Client,
    nth: usize,
    tasks: usize,
) -> Round {
    submit(store, nth, tasks).await;
    admin
        .batch_execute("SELECT pg_stat_statements_reset()")
        .await
        .unwrap();
    let worker = WorkerId("one".to_owned());
    let began = Instant::now();
    let mut left = tasks;
    while left > 0 {
        let claimed = claim(store).await;
        left -= claimed.len();
        let known: Vec<TaskId> = claimed.iter().map(|one| one.task.id).collect();
        let beat = store.heartbeat(worker.clone(), Duration::from_secs(60), Some(known));
        assert_eq!(beat.await.unwrap().len(), claimed.len());
        store
            .write(claimed.iter().map(end).collect())
            .await
            .unwrap();
    }
    let took = began.elapsed();
    for _ in 0..tasks / 128 {
        assert_eq!(claim(store).await, []);
    }
    let mut buffers = Vec::new();
    for statement in STATEMENTS {
        let row = admin.query_one(BUFFERS, &[&statement]).await.unwrap();
        assert!(row.get::<_, Option<i64>>(1).unwrap() > 0, "{statement}");
        buffers.push(row.get::<_, f64>(0));
    }
    Round {
        claim: buffers[0],
        beat: buffers[1],
        took,
    }
}

async fn rounds(server: &Server, database: &str, has_snapshot: bool, tasks: usize) -> Vec<Round> {
    let admin = kit::session(&server.url()).await;
    admin
        .batch_execute(&format!("CREATE DATABASE {database}"))
        .await
        .unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/{database}", server.port);
    let store = Postgres::connect(&url).await.unwrap();
    let old = kit::session(&url).await;
    admin
        .batch_execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        .await
        .unwrap();
    if has_snapshot {
        old.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM retry_meta")
            .await
            .unwrap();
    }
    let mut rounds = Vec::new();
    for nth in 0..ROUNDS {
        rounds.push(round(&store, &admin, nth, tasks).await);
        println!("{database}: {:?}", rounds.last());
        // As autovacuum does, which would come at a time of its own.
        let session = kit::session(&url).await;
        session
            .batch_execute("VACUUM retry_ready, retry_held, retry_run")
            .await
            .unwrap();
    }
    rounds
}

#[tokio::test]
async fn a_claim_reads_no_more_beside_an_old_snapshot() {
    let options = [
        "-c",
        "autovacuum=off",
        "-c",
        "shared_preload_libraries=pg_stat_statements",
    ];
    let Some(server) = Server::postgres_with(&options) else {
        return;
    };
    let tasks = std::env::var("SNAPSHOT_TASKS").map_or(1_280, |tasks| tasks.parse().unwrap());
    let alone = rounds(&server, "alone", false, tasks).await;
    let beside = rounds(&server, "beside", true, tasks).await;
    let (first, last) = (&beside[0], &beside[ROUNDS - 1]);
    assert!(
        last.claim <= 1.2 * first.claim,
        "claims: {} after {}",
        last.claim,
        first.claim
    );
    assert!(
        last.beat <= 1.2 * first.beat,
        "heartbeats: {} after {}",
        last.beat,
        first.beat
    );
    let speed = alone[ROUNDS - 1].took.as_secs_f64() / last.took.as_secs_f64();
    println!("speed in the last round, beside one without a snapshot: {speed:.2}");
}
