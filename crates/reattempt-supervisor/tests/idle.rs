//! What schedulers without work send to PostgreSQL.
//!
//! `cargo test -p reattempt-supervisor --features postgres --test idle -- --ignored --nocapture` prints a table.
#![cfg(feature = "postgres")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unused_async,
    reason = "a test that panics has failed; workflows are async"
)]

mod kit;
#[path = "../../../examples/servers/mod.rs"]
mod servers;

use std::time::Duration;

use reattempt_supervisor::{Client, Postgres, Scheduler, StepError, WorkflowContext, workflow};
use servers::Server;

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures for a minute"]
async fn schedulers_without_work() {
    let options = [
        "-c",
        "shared_preload_libraries=pg_stat_statements",
        "-c",
        "max_connections=400",
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
        tokio::time::sleep(Duration::from_secs(3)).await;
        admin
            .batch_execute("SELECT pg_stat_statements_reset()")
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_secs(10)).await;
        let sent: i64 = admin.query_one(STATEMENTS, &[]).await.unwrap().get(0);
        let connections: i64 = admin.query_one(CONNECTIONS, &[]).await.unwrap().get(0);
        println!("{count}: {sent} statements in 10 s, {connections} connections");
        assert!(sent <= 90 * count, "an idle scheduler sends too much");
        for row in admin.query(EACH, &[]).await.unwrap() {
            println!("    {:5} {}", row.get::<_, i64>(0), row.get::<_, String>(1));
        }
        for running in running {
            running.stop(Duration::ZERO).await;
        }
    }
}
