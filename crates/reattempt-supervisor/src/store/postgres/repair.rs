//! Compares the small tables with the tasks, and rebuilds what differs. A trigger keeps them, but tasks may
//! have been written while triggers were off.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use reattempt::{Jitter, Policy};
use tokio_postgres::types::ToSql;

use super::connection::{Connector, Live};
use super::sqlstate::store_error;
use crate::store::limits::Limits;
use crate::store::{ErrorKind, StoreError};

/// How often a part is repeated if one of its tasks is locked, if it took too long or if the connection was lost, and how
/// long the repair waits before.
const REPEATS: u32 = 20;
const PAUSES: Policy = Policy::new()
    .base(Duration::from_millis(500))
    .jitter(Jitter::Full);

// What the line of a task says.
macro_rules! is_ready {
    () => {
        "line.is_suspect = (run.deaths >= 2) AND line.queue = run.queue AND line.workflow = run.workflow AND line.version = run.version
         AND line.priority = run.priority AND line.wake_at = run.wake_at AND line.run_id = run.id AND line.state = run.state + 0"
    };
}
macro_rules! is_held {
    () => {
        "line.owner = coalesce(run.owner, '') AND line.run_id = run.id AND line.step_by IS NOT DISTINCT FROM run.step_by AND run.state + 0 = 1"
    };
}
macro_rules! is_limited {
    () => {
        "line.complete_by = run.complete_by AND line.run_id = run.id AND run.state + 0 < 3 AND run.direction = 0"
    };
}
macro_rules! is_ended {
    () => {
        "line.at = run.updated_at AND line.run_id = run.id AND line.state = run.state + 0"
    };
}

// Each task of a lane that could run has the turn, or waits for it.
macro_rules! is_in_lane {
    () => {
        "(run.lane IS NULL OR run.state + 0 > 2 OR CASE
         WHEN run.state + 0 = 0 AND run.wake_at = 9223372036854775806
             THEN EXISTS (SELECT FROM retry_lane_waiting AS line WHERE line.run_id = run.id AND line.lane = run.lane)
         ELSE EXISTS (SELECT FROM retry_lane_turn AS line WHERE line.run_id = run.id AND line.lane = run.lane) END)"
    };
}

// Each part returns where the next part begins, unless there is none, and tasks whose lines differ. It has one
// snapshot, in which a task and its lines fit.

/// Tasks with higher numbers than $1, and their lines. Lines of tasks that are gone are among them.
// One statement has one snapshot, in which a task and its lines must fit.
const TASKS: &str = concat!(
    "WITH run AS MATERIALIZED (
         SELECT * FROM retry_run WHERE id > $1 AND $2::bigint IS NOT NULL ORDER BY id LIMIT 2000
     ), part AS MATERIALIZED (
         SELECT CASE count(*) WHEN 2000 THEN max(id) END AS last FROM run
     ), wrong AS (
         SELECT id FROM run WHERE NOT CASE
             WHEN state IN (0, 2) THEN EXISTS (SELECT FROM retry_ready AS line WHERE ", is_ready!(), ")
             WHEN state = 1 THEN EXISTS (SELECT FROM retry_held AS line WHERE ", is_held!(), ")
             ELSE EXISTS (SELECT FROM retry_ended AS line WHERE ", is_ended!(), ") END
             OR complete_by IS NOT NULL AND state < 3 AND direction = 0
                 AND NOT EXISTS (SELECT FROM retry_limited AS line WHERE ", is_limited!(), ")
             OR NOT ", is_in_lane!(), "
         UNION SELECT run_id FROM part CROSS JOIN LATERAL (
             SELECT * FROM retry_ready WHERE state IN (0, 2) AND run_id > $1 AND run_id <= coalesce(last, 9223372036854775807)
         ) AS line WHERE NOT EXISTS (SELECT FROM retry_run AS run WHERE ", is_ready!(), ")
         UNION SELECT run_id FROM part CROSS JOIN LATERAL (
             SELECT * FROM retry_ended WHERE state IN (3, 4, 5, 6, 7, 8) AND run_id > $1 AND run_id <= coalesce(last, 9223372036854775807)
         ) AS line WHERE NOT EXISTS (SELECT FROM retry_run AS run WHERE ", is_ended!(), ")
     )
     SELECT last, 0::bigint, ARRAY(SELECT id FROM wrong ORDER BY id), '{}'::bigint[] FROM part"
);

