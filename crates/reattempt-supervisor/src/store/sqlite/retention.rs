//! Prunes tasks.

use rusqlite::{Connection, params};

use crate::store::Retention;
use crate::time::Time;

/// Deletes the data of old tasks that have ended, and the lines of keys that were free long enough. Returns how
/// many both were.
pub(super) fn prune(
    connection: &Connection,
    retention: Retention,
    limit: u32,
    now: Time,
) -> rusqlite::Result<u64> {
    let free = connection
        .prepare_cached(
            "DELETE FROM retry_run WHERE id IN (
                 SELECT id FROM retry_run WHERE state = 8 AND updated_at <= ?1 ORDER BY updated_at LIMIT ?2)",
        )?
        .execute(params![now.as_micros(), limit])?;
    let age = i64::try_from(retention.tasks.as_micros()).unwrap_or(i64::MAX);
    // A child stays as long as the generation of its parent that has started it, which may have to
    // undo it.
    let sql = "SELECT id, updated_at, idem_key, parent IS NOT NULL FROM retry_run AS old WHERE state BETWEEN 3 AND 6 AND updated_at <= ?1
             AND NOT EXISTS (SELECT 1 FROM retry_run AS up WHERE up.id = old.parent AND up.state <> 8
                 AND old.created_at >= coalesce(up.continued_at, old.created_at))
         ORDER BY updated_at LIMIT ?2";
    let mut rows = connection.prepare_cached(sql)?;
    let before = now.as_micros().saturating_sub(age);
    let old = rows.query_map(params![before, limit], |row| {
        let (ended, key) = (Time::from_micros(row.get(1)?), row.get::<_, String>(2)?);
        Ok((
            row.get(0)?,
            retention.key_until(ended, &key, row.get(3)?, now),
        ))
    })?;
    let old = old.collect::<rusqlite::Result<Vec<(i64, Option<Time>)>>>()?;
    for sql in [
        "DELETE FROM retry_step WHERE run_id = ?1",
        "DELETE FROM retry_failure WHERE run_id = ?1",
        "DELETE FROM retry_note WHERE run_id = ?1",
        "DELETE FROM retry_signal WHERE run_id = ?1",
    ] {
        let mut delete = connection.prepare_cached(sql)?;
        for (id, _) in &old {
            delete.execute([id])?;
        }
    }
    let mut delete = connection.prepare_cached("DELETE FROM retry_run WHERE id = ?1")?;
    let mut keep = connection.prepare_cached(
        "UPDATE retry_run SET state = 8, wake_at = ?2, updated_at = ?3, input = 'null', output = NULL, error = NULL, headers = NULL, lane = NULL
         WHERE id = ?1",
    )?;
    for (id, until) in &old {
        match until {
            Some(until) => {
                let gone = until.after(retention.forget_keys);
                keep.execute([*id, until.as_micros(), gone.as_micros()])?
            }
            None => delete.execute([id])?,
        };
    }
    Ok(u64::try_from(old.len().saturating_add(free)).unwrap_or(u64::MAX))
}
