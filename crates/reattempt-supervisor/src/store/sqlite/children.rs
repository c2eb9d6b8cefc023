//! Children: their starts, and their ends with a parent that turns back.

use rusqlite::{Connection, params};

use super::records::{cancel_requested, record};
use super::row::query_one;
use super::submit::submit;
use crate::store::rows::Row as _;
use crate::store::{LeaseStatus, Submitted, Write, WriteResult};
use crate::task::{Lease, NewTask, Record, State, TaskId};
use crate::time::Time;

/// Stores a child with the record of its start.
pub(super) fn start(
    connection: &Connection,
    lease: Lease,
    new_record: &Record,
    new: &NewTask,
    (now, has_lines): (Time, bool),
) -> rusqlite::Result<WriteResult> {
    let sql = "SELECT cancel_asked, (SELECT result FROM retry_step WHERE run_id = ?1 AND seq = ?3 AND kind = ?4)
         FROM retry_run WHERE id = ?1 AND fence = ?2 AND state = 1";
    let kind = new_record.kind.number();
    let values = params![lease.task.0, lease.fence.0, new_record.seq, kind];
    let held = query_one(connection, sql, values, |row| {
        Ok((row.get(0)?, row.get::<_, Option<String>>(1)?))
    })?;
    let Some((cancel_requested, old)) = held else {
        return Ok(WriteResult::Lost);
    };
    // A repeated start finds the child of the first one. `record` decides below whether this worker
    // has started it.
    let id = match old.and_then(|id| id.parse().ok()) {
        Some(id) => TaskId(id),
        None => match submit(connection, new, Some(lease.task), now)? {
            Submitted {
                id, is_new: true, ..
            } => id,
            Submitted { id, .. } => return Ok(WriteResult::KeyTaken(id)),
        },
    };
    let result = Some(id.to_string());
    let new_record = Record {
        result,
        ..new_record.clone()
    };
    let status = LeaseStatus {
        now,
        cancel_requested,
    };
    let written = record(connection, lease, &new_record, now, has_lines)?;
    Ok(written.map_or(WriteResult::Lost, |_| WriteResult::Started(status, id)))
}

/// Forgets the failures of a parked child of ?2 that is not cancelled.
const FORGET_FAILURES: &str = "DELETE FROM retry_failure WHERE run_id = ?1
     AND EXISTS (SELECT 1 FROM retry_run WHERE id = ?1 AND parent = ?2 AND state = 7 AND NOT cancel_asked)";

/// Cancels the child ?1 of ?2, once; if ?3, turns back one that has ended. ?4 is now.
// Only a child without `cancel_asked` is cancelled: a worker may die in between, and the next one
// asks again. In state 4 with `on_failure` 0 it had nothing to undo.
const END: &str = "UPDATE retry_run SET
         cancel_asked = 1,
         direction = CASE WHEN state IN (3, 4) THEN 2 ELSE direction END,
         fence = CASE WHEN state IN (3, 4, 7) THEN fence + 1 ELSE fence END,
         failures = CASE WHEN state IN (3, 4, 7) THEN 0 ELSE failures END,
         deaths = CASE WHEN state IN (3, 4, 7) THEN 0 ELSE deaths END,
         failed_ord = CASE WHEN state IN (3, 4, 7) THEN -1 ELSE failed_ord END,
         wake_at = CASE WHEN state = 1 THEN wake_at ELSE ?4 END,
         state = CASE WHEN state = 1 THEN 1 WHEN state IN (0, 2) AND fence = 0 THEN 6 ELSE 0 END,
         updated_at = ?4
     WHERE id = ?1 AND parent = ?2
         AND (state IN (0, 1, 2, 7) AND NOT cancel_asked OR ?3 AND (state = 3 OR state = 4 AND on_failure = 1))";

/// Ends children of a task that turns back.
pub(super) fn end(
    connection: &Connection,
    lease: Lease,
    children: &[TaskId],
    undo: bool,
    now: Time,
) -> rusqlite::Result<WriteResult> {
    let Some(cancel_requested) = cancel_requested(connection, lease)? else {
        return Ok(WriteResult::Lost);
    };
    let mut forget = connection.prepare_cached(FORGET_FAILURES)?;
    let mut turn_back = connection.prepare_cached(END)?;
    let mut ended = Vec::new();
    for child in children {
        forget.execute([child.0, lease.task.0])?;
        turn_back.execute(params![child.0, lease.task.0, undo, now.as_micros()])?;
        let sql = "SELECT state FROM retry_run WHERE id = ?1 AND parent = ?2";
        let state = query_one(connection, sql, [child.0, lease.task.0], |row| row.cell(0))?;
        ended.extend(state.map(|state: State| (*child, state)));
    }
    let status = LeaseStatus {
        now,
        cancel_requested,
    };
    Ok(WriteResult::Children(status, ended))
}

/// Returns whether a worker has ended the last child that its parent waited for. Other writes that do so
/// make workers look anyway.
pub(super) fn wakes_a_parent(
    connection: &Connection,
    write: &Write,
    now: Time,
) -> rusqlite::Result<bool> {
    let Write::Change(lease, change) = write else {
        return Ok(false);
    };
    if !change.state.is_final() {
        return Ok(false);
    }
    let sql = "SELECT 1 FROM retry_run AS child JOIN retry_run AS up ON up.id = child.parent
         WHERE child.id = ?1 AND up.state = 0 AND up.wake_at = ?2";
    // The trigger has woken the parent at the time of this transaction.
    let values = [lease.task.0, now.as_micros()];
    Ok(query_one(connection, sql, values, |_| Ok(()))?.is_some())
}
