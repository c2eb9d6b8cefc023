//! The feed of ends on PostgreSQL while its writers and readers die, and how soon a reader that is up gets an end.
//!
//! `cargo test -p reattempt-supervisor --test tasks -- feed_deaths:: --ignored --nocapture` takes a minute; `FEED_SEED` and
//! `FEED_KILLS` say which one.
#![cfg(feature = "postgres")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::feed_gaps::{World, ending, write};
use crate::kit;
use crate::servers::Server;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::store::{AdminCommand, Store as _, Write};
use reattempt_supervisor::{Client, Postgres, TaskId};
use tokio_postgres::Row;

/// How long a transaction stays open.
const OPEN: Duration = Duration::from_secs(6);

/// The last one does not die.
const READERS: [&str; 4] = ["one", "two", "three", "up"];

/// The numbers that a reader has got, in the order in which it got them first, and when.
#[derive(Default)]
struct Got(Mutex<(Vec<i64>, BTreeMap<i64, i64>)>);

impl Got {
    fn note(&self, number: i64) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let mut got = self.0.lock().unwrap();
        if !got.1.contains_key(&number) {
            got.0.push(number);
            got.1.insert(number, now.as_micros().try_into().unwrap());
        }
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().0.len()
    }
}

struct Storm {
    world: World,
    seed: u64,
    /// Whether enough has been killed.
    is_over: AtomicBool,
    kills: AtomicUsize,
    cuts: AtomicUsize,
    /// How many ends there are, once the writers are over.
    ended: OnceLock<usize>,
    got: [Got; READERS.len()],
}

