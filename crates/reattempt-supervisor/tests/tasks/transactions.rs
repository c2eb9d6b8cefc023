//! Steps that are transactions of the application: they happen with their record or not at all.
#![cfg(feature = "sqlx09")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::servers::Server;
use reattempt_supervisor::{
    Client, Committed, Memory, Postgres, RecordKind, Retention, Scheduler, Sqlite, State, Step,
    StepError, Task, WorkflowContext, step, transaction::Transaction, workflow,
};
use rusqlite::Error;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

/// How often something goes wrong.
#[derive(Clone, Default)]
struct Faults(Arc<AtomicU32>);

impl Faults {
    fn are_left(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
            .is_ok()
    }
}

async fn insert(
    transaction: &mut sqlx::PgTransaction<'_>,
    sql: &'static str,
    what: &str,
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(sql)
        .bind(what)
        .fetch_one(&mut **transaction)
        .await
}

const BOOK: &str = "INSERT INTO booking (what) VALUES ($1) RETURNING id";
const ONCE: &str = "INSERT INTO once (what) VALUES ($1) RETURNING 0::bigint";
const CANCEL: &str = "INSERT INTO cancelled (what) VALUES ($1) RETURNING 0::bigint";

#[step(transaction, complete_by = "10s", undo = cancel)]
async fn book(
    step: &Step,
    #[with] pool: &PgPool,
    what: &str,
) -> Result<Committed<i64>, sqlx::Error> {
    let mut transaction = pool.begin().await?;
    step.limit(&mut transaction).await?;
    let id = insert(&mut transaction, BOOK, what).await?;
    step.commit(transaction, id).await
}

#[step(transaction)]
async fn cancel(
    step: &Step,
    #[with] pool: &PgPool,
    what: &str,
    id: &i64,
) -> Result<Committed<()>, sqlx::Error> {
    let mut transaction = pool.begin().await?;
    insert(&mut transaction, CANCEL, &format!("{what} {}", *id > 0)).await?;
    step.commit(transaction, ()).await
}

/// Books, and then goes wrong in its own way.
#[step(transaction, retry(max = 2, base = "1ms", on(_)), complete_by = "1s", undo = cancel)]
async fn book_badly(
    step: &Step,
    #[with] pool: &PgPool,
    #[with] faults: &Faults,
    what: &str,
) -> Result<Committed<i64>, sqlx::Error> {
    let mut transaction = pool.begin().await?;
    step.limit(&mut transaction).await?;
    let id = insert(&mut transaction, BOOK, what).await?;
    if !faults.are_left() {
        return step.commit(transaction, id).await;
    }
    match what {
        "panic" => panic!("no seat"),
        "error" => Err(sqlx::Error::RowNotFound),
        "slow" => {
            sqlx::query("SELECT pg_sleep(60)")
                .execute(&mut *transaction)
                .await?;
            Err(sqlx::Error::RowNotFound)
        }
        // It fails at the COMMIT.
        "deferred" => {
            insert(&mut transaction, ONCE, what).await?;
            step.commit(transaction, id).await
        }
        // Its constraint waits for another transaction, and must not hold the task meanwhile.
        "waits" => {
            let mut other = pool.begin().await?;
            insert(&mut other, ONCE, what).await?;
            insert(&mut transaction, ONCE, what).await?;
            let look = async {
                let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
                while sqlx::query_scalar::<_, i64>(sql).fetch_one(pool).await? == 0 {}
                let sql = "SELECT FROM retry_run WHERE id = $1 FOR NO KEY UPDATE NOWAIT";
                let lock = sqlx::query(sql).bind(step.task().0).execute(pool).await;
                if lock.is_err() {
                    faults.0.store(1, Ordering::SeqCst);
                }
                other.rollback().await
            };
            let (committed, looked) = tokio::join!(step.commit(transaction, id), look);
            looked?;
            committed
        }
        // The step says that it has failed, and the transaction is committed.
        "liar" => {
            step.commit(transaction, id).await?;
            Err(sqlx::Error::RowNotFound)
        }
        "nested" => {
            let nested = sqlx::Acquire::begin(&mut transaction).await?;
            step.commit(nested, id).await
        }
        // Another worker takes the task meanwhile.
        "lost" => {
            let sql =
                "UPDATE retry_run SET fence = fence + 1, state = 0, owner = NULL WHERE id = $1";
            sqlx::query(sql).bind(step.task().0).execute(pool).await?;
            step.commit(transaction, id).await
        }
        other => panic!("{other}"),
    }
}

