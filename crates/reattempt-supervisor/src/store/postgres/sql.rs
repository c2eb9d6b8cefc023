//! The statements. A list comes as arrays, one for each column; `n` is the place in the list, from
//! 1. The time is that of the transaction.
//!
//! A plan that was made for an empty table must fit when the table has grown. So a statement that
//! joins a list to tasks fixes the order (`LATERAL`), and a lookup by number tests `state + 0`:
//! otherwise PostgreSQL might read the whole index of a few states.

use crate::store::rows::{record, task};

macro_rules! now {
    () => {
        "(SELECT (extract(epoch FROM now()) * 1000000)::bigint)"
    };
}

pub(super) use now;

// The settings of all transactions:
//
// * A statement ends after the limit, and waits for a lock half as long.
// * A process that is suspended in a transaction does not block the others.
// * A plan that was made for small tables must fit when they have grown, so every lookup uses an
//   index.
// * Committed data is on disk.
macro_rules! settings {
    ($is_local:literal) => {
        concat!(
            "SELECT set_config('statement_timeout', $1, ", $is_local, "),
     set_config('lock_timeout', ($1::text::bigint / 2)::text, ", $is_local, "),
     set_config('idle_in_transaction_session_timeout', $1, ", $is_local, "),
     set_config('default_transaction_isolation', 'read committed', ", $is_local, "),
     set_config('enable_seqscan', 'off', ", $is_local, "), set_config('enable_bitmapscan', 'off', ", $is_local, "),
     set_config('enable_hashjoin', 'off', ", $is_local, "), set_config('enable_mergejoin', 'off', ", $is_local, "),
     set_config('plan_cache_mode', 'force_generic_plan', ", $is_local, "), set_config('jit', 'off', ", $is_local, "),
     set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
         ELSE current_setting('synchronous_commit') END, ", $is_local, ")"
        )
    };
}

/// The settings for one transaction: others may use the same server process (`PgBouncer`).
pub(super) const SETTINGS: &str = settings!("true");

/// The settings for all transactions of a server process that serves this connection only.
pub(super) const SESSION_SETTINGS: &str = settings!("false");

/// The same, if this connection has marked the server process.
pub(super) const MARKED_SETTINGS: &str = concat!(
    settings!("false"),
    " WHERE current_setting('reattempt.session', true) = $2"
);

// Fails if the writer has raised its epoch on a later connection. Otherwise the writer cannot raise it
// before the end of this transaction. It also sets how long the transaction waits for locks. A part of
// the first statement of each transaction of a writer; `OFFSET 0` keeps its place.
macro_rules! checked {
    ($writer:literal, $epoch:literal, $lock_limit:literal) => {
        concat!(
            "(SELECT retry_check_writer($",
            $writer,
            "::text, $",
            $epoch,
            "::bigint),
                 set_config('lock_timeout', $",
            $lock_limit,
            "::text, true) AS lock_limit OFFSET 0) AS checked"
        )
    };
}

/// Ends the transactions of a writer: their connection was given up.
pub(super) const END_WRITER: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND classid = 1919251570 AND objid::bigint = hashtext($1)::bigint & 4294967295
         AND granted AND pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Waits for the transactions of a writer.
pub(super) const LOCK_WRITER: &str = "SELECT pg_advisory_xact_lock(1919251570, hashtext($1))";

/// Raises the epoch of a writer. Epochs grow with the time, also if a supervisor has forgotten the
/// writer.
pub(super) const RAISE_EPOCH: &str = concat!(
    "INSERT INTO retry_writer (id, epoch, at) VALUES ($1, ", now!(), ", ", now!(), ")
     ON CONFLICT (id) DO UPDATE SET epoch = greatest(retry_writer.epoch + 1, excluded.epoch), at = excluded.at
     RETURNING epoch"
);

/// Locks tasks in the order of their numbers, before everything else: two transactions that change
/// the same tasks cannot deadlock. Some may end, and then change their parents. The limit comes first,
/// also where there is no task; then there is a row without one.
pub(super) const LOCK: &str = concat!(
    "SELECT run.*, ",
    now!(),
    " FROM ",
    checked!("2", "3", "4"),
    " LEFT JOIN LATERAL (
         SELECT id, cancel_asked FROM retry_run
         WHERE id = ANY ($1::bigint[] || ARRAY(SELECT parent FROM retry_run WHERE id = ANY ($5::bigint[]) AND parent IS NOT NULL))
             AND lock_limit <> ''
         ORDER BY id FOR NO KEY UPDATE
     ) AS run ON true"
);

/// Locks lanes in the order of their names, where a transaction locks several: those of submissions, and
/// those of tasks that may end.
// Tasks are locked before lanes everywhere, and the task that gets the turn comes last.
pub(super) const LOCK_LANES: &str = "SELECT FROM retry_lane
     WHERE lane = ANY ($1::text[] || ARRAY(SELECT lane FROM retry_run WHERE id = ANY ($2::bigint[]) AND lane IS NOT NULL))
     ORDER BY lane FOR UPDATE";

/// Finds which of these tasks, or of their parents, another transaction has locked. It changes nothing, so
/// it does not wait for the disk.
pub(super) const LOCKED: &str = "WITH wanted AS MATERIALIZED (
         SELECT given.id, up.id AS parent FROM (SELECT set_config('synchronous_commit', 'off', true)) AS off
         CROSS JOIN unnest($1::bigint[]) AS given (id)
         LEFT JOIN LATERAL (SELECT parent FROM retry_run WHERE id = given.id AND id = ANY ($2::bigint[]) OFFSET 0) AS run ON true
         LEFT JOIN LATERAL (SELECT id FROM retry_run WHERE id = run.parent OFFSET 0) AS up ON true
     ), free AS MATERIALIZED (
         SELECT id FROM retry_run WHERE id = ANY (ARRAY(SELECT id FROM wanted UNION SELECT parent FROM wanted))
         ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
     )
     SELECT DISTINCT wanted.id FROM wanted JOIN retry_run AS run ON run.id = wanted.id
     WHERE wanted.id NOT IN (SELECT id FROM free) OR wanted.parent NOT IN (SELECT id FROM free)";

