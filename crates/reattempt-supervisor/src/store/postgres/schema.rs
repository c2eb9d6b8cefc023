//! The tables, and their version.

use tokio_postgres::{Client, Transaction};

use super::trouble::trouble;
use crate::store::StoreError;

/// One entry for each version, oldest first; what was released never changes.
const MIGRATIONS: [&str; 1] = [include_str!("../../../migrations/postgres.sql")];

/// "retry-su" as a number: whoever migrates in this database holds it.
const LOCK: i64 = 0x7265_7472_792d_7375;

/// Brings the tables up to date, whoever else does the same at the same time. Answers with the number of this store.
pub(super) async fn migrate(client: &mut Client) -> Result<u64, StoreError> {
    let transaction = client.transaction().await.map_err(trouble)?;
    // Others may wait for as long as it takes.
    let wait = format!("SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({LOCK})");
    transaction.batch_execute(&wait).await.map_err(trouble)?;
    let there = "SELECT to_regclass('retry_meta') IS NOT NULL";
    let there = transaction.query_one(there, &[]).await.map_err(trouble)?;
    // Who may not make tables can use those that somebody else has made.
    if !there.get::<_, bool>(0) {
        let make = "CREATE TABLE retry_meta (key TEXT PRIMARY KEY, value BIGINT NOT NULL)";
        transaction.batch_execute(make).await.map_err(trouble)?;
    }
    let version = value(&transaction, "version").await?.unwrap_or_default();
    let applied = usize::try_from(version).unwrap_or(usize::MAX);
    let newest = MIGRATIONS.len();
    if applied > newest {
        return Err(StoreError::lasting(format!(
            "the tables have version {version} and this release knows {newest}; update it"
        )));
    }
    for migration in MIGRATIONS.iter().skip(applied) {
        transaction
            .batch_execute(migration)
            .await
            .map_err(trouble)?;
    }
    if applied < newest {
        keep(
            &transaction,
            "version",
            i64::try_from(newest).unwrap_or(i64::MAX),
        )
        .await?;
    }
    let there = value(&transaction, "salt").await?;
    let salt = there.unwrap_or_else(rand::random);
    if there.is_none() {
        keep(&transaction, "salt", salt).await?;
    }
    transaction.commit().await.map_err(trouble)?;
    Ok(salt.cast_unsigned())
}

async fn value(transaction: &Transaction<'_>, key: &str) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT value FROM retry_meta WHERE key = $1";
    let row = transaction.query_opt(sql, &[&key]).await.map_err(trouble)?;
    Ok(row.map(|row| row.get(0)))
}

async fn keep(transaction: &Transaction<'_>, key: &str, value: i64) -> Result<(), StoreError> {
    let sql = "INSERT INTO retry_meta (key, value) VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    let kept = transaction.execute(sql, &[&key, &value]).await;
    kept.map(drop).map_err(trouble)
}
