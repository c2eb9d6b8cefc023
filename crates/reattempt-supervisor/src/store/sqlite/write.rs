//! Operations, in one transaction.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use super::{one, read};
use crate::store::{
    Asked, Change, Claim, Claimed, Operation, Outcome, Standing, Steer, Told, Wake,
};
use crate::task::{Hold, NewRun, Record, Run, RunId, State, WorkerId};
use crate::time::Time;

pub(super) fn all(
    connection: &mut Connection,
    operations: &[Operation],
) -> rusqlite::Result<Vec<Outcome>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let now = Time::of_this_machine();
    let outcomes = operations
        .iter()
        .map(|operation| one_of(&transaction, operation, now));
    let outcomes = outcomes.collect::<rusqlite::Result<_>>()?;
    transaction.commit()?;
    Ok(outcomes)
}

fn one_of(connection: &Connection, operation: &Operation, now: Time) -> rusqlite::Result<Outcome> {
    Ok(match operation {
        Operation::Submit(new) => {
            let (id, is_new) = submit(connection, new, now)?;
            Outcome::Submitted { id, is_new }
        }
        Operation::Claim(wanted) => Outcome::Claimed(claim(connection, wanted, now)?),
        Operation::Record(hold, record) => held(self::record(connection, *hold, record, now)?, now),
        Operation::Announce(hold, by) => {
            let sql = "UPDATE retry_run SET step_by = ?3 WHERE id = ?1 AND fence = ?2 AND state = 1 RETURNING cancel_asked";
            let values = params![hold.run.0, hold.fence.0, by.as_micros()];
            held(one(connection, sql, values, |row| row.get(0))?, now)
        }
        Operation::Change(hold, change) => held(self::change(connection, *hold, change, now)?, now),
        Operation::Beat(worker, lease) => Outcome::Beaten(beat(connection, worker, *lease, now)?),
        Operation::Disown(worker, held) => {
            free(connection, worker, held, now)?;
            Outcome::Done
        }
        Operation::Leave(worker) => {
            free(connection, worker, &[], now)?;
            let sql = "DELETE FROM retry_worker WHERE id = ?1";
            connection.prepare_cached(sql)?.execute([&worker.0])?;
            Outcome::Done
        }
        Operation::Signal { run, name, payload } => {
            Outcome::Told(signal(connection, *run, name, payload, now)?)
        }
        Operation::Steer(run, steer) => Outcome::Told(self::steer(connection, *run, steer, now)?),
        Operation::Prune(age, limit) => Outcome::Pruned(prune(connection, *age, *limit, now)?),
    })
}

fn held(cancel_asked: Option<bool>, now: Time) -> Outcome {
    match cancel_asked {
        Some(cancel_asked) => Outcome::Held(Standing { now, cancel_asked }),
        None => Outcome::Lost,
    }
}

pub(super) fn submit(
    connection: &Connection,
    new: &NewRun,
    now: Time,
) -> rusqlite::Result<(RunId, bool)> {
    let sql = "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, complete_by, fence, failures,
             max_failures, cancel_asked, input, headers, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ?6, ?7, 0, 0, ?8, 0, ?9, ?10, ?11, ?11)
         ON CONFLICT (workflow, idem_key) DO NOTHING RETURNING id";
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
    ];
    if let Some(id) = one(connection, sql, values, |row| row.get(0))? {
        return Ok((RunId(id), true));
    }
    let sql = "SELECT id FROM retry_run WHERE workflow = ?1 AND idem_key = ?2";
    let mut rows = connection.prepare_cached(sql)?;
    let id = rows.query_row([&new.workflow, &new.key], |row| row.get(0))?;
    Ok((RunId(id), false))
}

