//! Creates the tables and brings them up to date.

use std::time::Duration;

use tokio_postgres::{Client, Transaction};

use super::sqlstate::store_error;
use crate::store::{ErrorKind, StoreError};

/// One entry for each revision, the oldest first. A released entry never changes.
const MIGRATIONS: [&str; 4] = [
    include_str!("../../../migrations/postgres.sql"),
    include_str!("../../../migrations/postgres-2.sql"),
    include_str!("../../../migrations/postgres-3.sql"),
    include_str!("../../../migrations/postgres-schedules.sql"),
];

/// The version of the tables. It rises when a release before cannot work with them any more. Additions
/// leave it: processes of the release before and of this one run beside each other.
const VERSION: i64 = 1;

/// The advisory lock of migrations: "retry-su" as a number.
const LOCK: i64 = 0x7265_7472_792d_7375;

/// The indexes of the second revision: their names, and what they index. Claims read the tasks of one
/// workflow and version, so that others cost nothing; they read suspects apart.
///
/// On tables that are in use they are built beside the work. A release that is not used beside the
/// first one may drop `retry_run_ready`.
const INDEXES: [(&str, &str); 2] = [
    (
        "retry_run_claim",
        "retry_run (queue, workflow, version, priority, wake_at, id) WHERE state IN (0, 2) AND deaths < 2",
    ),
    (
        "retry_run_suspects",
        "retry_run (queue, workflow, version, priority, wake_at, id) WHERE state IN (0, 2) AND deaths >= 2",
    ),
];

/// How long a change of the tables waits for their users. Meanwhile everybody else waits for it.
const LOCKED_WITHIN: &str = "2s";

/// How long it lets others work before it tries again.
const PAUSE: Duration = Duration::from_millis(500);

/// How often building an index may fail.
const FAILURES: u32 = 10;

/// Brings the tables up to date, even if other processes do so at the same time. Returns the salt
/// of this store.
pub(super) async fn migrate(client: &mut Client) -> Result<u64, StoreError> {
    let salt = loop {
        match change_tables(client).await {
            Err(error) if error.kind() == ErrorKind::Locked => tokio::time::sleep(PAUSE).await,
            result => break result?,
        }
    };
    for (name, indexed) in INDEXES {
        build_index(client, name, indexed).await?;
    }
    Ok(salt)
}

/// Builds an index beside the work of others, unless it is there or somebody is at it: without it
/// claims are slow, and correct. A build that somebody has ended starts anew.
async fn build_index(client: &Client, name: &str, indexed: &str) -> Result<(), StoreError> {
    let state = "SELECT indisvalid OR EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = indexrelid)
         FROM pg_index WHERE indexrelid = to_regclass($1)";
    let mut failures: u32 = 0;
    loop {
        let state = client.query_opt(state, &[&name]).await;
        if state.map_err(store_error)?.is_some_and(|row| row.get(0)) {
            return Ok(());
        }
        let drop = format!("DROP INDEX CONCURRENTLY IF EXISTS {name}");
        let create = format!("CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {indexed}");
        for sql in ["SET statement_timeout = 0", &*drop, &*create] {
            match client.batch_execute(sql).await.map_err(store_error) {
                // Processes that begin at the same moment get in each other's way.
                Err(_) if failures < FAILURES && !client.is_closed() => {
                    failures = failures.saturating_add(1);
                    tokio::time::sleep(PAUSE).await;
                    break;
                }
                result => result?,
            }
        }
    }
}

async fn change_tables(client: &mut Client) -> Result<u64, StoreError> {
    let transaction = client.transaction().await.map_err(store_error)?;
    // Wait for other migrations as long as they take.
    let wait = format!(
        "SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({LOCK});
         SET LOCAL lock_timeout = '{LOCKED_WITHIN}'"
    );
    transaction
        .batch_execute(&wait)
        .await
        .map_err(store_error)?;
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
    let version = value(&transaction, "version").await?.unwrap_or_default();
    if version > VERSION {
        return Err(StoreError::lasting(format!(
            "the tables have version {version} and this release knows {VERSION}; update this program"
        )));
    }
    // The first release wrote no revision.
    let revision = value(&transaction, "revision").await?.unwrap_or(version);
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
            // Nobody of the release before is there who would read it.
            let drop = "DROP INDEX retry_run_ready";
            transaction.batch_execute(drop).await.map_err(store_error)?;
            for (name, indexed) in INDEXES {
                let create = format!("CREATE INDEX {name} ON {indexed}");
                transaction
                    .batch_execute(&create)
                    .await
                    .map_err(store_error)?;
            }
        } else if applied == 1 {
            // The first release may still use the tables.
            let now = crate::time::Time::of_this_machine().as_micros();
            set_value(&transaction, "old_seen", now).await?;
        }
        set_value(&transaction, "version", VERSION).await?;
        let newest = i64::try_from(newest).unwrap_or(i64::MAX);
        set_value(&transaction, "revision", newest).await?;
    }
    let stored = value(&transaction, "salt").await?;
    let salt = stored.unwrap_or_else(rand::random);
    if stored.is_none() {
        set_value(&transaction, "salt", salt).await?;
    }
    transaction.commit().await.map_err(store_error)?;
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
