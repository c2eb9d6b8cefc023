//! Transactions on SQLite.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs, process};

use futures::future::join_all;
use reattempt::Verdict::{self, Permanent, Refused};
use reattempt::{Classify as _, RetryError, retry};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};
use sqlx::{Connection as _, Executor as _, SqliteConnection, SqlitePool};
use tokio::task::JoinSet;

/// A database of the test's own, on which nobody waits for a lock.
struct File(PathBuf);

impl File {
    async fn new(test: &str, tables: &'static str) -> Self {
        let folder = env::temp_dir().join(format!("reattempt-sqlite-{test}-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = Self(folder);
        let mut connection = file.connect().await;
        connection.execute(tables).await.unwrap();
        // Not by dropping it: it would still hold its locks for a while.
        connection.close().await.unwrap();
        file
    }

    fn options(&self) -> SqliteConnectOptions {
        SqliteConnectOptions::new()
            .filename(self.0.join("data"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .busy_timeout(Duration::ZERO)
    }

    async fn connect(&self) -> SqliteConnection {
        SqliteConnection::connect_with(&self.options())
            .await
            .unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const TABLES: &str = "
    CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
    INSERT INTO account VALUES (0, 1000), (1, 1000), (2, 1000), (3, 1000);
";

/// One that takes the lock at once, and one that reads first and takes it when it writes.
const BEGINNINGS: [&str; 2] = ["BEGIN IMMEDIATE", "BEGIN DEFERRED"];

// Whoever has the lock gets through, so that time is the limit and not a number; the delays are drawn
// from 0 up, so that those who have lost do not come back together.
#[retry(max = "unlimited", deadline = "1m", base = "2ms", cap = "50ms", jitter = "full",
    idempotent = false, on_retry = |retry| {
        assert_eq!(retry.error().map(judged).unwrap().1, Refused);
        retries.fetch_add(1, Ordering::Relaxed);
    })]
async fn transfer(
    pool: &SqlitePool,
    begin: &'static str,
    from: i32,
    to: i32,
    retries: &AtomicU32,
) -> Result<(), RetryError<sqlx::Error>> {
    let mut tx = pool.begin_with(begin).await?;
    let mut balances = [0_i64; 2];
    for (id, balance) in [from, to].into_iter().zip(&mut balances) {
        *balance = sqlx::query_scalar("SELECT balance FROM account WHERE id = ?")
            .bind(id)
            .fetch_one(&mut *tx)
            .await?;
    }
    for (id, balance) in [(from, balances[0] - 1), (to, balances[1] + 1)] {
        sqlx::query("UPDATE account SET balance = ? WHERE id = ?")
            .bind(balance)
            .bind(id)
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_transfer_commits() {
    let file = File::new("conflicts", TABLES).await;
    let pool = SqlitePoolOptions::new().max_connections(4);
    let pool = pool.connect_with(file.options()).await.unwrap();
    let mut tasks = JoinSet::new();
    for task in 0..4 {
        let pool = pool.clone();
        tasks.spawn(async move {
            let retries = AtomicU32::new(0);
            for (i, begin) in (0..50).zip(BEGINNINGS.into_iter().cycle()) {
                let (from, to) = ((task + i) % 4, (task + i + 1 + i % 3) % 4);
                transfer(&pool, begin, from, to, &retries).await.unwrap();
            }
            retries.into_inner()
        });
    }
    let retries: u32 = tasks.join_all().await.into_iter().sum();
    println!("200 transfers with {retries} retries");
    assert!(retries > 0);
    let sum = sqlx::query_scalar("SELECT sum(balance) FROM account");
    assert_eq!(sum.fetch_one(&pool).await.ok(), Some(4000));
    pool.close().await;
}

/// The result code, and the verdict.
fn judged(error: &sqlx::Error) -> (String, Verdict) {
    let said = error.as_database_error().expect("SQLite said nothing");
    (said.code().unwrap().into_owned(), error.classify())
}

async fn of(connection: &mut SqliteConnection, statement: &'static str) -> (String, Verdict) {
    judged(
        &connection
            .execute(statement)
            .await
            .expect_err("it succeeded"),
    )
}

fn said(code: &str, verdict: Verdict) -> (String, Verdict) {
    (code.to_owned(), verdict)
}

#[tokio::test]
async fn a_lock_that_another_has_is_refused() {
    let file = File::new("busy", TABLES).await;
    let (mut one, mut two) = (file.connect().await, file.connect().await);
    one.execute("BEGIN IMMEDIATE").await.unwrap();
    assert_eq!(of(&mut two, "BEGIN IMMEDIATE").await, said("5", Refused));
    let update = "UPDATE account SET balance = 0";
    assert_eq!(of(&mut two, update).await, said("5", Refused));
    one.execute("ROLLBACK").await.unwrap();
    two.execute(update).await.unwrap();
}

/// `BUSY_SNAPSHOT`: what this transaction has read is not true any more, and never will be.
#[tokio::test]
async fn a_transaction_that_read_too_early_goes_on_failing() {
    let file = File::new("snapshot", TABLES).await;
    let (mut one, mut two) = (file.connect().await, file.connect().await);
    let mut tx = one.begin().await.unwrap();
    tx.execute("SELECT * FROM account").await.unwrap();
    let update = "UPDATE account SET balance = 0";
    two.execute(update).await.unwrap();
    for _ in 0..3 {
        assert_eq!(of(&mut tx, update).await, said("517", Refused));
    }
    drop(tx);
    let mut tx = one.begin().await.unwrap();
    tx.execute(update).await.unwrap();
    tx.commit().await.unwrap();
}

/// Connections with one cache: sqlx waits for the lock, and SQLite says `LOCKED` to the second of two
/// who wait for each other.
#[tokio::test]
async fn a_deadlock_is_refused() {
    let file = File::new("locked", TABLES).await;
    let options = file.options().shared_cache(true);
    let mut connections = Vec::new();
    for _ in 0..2 {
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        connection
            .execute("BEGIN; SELECT * FROM account")
            .await
            .unwrap();
        connections.push(connection);
    }
    let both_write = connections.into_iter().map(async |mut connection| {
        let update = "UPDATE account SET balance = 0";
        let written = connection.execute(update).await;
        // So that the other one can go on.
        connection.execute("ROLLBACK").await.unwrap();
        written
    });
    let written = join_all(both_write).await;
    let failed: Vec<_> = written
        .iter()
        .filter_map(|done| done.as_ref().err())
        .collect();
    assert_eq!(
        failed.into_iter().map(judged).collect::<Vec<_>>(),
        [said("6", Refused)]
    );
}

#[tokio::test]
async fn mistakes_are_final() {
    let file = File::new("mistakes", TABLES).await;
    let mut one = file.connect().await;
    for (statement, code) in [
        ("INSERT INTO account VALUES (0, 0)", "1555"),
        ("INSERT INTO account VALUES (4, NULL)", "1299"),
        ("SELECT * FROM nowhere", "1"),
    ] {
        assert_eq!(of(&mut one, statement).await, said(code, Permanent));
    }
    let missing = SqliteConnectOptions::new().filename(file.0.join("missing"));
    let error = SqliteConnection::connect_with(&missing).await.unwrap_err();
    assert_eq!(judged(&error), said("14", Permanent));
}
