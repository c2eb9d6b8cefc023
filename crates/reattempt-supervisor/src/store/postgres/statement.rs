//! Sends the statement of a stage.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::columns::micros;
use super::connection::Live;
use super::pipeline::{self, Sent};
use super::plan::{Stage, StageKind};
use super::{columns, sql};
use crate::store::{AdminCommand, Wake, Write};

/// Returns the statement of a stage. It is sent when the future is polled first.
pub(super) fn statement<'a>(
    live: &'a Live,
    stage: &'a Stage<'_>,
    writes: &'a [Write],
    is_known: bool,
) -> Sent<'a> {
    let first = stage.places.first().and_then(|place| writes.get(*place));
    let own = stage.places.iter().filter_map(|place| writes.get(*place));
    match stage.kind {
        StageKind::Submits => {
            let submits = columns::Submits::of(own.filter_map(|write| match write {
                Write::Submit(new) => Some(&**new),
                _ => None,
            }));
            Box::pin(async move { live.query(sql::SUBMIT, &submits.values()).await })
        }
        StageKind::Records => {
            let records = columns::Records::of(own);
            let sql = if is_known {
                sql::RECORD
            } else {
                sql::RECORD_ALONE
            };
            Box::pin(async move { live.query(sql, &records.values()).await })
        }
        StageKind::Changes => {
            let each = own.zip(1_i64..);
            let each = each.map(|(write, nth)| -> Sent<'_> {
                Box::pin(async move { change(live, write, nth).await })
            });
            let together = pipeline::together(each.collect());
            Box::pin(async move { Ok(together.await?.into_iter().flatten().collect()) })
        }
        StageKind::Signals => {
            let signals = columns::Signals::of(own);
            Box::pin(async move { live.query(sql::SIGNAL, &signals.values()).await })
        }
        StageKind::AdminCommand(_) | StageKind::Claim | StageKind::Running | StageKind::Single => {
            Box::pin(async move {
                match first {
                    Some(write) => single(live, write).await,
                    None => Ok(Vec::new()),
                }
            })
        }
    }
}

/// Sends the `nth` change of a stage.
async fn change(live: &Live, write: &Write, nth: i64) -> Result<Vec<Row>, Error> {
    match write {
        Write::ClearDeaths(lease) => {
            let values: [&(dyn ToSql + Sync); 3] = [&lease.task.0, &lease.fence.0, &nth];
            live.query(sql::CLEAR_DEATHS, &values).await
        }
        Write::Change(lease, change) => {
            let (delay, wake_at, seen) = match change.wake {
                Wake::In(delay) => (Some(micros(delay)), None, None),
                Wake::At(time, seen) => (None, Some(time.as_micros()), Some(seen)),
            };
            let (state, direction) = (change.state.number(), change.direction.number());
            let mut values: Vec<&(dyn ToSql + Sync)> = vec![
                &lease.task.0,
                &lease.fence.0,
                &state,
                &direction,
                &change.counts.failures,
                &delay,
                &wake_at,
                &seen,
                &change.output,
                &change.error,
                &nth,
                &change.failed_seq,
                &change.counts.deaths,
                &change.counts.failed_ord,
            ];
            let Some(step) = &change.failing_step else {
                return live.query(sql::CHANGE, &values).await;
            };
            let failed_in = step.direction.number();
            let failed: [&(dyn ToSql + Sync); 4] =
                [&failed_in, &step.seq, &step.failures, &step.error];
            values.extend(failed);
            live.query(sql::CHANGE_FAILED, &values).await
        }
        _ => Ok(Vec::new()),
    }
}

/// Sends a write that has a statement of its own.
async fn single(live: &Live, write: &Write) -> Result<Vec<Row>, Error> {
    match write {
        Write::Claim(claim) => {
            let (workflows, versions) = columns::of_workflows(&claim.workflows);
            let sql = match claim.suspects {
                None => sql::CLAIM,
                Some(_) => sql::CLAIM_SUSPECTS,
            };
            let (limit, waited) = (
                i64::from(claim.limit),
                micros(claim.suspects.unwrap_or_default()),
            );
            let values: [&(dyn ToSql + Sync); 6] = [
                &claim.worker.0,
                &claim.queues,
                &workflows,
                &versions,
                &limit,
                &waited,
            ];
            live.query(sql, &values).await
        }
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
            let forget: Sent<'_> = Box::pin(live.query(sql::FORGET, &values));
            pipeline::together(vec![release, forget])
                .await
                .map(|_| Vec::new())
        }
        Write::Admin(task, AdminCommand::Cancel) => live.query(sql::CANCEL, &[&task.0]).await,
        Write::Admin(task, AdminCommand::Park(why)) => live.query(sql::PARK, &[&task.0, why]).await,
        Write::Admin(task, AdminCommand::Resubmit) => live.query(sql::RESUBMIT, &[&task.0]).await,
        Write::Admin(task, AdminCommand::Resolve(resolution)) => {
            let values: [&(dyn ToSql + Sync); 6] = [
                &task.0,
                &resolution.seq,
                &resolution.verdict.as_str(),
                &resolution.verdict.result(),
                &resolution.by,
                &resolution.why,
            ];
            live.query(sql::RESOLVE, &values).await
        }
        Write::Admin(task, AdminCommand::Undo) => live.query(sql::UNDO, &[&task.0]).await,
        Write::Prune(age, limit) => {
            let values: [&(dyn ToSql + Sync); 2] = [&micros(*age), &i64::from(*limit)];
            live.query(sql::PRUNE, &values).await
        }
        Write::Submit(_)
        | Write::Record(..)
        | Write::ClearDeaths(_)
        | Write::Change(..)
        | Write::Signal { .. } => Ok(Vec::new()),
    }
}