// A line that is left of a key goes first, if the key is free. The tasks get numbers in the order of the list, and
// are stored in the order of their lanes and keys: two transactions that submit the same lanes or keys cannot
// deadlock.
macro_rules! submit {
    ($checked:expr) => {
        $crate::store::postgres::sql::submit!($checked, "NULL")
    };
    ($checked:expr, $parent:literal) => {
        $crate::store::postgres::sql::submit!($checked, $parent, "")
    };
    ($checked:expr, $parent:literal, $which:literal) => {
        $crate::store::postgres::sql::submit!($checked, $parent, $which, "NULL")
    };
    ($checked:expr, $parent:literal, $which:literal, $origin:literal) => {
        concat!(
    "INSERT INTO retry_run (id, workflow, version, queue, priority, idem_key, state, direction, wake_at, complete_by, fence,
         failures, max_failures, cancel_asked, input, headers, created_at, updated_at, on_failure, lane, parent, incarnation, origin)
     SELECT id, workflow, version, queue, priority, key, 0, 0, ", now!(), " + delay, ", now!(), " + complete_in, 0,
         0, max_failures, false, input, headers, ", now!(), ", ", now!(), ", on_failure, lane, ", $parent, "::bigint, incarnation, ", $origin, "::text
     FROM (
         SELECT nextval('retry_run_id') AS id, given.*, CASE WHEN EXISTS (
             SELECT FROM retry_run AS old WHERE old.workflow = given.workflow AND idem_key = given.key AND state + 0 = 8 OFFSET 0
         ) THEN retry_free(given.workflow, given.key) ELSE 0 END AS incarnation
         FROM ", $checked, " unnest($1::text[], $2::int[], $3::text[], $4::smallint[], $5::text[],
             $6::bigint[], $7::bigint[], $8::int[], $9::text[], $10::text[], $11::smallint[], $12::text[]) WITH ORDINALITY
         AS given (workflow, version, queue, priority, key, delay, complete_in, max_failures, input, headers, on_failure, lane, n)
         ", $which, "
     ) AS numbered
     ORDER BY lane, workflow, key
     ON CONFLICT (workflow, idem_key) DO NOTHING
     RETURNING workflow, idem_key, id, created_at"
        )
    };
}

pub(super) use submit;

// Looking for the line of a free key takes 15 of 155 µs without a disk. `ON CONFLICT` leaves out a
// task whose key is taken; `BY_KEY` then finds the other one.
pub(super) const SUBMIT: &str = submit!("");

// Finds the tasks whose queue has no room for them: $13 is how many tasks of it may
// wait. Tasks that are there already need none, and those that start later take none yet, unless they may wait
// for a turn. It walks the workflows, versions and priorities of these queues, and counts the tasks that could
// run or wait for their turn, up to that number.
macro_rules! refused {
    () => {
        concat!(
    "WITH RECURSIVE bound (queue, most) AS (
         SELECT queue, max(most) FROM unnest($3::text[], $13::bigint[]) AS given (queue, most) WHERE most IS NOT NULL GROUP BY queue
     ), level (queue, workflow, version, priority) AS (
         SELECT bound.queue, head.* FROM bound CROSS JOIN LATERAL (
             SELECT workflow, version, priority FROM retry_ready AS ready WHERE NOT is_suspect AND ready.queue = bound.queue
             ORDER BY ready.queue, workflow, version, priority LIMIT 1
         ) AS head
       UNION ALL
         SELECT level.queue, next.* FROM level CROSS JOIN LATERAL (
             SELECT ready.workflow, ready.version, ready.priority FROM retry_ready AS ready
             WHERE NOT is_suspect AND ready.queue = level.queue
                 AND (ready.workflow, ready.version, ready.priority) > (level.workflow, level.version, level.priority)
             ORDER BY ready.queue, ready.workflow, ready.version, ready.priority LIMIT 1
         ) AS next
     ), room (queue, pending) AS MATERIALIZED (
         SELECT queue, (SELECT count(*) FROM (
             SELECT FROM level CROSS JOIN LATERAL (
                 SELECT FROM retry_ready AS ready WHERE NOT is_suspect AND ready.queue = level.queue AND ready.workflow = level.workflow
                     AND ready.version = level.version AND ready.priority = level.priority AND wake_at <= ", now!(), "
                 UNION ALL
                 SELECT FROM retry_ready AS ready WHERE NOT is_suspect AND ready.queue = level.queue AND ready.workflow = level.workflow
                     AND ready.version = level.version AND ready.priority = level.priority AND wake_at = 9223372036854775806
             ) AS ready
             WHERE level.queue = bound.queue LIMIT most
         ) AS line) FROM bound
     ), refused (n) AS MATERIALIZED (
         SELECT n FROM (
             SELECT n, most, pending + count(*) FILTER (WHERE delay = 0 OR lane IS NOT NULL) OVER (
                 PARTITION BY queue ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
             ) AS before
             FROM room JOIN unnest($3::text[], $1::text[], $5::text[], $6::bigint[], $12::text[], $13::bigint[]) WITH ORDINALITY
                 AS given (queue, workflow, key, delay, lane, most, n) USING (queue)
             WHERE NOT EXISTS (SELECT FROM retry_run AS old WHERE old.workflow = given.workflow AND idem_key = key
                 AND NOT (state = 8 AND wake_at <= ", now!(), ") OFFSET 0)
         ) AS numbered WHERE before >= most
     )"
        )
    };
}

