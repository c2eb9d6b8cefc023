//! Carries out writes in one transaction.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use super::commands::{apply_command, signal};
use super::records::{cancel_requested, record};
use super::retention::prune;
use super::row::query_one;
use super::schedules;
use super::submit::{earlier, submit};
use super::{children, claims, feed, forks, generations, lane_limits, queue_limits};
use crate::store::{Change, HeldTask, LeaseStatus, Wake, Write, WriteResult};
use crate::task::{FailingStep, Fence, Lease, RunningStep, State, TaskId, WorkerId};
use crate::time::{Clock, Time};

/// Carries out all writes in one transaction. Returns also whether a parent goes on because a worker has
/// ended its last child.
pub(super) fn apply_all(
    connection: &mut Connection,
    writes: &[Write],
    clock: &Clock,
) -> rusqlite::Result<(Vec<WriteResult>, bool)> {
    // The write lock from the beginning: a transaction that has read first cannot get it after
    // another process has written.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // After the lock, so that the times of transactions follow their order.
    let now = clock.now();
    // No other writer changes the lines meanwhile, and most steps end before they are reported.
    let sql = "SELECT 1 FROM retry_running LIMIT 1";
    let has_lines = query_one(&transaction, sql, [], |_| Ok(()))?.is_some()
        || writes
            .iter()
            .any(|write| matches!(write, Write::Running { .. }));
    let results = writes
        .iter()
        .map(|write| apply(&transaction, write, now, has_lines));
    let results = results.collect::<rusqlite::Result<_>>()?;
    let mut wakes = false;
    for write in writes {
        // Before the commit: another process may claim the parent at once after it.
        wakes = wakes || children::wakes_a_parent(&transaction, write, now)?;
    }
    transaction.commit()?;
    Ok((results, wakes))
}

/// Carries out one write. `has_lines` says whether there may be lines of running steps.
fn apply(
    connection: &Connection,
    write: &Write,
    now: Time,
    has_lines: bool,
) -> rusqlite::Result<WriteResult> {
    Ok(match write {
        Write::Submit(new) => {
            if claims::has_room(connection, new, now)? {
                WriteResult::Submitted(submit(connection, new, None, now)?)
            } else {
                // It may be there already.
                let earlier = earlier(connection, new, now)?;
                earlier.map_or(WriteResult::QueueFull, WriteResult::Submitted)
            }
        }
        Write::Fork(fork) => forks::fork(connection, fork, now)?,
        Write::Claim(claim) => claims::claim(connection, claim, now)?,
        Write::Record(lease, record) => {
            let written = self::record(connection, *lease, record, now, has_lines)?;
            lease_result(written, now)
        }
        Write::Start(lease, record, new) => {
            children::start(connection, *lease, record, new, (now, has_lines))?
        }
        Write::EndChildren {
            lease,
            children,
            undo,
        } => children::end(connection, *lease, children, *undo, now)?,
        Write::Running { started, ended } => {
            report_running(connection, started, ended)?;
            WriteResult::Done
        }
        Write::ClearDeaths(lease) => {
            let sql = "UPDATE retry_run SET deaths = 0 WHERE id = ?1 AND fence = ?2 AND state = 1 RETURNING cancel_asked";
            let values = params![lease.task.0, lease.fence.0];
            lease_result(query_one(connection, sql, values, |row| row.get(0))?, now)
        }
        Write::Change(lease, change) => {
            let written = self::change(connection, *lease, change, now, has_lines)?;
            lease_result(written, now)
        }
        Write::Continue(lease, next) => {
            let continued = generations::continue_as_new(connection, *lease, next, now)?;
            lease_result(continued, now)
        }
        Write::GiveBack(leases) => {
            for lease in leases {
                let values = params![now.as_micros(), lease.task.0, lease.fence.0];
                give_back(connection, "id = ?2 AND fence = ?3", values)?;
            }
            WriteResult::Done
        }
        Write::Leave(worker) => {
            give_back(connection, "owner = ?2", params![now.as_micros(), worker.0])?;
            let sql = "DELETE FROM retry_worker WHERE id = ?1";
            connection.prepare_cached(sql)?.execute([&worker.0])?;
            WriteResult::Done
        }
        Write::Signal {
            task,
            name,
            payload,
            nonce,
        } => WriteResult::Signaled(signal(connection, *task, (name, payload, *nonce), now)?),
        Write::Admin(task, command) => {
            WriteResult::Signaled(apply_command(connection, *task, command, now)?)
        }
        Write::Schedule(write) => WriteResult::Scheduled(schedules::store(connection, write, now)?),
        Write::LimitQueue(queue, limit) => {
            queue_limits::store(connection, queue, *limit)?;
            WriteResult::Done
        }
        Write::LimitLanes(pattern, limit) => {
            lane_limits::store(connection, pattern, *limit, now)?;
            WriteResult::Done
        }
        Write::Prune(retention, limit) => {
            WriteResult::Pruned(prune(connection, *retention, *limit, now)?)
        }
        Write::PruneFeed(age, limit) => {
            WriteResult::Pruned(feed::prune(connection, *age, *limit, now)?)
        }
    })
}

