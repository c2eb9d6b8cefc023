//! apalis with `apalis-workflow`: each of the ten sequential steps is a task of its queue, which pushes the next.

use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use ::apalis::prelude::*;
use apalis_postgres::PostgresStorage;
use apalis_sqlite::SqliteStorage;
use apalis_workflow::SteppedFlow;
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use tokio::sync::oneshot;

use crate::flood::flood;
use crate::load::{self, Load};

/// How often a queue is looked at, beside its notifications: more often costs more than it brings.
const POLL: Duration = Duration::from_millis(5);

/// Who waits for a workflow. Its last step tells them here: to ask the store would be slower.
static WAITING: LazyLock<Mutex<HashMap<u64, oneshot::Sender<()>>>> = LazyLock::new(Mutex::default);

/// The number of the workflow, and what the step before answered.
type Item = (u64, String);

async fn one((number, _): Item) -> Result<Item, BoxDynError> {
    Ok((number, load::step().await))
}

async fn last((number, _): Item) -> Result<Item, BoxDynError> {
    let answer = load::step().await;
    let waiting = WAITING.lock().expect("nobody panics").remove(&number);
    if let Some(waiting) = waiting {
        let _ = waiting.send(());
    }
    Ok((number, answer))
}

macro_rules! measure {
    ($backend:expr, $polled:expr, $load:expr) => {{
        let workflow = SteppedFlow::new("ten")
            .and_then(one)
            .and_then(one)
            .and_then(one)
            .and_then(one)
            .and_then(one)
            .and_then(one)
            .and_then(one)
            .and_then(one)
            .and_then(one)
            .and_then(last);
        let worker = WorkerBuilder::new("bench").backend($polled).build(workflow);
        tokio::spawn(async move { worker.run().await.expect("a worker") });
        let backend = $backend;
        let next = AtomicU64::new(0);
        flood($load.in_flight, $load.time, move |_| {
            let mut backend = backend.clone();
            let number = next.fetch_add(1, Ordering::Relaxed);
            async move {
                let (done, ended) = oneshot::channel();
                WAITING.lock().expect("nobody panics").insert(number, done);
                backend.push((number, String::new())).await.expect("a push");
                ended.await.expect("an end");
            }
        })
        .await
    }};
}

pub async fn measure_postgres(url: &str, load: Load) -> f64 {
    let pool = PgPoolOptions::new().max_connections(load.pool);
    let pool = pool.connect(url).await.expect("a server");
    PostgresStorage::setup(&pool).await.expect("tables");
    let config = apalis_postgres::Config::default()
        .queue("ten")
        .batch_size(load.in_flight.max(10));
    let backend = PostgresStorage::<Item>::new(&pool).with_config(config);
    let polled = backend.clone().poll_with_interval(POLL);
    measure!(backend, polled, load)
}

pub async fn measure_sqlite(url: &str, load: Load) -> f64 {
    // Its `setup` asks for this on one connection, so all have it.
    let options = SqliteConnectOptions::from_str(url)
        .expect("a URL")
        .create_if_missing(true)
        .synchronous(SqliteSynchronous::Off);
    let pool = SqlitePoolOptions::new().connect_with(options).await;
    let pool = pool.expect("a file");
    SqliteStorage::setup(&pool).await.expect("tables");
    let config = apalis_sqlite::Config::default()
        .queue("ten")
        .batch_size(load.in_flight.max(10));
    let backend = SqliteStorage::<Item>::new(&pool).with_config(config);
    let polled = backend.clone().poll_with_interval(POLL);
    measure!(backend, polled, load)
}