/// What a driver without an adapter does.
#[step(transaction)]
async fn book_by_hand(
    step: &Arc<Step>,
    #[with] pool: &PgPool,
    what: &str,
) -> Result<Committed<i64>, String> {
    let mut transaction = pool.begin().await.map_err(|error| error.to_string())?;
    let id = insert(&mut transaction, BOOK, what)
        .await
        .map_err(|error| error.to_string())?;
    let pending = step.record(id).map_err(|error| error.to_string())?;
    let recorded = sqlx::query("SELECT retry_record($1)")
        .bind(pending.text())
        .execute(&mut *transaction);
    recorded.await.map_err(|error| error.to_string())?;
    // A statement of the application that waits here holds the task for a while only.
    let limits = "SELECT current_setting('statement_timeout') || current_setting('idle_in_transaction_session_timeout')";
    let limits = sqlx::query_scalar::<_, String>(limits).fetch_one(&mut *transaction);
    assert_eq!(limits.await.map_err(|error| error.to_string())?, "2s2s");
    transaction
        .commit()
        .await
        .map_err(|error| error.to_string())?;
    if what == "forgotten" {
        // The step does not report that it is committed.
        drop(pending);
        return Err("forgotten".to_owned());
    }
    Ok(pending.succeeded())
}

/// Fails for good, and records itself afterwards nevertheless.
#[step(transaction)]
async fn book_late(
    step: &Arc<Step>,
    #[with] late: &Late,
    what: &str,
) -> Result<Committed<i64>, String> {
    let mut late = late.0.lock().unwrap();
    if what == "text" {
        let pending = step.record(1).map_err(|error| error.to_string())?;
        late.text = Some(pending.text().to_owned());
        pending.rolled_back();
    }
    late.step = Some(Arc::clone(step));
    Err("no seat".to_owned())
}

/// A step that has failed, and the text that it would have recorded.
#[derive(Clone, Default)]
struct Late(Arc<Mutex<LateStep>>);

#[derive(Default)]
struct LateStep {
    step: Option<Arc<Step>>,
    text: Option<String>,
}

/// Returns the error of the late step, or `recorded`.
#[step]
async fn record_late(
    _: &Step,
    #[with] late: &Late,
    #[with] pool: &PgPool,
) -> Result<String, String> {
    let LateStep { step, text } = std::mem::take(&mut *late.0.lock().unwrap());
    let Some(text) = text else {
        let late = step.unwrap().record(1_i64);
        return Ok(late.map_or_else(|error| error.to_string(), |_| "recorded".to_owned()));
    };
    let recorded = sqlx::query("SELECT retry_record($1)").bind(text);
    Ok(match recorded.execute(pool).await {
        Ok(_) => "recorded".to_owned(),
        Err(error) => error.to_string(),
    })
}

#[workflow]
async fn late(context: &WorkflowContext, what: String) -> Result<String, StepError> {
    let booked = book_late(context, &what).await;
    assert!(booked.is_err());
    record_late(context).await
}

#[step]
async fn fails(_: &Step) -> Result<(), String> {
    Err("no money".to_owned())
}

/// Ends its own connection, as often as there are faults. The type of the error says how much is known of it.
macro_rules! cut {
    ($name:ident, $error:ty) => {
        #[step(transaction)]
        async fn $name(
            step: &Step,
            #[with] pool: &PgPool,
            #[with] faults: &Faults,
        ) -> Result<Committed<i64>, $error> {
            let mut transaction = pool.begin().await?;
            let id = insert(&mut transaction, BOOK, stringify!($name)).await?;
            if faults.are_left() {
                let end = "SELECT pg_terminate_backend(pg_backend_pid())";
                sqlx::query(end).execute(&mut *transaction).await?;
            }
            let committed = step.commit(transaction, id).await?;
            Ok(committed)
        }
    };
}

#[derive(Debug)]
struct OwnError(sqlx::Error);

impl std::fmt::Display for OwnError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no booking")
    }
}

impl std::error::Error for OwnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl From<sqlx::Error> for OwnError {
    fn from(error: sqlx::Error) -> Self {
        Self(error)
    }
}

cut!(cut_known, sqlx::Error);
cut!(cut_inside, OwnError);
cut!(cut_any, anyhow::Error);

