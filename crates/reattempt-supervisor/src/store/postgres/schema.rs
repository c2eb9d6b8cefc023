//! Creates the tables and brings them up to date.

use std::time::Duration;

use tokio_postgres::{Client, IsolationLevel, Transaction};

use super::sqlstate::store_error;
use crate::store::{ErrorKind, StoreError};
use crate::time::Time;

/// One entry for each revision, the oldest first. A released entry never changes.
const MIGRATIONS: [&str; 9] = [
    include_str!("../../../migrations/postgres.sql"),
    include_str!("../../../migrations/postgres-2.sql"),
    include_str!("../../../migrations/postgres-3.sql"),
    include_str!("../../../migrations/postgres-schedules.sql"),
    include_str!("../../../migrations/postgres-ready.sql"),
    include_str!("../../../migrations/postgres-children.sql"),
    include_str!("../../../migrations/postgres-lanes.sql"),
    include_str!("../../../migrations/postgres-limits.sql"),
    include_str!("../../../migrations/postgres-generations.sql"),
];

/// The version of the tables. It rises when a release before cannot work with them any more. Additions
/// leave it: processes of the release before and of this one run beside each other.
const VERSION: i64 = 1;

/// The advisory lock of migrations: "retry-su" as a number.
const LOCK: i64 = 0x7265_7472_792d_7375;

/// Drops the indexes of `retry_run` that only releases without the small tables read. A change of a
/// task writes all of its indexes if one of these is there.
const DROP_OLD_INDEXES: &str = "DO $$
DECLARE
    old REGCLASS;
BEGIN
    FOR old IN SELECT indexrelid FROM pg_index WHERE indrelid = 'retry_run'::regclass AND NOT indisunique LOOP
        EXECUTE 'DROP INDEX ' || old;
    END LOOP;
END $$";

/// How long a change of the tables waits for their users. Meanwhile everybody else waits for it, and
/// writers give up soon after.
const LOCKED_WITHIN: &str = "500ms";

/// How long it lets others work before it tries again.
const PAUSE: Duration = Duration::from_millis(500);

/// How many tasks of the releases before one transaction puts into the small tables.
const FILLED: i64 = 2_000;

/// Brings the tables up to date, even if other processes do so at the same time. Returns the salt
/// of this store.
pub(super) async fn migrate(client: &mut Client) -> Result<u64, StoreError> {
    let salt = change_tables(client).await?;
    loop {
        match fill(client).await {
            Err(error) if error.kind() == ErrorKind::Locked => tokio::time::sleep(PAUSE).await,
            result => {
                if !result? {
                    break;
                }
            }
        }
    }
    Ok(salt)
}

/// Puts some tasks into the small tables that were stored before there was a trigger. Several
/// processes take turns. Returns whether there may be more.
async fn fill(client: &mut Client) -> Result<bool, StoreError> {
    let transaction = begin(client).await?;
    let limits =
        format!("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '{LOCKED_WITHIN}'");
    transaction
        .batch_execute(&limits)
        .await
        .map_err(store_error)?;
    // Most processes find nothing, and may have no right to lock it.
    if value(&transaction, "fill_from").await?.is_none() {
        return Ok(false);
    }
    let from = "SELECT value FROM retry_meta WHERE key = 'fill_from' FOR UPDATE";
    let from = transaction
        .query_opt(from, &[])
        .await
        .map_err(store_error)?;
    let Some(from) = from.map(|row| row.get::<_, i64>(0)) else {
        return Ok(false);
    };
    // The newest tasks come first, because most of those that go on are among them: an update without
    // a change makes the trigger place them. Everybody locks tasks in the order of their numbers.
    let fill = "WITH part AS MATERIALIZED (SELECT id FROM retry_run WHERE id < $1 ORDER BY id DESC LIMIT $2),
             run AS MATERIALIZED (
                 SELECT id, state, updated_at FROM retry_run WHERE id >= (SELECT min(id) FROM part) AND id < $1 ORDER BY id FOR NO KEY UPDATE
             ), ended AS (
                 INSERT INTO retry_ended SELECT id, state, updated_at FROM run WHERE state > 2 ON CONFLICT DO NOTHING
             ), others AS (
                 UPDATE retry_run SET state = state WHERE id = ANY (ARRAY(SELECT id FROM run WHERE state < 3))
             )
         SELECT min(id), count(*) FROM part";
    let filled = transaction
        .query_one(fill, &[&from, &FILLED])
        .await
        .map_err(store_error)?;
    let is_last = filled.get::<_, i64>(1) < FILLED;
    let (sql, next) = if is_last {
        (
            "DELETE FROM retry_meta WHERE key = 'fill_from' AND $1::bigint IS NULL",
            None,
        )
    } else {
        let sql = "UPDATE retry_meta SET value = $1 WHERE key = 'fill_from'";
        (sql, filled.get::<_, Option<i64>>(0))
    };
    transaction
        .execute(sql, &[&next])
        .await
        .map_err(store_error)?;
    transaction.commit().await.map_err(store_error)?;
    Ok(!is_last)
}

