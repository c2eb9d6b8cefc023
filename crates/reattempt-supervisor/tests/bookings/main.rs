//! Bookings as exactly-once steps, while their workers are killed, suspended for longer than their
//! lease, and lose answers to `COMMIT`: each booking is there once, without a unique key.
//!
//! * `cargo test -p reattempt-supervisor --test bookings` kills some workers.
//! * `-- --kills 500` kills 500.
//!
//! The control books in a plain step; its workers are killed between the `COMMIT` of the booking and
//! the record of the step, and the same judge finds bookings that are there twice.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what goes wrong here is the result"
)]

#[path = "../proxy/mod.rs"]
mod proxy;
#[path = "../../../../examples/servers/mod.rs"]
mod servers;
mod work;

use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use proxy::{Cut, Hits, Proxy};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::{Client, Postgres, State, TaskId};
use servers::Server;
use sqlx::PgPool;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|word| word == "worker") {
        work::run_worker(&arguments[at + 1..]);
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    let value = |name: &str| {
        let at = arguments.iter().position(|word| word == name)?;
        arguments.get(at + 1).cloned()
    };
    let kills = value("--kills").map_or(8, |kills| kills.parse().unwrap());
    let seed = value("--seed").map_or_else(rand::random, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(server) = Server::postgres() else {
        return ExitCode::SUCCESS;
    };
    runtime.block_on(async {
        let place = Place::new(&server).await;
        place.attack(kills, StdRng::seed_from_u64(seed)).await;
        place.control((kills / 8).min(20)).await;
    });
    ExitCode::SUCCESS
}

/// How a worker dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// At a random time.
    Killed,
    /// The answer to a `COMMIT` is lost, and the worker dies at once.
    LosesAnswer,
    /// The answer is lost, and the worker goes on for a while.
    Settles,
    /// It is suspended for longer than its lease, goes on for a while, and dies.
    Suspended,
}

const WAYS: [Way; 4] = [Way::Killed, Way::LosesAnswer, Way::Settles, Way::Suspended];

/// How many bookings there are for each kill.
const BOOKINGS: u32 = 3;

/// How long an answer may take to be lost.
const QUIET: Duration = Duration::from_millis(1_500);

struct Place {
    client: Client,
    pool: PgPool,
    store: String,
    proxy: Proxy,
    hits: Arc<Hits>,
}

/// A worker and its lines.
struct Worker {
    child: Child,
    lines: mpsc::UnboundedReceiver<String>,
}

impl Worker {
    /// Waits for a line that begins so. Returns the lines up to it.
    async fn says(&mut self, what: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.lines.recv().await {
            let is_said = line.starts_with(what);
            lines.push(line);
            if is_said {
                return lines;
            }
        }
        panic!("a worker ended by itself");
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().unwrap().to_string();
        let status = std::process::Command::new("kill")
            .args([signal, &id])
            .status();
        assert!(status.unwrap().success());
    }

    /// Kills the worker. Returns its lines.
    async fn kill(mut self) -> Vec<String> {
        self.child.kill().await.unwrap();
        let mut lines = Vec::new();
        while let Some(line) = self.lines.recv().await {
            lines.push(line);
        }
        lines
    }
}

impl Place {
    async fn new(server: &Server) -> Self {
        let store = server.url();
        let hits = Arc::new(Hits::default());
        let pool = PgPool::connect(&store).await.unwrap();
        // No key: nothing but the record keeps a booking from being there twice.
        let sql = "CREATE TABLE booking (number INT, kind TEXT)";
        sqlx::raw_sql(sql).execute(&pool).await.unwrap();
        Self {
            client: Client::new(Postgres::connect(&store).await.unwrap()),
            pool,
            proxy: Proxy::start(server.port, Arc::clone(&hits)).await,
            store,
            hits,
        }
    }

