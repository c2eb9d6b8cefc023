//! Steps that end their process: the tasks beside them end as if nothing had happened.
#![cfg(all(feature = "sqlite", feature = "postgres"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::ptr_arg,
    reason = "a test that panics has failed; a worker talks to its test; a resource has its own type"
)]

#[path = "../../../examples/servers/mod.rs"]
mod servers;

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reattempt::Policy;
use reattempt_supervisor::{
    Client, Postgres, Scheduler, Sqlite, State, Step, StepError, Supervisor, TaskId,
    WorkflowContext, step, workflow,
};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;

const LEASE: Duration = Duration::from_millis(300);

/// How often each poisonous task ends its process.
const ABORTS: u64 = 6;

/// The store and the folder of a worker, and whether this process is one.
const STORE: &str = "RETRY_DEATHS_STORE";
const FOLDER: &str = "RETRY_DEATHS_FOLDER";

#[step]
async fn work(step: &Step, millis: u64) -> Result<(), String> {
    println!("begun {}", step.task());
    tokio::time::sleep(Duration::from_millis(millis)).await;
    Ok(())
}

#[workflow(max_failures = 0)]
async fn steady(context: &WorkflowContext, millis: u64) -> Result<(), StepError> {
    work(context, millis).await?;
    work(context, millis).await
}

/// Where a task notes how often it has ended its process.
struct Folder(PathBuf);

/// Ends its process after so many milliseconds.
#[step]
async fn kills(step: &Step, #[with] folder: &Folder, after: u64) -> Result<(), String> {
    tokio::time::sleep(Duration::from_millis(after)).await;
    let path = folder.0.join(format!("aborts-{}", step.task()));
    let file = std::fs::File::options()
        .create(true)
        .append(true)
        .open(&path);
    file.unwrap().write_all(b"x").unwrap();
    if aborts(&path) <= ABORTS {
        std::process::abort();
    }
    Ok(())
}