impl Storm {
    fn random(&self, nth: u64) -> StdRng {
        StdRng::seed_from_u64(self.seed ^ nth)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    async fn write(&self) {
        let tasks = self.world.tasks::<40>().await;
        let (one, two, three, four, five, ()) = tokio::join!(
            self.write_and_die(1, &tasks),
            self.write_and_die(2, &tasks),
            self.write_and_die(3, &tasks),
            self.work(),
            self.stay_open(),
            self.stay_open_elsewhere(),
        );
        let ended = one + two + three + four + five;
        let lines = self.lines().await.len();
        assert_eq!(lines, ended, "FEED_SEED={}", self.seed);
        self.ended.set(ended).unwrap();
    }

    async fn write_and_die(&self, writer: u64, tasks: &[TaskId]) -> usize {
        let mut ended = 0;
        for part in 0.. {
            if self.is_over() {
                break;
            }
            let random = self.random(writer + 16 * part);
            let ends = write(&self.world, random, tasks.to_vec()).await;
            ended += ends.values().sum::<i64>();
        }
        ended.try_into().unwrap()
    }

    /// Ends tasks as workers do.
    async fn work(&self) -> usize {
        let mut ended = 0;
        while !self.is_over() {
            let [task] = self.world.tasks().await;
            let cancel = Write::Admin(task, AdminCommand::Cancel);
            self.world.store.write([cancel].into()).await.unwrap();
            ended += 1;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        ended
    }

    /// Keeps the number of an end for long, and then commits it or not.
    async fn stay_open(&self) -> usize {
        let session = self.world.session().await;
        let mut ended = 0;
        while !self.is_over() {
            for end in ["COMMIT", "ROLLBACK"] {
                let [task] = self.world.tasks().await;
                let begin = format!("BEGIN; {}", ending(task));
                session.batch_execute(&begin).await.unwrap();
                tokio::time::sleep(OPEN).await;
                session.batch_execute(end).await.unwrap();
            }
            ended += 1;
        }
        ended
    }

    /// Keeps the gaps of all readers, from another database.
    async fn stay_open_elsewhere(&self) {
        let create = "CREATE DATABASE elsewhere";
        let admin = self.world.session().await;
        admin.batch_execute(create).await.unwrap();
        let url = self.world.server.url();
        let url = format!("{}elsewhere", url.strip_suffix("postgres").unwrap());
        let session = kit::session(&url).await;
        while !self.is_over() {
            let begin = "BEGIN; SELECT pg_current_xact_id()";
            session.batch_execute(begin).await.unwrap();
            tokio::time::sleep(OPEN).await;
            session.batch_execute("COMMIT").await.unwrap();
        }
    }

    /// Cuts readers off until so many readers and writers have died.
    async fn cut(&self, most: usize) {
        let mut random = self.random(5);
        let session = self.world.session().await;
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name = 'dying' ORDER BY random() LIMIT 1";
        let died = || [&self.kills, &self.cuts].map(|one| one.load(Ordering::SeqCst));
        while died().iter().sum::<usize>() + self.world.kills() < most {
            tokio::time::sleep(Duration::from_millis(random.random_range(0..200))).await;
            let cut = session.query(cut, &[]).await.unwrap().len();
            self.cuts.fetch_add(cut, Ordering::SeqCst);
        }
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Reads, in a process of its own as it were, until there is nothing left.
    async fn read(&self, nth: usize, application: &str) {
        let url = format!("{}?application_name={application}", self.world.server.url());
        // It may be cut off at once.
        let Ok(store) = Postgres::connect(&url).await else {
            return;
        };
        let mut ends = Client::new(store).ends(READERS[nth]);
        while !self.has_all(nth) {
            // After the last end there is no other.
            let next = tokio::time::timeout(Duration::from_secs(1), ends.next());
            if let Ok(next) = next.await {
                for end in next.unwrap() {
                    self.got[nth].note(end.number);
                }
                ends.acknowledge().await.unwrap();
            }
        }
    }

    fn has_all(&self, nth: usize) -> bool {
        self.ended.get() == Some(&self.got[nth].count())
    }

    async fn read_and_die(&self, nth: usize) {
        let mut random = self.random(6 + u64::try_from(nth).unwrap());
        while !self.has_all(nth) {
            let life = Duration::from_millis(random.random_range(20..800));
            let reading = tokio::time::timeout(life, self.read(nth, "dying"));
            let is_killed = reading.await.is_err();
            self.kills.fetch_add(is_killed.into(), Ordering::SeqCst);
        }
    }

    /// Returns the number, task, state and time of commit of each end.
    async fn lines(&self) -> Vec<(i64, i64, i16, i64)> {
        let lines = "SELECT number, run_id, state, (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000000)::bigint
             FROM retry_feed";
        let lines = self.world.session().await.query(lines, &[]).await.unwrap();
        let line = |row: &Row| (row.get(0), row.get(1), row.get(2), row.get(3));
        lines.iter().map(line).collect()
    }

    /// The ends of each task have come in their order.
    fn judge_order(&self, lines: &[(i64, i64, i16, i64)]) {
        let task_of: BTreeMap<_, _> = lines.iter().map(|line| (line.0, line.1)).collect();
        for (name, got) in READERS.iter().zip(&self.got) {
            let mut last = BTreeMap::new();
            for number in &got.0.lock().unwrap().0 {
                let earlier = last.insert(task_of[number], *number);
                let (seed, is_later) = (self.seed, earlier < Some(*number));
                assert!(
                    is_later,
                    "FEED_SEED={seed}: {name} got {number} after {earlier:?}"
                );
            }
        }
    }

    fn judge_delays(&self, lines: &[(i64, i64, i16, i64)]) {
        let got = &self.got[READERS.len() - 1].0.lock().unwrap().1;
        for (whose, of_worker) in [("workers", true), ("others", false)] {
            let cancelled = 6;
            let own = lines
                .iter()
                .filter(|line| (line.2 == cancelled) == of_worker);
            let mut delays: Vec<_> = own.map(|line| got[&line.0] - line.3).collect();
            delays.sort_unstable();
            let at = |part: usize| delays[(delays.len() - 1) * part / 100];
            println!(
                "{} ends of {whose}: median {} us, 99 in 100 {} us, at most {} us",
                delays.len(),
                at(50),
                at(99),
                at(100)
            );
            assert!(at(99) < 1_000_000, "99 in 100 of {whose}: {} us", at(99));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute, and measures"]
async fn a_reader_that_is_up_gets_an_end_in_a_second_whatever_dies() {
    let number = |name: &str| Some(std::env::var(name).ok()?.parse::<u64>().unwrap());
    let most = number("FEED_KILLS").unwrap_or(500);
    let seed = number("FEED_SEED").unwrap_or_else(rand::random);
    println!("FEED_SEED={seed}");
    let Some(server) = Server::postgres_with(&["-c", "track_commit_timestamp=on"]) else {
        return;
    };
    let storm = Storm {
        world: World::of(server).await,
        seed,
        is_over: AtomicBool::default(),
        kills: AtomicUsize::default(),
        cuts: AtomicUsize::default(),
        ended: OnceLock::new(),
        got: Default::default(),
    };
    let all = Box::pin(async {
        tokio::join!(
            storm.write(),
            storm.cut(most.try_into().unwrap()),
            storm.read_and_die(0),
            storm.read_and_die(1),
            storm.read_and_die(2),
            storm.read(3, "up"),
        )
    });
    let in_time = tokio::time::timeout(Duration::from_secs(300), all).await;
    let (ended, got) = (&storm.ended, storm.got.each_ref().map(Got::count));
    assert!(
        in_time.is_ok(),
        "FEED_SEED={seed}: {ended:?} ends, {got:?} got"
    );
    let lines = storm.lines().await;
    println!(
        "{:?} kills and {:?} cuts of readers, {} kills of writers, {} ends",
        storm.kills,
        storm.cuts,
        storm.world.kills(),
        lines.len(),
    );
    storm.judge_order(&lines);
    storm.judge_delays(&lines);
}
