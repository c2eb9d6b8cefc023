//! Kills workers before and after each of their first writes, and at random times.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::{Client, State, TaskId};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::ledger::Ledger;
use crate::stores::Place;
use crate::{Options, judge, work};

/// The number of tasks for each kill.
const TASKS: u32 = 3;

/// The largest number of writes before a worker is killed.
const WRITES: i64 = 24;

/// How long a worker may take to ask to be killed; longer means that it has nothing to write.
const QUIET: Duration = Duration::from_millis(400);

pub(crate) struct Worker {
    pub(crate) child: Child,
    pub(crate) lines: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    pub(crate) fn spawn(place: &Place, ledger: &Ledger, writes: i64, side: &str) -> Self {
        let this = std::env::current_exe().unwrap();
        Self::spawn_with(&this, (&place.kind, &place.name), ledger, writes, side)
    }

    fn spawn_with(
        program: &Path,
        (kind, name): (&str, &str),
        ledger: &Ledger,
        writes: i64,
        side: &str,
    ) -> Self {
        let mut child = Command::new(program)
            .args(["worker", kind, name])
            .arg(ledger.address.to_string())
            .args([&writes.to_string(), side])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Starts a worker of this or another release, without an end.
    pub(crate) async fn spawn_from(program: &Path, place: &Place, ledger: &Ledger) -> Self {
        let mut worker = Self::spawn_with(program, (&place.kind, &place.name), ledger, 0, "before");
        worker.says("ready").await;
        worker
    }

    /// Starts a worker of a store at another address.
    pub(crate) async fn spawn_at(store: (&str, &str), ledger: &Ledger) -> Self {
        let this = std::env::current_exe().unwrap();
        let mut worker = Self::spawn_with(&this, store, ledger, 0, "chaos");
        worker.says("ready").await;
        worker
    }

    /// Waits for a line.
    pub(crate) async fn says(&mut self, what: &str) {
        self.lines_until(what).await;
    }

    /// Waits for a line. Returns those before it.
    pub(crate) async fn lines_until(&mut self, what: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.lines.next_line().await.unwrap() {
            if line == what {
                return lines;
            }
            lines.push(line);
        }
        panic!("a worker ended by itself");
    }

    /// Kills the worker. Returns the failures that it has reported since it was ready.
    pub(crate) async fn kill(self) -> Vec<String> {
        let mut lines = self.kill_and_hear().await;
        lines.retain(|line| line.starts_with("failed "));
        lines
    }

    /// Kills the worker. Returns the lines that were not read.
    pub(crate) async fn kill_and_hear(mut self) -> Vec<String> {
        self.child.kill().await.unwrap();
        let mut lines = Vec::new();
        while let Some(line) = self.lines.next_line().await.unwrap() {
            lines.push(line);
        }
        lines
    }
}

pub(crate) async fn run(place: &Place, options: &Options) {
    let began = Instant::now();
    let ledger = Ledger::start().await;
    let client = place.client().await;
    let mut orders = Vec::new();
    let mut chance = StdRng::seed_from_u64(options.seed);
    let mut at = [0_u32; 3];
    for kill in 0..options.kills {
        for _ in 0..TASKS {
            let order = u32::try_from(orders.len()).unwrap();
            let submission = work::order(order).key(order.to_string());
            orders.push(client.submit(submission).await.unwrap().id());
        }
        // A third of the kills each: before a write, after a write, at a random time.
        let way = kill % 3;
        at[usize::try_from(way).unwrap()] += 1;
        let writes = if way == 2 {
            0
        } else {
            1 + i64::from(kill / 3) % WRITES
        };
        let side = if way == 0 { "before" } else { "after" };
        let mut worker = Worker::spawn(place, &ledger, writes, side);
        if way == 2 {
            worker.says("ready").await;
            tokio::time::sleep(Duration::from_micros(chance.random_range(0..60_000))).await;
        } else {
            worker.says("ready").await;
            // A worker with nothing left to write is killed while it waits.
            let _ = tokio::time::timeout(QUIET, worker.says("kill me")).await;
        }
        worker.kill().await;
    }
    let last = Worker::spawn(place, &ledger, 0, "before");
    wait_for_all(&client, &orders).await;
    last.kill().await;
    let seen = judge::all(&client, &ledger, &orders).await;
    place.check_small_tables().await;
    println!(
        "{}: {} workers killed ({} before a write, {} after one, {} at random), {} tasks ended, {seen}; {:?}",
        place.kind,
        options.kills,
        at[0],
        at[1],
        at[2],
        orders.len(),
        began.elapsed()
    );
}

/// Waits until all tasks have ended, for two minutes at most.
pub(crate) async fn wait_for_all(client: &Client, orders: &[TaskId]) {
    let mut left = orders.to_vec();
    let deadline = Instant::now() + Duration::from_secs(120);
    while !left.is_empty() {
        assert!(
            Instant::now() < deadline,
            "{} tasks have not ended: {left:?}",
            left.len()
        );
        let mut open = Vec::new();
        for id in left {
            let task = client.store().task(id).await.unwrap().unwrap();
            assert_ne!(task.state, State::Parked, "{task:?}");
            if !task.state.is_final() {
                open.push(id);
            }
        }
        left = open;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