    /// Starts a worker whose bookings go through the proxy.
    async fn start(&self, driver: &str) -> Worker {
        let pool = format!(
            "postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable",
            self.proxy.port
        );
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["worker", &self.store, &pool, driver])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut read = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, lines) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok(Some(line)) = read.next_line().await {
                let _ = sender.send(line);
            }
        });
        let mut worker = Worker { child, lines };
        worker.says("ready").await;
        worker
    }

    async fn attack(&self, kills: u32, mut chance: StdRng) {
        let began = Instant::now();
        let mut orders = Vec::new();
        let (mut ways, mut lines) = ([0_u32; 4], Vec::new());
        for kill in 0..kills {
            let way = WAYS[kill as usize % WAYS.len()];
            let driver = if kill / 4 % 2 == 0 {
                "tokio-postgres"
            } else {
                "sqlx"
            };
            let mut worker = self.start(driver).await;
            if matches!(way, Way::LosesAnswer | Way::Settles) {
                self.proxy.cut(Cut::AnswerLost);
            }
            let lost = self.hits.answer_lost.load(Ordering::SeqCst);
            for _ in 0..BOOKINGS {
                let number = u32::try_from(orders.len()).unwrap();
                let submission = work::order(number, false).key(number.to_string());
                orders.push(self.client.submit(submission).await.unwrap().id());
            }
            match way {
                Way::Killed => pause(&mut chance, 0..200).await,
                Way::LosesAnswer | Way::Settles => {
                    let end = Instant::now() + QUIET;
                    while self.hits.answer_lost.load(Ordering::SeqCst) == lost
                        && Instant::now() < end
                    {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    if way == Way::Settles {
                        // It has heard that the answer is lost, and asks what became of the commit.
                        if self.hits.answer_lost.load(Ordering::SeqCst) > lost {
                            let said = tokio::time::timeout(20 * QUIET, worker.says("unknown"));
                            lines.extend(said.await.unwrap_or_default());
                        }
                        pause(&mut chance, 0..200).await;
                    }
                }
                Way::Suspended => {
                    let _ = tokio::time::timeout(QUIET, worker.says("body")).await;
                    worker.signal("-STOP");
                    // It takes over meanwhile.
                    let other = self.start(driver).await;
                    tokio::time::sleep(2 * work::LEASE).await;
                    worker.signal("-CONT");
                    pause(&mut chance, 0..200).await;
                    lines.extend(other.kill().await);
                }
            }
            let hit = self.hits.answer_lost.load(Ordering::SeqCst) > lost;
            let counts = match way {
                Way::LosesAnswer | Way::Settles => hit,
                Way::Killed | Way::Suspended => true,
            };
            ways[kill as usize % WAYS.len()] += u32::from(counts);
            lines.extend(worker.kill().await);
        }
        let last = self.start("last").await;
        self.wait_for_all(&orders).await;
        lines.extend(last.kill().await);
        let twice = self.judge(&orders, work::is_undone).await;
        let count = |word: &str| lines.iter().filter(|line| line.starts_with(word)).count();
        println!(
            "{kills} workers killed ({} at random, {} and {} with a lost answer to COMMIT, {} suspended for longer than their lease), \
             {} bookings, {twice} wrong; {} bodies, {} unknown outcomes, {} late workers; {:?}",
            ways[0],
            ways[1],
            ways[2],
            ways[3],
            orders.len(),
            count("body"),
            count("unknown"),
            count("lost"),
            began.elapsed()
        );
        assert_eq!(twice, 0);
        assert!(ways[1] + ways[2] >= kills / 8, "too few answers were lost");
        assert!(count("unknown") > 0, "no outcome was unknown to a worker");
    }

    /// Returns how many orders have other bookings than one, or one that is cancelled.
    async fn judge(&self, orders: &[TaskId], is_undone: impl Fn(u32) -> bool) -> usize {
        let sql = "SELECT number, kind, count(*) FROM booking GROUP BY number, kind";
        let rows: Vec<(i32, String, i64)> =
            sqlx::query_as(sql).fetch_all(&self.pool).await.unwrap();
        let times = |number: usize, kind: &str| {
            let of_it = |row: &&(i32, String, i64)| {
                row.0 == i32::try_from(number).unwrap() && row.1 == kind
            };
            rows.iter().find(of_it).map_or(0, |row| row.2)
        };
        let mut wrong = 0;
        for (number, id) in orders.iter().enumerate() {
            let task = self.client.store().task(*id).await.unwrap().unwrap();
            let is_undone = is_undone(u32::try_from(number).unwrap());
            let state = if is_undone {
                State::Compensated
            } else {
                State::Processed
            };
            assert_eq!(task.state, state, "{task:?}");
            let is_right =
                times(number, "booked") == 1 && times(number, "cancelled") == i64::from(is_undone);
            if !is_right {
                wrong += 1;
            }
        }
        wrong
    }

    /// Books in a plain step, and kills between its `COMMIT` and its record.
    async fn control(&self, kills: u32) {
        sqlx::query("TRUNCATE booking")
            .execute(&self.pool)
            .await
            .unwrap();
        let mut tasks = Vec::new();
        for number in 0..kills.max(1) {
            let task = self.client.submit(work::order(number, true)).await.unwrap();
            tasks.push(task.id());
            let mut worker = self.start("sqlx").await;
            worker.says("committed").await;
            worker.kill().await;
        }
        let last = self.start("last").await;
        self.wait_for_all(&tasks).await;
        last.kill().await;
        let wrong = self.judge(&tasks, |_| false).await;
        println!("control: {} of {} bookings are wrong", wrong, tasks.len());
        assert!(
            wrong > 0,
            "the control must show bookings that are there twice"
        );
    }

    async fn wait_for_all(&self, orders: &[TaskId]) {
        let deadline = Instant::now() + Duration::from_secs(300);
        for id in orders {
            loop {
                let task = self.client.store().task(*id).await.unwrap().unwrap();
                assert_ne!(task.state, State::Parked, "{task:?}");
                if task.state.is_final() {
                    break;
                }
                assert!(Instant::now() < deadline, "{task:?}");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

async fn pause(chance: &mut StdRng, range: std::ops::Range<u64>) {
    tokio::time::sleep(Duration::from_millis(chance.random_range(range))).await;
}
