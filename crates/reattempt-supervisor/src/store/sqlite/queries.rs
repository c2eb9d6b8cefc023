//! Reads tasks, records and signals.

use rusqlite::{Connection, Row, params};

use super::row::{in_table, query_one};
use crate::store::rows::{Row as _, read, record, task};
use crate::store::{Filter, Page, QueueStatus, TaskLimit, page};
use crate::task::{
    FailingStep, OperatorNote, Record, RecordKind, RunningStep, Signal, State, Task, TaskId,
};
use crate::time::Time;

/// The columns of a task, in the order of [`task_of`].
pub(super) const COLUMNS: &str = task!(listed);

/// Converts a row.
pub(super) fn task_of(row: &Row<'_>) -> rusqlite::Result<Task> {
    let task = || row.get(0).ok().map(TaskId);
    read(row).map_err(|error| in_table(error, "retry_run", task()))
}

pub(super) fn task(connection: &Connection, id: TaskId) -> rusqlite::Result<Option<Task>> {
    let sql = format!("SELECT {COLUMNS} FROM retry_run WHERE id = ?1");
    query_one(connection, &sql, [id.0], task_of)
}

pub(super) fn history(connection: &Connection, id: TaskId) -> rusqlite::Result<Vec<Record>> {
    let mut rows = connection.prepare_cached(concat!(
        "SELECT ",
        record!(listed),
        " FROM retry_step WHERE run_id = ?1 ORDER BY ord"
    ))?;
    rows.query_map([id.0], |row| read(row))?.collect()
}

/// Returns the place of the newest outcome of a step; -1 if there is none. See `LastOutcome`.
pub(super) fn progress(connection: &Connection, id: TaskId) -> rusqlite::Result<i32> {
    let sql = "SELECT coalesce(max(ord), -1) FROM retry_step AS step
         WHERE run_id = ?1 AND kind IN (1, 2, 3) AND NOT EXISTS (
             SELECT 1 FROM retry_step AS begun WHERE begun.run_id = ?1 AND begun.seq = step.seq AND begun.kind = 0
                 AND (begun.due_at IS NOT NULL OR substr(begun.name, 1, 7) = 'signal '))";
    let mut rows = connection.prepare_cached(sql)?;
    rows.query_row([id.0], |row| row.get(0))
}

pub(super) fn running(connection: &Connection, id: TaskId) -> rusqlite::Result<Vec<RunningStep>> {
    let mut rows = connection.prepare_cached(
        "SELECT run_id, seq, line.fence, worker, name, since, due FROM retry_running AS line JOIN retry_run AS run ON run.id = run_id
         WHERE run_id = ?1 AND line.fence = run.fence AND state = 1 ORDER BY seq",
    )?;
    rows.query_map([id.0], |row| read(row))?.collect()
}

pub(super) fn failures(connection: &Connection, id: TaskId) -> rusqlite::Result<Vec<FailingStep>> {
    let mut rows = connection.prepare_cached(
        "SELECT direction, seq, failures, error, at FROM retry_failure WHERE run_id = ?1 ORDER BY direction, seq",
    )?;
    rows.query_map([id.0], |row| read(row))?.collect()
}

pub(super) fn notes(connection: &Connection, id: TaskId) -> rusqlite::Result<Vec<OperatorNote>> {
    let mut rows = connection.prepare_cached(
        "SELECT nullif(seq, -1), verdict, operator, why, at FROM retry_note WHERE run_id = ?1 ORDER BY id",
    )?;
    rows.query_map([id.0], |row| read(row))?.collect()
}

/// Reads the records after a place, in the order of the primary key.
pub(super) fn history_page(
    connection: &Connection,
    id: TaskId,
    after: Option<(i32, RecordKind)>,
) -> rusqlite::Result<Option<Page<Record>>> {
    let (seq, kind) = after.map_or((i32::MIN, 0), |(seq, kind)| (seq, kind.number()));
    let mut rows = connection.prepare_cached(concat!(
        "SELECT ",
        record!(listed),
        " FROM retry_step WHERE run_id = ?1 AND (seq, kind) > (?2, ?3) ORDER BY seq, kind"
    ))?;
    let records = rows.query_map(params![id.0, seq, kind], |row| read(row))?;
    // Reading stops at the limit, so that a long history costs one page.
    let (items, is_last) = page::take(records, page::record_size)?;
    with_fence(connection, id, items, is_last)
}

/// Reads the signals after one.
pub(super) fn signals_page(
    connection: &Connection,
    id: TaskId,
    after: i64,
) -> rusqlite::Result<Option<Page<Signal>>> {
    let mut rows = connection.prepare_cached(
        "SELECT id, name, payload FROM retry_signal WHERE run_id = ?1 AND id > ?2 ORDER BY id",
    )?;
    let signals = rows.query_map([id.0, after], |row| read(row))?;
    let (items, is_last) = page::take(signals, page::signal_size)?;
    with_fence(connection, id, items, is_last)
}

