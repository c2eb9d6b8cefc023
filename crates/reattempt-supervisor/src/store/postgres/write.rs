//! Carries out writes in one transaction and one round trip.

use std::time::Duration;

use tokio_postgres::GenericClient;
use tokio_postgres::types::ToSql;

use super::connection::Live;
use super::pipeline::Sent;
use super::plan::{self, Stage, StageKind};
use super::results::{lock_statuses, missing, set_record_results, set_results, set_submit_results};
use super::sqlstate::store_error;
use super::statement::statement;
use super::{columns, rows, sql};
use crate::store::{StoreError, Submitted, Wake, Write, WriteResult};
use crate::task::{NewTask, TaskId};

/// How long a transaction waits for a lock, if it has writes that may wait for a transaction of the
/// application. Such a write is then repeated alone, so that it delays nobody else.
const LOCK_LIMIT: Duration = Duration::from_millis(200);

/// Carries out all writes, and returns a result for each.
pub(super) async fn write_all(
    live: &Live,
    writes: &[Write],
) -> Result<Vec<WriteResult>, StoreError> {
    let stages = plan::stages(writes);
    let mut results: Vec<Option<WriteResult>> = writes.iter().map(|_| None).collect();
    let is_single = writes.len() == 1 && writes.iter().all(needs_no_lock);
    // Whether the status of the locked tasks stays valid to the end.
    let is_known = !is_single && stages.iter().all(Stage::keeps_lock_status);
    let tasks = plan::task_numbers(&stages);
    let mut statements: Vec<Sent<'_>> = Vec::with_capacity(stages.len().saturating_add(1));
    if !is_single {
        statements.push(Box::pin(async { live.query(sql::LOCK, &[&tasks]).await }));
    }
    for stage in &stages {
        statements.push(statement(live, stage, writes, is_known));
    }
    let waits_for_others = writes.iter().any(Write::may_wait_for_others);
    let lock_limit = waits_for_others.then_some(LOCK_LIMIT);
    let answers = live.transaction(lock_limit, statements).await;
    let mut answers = answers.map_err(store_error)?.into_iter();
    let locked = if is_single { None } else { answers.next() };
    let statuses = lock_statuses(&locked.unwrap_or_default());
    let answers: Vec<_> = answers.collect();
    for (stage, rows) in stages.iter().zip(&answers) {
        match stage.kind {
            StageKind::Submits => {
                set_submit_results(live, stage, writes, rows, &mut results).await?;
            }
            StageKind::Records if is_known => {
                set_record_results(live, stage, writes, (rows, &statuses), &mut results).await?;
            }
            _ => set_results(stage, writes, rows, &mut results)?,
        }
    }
    let result = |result: Option<WriteResult>| result.ok_or_else(missing);
    results.into_iter().map(result).collect()
}

/// Returns whether the statement of a write locks its task and sees everything it must see, so that
/// it needs no lock before it.
fn needs_no_lock(write: &Write) -> bool {
    match write {
        Write::Submit(_) | Write::Record(..) | Write::ClearDeaths(_) => true,
        // Another transaction may be committing a signal.
        Write::Change(_, change) => matches!(change.wake, Wake::In(_)),
        _ => false,
    }
}

/// Stores one task in a transaction of the application.
pub(super) async fn submit(
    client: &impl GenericClient,
    new: &NewTask,
) -> Result<Submitted, StoreError> {
    let submits = columns::Submits::of(std::iter::once(new));
    let rows = client
        .query(sql::SUBMIT, &submits.values())
        .await
        .map_err(store_error)?;
    if let Some(row) = rows.first() {
        return Ok(Submitted::new(TaskId(row.get(2))));
    }
    let (workflows, keys) = ([new.workflow.as_str()], [new.key.as_str()]);
    let values: [&(dyn ToSql + Sync); 2] = [&workflows.as_slice(), &keys.as_slice()];
    let rows = client
        .query(sql::BY_KEY, &values)
        .await
        .map_err(store_error)?;
    let row = rows.first().ok_or_else(|| {
        StoreError::passing(
            "another transaction has stored a task with this key, and this one cannot see it; begin the transaction again",
        )
    })?;
    Ok(rows::earlier_of(row, new))
}
