//! Creates the tables and brings them up to date.

use rusqlite::{Connection, Error, TransactionBehavior};

use super::row::query_one;

/// One entry for each version, the oldest first. A released entry never changes.
const MIGRATIONS: [&str; 1] = [include_str!("../../../migrations/sqlite.sql")];

/// Brings the tables up to date, even if other processes do so at the same time. Returns the salt
/// of this store.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<u64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS retry_meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    )?;
    let value = |key: &str| {
        query_one(
            &transaction,
            "SELECT value FROM retry_meta WHERE key = ?1",
            [key],
            |row| row.get::<_, i64>(0),
        )
    };
    let version = value("version")?.unwrap_or_default();
    let applied = usize::try_from(version).unwrap_or(usize::MAX);
    if applied > MIGRATIONS.len() {
        let newest = MIGRATIONS.len();
        return Err(Error::ToSqlConversionFailure(
            format!("the tables have version {version} and this release knows {newest}; update this program")
                .into(),
        ));
    }
    let salt = match value("salt")? {
        Some(salt) => salt,
        None => rand::random(),
    };
    for migration in MIGRATIONS.iter().skip(applied) {
        transaction.execute_batch(migration)?;
    }
    let mut insert =
        transaction.prepare("INSERT OR REPLACE INTO retry_meta (key, value) VALUES (?1, ?2)")?;
    insert.execute((
        "version",
        i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX),
    ))?;
    insert.execute(("salt", salt))?;
    drop(insert);
    transaction.commit()?;
    Ok(salt.cast_unsigned())
}
