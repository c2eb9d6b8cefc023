//! Several processes take tasks of a queue with limits, and of lanes with limits. A trigger in the store keeps when each
//! task was claimed and when it left its worker, by the time of the store.
//!
//! * `cargo test -p reattempt-supervisor --test queue_limits` takes a minute: 3 processes, which use at least half of what
//!   they may, also on a busy machine.
//! * `-- --full` takes minutes: 8 processes, which use at least 80 %.
//! * `--store postgres` leaves the other store out.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what goes wrong here is the result"
)]

mod ledger;
#[expect(dead_code, reason = "the crash test uses all of it")]
#[path = "../crash/servers.rs"]
mod servers;

use std::process::{Child, Command, ExitCode};
use std::time::Duration;

use ledger::Ledger;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::{
    Client, Scheduler, Sqlite, Step, StepError, TaskLimit, Time, WorkflowContext, step, workflow,
};

const SLOTS: u32 = 5;
const RATE: u32 = 50;
const SECOND: Duration = Duration::from_secs(1);

/// How many tasks of a key run at once and begin in a second, where keys have limits; else one runs at a time.
const OF_A_KEY: u32 = 2;

#[step]
async fn work(_step: &Step, millis: u64) -> Result<(), String> {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    Ok(())
}

#[workflow]
async fn limited(context: &WorkflowContext, millis: u64) -> Result<(), StepError> {
    work(context, millis).await
}

/// How large a run is.
#[derive(Debug, Clone, Copy)]
struct Extent {
    processes: usize,
    seconds: u32,
    /// How many lanes the tasks have.
    keys: u32,
    /// The part of what the limits allow that is used at least.
    used: f64,
}

const SMALL: Extent = Extent {
    processes: 3,
    seconds: 4,
    keys: 40,
    used: 0.5,
};

const FULL: Extent = Extent {
    processes: 8,
    seconds: 60,
    keys: 1_000,
    used: 0.8,
};

/// What limits the tasks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// Each task takes so little time that the rate is the bound.
    Rate,
    /// There is no rate.
    Slots,
    /// Processes are killed, so how much is used is unknown.
    Kills,
    /// Each key has limits, and the queue has none. Processes are killed.
    Keys,
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if let [word, kind, name] = &arguments[..]
        && word == "worker"
    {
        runtime.block_on(run_worker(kind, name));
        return ExitCode::SUCCESS;
    }
    // Cargo asks every test program to list its tests.
    if arguments.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    let is_full = arguments.iter().any(|word| word == "--full");
    let extent = if is_full { FULL } else { SMALL };
    let seed = rand::random();
    println!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let store = arguments.iter().position(|word| word == "--store");
    let store = store.map(|at| arguments[at + 1].as_str());
    for kind in ["sqlite", "postgres"] {
        let is_left_out = kind == "postgres" && cfg!(not(feature = "postgres"));
        if is_left_out || store.is_some_and(|store| store != kind) {
            continue;
        }
        for bound in [Bound::Rate, Bound::Slots, Bound::Kills, Bound::Keys] {
            runtime.block_on(run(kind, bound, extent, &mut random));
        }
    }
    ExitCode::SUCCESS
}

/// Runs tasks until the process is killed.
async fn run_worker(kind: &str, name: &str) {
    let client = open(kind, name).await;
    let scheduler = Scheduler::new(&client)
        .register(limited)
        .queues(["limited"])
        .lease(SECOND)
        .start()
        .unwrap();
    std::future::pending::<()>().await;
    scheduler.stop(SECOND).await;
}

async fn open(kind: &str, name: &str) -> Client {
    match kind {
        #[cfg(feature = "postgres")]
        "postgres" => Client::new(reattempt_supervisor::Postgres::connect(name).await.unwrap()),
        _ => Client::new(Sqlite::open(name).await.unwrap()),
    }
}