#[workflow]
async fn cut(context: &WorkflowContext, nth: u32) -> Result<i64, StepError> {
    match nth {
        0 => cut_known(context).await,
        1 => cut_inside(context).await,
        _ => cut_any(context).await,
    }
}

#[workflow]
async fn trip(context: &WorkflowContext, what: String) -> Result<i64, StepError> {
    let (one, two) = tokio::try_join!(book(context, &what), book_by_hand(context, &what))?;
    Ok(one.max(two) - one.min(two))
}

#[workflow]
async fn unpaid(context: &WorkflowContext, what: String) -> Result<i64, StepError> {
    let id = book(context, &what).await?;
    fails(context).await?;
    Ok(id)
}

#[workflow]
async fn bad(context: &WorkflowContext, what: String) -> Result<i64, StepError> {
    book_badly(context, &what).await
}

struct World {
    pool: PgPool,
    client: Client,
    faults: Faults,
    _server: Server,
}

impl World {
    async fn new() -> Option<Self> {
        let server = Server::postgres()?;
        let url = server.url();
        let client = Client::new(Postgres::connect(&url).await.unwrap());
        let pool = PgPoolOptions::new()
            .max_connections(4)
            .connect(&url)
            .await
            .unwrap();
        let sql = "CREATE TABLE booking (id BIGSERIAL, what TEXT); CREATE TABLE cancelled (what TEXT);
             CREATE TABLE once (what TEXT UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO once VALUES ('deferred')";
        sqlx::raw_sql(sql).execute(&pool).await.unwrap();
        Some(Self {
            pool,
            client,
            faults: Faults::default(),
            _server: server,
        })
    }

    fn scheduler(&self) -> Scheduler {
        Scheduler::new(&self.client)
            .register(trip)
            .register(unpaid)
            .register(bad)
            .register(late)
            .register(cut)
            .with(self.pool.clone())
            .with(Late::default())
            .with(self.faults.clone())
            .poll(Duration::from_millis(20))
            .delays(
                reattempt::Policy::new()
                    .unlimited()
                    .base(Duration::from_millis(1))
                    .cap(Duration::from_millis(5)),
            )
    }

    /// Runs a task of `bad` that goes wrong so often.
    async fn run(&self, what: &str, faults: u32) -> Task {
        self.faults.0.store(faults, Ordering::SeqCst);
        let task = self.client.submit(bad(what.to_owned())).await.unwrap();
        tokio::time::timeout(Duration::from_secs(60), task.follow(|_| {}))
            .await
            .unwrap()
            .unwrap()
    }

    async fn count(&self, table: &str, what: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table} WHERE what LIKE $1");
        let query = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).bind(what);
        query.fetch_one(&self.pool).await.unwrap()
    }
}

