//! The database from hell: its clock jumps, its disk is slow or full, its processes are killed, others hold an old
//! snapshot or a prepared transaction, and its workers are killed, suspended and cut off, several at once. Meanwhile a
//! fresh task is submitted again and again, and waited for.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::{Client, TaskId};
use tokio::task::JoinSet;

use crate::chaos::{STOP, is_trip, submit};
use crate::killer::{self, Worker};
use crate::ledger::Ledger;
use crate::proxy::{Cut, Hits, Proxy};
use crate::stores::Place;
use crate::{judge, stopped, work};

/// The file with the numbers that `shim.c` reads.
const SHIM: &str = "SHIM";

/// How far the clock jumps, either way, from the right time.
const JUMP: i64 = 10_000_000;

/// How long a fault stays that passes.
const FAULT: std::ops::Range<u64> = 200..2_500;

/// How long it is between faults.
const PAUSE: Duration = Duration::from_millis(300);

/// How often a fresh task is submitted.
const FRESH: Duration = Duration::from_millis(200);

/// What may happen to a connection.
const CUTS: [Cut; 4] = [
    Cut::BeforeTheSend,
    Cut::Late(Duration::from_secs(2)),
    Cut::AnswerLost,
    Cut::BlackHole,
];

/// How many tasks there are for each fault.
const TASKS: u32 = 3;

/// The machine of the database and of all processes.
#[derive(Debug, Clone)]
pub(crate) struct Machine(PathBuf);

impl Machine {
    /// Returns `None` if this process does not run below the shim.
    pub(crate) fn of_this_process() -> Option<Self> {
        Some(Self(std::env::var_os(SHIM)?.into()))
    }

    fn set(&self, nth: u64, value: i64) {
        let file = fs::OpenOptions::new().write(true).open(&self.0).unwrap();
        file.write_all_at(&value.to_ne_bytes(), nth * 8).unwrap();
    }

    /// Sets how far the clock is ahead.
    fn set_clock(&self, micros: i64) {
        self.set(0, micros);
    }

    /// Sets how much longer each write to a file takes.
    fn set_slow(&self, micros: i64) {
        self.set(1, micros);
    }

    fn set_full(&self, is_full: bool) {
        self.set(2, i64::from(is_full));
    }
}

