//! Carries out writes in one transaction and one round trip.

use tokio_postgres::types::ToSql;
use tokio_postgres::{GenericClient, Row};

use super::connection::Live;
use super::pipeline::{self, Sent};
use super::plan::{self, Stage, StageKind};
use super::results::{lock_statuses, missing, set_record_results, set_results, set_submit_results};
use super::sqlstate::store_error;
use super::statement::statement;
use super::{columns, sql};
use crate::store::{StoreError, Wake, Write, WriteResult};
use crate::task::{NewTask, TaskId};

/// Carries out all writes, and returns a result for each.
pub(super) async fn write_all(
    live: &Live,
    writes: &[Write],
) -> Result<Vec<WriteResult>, StoreError> {
    let stages = plan::stages(writes);
    let mut results: Vec<Option<WriteResult>> = writes.iter().map(|_| None).collect();
    let is_single = writes.len() == 1 && writes.iter().all(needs_no_transaction);
    // Whether the status of the locked tasks stays valid to the end.
    let is_known = !is_single && stages.iter().all(Stage::keeps_lock_status);
    let (locked, answers) = if is_single {
        let statements = stages.iter();
        let statements = statements.map(|stage| statement(live, stage, writes, false));
        let answers = pipeline::together(statements.collect()).await;
        (Vec::new(), answers.map_err(store_error)?)
    } else {
        in_transaction(live, &stages, writes, is_known).await?
    };
    let statuses = lock_statuses(&locked);
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
/// it needs no transaction around it.
fn needs_no_transaction(write: &Write) -> bool {
    match write {
        Write::Submit(_) | Write::Record(..) | Write::Announce(..) => true,
        // Another transaction may be committing a signal.
        Write::Change(_, change) => matches!(change.wake, Wake::In(_)),
        _ => false,
    }
}

/// Carries out the stages in one transaction. Returns the rows of the locks, and the rows of each
/// stage.
async fn in_transaction(
    live: &Live,
    stages: &[Stage<'_>],
    writes: &[Write],
    is_known: bool,
) -> Result<(Vec<Row>, Vec<Vec<Row>>), StoreError> {
    let tasks = plan::task_numbers(stages);
    let mut statements: Vec<Sent<'_>> = Vec::with_capacity(stages.len().saturating_add(1));
    statements.push(Box::pin(async { live.query(sql::LOCK, &[&tasks]).await }));
    for stage in stages {
        statements.push(statement(live, stage, writes, is_known));
    }
    let answers = pipeline::transaction(&live.client, statements)
        .await
        .map_err(store_error)?;
    let mut answers = answers.into_iter();
    Ok((answers.next().unwrap_or_default(), answers.collect()))
}

/// Stores one task in a transaction of the application.
pub(super) async fn submit(
    client: &impl GenericClient,
    new: &NewTask,
) -> Result<TaskId, StoreError> {
    let submits = columns::Submits::of(std::iter::once(new));
    let rows = client
        .query(sql::SUBMIT, &submits.values())
        .await
        .map_err(store_error)?;
    if let Some(row) = rows.first() {
        return Ok(TaskId(row.get(2)));
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
    Ok(TaskId(row.get(2)))
}
