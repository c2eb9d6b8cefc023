//! Creates the tables.

use rusqlite::{Connection, Error, TransactionBehavior};

use super::row::query_one;
use crate::store::{Salt, tables};

const TABLES: &str = include_str!("../../../migrations/sqlite.sql");

/// Creates the tables if they are missing, even if other processes do so at the same time. Returns the salt of the
/// store.
pub(super) fn create(connection: &mut Connection) -> rusqlite::Result<Salt> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let exists = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'retry_meta'";
    if query_one(&transaction, exists, [], |_| Ok(()))?.is_none() {
        transaction.execute_batch(TABLES)?;
        let mut insert =
            transaction.prepare("INSERT INTO retry_meta (key, value) VALUES (?1, ?2)")?;
        for row in tables::rows_of(Salt::random()) {
            insert.execute(row)?;
        }
    }
    let mut select = transaction.prepare("SELECT key, value FROM retry_meta")?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    drop(select);
    let salt =
        tables::salt_of(&rows).map_err(|error| Error::ToSqlConversionFailure(error.into()))?;
    transaction.commit()?;
    Ok(salt)
}