/// Lets processes take tasks of one store for some time, and judges.
async fn run(kind: &str, bound: Bound, extent: Extent, random: &mut StdRng) {
    let Extent {
        processes, seconds, ..
    } = extent;
    let Some((name, _kept)) = servers::start(kind) else {
        return;
    };
    let client = open(kind, &name).await;
    let ledger = Ledger::new(kind, &name).await;
    let limit = TaskLimit::new().concurrency(SLOTS);
    let (limit, millis) = match bound {
        Bound::Rate | Bound::Kills => (limit.rate(RATE, SECOND), 40),
        Bound::Slots => (limit, 50),
        Bound::Keys => (TaskLimit::new(), 40),
    };
    client.limit_queue("limited", limit).await.unwrap();
    if bound == Bound::Keys {
        let limit = TaskLimit::new().concurrency(OF_A_KEY);
        let limit = limit.rate(OF_A_KEY, SECOND);
        client.limit_lanes("key *", limit).await.unwrap();
    }
    let tasks = seconds * 120;
    let new = |nth: u32| {
        let is_of_first = bound == Bound::Keys && nth.is_multiple_of(4);
        // The first key has more than it may do.
        let key = if is_of_first { 0 } else { nth % extent.keys };
        let lane = format!("key {key}");
        limited(millis).queue("limited").lane(lane)
    };
    for part in (0..tasks).collect::<Vec<_>>().chunks(500) {
        client
            .submit_many(part.iter().map(|nth| new(*nth)))
            .await
            .unwrap();
    }
    let spawn = || {
        let program = std::env::current_exe().unwrap();
        let mut worker = Command::new(program);
        let worker = worker.args(["worker", kind, &name]).spawn();
        Killed(worker.unwrap())
    };
    let mut workers: Vec<_> = (0..processes).map(|_| spawn()).collect();
    let parts = seconds + 1;
    for _ in 0..parts {
        tokio::time::sleep(SECOND).await;
        if matches!(bound, Bound::Kills | Bound::Keys) && random.random_ratio(1, 2) {
            workers[random.random_range(0..processes)] = spawn();
        }
    }
    drop(workers);
    let stays = ledger.stays().await;
    let from = stays.iter().map(|stay| stay.from).min().unwrap();
    let until = from.after(SECOND * seconds);
    let at_once = ledger::most_at_once(&stays);
    let in_a_second = ledger::most_in_a_second(&stays);
    let of_key = if bound == Bound::Keys { OF_A_KEY } else { 1 };
    assert!(
        bound == Bound::Keys || at_once <= SLOTS,
        "{at_once} at once"
    );
    assert!(
        matches!(bound, Bound::Slots | Bound::Keys) || in_a_second <= RATE,
        "{in_a_second} in a second"
    );
    for (key, mut stays) in ledger::by_lane(&stays) {
        let at_once = ledger::most_at_once(&stays);
        assert!(at_once <= of_key, "{at_once} of {key} at once");
        // Each task counts once.
        stays.retain(|stay| stay.is_first);
        let begun = ledger::most_in_a_second(&stays);
        assert!(
            bound != Bound::Keys || begun <= of_key,
            "{begun} of {key} in a second"
        );
    }
    let claims = stays.iter().filter(|stay| stay.from < until).count();
    let held: Duration = stays
        .iter()
        .map(|stay| stay.until.min(until).since(stay.from))
        .sum();
    let used = match bound {
        Bound::Slots => held.as_secs_f64() / (f64::from(SLOTS) * SECOND.as_secs_f64()),
        Bound::Rate | Bound::Kills => f64::from(u32::try_from(claims).unwrap()) / f64::from(RATE),
        Bound::Keys => {
            let is_of_first = |stay: &&Stay| stay.lane == "key 0" && stay.from < until;
            let claims = stays.iter().filter(is_of_first).count();
            f64::from(u32::try_from(claims).unwrap()) / f64::from(OF_A_KEY)
        }
    };
    let used = used / f64::from(seconds);
    println!(
        "{kind}, {bound:?}: {claims} claims in {seconds} s, at most {at_once} at once and {in_a_second} in a second, {:.1} % used",
        used * 100.0
    );
    assert!(
        matches!(bound, Bound::Kills | Bound::Keys) || used >= extent.used,
        "only {used} used"
    );
}

/// A process that is killed when this is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// How long a worker has held a task.
#[derive(Debug, Clone)]
struct Stay {
    lane: String,
    from: Time,
    until: Time,
    /// Whether no worker has held it before.
    is_first: bool,
}