fn claim(connection: &Connection, claim: &Claim, now: Time) -> rusqlite::Result<Vec<Claimed>> {
    let known = claim
        .workflows
        .iter()
        .map(|(name, version)| format!("{name}@{version}"));
    let known = known.collect::<serde_json::Value>().to_string();
    let sql = "SELECT priority, wake_at, id FROM retry_run
         WHERE state IN (0, 2) AND queue = ?1 AND wake_at <= ?2
             AND workflow || '@' || version IN (SELECT value FROM json_each(?3))
         ORDER BY priority, wake_at, id LIMIT ?4";
    let mut ready: Vec<(i16, i64, i64)> = Vec::new();
    for queue in &claim.queues {
        let mut rows = connection.prepare_cached(sql)?;
        let values = params![queue, now.as_micros(), known, claim.limit];
        let rows = rows.query_map(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for row in rows {
            ready.push(row?);
        }
    }
    ready.sort_unstable();
    ready.dedup();
    ready.truncate(usize::try_from(claim.limit).unwrap_or(usize::MAX));
    let ids = ready.iter().map(|(_, _, id)| *id);
    let ids = ids.collect::<serde_json::Value>().to_string();
    let sql = format!(
        "UPDATE retry_run SET state = 1, owner = ?1, fence = fence + 1, step_by = NULL, updated_at = ?2
         WHERE id IN (SELECT value FROM json_each(?3)) RETURNING {}",
        read::COLUMNS
    );
    let mut rows = connection.prepare_cached(&sql)?;
    let values = params![claim.worker.0, now.as_micros(), ids];
    let runs = rows.query_map(values, read::run_of)?;
    let mut runs = runs.collect::<rusqlite::Result<Vec<_>>>()?;
    runs.sort_by_key(|run| (run.priority, run.wake_at, run.id));
    let claimed = |run: Run| {
        // Nothing can have happened in one that nobody held before.
        let history = match run.fence.0 {
            1 => Vec::new(),
            _ => read::history(connection, run.id)?,
        };
        let signals = read::signals(connection, run.id)?;
        Ok(Claimed {
            run,
            history,
            signals,
            now,
        })
    };
    runs.into_iter().map(claimed).collect()
}

/// Whether somebody wants the task cancelled; `None` if it is not held any more.
fn record(
    connection: &Connection,
    hold: Hold,
    record: &Record,
    now: Time,
) -> rusqlite::Result<Option<bool>> {
    let sql = "SELECT cancel_asked FROM retry_run WHERE id = ?1 AND fence = ?2 AND state = 1";
    let cancel_asked = one(connection, sql, [hold.run.0, hold.fence.0], |row| {
        row.get(0)
    })?;
    if cancel_asked.is_none() {
        return Ok(None);
    }
    let sql = "INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, error, due_at, at, fence)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (run_id, seq, kind) DO NOTHING";
    let values = params![
        hold.run.0,
        record.seq,
        record.kind.number(),
        record.ord,
        record.name,
        record.attempts,
        record.result,
        record.error,
        record.due_at.map(Time::as_micros),
        now.as_micros(),
        hold.fence.0,
    ];
    if connection.prepare_cached(sql)?.execute(values)? == 1 {
        return Ok(cancel_asked);
    }
    // Written before by the same worker, who does not know it.
    let sql =
        "SELECT 1 FROM retry_step WHERE run_id = ?1 AND seq = ?2 AND kind = ?3 AND fence = ?4";
    let values = params![hold.run.0, record.seq, record.kind.number(), hold.fence.0];
    let is_same = one(connection, sql, values, |_| Ok(()))?.is_some();
    Ok(cancel_asked.filter(|_| is_same))
}

fn change(
    connection: &Connection,
    hold: Hold,
    change: &Change,
    now: Time,
) -> rusqlite::Result<Option<bool>> {
    let (wake, seen) = match change.wake {
        Wake::In(delay) => (now.after(delay), i64::MAX),
        Wake::At(time, seen) => (time, seen),
    };
    let sql = "UPDATE retry_run SET
             state = ?3,
             direction = ?4,
             failures = ?5,
             wake_at = CASE
                 WHEN cancel_asked AND ?4 = 0 THEN ?10
                 WHEN ?7 < 9223372036854775807 AND EXISTS (SELECT 1 FROM retry_signal WHERE run_id = ?1 AND id > ?7) THEN ?10
                 ELSE ?6 END,
             output = coalesce(?8, output),
             error = coalesce(?9, error),
             owner = CASE WHEN ?3 = 1 THEN owner END,
             step_by = NULL,
             updated_at = ?10
         WHERE id = ?1 AND fence = ?2 AND state = 1 RETURNING cancel_asked";
    let values = params![
        hold.run.0,
        hold.fence.0,
        change.state.number(),
        change.direction.number(),
        change.failures,
        wake.as_micros(),
        seen,
        change.output,
        change.error,
        now.as_micros(),
    ];
    one(connection, sql, values, |row| row.get(0))
}

fn beat(
    connection: &Connection,
    worker: &WorkerId,
    lease: Duration,
    now: Time,
) -> rusqlite::Result<Vec<Asked>> {
    let until = now.after(lease);
    let sql = "INSERT INTO retry_worker (id, lease_until, lease) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, lease = excluded.lease";
    connection.prepare_cached(sql)?.execute(params![
        worker.0,
        until.as_micros(),
        i64::try_from(lease.as_micros()).unwrap_or(i64::MAX)
    ])?;
    let sql = "SELECT id, cancel_asked, (SELECT coalesce(max(id), 0) FROM retry_signal WHERE run_id = retry_run.id) AS signal
         FROM retry_run WHERE owner = ?1 AND state = 1 AND (cancel_asked OR signal > 0)";
    let mut rows = connection.prepare_cached(sql)?;
    let asked = |row: &rusqlite::Row<'_>| {
        Ok(Asked {
            run: RunId(row.get(0)?),
            cancel: row.get(1)?,
            signal: row.get(2)?,
        })
    };
    rows.query_map([&worker.0], asked)?.collect()
}

/// Gives back what a worker holds, but for some.
fn free(
    connection: &Connection,
    worker: &WorkerId,
    but: &[RunId],
    now: Time,
) -> rusqlite::Result<()> {
    let but = but.iter().map(|run| run.0);
    let but = but.collect::<serde_json::Value>().to_string();
    let sql = "UPDATE retry_run SET state = 0, owner = NULL, fence = fence + 1, step_by = NULL, wake_at = ?3, updated_at = ?3
         WHERE owner = ?1 AND state = 1 AND id NOT IN (SELECT value FROM json_each(?2))";
    connection
        .prepare_cached(sql)?
        .execute(params![worker.0, but, now.as_micros()])?;
    Ok(())
}