/// Lines of `retry_limited` after a time and a task.
const LIMITED: &str = concat!(
    "WITH line AS MATERIALIZED (
         SELECT * FROM retry_limited WHERE (complete_by, run_id) > ($1, $2) ORDER BY complete_by, run_id LIMIT 2000
     ), wrong AS (
         SELECT * FROM line WHERE NOT EXISTS (SELECT FROM retry_run AS run WHERE ", is_limited!(), ")
     )
     SELECT last.*, ARRAY(SELECT run_id FROM wrong ORDER BY complete_by, run_id), ARRAY(SELECT complete_by FROM wrong ORDER BY complete_by, run_id)
     FROM (SELECT NULL) AS one LEFT JOIN (SELECT complete_by, run_id FROM line ORDER BY complete_by, run_id OFFSET 1999) AS last ON true"
);

/// The lines of `retry_held`: they are few.
const HELD: &str = concat!(
    "SELECT NULL::bigint, $1::bigint + $2::bigint * 0, ARRAY(
         SELECT run_id FROM retry_held AS line WHERE NOT EXISTS (SELECT FROM retry_run AS run WHERE ", is_held!(), ")
     ), '{}'::bigint[]"
);

/// The lines of `retry_lane_turn` and `retry_lane_waiting` that fit no task, and those that wait in lanes where no
/// task has the turn, unless they are stopped.
const LANES: &str = "SELECT NULL::bigint, $1::bigint + $2::bigint * 0, ARRAY(
         SELECT run_id FROM retry_lane_turn AS line WHERE NOT EXISTS (
             SELECT FROM retry_run AS run WHERE run.id = line.run_id AND run.lane = line.lane AND run.state + 0 IN (0, 1, 2, 7)
                 AND (run.state + 0 <> 0 OR run.wake_at <> 9223372036854775806))
         UNION SELECT run_id FROM retry_lane_waiting AS line WHERE NOT EXISTS (
             SELECT FROM retry_run AS run
             WHERE run.id = line.run_id AND run.lane = line.lane AND run.state + 0 = 0 AND run.wake_at = 9223372036854775806)
         OR NOT EXISTS (SELECT FROM retry_lane_turn AS turn WHERE turn.lane = line.lane)
             AND (retry_lane_room(line.lane, 0)).begins IS NOT NULL
     ), '{}'::bigint[]";

const LOCK: &str =
    "SELECT FROM retry_run WHERE id = ANY ($1::bigint[]) ORDER BY id FOR NO KEY UPDATE";

/// Deletes the lines of tasks. Those of `retry_limited` have the times $2.
const DELETE: &str = "WITH ready AS (
         DELETE FROM retry_ready WHERE state IN (0, 2) AND run_id = ANY ($1::bigint[])
     ), held AS (
         DELETE FROM retry_held WHERE run_id = ANY ($1::bigint[])
     ), ended AS (
         DELETE FROM retry_ended WHERE state IN (3, 4, 5, 6, 7, 8) AND run_id = ANY ($1::bigint[])
     ), waiting AS (
         DELETE FROM retry_lane_waiting WHERE run_id = ANY ($1::bigint[])
     ), turns AS (
         DELETE FROM retry_lane_turn AS line WHERE run_id = ANY ($1::bigint[])
             AND NOT EXISTS (SELECT FROM retry_run AS run WHERE run.id = line.run_id AND run.lane = line.lane)
     )
     DELETE FROM retry_limited AS line USING unnest($1::bigint[], $2::bigint[]) AS given (run_id, complete_by)
     WHERE line.complete_by = given.complete_by AND line.run_id = given.run_id";

