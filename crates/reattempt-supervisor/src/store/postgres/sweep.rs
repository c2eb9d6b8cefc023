//! Tasks whose owner or whose time is gone.

use std::collections::HashSet;

use tokio_postgres::Transaction;
use tokio_postgres::types::ToSql;

use super::pipeline::{self, Sent};
use super::read;
use super::sql::{columns, now};
use super::trouble::trouble;
use crate::store::{Fate, StoreError, Sweep, Swept, expired};
use crate::task::Run;
use crate::time::Time;

/// Each by an index of its own; those that another supervisor looks at are left to it.
const EXPIRED: [&str; 3] = [
    concat!(
        "SELECT ", columns!(), ", ", now!(), " FROM retry_run
         WHERE state = 1 AND NOT EXISTS (SELECT 1 FROM retry_worker WHERE retry_worker.id = owner AND lease_until > ", now!(), ")
         LIMIT $1 FOR NO KEY UPDATE OF retry_run SKIP LOCKED"
    ),
    concat!(
        "SELECT ", columns!(), ", ", now!(), " FROM retry_run
         WHERE state = 1 AND step_by IS NOT NULL AND step_by < ", now!(), " LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED"
    ),
    concat!(
        "SELECT ", columns!(), ", ", now!(), " FROM retry_run
         WHERE state IN (0, 1, 2) AND direction = 0 AND complete_by IS NOT NULL AND complete_by < ", now!(), "
         LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED"
    ),
];

/// Looked at again when the tasks are locked: somebody may have beaten since.
const ALIVE: &str = concat!(
    "SELECT id FROM retry_worker WHERE id = ANY ($1::text[]) AND lease_until > ",
    now!()
);

const GIVE_BACK: &str = concat!(
    "UPDATE retry_run SET state = $2, direction = $3, failures = $4, wake_at = $5,
         error = $6, owner = NULL, step_by = NULL, fence = fence + 1, updated_at = ",
    now!(),
    "
     WHERE id = $1"
);

/// Leases that are longer than they can be: the clock was set back since. Who lives renews its lease; who does not would be
/// waited for as long as that.
const SHORTEN: &str = concat!(
    "UPDATE retry_worker SET lease_until = ",
    now!(),
    " + lease WHERE (lease_until - ",
    now!(),
    ") / 2 > lease"
);

/// Workers that nobody will hear of again.
const FORGET: &str = concat!(
    "DELETE FROM retry_worker WHERE lease_until < ",
    now!(),
    " - 3600000000
         AND NOT EXISTS (SELECT 1 FROM retry_run WHERE owner = retry_worker.id AND state = 1)"
);

pub(super) const SWEEPS: &[&str] = &[
    SHORTEN, EXPIRED[0], EXPIRED[1], EXPIRED[2], ALIVE, GIVE_BACK, FORGET,
];

/// Statements of the connection that the transaction runs on.
pub(super) type Prepared = super::link::Prepared;

pub(super) async fn all(
    transaction: Transaction<'_>,
    prepared: &Prepared,
    sweep: &Sweep,
) -> Result<Vec<Swept>, StoreError> {
    let limit = usize::try_from(sweep.limit).unwrap_or(usize::MAX);
    prepared
        .query(&transaction, SHORTEN, &[])
        .await
        .map_err(trouble)?;
    let mut runs: Vec<Run> = Vec::new();
    let mut now = Time::default();
    for sql in EXPIRED {
        let left = limit.saturating_sub(runs.len());
        let left = i64::try_from(left).unwrap_or(i64::MAX);
        let rows = prepared
            .query(&transaction, sql, &[&left])
            .await
            .map_err(trouble)?;
        for row in rows {
            now = Time::from_micros(row.get(22));
            let run = read::run_of(&row)?;
            // It is found once for each thing that is gone.
            if runs.iter().all(|other| other.id != run.id) {
                runs.push(run);
            }
        }
    }
    let swept = if runs.is_empty() {
        Vec::new()
    } else {
        let owners = runs.iter().filter_map(|run| run.owner.as_ref());
        let owners: Vec<_> = owners.map(|owner| owner.0.as_str()).collect();
        let rows = prepared
            .query(&transaction, ALIVE, &[&owners])
            .await
            .map_err(trouble)?;
        let alive: HashSet<&str> = rows.iter().map(|row| row.get(0)).collect();
        give_back(&transaction, prepared, sweep, &runs, &alive, now).await?
    };
    prepared
        .query(&transaction, FORGET, &[])
        .await
        .map_err(trouble)?;
    transaction.commit().await.map_err(trouble)?;
    Ok(swept)
}

async fn give_back(
    transaction: &Transaction<'_>,
    prepared: &Prepared,
    sweep: &Sweep,
    runs: &[Run],
    alive: &HashSet<&str>,
    now: Time,
) -> Result<Vec<Swept>, StoreError> {
    let mut swept = Vec::new();
    let mut given: Vec<Sent<'_>> = Vec::new();
    for run in runs {
        if let Some(expired) = expired(run, now, |owner| alive.contains(owner.0.as_str())) {
            let fate = Fate::of_expired(run, expired, &sweep.delays, rand::random());
            let id = run.id.0;
            given.push(Box::pin(async move {
                let (state, direction) = (fate.state.number(), fate.direction.number());
                let wake_at = now.after(fate.delay).as_micros();
                let values: [&(dyn ToSql + Sync); 6] = [
                    &id,
                    &state,
                    &direction,
                    &fate.failures,
                    &wake_at,
                    &expired.message(),
                ];
                prepared.query(transaction, GIVE_BACK, &values).await
            }));
            swept.push(Swept::new(run, expired, fate));
        }
    }
    pipeline::together(given).await.map_err(trouble)?;
    Ok(swept)
}
