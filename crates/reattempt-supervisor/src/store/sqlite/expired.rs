//! Reclaims tasks whose worker or whose time is gone.

use rusqlite::{Connection, TransactionBehavior, params};

use super::row::query_one;
use super::{apply, queries};
use crate::store::expiry::find_expiry;
use crate::store::next_state::failures_of;
use crate::store::outage::{Sweeps, Watch};
use crate::store::{Expiry, Failure, NextState, Overdue, Reclaimed, Sweep};
use crate::task::{Task, WorkerId};
use crate::time::{Clock, Time};

/// The conditions of expired tasks, each with an index of its own; ?1 is now, ?2 the largest number
/// of tasks.
const EXPIRED: [&str; 4] = [
    "state = 1 AND NOT EXISTS (SELECT 1 FROM retry_worker WHERE retry_worker.id = retry_run.owner AND lease_until > ?1)",
    "state = 1 AND step_by < ?1",
    "state = 1 AND id IN (SELECT run_id FROM retry_running AS line WHERE due IS NOT NULL AND due < ?1 AND line.fence = retry_run.fence)",
    "complete_by IS NOT NULL AND state < 3 AND direction = 0 AND complete_by < ?1",
];

/// Finds leases that are too long: the clock was set back since.
const AHEAD: &str = "SELECT 1 FROM retry_worker WHERE (lease_until - ?1) / 2 > lease LIMIT 1";

/// Looks at the sweeps before.
fn watch(connection: &Connection, now: Time, sweep: &Sweep) -> rusqlite::Result<Watch> {
    let sql = "SELECT (SELECT value FROM retry_meta WHERE key = 'last_sweep'), (SELECT value FROM retry_meta WHERE key = 'judge_from'),
             (SELECT max(lease) FROM retry_worker)";
    connection.prepare_cached(sql)?.query_row([], |row| {
        let sweeps = Sweeps {
            last: row.get::<_, Option<i64>>(0)?.map(Time::from_micros),
            judge_from: Time::from_micros(row.get::<_, Option<i64>>(1)?.unwrap_or_default()),
        };
        let longest = row.get::<_, Option<i64>>(2)?.unwrap_or_default();
        let longest = Time::from_micros(longest).since(Time::default());
        Ok(sweeps.watch(now, longest, sweep.every))
    })
}

/// Returns the running step of a task whose time is over first, and when.
fn next_due(connection: &Connection, task: &Task) -> rusqlite::Result<Option<(Time, Overdue)>> {
    let steps = queries::running(connection, task.id)?;
    let steps = steps.iter().filter_map(|step| Some((step.due?, step.seq)));
    let Some((due, seq)) = steps.min() else {
        return Ok(None);
    };
    let failing = queries::failures(connection, task.id)?;
    let failures = failures_of(&failing, task.direction, seq);
    Ok(Some((due, Overdue { seq, failures })))
}