/// Runs this program again, on a machine whose clock and disk obey.
pub(crate) fn run_below_shim() -> ExitCode {
    let folder = std::env::temp_dir().join(format!("retry-hell-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    open(&folder, 0o755).unwrap();
    let [source, library, numbers] = ["shim.c", "shim.so", SHIM].map(|name| folder.join(name));
    fs::write(&source, include_str!("shim.c")).unwrap();
    fs::write(&numbers, [0; 24]).unwrap();
    let mut compile = Command::new("cc");
    let compile = compile.args(["-shared", "-fPIC", "-O1", "-o"]);
    let made = compile.args([&library, &source]).status();
    assert!(made.unwrap().success(), "the shim does not compile");
    let this = std::env::current_exe().unwrap();
    let ran = Command::new(this)
        .args(std::env::args_os().skip(1))
        .env("LD_PRELOAD", &library)
        .env(SHIM, &numbers)
        .status();
    let _ = fs::remove_dir_all(&folder);
    let code = ran.unwrap().code();
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// What happens at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Blow {
    Kill,
    Stop,
    Jump,
    Slow,
    Full,
    // Those of a server.
    Cut,
    Restart,
    Backend,
    Snapshot,
    Prepared,
}

/// Those of all stores come first.
const BLOWS: [Blow; 10] = [
    Blow::Kill,
    Blow::Stop,
    Blow::Jump,
    Blow::Slow,
    Blow::Full,
    Blow::Cut,
    Blow::Restart,
    Blow::Backend,
    Blow::Snapshot,
    Blow::Prepared,
];

/// A worker, and the proxy of a server that stays when it is killed.
struct Seat {
    proxy: Option<Proxy>,
    name: String,
    worker: Worker,
}

impl Seat {
    async fn new(place: &Place, ledger: &Ledger) -> Self {
        let proxy = if place.is_server() {
            Some(Proxy::start(place.port(), Arc::new(Hits::default())).await)
        } else {
            None
        };
        let url = |proxy: &Proxy| format!("postgres://postgres@127.0.0.1:{}/postgres", proxy.port);
        let name = proxy.as_ref().map_or_else(|| place.name.clone(), url);
        let worker = Worker::spawn_at((&place.kind, &name), ledger).await;
        Self {
            proxy,
            name,
            worker,
        }
    }
}

/// All that the faults meet.
struct Storm<'p> {
    place: &'p mut Place,
    machine: &'p Machine,
    ledger: Ledger,
    seats: Vec<Seat>,
    /// What passes by itself.
    passing: JoinSet<()>,
    chance: StdRng,
}

impl Storm<'_> {
    async fn strike(&mut self, blow: Blow, nth: u32) {
        let fault = Duration::from_millis(self.chance.random_range(FAULT));
        let machine = self.machine.clone();
        let url = self.place.name.clone();
        let seat = self.chance.random_range(0..self.seats.len());
        match blow {
            Blow::Kill => self.kill(seat).await,
            Blow::Stop => {
                let worker = &self.seats[seat].worker;
                stopped::signal(worker, "-STOP");
                tokio::time::sleep(STOP).await;
                stopped::signal(worker, "-CONT");
            }
            Blow::Jump => machine.set_clock(self.chance.random_range(-JUMP..JUMP)),
            Blow::Slow => {
                machine.set_slow(self.chance.random_range(1_000..100_000));
                self.passing.spawn(async move {
                    tokio::time::sleep(fault).await;
                    machine.set_slow(0);
                });
            }
            Blow::Full => {
                machine.set_full(true);
                self.passing.spawn(async move {
                    tokio::time::sleep(fault).await;
                    machine.set_full(false);
                });
            }
            Blow::Cut => {
                let proxy = self.seats[seat].proxy.as_ref();
                if let Some(proxy) = proxy.filter(|proxy| !proxy.is_armed()) {
                    proxy.cut(*CUTS.choose(&mut self.chance).unwrap());
                }
            }
            Blow::Restart => {
                // It does not start on a full disk.
                machine.set_full(false);
                self.place.restart();
            }
            Blow::Backend => end_backend(&url, self.chance.random()).await,
            Blow::Snapshot => {
                let sql = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM retry_run";
                let held = hold(url, sql.to_owned(), "ROLLBACK".to_owned());
                self.passing.spawn(held);
            }
            Blow::Prepared => {
                let sql = format!(
                    "BEGIN; SELECT FROM retry_run WHERE id = (SELECT max(id) - {} FROM retry_run) FOR UPDATE; \
                     PREPARE TRANSACTION 'hell {nth}'",
                    self.chance.random_range(0..20)
                );
                let end = format!("ROLLBACK PREPARED 'hell {nth}'");
                self.passing.spawn(hold(url, sql, end));
            }
        }
    }

    /// Starts another worker in the place of one that is killed.
    async fn kill(&mut self, seat: usize) {
        let seat = &mut self.seats[seat];
        if let Some(proxy) = &mut seat.proxy {
            proxy.change_process();
        }
        let kind = self.place.kind.clone();
        let spawning = Worker::spawn_at((&kind, &seat.name), &self.ledger);
        let mut spawning = std::pin::pin!(spawning);
        let new = loop {
            // It needs a server.
            match tokio::time::timeout(PAUSE, &mut spawning).await {
                Ok(new) => break new,
                Err(_) => revive(self.place, self.machine),
            }
        };
        std::mem::replace(&mut seat.worker, new).kill().await;
    }

    /// Lets everything pass.
    async fn end(&mut self) {
        self.machine.set_clock(0);
        self.machine.set_full(false);
        revive(self.place, self.machine);
        while let Some(passed) = self.passing.join_next().await {
            passed.unwrap();
        }
    }
}

