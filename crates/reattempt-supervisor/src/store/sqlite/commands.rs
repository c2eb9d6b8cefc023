//! Signals, and the commands of operators.

use rusqlite::{Connection, params};

use super::row::query_one;
use crate::store::rows::Row as _;
use crate::store::{AdminCommand, Resolution, SignalResult, Verdict};
use crate::task::{State, TaskId};
use crate::time::Time;

fn state_of(connection: &Connection, task: TaskId) -> rusqlite::Result<Option<State>> {
    let sql = "SELECT state FROM retry_run WHERE id = ?1";
    query_one(connection, sql, [task.0], |row| row.cell(0))
}

/// Adds a signal, and wakes its task.
pub(super) fn signal(
    connection: &Connection,
    task: TaskId,
    (name, payload, nonce): (&str, &str, i64),
    now: Time,
) -> rusqlite::Result<SignalResult> {
    // The sender repeats a signal of unknown outcome with the same random bits.
    let sql = "SELECT 1 FROM retry_signal WHERE run_id = ?1 AND nonce = ?2";
    if query_one(connection, sql, [task.0, nonce], |_| Ok(()))?.is_some() {
        return Ok(SignalResult::Accepted);
    }
    match state_of(connection, task)? {
        None => return Ok(SignalResult::UnknownTask),
        Some(state) if state.is_final() => return Ok(SignalResult::NotAllowed(state)),
        Some(_) => {}
    }
    let sql = "INSERT INTO retry_signal (run_id, name, payload, nonce) VALUES (?1, ?2, ?3, ?4)";
    connection
        .prepare_cached(sql)?
        .execute(params![task.0, name, payload, nonce])?;
    let sql =
        "UPDATE retry_run SET state = 0, wake_at = ?2, updated_at = ?2 WHERE id = ?1 AND state = 2";
    connection
        .prepare_cached(sql)?
        .execute([task.0, now.as_micros()])?;
    Ok(SignalResult::Accepted)
}

/// Lets a task begin anew, with these changes; ?2 is now.
macro_rules! restart {
    ($more:literal) => {
        concat!(
            "UPDATE retry_run SET state = 0, fence = fence + 1, failures = 0, deaths = 0, failed_ord = -1, wake_at = ?2, updated_at = ?2, ",
            $more,
            " WHERE id = ?1"
        )
    };
}

/// Turns a failed or parked task back.
const UNDO: &str = restart!("direction = CASE WHEN direction = 0 THEN 1 ELSE direction END");

/// Continues a failed or parked task.
// A `complete_by` that is over goes, too: it would turn the task back at once.
const CONTINUE: &str = restart!(
    "failed_seq = NULL, direction = CASE WHEN state = 4 THEN 0 ELSE direction END,
     complete_by = CASE WHEN complete_by > ?2 THEN complete_by END"
);

/// Carries out the command of an operator.
pub(super) fn apply_command(
    connection: &Connection,
    task: TaskId,
    command: &AdminCommand,
    now: Time,
) -> rusqlite::Result<SignalResult> {
    if let AdminCommand::Signed { command, by, why } = command {
        let result = apply_command(connection, task, command, now)?;
        if result == SignalResult::Accepted {
            // No step has this number.
            keep_note(connection, task, -1, (command.as_str(), by, why), now)?;
        }
        return Ok(result);
    }
    let Some(state) = state_of(connection, task)? else {
        return Ok(SignalResult::UnknownTask);
    };
    let execute = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        connection.prepare_cached(sql)?.execute(values).map(drop)
    };
    if !command.states().contains(&state) {
        return Ok(SignalResult::NotAllowed(state));
    }
    let now = now.as_micros();
    match command {
        AdminCommand::Cancel if state == State::Processing => execute(
            "UPDATE retry_run SET cancel_asked = 1, updated_at = ?2 WHERE id = ?1",
            &[&task.0, &now],
        )?,
        AdminCommand::Cancel if state == State::Parked => {
            execute("DELETE FROM retry_failure WHERE run_id = ?1", &[&task.0])?;
            execute(restart!("cancel_asked = 1"), &[&task.0, &now])?;
        }
        AdminCommand::Cancel => execute(
            "UPDATE retry_run SET cancel_asked = 1, wake_at = ?2, state = CASE WHEN fence = 0 THEN 6 ELSE 0 END, updated_at = ?2 WHERE id = ?1",
            &[&task.0, &now],
        )?,
        AdminCommand::Park(why) => execute(
            "UPDATE retry_run SET state = 7, owner = NULL, step_by = NULL, fence = fence + 1, error = ?3, updated_at = ?2 WHERE id = ?1",
            &[&task.0, &now, why],
        )?,
        // As cancelled: a task in an error could be resubmitted, and would run forward although a
        // part of it may be undone.
        AdminCommand::GiveUp => execute(
            "UPDATE retry_run SET state = 6, fence = fence + 1, updated_at = ?2 WHERE id = ?1",
            &[&task.0, &now],
        )?,
        AdminCommand::Resolve(resolution) => {
            let has_failed = state == State::Error;
            if !resolve(connection, task, resolution, has_failed, now)? {
                return Ok(SignalResult::UnknownStep);
            }
        }
        AdminCommand::Undo => {
            execute("DELETE FROM retry_failure WHERE run_id = ?1", &[&task.0])?;
            execute(UNDO, &[&task.0, &now])?;
        }
        AdminCommand::Resubmit => {
            // The step that failed runs again. Where the store does not know which, it was the
            // last one, or none.
            execute(
                "DELETE FROM retry_step WHERE run_id = ?1
                     AND seq = (SELECT coalesce(failed_seq, (SELECT seq FROM retry_step AS last WHERE run_id = ?1 AND kind = 2
                             AND state = 4 AND ord = (SELECT max(ord) FROM retry_step WHERE run_id = ?1)))
                         FROM retry_run WHERE id = ?1 AND (state = 4 OR direction = 0))
                     AND NOT EXISTS (SELECT 1 FROM retry_step AS done WHERE done.run_id = ?1 AND done.seq = retry_step.seq AND done.kind = 1)",
                &[&task.0],
            )?;
            execute("DELETE FROM retry_failure WHERE run_id = ?1", &[&task.0])?;
            execute(CONTINUE, &[&task.0, &now])?;
        }
        // Its command was given above.
        AdminCommand::Signed { .. } => {}
    }
    Ok(SignalResult::Accepted)
}