/// Returns the result of a write under a lease; `None` means that the lease is lost.
fn lease_result(cancel_requested: Option<bool>, now: Time) -> WriteResult {
    match cancel_requested {
        Some(cancel_requested) => WriteResult::Written(LeaseStatus {
            now,
            cancel_requested,
        }),
        None => WriteResult::Lost,
    }
}

/// Keeps the steps that run under a lease that is held, and forgets those that were dropped.
fn report_running(
    connection: &Connection,
    started: &[RunningStep],
    ended: &[(Lease, i32)],
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO retry_running (run_id, seq, fence, worker, name, since, due)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 FROM retry_run WHERE id = ?1 AND fence = ?3 AND state = 1";
    for step in started {
        connection.prepare_cached(sql)?.execute(params![
            step.task.0,
            step.seq,
            step.fence.0,
            step.worker.0,
            step.name,
            step.since.as_micros(),
            step.due.map(Time::as_micros),
        ])?;
    }
    let sql = "DELETE FROM retry_running WHERE run_id = ?1 AND seq = ?2 AND fence = ?3";
    for (lease, seq) in ended {
        let values = params![lease.task.0, seq, lease.fence.0];
        connection.prepare_cached(sql)?.execute(values)?;
    }
    Ok(())
}

/// Sets the state of a task. Returns whether a cancel is requested; `None` if the lease is lost.
fn change(
    connection: &Connection,
    lease: Lease,
    change: &Change,
    now: Time,
    has_lines: bool,
) -> rusqlite::Result<Option<bool>> {
    // The lease is lost, or this change has ended it already.
    let Some(cancel_requested) = cancel_requested(connection, lease)? else {
        return changed_before(connection, lease, change);
    };
    let (wake, seen, ends) = match change.wake {
        // No signal is newer than that, so none wakes the task.
        Wake::In(delay) => (now.after(delay), i64::MAX, None),
        Wake::At(time, seen) => (time, seen, None),
        Wake::Children { at, seen, ends } => (at, seen, Some(ends)),
    };
    let sql = "UPDATE retry_run SET
             state = ?3,
             direction = ?4,
             failures = ?5,
             deaths = ?11,
             failed_ord = ?12,
             wake_at = CASE
                 WHEN cancel_asked AND ?4 = 0 THEN ?10
                 WHEN ?7 < 9223372036854775807 AND EXISTS (SELECT 1 FROM retry_signal WHERE run_id = ?1 AND id > ?7 AND name NOT IN ('reattempt:child', 'reattempt:heard')) THEN ?10
                 WHEN ?14 IS NOT NULL AND (SELECT count(*) FROM retry_signal WHERE run_id = ?1 AND id > ?7 AND name <> 'reattempt:heard') >= ?14 THEN ?10
                 ELSE ?6 END,
             awaits = CASE WHEN ?14 IS NOT NULL THEN ?14 - (SELECT count(*) FROM retry_signal WHERE run_id = ?1 AND id > ?7 AND name <> 'reattempt:heard') END,
             output = coalesce(?8, output),
             error = coalesce(?9, error),
             failed_seq = coalesce(?13, failed_seq),
             owner = CASE WHEN ?3 = 1 THEN owner END,
             step_by = NULL,
             updated_at = ?10
         WHERE id = ?1 AND fence = ?2";
    let values = params![
        lease.task.0,
        lease.fence.0,
        change.state.number(),
        change.direction.number(),
        change.counts.failures,
        wake.as_micros(),
        seen,
        change.output,
        change.error,
        now.as_micros(),
        change.counts.deaths,
        change.counts.failed_ord,
        change.failed_seq,
        ends,
    ];
    connection.prepare_cached(sql)?.execute(values)?;
    if has_lines && change.state != State::Processing {
        let sql = "DELETE FROM retry_running WHERE run_id = ?1";
        connection.prepare_cached(sql)?.execute([lease.task.0])?;
    }
    if let Some(step) = &change.failing_step {
        keep_failure(connection, lease.task, step, now)?;
    }
    Ok(Some(cancel_requested))
}