/// Stores tasks, and leaves out those whose queue has no room for them.
pub(super) const SUBMIT_BOUNDED: &str = concat!(
    refused!(),
    " ",
    submit!("", "NULL", "WHERE n <> ALL (ARRAY(SELECT n FROM refused))")
);

/// Stores tasks in a transaction of its own.
pub(super) const SUBMIT_ALONE: &str = submit!(concat!(checked!("13", "14", "15"), " CROSS JOIN"));

/// Stores a child of a task that [`LOCK`] has locked, and the record of its start: call $15 of the task
/// $13 under the fence $14. A record that is there under the same fence names the child.
/// The last column is another task that has the key of the child.
// The child and its record are one statement, so a replay finds both or neither.
pub(super) const START: &str = concat!(
    "WITH held AS MATERIALIZED (
         SELECT cancel_asked FROM retry_run WHERE id = $13::bigint AND fence = $14::bigint AND state + 0 = 1 FOR NO KEY UPDATE
     ), old AS MATERIALIZED (
         SELECT fence, result::bigint AS id FROM retry_step WHERE run_id = $13 AND seq = $15::int AND kind = 1
     ), new AS (",
    submit!("(SELECT FROM held WHERE NOT EXISTS (SELECT FROM old) OFFSET 0) AS free CROSS JOIN", "$13"),
    "), written AS (
         INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, at, fence, args_hash, undo)
         SELECT $13, $15, 1, $16::int, $17::text, 0, id::text, ", now!(), ", $14, $18::text, $19::text FROM new
     )
     SELECT cancel_asked, ", now!(), ", coalesce((SELECT id FROM new), (SELECT id FROM old WHERE fence = $14)),
         (SELECT id FROM retry_run WHERE workflow = ($1::text[])[1] AND idem_key = ($5::text[])[1]
             AND NOT EXISTS (SELECT FROM new) AND NOT EXISTS (SELECT FROM old))
     FROM held"
);

/// Ends children $3 of the task $1 under the fence $2, which [`LOCK`] has locked with them: those that
/// go on are cancelled, once, and if $4, those that have ended turn back.
// Only a child without `cancel_asked` is cancelled, so a worker that dies in between, and the next
// one, cancel it once. With state 4 and `on_failure` 0 it had nothing to undo.
pub(super) const END_CHILDREN: &str = concat!(
    "WITH held AS MATERIALIZED (
         SELECT cancel_asked FROM retry_run WHERE id = $1::bigint AND fence = $2::bigint AND state + 0 = 1
     ), failures AS (
         DELETE FROM retry_failure WHERE run_id = ANY (ARRAY(
             SELECT id FROM retry_run WHERE id = ANY ($3::bigint[]) AND parent = $1 AND state + 0 = 7 AND NOT cancel_asked
                 AND EXISTS (SELECT FROM held)
         ))
     ), ended AS (
         UPDATE retry_run SET
             cancel_asked = true,
             direction = CASE WHEN state IN (3, 4) THEN 2 ELSE direction END,
             fence = CASE WHEN state IN (3, 4, 7) THEN fence + 1 ELSE fence END,
             failures = CASE WHEN state IN (3, 4, 7) THEN 0 ELSE failures END,
             deaths = CASE WHEN state IN (3, 4, 7) THEN 0 ELSE deaths END,
             failed_ord = CASE WHEN state IN (3, 4, 7) THEN -1 ELSE failed_ord END,
             wake_at = CASE WHEN state = 1 THEN wake_at ELSE ", now!(), " END,
             state = CASE WHEN state = 1 THEN 1 WHEN state IN (0, 2) AND fence = 0 THEN 6 ELSE 0 END,
             updated_at = ", now!(), "
         WHERE id = ANY ($3) AND parent = $1 AND EXISTS (SELECT FROM held)
             AND (state + 0 IN (0, 1, 2, 7) AND NOT cancel_asked OR $4::boolean AND (state + 0 = 3 OR state + 0 = 4 AND on_failure = 1))
         RETURNING id, state
     ), children AS (
         SELECT id, state FROM ended
         UNION ALL
         SELECT id, state FROM retry_run WHERE id = ANY ($3) AND parent = $1 AND id <> ALL (ARRAY(SELECT id FROM ended))
     )
     SELECT cancel_asked, ", now!(), ", id, state FROM held LEFT JOIN children ON true"
);

/// Finds the tasks that have these keys; one whose key is free has it no more.
pub(super) const BY_KEY: &str = concat!(
    "SELECT workflow, idem_key, id, CASE WHEN generation = 0 AND state <> 8 THEN version END, input
     FROM unnest($1::text[], $2::text[]) AS given (workflow, key) JOIN retry_run USING (workflow) WHERE idem_key = key
         AND NOT (state = 8 AND wake_at <= ", now!(), ")"
);

// The levels in which a claim looks, and the places where it begins. They are those that are given (a priority of
// -32769 is none), and the priorities between one and the next, from their first task on, which has the number -1.
macro_rules! levels {
    ($ready:literal, $queues:literal) => {
        $crate::store::postgres::sql::levels!($ready, $queues, "")
    };
    ($ready:literal, $queues:literal, $checked:expr) => {
        concat!(
            "level (queue, workflow, version, priority, wake_at, run_id, next) AS (
         SELECT given.* FROM ", $checked, " unnest($2::text[], $3::text[], $4::int[], $7::int[], $8::bigint[], $9::bigint[], $10::int[])
             AS given (queue, workflow, version, priority, wake_at, run_id, next)
         WHERE ", $queues, "
       UNION ALL
         SELECT level.queue, level.workflow, level.version, new.priority, 0::bigint, -1::bigint, next FROM level CROSS JOIN LATERAL (
             SELECT ready.priority::int AS priority FROM retry_ready AS ready WHERE ", $ready, " AND ready.queue = level.queue
                 AND ready.workflow = level.workflow AND ready.version = level.version
                 AND ready.priority > level.priority AND ready.priority < next
             ORDER BY ready.queue, ready.workflow, ready.version, ready.priority LIMIT 1
         ) AS new
     )"
        )
    };
}

