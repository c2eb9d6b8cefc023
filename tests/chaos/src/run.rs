//! A run from its beginning to the end of everything, and what is counted beside the log.

use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::Duration;

use reattempt::observe::{self, Event};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{Connection as _, PgConnection};
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

use crate::log::{self, Id, What};
use crate::ops::World;
use crate::ops::database::TABLES;
use crate::other::Other;
use crate::plan::{Fault, Plan, Side};
use crate::stalls;
use crate::{calm, drills, storm};

/// What is counted beside the log.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) effects: HashMap<Id, u32>,
    /// Sum of all accounts.
    pub(crate) balance: i64,
    pub(crate) tasks: (usize, usize),
    pub(crate) sockets: (usize, usize),
    /// Of the memory in use, in the middle and at the end.
    pub(crate) bytes: (usize, usize),
    pub(crate) storm_ended: Duration,
    /// What did not succeed in the calm.
    pub(crate) unwell: Vec<String>,
}

pub(crate) fn run(plan: Plan, postgres: u16) -> Counts {
    let mut counts = Counts::default();
    log::note(0, What::Reloaded);
    let other = Other::begin(plan, postgres);
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let direct = options(postgres);
    runtime.block_on(async {
        let mut connection = PgConnection::connect_with(&direct).await.unwrap();
        sqlx::raw_sql(TABLES)
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
    });
    let observer = observe::add(record_event);
    let tasks = |runtime: &Runtime| runtime.metrics().num_alive_tasks();
    (counts.tasks.0, counts.sockets.0) = (tasks(&runtime), sockets());
    let stalls = stalls::watch(&runtime);
    runtime.block_on(async {
        let pool = PgPoolOptions::new().max_connections(12);
        let pool = pool.acquire_timeout(Duration::from_millis(300));
        let pool = pool.connect_lazy_with(options(other.database.port));
        World::new(other.http.port, pool).begin();
    });

    counts.bytes.0 = storm::rage(plan, &other, &runtime);
    for side in [Side::Http, Side::Database, Side::Server] {
        other.set(side, Fault::None);
    }
    counts.storm_ended = log::now();
    counts.unwell = runtime.block_on(calm::recover(plan));
    counts.unwell.extend(runtime.block_on(drills::all()));

    stalls.end();
    runtime.block_on(async {
        World::get().end().await;
        // Connections end when their tasks next run, and frozen ones when the proxy gives them up.
        for _ in 0..80 {
            let left = other.http.connections() + other.database.connections();
            if left == 0 && tasks(&runtime) <= counts.tasks.0 {
                break;
            }
            sleep(Duration::from_millis(50)).await;
        }
        let mut connection = PgConnection::connect_with(&direct).await.unwrap();
        counts.effects = effects(&mut connection).await;
        let balance = sqlx::query_scalar("SELECT sum(balance)::bigint FROM account");
        counts.balance = balance.fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
    counts.effects.extend(other.server.effects());
    for _ in 0..40 {
        if sockets() <= counts.sockets.0 {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    (counts.tasks.1, counts.sockets.1) = (tasks(&runtime), sockets());
    counts.bytes.1 = resident();
    observer.remove();
    other.runtime.shutdown_timeout(Duration::from_secs(2));
    counts
}

fn options(port: u16) -> PgConnectOptions {
    let options = PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(port);
    let options = options.username("postgres").database("postgres");
    let options = options.ssl_mode(PgSslMode::Disable);
    // What a broken connection leaves open is rolled back soon.
    options.options([("idle_in_transaction_session_timeout", "1000")])
}

async fn effects(connection: &mut PgConnection) -> HashMap<Id, u32> {
    let rows = sqlx::query_as::<_, (i64, i64)>("SELECT call, count(*) FROM effect GROUP BY call");
    let rows = rows.fetch_all(connection).await.unwrap();
    let counted = |(call, count)| (u64::try_from(call).unwrap(), u32::try_from(count).unwrap());
    rows.into_iter().map(counted).collect()
}

/// The events of a call go to the log.
fn record_event(event: &Event<'_>) {
    let Some(facts) = event.facts() else {
        return;
    };
    let Some(call) = facts.request_id().and_then(|id| id.parse().ok()) else {
        return;
    };
    let attempt = facts.attempt();
    let what = match *event {
        Event::AttemptFailed(_) => What::Failed { attempt },
        Event::Retry(_, delay) => What::Retry { attempt, delay },
        Event::GaveUp(_, reason) => What::GaveUp { attempt, reason },
        Event::Recovered(_) => What::Recovered { attempt },
        _ => return,
    };
    log::note(call, what);
}

/// Files and sockets that are open.
fn sockets() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Bytes of memory in use.
pub(crate) fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}