fn state_of(connection: &Connection, run: RunId) -> rusqlite::Result<Option<State>> {
    let sql = "SELECT state FROM retry_run WHERE id = ?1";
    let number: Option<i16> = one(connection, sql, [run.0], |row| row.get(0))?;
    let state = |number| State::from_number(number).ok_or_else(|| super::unknown("state", number));
    number.map(state).transpose()
}

fn signal(
    connection: &Connection,
    run: RunId,
    name: &str,
    payload: &str,
    now: Time,
) -> rusqlite::Result<Told> {
    match state_of(connection, run)? {
        None => return Ok(Told::Unknown),
        Some(state) if state.is_final() => return Ok(Told::Not(state)),
        Some(_) => {}
    }
    let sql = "INSERT INTO retry_signal (run_id, name, payload) VALUES (?1, ?2, ?3)";
    connection
        .prepare_cached(sql)?
        .execute(params![run.0, name, payload])?;
    let sql =
        "UPDATE retry_run SET state = 0, wake_at = ?2, updated_at = ?2 WHERE id = ?1 AND state = 2";
    connection
        .prepare_cached(sql)?
        .execute([run.0, now.as_micros()])?;
    Ok(Told::Yes)
}

fn steer(connection: &Connection, run: RunId, steer: &Steer, now: Time) -> rusqlite::Result<Told> {
    let Some(state) = state_of(connection, run)? else {
        return Ok(Told::Unknown);
    };
    let execute = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        connection.prepare_cached(sql)?.execute(values).map(drop)
    };
    let now = now.as_micros();
    match (steer, state) {
        (Steer::Cancel, State::Processing) => execute(
            "UPDATE retry_run SET cancel_asked = 1, updated_at = ?2 WHERE id = ?1",
            &[&run.0, &now],
        )?,
        (Steer::Cancel, State::Pending | State::Waiting) => execute(
            "UPDATE retry_run SET cancel_asked = 1, wake_at = ?2, state = CASE WHEN fence = 0 THEN 6 ELSE 0 END, updated_at = ?2 WHERE id = ?1",
            &[&run.0, &now],
        )?,
        (Steer::Park(why), State::Pending | State::Waiting | State::Processing) => execute(
            "UPDATE retry_run SET state = 7, owner = NULL, step_by = NULL, fence = fence + 1, error = ?3, updated_at = ?2 WHERE id = ?1",
            &[&run.0, &now, why],
        )?,
        (Steer::Resubmit, State::Parked | State::Error) => {
            if state == State::Error {
                execute(
                    "DELETE FROM retry_step WHERE run_id = ?1 AND kind = 2
                         AND ord = (SELECT max(ord) FROM retry_step WHERE run_id = ?1)",
                    &[&run.0],
                )?;
            } else {
                // What nobody knew the end of runs again, because somebody looked.
                execute(
                    "DELETE FROM retry_step WHERE run_id = ?1 AND kind = 0 AND due_at IS NULL AND substr(name, 1, 7) <> 'signal '
                         AND NOT EXISTS (SELECT 1 FROM retry_step AS other
                             WHERE other.run_id = retry_step.run_id AND other.seq = retry_step.seq AND other.kind IN (1, 2))",
                    &[&run.0],
                )?;
            }
            execute(
                "UPDATE retry_run SET state = 0, fence = fence + 1, failures = 0, wake_at = ?2, updated_at = ?2,
                     direction = CASE WHEN state = 4 THEN 0 ELSE direction END,
                     complete_by = CASE WHEN complete_by > ?2 THEN complete_by END
                 WHERE id = ?1",
                &[&run.0, &now],
            )?;
        }
        (_, state) => return Ok(Told::Not(state)),
    }
    Ok(Told::Yes)
}

fn prune(connection: &Connection, age: Duration, limit: u32, now: Time) -> rusqlite::Result<u64> {
    let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
    let sql = "SELECT id FROM retry_run WHERE state IN (3, 4, 5, 6) AND updated_at <= ?1 ORDER BY updated_at LIMIT ?2";
    let mut rows = connection.prepare_cached(sql)?;
    let old = rows.query_map(params![now.as_micros().saturating_sub(age), limit], |row| {
        row.get(0)
    })?;
    let old = old.collect::<rusqlite::Result<Vec<i64>>>()?;
    for sql in [
        "DELETE FROM retry_step WHERE run_id = ?1",
        "DELETE FROM retry_signal WHERE run_id = ?1",
        "DELETE FROM retry_run WHERE id = ?1",
    ] {
        let mut delete = connection.prepare_cached(sql)?;
        for id in &old {
            delete.execute([id])?;
        }
    }
    Ok(u64::try_from(old.len()).unwrap_or(u64::MAX))
}
