//! Operations, in one transaction and one round trip.

use tokio_postgres::types::ToSql;
use tokio_postgres::{GenericClient, Row};

use super::answer::{answer, missing, recorded, standings, submitted};
use super::link::Live;
use super::pipeline::{self, Sent};
use super::plan::{self, Kind, Stage};
use super::statement::statement;
use super::trouble::trouble;
use super::{columns, sql};
use crate::store::{Operation, Outcome, StoreError, Wake};
use crate::task::{NewRun, RunId};

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