pub(crate) async fn run(place: &mut Place, machine: &Machine, faults: u32, seed: u64) {
    println!("{}: {faults} faults with seed {seed}", place.kind);
    let began = Instant::now();
    let ledger = Ledger::start_slow(seed).await;
    let client = place.client().await;
    let mut seats = Vec::new();
    for _ in 0..3 {
        seats.push(Seat::new(place, &ledger).await);
    }
    let waits = Arc::new(Mutex::new(Vec::new()));
    let fresh = tokio::spawn(submit_fresh(client.clone(), Arc::clone(&waits)));
    let submitting = tokio::spawn(submit_all(client.clone(), faults * TASKS));
    let possible = &BLOWS[..if place.is_server() { BLOWS.len() } else { 5 }];
    let mut counts = BTreeMap::new();
    let mut storm = Storm {
        place,
        machine,
        ledger,
        seats,
        passing: JoinSet::new(),
        chance: StdRng::seed_from_u64(seed),
    };
    for nth in 0..faults {
        revive(storm.place, machine);
        let blow = *possible.choose(&mut storm.chance).unwrap();
        *counts.entry(blow).or_insert(0) += 1;
        storm.strike(blow, nth).await;
        tokio::time::sleep(PAUSE).await;
    }
    storm.end().await;
    let orders = submitting.await.unwrap();
    killer::wait_for_all(&client, &orders).await;
    fresh.abort();
    let Storm {
        place,
        ledger,
        seats,
        ..
    } = storm;
    for seat in seats {
        seat.worker.kill().await;
    }
    let found = judge::all(&client, &ledger, &orders).await;
    place.check_small_tables().await;
    let mut waits = waits.lock().unwrap().clone();
    waits.sort_unstable();
    let of_100 = |part: usize| waits[(waits.len() - 1) * part / 100];
    println!(
        "{}: {counts:?}; {} tasks, {found}, {} late effects refused; {} fresh tasks took {:?} (50 of 100), {:?} (99 of \
         100), {:?} (all) at most; {:?}",
        place.kind,
        orders.len(),
        ledger.refused(),
        waits.len(),
        of_100(50),
        of_100(99),
        of_100(100),
        began.elapsed()
    );
}

/// Starts a server that has ended.
fn revive(place: &mut Place, machine: &Machine) {
    if place.is_over() {
        // It does not start on a full disk.
        machine.set_full(false);
        place.restart();
    }
}

/// Kills one of the processes of a server, as the system does when it has no more memory.
async fn end_backend(url: &str, which: u32) {
    let sql = "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() ORDER BY pid";
    let Ok((client, connection)) = tokio_postgres::connect(url, tokio_postgres::NoTls).await else {
        return;
    };
    let connection = tokio::spawn(connection);
    if let Ok(rows) = client.query(sql, &[]).await
        && let Some(row) = rows.get(usize::try_from(which).unwrap() % rows.len().max(1))
    {
        let pid = row.get::<_, i32>(0).to_string();
        let _ = Command::new("kill").args(["-KILL", &pid]).status();
    }
    connection.abort();
}

/// Holds what a transaction holds for some seconds, however often the server ends meanwhile.
async fn hold(url: String, begin: String, end: String) {
    let connect = || tokio_postgres::connect(&url, tokio_postgres::NoTls);
    let Ok((client, connection)) = connect().await else {
        return;
    };
    tokio::spawn(connection);
    if client.batch_execute(&begin).await.is_err() {
        return;
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    if client.batch_execute(&end).await.is_ok() || end == "ROLLBACK" {
        return;
    }
    for _ in 0..600 {
        if let Ok((client, connection)) = connect().await {
            tokio::spawn(connection);
            if client.batch_execute(&end).await.is_ok() {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("`{end}` is not possible");
}

/// Submits the tasks until they are stored, and sends each trip its signal.
async fn submit_all(client: Client, orders: u32) -> Vec<TaskId> {
    let mut all = Vec::new();
    for order in 0..orders {
        let id = loop {
            match submit(&client, order).await {
                Ok(id) => break id,
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        };
        if is_trip(order) {
            while client.signal(id, "go", &order).await.is_err() {
                tokio::time::sleep(PAUSE).await;
            }
        }
        all.push(id);
        tokio::time::sleep(PAUSE / TASKS).await;
    }
    all
}

/// Submits fresh tasks, and notes how long each takes to its end; never returns.
async fn submit_fresh(client: Client, waits: Arc<Mutex<Vec<Duration>>>) {
    let mut running = JoinSet::new();
    for nth in 0_u64.. {
        let (client, waits) = (client.clone(), Arc::clone(&waits));
        running.spawn(async move {
            let began = Instant::now();
            loop {
                let submitted = client
                    .submit(work::fresh().key(format!("fresh {nth}")))
                    .await;
                if let Ok(task) = submitted
                    && task.wait().await.is_ok()
                {
                    waits.lock().unwrap().push(began.elapsed());
                    return;
                }
                tokio::time::sleep(FRESH).await;
            }
        });
        tokio::time::sleep(FRESH).await;
        while running.try_join_next().is_some() {}
    }
}