// Reads the tasks with the earliest wake-up time of each level, from its place on. So it reads no task of another
// workflow and no sleeping one, however many there are. Other workers may lock some at the same moment, so it looks
// at a few more.
macro_rules! first {
    ($ready:literal) => {
        concat!(
            "level CROSS JOIN LATERAL (
             SELECT ready.wake_at, ready.run_id FROM retry_ready AS ready
             WHERE ", $ready, " AND ready.queue = level.queue AND ready.workflow = level.workflow AND ready.version = level.version
                 AND ready.priority = level.priority AND level.priority > -32769
                 AND (ready.wake_at, ready.run_id) >= (level.wake_at, level.run_id) AND ready.wake_at <= ", now!(), " - $6::bigint
             ORDER BY ready.wake_at, ready.run_id LIMIT $5::bigint * 4 + 16
         ) AS ready"
        )
    };
}

// Locks one of the first tasks.
// The task is checked again: its line is from the snapshot of the statement, and another worker may
// have claimed it since. A line itself has no lock: it would deadlock with what locks a task first
// and then moves its line.
macro_rules! lock_first {
    ($which:literal) => {
        concat!(
            "first CROSS JOIN LATERAL (
                 SELECT id FROM retry_run AS run WHERE run.id = first.id AND state + 0 IN (0, 2) AND ", $which, " AND wake_at <= ", now!(), " - $6::bigint
                 FOR NO KEY UPDATE SKIP LOCKED
             ) AS ready"
        )
    };
}

macro_rules! set_claimed {
    () => {
        concat!(
            "UPDATE retry_run SET state = 1, owner = $1, fence = fence + 1, step_by = NULL, updated_at = ",
            now!()
        )
    };
}

// Returns the claimed tasks, and a last row without one: which levels are new, the first task of each that was seen and
// not claimed, whether all that are ready were seen, when the next one wakes up then, and whether there are suspects.
macro_rules! found {
    ($ready:literal, $again:expr, $is_all:expr) => {
        concat!(
            "found AS (
         SELECT * FROM claimed UNION ALL SELECT (NULL::retry_run).*
     ), rest AS MATERIALIZED (
         SELECT queue, workflow, version, priority, NULL::bigint[] AS place FROM level WHERE run_id = -1 AND priority > -32769
         UNION ALL
         SELECT queue, workflow, version, priority, min(ARRAY[wake_at, id]) FROM first WHERE id NOT IN (SELECT id FROM claimed)
         GROUP BY queue, workflow, version, priority
     )
     SELECT ", $crate::store::rows::task!(listed), ", ", now!(), " AS now, EXISTS (SELECT FROM retry_signal WHERE run_id = found.id) AS has_signals,
         ", $again, " AS again, (SELECT array_agg(queue) FROM rest WHERE id IS NULL) AS queues,
         (SELECT array_agg(workflow) FROM rest WHERE id IS NULL) AS workflows, (SELECT array_agg(version) FROM rest WHERE id IS NULL) AS versions,
         (SELECT array_agg(priority) FROM rest WHERE id IS NULL) AS priorities,
         (SELECT array_agg(place[1]) FROM rest WHERE id IS NULL) AS wake_at_first,
         (SELECT array_agg(place[2]) FROM rest WHERE id IS NULL) AS first, ", $is_all, " AS is_all,
         CASE WHEN id IS NULL AND ", $is_all, " THEN (SELECT min(later.wake_at) FROM level CROSS JOIN LATERAL (
             SELECT ready.wake_at FROM retry_ready AS ready
             WHERE ", $ready, " AND ready.queue = level.queue AND ready.workflow = level.workflow AND ready.version = level.version
                 AND ready.priority = level.priority AND level.priority > -32769 AND ready.wake_at > ", now!(), "
             ORDER BY ready.wake_at, ready.run_id LIMIT 1
         ) AS later) END AS next,
         CASE WHEN id IS NULL THEN EXISTS (SELECT FROM retry_ready WHERE is_suspect) END AS has_suspects
     FROM found"
        )
    };
}

pub(super) use {first, found, levels, lock_first, set_claimed};