/// Begins a transaction in which each statement sees what others have committed before it.
async fn begin(client: &mut Client) -> Result<Transaction<'_>, StoreError> {
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::ReadCommitted);
    transaction.start().await.map_err(store_error)
}

/// Applies the migrations that are missing. Other processes wait also while this one lets the users of
/// the tables work: otherwise these would wait for one process after the other.
async fn change_tables(client: &mut Client) -> Result<u64, StoreError> {
    let mut transaction = begin(client).await?;
    // Wait for other migrations as long as they take.
    let wait = format!(
        "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({LOCK});
         SET LOCAL lock_timeout = '{LOCKED_WITHIN}'"
    );
    transaction
        .batch_execute(&wait)
        .await
        .map_err(store_error)?;
    let salt = loop {
        let attempt = transaction.transaction().await.map_err(store_error)?;
        match apply_migrations(&attempt).await {
            Err(error) if error.kind() == ErrorKind::Locked => {
                attempt.rollback().await.map_err(store_error)?;
                tokio::time::sleep(PAUSE).await;
            }
            result => {
                let salt = result?;
                attempt.commit().await.map_err(store_error)?;
                break salt;
            }
        }
    };
    transaction.commit().await.map_err(store_error)?;
    Ok(salt)
}

async fn apply_migrations(transaction: &Transaction<'_>) -> Result<u64, StoreError> {
    let exists = "SELECT to_regclass('retry_meta') IS NOT NULL";
    let exists = transaction
        .query_one(exists, &[])
        .await
        .map_err(store_error)?;
    // A user without the right to create tables can use existing ones.
    if !exists.get::<_, bool>(0) {
        let create = "CREATE TABLE retry_meta (key TEXT PRIMARY KEY, value BIGINT NOT NULL)";
        transaction
            .batch_execute(create)
            .await
            .map_err(store_error)?;
    }
    let version = value(transaction, "version").await?.unwrap_or_default();
    if version > VERSION {
        return Err(StoreError::lasting(format!(
            "the tables have version {version} and this release knows {VERSION}; update this program"
        )));
    }
    // The first release wrote no revision.
    let revision = value(transaction, "revision").await?.unwrap_or(version);
    let applied = usize::try_from(revision).unwrap_or(usize::MAX);
    let newest = MIGRATIONS.len();
    for migration in MIGRATIONS.iter().skip(applied) {
        transaction
            .batch_execute(migration)
            .await
            .map_err(store_error)?;
    }
    if applied < newest {
        if applied == 0 {
            // Nobody of a release before is there who would read them.
            transaction
                .batch_execute(DROP_OLD_INDEXES)
                .await
                .map_err(store_error)?;
        } else if applied < 2 {
            // Releases before may still use the tables.
            let now = Time::of_this_machine().as_micros();
            set_value(transaction, "old_seen", now).await?;
        }
        set_value(transaction, "version", VERSION).await?;
        let newest = i64::try_from(newest).unwrap_or(i64::MAX);
        set_value(transaction, "revision", newest).await?;
    }
    let stored = value(transaction, "salt").await?;
    let salt = stored.unwrap_or_else(rand::random);
    if stored.is_none() {
        set_value(transaction, "salt", salt).await?;
    }
    Ok(salt.cast_unsigned())
}

/// Reads a number of the store.
async fn value(transaction: &Transaction<'_>, key: &str) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT value FROM retry_meta WHERE key = $1";
    let row = transaction
        .query_opt(sql, &[&key])
        .await
        .map_err(store_error)?;
    Ok(row.map(|row| row.get(0)))
}

/// Writes a number of the store.
async fn set_value(transaction: &Transaction<'_>, key: &str, value: i64) -> Result<(), StoreError> {
    let sql = "INSERT INTO retry_meta (key, value) VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    let result = transaction.execute(sql, &[&key, &value]).await;
    result.map(drop).map_err(store_error)
}
