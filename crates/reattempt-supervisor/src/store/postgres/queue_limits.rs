//! Limits of queues. A claim leaves queues with limits out, in a statement that costs what it would without
//! them. A process that has heard of a limit of its queues, with its heartbeats, has a statement that takes all.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::connection::Live;
use super::sql::{first, found, levels, lock_first, now, set_claimed};
use crate::store::TaskLimit;

// Takes the first tasks of all queues, and no more of a queue than it has room for. `line` has the queues with a
// limit, and NULL for all others. The order of `first` is that of the claim in each line. The last row says when
// there may be more. It does not say that all tasks were seen: no queue without room was looked at.
// With rooms a claim takes two to three times as long, so only processes that have heard of a limit
// use it. The plain claim only leaves such queues out (3 µs of 30, for an empty queue).
macro_rules! claim {
    ($ready:literal, $which:literal) => {
        concat!(
            "WITH RECURSIVE room AS MATERIALIZED (
         SELECT given.queue, room.* FROM (SELECT DISTINCT queue FROM unnest($2::text[]) AS asked (queue)) AS given
         CROSS JOIN LATERAL retry_room(given.queue) AS room
     ), ", levels!($ready, "queue IN (SELECT queue FROM room WHERE room > 0 OR room IS NULL)"), ", first (line, queue, workflow, version, priority, wake_at, id) AS MATERIALIZED (
         SELECT room.line, level.queue, level.workflow, level.version, level.priority, ready.wake_at, ready.run_id
         FROM ", first!($ready), " JOIN (SELECT queue, CASE WHEN room IS NOT NULL THEN queue END AS line FROM room) AS room ON room.queue = level.queue
         ORDER BY level.priority, ready.wake_at, ready.run_id
     ), claimed AS (
         ", set_claimed!(), "
         WHERE id = ANY (ARRAY(
             SELECT free.id FROM (SELECT queue AS line, room FROM room WHERE room > 0 UNION ALL SELECT NULL, NULL) AS line
             CROSS JOIN LATERAL (
                 SELECT first.priority, first.wake_at, ready.id FROM ", lock_first!($which), "
                 WHERE first.line IS NOT DISTINCT FROM line.line LIMIT least(line.room, $5)
             ) AS free
             ORDER BY free.priority, free.wake_at, free.id LIMIT $5
         ))
         RETURNING *
     ), held AS (
         INSERT INTO retry_limit_held (queue, run_id, fence)
         SELECT claimed.queue, id, fence FROM claimed JOIN room ON room.queue = claimed.queue AND is_counted
     ), spent AS (
         INSERT INTO retry_limit_spent (queue, until, tasks)
         SELECT room.queue, slice, count(*) FROM claimed JOIN room ON room.queue = claimed.queue AND slice IS NOT NULL GROUP BY room.queue, slice
         ON CONFLICT (queue, until) DO UPDATE SET tasks = retry_limit_spent.tasks + excluded.tasks
     ), ", found!($ready, "(SELECT min(coalesce(again, 9223372036854775807)) FROM room
             WHERE id IS NULL AND room <= (SELECT count(*) FROM claimed WHERE claimed.queue = room.queue))", "false")
        )
    };
}

/// Claims tasks that are not suspects.
pub(super) const CLAIM: &str = claim!("NOT is_suspect", "deaths < 2");

/// Claims suspects.
pub(super) const CLAIM_SUSPECTS: &str = claim!("is_suspect", "deaths >= 2");

/// Sets the limit of a queue, or removes it. Tasks count that workers hold already.
pub(super) const STORE: &str = "WITH own AS (
         SELECT $1::text AS queue, $2::bigint AS concurrency, $3::bigint AS tasks, $4::bigint AS period
     ), stored AS (
         INSERT INTO retry_limit (queue, concurrency, tasks, period)
         SELECT * FROM own WHERE concurrency IS NOT NULL OR tasks IS NOT NULL
         ON CONFLICT (queue) DO UPDATE SET concurrency = excluded.concurrency, tasks = excluded.tasks, period = excluded.period
     ), removed AS (
         DELETE FROM retry_limit WHERE queue = $1 AND $2 IS NULL AND $3 IS NULL
     ), forgotten AS (
         DELETE FROM retry_limit_spent WHERE queue = $1 AND $3 IS NULL
     ), freed AS (
         DELETE FROM retry_limit_held WHERE queue = $1 AND $2 IS NULL
     )
     INSERT INTO retry_limit_held (queue, run_id, fence)
     SELECT $1, run.id, run.fence FROM (SELECT FROM own WHERE concurrency IS NOT NULL) AS own CROSS JOIN retry_held
     CROSS JOIN LATERAL (SELECT id, fence FROM retry_run WHERE id = run_id AND queue = $1 AND state + 0 = 1 OFFSET 0) AS run
     ON CONFLICT DO NOTHING";

/// Sends the limit of a queue.
pub(super) async fn send(live: &Live, queue: &str, limit: TaskLimit) -> Result<Vec<Row>, Error> {
    let [concurrency, tasks, period] = limit.to_columns();
    let values: [&(dyn ToSql + Sync); 4] = [&queue, &concurrency, &tasks, &period];
    live.query(STORE, &values).await
}

/// The queues with limits, as far as this process knows. If it does not know one, it takes no tasks from it.
#[derive(Debug, Default)]
pub(super) struct LimitedQueues(Mutex<HashSet<String>>);

impl LimitedQueues {
    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether one of these queues may have a limit.
    pub(super) fn has_any_of(&self, queues: &[String]) -> bool {
        let limited = self.lock();
        !limited.is_empty() && queues.iter().any(|queue| limited.contains(queue))
    }

    /// Adds a queue that has just got a limit.
    pub(super) fn add(&self, queue: &str) {
        self.lock().insert(queue.to_owned());
    }

    pub(super) fn set(&self, queues: Vec<String>) {
        *self.lock() = queues.into_iter().collect();
    }
}
