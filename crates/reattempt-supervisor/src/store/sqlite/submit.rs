//! Stores a task, unless its key is taken.

use super::row::query_one;
use crate::store::Submitted;
use crate::task::{NewTask, TaskId};
use crate::time::Time;
use rusqlite::{Connection, params};

/// Stores a task, unless its key is taken. A line that is left of an earlier task with the key goes, and says which
/// incarnation this one is.
pub(super) fn submit(
    connection: &Connection,
    new: &NewTask,
    parent: Option<TaskId>,
    now: Time,
) -> rusqlite::Result<Submitted> {
    // Most keys are new, so the line of a free key is looked for only after a conflict.
    if insert(connection, new, (parent, 0), now)? {
        return Ok(Submitted::new(TaskId(connection.last_insert_rowid())));
    }
    // The application may have begun no transaction.
    connection.execute_batch("SAVEPOINT retry_take_over")?;
    let taken = take_over(connection, new, parent, now);
    connection.execute_batch(match taken {
        Ok(_) => "RELEASE retry_take_over",
        Err(_) => "ROLLBACK TO retry_take_over; RELEASE retry_take_over",
    })?;
    if taken? {
        return Ok(Submitted::new(TaskId(connection.last_insert_rowid())));
    }
    earlier(connection, new, now)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

/// Stores a task in place of the line of a free key. Returns whether there was one.
fn take_over(
    connection: &Connection,
    new: &NewTask,
    parent: Option<TaskId>,
    now: Time,
) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM retry_run WHERE workflow = ?1 AND idem_key = ?2 AND state = 8 AND wake_at <= ?3
         RETURNING CASE WHEN updated_at <= ?3 THEN 0 ELSE incarnation + 1 END";
    let values = params![new.workflow, new.key, now.as_micros()];
    match query_one(connection, sql, values, |row| row.get(0))? {
        Some(incarnation) => insert(connection, new, (parent, incarnation), now),
        None => Ok(false),
    }
}

/// Inserts a task. Returns whether its key was not there.
fn insert(
    connection: &Connection,
    new: &NewTask,
    (parent, incarnation): (Option<TaskId>, i32),
    now: Time,
) -> rusqlite::Result<bool> {
    let sql = "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, complete_by, fence, failures,
             max_failures, cancel_asked, input, headers, created_at, updated_at, on_failure, incarnation, parent, lane)
         VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ?6, ?7, 0, 0, ?8, 0, ?9, ?10, ?11, ?11, ?12, ?13, ?14, ?15)
         ON CONFLICT (workflow, idem_key) DO NOTHING";
    let values = params![
        new.workflow,
        new.version,
        new.queue,
        new.priority,
        new.key,
        now.after(new.delay).as_micros(),
        new.complete_by.map(|limit| now.after(limit).as_micros()),
        new.max_failures,
        new.input,
        new.headers,
        now.as_micros(),
        new.on_failure.number(),
        incarnation,
        parent.map(|parent| parent.0),
        new.lane,
    ];
    Ok(connection.prepare_cached(sql)?.execute(values)? == 1)
}

/// Returns the task that has the key of a new one; `None` also if the key is free.
pub(super) fn earlier(
    connection: &Connection,
    new: &NewTask,
    now: Time,
) -> rusqlite::Result<Option<Submitted>> {
    let sql =
        "SELECT id, CASE WHEN generation = 0 AND state <> 8 THEN version END, input FROM retry_run
         WHERE workflow = ?1 AND idem_key = ?2 AND NOT (state = 8 AND wake_at <= ?3)";
    let values = params![new.workflow, new.key, now.as_micros()];
    query_one(connection, sql, values, |row| {
        let (id, input) = (TaskId(row.get(0)?), row.get::<_, String>(2)?);
        Ok(Submitted::earlier(id, row.get(1)?, &input, new))
    })
}
