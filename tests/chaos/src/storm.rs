//! A run: the storm, the calm after it in which everything has to work again, and the end of everything.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use reattempt::breaker::State;
use reattempt::config::{self, Config};
use reattempt::observe::{self, Event};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, PgConnection};
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

use crate::calls::Call;
use crate::drills;
use crate::log::{self, Id, What};
use crate::ops::database::TABLES;
use crate::ops::{self, Op, World};
use crate::plan::{Act, Fault, Plan, Side};
use crate::policies::FILES;
use crate::proxy::Proxy;
use crate::purses::{BREAKERS, KEYS};
use crate::server::Server;
use crate::stalls;

/// Tasks and threads that make calls.
const TASKS: u64 = 28;
const THREADS: u64 = 4;

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

/// The other side, on threads of its own.
struct Other {
    runtime: Runtime,
    server: Server,
    http: Proxy,
    database: Proxy,
}

impl Other {
    fn begin(plan: Plan, postgres: u16) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (server, http, database) = runtime.block_on(async {
            let server = Server::begin(plan).await;
            let http = Proxy::begin(server.port, plan.seed).await;
            let database = Proxy::begin(postgres, plan.seed.wrapping_add(1)).await;
            (server, http, database)
        });
        Self {
            runtime,
            server,
            http,
            database,
        }
    }

    fn set(&self, side: Side, fault: Fault) {
        log::note(0, What::Fault(side, fault));
        match side {
            Side::Http => self.http.set(fault),
            Side::Database => self.database.set(fault),
            Side::Server => self.server.set(fault),
        }
    }
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
    let observer = observe::add(told);
    let tasks = |runtime: &Runtime| runtime.metrics().num_alive_tasks();
    (counts.tasks.0, counts.sockets.0) = (tasks(&runtime), sockets());
    let stalls = stalls::watch(&runtime);
    runtime.block_on(async {
        let pool = PgPoolOptions::new().max_connections(12);
        let pool = pool.acquire_timeout(Duration::from_millis(300));
        let pool = pool.connect_lazy_with(options(other.database.port));
        World::new(other.http.port, pool).begin();
    });

    storm(plan, &other, &runtime, &mut counts);
    for side in [Side::Http, Side::Database, Side::Server] {
        other.set(side, Fault::None);
    }
    counts.storm_ended = log::now();
    counts.unwell = runtime.block_on(calm(plan));
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
    let options = options.ssl_mode(sqlx::postgres::PgSslMode::Disable);
    // What a broken connection leaves open is rolled back soon.
    options.options([("idle_in_transaction_session_timeout", "1000")])
}

/// Until the time is over and every call has ended.
fn storm(plan: Plan, other: &Other, runtime: &Runtime, counts: &mut Counts) {
    let is_over = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (1..=TASKS)
        .map(|worker| {
            let is_over = Arc::clone(&is_over);
            runtime.spawn(async move {
                for number in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    let next = plan.call(worker, number, false);
                    let call =
                        Arc::new(Call::begin(log::id(worker, number), next.spec, next.policy));
                    ops::call(&call).await;
                    sleep(next.pause).await;
                }
            })
        })
        .collect();
    let threads: Vec<_> = (TASKS + 1..=TASKS + THREADS)
        .map(|worker| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                for number in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    let next = plan.call(worker, number, true);
                    let call =
                        Arc::new(Call::begin(log::id(worker, number), next.spec, next.policy));
                    ops::call_blocking(&call);
                    thread::sleep(next.pause);
                }
            })
        })
        .collect();
    act(plan, other, counts);
    is_over.store(true, Ordering::SeqCst);
    for task in tasks {
        runtime.block_on(task).expect("a worker panicked");
    }
    for thread in threads {
        thread.join().expect("a worker panicked");
    }
}

/// What happens to all, each at its time.
fn act(plan: Plan, other: &Other, counts: &mut Counts) {
    let start = Instant::now();
    let wait = |at: Duration| thread::sleep(at.saturating_sub(start.elapsed()));
    let mut is_middle = false;
    for (at, act) in plan.acts() {
        if at > plan.length / 2 && !is_middle {
            is_middle = true;
            wait(plan.length / 2);
            counts.bytes.0 = resident();
        }
        wait(at);
        match act {
            Act::Fault(side, fault) => other.set(side, fault),
            Act::Reload(file) => {
                let read = Config::from_toml(FILES[file]).map(Config::install);
                assert_eq!(read.is_err(), FILES[file].contains("max = 0"));
                log::note(0, What::Reloaded);
            }
            // Told after they are off, and before they are on: in between they are off.
            Act::RetriesOn(false) => {
                config::stop_retries();
                log::note(0, What::RetriesOn(false));
            }
            Act::RetriesOn(true) => {
                log::note(0, What::RetriesOn(true));
                config::resume_retries();
            }
        }
    }
    wait(plan.length);
}

/// Every operation until it succeeds, within a bound; then every breaker is closed.
async fn calm(plan: Plan) -> Vec<String> {
    /// A cool-down, throttles that have to find out, and what was frozen.
    const PATIENCE: Duration = Duration::from_secs(8);
    let mut unwell = Vec::new();
    let start = Instant::now();
    let mut kinds: Vec<(Op, u16)> = Op::ASYNC.iter().map(|op| (*op, 0)).collect();
    kinds.dedup();
    kinds.retain(|(op, _)| !op.is_guarded() && *op != Op::Late);
    kinds.extend((0..KEYS).map(|key| (Op::Guarded, key)));
    for (kind, (op, key)) in kinds.into_iter().enumerate() {
        let worker = TASKS + THREADS + 1 + kind as u64;
        for number in 0.. {
            let mut next = plan.call_of(op, worker, number);
            let is_closed = || op != Op::Guarded || BREAKERS.get(&key).state() == State::Closed;
            (next.spec.cancel, next.spec.within, next.spec.key) = (None, None, key);
            let call = Arc::new(Call::begin(log::id(worker, number), next.spec, next.policy));
            if ops::succeeds(&call).await && is_closed() {
                break;
            }
            if start.elapsed() > PATIENCE {
                unwell.push(format!("{op:?} of key {key} after {number} calls"));
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
    unwell
}

async fn effects(connection: &mut PgConnection) -> HashMap<Id, u32> {
    let rows = sqlx::query_as::<_, (i64, i64)>("SELECT call, count(*) FROM effect GROUP BY call");
    let rows = rows.fetch_all(connection).await.unwrap();
    let counted = |(call, count)| (u64::try_from(call).unwrap(), u32::try_from(count).unwrap());
    rows.into_iter().map(counted).collect()
}

/// What observers are told of a call goes to the log.
fn told(event: &Event<'_>) {
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
fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default() * 4096
}
