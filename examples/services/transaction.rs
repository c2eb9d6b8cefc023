//! Two writers in conflict: each reads the balance before either has written it. The one that loses
//! begins its whole transaction again, reads what the other has left, and no withdrawal is lost.
//!
//! On PostgreSQL, that of `REATTEMPT_POSTGRES=postgres://...` or one started here; on SQLite where neither is
//! to be had.
//!
//! `cargo run -p service-examples --example transaction`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

#[path = "../servers/mod.rs"]
mod servers;

use std::error::Error;
use std::{env, fs, process};

use reattempt::{Retry, retry};
use servers::Server;
use sqlx::{ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Type};
use sqlx::{Pool, Postgres, Sqlite};
use tokio::sync::Barrier;

const TABLE: &str = "
    CREATE TABLE reattempt_account (balance bigint NOT NULL);
    INSERT INTO reattempt_account VALUES (100);
";

struct Bank<DB: Database> {
    pool: Pool<DB>,
    begin: &'static str,
    both: Barrier,
}

/// Any database; for one alone `Pool<DB>` is `PgPool`, and there are no bounds.
impl<DB: Database> Bank<DB>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    DB::Arguments: IntoArguments<DB>,
    for<'q> i64: Encode<'q, DB> + Decode<'q, DB> + Type<DB>,
    usize: ColumnIndex<DB::Row>,
{
    /// Of a conflict `sqlx::Error` knows that nothing was executed, so it is retried. A commit whose answer
    /// is lost is not: `idempotent = false`. What `?` drops is rolled back.
    #[retry(max = 10, base = "5ms", idempotent = false, context = attempt, on_retry = |retry| report(who, retry))]
    async fn withdraw(&self, who: &str, amount: i64) -> sqlx::Result<()> {
        let mut tx = self.pool.begin_with(self.begin).await?;
        let read = sqlx::query_scalar("SELECT balance FROM reattempt_account");
        let balance: i64 = read.fetch_one(&mut *tx).await?;
        println!(
            "{who}, attempt {}: the balance is {balance}",
            attempt.number()
        );
        if !attempt.is_retry() {
            self.both.wait().await; // until the other has read as well
        }
        let write = sqlx::query("UPDATE reattempt_account SET balance = $1").bind(balance - amount);
        write.execute(&mut *tx).await?;
        tx.commit().await
    }

    /// What two withdrawals leave of 100.
    async fn withdraw_twice(url: &str, begin: &'static str) -> sqlx::Result<i64> {
        let (pool, both) = (Pool::connect(url).await?, Barrier::new(2));
        let bank = Self { pool, begin, both };
        sqlx::raw_sql("DROP TABLE IF EXISTS reattempt_account")
            .execute(&bank.pool)
            .await?;
        sqlx::raw_sql(TABLE).execute(&bank.pool).await?;
        tokio::try_join!(bank.withdraw("Ann", 10), bank.withdraw("Bob", 20))?;
        let left = sqlx::query_scalar("SELECT balance FROM reattempt_account");
        let left = left.fetch_one(&bank.pool).await?;
        sqlx::raw_sql("DROP TABLE reattempt_account")
            .execute(&bank.pool)
            .await?;
        bank.pool.close().await;
        Ok(left)
    }
}

fn report(who: &str, retry: &Retry<'_, sqlx::Error>) {
    let (attempt, delay) = (retry.attempt(), retry.delay().as_millis());
    println!(
        "{who}, attempt {attempt}: {}; the next in {delay} ms",
        retry.cause()
    );
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let strict = "BEGIN ISOLATION LEVEL SERIALIZABLE";
    let left = if let Ok(url) = env::var("REATTEMPT_POSTGRES") {
        println!("on PostgreSQL at {url}");
        Bank::<Postgres>::withdraw_twice(&url, strict).await?
    } else if let Some(server) = Server::postgres() {
        let url = server.url();
        println!("on a PostgreSQL of its own");
        Bank::<Postgres>::withdraw_twice(&url, strict).await?
    } else {
        println!("on SQLite instead");
        let folder = env::temp_dir().join(format!("reattempt-transaction-{}", process::id()));
        fs::create_dir_all(&folder)?;
        let url = format!("sqlite://{}/data?mode=rwc", folder.display());
        let left = Bank::<Sqlite>::withdraw_twice(&url, "BEGIN").await;
        fs::remove_dir_all(&folder)?;
        left?
    };
    println!("{left} of 100 are left");
    assert_eq!(left, 70);
    Ok(())
}
