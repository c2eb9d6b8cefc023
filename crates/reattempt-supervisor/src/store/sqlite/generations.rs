//! Tasks that continue as new.

use rusqlite::{Connection, params};

use super::row::query_one;
use crate::store::NextGeneration;
use crate::task::Lease;
use crate::time::Time;

/// Lets a task of this lease go on as its next generation. ?3 is its number, ?6 is now.
const CONTINUE: &str = "UPDATE retry_run SET
         state = 0, owner = NULL, step_by = NULL, failures = 0, deaths = 0, failed_ord = -1, failed_seq = NULL, awaits = NULL, error = NULL,
         generation = ?3, version = ?4, input = ?5, continued_at = ?6, wake_at = ?6, updated_at = ?6
     WHERE id = ?1 AND fence = ?2 AND state = 1 RETURNING cancel_asked";

/// The newest signals that a workflow has got stay without their names and values: their senders may repeat
/// them.
const HEAR: &str = "UPDATE retry_signal SET name = 'reattempt:heard', payload = ''
     WHERE run_id = ?1 AND id IN (SELECT value FROM json_each(?2)) AND nonce IS NOT NULL";
// A signal without random bits cannot be repeated, so nothing of it has to stay.
const FORGET: &str = "DELETE FROM retry_signal
     WHERE run_id = ?1 AND (name = 'reattempt:child' OR id IN (SELECT value FROM json_each(?2)) AND nonce IS NULL
         OR name = 'reattempt:heard' AND id NOT IN (
             SELECT id FROM retry_signal WHERE run_id = ?1 AND name = 'reattempt:heard' ORDER BY id DESC LIMIT 100))";

/// Ends the generation of a task. Returns whether a cancel is requested; `None` if the lease is lost.
pub(super) fn continue_as_new(
    connection: &Connection,
    lease: Lease,
    next: &NextGeneration,
    now: Time,
) -> rusqlite::Result<Option<bool>> {
    let values = params![
        lease.task.0,
        lease.fence.0,
        next.generation,
        next.version,
        next.input,
        now.as_micros(),
    ];
    let cancel_requested = query_one(connection, CONTINUE, values, |row| row.get(0))?;
    if cancel_requested.is_none() {
        // The same worker may have written it before without knowing.
        let sql = "SELECT cancel_asked FROM retry_run WHERE id = ?1 AND fence = ?2 AND state <> 1 AND generation = ?3";
        let values = params![lease.task.0, lease.fence.0, next.generation];
        return query_one(connection, sql, values, |row| row.get(0));
    }
    for sql in [
        "DELETE FROM retry_step WHERE run_id = ?1",
        "DELETE FROM retry_failure WHERE run_id = ?1",
        "DELETE FROM retry_running WHERE run_id = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([lease.task.0])?;
    }
    let heard = next.heard.iter().copied();
    let heard = heard.collect::<serde_json::Value>().to_string();
    for sql in [HEAR, FORGET] {
        let values = params![lease.task.0, heard];
        connection.prepare_cached(sql)?.execute(values)?;
    }
    Ok(cancel_requested)
}
