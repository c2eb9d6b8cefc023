//! Operations, in one transaction and one round trip.

use std::collections::{HashMap, HashSet};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, GenericClient, Row};

use super::link::Live;
use super::pipeline::{self, Sent};
use super::plan::{self, Kind, Stage};
use super::trouble::trouble;
use super::{columns, micros, read, sql};
use crate::store::{Asked, Operation, Outcome, Standing, Steer, StoreError, Told, Wake};
use crate::task::{NewRun, RunId};
use crate::time::Time;

pub(super) async fn all(live: &Live, operations: &[Operation]) -> Result<Vec<Outcome>, StoreError> {
    let stages = plan::stages(operations);
    let mut outcomes: Vec<Option<Outcome>> = operations.iter().map(|_| None).collect();
    let is_alone = operations.len() == 1 && operations.iter().all(stands_alone);
    // How the tasks stand that are locked, where that holds to the end.
    let is_known = !is_alone && stages.iter().all(Stage::leaves_standing);
    let (locked, answers) = if is_alone {
        let statements = stages.iter();
        let statements = statements.map(|stage| statement(live, stage, operations, false));
        let answers = pipeline::together(statements.collect()).await;
        (Vec::new(), answers.map_err(trouble)?)
    } else {
        in_transaction(live, &stages, operations, is_known).await?
    };
    let standings = standings(&locked);
    for (stage, rows) in stages.iter().zip(&answers) {
        match stage.kind {
            Kind::Submits => submitted(live, stage, operations, rows, &mut outcomes).await?,
            Kind::Records if is_known => {
                recorded(live, stage, operations, (rows, &standings), &mut outcomes).await?;
            }
            _ => answer(stage, operations, rows, &mut outcomes)?,
        }
    }
    let outcome = |outcome: Option<Outcome>| outcome.ok_or_else(missing);
    outcomes.into_iter().map(outcome).collect()
}

/// Whether its statement locks what it changes and has seen what it must see, so that nothing need surround it.
fn stands_alone(operation: &Operation) -> bool {
    match operation {
        Operation::Submit(_) | Operation::Record(..) | Operation::Announce(..) => true,
        // A signal may be on its way to the disk.
        Operation::Change(_, change) => matches!(change.wake, Wake::In(_)),
        _ => false,
    }
}

