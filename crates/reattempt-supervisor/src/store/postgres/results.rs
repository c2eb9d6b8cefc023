//! Converts the returned rows into the results of the writes.

use std::collections::{HashMap, HashSet};

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::columns::{self, Columns as _};
use super::connection::Live;
use super::places::Ranges;
use super::plan::{Stage, StageKind};
use super::queue_limits::LimitedQueues;
use super::sqlstate::store_error;
use super::statement::{Place, statement};
use super::{forks, rows, sql};
use crate::store::rows::Row as _;
use crate::store::{LeaseStatus, SignalResult, StoreError, Submitted, Write, WriteResult};
use crate::task::{State, TaskId};
use crate::time::Time;

/// The status of each locked task.
pub(super) type LockStatuses = HashMap<i64, LeaseStatus>;

/// Reads the status of each locked task.
pub(super) fn lock_statuses(locked: &[Row]) -> LockStatuses {
    let is_task = |row: &&Row| row.get::<_, Option<i64>>(0).is_some();
    let status = |row: &Row| (row.get(0), status_of(row, 1));
    locked.iter().filter(is_task).map(status).collect()
}

/// Reads the status of a task from two columns.
fn status_of(row: &Row, first: usize) -> LeaseStatus {
    LeaseStatus {
        cancel_requested: row.get(first),
        now: Time::from_micros(row.get(first.saturating_add(1))),
    }
}

/// Returns the error for a write without a result.
pub(super) fn missing() -> StoreError {
    StoreError::lasting("PostgreSQL returned no result for a write")
}

