//! Carries out writes in one transaction and one round trip.

use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::columns::{self, Columns as _};
use super::connection::Live;
use super::pipeline::Sent;
use super::places::{Left, Places, Ranges};
use super::plan::{self, Stage, StageKind};
use super::queue_limits::LimitedQueues;
use super::results::{
    LockStatuses, lock_statuses, missing, set_change_results, set_record_results, set_results,
    set_submit_results,
};
use super::sql;
use super::sqlstate::store_error;
use super::statement::{Place, statement};
use crate::store::{StoreError, Wake, Write, WriteResult};
use crate::task::{Lease, TaskId};
use crate::time::Time;

/// How long a transaction with writes of many tasks waits for a lock. What waits for a transaction of the
/// application is then written apart, so that it delays no other write.
pub(super) const LOCK_LIMIT: Duration = Duration::from_millis(50);

/// How long a transaction waits for a lock if only others wait with it that wait for locks, too.
pub(super) const PATIENCE: Duration = Duration::from_millis(200);

/// What the process knows that writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    /// Whether it has claimed a task that is in a lane.
    pub(super) has_lanes: bool,
    /// The lines of steps that end with the writes.
    pub(super) ended: &'a [(Lease, i32)],
    pub(super) limited: &'a LimitedQueues,
    pub(super) places: &'a Places,
}

/// What a transaction has done.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) results: Vec<WriteResult>,
    /// When it began, if it may have stored something. No task that it has stored wakes up earlier, unless a write
    /// says so.
    pub(super) began: Option<Time>,
    /// Whether a child has ended, so that its parent may go on.
    pub(super) ends_child: bool,
}

/// Carries out all writes, and returns a result for each. The lines of steps that have ended with them go, too.
pub(super) async fn write_all(
    live: &Live,
    writes: &[Write],
    known: Known<'_>,
    lock_limit: Duration,
) -> Result<Written, StoreError> {
    let Known { ended, limited, .. } = known;
    let claims = writes.iter().any(|write| matches!(write, Write::Claim(_)));
    // The look begins before the claim is sent: what other processes report meanwhile takes the
    // places back that it finds.
    let search = claims.then(|| known.places.look());
    let claim_of = |stage: &Stage<'_>| match writes.get(*stage.places.first()?) {
        Some(Write::Claim(claim)) => Some(claim),
        _ => None,
    };
    let ranges_of = |stage: &Stage<'_>| match (&search, claim_of(stage)) {
        (Some(search), Some(claim)) => search.ranges(claim),
        _ => Ranges::default(),
    };
    let stages = plan::stages(writes);
    let mut results: Vec<Option<WriteResult>> = writes.iter().map(|_| None).collect();
    // One statement without `BEGIN`: it locks its task and checks the epoch itself.
    let is_single = writes.len() == 1
        && ended.is_empty()
        && writes.iter().all(|write| needs_no_lock(write, limited));
    // Whether the status of the locked tasks stays valid to the end.
    let is_known = !is_single && stages.iter().all(Stage::keeps_lock_status);
    let place = match (is_single, is_known) {
        (true, _) => Place::Alone,
        (false, true) => Place::Locked,
        (false, false) => Place::After,
    };
    let check = live.check(Some(lock_limit));
    let tasks = plan::task_numbers(&stages);
    let ending: Vec<_> = writes.iter().filter_map(ending_task).collect();
    let lanes: Vec<_> = writes.iter().filter_map(lane_of).collect();
    // A process that has never seen a lane saves the statement. Triggers lock lanes in any case,
    // only not in the order of their names.
    let has_lanes = !is_single && (known.has_lanes || !lanes.is_empty());
    let all_ranges: Vec<_> = stages.iter().map(ranges_of).collect();
    let statements = stages.iter().zip(&all_ranges);
    let mut statements = statements
        .map(|(stage, ranges)| statement(live, stage, writes, place, (&check, limited), ranges));
    let mut began = None;
    let (statuses, answers) = match statements.next() {
        Some(statement) if is_single => {
            let rows = live.alone(statement).await.map_err(store_error)?;
            (LockStatuses::default(), vec![rows])
        }
        first => {
            let lock: Sent<'_> = Box::pin(async {
                let tasks: &(dyn ToSql + Sync) = &tasks;
                let ending: &(dyn ToSql + Sync) = &ending;
                let values = std::iter::once(tasks).chain(check.values());
                let values: Vec<_> = values.chain([ending]).collect();
                live.query(sql::LOCK, &values).await
            });
            let lock_lanes = has_lanes.then(|| -> Sent<'_> {
                Box::pin(async {
                    let values: [&(dyn ToSql + Sync); 2] = [&lanes, &ending];
                    live.query(sql::LOCK_LANES, &values).await
                })
            });
            let ended = columns::Ended::of(ended);
            let forget_lines = (!ended.is_empty()).then(|| -> Sent<'_> {
                Box::pin(async move { live.query(sql::FORGET_LINES, &ended.values()).await })
            });
            // Every transaction locks tasks, then lanes, and then the tasks that get a turn, so two
            // of them cannot wait for each other.
            let all = std::iter::once(lock).chain(lock_lanes);
            let all = all.chain(first).chain(statements).chain(forget_lines);
            let answers = live.transaction(all.collect()).await;
            let mut answers = answers.map_err(store_error)?.into_iter();
            let locked = answers.next().unwrap_or_default();
            // The time of the transaction, which all its statements share: the tasks that it stores
            // are ready from then on.
            began = locked.first().map(|row| row.get(2));
            if has_lanes {
                answers.next();
            }
            (lock_statuses(&locked), answers.collect())
        }
    };
    let mut ends_child = false;
    for ((stage, ranges), rows) in stages.iter().zip(&all_ranges).zip(&answers) {
        match stage.kind {
            StageKind::Submits => {
                began = began.or(rows.first().map(|row| row.get(3)));
                set_submit_results(live, stage, writes, rows, &mut results).await?;
            }
            // Otherwise the statement has locked the tasks itself, and its rows say which are held.
            StageKind::Records if is_known => {
                set_record_results(live, stage, writes, (rows, &statuses), &mut results).await?;
            }
            StageKind::Changes | StageKind::Waits => {
                began = began.or(rows.first().map(|row| row.get(2)));
                ends_child |= rows.iter().any(ends_child_of);
                set_change_results(live, stage, writes, rows, &mut results).await?;
            }
            _ => set_results(stage, writes, rows, &mut results)?,
        }
        // A claim of suspects has looked at them only, and says nothing about the places of other
        // tasks.
        if let (Some(search), Some(claim), Some(row)) = (&search, claim_of(stage), rows.last())
            && claim.suspects.is_none()
            && let Some(Some(WriteResult::Claimed(claimed, _))) =
                stage.places.first().and_then(|place| results.get(*place))
        {
            search.found(ranges, claimed, &Left::of(row));
        }
    }
    let result = |result: Option<WriteResult>| result.ok_or_else(missing);
    Ok(Written {
        results: results.into_iter().map(result).collect::<Result<_, _>>()?,
        began: began.map(Time::from_micros),
        ends_child,
    })
}