/// Returns whether there is anything to write.
pub(super) fn has_expired(
    connection: &mut Connection,
    sweep: &Sweep,
    now: Time,
) -> rusqlite::Result<bool> {
    if watch(connection, now, sweep)?.note.is_some() {
        return Ok(true);
    }
    let now = now.as_micros();
    if query_one(connection, AHEAD, [now], |_| Ok(()))?.is_some() {
        return Ok(true);
    }
    for condition in EXPIRED {
        let sql = format!("SELECT 1 FROM retry_run WHERE {condition} LIMIT 1");
        if query_one(connection, &sql, [now], |_| Ok(()))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reclaims expired tasks in one transaction.
pub(super) fn reclaim_all(
    connection: &mut Connection,
    sweep: &Sweep,
    clock: &Clock,
) -> rusqlite::Result<Vec<Reclaimed>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let now = clock.now();
    let watch = watch(&transaction, now, sweep)?;
    if let Some(Sweeps { last, judge_from }) = watch.note {
        let sql = "INSERT OR REPLACE INTO retry_meta (key, value) VALUES ('last_sweep', ?1), ('judge_from', ?2)";
        let last = last.unwrap_or(now).as_micros();
        transaction
            .prepare_cached(sql)?
            .execute([last, judge_from.as_micros()])?;
    }
    // A live worker renews its lease; the lease of a dead one would last longer by as much as the
    // clock was set back.
    let sql =
        "UPDATE retry_worker SET lease_until = ?1 + lease WHERE (lease_until - ?1) / 2 > lease";
    transaction
        .prepare_cached(sql)?
        .execute([now.as_micros()])?;
    let mut reclaimed = Vec::new();
    let limit = usize::try_from(sweep.limit).unwrap_or(usize::MAX);
    for condition in EXPIRED {
        let left = i64::try_from(limit.saturating_sub(reclaimed.len())).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT {} FROM retry_run WHERE {condition} LIMIT ?2",
            queries::COLUMNS
        );
        let mut rows = transaction.prepare_cached(&sql)?;
        let tasks = rows.query_map([now.as_micros(), left], queries::task_of)?;
        for task in tasks.collect::<rusqlite::Result<Vec<_>>>()? {
            // A task may have several reasons to expire.
            if reclaimed.iter().any(|one: &Reclaimed| one.task == task.id) {
                continue;
            }
            let owner = task.owner.as_ref().map(|owner| &owner.0);
            let sql = "SELECT 1 FROM retry_worker WHERE id = ?1 AND lease_until > ?2";
            let owner_row = query_one(&transaction, sql, params![owner, now.as_micros()], |_| {
                Ok(())
            })?;
            let (due, overdue) = next_due(&transaction, &task)?.unzip();
            let is_alive = |_: &WorkerId| owner_row.is_some();
            let Some(expiry) = find_expiry(&task, due, now, watch.may_judge, is_alive) else {
                continue;
            };
            let progress = queries::progress(&transaction, task.id)?;
            // Only an overdue step has failed. A step beside a dead worker is not to blame.
            let overdue = overdue.filter(|_| expiry == Expiry::Step);
            let before = Failure::before(&task, progress, overdue);
            let next =
                NextState::after_expiry(&task, expiry, before, &sweep.delays, rand::random());
            let one = Reclaimed::new(&task, expiry, overdue, next);
            let sql = "UPDATE retry_run SET state = ?2, direction = ?3, failures = ?4, wake_at = ?5, error = ?6, owner = NULL, step_by = NULL,
                     fence = fence + 1, updated_at = ?7, deaths = ?8, failed_ord = ?9, failed_seq = coalesce(?10, failed_seq) WHERE id = ?1";
            let values = params![
                task.id.0,
                next.state.number(),
                next.direction.number(),
                next.counts.failures,
                now.after(next.delay).as_micros(),
                one.error,
                now.as_micros(),
                next.counts.deaths,
                next.counts.failed_ord,
                one.failed_seq(),
            ];
            transaction.prepare_cached(sql)?.execute(values)?;
            if let Some(step) = &one.failing_step {
                apply::keep_failure(&transaction, task.id, step, now)?;
            }
            let sql = "DELETE FROM retry_running WHERE run_id = ?1";
            transaction.prepare_cached(sql)?.execute([task.id.0])?;
            reclaimed.push(one);
        }
    }
    // A line counts only under the fence of its task.
    let sql = "DELETE FROM retry_running WHERE due IS NOT NULL AND due < ?1 AND NOT EXISTS
             (SELECT 1 FROM retry_run WHERE id = run_id AND retry_run.fence = retry_running.fence AND state = 1)";
    transaction
        .prepare_cached(sql)?
        .execute([now.as_micros()])?;
    // Forget workers that will not come back.
    let sql = "DELETE FROM retry_worker WHERE lease_until < ?1 AND NOT EXISTS (SELECT 1 FROM retry_run WHERE owner = retry_worker.id AND state = 1)";
    transaction
        .prepare_cached(sql)?
        .execute([now.as_micros().saturating_sub(3_600_000_000)])?;
    transaction.commit()?;
    Ok(reclaimed)
}