/// Returns whether a cancel is requested for a task that this change has reached: the same worker may have
/// written it before without knowing.
fn changed_before(
    connection: &Connection,
    lease: Lease,
    change: &Change,
) -> rusqlite::Result<Option<bool>> {
    let sql = "SELECT cancel_asked FROM retry_run
         WHERE id = ?1 AND fence = ?2 AND state <> 1 AND (state = ?3 OR state = 0 AND ?3 = 2)
             AND direction = ?4 AND failures = ?5 AND (?6 IS NULL OR output = ?6) AND (?7 IS NULL OR error = ?7)";
    let values = params![
        lease.task.0,
        lease.fence.0,
        change.state.number(),
        change.direction.number(),
        change.counts.failures,
        change.output,
        change.error,
    ];
    query_one(connection, sql, values, |row| row.get(0))
}

/// Keeps how often a step has failed.
pub(super) fn keep_failure(
    connection: &Connection,
    task: TaskId,
    step: &FailingStep,
    now: Time,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO retry_failure (run_id, direction, seq, failures, error, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let values = params![
        task.0,
        step.direction.number(),
        step.seq,
        step.failures,
        step.error,
        now.as_micros(),
    ];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

/// Renews a lease. Returns the tasks of the worker.
pub(super) fn heartbeat(
    connection: &mut Connection,
    worker: &WorkerId,
    lease: Duration,
    clock: &Clock,
) -> rusqlite::Result<Vec<HeldTask>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let held = renew_lease(&transaction, worker, lease, clock.now())?;
    transaction.commit()?;
    Ok(held)
}

fn renew_lease(
    connection: &Connection,
    worker: &WorkerId,
    lease: Duration,
    now: Time,
) -> rusqlite::Result<Vec<HeldTask>> {
    let until = now.after(lease);
    let sql = "INSERT INTO retry_worker (id, lease_until, lease) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, lease = excluded.lease";
    connection.prepare_cached(sql)?.execute(params![
        worker.0,
        until.as_micros(),
        i64::try_from(lease.as_micros()).unwrap_or(i64::MAX)
    ])?;
    let sql = "SELECT id, fence, cancel_asked, (SELECT coalesce(max(id), 0) FROM retry_signal WHERE run_id = retry_run.id)
         FROM retry_run WHERE owner = ?1 AND state = 1";
    let mut rows = connection.prepare_cached(sql)?;
    let held = |row: &rusqlite::Row<'_>| {
        Ok(HeldTask {
            lease: Lease {
                task: TaskId(row.get(0)?),
                fence: Fence(row.get(1)?),
            },
            cancel: row.get(2)?,
            signal: row.get(3)?,
        })
    };
    rows.query_map([&worker.0], held)?.collect()
}

/// Gives back the held tasks with this condition; ?1 is now.
fn give_back(
    connection: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<()> {
    // Both statements take the same values, so this one must name ?1, too.
    let sql = format!(
        "DELETE FROM retry_running WHERE run_id IN (SELECT id FROM retry_run WHERE ?1 > 0 AND state = 1 AND {condition})"
    );
    connection.prepare_cached(&sql)?.execute(values)?;
    let sql = format!(
        "UPDATE retry_run SET state = 0, owner = NULL, fence = fence + 1, step_by = NULL, wake_at = ?1, updated_at = ?1
         WHERE state = 1 AND {condition}"
    );
    connection.prepare_cached(&sql)?.execute(values).map(drop)
}

#[cfg(test)]
mod tests;