// Takes the first tasks of all queues without a limit. It reads no record: they may be large.
macro_rules! claim {
    ($ready:literal, $which:literal, $checked:expr) => {
        concat!(
            "WITH RECURSIVE ",
            levels!(
                $ready,
                "queue <> ALL (ARRAY(SELECT queue FROM retry_limit))",
                $checked
            ),
            ", first (queue, workflow, version, priority, wake_at, id) AS MATERIALIZED (
         SELECT level.queue, level.workflow, level.version, level.priority, ready.wake_at, ready.run_id FROM ",
            first!($ready),
            "
         ORDER BY level.priority, ready.wake_at, ready.run_id LIMIT $5::bigint * 4 + 16
     ), claimed AS (
     ",
            set_claimed!(),
            "
     WHERE id = ANY (ARRAY(SELECT ready.id FROM ",
            lock_first!($which),
            " LIMIT $5))
     RETURNING *
     ), ",
            found!($ready, "NULL::bigint", "(SELECT count(*) < $5::bigint * 4 + 16 FROM first)")
        )
    };
}

/// Claims tasks that are not suspects.
pub(super) const CLAIM: &str = claim!("NOT is_suspect", "deaths < 2", "");

/// The same in a transaction of its own.
// Without a transaction around it, so a process without work sends one statement for each look.
pub(super) const CLAIM_ALONE: &str = claim!(
    "NOT is_suspect",
    "deaths < 2",
    concat!(checked!("11", "12", "13"), " CROSS JOIN")
);

/// Claims suspects.
pub(super) const CLAIM_SUSPECTS: &str = claim!("is_suspect", "deaths >= 2", "");

/// Finds workflows that are not among these, and whose tasks have been ready for so long. Its cost
/// grows with the number of workflows that have such tasks, not with that of the tasks.
pub(super) const UNKNOWN: &str = concat!(
    "WITH RECURSIVE level (queue, workflow, version, priority, wake_at) AS (
         SELECT given.queue, head.* FROM unnest($1::text[]) AS given (queue) CROSS JOIN LATERAL (
             SELECT workflow, version, priority, wake_at FROM retry_ready AS ready WHERE NOT is_suspect AND ready.queue = given.queue
             ORDER BY ready.queue, workflow, version, priority, wake_at LIMIT 1
         ) AS head
       UNION ALL
         SELECT level.queue, next.* FROM level CROSS JOIN LATERAL (
             SELECT ready.workflow, ready.version, ready.priority, ready.wake_at FROM retry_ready AS ready
             WHERE NOT is_suspect AND ready.queue = level.queue
                 AND (ready.workflow, ready.version, ready.priority) > (level.workflow, level.version, level.priority)
             ORDER BY ready.queue, ready.workflow, ready.version, ready.priority, ready.wake_at LIMIT 1
         ) AS next
     )
     SELECT queue, workflow, version, ", now!(), " - min(wake_at) AS waited FROM level
     WHERE NOT EXISTS (SELECT FROM unnest($2::text[], $3::int[]) AS known (workflow, version)
         WHERE known.workflow = level.workflow AND known.version = level.version)
     GROUP BY queue, workflow, version HAVING min(wake_at) <= ", now!(), " - $4::bigint
     ORDER BY queue, workflow, version LIMIT 100"
);

/// Adds records of tasks that [`LOCK`] has locked. A record that is not returned is already there,
/// or its task is lost.
pub(super) const RECORD: &str = concat!(
    "INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, error, due_at, at, fence, args_hash, args, undo)
     SELECT run_id, seq, kind, ord, name, attempts, given.result, given.error, due_at, ", now!(), ", given.fence, args_hash, args, undo
     FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::smallint[], $5::int[], $6::text[], $7::int[], $8::text[], $9::text[],
         $10::bigint[], $11::text[], $12::text[], $13::text[])
         AS given (run_id, fence, seq, kind, ord, name, attempts, result, error, due_at, args_hash, args, undo)
     CROSS JOIN LATERAL (
         SELECT FROM retry_run WHERE id = given.run_id AND fence = given.fence AND state + 0 = 1 OFFSET 0
     ) AS held
     ON CONFLICT (run_id, seq, kind) DO NOTHING
     RETURNING run_id, seq, kind"
);

// Locks tasks in the order of the list. A record that is there under the same fence counts as
// written, also if another transaction committed it while this one waited for the lock.
macro_rules! record_and_lock {
    ($checked:expr) => {
        concat!(
    "WITH given AS (
         SELECT given.*, cancel_asked, old.fence AS old
         FROM ", $checked, " unnest($1::bigint[], $2::bigint[], $3::int[], $4::smallint[], $5::int[], $6::text[], $7::int[], $8::text[], $9::text[],
             $10::bigint[], $11::text[], $12::text[], $13::text[])
             WITH ORDINALITY AS given (run_id, fence, seq, kind, ord, name, attempts, result, error, due_at, args_hash, args, undo, n)
         CROSS JOIN LATERAL (
             SELECT cancel_asked FROM retry_run WHERE id = given.run_id AND fence = given.fence AND state + 0 = 1 FOR NO KEY UPDATE
         ) AS run
         LEFT JOIN retry_step AS old ON old.run_id = given.run_id AND old.seq = given.seq AND old.kind = given.kind
     ), written AS (
         INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, error, due_at, at, fence, args_hash, args, undo)
         SELECT run_id, seq, kind, ord, name, attempts, result, error, due_at, ", now!(), ", fence, args_hash, args, undo
         FROM given WHERE old IS NULL
         ON CONFLICT (run_id, seq, kind) DO NOTHING
     )
     SELECT n, cancel_asked, ", now!(), " FROM given WHERE old IS NULL OR old = fence"
        )
    };
}

/// Adds records after a write that may change the state of their tasks.
pub(super) const RECORD_AFTER: &str = record_and_lock!("");

/// Adds records in a transaction of its own.
// One round trip: most records of a workflow that runs alone are written so.
pub(super) const RECORD_ALONE: &str =
    record_and_lock!(concat!(checked!("14", "15", "16"), " CROSS JOIN"));

// A task that has run for two leases has not ended its process; without this it would stay a
// suspect until its next outcome.
pub(super) const CLEAR_DEATHS: &str = concat!(
    "UPDATE retry_run SET deaths = 0 WHERE id = $1 AND fence = $2 AND state + 0 = 1 RETURNING cancel_asked, ",
    now!()
);

/// Keeps the steps that run under a lease that is held, and forgets those that were dropped, after
/// [`LOCK`] has locked their tasks.
// An upsert, because a line under an earlier fence may be left.
pub(super) const RUNNING: &str =
    "WITH gone AS (
         DELETE FROM retry_running AS line USING unnest($8::bigint[], $9::bigint[], $10::int[]) AS ended (run_id, fence, seq)
         WHERE line.run_id = ended.run_id AND line.seq = ended.seq AND line.fence = ended.fence
     )
     INSERT INTO retry_running (run_id, seq, fence, worker, name, since, due)
     SELECT given.* FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
         AS given (run_id, seq, fence, worker, name, since, due)
     CROSS JOIN LATERAL (
         SELECT FROM retry_run WHERE id = given.run_id AND fence = given.fence AND state + 0 = 1 OFFSET 0
     ) AS held
     ON CONFLICT (run_id, seq) DO UPDATE SET fence = excluded.fence, worker = excluded.worker, name = excluded.name,
         since = excluded.since, due = excluded.due";

