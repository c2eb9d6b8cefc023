//! Limits of lanes. The triggers keep them.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use crate::store::TaskLimit;
use crate::store::lane_limits::is_of;
use crate::time::Time;

/// Sets the limit of lanes, and gives turns to those that may have one.
pub(super) fn store(
    connection: &Connection,
    pattern: &str,
    limit: TaskLimit,
    now: Time,
) -> rusqlite::Result<()> {
    if limit.is_none() {
        let sql = "DELETE FROM retry_lane_limit WHERE pattern = ?1";
        connection.execute(sql, [pattern])?;
    } else {
        let [concurrency, tasks, period] = limit.to_columns();
        let sql = "INSERT OR REPLACE INTO retry_lane_limit VALUES (?1, ?2, ?3, ?4)";
        connection.execute(sql, params![pattern, concurrency, tasks, period])?;
    }
    let mut waiting = connection
        .prepare("SELECT lane, count(*) FROM retry_run WHERE turn_at IS NOT NULL GROUP BY lane")?;
    let waiting = waiting.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let waiting: BTreeMap<String, u32> = waiting.collect::<rusqlite::Result<_>>()?;
    let sql = "INSERT INTO retry_lane_open VALUES (?1, ?2)";
    let mut open = connection.prepare(sql)?;
    for (lane, tasks) in waiting.iter().filter(|(lane, _)| is_of(pattern, lane)) {
        // No more of them find room.
        for _ in 0..(*tasks).min(TaskLimit::MOST_OF_A_LANE) {
            open.execute(params![lane, now.as_micros()])?;
        }
    }
    Ok(())
}

/// Returns the limits of lanes by their patterns.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<BTreeMap<String, TaskLimit>> {
    let sql = "SELECT pattern, concurrency, tasks, period FROM retry_lane_limit";
    let mut rows = connection.prepare_cached(sql)?;
    let rows = rows.query_map((), |row| {
        let columns = [row.get(1)?, row.get(2)?, row.get(3)?];
        Ok((row.get(0)?, TaskLimit::from_columns(columns)))
    })?;
    rows.collect()
}
