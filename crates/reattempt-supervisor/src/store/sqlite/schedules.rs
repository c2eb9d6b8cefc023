//! Schedules.

use rusqlite::{Connection, params};

use super::submit::submit;
use crate::store::rows::schedule;
use crate::store::{ScheduleWrite, Schedules, StoredSchedule, rows};
use crate::time::Time;

/// Stores a schedule, and submits its tasks. Returns `false` if another process has written it
/// since.
pub(super) fn store(
    connection: &Connection,
    write: &ScheduleWrite,
    now: Time,
) -> rusqlite::Result<bool> {
    let new = &write.schedule;
    let sql = "INSERT INTO retry_schedule (name, version, revision, cron, missed, task, state, next_at, last_at, operator, why)
         SELECT ?1, ?2 + 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
         WHERE ?2 = 0 OR EXISTS (SELECT 1 FROM retry_schedule WHERE name = ?1)
         ON CONFLICT (name) DO UPDATE SET version = excluded.version, revision = excluded.revision, cron = excluded.cron,
             missed = excluded.missed, task = excluded.task, state = excluded.state, next_at = excluded.next_at,
             last_at = excluded.last_at, operator = excluded.operator, why = excluded.why
         WHERE retry_schedule.version = ?2 AND retry_schedule.revision <= ?3";
    let changed = connection.prepare_cached(sql)?.execute(params![
        new.name,
        new.version,
        new.revision,
        new.cron,
        new.missed.number(),
        new.task,
        new.state.number(),
        new.next_at.as_micros(),
        new.last_at.map(Time::as_micros),
        new.by,
        new.why,
    ])?;
    // Another process has written the schedule, or knows a higher revision, so its tasks are not
    // stored either.
    if changed == 0 {
        return Ok(false);
    }
    for task in &write.tasks {
        submit(connection, task, None, now)?;
    }
    Ok(true)
}

/// Reads all schedules, or those whose time has come.
pub(super) fn read(
    connection: &Connection,
    due: Option<u32>,
    now: Time,
) -> rusqlite::Result<Schedules> {
    const COLUMNS: &str = schedule!(listed);
    let sql = match due {
        None => {
            format!("SELECT {COLUMNS} FROM retry_schedule WHERE ?1 = ?1 ORDER BY name LIMIT ?2")
        }
        Some(_) => format!(
            "SELECT {COLUMNS} FROM retry_schedule WHERE state = 0 AND next_at <= ?1 ORDER BY next_at, name LIMIT ?2"
        ),
    };
    let limit = due.map_or(-1, i64::from);
    let mut select = connection.prepare_cached(&sql)?;
    let all = select.query_map(params![now.as_micros(), limit], |row| rows::read(row))?;
    let mut all = all.collect::<rusqlite::Result<Vec<StoredSchedule>>>()?;
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Schedules { now, all })
}
