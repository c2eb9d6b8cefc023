//! A simulated week of schedules on real stores: several processes look at them, are killed and started
//! again, some with an older revision, while tasks are deleted. Each time of each schedule has exactly
//! one task.
//!
//! * `cargo test -p reattempt-supervisor --test week` takes seconds: 3 processes and 20 schedules.
//! * `-- --full` takes minutes: 8 processes and 200 schedules, with each change of the clocks.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what goes wrong here is the result"
)]

mod clock;
mod definitions;
#[expect(dead_code, reason = "the crash test uses all of it")]
#[path = "../crash/servers.rs"]
mod servers;
mod worker;

use std::collections::BTreeMap;
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use clock::{Place, time};
use definitions::{Definition, END, SWITCH};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::Time;

/// How large the run is.
#[derive(Debug, Clone, Copy)]
struct Extent {
    processes: usize,
    schedules: usize,
    kills: u32,
    /// How long a simulated quarter of an hour takes at least.
    pause: Duration,
}

const SMALL: Extent = Extent {
    processes: 3,
    schedules: 20,
    kills: 6,
    pause: Duration::from_millis(2),
};

const FULL: Extent = Extent {
    processes: 8,
    schedules: 200,
    kills: 100,
    pause: Duration::from_millis(100),
};

/// Weeks in which the clocks of Europe go forward, and back.
const WEEKS: [&str; 2] = ["2026-03-26T00:00:00Z", "2026-10-22T00:00:00Z"];

/// How long the processes may take for the rest when the week is over.
const PATIENCE: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let [word, rest @ ..] = &arguments[..]
        && word == "worker"
    {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(worker::work(rest));
        return ExitCode::SUCCESS;
    }
    // Cargo asks every test program to list its tests.
    if arguments.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    let is_full = arguments.iter().any(|word| word == "--full");
    let seed = arguments.iter().position(|word| word == "--seed");
    let seed = seed.map_or_else(rand::random, |at| arguments[at + 1].parse().unwrap());
    println!("seed {seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for kind in ["sqlite", "postgres"] {
        let (extent, weeks) = if is_full {
            (FULL, WEEKS.to_vec())
        } else {
            (SMALL, vec![WEEKS[random.random_range(0..2)]])
        };
        for week in weeks {
            runtime.block_on(run(kind, time(week), extent, &mut random));
        }
    }
    ExitCode::SUCCESS
}

/// Lets a week pass on one store.
async fn run(kind: &str, start: Time, extent: Extent, random: &mut StdRng) {
    let Some(mut place) = Place::new(kind, start).await else {
        return;
    };
    let began = Instant::now();
    let client = place.client().await;
    place.keep_ledger().await;
    let definitions: Vec<_> = (0..extent.schedules).map(Definition::of).collect();
    for one in &definitions {
        client.schedule(one.schedule(1)).await.unwrap();
    }
    let mut processes: Vec<_> = (0..extent.processes)
        .map(|_| place.spawn(extent.schedules, 1))
        .collect();
    let mut now = start;
    let mut switched = None;
    let mut kills = 0;
    let mut highest = 1;
    while now < start.after(END) {
        let step = Duration::from_secs(60 * random.random_range(1..=30));
        now = now.after(step);
        place.set(now).await;
        if switched.is_none() && now >= start.after(SWITCH) {
            // The processes with the older revision go on.
            for one in &definitions {
                client.schedule(one.schedule(2)).await.unwrap();
            }
            (switched, highest) = (Some(now), 2);
        }
        if random.random_ratio(extent.kills, 650) {
            let victim = random.random_range(0..processes.len());
            kill(&mut processes[victim]);
            kills += 1;
            processes[victim] = place.spawn(extent.schedules, random.random_range(1..=highest));
        }
        place.end_tasks().await;
        tokio::time::sleep(extent.pause).await;
    }
    let waiting = Instant::now();
    while client
        .schedules()
        .await
        .unwrap()
        .iter()
        .any(|one| one.next_at <= now)
    {
        assert!(waiting.elapsed() < PATIENCE, "nobody submits the rest");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for process in &mut processes {
        kill(process);
    }
    let switched = switched.unwrap();
    let mut wanted = BTreeMap::new();
    for one in &definitions {
        let old = one
            .times(1, start)
            .into_iter()
            .filter(|time| *time <= switched);
        let new = one
            .times(2, start)
            .into_iter()
            .filter(|time| *time > switched && *time <= now);
        wanted.extend(
            old.chain(new)
                .map(|time| (format!("cron/{}/{time}", one.name()), 1)),
        );
    }
    let found = place.ledger().await;
    for (key, count) in &found {
        assert_eq!(wanted.get(key), Some(count), "{key} has {count} tasks");
    }
    for key in wanted.keys() {
        assert!(found.contains_key(key), "{key} has no task");
    }
    let left = place.tasks_left().await;
    assert!(
        left < i64::try_from(wanted.len()).unwrap(),
        "nothing was deleted"
    );
    println!(
        "{kind} from {start}: {} schedules, {} processes, {kills} kills, {} times with one task each, {left} tasks left, {:.1?}",
        extent.schedules,
        extent.processes,
        wanted.len(),
        began.elapsed()
    );
}

fn kill(process: &mut Child) {
    process.kill().unwrap();
    process.wait().unwrap();
}

impl Place {
    /// Starts a process whose code has this revision of the schedules.
    fn spawn(&self, schedules: usize, revision: i64) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .arg("worker")
            .args(self.arguments())
            .args([schedules.to_string(), revision.to_string()])
            .spawn()
            .unwrap()
    }
}