/// Forgets steps that have ended with the writes before it.
pub(super) const FORGET_LINES: &str =
    "DELETE FROM retry_running AS line USING unnest($1::bigint[], $2::bigint[], $3::int[]) AS ended (run_id, fence, seq)
     WHERE line.run_id = ended.run_id AND line.seq = ended.seq AND line.fence = ended.fence";

/// Forgets steps that have ended. It may take effect late, because no step runs again under its lease.
/// It skips locked lines: heartbeats must not wait behind it, and the transaction that has locked a
/// line removes it.
pub(super) const ENDED: &str =
    "WITH free AS MATERIALIZED (
         SELECT line.* FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS ended (run_id, fence, seq)
         CROSS JOIN LATERAL (
             SELECT run_id, seq FROM retry_running AS line
             WHERE line.run_id = ended.run_id AND line.seq = ended.seq AND line.fence = ended.fence FOR UPDATE SKIP LOCKED
         ) AS line
     )
     DELETE FROM retry_running AS line USING free WHERE line.run_id = free.run_id AND line.seq = free.seq";

// Changes the states of tasks. A change that looks at signals needs an earlier lock: by itself it would see
// the signals from before its wait for the lock.
// A cancel that was requested meanwhile wakes a task that goes forward at once: it must not sleep
// to the end of its timer. An earlier result or error stays unless there is a new one.
macro_rules! change {
    ($checked:expr, $types:literal, $columns:literal, $wake_at:expr, $awaits:expr) => {
        concat!(
            "WITH given AS MATERIALIZED (
                 SELECT given.* FROM ", $checked, " unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::smallint[], $5::int[], $6::text[],
                     $7::text[], $8::int[], $9::int[], $10::int[], ", $types, ") WITH ORDINALITY
                 AS given (run_id, fence, state, direction, failures, output, error, failed_seq, deaths, failed_ord, ", $columns, ", n)
             )
             UPDATE retry_run AS run SET
                 state = given.state,
                 direction = given.direction,
                 failures = given.failures,
                 wake_at = CASE WHEN cancel_asked AND given.direction = 0 THEN ", now!(), " ELSE ", $wake_at, " END,
                 awaits = ", $awaits, ",
                 output = coalesce(given.output, run.output),
                 error = coalesce(given.error, run.error),
                 owner = CASE WHEN given.state = 1 THEN owner END,
                 step_by = NULL,
                 updated_at = ", now!(), ",
                 failed_seq = coalesce(given.failed_seq, run.failed_seq),
                 deaths = given.deaths,
                 failed_ord = given.failed_ord
             FROM given
             WHERE run.id = ANY ($1) AND run.id = run_id AND run.fence = given.fence AND run.state + 0 = 1
             RETURNING n, cancel_asked, ", now!(), ", given.state BETWEEN 3 AND 6 AND parent IS NOT NULL"
        )
    };
}

macro_rules! change_after_a_delay {
    ($checked:expr) => {
        change!(
            $checked,
            "$11::bigint[]",
            "delay",
            concat!(now!(), " + delay"),
            "NULL"
        )
    };
}

/// Changes the states of tasks that wake up after a delay, or have ended.
pub(super) const CHANGE: &str = change_after_a_delay!("");

/// The same in a transaction of its own.
pub(super) const CHANGE_ALONE: &str =
    change_after_a_delay!(concat!(checked!("12", "13", "14"), " CROSS JOIN"));

/// Lets tasks wait for signals, or for ends of children.
// Signals about ended children have a count of their own, so that a parent of 5,000 children goes
// on once. `reattempt:heard` are signals that an earlier generation has got.
pub(super) const WAIT: &str = change!(
    "",
    "$11::bigint[], $12::bigint[], $13::bigint[]",
    "wake_at, seen, ends",
    concat!(
        "CASE WHEN EXISTS (SELECT 1 FROM retry_signal AS signal WHERE signal.run_id = run.id AND signal.id > seen AND name NOT IN ('reattempt:child', 'reattempt:heard'))
             OR ends <= (SELECT count(*) FROM retry_signal AS signal WHERE signal.run_id = run.id AND signal.id > seen AND name <> 'reattempt:heard')
         THEN ", now!(), " ELSE given.wake_at END"
    ),
    "ends - (SELECT count(*) FROM retry_signal AS signal WHERE signal.run_id = run.id AND signal.id > seen AND name <> 'reattempt:heard')"
);

/// Finds changes that have taken place before. They count as written: a writer that does not know repeats them.
// A waiting task may be pending by now: a signal has woken it. Every change of hands raises the
// fence, so a change of another worker never fits.
pub(super) const CHANGED_BEFORE: &str = concat!(
    "SELECT n, cancel_asked, ", now!(), "
     FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::smallint[], $5::int[], $6::text[], $7::text[]) WITH ORDINALITY
         AS given (run_id, fence, state, direction, failures, output, error, n)
     CROSS JOIN LATERAL (
         SELECT cancel_asked FROM retry_run AS run
         WHERE run.id = run_id AND run.fence = given.fence AND run.state + 0 <> 1
             AND (run.state + 0 = given.state OR run.state + 0 = 0 AND given.state = 2)
             AND run.direction = given.direction AND run.failures = given.failures
             AND (given.output IS NULL OR run.output = given.output) AND (given.error IS NULL OR run.error = given.error)
         OFFSET 0
     ) AS earlier"
);

