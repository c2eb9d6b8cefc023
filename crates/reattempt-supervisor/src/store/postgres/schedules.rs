//! Schedules.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::columns::{Columns, Submits};
use super::connection::Live;
use super::sql::{now, submit};
use crate::store::rows::{FromRow, schedule};
use crate::store::{ScheduleWrite, Schedules, StoreError};
use crate::time::Time;

/// Stores a schedule, and submits its tasks. A writer that finds the schedule locked is too late: the
/// transaction that has locked it raises its version.
// The tasks are stored in the same statement, and only if the schedule was: there is no moment
// between a task and the next time. Of two writers with the same version one stores nothing.
pub(super) const STORE: &str = concat!(
    "WITH new (", schedule!(listed), ") AS (
         SELECT $13::text, $14::bigint, $15::bigint, $16::text, $17::smallint, $18::text, $19::smallint, $20::bigint, $21::bigint, $22::text, $23::text
     ), inserted AS (
         INSERT INTO retry_schedule (", schedule!(listed), ")
         SELECT name, 1, revision, cron, missed, task, state, next_at, last_at, operator, why FROM new WHERE version = 0
         ON CONFLICT (name) DO NOTHING RETURNING 1 AS one
     ), updated AS (
         UPDATE retry_schedule AS old SET version = new.version + 1, revision = new.revision, cron = new.cron, missed = new.missed,
             task = new.task, state = new.state, next_at = new.next_at, last_at = new.last_at, operator = new.operator, why = new.why
         FROM new WHERE old.name = (
             SELECT name FROM retry_schedule WHERE name = $13 AND version = $14 AND version > 0 AND revision <= $15
             FOR NO KEY UPDATE SKIP LOCKED
         )
         RETURNING 1 AS one
     ), stored AS (
         SELECT one FROM inserted UNION ALL SELECT one FROM updated
     ), submitted AS (", submit!("stored CROSS JOIN"), ")
     SELECT count(*) > 0 FROM stored"
);

/// Reads all schedules, and the time.
pub(super) const ALL: &str = concat!(
    "SELECT clock.now, schedule.* FROM (SELECT ",
    now!(),
    " AS now) AS clock LEFT JOIN LATERAL (
         SELECT ",
    schedule!(listed),
    " FROM retry_schedule
     ) AS schedule ON true ORDER BY name"
);

/// Reads the schedules whose time has come, and the time.
pub(super) const DUE: &str = concat!(
    "SELECT clock.now, schedule.* FROM (SELECT ",
    now!(),
    " AS now) AS clock LEFT JOIN LATERAL (
         SELECT ",
    schedule!(listed),
    " FROM retry_schedule WHERE state = 0 AND next_at <= clock.now ORDER BY next_at LIMIT $1
     ) AS schedule ON true ORDER BY name"
);

/// Sends a schedule.
pub(super) async fn send(live: &Live, write: &ScheduleWrite) -> Result<Vec<Row>, Error> {
    let new = &write.schedule;
    let tasks = Submits::of(write.tasks.iter());
    let (missed, state) = (new.missed.number(), new.state.number());
    let (next_at, last_at) = (new.next_at.as_micros(), new.last_at.map(Time::as_micros));
    let own: [&(dyn ToSql + Sync); 11] = [
        &new.name,
        &new.version,
        &new.revision,
        &new.cron,
        &missed,
        &new.task,
        &state,
        &next_at,
        &last_at,
        &new.by,
        &new.why,
    ];
    let values: Vec<_> = tasks.values().into_iter().chain(own).collect();
    live.query(STORE, &values).await
}

/// Converts rows with the time and a schedule. If there is none, there is one row with the time.
pub(super) fn schedules_of(rows: &[Row]) -> Result<Schedules, StoreError> {
    let now = rows.first().map(|row| Time::from_micros(row.get(0)));
    let has_schedule = |row: &&Row| row.get::<_, Option<&str>>(1).is_some();
    let all = rows
        .iter()
        .filter(has_schedule)
        .map(|row| FromRow::from_row(row, 1));
    Ok(Schedules {
        now: now.unwrap_or_default(),
        all: all.collect::<Result<_, _>>()?,
    })
}