/// Nothing of a step with a lost connection is left, so it runs again without a `retry`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_connection_is_another_run() {
    let Some(world) = World::new().await else {
        return;
    };
    let running = world.scheduler().start().unwrap();
    for (nth, what) in (0..).zip(["cut_known", "cut_inside", "cut_any"]) {
        world.faults.0.store(2, Ordering::SeqCst);
        let task = world.client.submit(cut(nth)).await.unwrap();
        let ended = task.follow(|_| {}).await.unwrap();
        assert_eq!(ended.state, State::Processed, "{what}: {:?}", ended.error);
        assert_eq!(world.count("booking", what).await, 1);
    }
    running.stop(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_happens_with_its_record_or_not_at_all() {
    let Some(world) = World::new().await else {
        return;
    };
    let mut transaction = world.pool.begin().await.unwrap();
    world.client.check_database(&mut transaction).await.unwrap();
    drop(transaction);
    let running = world.scheduler().start().unwrap();
    // Side by side, and by hand.
    let task = world.client.submit(trip("train".to_owned())).await.unwrap();
    assert_eq!(task.wait().await.unwrap(), 1);
    let progress = task.progress().await.unwrap();
    let kinds: Vec<_> = progress
        .history
        .iter()
        .map(|record| (record.kind, record.ord))
        .collect();
    assert_eq!(kinds, [(RecordKind::Done, 0), (RecordKind::Done, 1)]);
    assert_eq!(world.count("booking", "train").await, 2);
    // It is undone once, in a transaction as well.
    let task = world
        .client
        .submit(unpaid("boat".to_owned()))
        .await
        .unwrap();
    assert_eq!(task.follow(|_| {}).await.unwrap().state, State::Compensated);
    assert_eq!(world.count("cancelled", "boat true").await, 1);
    // What was rolled back has never happened, and is not undone.
    for (what, faults, state) in [
        ("error", 2, State::Processed),
        ("panic", 1, State::Processed),
        ("slow", 1, State::Processed),
        ("deferred", 1, State::Processed),
        ("waits", 1, State::Processed),
        ("liar", 1, State::Processed),
        ("lost", 1, State::Processed),
        ("error", 1_000, State::Error),
    ] {
        let before = world.count("booking", what).await;
        let task = world.run(what, faults).await;
        assert_eq!(task.state, state, "{what}: {task:?}");
        if state == State::Processed {
            assert_eq!(world.faults.0.load(Ordering::SeqCst), 0, "{what}");
        }
        let booked = world.count("booking", what).await - before;
        assert_eq!(booked, i64::from(state == State::Processed), "{what}");
        assert_eq!(
            world.count("cancelled", &format!("{what}%")).await,
            0,
            "{what}"
        );
    }
    let task = world.run("nested", 1).await;
    assert_eq!(task.state, State::Parked);
    assert!(task.error.unwrap().contains("nested in another one"));
    assert_eq!(world.count("booking", "nested").await, 0);
    // The step had not reported the commit: the record shows it.
    let task = world
        .client
        .submit(trip("forgotten".to_owned()))
        .await
        .unwrap();
    task.wait().await.unwrap();
    assert_eq!(world.count("booking", "forgotten").await, 2);
    // What has failed for good is not recorded as done later.
    for (what, refusal) in [("step", "has ended"), ("text", "has recorded the step")] {
        let task = world.client.submit(late(what.to_owned())).await.unwrap();
        let message = task.wait().await.unwrap();
        assert!(message.contains(refusal), "{what}: {message}");
        let kinds = task.progress().await.unwrap().history;
        let kinds: Vec<_> = kinds.iter().map(|record| record.kind).collect();
        assert_eq!(kinds, [RecordKind::Failed, RecordKind::Done], "{what}");
    }
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_database_is_refused() {
    let Some(world) = World::new().await else {
        return;
    };
    let other = Client::new(Memory::new());
    let mut transaction = world.pool.begin().await.unwrap();
    let error = other
        .check_database(&mut transaction)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("not in the database of the store"),
        "{error}"
    );
    drop(transaction);
    let mut transaction = world.pool.begin().await.unwrap();
    sqlx::query("SET LOCAL search_path = nobody")
        .execute(&mut *transaction)
        .await
        .unwrap();
    let error = world
        .client
        .check_database(&mut transaction)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("its `search_path`"), "{error}");
    drop(transaction);
    let scheduler = Scheduler::new(&other)
        .register(unpaid)
        .with(world.pool.clone());
    let running = scheduler.start().unwrap();
    let task = other.submit(unpaid("plane".to_owned())).await.unwrap();
    let end = task.follow(|_| {}).await.unwrap();
    assert_eq!(end.state, State::Parked);
    assert!(
        end.error
            .unwrap()
            .contains("not in the database of the store")
    );
    assert_eq!(world.count("booking", "plane").await, 0);
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_are_submitted_in_transactions_of_sqlx() {
    let Some(world) = World::new().await else {
        return;
    };
    let task = |what: &str| {
        bad(what.to_owned())
            .key("k")
            .headers("{\"a\":1}")
            .delay(Duration::from_secs(3_600))
    };
    let mut transaction = world.pool.begin().await.unwrap();
    let submitted = world
        .client
        .submit_in(&mut transaction, task("a"))
        .await
        .unwrap();
    assert!(submitted.is_new);
    let again = world
        .client
        .submit_in(&mut transaction, task("b"))
        .await
        .unwrap();
    assert_eq!(
        (again.id, again.same_arguments),
        (submitted.id, Some(false))
    );
    let strict = world
        .client
        .submit_in(&mut transaction, task("b").strict())
        .await;
    assert!(strict.unwrap_err().to_string().contains("other arguments"));
    let text = world.client.submission_text(task("a")).unwrap();
    let answer = sqlx::query_scalar::<_, String>("SELECT retry_submit($1)").bind(text);
    let answer = answer.fetch_one(&mut *transaction).await.unwrap();
    assert!(
        answer.contains(&format!("\"id\" : {}", submitted.id)),
        "{answer}"
    );
    assert!(
        world
            .client
            .task::<i64>(submitted.id)
            .progress()
            .await
            .is_err()
    );
    transaction.commit().await.unwrap();
    // It is the same task as one that the client submits.
    let own = world
        .client
        .submit(task("a").key("own"))
        .await
        .unwrap()
        .progress()
        .await
        .unwrap()
        .task;
    let it = world
        .client
        .task::<i64>(submitted.id)
        .progress()
        .await
        .unwrap()
        .task;
    assert!(it.wake_at > it.created_at);
    let same = Task {
        id: own.id,
        key: own.key.clone(),
        wake_at: own.wake_at,
        created_at: own.created_at,
        updated_at: own.updated_at,
        ..it
    };
    assert_eq!(same, own);
    // Its key stays when it is pruned.
    world.client.cancel(submitted.id).await.unwrap();
    let day = Duration::from_secs(86_400);
    let retention = Retention {
        keys: day,
        ..Retention::from(Duration::ZERO)
    };
    assert_eq!(world.client.prune(retention, 9).await.unwrap(), 1);
    let mut transaction = world.pool.begin().await.unwrap();
    let again = world
        .client
        .submit_in(&mut transaction, task("b").strict())
        .await
        .unwrap();
    assert_eq!((again.id, again.same_arguments), (submitted.id, None));
}

#[step(transaction, retry(max = 2, base = "1ms", on(Error::QueryReturnedNoRows)), complete_by = "10s", undo = release)]
async fn reserve(
    step: &Step,
    #[with] store: &Sqlite,
    #[with] faults: &Faults,
    what: &str,
) -> Result<Committed<i64>, Error> {
    let (what, is_bad) = (what.to_owned(), faults.are_left());
    let work = move |transaction: &rusqlite::Transaction<'_>| {
        transaction.execute("INSERT INTO booking (what) VALUES (?1)", [&what])?;
        match &*what {
            "panic" if is_bad => panic!("no seat"),
            "error" if is_bad => Err(Error::QueryReturnedNoRows),
            // The transaction ends here, and what comes after it would be kept at once.
            "swallowed" | "committed" if is_bad => {
                let end = match &*what {
                    "committed" => "COMMIT",
                    _ => "INSERT OR ROLLBACK INTO once VALUES ('once')",
                };
                let _ = transaction.execute(end, []);
                let _ = transaction.execute("INSERT INTO booking (what) VALUES (?1)", [&what]);
                Ok(1)
            }
            // SQLite would count for hours.
            "endless" if is_bad => transaction.query_row(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
                [],
                |row| row.get(0),
            ),
            _ => Ok(transaction.last_insert_rowid()),
        }
    };
    step.commit_on(store, work).await
}