/// Stores the failures of steps whose tasks the change after it will reach: one that is repeated changes nothing.
// A statement of its own, because PostgreSQL prepares each table that a statement names, whenever
// it runs. Most changes have no failure.
pub(super) const FAIL: &str = concat!(
    "INSERT INTO retry_failure (run_id, direction, seq, failures, error, at)
     SELECT run_id, direction, seq, failures, error, ", now!(), "
     FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::int[], $5::int[], $6::text[])
         AS given (run_id, fence, direction, seq, failures, error)
     CROSS JOIN LATERAL (SELECT FROM retry_run WHERE id = given.run_id AND fence = given.fence AND state + 0 = 1 OFFSET 0) AS held
     ON CONFLICT (run_id, direction, seq) DO UPDATE SET failures = excluded.failures, error = excluded.error, at = excluded.at"
);

/// Renews the lease of a worker, and finds which of the tasks $3 it holds, or all where that is NULL. The last row
/// has the queues with limits, and says whether lanes have rates.
// The worker names its tasks, so that they are looked up by number: the index of `retry_held` may
// be full of dead entries. It asks for all once a minute.
pub(super) const BEAT: &str = concat!(
    "WITH beaten AS (
         INSERT INTO retry_worker (id, lease_until, lease) VALUES ($1, ", now!(), " + $2, $2)
         ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, lease = excluded.lease
     ), held AS (
         SELECT id, fence, cancel_asked, coalesce((SELECT max(signal.id) FROM retry_signal AS signal WHERE run_id = run.id), 0)
         FROM (
             SELECT unnest($3::bigint[]) AS run_id UNION ALL SELECT run_id FROM retry_held WHERE $3 IS NULL AND retry_held.owner = $1
         ) AS known
         CROSS JOIN LATERAL (SELECT * FROM retry_run WHERE id = run_id AND owner = $1 AND state + 0 = 1 OFFSET 0) AS run
     )
     SELECT held.*, NULL::text[] AS limited, NULL::bool AS has_lane_rates FROM held
     UNION ALL SELECT NULL, NULL, NULL, NULL, ARRAY(SELECT queue FROM retry_limit),
         EXISTS (SELECT FROM retry_lane_limit WHERE tasks IS NOT NULL)"
);

// The fence rises, so that nothing counts that the worker still writes for the task.
macro_rules! give_back {
    ($tasks:literal) => {
        concat!(
            "WITH given AS (", $tasks, " ORDER BY id FOR NO KEY UPDATE), gone AS (
                 DELETE FROM retry_running WHERE run_id = ANY (ARRAY(SELECT id FROM given))
             )
             UPDATE retry_run SET state = 0, owner = NULL, fence = fence + 1, step_by = NULL, wake_at = ", now!(), ", updated_at = ", now!(), "
             WHERE id = ANY (ARRAY(SELECT id FROM given))"
        )
    };
}

/// Gives back the tasks of a worker that leaves.
pub(super) const DISOWN: &str = give_back!(
    "SELECT id FROM retry_run WHERE id = ANY (ARRAY(SELECT run_id FROM retry_held WHERE owner = $1)) AND owner = $1 AND state + 0 = 1"
);

/// Gives back tasks by their leases.
pub(super) const GIVE_BACK: &str = give_back!(
    "SELECT id FROM retry_run AS run
     WHERE id = ANY ($1::bigint[]) AND state + 0 = 1
         AND EXISTS (SELECT FROM unnest($1, $2::bigint[]) AS given (run_id, fence) WHERE run_id = run.id AND given.fence = run.fence)"
);

pub(super) const FORGET: &str = "DELETE FROM retry_worker WHERE id = $1";

// The sender repeats a signal of unknown outcome with the same random bits, so it is stored once.
pub(super) const SIGNAL: &str = concat!(
    "WITH given AS (
         SELECT given.*, state, EXISTS (SELECT 1 FROM retry_signal AS old WHERE old.run_id = given.run_id AND old.nonce = given.nonce) AS is_there
         FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS given (run_id, name, payload, nonce, n)
         LEFT JOIN retry_run AS run ON run.id = run_id
     ), stored AS (
         INSERT INTO retry_signal (run_id, name, payload, nonce)
         SELECT run_id, name, payload, nonce FROM given WHERE state IN (0, 1, 2) AND NOT is_there ORDER BY n
     ), woken AS (
         UPDATE retry_run SET state = 0, wake_at = ", now!(), ", updated_at = ", now!(), "
         WHERE state + 0 = 2 AND id = ANY (ARRAY(SELECT run_id FROM given WHERE state = 2 AND NOT is_there))
     )
     SELECT n, CASE WHEN is_there THEN 0::smallint ELSE state END FROM given"
);

