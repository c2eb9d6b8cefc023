//! What the rows that came back say to the operations.

use std::collections::{HashMap, HashSet};

use tokio_postgres::Row;

use super::link::Live;
use super::plan::{Kind, Stage};
use super::statement::statement;
use super::trouble::trouble;
use super::{read, sql};
use crate::store::{Asked, Operation, Outcome, Standing, StoreError, Told};
use crate::task::RunId;
use crate::time::Time;

/// How locked tasks stand.
pub(super) type Standings = HashMap<i64, Standing>;

/// How tasks stand that are locked.
pub(super) fn standings(locked: &[Row]) -> Standings {
    let standing = |row: &Row| {
        let standing = Standing {
            now: Time::from_micros(row.get(2)),
            cancel_asked: row.get(1),
        };
        (row.get(0), standing)
    };
    locked.iter().map(standing).collect()
}

pub(super) fn missing() -> StoreError {
    StoreError::lasting("PostgreSQL left an operation without an answer")
}

/// What was not written is asked for once more, by itself: it may be there already.
pub(super) async fn recorded(
    live: &Live,
    stage: &Stage<'_>,
    operations: &[Operation],
    (rows, standings): (&[Row], &Standings),
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
pub(super) async fn submitted(
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
pub(super) fn answer(
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