/// Reads the fence after the items: if it has not changed, no record was deleted meanwhile.
fn with_fence<T>(
    connection: &Connection,
    id: TaskId,
    items: Vec<T>,
    is_last: bool,
) -> rusqlite::Result<Option<Page<T>>> {
    let sql = "SELECT fence FROM retry_run WHERE id = ?1";
    let fence = query_one(connection, sql, [id.0], |row| row.cell(0))?;
    Ok(fence.map(|fence| Page {
        fence,
        items,
        is_last,
    }))
}

pub(super) fn signals(connection: &Connection, id: TaskId) -> rusqlite::Result<Vec<Signal>> {
    let mut rows = connection.prepare_cached(
        "SELECT id, name, payload FROM retry_signal WHERE run_id = ?1 ORDER BY id",
    )?;
    rows.query_map([id.0], |row| read(row))?.collect()
}

pub(super) fn list(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Task>> {
    // A key alone is looked up in each workflow: they are few.
    let by_key = match filter.key {
        None => "?6 IS NULL",
        Some(_) => {
            "id IN (WITH RECURSIVE names (name) AS (
                 SELECT min(workflow) FROM retry_run
                 UNION ALL SELECT (SELECT min(workflow) FROM retry_run WHERE workflow > name) FROM names WHERE name IS NOT NULL
             ) SELECT id FROM names JOIN retry_run ON workflow = name AND idem_key = ?6)"
        }
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM retry_run
         WHERE id < ?1 AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR workflow = ?3) AND (?4 IS NULL OR queue = ?4) AND {by_key}
             AND (?7 IS NULL OR EXISTS (SELECT 1 FROM json_each(headers) WHERE key = ?7
                 AND CASE type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'null' THEN 'null' ELSE CAST(value AS TEXT) END = ?8))
             AND (?9 IS NULL OR instr(error, ?9) > 0) AND (?10 IS NULL OR created_at >= ?10) AND (?11 IS NULL OR created_at < ?11)
             AND (NOT ?12 OR state BETWEEN 3 AND 7) AND (?13 IS NULL OR updated_at >= ?13) AND (?14 IS NULL OR updated_at < ?14)
         ORDER BY id DESC LIMIT ?5"
    );
    let mut rows = connection.prepare_cached(&sql)?;
    let (name, value) = filter
        .header
        .as_ref()
        .map(|(name, value)| (name, value))
        .unzip();
    let values = params![
        filter.before.map_or(i64::MAX, |before| before.0),
        filter.state.map(State::number),
        filter.workflow,
        filter.queue,
        filter.bound(),
        filter.key,
        name,
        value,
        filter.error,
        filter.since.map(Time::as_micros),
        filter.until.map(Time::as_micros),
        filter.has_end(),
        filter.ended_since.map(Time::as_micros),
        filter.ended_until.map(Time::as_micros),
    ];
    rows.query_map(values, task_of)?.collect()
}

pub(super) fn counts(connection: &mut Connection) -> rusqlite::Result<Vec<(State, u64)>> {
    let mut rows = connection
        .prepare_cached("SELECT state, count(*) FROM retry_run GROUP BY state ORDER BY state")?;
    let count = |row: &Row<'_>| Ok((row.cell(0)?, row.get::<_, i64>(1)?.cast_unsigned()));
    rows.query_map([], count)?.collect()
}

/// Reads what the queues have to do. The indexes have only tasks that have not ended.
pub(super) fn queues(connection: &Connection, now: Time) -> rusqlite::Result<Vec<QueueStatus>> {
    let mut rows = connection.prepare_cached(
        "SELECT queue, sum(pending), max(oldest), sum(in_flight), sum(parked), concurrency, tasks, period FROM (
             SELECT queue, count(*) AS pending, ?1 - min(wake_at) AS oldest, 0 AS in_flight, 0 AS parked FROM retry_run
             WHERE state IN (0, 2) AND wake_at <= ?1 GROUP BY queue
             UNION ALL SELECT queue, 0, 0, count(*), 0 FROM retry_run WHERE state = 1 GROUP BY queue
             UNION ALL SELECT queue, 0, 0, 0, count(*) FROM retry_run WHERE state = 7 GROUP BY queue
             UNION ALL SELECT queue, 0, 0, 0, 0 FROM retry_limit
         ) LEFT JOIN retry_limit USING (queue) GROUP BY queue ORDER BY queue LIMIT 100",
    )?;
    let status = |row: &Row<'_>| {
        Ok(QueueStatus {
            queue: row.get(0)?,
            pending: row.get::<_, i64>(1)?.cast_unsigned(),
            oldest: row.cell(2)?,
            in_flight: row.get::<_, i64>(3)?.cast_unsigned(),
            parked: row.get::<_, i64>(4)?.cast_unsigned(),
            limit: TaskLimit::from_columns([row.get(5)?, row.get(6)?, row.get(7)?]),
        })
    };
    rows.query_map([now.as_micros()], status)?.collect()
}
