//! The agent in Python, on PostgreSQL: it answers, and nothing is lost or recorded twice while agents are killed, suspended
//! and cut off, and so are workers.
//!
//! `AGENT_KILLS=200 cargo test -p reattempt-supervisor --test tasks -- agents_python:: --nocapture` takes minutes;
//! `AGENT_SEED` says which ones. `REATTEMPT_PYTHON` is a Python that has psycopg.
#![cfg(all(feature = "postgres", unix))]

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::kit::session;
use crate::servers::Server;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use reattempt::Policy;
use reattempt_supervisor::{
    AgentError, Client, Postgres, Scheduler, Step, StepError, Supervisor, WorkflowContext, step,
    workflow,
};
use serde_json::Value;

/// The address of the store of a worker.
const WORKER: &str = "AGENT_WORKER";

/// How many workers there are, and how many agents.
const SEATS: [usize; 2] = [2, 4];

/// The agent of the examples, whose work takes some time and leaves a line. So does a finish that comes late. It has a call
/// for a second at a time.
const AGENT: &str = r#"
import random, sys, time
import psycopg
sys.path.insert(0, sys.argv[3])
import agent

execute, work = psycopg.Connection.execute, agent.work

def note(*line):
    with psycopg.connect(sys.argv[1], autocommit=True) as service:
        service.execute("INSERT INTO effect VALUES (%s, %s)", line)

def slow_work(step, key, scene):
    time.sleep(random.random() / 5)
    note(key, scene)
    return work(step, key, scene)

def watched(connection, sql, values=None):
    cursor = execute(connection, sql, values)
    if "retry_finish" in sql and not cursor.fetchone()[0]:
        execute(connection, "INSERT INTO late DEFAULT VALUES")
    return cursor

psycopg.Connection.execute, agent.work, agent.LEASE = watched, slow_work, 1.0
agent.main(*sys.argv[1:3])
"#;

/// Keeps what agents do. `answer` has a line for each answer that is committed, and whether it was late by then. Its trigger
/// comes before that of the store.
const LEDGER: &str = "CREATE TABLE effect (key TEXT, scene TEXT);
    CREATE TABLE late (at TIMESTAMPTZ DEFAULT now());
    CREATE TABLE answer (run_id BIGINT, state SMALLINT, is_late BOOLEAN);
    CREATE FUNCTION answer() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN
        INSERT INTO answer VALUES (NEW.run_id, NEW.state, NEW.complete_by < retry_clock()); RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER answer AFTER UPDATE ON retry_call DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (OLD.state = 1 AND NEW.state IN (2, 3)) EXECUTE FUNCTION answer()";

/// Each is as many as there are tasks: those that are processed, keys, scenes, keys of scenes, answers, tasks with an answer,
/// and results that have the key and the scene of an effect. The last ones are none.
const COUNTS: &str = "SELECT ARRAY[
        (SELECT count(*) FROM retry_run WHERE state = 3),
        (SELECT count(DISTINCT key) FROM effect),
        (SELECT count(DISTINCT scene) FROM effect),
        (SELECT count(DISTINCT (key, scene)) FROM effect),
        (SELECT count(*) FROM answer WHERE state = 2),
        (SELECT count(DISTINCT run_id) FROM answer WHERE state = 2),
        (SELECT count(*) FROM retry_run JOIN (SELECT DISTINCT key, scene FROM effect) AS effect
         ON output::json ->> 'picture' = scene || ' ' || key)
    ], (SELECT count(*) FROM answer WHERE is_late), (SELECT count(*) FROM effect), (SELECT count(*) FROM late)";

#[step(queue = "gpu", name = "render")]
async fn paint(step: &Step, scene: String) -> Result<Value, AgentError>;

#[workflow]
async fn picture(context: &WorkflowContext, scene: String) -> Result<Value, StepError> {
    paint(context, scene).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a worker, run by the other test"]
async fn worker() {
    let Ok(url) = std::env::var(WORKER) else {
        return;
    };
    let client = Client::new(Postgres::connect(&url).await.unwrap());
    let delays = Policy::new()
        .unlimited()
        .base(Duration::from_millis(5))
        .cap(Duration::from_millis(50));
    let _supervisor = Supervisor::new(&client)
        .every(Duration::from_millis(50))
        .delays(delays)
        .start();
    let _scheduler = Scheduler::new(&client)
        .register(picture)
        .lease(Duration::from_secs(1))
        .delays(delays)
        .unsupervised()
        .start()
        .unwrap();
    std::future::pending::<()>().await;
}

/// A process that is killed when this is dropped.
struct Process(Child);

impl Process {
    fn worker(url: &str) -> Self {
        let this = std::env::current_exe().unwrap();
        Self::start(
            Command::new(this)
                .args(["agents_python::worker", "--exact", "--ignored"])
                .env(WORKER, url),
        )
    }

    fn agent(python: &str, url: &str) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/agents");
        Self::start(Command::new(python).args(["-c", AGENT, url, "gpu", folder]))
    }

    fn start(command: &mut Command) -> Self {
        let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
        Self(quiet.spawn().unwrap())
    }

    fn is_over(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status();
        assert!(sent.unwrap().success());
    }
}