/// Returns whether a row says that a change has ended a child; one that took place before does not say it.
fn ends_child_of(row: &Row) -> bool {
    row.len() > 3 && row.get(3)
}

/// Returns the lane of a new task.
fn lane_of(write: &Write) -> Option<&str> {
    match write {
        Write::Submit(new) | Write::Start(_, _, new) => new.lane.as_deref(),
        Write::Fork(fork) => fork.new.lane.as_deref(),
        _ => None,
    }
}

/// Returns the tasks of these writes that another transaction has locked.
pub(super) async fn locked_tasks(live: &Live, writes: &[Write]) -> Result<Vec<TaskId>, StoreError> {
    let tasks: Vec<_> = writes
        .iter()
        .flat_map(Write::tasks)
        .map(|task| task.0)
        .collect();
    let ending: Vec<_> = writes.iter().filter_map(ending_task).collect();
    let values: [&(dyn ToSql + Sync); 2] = [&tasks, &ending];
    let looking = live.alone(Box::pin(live.query(sql::LOCKED, &values)));
    let rows = looking.await.map_err(store_error)?;
    Ok(rows.iter().map(|row| TaskId(row.get(0))).collect())
}

/// Returns the task that a write may end.
fn ending_task(write: &Write) -> Option<i64> {
    match write {
        Write::Change(lease, change) if change.state.is_final() => Some(lease.task.0),
        Write::Admin(task, _) => Some(task.0),
        _ => None,
    }
}

/// Returns whether the statement of a write locks its task and sees everything it must see, so that
/// it needs no lock before it.
fn needs_no_lock(write: &Write, limited: &LimitedQueues) -> bool {
    match write {
        // Those of limited queues and of suspects have no statement that checks the epoch.
        Write::Claim(claim) => claim.suspects.is_none() && !limited.has_any_of(&claim.queues),
        // A bound has a statement of its own.
        Write::Submit(new) => new.max_pending.is_none(),
        // It locks its task, and finds a record that is there.
        Write::Record(..) => true,
        // Another transaction may be committing a signal.
        Write::Change(_, change) => {
            matches!(change.wake, Wake::In(_)) && change.failing_step.is_none()
        }
        _ => false,
    }
}
