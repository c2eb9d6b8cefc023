//! Forks of tasks that have ended.

use rusqlite::{Connection, params};

use super::commands::keep_note;
use super::row::query_one;
use super::submit::submit;
use crate::cell::Cell as _;
use crate::store::rows::Row as _;
use crate::store::{Fork, WriteResult};
use crate::task::Origin;
use crate::time::Time;

/// Copies the outcomes of the task ?2 up to the place ?3.
const COPY: &str = "INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, error, at, fence, args_hash)
     SELECT ?1, seq, kind, ord, name, attempts, result, error, at, 0, args_hash
     FROM retry_step WHERE run_id = ?2 AND kind IN (1, 2) AND ord <= ?3";

/// Stores a fork with its copies.
pub(super) fn fork(
    connection: &Connection,
    fork: &Fork,
    now: Time,
) -> rusqlite::Result<WriteResult> {
    let Fork {
        new,
        origin,
        fence,
        note,
    } = fork;
    let sql = "SELECT id, origin FROM retry_run
         WHERE workflow = ?1 AND idem_key = ?2 AND NOT (state = 8 AND wake_at <= ?3)";
    let values = params![new.workflow, new.key, now.as_micros()];
    let there = query_one(connection, sql, values, |row| {
        Ok((row.cell(0)?, row.cell::<Option<Origin>>(1)?))
    })?;
    if let Some((id, its_origin)) = there {
        return Ok(WriteResult::of_fork(fork, id, its_origin.as_ref()));
    }
    let sql = "SELECT 1 FROM retry_run WHERE id = ?1 AND fence = ?2 AND state BETWEEN 3 AND 6";
    if query_one(connection, sql, [origin.task.0, fence.0], |_| Ok(()))?.is_none() {
        return Ok(WriteResult::Lost);
    }
    let submitted = submit(connection, new, None, now)?;
    let id = submitted.id;
    let sql = "UPDATE retry_run SET origin = ?2 WHERE id = ?1";
    let values = params![id.0, origin.to_stored()];
    connection.prepare_cached(sql)?.execute(values)?;
    let values = params![id.0, origin.task.0, origin.ord];
    connection.prepare_cached(COPY)?.execute(values)?;
    if let Some(note) = note {
        // No step has this number.
        keep_note(
            connection,
            id,
            -1,
            (&note.verdict, &note.by, &note.why),
            now,
        )?;
    }
    Ok(WriteResult::Submitted(submitted))
}
