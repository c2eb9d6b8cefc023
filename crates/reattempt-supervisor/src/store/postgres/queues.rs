//! How many tasks there are. No statement counts further than `QueueStatus::COUNTED`.

use tokio_postgres::Row;

use super::sql::now;
use crate::store::{QueueStatus, TaskLimit};
use crate::time::Time;

// Counts the lines of a small table in some states. A larger number is an estimate: the lines that fit on the
// pages of the table, times the part of them with this state at the last `ANALYZE`.
macro_rules! counted {
    ($table:literal, $states:literal) => {
        concat!(
            "SELECT given.state, CASE WHEN n < 10000 THEN n ELSE greatest(n, (
                 SELECT (reltuples / greatest(relpages, 1) * (pg_relation_size(class.oid) / current_setting('block_size')::int) * freq)::bigint
                 FROM pg_class AS class JOIN pg_namespace AS namespace ON namespace.oid = relnamespace
                 JOIN pg_stats ON schemaname = nspname AND tablename = relname AND attname = 'state'
                 CROSS JOIN LATERAL unnest(most_common_vals::text::text[], most_common_freqs) AS common (value, freq)
                 WHERE class.oid = '", $table, "'::regclass AND value = given.state::text
             )) END AS n
             FROM unnest('", $states, "'::smallint[]) AS given (state) CROSS JOIN LATERAL (
                 SELECT count(*) AS n FROM (SELECT FROM ", $table, " AS line WHERE line.state = given.state LIMIT 10000) AS line
             ) AS counted"
        )
    };
}

/// Counts the tasks in each state.
// Workers hold few tasks, so those are counted.
pub(super) const COUNTS: &str = concat!(
    "SELECT * FROM (",
    counted!("retry_ready", "{0,2}"),
    " UNION ALL SELECT 1::smallint, count(*) FROM retry_held UNION ALL ",
    counted!("retry_ended", "{3,4,5,6,7,8}"),
    ") AS task WHERE n > 0 ORDER BY state"
);

/// Counts the tasks of each queue that could run, run, and are parked. It walks the workflows, versions and
/// priorities of the queues.
// An estimate is of no use here: the statistics do not know which of the tasks sleep.
pub(super) const QUEUES: &str = concat!(
    "WITH RECURSIVE level (is_suspect, queue, workflow, version, priority, wake_at) AS (
         SELECT * FROM (
             SELECT is_suspect, queue, workflow, version, priority, wake_at FROM retry_ready
             ORDER BY is_suspect, queue, workflow, version, priority, wake_at LIMIT 1
         ) AS head
       UNION ALL
         SELECT next.* FROM level CROSS JOIN LATERAL (
             SELECT ready.is_suspect, ready.queue, ready.workflow, ready.version, ready.priority, ready.wake_at FROM retry_ready AS ready
             WHERE (ready.is_suspect, ready.queue, ready.workflow, ready.version, ready.priority)
                 > (level.is_suspect, level.queue, level.workflow, level.version, level.priority)
             ORDER BY ready.is_suspect, ready.queue, ready.workflow, ready.version, ready.priority, ready.wake_at LIMIT 1
         ) AS next
     ), due AS MATERIALIZED (
         SELECT * FROM (SELECT * FROM level LIMIT 10000) AS level WHERE wake_at <= ", now!(), "
     ), queue AS (
         SELECT queue, min(wake_at) AS wake_at FROM due GROUP BY queue ORDER BY queue LIMIT 100
     )
     SELECT counted.*, concurrency, tasks, period FROM (SELECT queue, sum(pending)::bigint, max(oldest), sum(in_flight)::bigint, sum(parked)::bigint FROM (
         SELECT queue, (
             SELECT count(*) FROM (
                 SELECT FROM due CROSS JOIN LATERAL (
                     SELECT FROM retry_ready AS ready WHERE ready.is_suspect = due.is_suspect AND ready.queue = due.queue
                         AND ready.workflow = due.workflow AND ready.version = due.version AND ready.priority = due.priority
                         AND ready.wake_at <= ", now!(), " OFFSET 0
                 ) AS ready
                 WHERE due.queue = queue.queue LIMIT 10000
             ) AS line
         ) AS pending, ", now!(), " - wake_at AS oldest, 0 AS in_flight, 0 AS parked FROM queue
         UNION ALL
         SELECT run.queue, 0, 0, count(*), 0 FROM (SELECT run_id FROM retry_held LIMIT 10000) AS line
         CROSS JOIN LATERAL (SELECT queue FROM retry_run WHERE id = run_id OFFSET 0) AS run GROUP BY run.queue
         UNION ALL
         SELECT run.queue, 0, 0, 0, count(*) FROM (SELECT run_id FROM retry_ended WHERE state = 7 LIMIT 10000) AS line
         CROSS JOIN LATERAL (SELECT queue FROM retry_run WHERE id = run_id OFFSET 0) AS run GROUP BY run.queue
         UNION ALL
         SELECT queue, 0, 0, 0, 0 FROM retry_limit
     ) AS line GROUP BY queue ORDER BY queue LIMIT 100) AS counted LEFT JOIN retry_limit USING (queue) ORDER BY queue"
);

/// Finds out for how many microseconds the oldest transaction is open that VACUUM respects: it has a snapshot, or has
/// written. Of sessions of other roles only members of `pg_read_all_stats` see the time.
pub(super) const OLDEST_SNAPSHOT: &str =
    "SELECT coalesce(extract(epoch FROM clock_timestamp() - min(began)) * 1000000, 0)::bigint FROM (
         SELECT xact_start AS began FROM pg_stat_activity
         WHERE datname = current_database() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) AND pid <> pg_backend_pid()
       UNION ALL
         SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
     ) AS open";

/// Converts a row of [`QUEUES`].
pub(super) fn status_of(row: &Row) -> QueueStatus {
    QueueStatus {
        queue: row.get(0),
        pending: row.get::<_, i64>(1).cast_unsigned(),
        oldest: Time::from_micros(row.get(2)).since(Time::default()),
        in_flight: row.get::<_, i64>(3).cast_unsigned(),
        parked: row.get::<_, i64>(4).cast_unsigned(),
        limit: TaskLimit::from_columns([row.get(5), row.get(6), row.get(7)]),
    }
}