/// Gives the turn to tasks that run, or wait for a signal.
const GIVE_TURNS: &str = "INSERT INTO retry_lane_turn
     SELECT id, lane, 0, NULL FROM retry_run
     WHERE id = ANY ($1::bigint[]) AND lane IS NOT NULL AND state + 0 IN (1, 2)
     ON CONFLICT (run_id) DO NOTHING";

/// Makes the triggers place tasks.
const PLACE: &str = "UPDATE retry_run SET state = state WHERE id = ANY ($1::bigint[])";

/// The prepared statements of a repair.
const REPAIRS: &[&str] = &[TASKS, LIMITED, HELD, LANES, LOCK, DELETE, GIVE_TURNS, PLACE];

/// Repairs the lines of all tasks, part by part. Returns how many tasks had others.
pub(super) async fn repair_all(
    connector: &Connector,
    limits: &Arc<Limits>,
) -> Result<u64, StoreError> {
    let mut live = Some(Live::open(connector, limits, REPAIRS).await?);
    let mut repaired = HashSet::new();
    // Where a task is gone that had the turn, the next ones are found the second time.
    for part in [TASKS, LIMITED, HELD, LANES, LANES] {
        let mut next = Some((i64::MIN, i64::MIN));
        let mut failures = 0;
        while let Some(from) = next {
            let repairing = async {
                let live = match &mut live {
                    Some(live) => live,
                    None => live.insert(Live::open(connector, limits, REPAIRS).await?),
                };
                limits
                    .limited(repair(live, part, from, &mut repaired))
                    .await
            };
            match repairing.await {
                Ok(after) => {
                    next = after;
                    failures = 0;
                }
                Err(error) if error.is_passing() && failures < REPEATS => {
                    tokio::time::sleep(PAUSES.sample_delay(0, None, rand::random)).await;
                    failures = failures.saturating_add(1);
                    // A statement may still be under way on the connection.
                    if error.kind() != ErrorKind::Locked {
                        live = None;
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(u64::try_from(repaired.len()).unwrap_or(u64::MAX))
}

/// Repairs the lines of one part in a transaction of its own, and returns where the next part begins. A transaction that
/// changes the lines of a task has locked it. Tasks count as soon as their lines are seen to differ: who commits may never
/// hear of it, and finds nothing the next time.
async fn repair(
    live: &mut Live,
    part: &'static str,
    from: (i64, i64),
    repaired: &mut HashSet<i64>,
) -> Result<Option<(i64, i64)>, StoreError> {
    let (transaction, prepared) = live.begin().await.map_err(store_error)?;
    let found = prepared
        .query(&transaction, part, &[&from.0, &from.1])
        .await;
    let found = found.map_err(store_error)?;
    let Some(row) = found.first() else {
        return Ok(None);
    };
    let next = row.get::<_, Option<i64>>(0);
    let next = next.map(|next| (next, row.get::<_, Option<i64>>(1).unwrap_or_default()));
    let (tasks, times): (Vec<i64>, Vec<i64>) = (row.get(2), row.get(3));
    repaired.extend(&tasks);
    if !tasks.is_empty() {
        let (tasks, times): (&(dyn ToSql + Sync), &(dyn ToSql + Sync)) = (&tasks, &times);
        for (sql, values) in [
            // Without the lines the update, which changes nothing, lets the trigger place the
            // tasks: so only the trigger says what a line is.
            (LOCK, &[tasks][..]),
            (DELETE, &[tasks, times]),
            (GIVE_TURNS, &[tasks]),
            (PLACE, &[tasks]),
        ] {
            let done = prepared.query(&transaction, sql, values).await;
            done.map_err(store_error)?;
        }
    }
    transaction.commit().await.map_err(store_error)?;
    Ok(next)
}
