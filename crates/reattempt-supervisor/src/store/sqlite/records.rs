//! The records of a task.

use super::row::query_one;
use crate::task::{Lease, Record, RecordKind};
use crate::time::Time;
use rusqlite::{Connection, params};

/// Returns whether a cancel of a task is requested; `None` if the lease is lost.
pub(super) fn cancel_requested(
    connection: &Connection,
    lease: Lease,
) -> rusqlite::Result<Option<bool>> {
    let sql = "SELECT cancel_asked FROM retry_run WHERE id = ?1 AND fence = ?2 AND state = 1";
    query_one(connection, sql, [lease.task.0, lease.fence.0], |row| {
        row.get(0)
    })
}

/// Adds a record. Returns whether a cancel of the task is requested; `None` if the lease is lost.
pub(super) fn record(
    connection: &Connection,
    lease: Lease,
    record: &Record,
    now: Time,
    has_lines: bool,
) -> rusqlite::Result<Option<bool>> {
    let cancel_requested = cancel_requested(connection, lease)?;
    if cancel_requested.is_none() {
        return Ok(None);
    }
    // In the same transaction: a line without its step would look like an overdue one.
    if has_lines && record.kind != RecordKind::Begun {
        let sql = "DELETE FROM retry_running WHERE run_id = ?1 AND seq = ?2";
        let values = params![lease.task.0, record.seq];
        connection.prepare_cached(sql)?.execute(values)?;
    }
    let sql = "INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, error, due_at, at, fence, args_hash, args, undo)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON CONFLICT (run_id, seq, kind) DO NOTHING";
    let values = params![
        lease.task.0,
        record.seq,
        record.kind.number(),
        record.ord,
        record.name,
        record.attempts,
        record.result,
        record.error,
        record.due_at.map(Time::as_micros),
        now.as_micros(),
        lease.fence.0,
        record.args_hash,
        record.args,
        record.undo,
    ];
    if connection.prepare_cached(sql)?.execute(values)? == 1 {
        return Ok(cancel_requested);
    }
    // The same worker may have written it before without knowing.
    let sql =
        "SELECT 1 FROM retry_step WHERE run_id = ?1 AND seq = ?2 AND kind = ?3 AND fence = ?4";
    let values = params![
        lease.task.0,
        record.seq,
        record.kind.number(),
        lease.fence.0
    ];
    let is_same = query_one(connection, sql, values, |_| Ok(()))?.is_some();
    Ok(cancel_requested.filter(|_| is_same))
}
