//! Sends the statement of a stage.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::columns::Columns;
use super::columns::micros;
use super::connection::{Check, Live};
use super::lane_limits;
use super::pipeline::{self, Sent};
use super::places::Ranges;
use super::plan::{Stage, StageKind};
use super::queue_limits::LimitedQueues;
use super::{columns, commands, feed, forks, generations, queue_limits, schedules, sql};
use crate::store::{Claim, Retention, Write};

/// Where the statement of a stage stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a transaction that has locked its tasks, whose status stays valid to the end.
    Locked,
    /// In a transaction that may have changed the status of its tasks.
    After,
    /// In a transaction of its own.
    Alone,
}

/// Returns the statement of a stage. It is sent when the future is polled first.
pub(super) fn statement<'a>(
    live: &'a Live,
    stage: &'a Stage<'_>,
    writes: &'a [Write],
    place: Place,
    (check, limited): (&'a Check, &'a LimitedQueues),
    ranges: &'a Ranges,
) -> Sent<'a> {
    let check = (place == Place::Alone).then_some(check);
    let first = stage.places.first().and_then(|place| writes.get(*place));
    let own = stage.places.iter().filter_map(|place| writes.get(*place));
    match stage.kind {
        StageKind::Submits => {
            let new = own.filter_map(|write| match write {
                Write::Submit(new) => Some(&**new),
                _ => None,
            });
            let submits = columns::Submits::of(new.clone());
            // Counting costs, so only submissions with a bound have the statement that counts.
            let bounds = columns::Bounds::of(new);
            if bounds.has_any() {
                return send(live, sql::SUBMIT_BOUNDED, (submits, bounds), None);
            }
            let sql = match place {
                Place::Alone => sql::SUBMIT_ALONE,
                Place::Locked | Place::After => sql::SUBMIT,
            };
            send(live, sql, submits, check)
        }
        StageKind::Records => {
            let sql = match place {
                Place::Locked => sql::RECORD,
                Place::After => sql::RECORD_AFTER,
                Place::Alone => sql::RECORD_ALONE,
            };
            send(live, sql, columns::records(own), check)
        }
        StageKind::Changes | StageKind::Waits => {
            let changes = columns::changes(own);
            let failures = columns::failures(changes.clone());
            // A write behind it may change the task again, so what took place before is found now.
            let is_last = !writes
                .iter()
                .any(|write| matches!(write, Write::Admin(..) | Write::EndChildren { .. }));
            let before = (!is_last).then(|| {
                let before = columns::ChangesBefore::of(changes.clone());
                send(live, sql::CHANGED_BEFORE, before, None)
            });
            let change = if stage.kind == StageKind::Waits {
                send(live, sql::WAIT, columns::Changes::that_wait(changes), None)
            } else {
                let sql = match place {
                    Place::Alone => sql::CHANGE_ALONE,
                    Place::Locked | Place::After => sql::CHANGE,
                };
                send(live, sql, columns::Changes::after_delays(changes), check)
            };
            let fail = failures.map(|failures| send(live, sql::FAIL, failures, None));
            if fail.is_none() && before.is_none() {
                return change;
            }
            let skipped = fail.iter().count();
            // Failures first: they are stored only while the worker holds the task, which the
            // change may end.
            let all = fail.into_iter().chain([change]).chain(before).collect();
            let all = pipeline::together(all);
            Box::pin(async move { Ok(all.await?.into_iter().skip(skipped).flatten().collect()) })
        }
        StageKind::Signals => send(live, sql::SIGNAL, columns::signals(own), None),
        StageKind::AdminCommand(_) | StageKind::Claim | StageKind::Running | StageKind::Single => {
            Box::pin(async move {
                match first {
                    Some(Write::Claim(claim)) => {
                        send_claim(live, claim, limited, ranges, check).await
                    }
                    Some(write) => single(live, write).await,
                    None => Ok(Vec::new()),
                }
            })
        }
    }
}

/// Sends a statement with these columns, and with the values of the check if it has one.
fn send<'a>(
    live: &'a Live,
    sql: &'static str,
    columns: impl Columns + 'a,
    check: Option<&'a Check>,
) -> Sent<'a> {
    Box::pin(async move {
        let mut values = columns.values();
        values.extend(check.iter().flat_map(|check| check.values()));
        live.query(sql, &values).await
    })
}

