//! Creates the tables and brings them up to date.

use rusqlite::{Connection, Error, TransactionBehavior};

use super::row::query_one;
use crate::time::Time;

/// One entry for each revision, the oldest first. A released entry never changes.
const MIGRATIONS: [&str; 8] = [
    include_str!("../../../migrations/sqlite.sql"),
    include_str!("../../../migrations/sqlite-2.sql"),
    include_str!("../../../migrations/sqlite-schedules.sql"),
    include_str!("../../../migrations/sqlite-children.sql"),
    include_str!("../../../migrations/sqlite-lanes.sql"),
    include_str!("../../../migrations/sqlite-ranges.sql"),
    include_str!("../../../migrations/sqlite-limits.sql"),
    include_str!("../../../migrations/sqlite-generations.sql"),
];

/// The version of the tables. It rises when a release before cannot work with them any more. Additions
/// leave it: processes of the release before and of this one run beside each other.
const VERSION: i64 = 1;

/// Brings the tables up to date, even if other processes do so at the same time. Returns the salt
/// of this store.
pub(super) fn migrate(connection: &mut Connection, now: Time) -> rusqlite::Result<u64> {
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
    if version > VERSION {
        return Err(Error::ToSqlConversionFailure(
            format!("the tables have version {version} and this release knows {VERSION}; update this program")
                .into(),
        ));
    }
    // The first release wrote no revision.
    let revision = value("revision")?.unwrap_or(version);
    let applied = usize::try_from(revision).unwrap_or(usize::MAX);
    let salt = match value("salt")? {
        Some(salt) => salt,
        None => rand::random(),
    };
    for migration in MIGRATIONS.iter().skip(applied) {
        transaction.execute_batch(migration)?;
    }
    if applied == 0 {
        // Nobody of a release before is there who would read them.
        transaction.execute_batch(
            "DROP INDEX retry_run_ready; DROP INDEX retry_run_complete_by; DROP INDEX retry_run_ended",
        )?;
    }
    let mut insert =
        transaction.prepare("INSERT OR REPLACE INTO retry_meta (key, value) VALUES (?1, ?2)")?;
    if applied == 1 {
        // The first release may still use the tables.
        insert.execute(("old_seen", now.as_micros()))?;
    }
    insert.execute(("version", VERSION))?;
    let newest = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    insert.execute(("revision", revision.max(newest)))?;
    insert.execute(("salt", salt))?;
    drop(insert);
    transaction.commit()?;
    Ok(salt.cast_unsigned())
}