/// Deletes the data of tasks that ended $1 ago, and the lines that need not stay any more, at most $2 of each. A key
/// becomes free $3 after the end of its task, and not before $4 from now. Its line stays for $5 after that. A task
/// that has ended again since it was found is not old. A child stays as long as the generation of its parent that has
/// started it.
// Locked tasks are left for the next time, so that it waits for no worker and for no other `prune`.
// A task with ten records takes 14 µs (70,000 tasks/s in batches of 10,000, 55,000 if keys stay).
pub(super) const PRUNE: &str = concat!(
    "WITH old AS MATERIALIZED (
         SELECT run.id, keeps_key FROM retry_ended CROSS JOIN LATERAL (
             SELECT id, parent IS NULL AND idem_key !~ '^~[0-9a-f]{32}$' AS keeps_key
             FROM retry_run AS old WHERE id = run_id AND updated_at = at AND state + 0 IN (3, 4, 5, 6)
                 AND NOT EXISTS (SELECT FROM retry_run AS up WHERE up.id = old.parent AND up.state + 0 <> 8
                     AND old.created_at >= coalesce(up.continued_at, old.created_at))
             FOR UPDATE OF old SKIP LOCKED
         ) AS run
         WHERE at <= ", now!(), " - $1 AND retry_ended.state NOT IN (7, 8) ORDER BY at LIMIT $2
     ), free AS MATERIALIZED (
         SELECT run.id FROM retry_ended CROSS JOIN LATERAL (
             SELECT id FROM retry_run WHERE id = run_id AND state + 0 = 8 FOR UPDATE SKIP LOCKED
         ) AS run
         WHERE at <= ", now!(), " AND retry_ended.state = 8 ORDER BY at LIMIT $2
     ), steps AS (
         DELETE FROM retry_step WHERE run_id = ANY (ARRAY(SELECT id FROM old))
     ), failures AS (
         DELETE FROM retry_failure WHERE run_id = ANY (ARRAY(SELECT id FROM old))
     ), notes AS (
         DELETE FROM retry_note WHERE run_id = ANY (ARRAY(SELECT id FROM old))
     ), signals AS (
         DELETE FROM retry_signal WHERE run_id = ANY (ARRAY(SELECT id FROM old))
     ), kept AS (
         UPDATE retry_run SET state = 8, wake_at = greatest(updated_at + $3, ", now!(), " + $4),
             updated_at = greatest(updated_at + $3, ", now!(), " + $4) + $5, input = 'null', output = NULL, error = NULL, headers = NULL, lane = NULL
         WHERE id = ANY (ARRAY(SELECT id FROM old WHERE keeps_key))
     ), runs AS (
         DELETE FROM retry_run WHERE id = ANY (ARRAY(SELECT id FROM old WHERE NOT keeps_key UNION ALL SELECT id FROM free))
     )
     SELECT (SELECT count(*) FROM old) + (SELECT count(*) FROM free)"
);

pub(super) const RUN: &str = concat!("SELECT ", task!(listed), " FROM retry_run WHERE id = $1");

pub(super) const HISTORY: &str = concat!(
    "SELECT ",
    record!(listed),
    " FROM retry_step WHERE run_id = $1 ORDER BY ord"
);

pub(super) const FAILURES: &str = "SELECT direction, seq, failures, error, at FROM retry_failure WHERE run_id = $1 ORDER BY direction, seq";

pub(super) const NOTES: &str = "SELECT nullif(seq, -1), verdict, operator, why, at FROM retry_note WHERE run_id = $1 ORDER BY id";

pub(super) const SIGNALS: &str =
    "SELECT id, name, payload FROM retry_signal WHERE run_id = $1 ORDER BY id";

/// Reads the records after a place until they have $4 bytes, and the fence at the same moment. The
/// server adds up the sizes without reading what it does not send.
pub(super) const HISTORY_PAGE: &str =
    "SELECT seq, kind, ord, name, attempts, result, page.error, due_at, at, page.fence, args_hash, args, undo, run.fence AS now_fence, page.n IS NULL OR page.n = found AND found <= $5 AS is_last
     FROM retry_run AS run LEFT JOIN LATERAL (
         SELECT * FROM (
             SELECT *, row_number() OVER (ORDER BY seq, kind) AS n, count(*) OVER () AS found,
                 sum($6::bigint + coalesce(octet_length(result), 0) + coalesce(octet_length(error), 0) + coalesce(octet_length(args), 0)) OVER (ORDER BY seq, kind) AS bytes
             FROM (
                 SELECT * FROM retry_step WHERE run_id = run.id AND (seq, kind) > ($2::int, $3::smallint) ORDER BY seq, kind LIMIT $5::bigint + 1
             ) AS step
         ) AS sized WHERE n = 1 OR bytes <= $4::bigint AND n <= $5
     ) AS page ON true
     WHERE run.id = $1 ORDER BY seq, kind";

/// Reads the signals after one in the same way.
pub(super) const SIGNALS_PAGE: &str =
    "SELECT page.id, name, payload, run.fence AS now_fence, page.n IS NULL OR page.n = found AND found <= $4 AS is_last
     FROM retry_run AS run LEFT JOIN LATERAL (
         SELECT * FROM (
             SELECT *, row_number() OVER (ORDER BY id) AS n, count(*) OVER () AS found, sum($5::bigint + octet_length(payload)) OVER (ORDER BY id) AS bytes
             FROM (SELECT * FROM retry_signal WHERE run_id = run.id AND id > $2 ORDER BY id LIMIT $4::bigint + 1) AS signal
         ) AS sized WHERE n = 1 OR bytes <= $3::bigint AND n <= $4
     ) AS page ON true
     WHERE run.id = $1 ORDER BY page.id";

/// The steps that a worker runs, and those that agents have or may take.
pub(super) const RUNNING_STEPS: &str = "SELECT run_id, seq, line.fence, worker, name, since, due
     FROM retry_running AS line JOIN retry_run AS run ON run.id = run_id
     WHERE run_id = $1 AND line.fence = run.fence AND state + 0 = 1
     UNION ALL
     SELECT run_id, seq, run.fence, format('agents of %s: attempt %s, %s', call.queue, attempt,
         CASE call.state WHEN 1 THEN 'taken' ELSE 'offered' END), step, offered_at, call.complete_by
     FROM retry_call AS call JOIN retry_run AS run ON run.id = run_id
     WHERE run_id = $1 AND call.state IN (0, 1) AND run.state + 0 IN (0, 1, 2) ORDER BY seq";

// A notification writes to the log. It does not outlive the server, so it need not wait for the
// disk.
macro_rules! notify {
    ($channel:literal) => {
        concat!(
            "SELECT set_config('synchronous_commit', 'off', true), pg_notify('",
            $channel,
            "', $1)"
        )
    };
}

pub(super) const NOTIFY: &str = notify!("retry_stored");

pub(super) const NOTIFY_ENDS: &str = notify!("retry_ended");
