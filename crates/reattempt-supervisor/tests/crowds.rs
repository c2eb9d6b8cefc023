//! What a store on PostgreSQL costs beside many tasks of others, and how its tables change beside
//! their users.
#![cfg(feature = "postgres")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that panics has failed"
)]

mod kit;
#[path = "../../../examples/servers/mod.rs"]
mod servers;

use std::time::Duration;

use reattempt_supervisor::store::{Store as _, Write, WriteResult};
use reattempt_supervisor::{
    Client, Event, Memory, Postgres, Scheduler, StepError, WorkflowContext, workflow,
};
use servers::Server;

const TABLES: &str = include_str!("../migrations/postgres.sql");

/// How long a test waits for what happens soon.
const BOUND: Duration = Duration::from_secs(60);

/// Adds tasks that a worker of `mine` does not take: 10,000 of another workflow, of another version
/// and asleep, in each of two priorities.
const CROWD: &str = "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, fence, failures,
        max_failures, cancel_asked, input, created_at, updated_at)
    SELECT workflow, version, 'default', nth % 2, concat_ws(' ', version, wake_at, nth), 0, 0, wake_at, 0, 0, 3, false, 'null', 0, 0
    FROM generate_series(1, 20000) AS nth,
        (VALUES ('other', 1, 0), ('mine', 2, 0), ('mine', 1, 9000000000000000)) AS kinds (workflow, version, wake_at)";

/// Adds a task that it takes, after all of them.
const MINE: &str = "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, fence, failures,
        max_failures, cancel_asked, input, created_at, updated_at)
    VALUES ('mine', 1, 'default', 2, 'mine', 0, 0, 0, 0, 0, 3, false, 'null', 0, 0)";

async fn connect(server: &Server) -> tokio_postgres::Client {
    let url = url(server);
    let connecting = tokio_postgres::connect(&url, tokio_postgres::NoTls);
    let (client, connection) = connecting.await.unwrap();
    tokio::spawn(connection);
    client
}

fn url(server: &Server) -> String {
    format!("postgres://postgres@127.0.0.1:{}/postgres", server.port)
}

/// Asks again until the answer is `true`.
async fn wait_for(client: &tokio_postgres::Client, question: &str) {
    let asking = async {
        while !client
            .query_one(question, &[])
            .await
            .unwrap()
            .get::<_, bool>(0)
        {
            tokio::task::yield_now().await;
        }
    };
    let answer = tokio::time::timeout(BOUND, asking).await;
    answer.unwrap_or_else(|_| panic!("not within {BOUND:?}: {question}"));
}

#[tokio::test]
async fn a_claim_and_a_look_read_no_task_of_others() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = connect(&server).await;
    let store = Postgres::connect(&url(&server)).await.unwrap();
    admin.batch_execute(CROWD).await.unwrap();
    admin.batch_execute(MINE).await.unwrap();
    admin
        .batch_execute("ANALYZE retry_run; SELECT pg_stat_reset()")
        .await
        .unwrap();
    let known = vec![("mine".to_owned(), 1)];
    let claim = Write::Claim(kit::claim("one", "mine", 9));
    let results = store.write([claim].into()).await.unwrap();
    let [WriteResult::Claimed(claimed)] = &results[..] else {
        panic!("{results:?}");
    };
    assert_eq!(claimed.len(), 1);
    let unknown = store
        .unknown_workflows(vec!["default".to_owned()], known, Duration::ZERO)
        .await;
    let unknown = unknown.unwrap().into_iter();
    let unknown: Vec<_> = unknown.map(|one| (one.workflow, one.version)).collect();
    assert_eq!(unknown, [("mine".to_owned(), 2), ("other".to_owned(), 1)]);
    // A connection says what it has read when it ends.
    drop(store);
    wait_for(
        &admin,
        "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'",
    )
    .await;
    let read = "SELECT (SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = 'retry_run'),
        (SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'retry_run')";
    let read = admin.query_one(read, &[]).await.unwrap();
    let (entries, scans) = (read.get::<_, i64>(0), read.get::<_, i64>(1));
    assert!(
        (1..40).contains(&entries),
        "{entries} entries of indexes were read"
    );
    assert_eq!(scans, 0);
}

/// Creates the tables of the release before.
async fn create_old_tables(client: &tokio_postgres::Client) {
    client.batch_execute(TABLES).await.unwrap();
    let meta = "CREATE TABLE retry_meta (key TEXT PRIMARY KEY, value BIGINT NOT NULL);
        INSERT INTO retry_meta VALUES ('version', 1)";
    client.batch_execute(meta).await.unwrap();
}

const VALID: &str = "SELECT count(*) = 2 FROM pg_index WHERE indisvalid
    AND indexrelid IN ('retry_run_claim'::regclass, 'retry_run_suspects'::regclass)";

#[tokio::test]
async fn the_tables_change_between_the_transactions_of_others() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (mut long, others) = (connect(&server).await, connect(&server).await);
    create_old_tables(&others).await;
    let long = long.transaction().await.unwrap();
    long.batch_execute(MINE).await.unwrap();
    let url = url(&server);
    let migration = tokio::spawn(async move { Postgres::connect(&url).await.unwrap() });
    let waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'retry_run'::regclass AND NOT granted)";
    wait_for(&others, waits).await;
    // It waits behind the change, which gives up after 2 s.
    let insert = others.batch_execute(CROWD);
    tokio::time::timeout(BOUND, insert).await.unwrap().unwrap();
    assert!(!migration.is_finished());
    long.commit().await.unwrap();
    let store = tokio::time::timeout(BOUND, migration)
        .await
        .unwrap()
        .unwrap();
    wait_for(&others, VALID).await;
    drop(store);
}

#[tokio::test]
async fn an_index_whose_build_was_ended_is_built_anew() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = connect(&server).await;
    create_old_tables(&admin).await;
    let connecting = async || Postgres::connect(&url(&server)).await.unwrap();
    drop(tokio::join!(connecting(), connecting(), connecting()));
    wait_for(&admin, VALID).await;
    let end =
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'retry_run_claim'::regclass;
        DROP INDEX retry_run_suspects";
    admin.batch_execute(end).await.unwrap();
    drop(tokio::join!(connecting(), connecting(), connecting()));
    wait_for(&admin, VALID).await;
}

#[workflow]
async fn mine(_context: &WorkflowContext) -> Result<(), StepError> {
    Ok(())
}

#[workflow]
async fn other(_context: &WorkflowContext) -> Result<(), StepError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_workflow_that_nobody_takes_is_announced() {
    let (announce, mut announced) = tokio::sync::mpsc::unbounded_channel();
    let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(move |event| {
        if let Event::UnknownWorkflow(unknown) = event {
            assert!(event.is_alert());
            announce.send(unknown.clone()).unwrap();
        }
    });
    let client = Client::with_observers(Memory::new(), [observer]);
    client.submit(other()).await.unwrap();
    client.submit(mine().delay(2 * BOUND)).await.unwrap();
    let scheduler = Scheduler::new(&client).register(mine).start().unwrap();
    let unknown = tokio::time::timeout(3 * BOUND, announced.recv()).await;
    let unknown = unknown.unwrap().unwrap();
    assert_eq!(
        (&*unknown.queue, &*unknown.workflow, unknown.version),
        ("default", "other", 1)
    );
    assert!(unknown.waited >= Duration::from_secs(60), "{unknown:?}");
    scheduler.stop(Duration::ZERO).await;
}
