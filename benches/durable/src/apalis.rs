//! apalis with `apalis-workflow`: each of the ten sequential steps is a task of its queue, which pushes the next.

use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use ::apalis::prelude::*;
use apalis_postgres::{PgPool, PostgresStorage};
use apalis_sqlite::SqliteStorage;
use apalis_workflow::SteppedFlow;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use tokio::sync::oneshot;

use crate::flood::flood;

/// How often a queue is looked at, beside its notifications: more often costs more than it brings.
const POLL: Duration = Duration::from_millis(5);

/// Who waits for a workflow. Its last step tells them here: to ask the store would be slower.
static WAITING: LazyLock<Mutex<HashMap<u64, oneshot::Sender<()>>>> = LazyLock::new(Mutex::default);

async fn one(number: u64) -> Result<u64, BoxDynError> {
    Ok(number)
}

async fn last(number: u64) -> Result<u64, BoxDynError> {
    let waiting = WAITING.lock().expect("nobody panics").remove(&number);
    if let Some(waiting) = waiting {
        let _ = waiting.send(());
    }
    Ok(number)
}

macro_rules! measure {
    ($backend:expr, $polled:expr, $in_flight:expr, $time:expr) => {{
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
        flood($in_flight, $time, move |_| {
            let mut backend = backend.clone();
            let number = next.fetch_add(1, Ordering::Relaxed);
            async move {
                let (done, ended) = oneshot::channel();
                WAITING.lock().expect("nobody panics").insert(number, done);
                backend.push(number).await.expect("a push");
                ended.await.expect("an end");
            }
        })
        .await
    }};
}

pub async fn measure_postgres(url: &str, in_flight: usize, time: Duration) -> f64 {
    let pool = PgPool::connect(url).await.expect("a server");
    PostgresStorage::setup(&pool).await.expect("tables");
    let config = apalis_postgres::Config::default()
        .queue("ten")
        .batch_size(in_flight.max(10));
    let backend = PostgresStorage::<u64>::new(&pool).with_config(config);
    let polled = backend.clone().poll_with_interval(POLL);
    measure!(backend, polled, in_flight, time)
}

pub async fn measure_sqlite(url: &str, in_flight: usize, time: Duration) -> f64 {
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
        .batch_size(in_flight.max(10));
    let backend = SqliteStorage::<u64>::new(&pool).with_config(config);
    let polled = backend.clone().poll_with_interval(POLL);
    measure!(backend, polled, in_flight, time)
}
