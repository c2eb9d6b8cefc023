//! Steps that agents run, on PostgreSQL: what the four functions accept, and that nothing is lost or recorded twice
//! while agents and workers die.
#![cfg(feature = "postgres")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::kit::session;
use crate::servers::Server;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt::Policy;
use reattempt_supervisor::store::{Resolution, Verdict};
use reattempt_supervisor::{
    AgentError, Client, Memory, Postgres, Scheduler, SchedulerHandle, State, Step, StepError,
    SubmitError, Supervisor, SupervisorHandle, TaskHandle, TaskId, WorkflowContext, step, workflow,
};
use serde_json::Value;
use tokio_postgres::error::SqlState;

#[step(queue = "gpu", retry(max = 3, base = "1ms"), complete_by = "30s")]
async fn render(step: &Step, scene: String) -> Result<String, AgentError>;

#[workflow(max_failures = 3)]
async fn film(context: &WorkflowContext, scene: String) -> Result<String, StepError> {
    render(context, scene).await
}

#[step(queue = "shop", retry(idempotent = false), complete_by = "30s")]
async fn charge(step: &Step, amount: u32) -> Result<u32, AgentError>;

#[workflow]
async fn order(context: &WorkflowContext, amount: u32) -> Result<u32, StepError> {
    charge(context, amount).await
}

/// Its agent needs the arguments, which the record has not.
#[step(queue = "gpu", args = "ignore", retry(max = 2, base = "1ms", fallback = |_| Ok(0)))]
async fn count(step: &Step, words: Vec<String>, most: u32) -> Result<u32, AgentError>;

#[workflow]
async fn counting(context: &WorkflowContext, words: Vec<String>) -> Result<u32, StepError> {
    count(context, words, 7).await
}

/// Drops the call of its step.
#[workflow]
async fn impatient(context: &WorkflowContext, scene: String) -> Result<u32, StepError> {
    tokio::select! {
        _ = render(context, scene) => {}
        () = context.sleep(Duration::from_millis(1)) => {}
    }
    context.sleep(Duration::from_secs(86_400)).await;
    Ok(0)
}

/// A scheduler with a supervisor that looks often.
struct Worker(SchedulerHandle, SupervisorHandle);

impl Worker {
    async fn start(url: &str) -> (Self, Client) {
        let client = Client::new(Postgres::connect(url).await.unwrap());
        let delays = Policy::new()
            .unlimited()
            .base(Duration::from_millis(5))
            .cap(Duration::from_millis(50));
        let scheduler = Scheduler::new(&client)
            .register(film)
            .register(order)
            .register(counting)
            .register(impatient)
            .delays(delays);
        let scheduler = scheduler.unsupervised().start().unwrap();
        let supervisor = Supervisor::new(&client)
            .every(Duration::from_millis(20))
            .delays(delays);
        (Self(scheduler, supervisor.start()), client)
    }

    async fn stop(self) {
        self.1.stop().await;
        self.0.stop(Duration::from_secs(1)).await;
    }
}