/// What the locks answer, and the statements of the stages.
async fn in_transaction(
    live: &Live,
    stages: &[Stage<'_>],
    operations: &[Operation],
    is_known: bool,
) -> Result<(Vec<Row>, Vec<Vec<Row>>), StoreError> {
    let runs = plan::runs(stages);
    let mut statements: Vec<Sent<'_>> = Vec::with_capacity(stages.len().saturating_add(1));
    statements.push(Box::pin(async { live.query(sql::LOCK, &[&runs]).await }));
    for stage in stages {
        statements.push(statement(live, stage, operations, is_known));
    }
    let answers = pipeline::transaction(&live.client, statements)
        .await
        .map_err(trouble)?;
    let mut answers = answers.into_iter();
    Ok((answers.next().unwrap_or_default(), answers.collect()))
}

/// How tasks stand that are locked.
fn standings(locked: &[Row]) -> HashMap<i64, Standing> {
    let standing = |row: &Row| {
        let standing = Standing {
            now: Time::from_micros(row.get(2)),
            cancel_asked: row.get(1),
        };
        (row.get(0), standing)
    };
    locked.iter().map(standing).collect()
}

fn missing() -> StoreError {
    StoreError::lasting("PostgreSQL left an operation without an answer")
}

/// The statement of a stage, which is sent when it is polled first.
fn statement<'a>(
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

/// What was not written is asked for once more, by itself: it may be there already.
async fn recorded(
    live: &Live,
    stage: &Stage<'_>,
    operations: &[Operation],
    (rows, standings): (&[Row], &HashMap<i64, Standing>),
    outcomes: &mut [Option<Outcome>],
) -> Result<(), StoreError> {
    let place = |row: &Row| (row.get(0), row.get(1), row.get(2));
    let written: HashSet<(i64, i32, i16)> = rows.iter().map(place).collect();
    let mut left = Vec::new();
    for place in &stage.places {
        let Some(Operation::Record(hold, record)) = operations.get(*place) else {
            continue;
        };
        let is_written = written.contains(&(hold.run.0, record.seq, record.kind.number()));
        match standings.get(&hold.run.0) {
            Some(standing) if is_written => set(outcomes, *place, Outcome::Held(*standing)),
            _ => left.push(*place),
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    left.sort_by_key(|place| match operations.get(*place) {
        Some(Operation::Record(hold, _)) => hold.run,
        _ => RunId(0),
    });
    let left = stage.only(left);
    let rows = statement(live, &left, operations, false)
        .await
        .map_err(trouble)?;
    answer(&left, operations, &rows, outcomes)
}

/// Whoever was not stored is there already.
async fn submitted(
    live: &Live,
    stage: &Stage<'_>,
    operations: &[Operation],
    rows: &[Row],
    outcomes: &mut [Option<Outcome>],
) -> Result<(), StoreError> {
    let new = by_key(rows);
    let own = stage
        .places
        .iter()
        .filter_map(|place| match operations.get(*place) {
            Some(Operation::Submit(new)) => Some((*place, &**new)),
            _ => None,
        });
    let mut there = Vec::new();
    for (place, submit) in own {
        match new.get(&(submit.workflow.as_str(), submit.key.as_str())) {
            Some(id) => set(
                outcomes,
                place,
                Outcome::Submitted {
                    id: *id,
                    is_new: true,
                },
            ),
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
    // Also what another transaction has committed while this one waited for it.
    let rows = live
        .query(sql::BY_KEY, &[&workflows, &keys])
        .await
        .map_err(trouble)?;
    let old = by_key(&rows);
    for (place, submit) in there {
        let id = old.get(&(submit.workflow.as_str(), submit.key.as_str()));
        let id = *id
            .ok_or_else(|| StoreError::passing("a task with the same key was deleted just now"))?;
        set(outcomes, place, Outcome::Submitted { id, is_new: false });
    }
    Ok(())
}

fn by_key(rows: &[Row]) -> HashMap<(&str, &str), RunId> {
    rows.iter()
        .map(|row| ((row.get(0), row.get(1)), RunId(row.get(2))))
        .collect()
}

fn set(outcomes: &mut [Option<Outcome>], place: usize, outcome: Outcome) {
    if let Some(kept) = outcomes.get_mut(place) {
        *kept = Some(outcome);
    }
}

/// What the rows of a stage say to its operations.
fn answer(
    stage: &Stage<'_>,
    operations: &[Operation],
    rows: &[Row],
    outcomes: &mut [Option<Outcome>],
) -> Result<(), StoreError> {
    let place_of = |row: &Row| {
        let nth = usize::try_from(row.get::<_, i64>(0).saturating_sub(1)).ok();
        nth.and_then(|nth| stage.places.get(nth)).copied()
    };
    match stage.kind {
        Kind::Submits => {}
        Kind::Records | Kind::Announcements | Kind::Changes => {
            for place in &stage.places {
                set(outcomes, *place, Outcome::Lost);
            }
            for row in rows {
                let place = place_of(row).ok_or_else(missing)?;
                let standing = Standing {
                    now: Time::from_micros(row.get(2)),
                    cancel_asked: row.get(1),
                };
                set(outcomes, place, Outcome::Held(standing));
            }
        }
        Kind::Signals => {
            for row in rows {
                let place = place_of(row).ok_or_else(missing)?;
                let told = match row.get::<_, Option<i16>>(1) {
                    None => Told::Unknown,
                    Some(number) => match read::state(number)? {
                        ended if ended.is_final() => Told::Not(ended),
                        _ => Told::Yes,
                    },
                };
                set(outcomes, place, Outcome::Told(told));
            }
        }
        Kind::Steer(_) | Kind::Claim | Kind::Alone => {
            for place in &stage.places {
                let operation = operations.get(*place).ok_or_else(missing)?;
                set(outcomes, *place, answer_alone(operation, rows)?);
            }
        }
    }
    Ok(())
}

fn answer_alone(operation: &Operation, rows: &[Row]) -> Result<Outcome, StoreError> {
    Ok(match operation {
        Operation::Claim(_) => {
            let claimed = rows.iter().map(read::claimed_of);
            let mut claimed = claimed.collect::<Result<Vec<_>, _>>()?;
            claimed.sort_by_key(|claimed| {
                let run = &claimed.run;
                (run.priority, run.wake_at, run.id)
            });
            Outcome::Claimed(claimed)
        }
        Operation::Beat(..) => {
            let asked = |row: &Row| Asked {
                run: RunId(row.get(0)),
                cancel: row.get(1),
                signal: row.get(2),
            };
            Outcome::Beaten(rows.iter().map(asked).collect())
        }
        Operation::Steer(..) => Outcome::Told(match rows.first() {
            None => Told::Unknown,
            Some(row) if row.get(1) => Told::Yes,
            Some(row) => Told::Not(read::state(row.get(0))?),
        }),
        Operation::Prune(..) => {
            let count: i64 = rows.first().ok_or_else(missing)?.get(0);
            Outcome::Pruned(count.cast_unsigned())
        }
        _ => Outcome::Done,
    })
}

/// One task, in a transaction of somebody else.
pub(super) async fn submit(client: &impl GenericClient, new: &NewRun) -> Result<RunId, StoreError> {
    let submits = columns::Submits::of(std::iter::once(new));
    let rows = client
        .query(sql::SUBMIT, &submits.values())
        .await
        .map_err(trouble)?;
    if let Some(row) = rows.first() {
        return Ok(RunId(row.get(2)));
    }
    let (workflows, keys) = ([new.workflow.as_str()], [new.key.as_str()]);
    let values: [&(dyn ToSql + Sync); 2] = [&workflows.as_slice(), &keys.as_slice()];
    let rows = client.query(sql::BY_KEY, &values).await.map_err(trouble)?;
    let row = rows.first().ok_or_else(|| {
        StoreError::passing(
            "a task with this key was stored after the transaction began, which cannot see it; begin the transaction again",
        )
    })?;
    Ok(RunId(row.get(2)))
}
