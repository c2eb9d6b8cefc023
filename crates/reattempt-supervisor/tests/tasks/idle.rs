//! What schedulers without work send to PostgreSQL.
//!
//! `cargo test -p reattempt-supervisor --features postgres --test tasks -- idle:: --ignored --nocapture` prints a table.
#![cfg(feature = "postgres")]

use std::convert::Infallible;
use std::time::Duration;

use crate::kit;
use crate::servers::Server;
use reattempt_supervisor::{Client, Postgres, Scheduler, StepError, WorkflowContext, workflow};
use tokio::sync::Notify;

#[workflow]
async fn nothing(_context: &WorkflowContext) -> Result<u8, StepError> {
    Ok(7)
}

const STATEMENTS: &str =
    "SELECT sum(calls)::bigint FROM pg_stat_statements WHERE position('pg_stat' IN query) = 0";

const EACH: &str =
    "SELECT calls, left(regexp_replace(query, '\\s+', ' ', 'g'), 100) FROM pg_stat_statements
     WHERE position('pg_stat' IN query) = 0 ORDER BY calls DESC LIMIT 12";

const CONNECTIONS: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reattempt-supervisor'";

/// Says that the test has looked at a task that runs.
static LOOKED: Notify = Notify::const_new();

#[workflow]
async fn looked_at(_context: &WorkflowContext) -> Result<u8, StepError> {
    LOOKED.notified().await;
    Ok(7)
}

/// The connections on which PostgreSQL has something to do.
const BUSY: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state <> 'idle'";

/// Lets a paused clock go on while PostgreSQL has nothing to do: a machine that is slow does not make a process wait
/// longer for its answers.
async fn pass_time(admin: &tokio_postgres::Client) -> Infallible {
    loop {
        let busy: i64 = admin.query_one(BUSY, &[]).await.unwrap().get(0);
        if busy == 0 {
            tokio::time::advance(Duration::from_millis(20)).await;
        }
    }
}

/// Waits until a process has a number of connections that is meant.
async fn reaches(admin: &tokio_postgres::Client, is_meant: impl Fn(i64) -> bool) {
    let waiting = async {
        while !is_meant(admin.query_one(CONNECTIONS, &[]).await.unwrap().get(0)) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let bound = Duration::from_secs(60);
    tokio::time::timeout(bound, waiting).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_process_keeps_one_connection_and_works_again() {
    let Some(server) = Server::postgres() else {
        return;
    };
    // The clock does not go on by itself beside a thread that blocks.
    let (ends, is_over) = std::sync::mpsc::channel::<()>();
    tokio::task::spawn_blocking(move || is_over.recv());
    let admin = kit::session(&server.url()).await;
    tokio::select! {
        () = keep_one_connection(&server, &admin) => {}
        never = pass_time(&admin) => match never {},
    }
    drop(ends);
}

async fn keep_one_connection(server: &Server, admin: &tokio_postgres::Client) {
    let client = Client::new(Postgres::connect(&server.url()).await.unwrap());
    let running = Scheduler::new(&client)
        .register(nothing)
        .register(looked_at)
        .start()
        .unwrap();
    for _ in 0..2 {
        let task = client.submit(looked_at()).await.unwrap();
        reaches(admin, |connections| connections > 1).await;
        LOOKED.notify_one();
        assert_eq!(task.wait().await.unwrap(), 7);
        reaches(admin, |connections| connections == 1).await;
    }
    // A process that has only the shared connection opens it again.
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reattempt-supervisor'";
    admin.batch_execute(end).await.unwrap();
    let task = client.submit(nothing()).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 7);
    running.stop(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures for a minute"]
async fn schedulers_without_work() {
    let options = [
        "-c",
        "shared_preload_libraries=pg_stat_statements",
        "-c",
        "max_connections=100",
    ];
    let Some(server) = Server::postgres_with(&options) else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    admin
        .batch_execute("CREATE EXTENSION pg_stat_statements")
        .await
        .unwrap();
    for count in [1, 10, 50] {
        let mut running = Vec::new();
        for _ in 0..count {
            let client = Client::new(Postgres::connect(&server.url()).await.unwrap());
            running.push(Scheduler::new(&client).register(nothing).start().unwrap());
        }
        tokio::time::sleep(Duration::from_secs(15)).await;
        admin
            .batch_execute("SELECT pg_stat_statements_reset()")
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_secs(10)).await;
        let sent: i64 = admin.query_one(STATEMENTS, &[]).await.unwrap().get(0);
        let connections: i64 = admin.query_one(CONNECTIONS, &[]).await.unwrap().get(0);
        println!("{count}: {sent} statements in 10 s, {connections} connections");
        assert!(sent <= 30 * count, "an idle scheduler sends too much");
        for row in admin.query(EACH, &[]).await.unwrap() {
            println!("    {:5} {}", row.get::<_, i64>(0), row.get::<_, String>(1));
        }
        for running in running {
            running.stop(Duration::ZERO).await;
        }
    }
}
