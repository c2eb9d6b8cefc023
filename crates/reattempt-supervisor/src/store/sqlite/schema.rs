//! The tables, and their version.

use rusqlite::{Connection, Error, TransactionBehavior};

/// One entry for each version, oldest first; what was released never changes.
const MIGRATIONS: [&str; 1] = [include_str!("../../../migrations/sqlite.sql")];

/// Brings the tables up to date, whoever else does the same at the same time. Answers with the number of this store.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<u64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS retry_meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    )?;
    let value = |key: &str| {
        super::one(
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
            format!("the tables have version {version} and this release knows {newest}; update it")
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
    let mut keep =
        transaction.prepare("INSERT OR REPLACE INTO retry_meta (key, value) VALUES (?1, ?2)")?;
    keep.execute((
        "version",
        i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX),
    ))?;
    keep.execute(("salt", salt))?;
    drop(keep);
    transaction.commit()?;
    Ok(salt.cast_unsigned())
}
