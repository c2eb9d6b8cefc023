//! The statements of a stage.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::link::Live;
use super::pipeline::{self, Sent};
use super::plan::{Kind, Stage};
use super::{columns, micros, sql};
use crate::store::{Operation, Steer, Wake};

/// The statement of a stage, which is sent when it is polled first.
pub(super) fn statement<'a>(
    live: &'a Live,
    stage: &'a Stage<'_>,
    operations: &'a [Operation],
    is_known: bool,
) -> Sent<'a> {
    let first = stage
        .places
        .first()
        .and_then(|place| operations.get(*place));
    let own = stage
        .places
        .iter()
        .filter_map(|place| operations.get(*place));
    match stage.kind {
        Kind::Submits => {
            let submits = columns::Submits::of(own.filter_map(|operation| match operation {
                Operation::Submit(new) => Some(&**new),
                _ => None,
            }));
            Box::pin(async move { live.query(sql::SUBMIT, &submits.values()).await })
        }
        Kind::Records => {
            let records = columns::Records::of(own);
            let sql = if is_known {
                sql::RECORD
            } else {
                sql::RECORD_ALONE
            };
            Box::pin(async move { live.query(sql, &records.values()).await })
        }
        Kind::Announcements | Kind::Changes => {
            let each = own.zip(1_i64..);
            let each = each.map(|(operation, nth)| -> Sent<'_> {
                Box::pin(async move { changed(live, operation, nth).await })
            });
            let together = pipeline::together(each.collect());
            Box::pin(async move { Ok(together.await?.into_iter().flatten().collect()) })
        }
        Kind::Signals => {
            let signals = columns::Signals::of(own);
            Box::pin(async move { live.query(sql::SIGNAL, &signals.values()).await })
        }
        Kind::Steer(_) | Kind::Claim | Kind::Alone => Box::pin(async move {
            match first {
                Some(operation) => alone(live, operation).await,
                None => Ok(Vec::new()),
            }
        }),
    }
}

/// What changes how a task stands, which is the `nth` of its kind.
async fn changed(live: &Live, operation: &Operation, nth: i64) -> Result<Vec<Row>, Error> {
    match operation {
        Operation::Announce(hold, by) => {
            let by = by.as_micros();
            live.query(sql::ANNOUNCE, &[&hold.run.0, &hold.fence.0, &by, &nth])
                .await
        }
        Operation::Change(hold, change) => {
            let (delay, wake_at, seen) = match change.wake {
                Wake::In(delay) => (Some(micros(delay)), None, None),
                Wake::At(time, seen) => (None, Some(time.as_micros()), Some(seen)),
            };
            let values: [&(dyn ToSql + Sync); 11] = [
                &hold.run.0,
                &hold.fence.0,
                &change.state.number(),
                &change.direction.number(),
                &change.failures,
                &delay,
                &wake_at,
                &seen,
                &change.output,
                &change.error,
                &nth,
            ];
            live.query(sql::CHANGE, &values).await
        }
        _ => Ok(Vec::new()),
    }
}

async fn alone(live: &Live, operation: &Operation) -> Result<Vec<Row>, Error> {
    match operation {
        Operation::Claim(claim) => {
            let known = claim.workflows.iter();
            let known = known.map(|(name, version)| format!("{name}@{version}"));
            let known: Vec<_> = known.collect();
            let values: [&(dyn ToSql + Sync); 4] = [
                &claim.worker.0,
                &claim.queues,
                &known,
                &i64::from(claim.limit),
            ];
            live.query(sql::CLAIM, &values).await
        }
        Operation::Beat(worker, lease) => {
            live.query(sql::BEAT, &[&worker.0, &micros(*lease)]).await
        }
        Operation::Disown(worker, held) => {
            let held: Vec<_> = held.iter().map(|run| run.0).collect();
            live.query(sql::DISOWN, &[&worker.0, &held]).await
        }
        Operation::Leave(worker) => {
            let none: [i64; 0] = [];
            let values: [&(dyn ToSql + Sync); 2] = [&worker.0, &none.as_slice()];
            let disown: Sent<'_> = Box::pin(live.query(sql::DISOWN, &values));
            let values: [&(dyn ToSql + Sync); 1] = [&worker.0];
            let forget: Sent<'_> = Box::pin(live.query(sql::FORGET, &values));
            pipeline::together(vec![disown, forget])
                .await
                .map(|_| Vec::new())
        }
        Operation::Steer(run, Steer::Cancel) => live.query(sql::CANCEL, &[&run.0]).await,
        Operation::Steer(run, Steer::Park(why)) => live.query(sql::PARK, &[&run.0, why]).await,
        Operation::Steer(run, Steer::Resubmit) => live.query(sql::RESUBMIT, &[&run.0]).await,
        Operation::Prune(age, limit) => {
            let values: [&(dyn ToSql + Sync); 2] = [&micros(*age), &i64::from(*limit)];
            live.query(sql::PRUNE, &values).await
        }
        Operation::Submit(_)
        | Operation::Record(..)
        | Operation::Announce(..)
        | Operation::Change(..)
        | Operation::Signal { .. } => Ok(Vec::new()),
    }
}