/// Takes a call as soon as there is one.
async fn take(agent: &tokio_postgres::Client, queue: &str, seconds: f64) -> Value {
    for _ in 0..2000 {
        if let Some(call) = try_take(agent, queue, seconds).await.unwrap() {
            return call;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nobody offers a call in queue {queue}");
}

async fn try_take(
    agent: &tokio_postgres::Client,
    queue: &str,
    seconds: f64,
) -> Result<Option<Value>, tokio_postgres::Error> {
    let row = agent
        .query_one("SELECT retry_take($1, $2)::text", &[&queue, &seconds])
        .await?;
    let call: Option<&str> = row.get(0);
    Ok(call.map(|call| serde_json::from_str(call).unwrap()))
}

/// The numbers of states in the store.
const PROCESSED: i16 = 3;
const PARKED: i16 = 7;

async fn state_of(session: &tokio_postgres::Client, task: TaskId) -> Option<i16> {
    let row = session
        .query_opt("SELECT state FROM retry_run WHERE id = $1", &[&task.0])
        .await;
    row.unwrap().map(|row| row.get(0))
}

fn name_of(call: &Value) -> (i64, i32) {
    let attempt = call["attempt"].as_i64().unwrap();
    (
        call["call"].as_i64().unwrap(),
        i32::try_from(attempt).unwrap(),
    )
}

async fn finish(
    agent: &tokio_postgres::Client,
    (call, attempt): (i64, i32),
    result: &str,
) -> Result<bool, tokio_postgres::Error> {
    let row = agent
        .query_one(
            "SELECT retry_finish($1, $2, $3)",
            &[&call, &attempt, &result],
        )
        .await?;
    Ok(row.get(0))
}

async fn fail(agent: &tokio_postgres::Client, (call, attempt): (i64, i32), verdict: &str) -> bool {
    let sql = "SELECT retry_fail($1, $2, 'no memory', $3)";
    let row = agent.query_one(sql, &[&call, &attempt, &verdict]).await;
    row.unwrap().get(0)
}

/// Waits until agents may take the only step of a task, and returns what its progress says of them.
async fn agents_of(task: &TaskHandle<String>) -> String {
    loop {
        let running = task.progress().await.unwrap().running;
        if let [step] = &running[..] {
            assert_eq!(step.name, "render");
            assert_eq!(step.due.is_some(), step.worker.0.ends_with(" taken"));
            return step.worker.0.clone();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_finishes_a_step_and_the_policy_judges_failures() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (worker, client) = Worker::start(&server.url()).await;
    let agent = session(&server.url()).await;
    let task = client
        .submit(film("sea".to_owned()).key("one"))
        .await
        .unwrap();
    assert_eq!(agents_of(&task).await, "agents of gpu: attempt 1, offered");
    let first = take(&agent, "gpu", 20.0).await;
    assert_eq!(agents_of(&task).await, "agents of gpu: attempt 1, taken");
    assert_eq!(
        (first["step"].as_str(), &first["input"]),
        (Some("render"), &serde_json::json!(["sea"]))
    );
    // No worker holds the task meanwhile.
    let state = agent
        .query_one("SELECT state FROM retry_run", &[])
        .await
        .unwrap();
    assert!(state.get::<_, i16>(0) <= 2);
    assert!(fail(&agent, name_of(&first), "transient").await);
    assert!(
        fail(&agent, name_of(&first), "transient").await,
        "a repetition counts"
    );
    let second = take(&agent, "gpu", 20.0).await;
    assert_eq!(second["key"], first["key"]);
    assert!(name_of(&second).1 > name_of(&first).1);
    assert!(!finish(&agent, name_of(&first), "\"old\"").await.unwrap());
    assert!(finish(&agent, name_of(&second), "\"waves\"").await.unwrap());
    assert!(
        finish(&agent, name_of(&second), "\"waves\"").await.unwrap(),
        "a repetition counts"
    );
    assert!(
        !finish(&agent, name_of(&second), "\"others\"")
            .await
            .unwrap()
    );
    assert_eq!(task.wait().await.unwrap(), "waves");
    assert_eq!(task.progress().await.unwrap().running, []);

    let task = client
        .submit(film("fire".to_owned()).key("two"))
        .await
        .unwrap();
    let call = take(&agent, "gpu", 20.0).await;
    assert!(fail(&agent, name_of(&call), "permanent").await);
    let error = task.wait().await.unwrap_err();
    assert!(
        matches!(&error, SubmitError::Ended(_, State::Error, why) if why.contains("no memory")),
        "{error}"
    );

    // Three attempts of one run, and then another run of the step.
    let task = client
        .submit(film("wind".to_owned()).key("three"))
        .await
        .unwrap();
    for _ in 0..4 {
        let call = take(&agent, "gpu", 20.0).await;
        assert!(fail(&agent, name_of(&call), "transient").await);
    }
    let call = take(&agent, "gpu", 20.0).await;
    let failures = agent
        .query_one(
            "SELECT failures FROM retry_failure WHERE run_id = $1",
            &[&task.id().0],
        )
        .await;
    assert_eq!(failures.unwrap().get::<_, i32>(0), 1);
    assert!(finish(&agent, name_of(&call), "\"air\"").await.unwrap());
    assert_eq!(task.wait().await.unwrap(), "air");
    worker.stop().await;
}

#[tokio::test]
async fn an_agent_gets_arguments_that_are_not_recorded_and_a_fallback_ends_the_step() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (worker, client) = Worker::start(&server.url()).await;
    let agent = session(&server.url()).await;
    let words = vec!["a".to_owned()];
    let task = client.submit(counting(words)).await.unwrap();
    for _ in 0..2 {
        let call = take(&agent, "gpu", 30.0).await;
        assert_eq!(call["input"], serde_json::json!([["a"], 7]));
        assert!(fail(&agent, name_of(&call), "transient").await);
    }
    assert_eq!(task.wait().await.unwrap(), 0);
    worker.stop().await;
}

#[tokio::test]
async fn the_answer_to_a_dropped_call_wakes_its_task_once() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (worker, client) = Worker::start(&server.url()).await;
    let agent = session(&server.url()).await;
    let task = client.submit(impatient("sea".to_owned())).await.unwrap();
    let call = take(&agent, "gpu", 30.0).await;
    assert!(finish(&agent, name_of(&call), r#""film""#).await.unwrap());
    for _ in 0..3 {
        let due = "SELECT due FROM retry_call";
        while agent.query_one(due, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let sent =
            "SELECT count(*) FROM retry_signal WHERE name = 'reattempt:call' AND run_id = $1";
        let sent = agent.query_one(sent, &[&task.id().0]).await.unwrap();
        assert_eq!(sent.get::<_, i64>(0), 1);
        // As it is after half a minute.
        let later = "UPDATE retry_call SET due = 0";
        agent.execute(later, &[]).await.unwrap();
    }
    client.cancel(task.id()).await.unwrap();
    worker.stop().await;
}

/// As long as nobody has recorded it, an agent may do it again.
#[tokio::test]
async fn what_is_no_value_of_the_step_is_not_recorded() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (worker, client) = Worker::start(&server.url()).await;
    let agent = session(&server.url()).await;
    let task = client.submit(film("sea".to_owned())).await.unwrap();
    for wrong in ["7", r#""\ud800""#] {
        let call = take(&agent, "gpu", 30.0).await;
        assert!(finish(&agent, name_of(&call), wrong).await.unwrap());
        while state_of(&agent, task.id()).await != Some(PARKED) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let sql = "SELECT error FROM retry_run WHERE id = $1";
        let row = agent.query_one(sql, &[&task.id().0]).await.unwrap();
        let error: &str = row.get(0);
        assert!(
            error.contains("no value of its type") && error.contains("resubmit"),
            "{error}"
        );
        client.resubmit(task.id()).await.unwrap();
    }
    let call = take(&agent, "gpu", 30.0).await;
    assert!(finish(&agent, name_of(&call), r#""film""#).await.unwrap());
    assert_eq!(task.wait().await.unwrap(), "film");

    // An operator says what an agent has done that may not do it again.
    let task = client.submit(order(7)).await.unwrap();
    let call = take(&agent, "shop", 30.0).await;
    assert!(finish(&agent, name_of(&call), r#""paid""#).await.unwrap());
    while state_of(&agent, task.id()).await != Some(PARKED) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let sql = "SELECT error, failed_seq FROM retry_run WHERE id = $1";
    let row = agent.query_one(sql, &[&task.id().0]).await.unwrap();
    let (error, failed): (&str, i32) = (row.get(0), row.get(1));
    assert!(error.contains("`resolve`"), "{error}");
    let resolution = Resolution {
        seq: failed,
        verdict: Verdict::Done("7".to_owned()),
        by: "Ada".to_owned(),
        why: "the log".to_owned(),
    };
    client.resolve(task.id(), resolution).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 7);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_agent_records_nothing_and_another_one_finishes() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (worker, client) = Worker::start(&server.url()).await;
    let (agent, mut open) = (session(&server.url()).await, session(&server.url()).await);
    let task = client
        .submit(film("sea".to_owned()).key("one"))
        .await
        .unwrap();
    let late = take(&agent, "gpu", 0.05).await;
    // In time by its own clock, and committed too late.
    let transaction = open.transaction().await.unwrap();
    let row = transaction
        .query_one(
            "SELECT retry_extend($1, $2, 3)",
            &[&name_of(&late).0, &name_of(&late).1],
        )
        .await;
    if row.unwrap().get(0) {
        let (call, attempt) = name_of(&late);
        let finished = transaction
            .query_one(
                "SELECT retry_finish($1, $2, '\"late\"')",
                &[&call, &attempt],
            )
            .await;
        assert!(finished.unwrap().get::<_, bool>(0));
        tokio::time::sleep(Duration::from_millis(3100)).await;
        let error = transaction.commit().await.unwrap_err();
        assert_eq!(error.code().map(SqlState::code), Some("RS007"));
    } else {
        drop(transaction);
    }
    let next = take(&agent, "gpu", 20.0).await;
    assert_eq!(next["key"], late["key"]);
    assert!(!finish(&agent, name_of(&late), "\"late\"").await.unwrap());
    assert!(finish(&agent, name_of(&next), "\"waves\"").await.unwrap());
    assert_eq!(task.wait().await.unwrap(), "waves");

    let task = client.submit(order(7).key("two")).await.unwrap();
    let call = take(&agent, "shop", 0.01).await;
    for _ in 0..2000 {
        if state_of(&agent, task.id()).await == Some(PARKED) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(
        state_of(&agent, task.id()).await,
        Some(PARKED),
        "a step that must not run twice is not offered again"
    );
    assert!(!finish(&agent, name_of(&call), "7").await.unwrap());
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_input_has_a_clear_error() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (worker, client) = Worker::start(&server.url()).await;
    let mut agent = session(&server.url()).await;
    let task = client.submit(film("sea".to_owned())).await.unwrap();
    let transaction = agent.transaction().await.unwrap();
    let call = loop {
        let row = transaction
            .query_one("SELECT retry_take('gpu')::text", &[])
            .await
            .unwrap();
        if let Some(call) = row.get::<_, Option<&str>>(0) {
            break serde_json::from_str::<Value>(call).unwrap();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let (id, attempt) = name_of(&call);
    let same = transaction
        .query_one("SELECT retry_finish($1, $2, '1')", &[&id, &attempt])
        .await;
    assert!(
        same.unwrap_err()
            .as_db_error()
            .unwrap()
            .message()
            .contains("autocommit")
    );
    transaction.rollback().await.unwrap();
    for (sql, why) in [
        ("retry_take(NULL)", "which queue"),
        ("retry_take('gpu', -1)", "from 0"),
        ("retry_take('gpu', 'NaN')", "from 0"),
        ("retry_take('gpu', 1e30)", "from 0"),
        ("retry_extend(NULL, 1)", "which call"),
        ("retry_extend(1, 1, -5)", "from 0"),
        ("retry_finish(1, NULL, '1')", "which call"),
        ("retry_finish(1, 1, '{')", "json"),
        ("retry_finish(1, 1, NULL)", "null"),
        ("retry_fail(1, 1, NULL)", "error"),
        ("retry_fail(1, 1, 'x', 'bad')", "permanent"),
        ("retry_fail(1, 1, 'x', 'throttled', -1)", "from 0"),
    ] {
        let error = agent
            .query_one(&format!("SELECT {sql}::text"), &[])
            .await
            .expect_err(sql);
        let message = error.as_db_error().unwrap().message().to_owned();
        assert!(message.contains(why), "{sql}: {message}");
    }
    for sql in [
        "retry_extend(99, 1)",
        "retry_finish(99, 1, '1')",
        "retry_fail(99, 1, 'x')",
    ] {
        let row = agent
            .query_one(&format!("SELECT {sql}"), &[])
            .await
            .unwrap();
        assert!(!row.get::<_, bool>(0), "{sql}");
    }
    let call = take(&agent, "gpu", 20.0).await;
    assert!(finish(&agent, name_of(&call), "\"waves\"").await.unwrap());
    assert_eq!(task.wait().await.unwrap(), "waves");
    worker.stop().await;
}

#[tokio::test]
async fn a_store_without_agents_says_so() {
    let client = Client::new(Memory::new());
    let scheduler = Scheduler::new(&client).register(film).start().unwrap();
    let task = client.submit(film("sea".to_owned())).await.unwrap();
    let error = task.wait().await.unwrap_err().to_string();
    assert!(error.contains("PostgreSQL"), "{error}");
    scheduler.stop(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_task_takes_its_call_back() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (worker, client) = Worker::start(&server.url()).await;
    let agent = session(&server.url()).await;
    let task = client.submit(film("sea".to_owned())).await.unwrap();
    let call = take(&agent, "gpu", 20.0).await;
    client.cancel(task.id()).await.unwrap();
    let error = task.wait().await.unwrap_err();
    assert!(
        matches!(error, SubmitError::Ended(_, State::Cancelled, _)),
        "{error}"
    );
    assert!(!finish(&agent, name_of(&call), "\"waves\"").await.unwrap());
    assert_eq!(try_take(&agent, "gpu", 1.0).await.unwrap(), None);
    worker.stop().await;
}

/// Opens a session, although the server may end it at once.
async fn new_session(url: &str) -> tokio_postgres::Client {
    loop {
        let connecting = tokio_postgres::connect(url, tokio_postgres::NoTls);
        if let Ok((client, connection)) = connecting.await {
            tokio::spawn(connection);
            return client;
        }
    }
}

/// One agent that misbehaves by chance until nothing is left to do. Each effect is a line in `effect`.
async fn misbehave(url: String, seed: u64, is_over: Arc<AtomicBool>) {
    let mut random = StdRng::seed_from_u64(seed);
    let mut agent = new_session(&url).await;
    while !is_over.load(Ordering::Relaxed) {
        if agent.is_closed() {
            agent = new_session(&url).await;
        }
        // An agent that dies with a long time costs the test as much.
        let is_hasty = random.random_bool(0.3);
        let seconds = if is_hasty { 0.03 } else { 2.0 };
        let Ok(Some(call)) = try_take(&agent, "gpu", seconds).await else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let own = name_of(&call);
        match random.random_range(0..8) {
            // It dies without a word.
            0 if is_hasty => agent = new_session(&url).await,
            1 => {
                let sql = "SELECT retry_fail($1, $2, 'busy', 'refused')";
                drop(agent.query_one(sql, &[&own.0, &own.1]).await);
            }
            // It is suspended, and finishes late.
            2 if is_hasty => {
                tokio::time::sleep(Duration::from_millis(60)).await;
                let counts = finish(&agent, own, "\"late\"").await;
                assert!(!counts.unwrap_or(false), "a late finish counts");
            }
            // It is cut off in the transaction of its finish.
            3 => {
                finish_with_effect(
                    &mut agent,
                    own,
                    &call,
                    "SELECT pg_terminate_backend(pg_backend_pid())",
                )
                .await;
            }
            _ => {
                if finish_with_effect(&mut agent, own, &call, "SELECT").await {
                    drop(finish(&agent, own, "\"done\"").await);
                }
            }
        }
    }
}

/// Finishes a call in the transaction of its effect, with a statement before the commit. Returns whether it is committed.
async fn finish_with_effect(
    agent: &mut tokio_postgres::Client,
    own: (i64, i32),
    call: &Value,
    last: &str,
) -> bool {
    let Ok(transaction) = agent.transaction().await else {
        return false;
    };
    let sql = "SELECT retry_finish($1, $2, '\"done\"')";
    let finished = transaction.query_one(sql, &[&own.0, &own.1]).await;
    if !finished.is_ok_and(|row| row.get(0)) {
        return false;
    }
    let effect = "INSERT INTO effect VALUES ($1)";
    let noted = transaction.execute(effect, &[&call["key"].as_str()]).await;
    if noted.is_err() || transaction.batch_execute(last).await.is_err() {
        return false;
    }
    transaction.commit().await.is_ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_and_workers_die_and_nothing_is_lost_or_twice() {
    const TASKS: usize = 150;
    let Some(server) = Server::postgres() else {
        return;
    };
    let seed = std::env::var("SEED").map_or_else(|_| rand::random(), |seed| seed.parse().unwrap());
    println!("SEED={seed}");
    let url = server.url();
    let (worker, client) = Worker::start(&url).await;
    let killer = session(&url).await;
    killer
        .batch_execute("CREATE TABLE effect (key TEXT)")
        .await
        .unwrap();
    let mut tasks = Vec::new();
    for nth in 0..TASKS {
        tasks.push(
            client
                .submit(film(format!("scene {nth}")).key(format!("{nth}")))
                .await
                .unwrap(),
        );
    }
    let is_over = Arc::<AtomicBool>::default();
    let agents: Vec<_> = (0..4)
        .map(|nth| tokio::spawn(misbehave(url.clone(), seed ^ nth, Arc::clone(&is_over))))
        .collect();
    let mut random = StdRng::seed_from_u64(seed);
    let mut worker = Some(worker);
    let mut kills = 0;
    while kills < 200 {
        tokio::time::sleep(Duration::from_millis(random.random_range(10..40))).await;
        // A connection of a worker or of an agent.
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY random() LIMIT 2";
        kills += killer.query(kill, &[]).await.unwrap().len();
        if random.random_bool(0.05) {
            worker.take().unwrap().stop().await;
            worker = Some(Worker::start(&url).await.0);
        }
    }
    let mut ends: BTreeMap<bool, usize> = BTreeMap::new();
    for task in &tasks {
        let id = task.id();
        let waiting = async {
            loop {
                if let Some(state) = state_of(&killer, id).await
                    && state >= PROCESSED
                {
                    return state;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(120), waiting).await;
        let ended = ended.unwrap_or_else(|_| panic!("SEED={seed}: task {id} is lost"));
        *ends.entry(ended == PROCESSED).or_default() += 1;
    }
    is_over.store(true, Ordering::Relaxed);
    for agent in agents {
        agent.await.unwrap();
    }
    // Nothing under two keys, nothing twice, and an effect for each result.
    let row = killer.query_one(
        "SELECT (SELECT count(*) FROM effect), (SELECT count(DISTINCT key) FROM effect), (SELECT count(*) FROM retry_run WHERE state = 3)",
        &[],
    );
    let row = row.await.unwrap();
    println!(
        "kills {kills}, ends {ends:?}, effects {}",
        row.get::<_, i64>(0)
    );
    let [effects, keys, processed] = [0, 1, 2].map(|column| row.get::<_, i64>(column));
    assert_eq!((effects, keys), (processed, processed), "SEED={seed}");
    worker.unwrap().stop().await;
}