fn aborts(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

#[workflow(max_failures = 0)]
async fn poison(context: &WorkflowContext, after: u64) -> Result<(), StepError> {
    kills(context, after).await
}

async fn open(store: &str) -> Client {
    if store.starts_with("postgres:") {
        Client::new(Postgres::connect(store).await.unwrap())
    } else {
        Client::new(Sqlite::open(store).await.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a worker, run by the other tests"]
async fn worker() {
    let Ok(store) = std::env::var(STORE) else {
        return;
    };
    let client = open(&store).await;
    let delays = Policy::new()
        .unlimited()
        .base(Duration::from_millis(5))
        .cap(Duration::from_millis(50));
    let _supervisor = Supervisor::new(&client)
        .every(Duration::from_millis(100))
        .delays(delays)
        .start();
    let _scheduler = Scheduler::new(&client)
        .register(steady)
        .register(poison)
        .with(Folder(std::env::var(FOLDER).unwrap().into()))
        .lease(LEASE)
        .poll(Duration::from_millis(50))
        .delays(delays)
        .unsupervised()
        .start()
        .unwrap();
    std::future::pending::<()>().await;
}

/// When each task began its first step.
type Begun = Arc<Mutex<HashMap<TaskId, Instant>>>;

/// Runs a worker, and another one whenever it dies.
async fn keep_worker(store: String, folder: PathBuf, begun: Begun) {
    loop {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["worker", "--exact", "--ignored", "--nocapture"])
            .env(STORE, &store)
            .env(FOLDER, &folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some((_, task)) = line.split_once("begun ") {
                let mut begun = begun.lock().unwrap();
                begun
                    .entry(task.parse().unwrap())
                    .or_insert_with(Instant::now);
            }
        }
        child.wait().await.unwrap();
    }
}

/// The tasks of a run, and the processes.
struct Run {
    tasks: usize,
    poisons: usize,
    /// How long a poisonous step takes before it ends its process.
    after: u64,
    /// How long the steps of the other tasks take.
    millis: u64,
    workers: usize,
}

/// Opens a store, as a worker does when it starts.
#[tokio::test]
#[ignore = "a process that opens a store, run by the other tests"]
async fn opener() {
    if let Ok(store) = std::env::var(STORE) {
        open(&store).await;
    }
}

/// Starts a process that opens the store, and waits for its end. A store that is locked may refuse it, as it may a worker.
async fn run_opener(store: &str) {
    let mut process = Command::new(std::env::current_exe().unwrap());
    process.args(["opener", "--exact", "--ignored"]);
    process.env(STORE, store);
    process.stdout(Stdio::null()).stderr(Stdio::null());
    process.status().await.unwrap();
}

/// Submits a task, and returns how long it waits for its start.
async fn start_of_fresh(client: &Client, store: &str, folder: &Path, begun: &Begun) -> Duration {
    /// The writes of this loop that a machine makes in five seconds, also one that is busy. Where others fill the disk each
    /// takes as long as those that the task waits for.
    const WRITES: u32 = 150;
    /// The processes that a machine starts afterwards, one after the other: the task may wait for the start of some, which
    /// takes seconds where others take the processors.
    const PROCESSES: u32 = 15;
    let submitted = Instant::now();
    let id = client.submit(steady(0)).await.unwrap().id();
    let (mut writes, mut processes) = (0, 0);
    loop {
        if let Some(at) = begun.lock().unwrap().get(&id) {
            return *at - submitted;
        }
        let waited = submitted.elapsed();
        if waited >= Duration::from_secs(5) && writes >= WRITES {
            assert!(processes < PROCESSES, "it has waited for {waited:?}");
            run_opener(store).await;
            processes += 1;
        }
        let file = folder.join("probe");
        let write = || std::fs::File::create(file).and_then(|file| file.sync_all());
        tokio::task::spawn_blocking(write).await.unwrap().unwrap();
        writes += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn check(store: &str, folder: &Path, run: Run) {
    let start = Instant::now();
    let client = open(store).await;
    let mut tasks = Vec::new();
    let mut poisonous = Vec::new();
    for nth in 0..run.tasks {
        let is_poisonous = nth % (run.tasks / run.poisons) == 3;
        let id = if is_poisonous {
            client.submit(poison(run.after)).await.unwrap().id()
        } else {
            client.submit(steady(run.millis)).await.unwrap().id()
        };
        tasks.push(id);
        poisonous.extend(is_poisonous.then_some(id));
    }
    let begun = Begun::default();
    let mut workers = JoinSet::new();
    for _ in 0..run.workers {
        let begun = Arc::clone(&begun);
        workers.spawn(keep_worker(store.to_owned(), folder.to_owned(), begun));
    }
    let mut longest = Duration::ZERO;
    loop {
        longest = longest.max(start_of_fresh(&client, store, folder, &begun).await);
        tokio::time::sleep(Duration::from_millis(200)).await;
        let counts = client.store().counts().await.unwrap_or_default();
        if !counts.is_empty() && counts.iter().all(|(state, _)| state.is_final()) {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(300), "{counts:?}");
    }
    for id in tasks {
        let task = client.store().task(id).await.unwrap().unwrap();
        assert_eq!(
            (task.state, task.failures),
            (State::Processed, 0),
            "{task:?}"
        );
    }
    for id in &poisonous {
        let path = folder.join(format!("aborts-{id}"));
        assert_eq!(aborts(&path), ABORTS + 1);
    }
    assert_eq!(poisonous.len(), run.poisons);
    println!(
        "{store}: {:?}, fresh tasks waited {longest:?} at most",
        start.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_of_forty_tasks_abort_on_sqlite() {
    let folder = servers::folder("deaths-two");
    let store = folder.join("tasks.db").display().to_string();
    let run = Run {
        tasks: 40,
        poisons: 2,
        after: 0,
        millis: 100,
        workers: 1,
    };
    check(&store, &folder, run).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_of_forty_tasks_abort_on_postgres() {
    let Some(server) = servers::Server::postgres() else {
        return;
    };
    let folder = servers::folder("deaths-postgres");
    let store = server.url();
    let run = Run {
        tasks: 40,
        poisons: 2,
        after: 0,
        millis: 100,
        workers: 1,
    };
    check(&store, &folder, run).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The abort comes after three leases, and the other steps take ten.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_aborts_late_beside_long_steps() {
    let folder = servers::folder("deaths-late");
    let store = folder.join("tasks.db").display().to_string();
    let run = Run {
        tasks: 16,
        poisons: 1,
        after: 900,
        millis: 3_000,
        workers: 2,
    };
    check(&store, &folder, run).await;
    std::fs::remove_dir_all(&folder).unwrap();
}