#[step(transaction)]
async fn release(
    step: &Step,
    #[with] store: &Sqlite,
    _what: &str,
    id: &i64,
) -> Result<Committed<()>, Error> {
    let id = *id;
    let work = move |transaction: &rusqlite::Transaction<'_>| {
        let sql = "UPDATE booking SET what = 'released' WHERE rowid = ?1";
        transaction.execute(sql, [id]).map(drop)
    };
    step.commit_on(store, work).await
}

#[workflow]
async fn seat(context: &WorkflowContext, what: String) -> Result<i64, StepError> {
    let id = reserve(context, &what).await?;
    if what == "unpaid" {
        fails(context).await?;
    }
    Ok(id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_is_a_transaction_of_the_file() {
    let file = std::env::temp_dir().join(format!("retry-transactions-{}.db", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let store = Sqlite::open(&file).await.unwrap();
    let own = rusqlite::Connection::open(&file).unwrap();
    let sql = "CREATE TABLE booking (what TEXT); CREATE TABLE once (what TEXT UNIQUE); INSERT INTO once VALUES ('once')";
    own.execute_batch(sql).unwrap();
    let (client, faults) = (Client::new(store.clone()), Faults::default());
    let scheduler = Scheduler::new(&client)
        .register(seat)
        .with(store)
        .with(faults.clone());
    let delays = reattempt::Policy::new()
        .unlimited()
        .base(Duration::from_millis(1));
    let running = scheduler.delays(delays).start().unwrap();
    for (what, bad, state, left) in [
        ("good", 0, State::Processed, 1),
        ("panic", 1, State::Processed, 1),
        ("error", 1, State::Processed, 1),
        ("endless", 1, State::Error, 0),
        ("swallowed", 1, State::Error, 0),
        ("committed", 1, State::Error, 0),
        ("unpaid", 0, State::Compensated, 0),
    ] {
        faults.0.store(bad, Ordering::SeqCst);
        let task = client.submit(seat(what.to_owned())).await.unwrap();
        let end = task.follow(|_| {}).await.unwrap();
        assert_eq!(end.state, state, "{what}: {end:?}");
        let sql = "SELECT count(*) FROM booking WHERE what = ?1";
        let rows: i64 = own.query_row(sql, [what], |row| row.get(0)).unwrap();
        assert_eq!(rows, left, "{what}");
        if what == "error" {
            let history = task.progress().await.unwrap().history;
            let attempts: Vec<_> = history.iter().map(|record| record.attempts).collect();
            assert_eq!(attempts, [2]);
        }
    }
    running.stop(Duration::from_secs(1)).await;
    let _ = std::fs::remove_file(&file);
}

/// A value that cannot become JSON without a panic.
#[derive(serde::Deserialize)]
struct Unwritable;

impl serde::Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("no JSON")
    }
}

#[step(transaction)]
async fn write_badly(step: &Step, #[with] store: &Sqlite) -> Result<Committed<Unwritable>, Error> {
    step.commit_on(store, |_| Ok(Unwritable)).await
}

#[workflow(max_failures = 0, on_failure = "keep")]
async fn unwritable(context: &WorkflowContext, _input: ()) -> Result<(), StepError> {
    write_badly(context).await.map(drop)
}

/// An error that cannot be made of one of SQLite without a panic.
#[derive(Debug)]
struct Unspeakable;

impl std::fmt::Display for Unspeakable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("unspeakable")
    }
}