/// Sets the results of records. Sends a record that was not written again by itself: it may be
/// there already.
pub(super) async fn set_record_results(
    live: &Live,
    stage: &Stage<'_>,
    writes: &[Write],
    (rows, statuses): (&[Row], &LockStatuses),
    results: &mut [Option<WriteResult>],
) -> Result<(), StoreError> {
    let place = |row: &Row| (row.get(0), row.get(1), row.get(2));
    let written: HashSet<(i64, i32, i16)> = rows.iter().map(place).collect();
    let mut left = Vec::new();
    for place in &stage.places {
        let Some(Write::Record(lease, record)) = writes.get(*place) else {
            continue;
        };
        let is_written = written.contains(&(lease.task.0, record.seq, record.kind.number()));
        match statuses.get(&lease.task.0) {
            Some(status) if is_written => set(results, *place, WriteResult::Written(*status)),
            _ => left.push(*place),
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    // The statement locks tasks in the order of its list, which must be that of all transactions.
    left.sort_by_key(|place| match writes.get(*place) {
        Some(Write::Record(lease, _)) => lease.task,
        _ => TaskId(0),
    });
    let left = stage.with_places(left);
    let check = live.check(None);
    // These are no claims.
    let (limited, ranges) = (LimitedQueues::default(), Ranges::default());
    let again = statement(
        live,
        &left,
        writes,
        Place::Alone,
        (&check, &limited),
        &ranges,
    );
    let rows = live.alone(again).await.map_err(store_error)?;
    set_results(&left, writes, &rows, results)
}

/// Sets the results of submissions. A task that was not stored is there already.
pub(super) async fn set_submit_results(
    live: &Live,
    stage: &Stage<'_>,
    writes: &[Write],
    rows: &[Row],
    results: &mut [Option<WriteResult>],
) -> Result<(), StoreError> {
    let new = by_key(rows);
    let own = stage
        .places
        .iter()
        .filter_map(|place| match writes.get(*place) {
            Some(Write::Submit(new)) => Some((*place, &**new)),
            _ => None,
        });
    let mut there = Vec::new();
    for (place, submit) in own {
        match new.get(&(submit.workflow.as_str(), submit.key.as_str())) {
            Some(id) => set(results, place, WriteResult::Submitted(Submitted::new(*id))),
            None => there.push((place, submit)),
        }
    }
    if there.is_empty() {
        return Ok(());
    }
    let workflows: Vec<_> = there
        .iter()
        .map(|(_, submit)| submit.workflow.as_str())
        .collect();
    let keys: Vec<_> = there
        .iter()
        .map(|(_, submit)| submit.key.as_str())
        .collect();
    // Also finds tasks that another transaction has committed while this one waited for it.
    let values: [&(dyn ToSql + Sync); 2] = [&workflows, &keys];
    let look = live.alone(Box::pin(live.query(sql::BY_KEY, &values)));
    let rows = look.await.map_err(store_error)?;
    let key = |row: &Row| (row.get::<_, String>(0), row.get::<_, String>(1));
    let old: HashMap<_, _> = rows.iter().map(|row| (key(row), row)).collect();
    for (place, submit) in there {
        let row = old.get(&(submit.workflow.clone(), submit.key.clone()));
        // Neither stored nor there before: its queue had no room.
        if row.is_none() && submit.max_pending.is_some() {
            set(results, place, WriteResult::QueueFull);
            continue;
        }
        let row = row
            .ok_or_else(|| StoreError::passing("a task with the same key was deleted just now"))?;
        let earlier = rows::earlier_of(row, submit);
        set(results, place, WriteResult::Submitted(earlier));
    }
    Ok(())
}

/// Sets the results of changes. Looks for those that did not take place now: they may have before.
pub(super) async fn set_change_results(
    live: &Live,
    stage: &Stage<'_>,
    writes: &[Write],
    rows: &[Row],
    results: &mut [Option<WriteResult>],
) -> Result<(), StoreError> {
    set_results(stage, writes, rows, results)?;
    let is_lost = |place: &usize| matches!(results.get(*place), Some(Some(WriteResult::Lost)));
    // The search has a statement of its own, because most changes find their task.
    let left: Vec<_> = stage.places.iter().copied().filter(is_lost).collect();
    if left.is_empty() {
        return Ok(());
    }
    let own = left.iter().filter_map(|place| writes.get(*place));
    let columns = columns::ChangesBefore::of(columns::changes(own));
    let values = columns.values();
    let look = live.alone(Box::pin(live.query(sql::CHANGED_BEFORE, &values)));
    let rows = look.await.map_err(store_error)?;
    set_results(&stage.with_places(left), writes, &rows, results)
}

fn by_key(rows: &[Row]) -> HashMap<(&str, &str), TaskId> {
    rows.iter()
        .map(|row| ((row.get(0), row.get(1)), TaskId(row.get(2))))
        .collect()
}

fn set(results: &mut [Option<WriteResult>], place: usize, result: WriteResult) {
    if let Some(kept) = results.get_mut(place) {
        *kept = Some(result);
    }
}

/// Sets the results of a stage from its rows.
pub(super) fn set_results(
    stage: &Stage<'_>,
    writes: &[Write],
    rows: &[Row],
    results: &mut [Option<WriteResult>],
) -> Result<(), StoreError> {
    let place_of = |row: &Row| {
        let nth = usize::try_from(row.get::<_, i64>(0).saturating_sub(1)).ok();
        nth.and_then(|nth| stage.places.get(nth)).copied()
    };
    match stage.kind {
        StageKind::Submits => {}
        StageKind::Records | StageKind::Changes | StageKind::Waits => {
            for place in &stage.places {
                // Only held tasks have a row.
                set(results, *place, WriteResult::Lost);
            }
            for row in rows {
                let place = place_of(row).ok_or_else(missing)?;
                set(results, place, WriteResult::Written(status_of(row, 1)));
            }
        }
        StageKind::Signals => {
            for row in rows {
                let place = place_of(row).ok_or_else(missing)?;
                let signal_result = match row.cell::<Option<State>>(1)? {
                    None => SignalResult::UnknownTask,
                    Some(ended) if ended.is_final() => SignalResult::NotAllowed(ended),
                    Some(_) => SignalResult::Accepted,
                };
                set(results, place, WriteResult::Signaled(signal_result));
            }
        }
        StageKind::AdminCommand(_) | StageKind::Claim | StageKind::Running | StageKind::Single => {
            for place in &stage.places {
                let write = writes.get(*place).ok_or_else(missing)?;
                set(results, *place, result_of(write, rows)?);
            }
        }
    }
    Ok(())
}

/// Returns the result of a write that has a statement of its own.
fn result_of(write: &Write, rows: &[Row]) -> Result<WriteResult, StoreError> {
    Ok(match write {
        Write::Claim(_) => {
            let Some((rest, claimed)) = rows.split_last() else {
                return Err(missing());
            };
            let claimed = claimed.iter().map(rows::claimed_of);
            let mut claimed = claimed.collect::<Result<Vec<_>, _>>()?;
            // An `UPDATE` returns its rows in any order.
            claimed.sort_by_key(|claimed| {
                let task = &claimed.task;
                (task.priority, task.wake_at, task.id)
            });
            WriteResult::Claimed(claimed, rows::again_of(rest))
        }
        Write::ClearDeaths(_) | Write::Continue(..) => match rows.first() {
            Some(row) => WriteResult::Written(status_of(row, 0)),
            None => WriteResult::Lost,
        },
        Write::Start(..) => match rows.first() {
            Some(row) => match row.get::<_, Option<i64>>(2) {
                Some(id) => WriteResult::Started(status_of(row, 0), TaskId(id)),
                None => match row.get::<_, Option<i64>>(3) {
                    Some(other) => WriteResult::KeyTaken(TaskId(other)),
                    None => WriteResult::Lost,
                },
            },
            None => WriteResult::Lost,
        },
        Write::Fork(fork) => forks::result_of(fork, rows.first().ok_or_else(missing)?)?,
        Write::EndChildren { .. } => match rows.first() {
            Some(first) => {
                let has_child = |row: &&Row| row.get::<_, Option<i64>>(2).is_some();
                let children = rows.iter().filter(has_child);
                let children = children.map(|row| Ok((row.cell(2)?, row.cell(3)?)));
                let children = children.collect::<Result<_, StoreError>>()?;
                WriteResult::Children(status_of(first, 0), children)
            }
            None => WriteResult::Lost,
        },
        Write::Admin(..) => WriteResult::Signaled(match rows.first() {
            None => SignalResult::UnknownTask,
            Some(row) if row.get(1) && row.len() > 2 && !row.get::<_, bool>(2) => {
                SignalResult::UnknownStep
            }
            Some(row) if row.get(1) => SignalResult::Accepted,
            Some(row) => SignalResult::NotAllowed(row.cell(0)?),
        }),
        Write::Schedule(_) => WriteResult::Scheduled(rows.first().ok_or_else(missing)?.get(0)),
        Write::Prune(..) | Write::PruneFeed(..) => {
            let count: i64 = rows.first().ok_or_else(missing)?.get(0);
            WriteResult::Pruned(count.cast_unsigned())
        }
        _ => WriteResult::Done,
    })
}