/// Suspends processes for longer than agents have their calls.
async fn suspend(processes: &[&Process]) {
    for process in processes {
        process.signal("-STOP");
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    for process in processes {
        process.signal("-CONT");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A panic here would leave the others running.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_in_python_and_workers_die_and_nothing_is_lost_or_twice() {
    let python = std::env::var("REATTEMPT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let import = Command::new(&python)
        .args(["-c", "import psycopg"])
        .stderr(Stdio::null())
        .status();
    if !import.is_ok_and(|status| status.success()) {
        eprintln!(
            "left out: {python} has no psycopg; `pip install \"psycopg[binary]\"`, or set REATTEMPT_PYTHON"
        );
        return;
    }
    let Some(server) = Server::postgres() else {
        return;
    };
    let number = |name: &str| Some(std::env::var(name).ok()?.parse::<u64>().unwrap());
    let seed = number("AGENT_SEED").unwrap_or_else(rand::random);
    let most = number("AGENT_KILLS").unwrap_or(6);
    println!("AGENT_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let own = format!("{}?application_name=own", server.url());
    let client = Client::new(Postgres::connect(&own).await.unwrap());
    let session = session(&own).await;
    session.batch_execute(LEDGER).await.unwrap();

    let start: [&dyn Fn() -> Process; 2] = [&|| Process::worker(&server.url()), &|| {
        Process::agent(&python, &server.url())
    }];
    let mut seats: [Vec<Process>; 2] =
        std::array::from_fn(|kind| (0..SEATS[kind]).map(|_| start[kind]()).collect());
    let mut tasks = Vec::new();
    let mut happened: BTreeMap<&str, u64> = BTreeMap::new();
    let kills = |happened: &BTreeMap<_, u64>| happened.get("kill").copied().unwrap_or_default();
    while kills(&happened) < most {
        for _ in 0..random.random_range(1..6) {
            let scene = format!("scene {}", tasks.len());
            tasks.push(client.submit(picture(scene)).await.unwrap());
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(50..500))).await;
        // Three of four are agents.
        let kind = usize::from(random.random_ratio(3, 4));
        let nth = random.random_range(0..SEATS[kind]);
        let all = ["kill", "kill", "kill", "suspend", "suspend all", "cut"];
        let what = all.choose(&mut random).unwrap();
        match *what {
            "kill" => seats[kind][nth] = start[kind](),
            "suspend" => suspend(&[&seats[kind][nth]]).await,
            // Agents finish before a worker can offer their calls again.
            "suspend all" => suspend(&seats.iter().rev().flatten().collect::<Vec<_>>()).await,
            _ => {
                let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE backend_type = 'client backend' AND application_name <> 'own' ORDER BY random() LIMIT 2";
                session.query(cut, &[]).await.unwrap();
            }
        }
        *happened.entry(*what).or_default() += 1;
        // An agent that is cut off ends.
        for (kind, seats) in seats.iter_mut().enumerate() {
            for process in seats {
                if process.is_over() {
                    *process = start[kind]();
                }
            }
        }
    }
    for task in &tasks {
        let ended = tokio::time::timeout(Duration::from_secs(120), task.wait()).await;
        let ended = ended.unwrap_or_else(|_| panic!("AGENT_SEED={seed}: {} is lost", task.id()));
        ended.unwrap_or_else(|error| panic!("AGENT_SEED={seed}: {} {error}", task.id()));
    }
    drop(seats);
    let row = session.query_one(COUNTS, &[]).await.unwrap();
    let [late, effects, finishes] = [1, 2, 3].map(|column| row.get::<_, i64>(column));
    println!(
        "{happened:?}, {} tasks, {effects} effects, {finishes} late finishes",
        tasks.len()
    );
    let all = i64::try_from(tasks.len()).unwrap();
    assert_eq!(row.get::<_, Vec<i64>>(0), [all; 7], "AGENT_SEED={seed}");
    assert_eq!(late, 0, "AGENT_SEED={seed}: recorded after `complete_by`");
}