impl From<Error> for Unspeakable {
    fn from(_: Error) -> Self {
        panic!("no error")
    }
}

#[step(transaction)]
async fn end_early(step: &Step, #[with] store: &Sqlite) -> Result<Committed<()>, Unspeakable> {
    let end = |transaction: &rusqlite::Transaction<'_>| {
        transaction.execute_batch("ROLLBACK").unwrap();
        Ok(())
    };
    step.commit_on(store, end).await
}

#[workflow(max_failures = 0, on_failure = "keep")]
async fn unspeakable(context: &WorkflowContext, _input: ()) -> Result<(), StepError> {
    end_early(context).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_or_an_error_that_panics_ends_its_step_and_not_the_store() {
    let file = std::env::temp_dir().join(format!("retry-unwritable-{}.db", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let store = Sqlite::open(&file).await.unwrap();
    let client = Client::new(store.clone());
    let running = Scheduler::new(&client)
        .register(unwritable)
        .register(unspeakable)
        .with(store)
        .start()
        .unwrap();
    let first = client.submit(unwritable(())).await.unwrap();
    let second = client.submit(unspeakable(())).await.unwrap();
    for (task, message) in [(first, "no JSON"), (second, "no error")] {
        let end = task.follow(|_| {}).await.unwrap();
        assert_eq!(end.state, State::Error);
        let error = end.error.unwrap();
        assert!(
            error.contains(&format!("its code panicked: {message}")),
            "{error}"
        );
    }
    running.stop(Duration::from_secs(1)).await;
    let _ = std::fs::remove_file(&file);
}

/// A transaction whose server has vanished without a word when it is to commit.
struct Vanishing;

impl Transaction for Vanishing {
    type Error = sqlx::Error;

    async fn query_text(&mut self, _: &'static str, _: String) -> Result<String, sqlx::Error> {
        Ok("ok".to_owned())
    }

    fn commit(self) -> impl Future<Output = Result<(), sqlx::Error>> + Send {
        std::future::pending()
    }

    fn sqlstate(_: &sqlx::Error) -> Option<String> {
        None
    }
}

#[step(transaction)]
async fn vanish(step: &Step) -> Result<Committed<i64>, sqlx::Error> {
    step.commit(Vanishing, 1).await
}

#[workflow(max_failures = 0)]
async fn vanishes(context: &WorkflowContext, _input: ()) -> Result<i64, StepError> {
    vanish(context).await
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_a_commit_does_not_come() {
    let client = Client::new(Memory::new());
    let running = Scheduler::new(&client).register(vanishes).start().unwrap();
    let task = client.submit(vanishes(())).await.unwrap();
    let end = tokio::time::timeout(Duration::from_secs(60), task.follow(|_| {}));
    let end = end.await.unwrap().unwrap();
    assert!(
        end.error.as_deref().unwrap().contains("was lost"),
        "{end:?}"
    );
    running.stop(Duration::from_secs(1)).await;
}
