//! Creates the tables.

use tokio_postgres::{Client, IsolationLevel, Transaction};

use super::sqlstate::store_error;
use crate::store::{Salt, StoreError, tables};

const TABLES: &str = include_str!("../../../migrations/postgres.sql");

/// The advisory lock of processes that create tables: "retry-su" as a number.
const LOCK: i64 = 0x7265_7472_792d_7375;

/// Creates the tables if they are missing, even if other processes do so at the same time. Returns the salt of the
/// store.
pub(super) async fn create(client: &mut Client) -> Result<Salt, StoreError> {
    // Each statement sees what others have committed before it.
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::ReadCommitted);
    let transaction = transaction.start().await.map_err(store_error)?;
    // Wait for others as long as they take.
    let wait = format!(
        "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({LOCK})"
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
        create_new(&transaction).await?;
    }
    let rows = transaction
        .query("SELECT key, value FROM retry_meta", &[])
        .await
        .map_err(store_error)?;
    let rows: Vec<_> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let salt = tables::salt_of(&rows).map_err(StoreError::lasting)?;
    transaction.commit().await.map_err(store_error)?;
    Ok(salt)
}

async fn create_new(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction
        .batch_execute(TABLES)
        .await
        .map_err(store_error)?;
    for (key, value) in tables::rows_of(Salt::random()) {
        let insert = "INSERT INTO retry_meta (key, value) VALUES ($1, $2)";
        transaction
            .execute(insert, &[&key, &value])
            .await
            .map_err(store_error)?;
    }
    Ok(())
}