/// Keeps what an operator has said: the verdict, the operator and the reason.
pub(super) fn keep_note(
    connection: &Connection,
    task: TaskId,
    seq: i32,
    (verdict, by, why): (&str, &str, &str),
    now: Time,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO retry_note (run_id, seq, verdict, operator, why, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let values = params![task.0, seq, verdict, by, why, now.as_micros()];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

/// Writes what an operator says of a step. Returns whether there is such a step without an end.
fn resolve(
    connection: &Connection,
    task: TaskId,
    resolution: &Resolution,
    has_failed: bool,
    now: i64,
) -> rusqlite::Result<bool> {
    let execute = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        connection.prepare_cached(sql)?.execute(values).map(drop)
    };
    let Resolution {
        seq,
        verdict,
        by,
        why,
    } = resolution;
    let failed = has_failed.then_some(2);
    // The step has begun or failed, and nothing else is known about it, or an operator has said the last thing.
    let sql = "SELECT name, args_hash, args FROM retry_step AS step WHERE run_id = ?1 AND seq = ?2
         AND (?3 IS NULL AND EXISTS (SELECT 1 FROM retry_note WHERE run_id = ?1 AND seq = ?2 AND verdict = 'done')
                 AND EXISTS (SELECT 1 FROM retry_step AS given WHERE given.run_id = ?1 AND given.seq = ?2 AND given.kind = 1
                     AND given.ord = (SELECT max(ord) FROM retry_step WHERE run_id = ?1))
             OR (kind = 0 AND due_at IS NULL AND substr(name, 1, 7) <> 'signal ' OR kind = ?3)
             AND NOT EXISTS (SELECT 1 FROM retry_step AS other WHERE other.run_id = ?1 AND other.seq = ?2
                 AND other.kind <> 0 AND other.kind IS NOT ?3))
         ORDER BY kind LIMIT 1";
    let open = query_one(connection, sql, params![task.0, seq, failed], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, Option<String>>(1)?,
            row.get::<_, Option<String>>(2)?,
        ))
    })?;
    let Some((name, args_hash, args)) = open else {
        return Ok(false);
    };
    if *verdict == Verdict::NotDone {
        execute(
            "DELETE FROM retry_step WHERE run_id = ?1 AND seq = ?2",
            &[&task.0, seq],
        )?;
    }
    if let Some(result) = verdict.result() {
        execute(
            "INSERT OR REPLACE INTO retry_step (run_id, seq, kind, ord, name, attempts, result, at, fence, args_hash, args)
             SELECT ?1, ?2, 1, (SELECT max(ord) + 1 FROM retry_step WHERE run_id = ?1), ?3, 0, ?4, ?5, fence, ?6, ?7
             FROM retry_run WHERE id = ?1",
            &[&task.0, seq, &name, &result, &now, &args_hash, &args],
        )?;
        execute(
            "DELETE FROM retry_step WHERE run_id = ?1 AND seq = ?2 AND kind = 2",
            &[&task.0, seq],
        )?;
    }
    let at = Time::from_micros(now);
    keep_note(connection, task, *seq, (verdict.as_str(), by, why), at)?;
    execute("DELETE FROM retry_failure WHERE run_id = ?1", &[&task.0])?;
    execute(
        if *verdict == Verdict::Undo {
            UNDO
        } else {
            CONTINUE
        },
        &[&task.0, &now],
    )?;
    Ok(true)
}