/// Sends a write that has a statement of its own.
async fn single(live: &Live, write: &Write) -> Result<Vec<Row>, Error> {
    match write {
        Write::ClearDeaths(lease) => {
            live.query(sql::CLEAR_DEATHS, &[&lease.task.0, &lease.fence.0])
                .await
        }
        Write::Start(lease, record, new) => {
            let submits = columns::Submits::of(std::iter::once(&**new));
            let own: [&(dyn ToSql + Sync); 7] = [
                &lease.task.0,
                &lease.fence.0,
                &record.seq,
                &record.ord,
                &record.name,
                &record.args_hash,
                &record.undo,
            ];
            let values: Vec<_> = submits.values().into_iter().chain(own).collect();
            live.query(sql::START, &values).await
        }
        Write::EndChildren {
            lease,
            children,
            undo,
        } => {
            let children: Vec<_> = children.iter().map(|child| child.0).collect();
            let values: [&(dyn ToSql + Sync); 4] = [&lease.task.0, &lease.fence.0, &children, undo];
            live.query(sql::END_CHILDREN, &values).await
        }
        Write::Fork(fork) => forks::send(live, fork).await,
        Write::Continue(lease, next) => generations::send(live, *lease, next).await,
        Write::GiveBack(leases) => {
            let tasks: Vec<_> = leases.iter().map(|lease| lease.task.0).collect();
            let fences: Vec<_> = leases.iter().map(|lease| lease.fence.0).collect();
            live.query(sql::GIVE_BACK, &[&tasks, &fences]).await
        }
        Write::Running { started, ended } => {
            let (started, ended) = (columns::Running::of(started), columns::Ended::of(ended));
            let values: Vec<_> = started.values().into_iter().chain(ended.values()).collect();
            live.query(sql::RUNNING, &values).await
        }
        Write::Leave(worker) => {
            let values: [&(dyn ToSql + Sync); 1] = [&worker.0];
            let release: Sent<'_> = Box::pin(live.query(sql::DISOWN, &values));
            // After the tasks: the row of the worker is their lease.
            let forget: Sent<'_> = Box::pin(live.query(sql::FORGET, &values));
            pipeline::together(vec![release, forget])
                .await
                .map(|_| Vec::new())
        }
        Write::Admin(task, command) => commands::send(live, task, command).await,
        Write::Schedule(write) => schedules::send(live, write).await,
        Write::LimitQueue(queue, limit) => queue_limits::send(live, queue, *limit).await,
        Write::LimitLanes(pattern, limit) => lane_limits::send(live, pattern, *limit).await,
        Write::Prune(retention, limit) => {
            let Retention {
                tasks,
                keys,
                lag,
                forget_keys,
                ends: _,
            } = *retention;
            let [tasks, keys, lag, forget] = [tasks, keys, lag, forget_keys].map(micros);
            let values: [&(dyn ToSql + Sync); 5] =
                [&tasks, &i64::from(*limit), &keys, &lag, &forget];
            live.query(sql::PRUNE, &values).await
        }
        Write::PruneFeed(age, limit) => {
            let values: [&(dyn ToSql + Sync); 2] = [&micros(*age), &i64::from(*limit)];
            live.query(feed::PRUNE, &values).await
        }
        Write::Submit(_)
        | Write::Record(..)
        | Write::Change(..)
        | Write::Claim(_)
        | Write::Signal { .. } => Ok(Vec::new()),
    }
}

/// Sends a claim that looks in these places.
async fn send_claim(
    live: &Live,
    claim: &Claim,
    limited: &LimitedQueues,
    ranges: &Ranges,
    check: Option<&Check>,
) -> Result<Vec<Row>, Error> {
    let sql = match (claim.suspects, limited.has_any_of(&claim.queues)) {
        // `needs_no_lock` lets only a claim without suspects and limits stand alone.
        _ if check.is_some() => sql::CLAIM_ALONE,
        (None, false) => sql::CLAIM,
        (Some(_), false) => sql::CLAIM_SUSPECTS,
        (None, true) => queue_limits::CLAIM,
        (Some(_), true) => queue_limits::CLAIM_SUSPECTS,
    };
    let (limit, waited) = (
        i64::from(claim.limit),
        micros(claim.suspects.unwrap_or_default()),
    );
    let [
        queues,
        workflows,
        versions,
        priorities,
        wake_at,
        tasks,
        next,
    ] = ranges.values();
    let own: [&(dyn ToSql + Sync); 10] = [
        &claim.worker.0,
        queues,
        workflows,
        versions,
        &limit,
        &waited,
        priorities,
        wake_at,
        tasks,
        next,
    ];
    let check = check.iter().flat_map(|check| check.values());
    let values: Vec<_> = own.into_iter().chain(check).collect();
    live.query(sql, &values).await
}
