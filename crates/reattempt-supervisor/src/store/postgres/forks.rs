//! Forks of tasks that have ended.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::columns::{Columns as _, Submits};
use super::connection::Live;
use super::sql::{now, submit};
use crate::cell::Cell as _;
use crate::store::rows::Row as _;
use crate::store::{Fork, StoreError, Submitted, WriteResult};
use crate::task::{Origin, TaskId};

/// Stores a fork of the task $13, which `LOCK` has locked, if it has ended with the fence $14; its origin is $15. Copies
/// the outcomes up to the place $16, and keeps who forks it and why. Returns the fork, or the task that has its key,
/// and whether the original is as it was.
pub(super) const STORE: &str = concat!(
    "WITH held AS MATERIALIZED (
         SELECT FROM retry_run WHERE id = $13::bigint AND fence = $14::bigint AND state + 0 BETWEEN 3 AND 6
     ), new AS (",
    submit!("(SELECT FROM held OFFSET 0) AS free CROSS JOIN", "NULL", "", "$15"),
    "), copied AS (
         INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, error, at, fence, args_hash)
         SELECT new.id, seq, kind, ord, name, attempts, result, error, at, 0, args_hash FROM new CROSS JOIN LATERAL (
             SELECT * FROM retry_step WHERE run_id = $13 AND kind IN (1, 2) AND ord <= $16::int OFFSET 0
         ) AS old
     ), noted AS (
         INSERT INTO retry_note (run_id, seq, verdict, operator, why, at)
         SELECT id, -1, $17, $18, $19, ", now!(), " FROM new WHERE $17::text IS NOT NULL
     )
     SELECT (SELECT id FROM new), EXISTS (SELECT FROM held), there.id, there.origin FROM (SELECT) AS one LEFT JOIN LATERAL (
         SELECT id, origin FROM retry_run WHERE workflow = ($1::text[])[1] AND idem_key = ($5::text[])[1]
             AND NOT (state = 8 AND wake_at <= ", now!(), ") OFFSET 0
     ) AS there ON true"
);

/// Sends a fork.
pub(super) async fn send(live: &Live, fork: &Fork) -> Result<Vec<Row>, Error> {
    let submits = Submits::of(std::iter::once(&fork.new));
    let origin = fork.origin.to_stored();
    let note = fork.note.as_ref();
    let note = [
        note.map(|note| &*note.verdict),
        note.map(|note| &*note.by),
        note.map(|note| &*note.why),
    ];
    let [verdict, by, why] = &note;
    let own: [&(dyn ToSql + Sync); 7] = [
        &fork.origin.task.0,
        &fork.fence.0,
        &origin,
        &fork.origin.ord,
        verdict,
        by,
        why,
    ];
    let values: Vec<_> = submits.values().into_iter().chain(own).collect();
    live.query(STORE, &values).await
}

/// Returns the result of a fork.
pub(super) fn result_of(fork: &Fork, row: &Row) -> Result<WriteResult, StoreError> {
    let number = |column| row.get::<_, Option<i64>>(column).map(TaskId);
    match (number(0), number(2), row.get(1)) {
        (Some(new), ..) => Ok(WriteResult::Submitted(Submitted::new(new))),
        (None, Some(there), _) => {
            let origin: Option<Origin> = row.cell(3)?;
            Ok(WriteResult::of_fork(fork, there, origin.as_ref()))
        }
        (None, None, false) => Ok(WriteResult::Lost),
        // A repetition finds it.
        (None, None, true) => {
            let message = "another transaction has stored a task with the same key just now";
            Err(StoreError::passing(message))
        }
    }
}
