//! Reclaims tasks whose worker or whose time is gone.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Transaction};

use super::columns::micros;
use super::connection::{Live, Prepared};
use super::link::{Link, Need};
use super::pipeline::{self, Sent};
use super::places::{Level, Place};
use super::sql::now;
use super::sqlstate::store_error;
use super::{rows, whole};
use crate::store::expiry::find_expiry;
use crate::store::outage::{Sweeps, Watch};
use crate::store::rows::task;
use crate::store::{Expiry, Failure, NextState, Overdue, Reclaimed, StoreError, Sweep};
use crate::task::{Task, WorkerId};
use crate::time::Time;

/// The place of the newest outcome of a step; -1 if there is none. See `LastOutcome`.
macro_rules! progress {
    () => {
        "(SELECT coalesce(max(ord), -1) FROM retry_step AS step
             WHERE run_id = retry_run.id AND kind IN (1, 2, 3) AND NOT EXISTS (
                 SELECT 1 FROM retry_step AS begun WHERE begun.run_id = step.run_id AND begun.seq = step.seq AND begun.kind = 0
                     AND (begun.due_at IS NOT NULL OR starts_with(begun.name, 'signal '))))"
    };
}

/// Finds expired tasks, each kind by its own small table; skips those that another supervisor has
/// locked.
macro_rules! expired {
    ($found:expr, $which:literal) => {
        concat!(
            "SELECT ",
            task!(listed),
            ", ",
            now!(),
            " AS now, ",
            progress!(),
            " AS progress FROM (",
            $found,
            ") AS found
             CROSS JOIN LATERAL (SELECT * FROM retry_run WHERE id = run_id AND ",
            $which,
            " FOR NO KEY UPDATE SKIP LOCKED) AS retry_run
             LIMIT $1"
        )
    };
}

// What has expired or is not needed any more: a sweep looks for each, and finds them in these rows.

macro_rules! without_worker {
    () => {
        concat!(
            "retry_held WHERE NOT EXISTS (SELECT FROM retry_worker WHERE retry_worker.id = owner AND lease_until > ",
            now!(),
            ")"
        )
    };
}

macro_rules! late_turns {
    () => {
        concat!(
            "retry_held WHERE step_by IS NOT NULL AND step_by < ",
            now!()
        )
    };
}

macro_rules! late_steps {
    () => {
        concat!("retry_running WHERE due IS NOT NULL AND due < ", now!())
    };
}

macro_rules! late_tasks {
    () => {
        concat!("retry_limited WHERE complete_by < ", now!())
    };
}

macro_rules! long_leases {
    () => {
        concat!(
            "retry_worker WHERE (lease_until - ",
            now!(),
            ") / 2 > lease"
        )
    };
}

macro_rules! gone_workers {
    () => {
        concat!("retry_worker WHERE lease_until < ", now!(), " - 3600000000")
    };
}

macro_rules! gone_writers {
    () => {
        concat!("retry_writer WHERE at < ", now!(), " - 7 * 86400000000")
    };
}

macro_rules! old_begins {
    ($micros:literal) => {
        concat!("retry_lane_begun WHERE until < ", now!(), " - ", $micros)
    };
}

/// How many of them find only tasks that a worker holds.
const HELD: usize = 3;

// `OFFSET 0` keeps the search in the small table, before the tasks are locked.
const EXPIRED: [&str; 4] = [
    expired!(concat!("SELECT run_id FROM ", without_worker!(), " OFFSET 0"), "state + 0 = 1"),
    expired!(concat!("SELECT run_id FROM ", late_turns!(), " ORDER BY step_by OFFSET 0"), "state + 0 = 1"),
    expired!(
        concat!("SELECT DISTINCT run_id FROM (SELECT run_id FROM ", late_steps!(), " AND EXISTS (
                 SELECT FROM retry_run AS run WHERE run.id = run_id AND run.fence = retry_running.fence AND run.state + 0 = 1)
             ORDER BY due LIMIT $1) AS line OFFSET 0"),
        "state + 0 = 1"
    ),
    expired!(
        concat!("SELECT run_id FROM ", late_tasks!(), " ORDER BY complete_by OFFSET 0"),
        "state + 0 IN (0, 1, 2) AND direction = 0"
    ),
];

/// Checks the leases again when the tasks are locked: a worker may have renewed its lease since.
const ALIVE: &str = concat!(
    "SELECT id FROM retry_worker WHERE id = ANY ($1::text[]) AND lease_until > ",
    now!()
);

/// Reads the running step of each task whose time is over first, and how often it has failed, when the
/// tasks are locked: a step may have ended since.
const DUE: &str = "SELECT DISTINCT ON (run_id) run_id, due, line.seq, coalesce((
         SELECT failures FROM retry_failure AS old WHERE old.run_id = line.run_id AND old.direction = run.direction AND old.seq = line.seq), 0)
     FROM retry_running AS line JOIN retry_run AS run ON run.id = run_id AND run.fence = line.fence
     WHERE run_id = ANY ($1::bigint[]) AND due IS NOT NULL ORDER BY run_id, due, line.seq";

/// Forgets running steps of a worker that has lost the task.
const FORGET_RUNNING: &str = concat!(
    "DELETE FROM ",
    late_steps!(),
    " AND NOT EXISTS (SELECT FROM retry_run AS run
         WHERE run.id = retry_running.run_id AND run.fence = retry_running.fence AND run.state + 0 = 1)"
);

/// Gives a task back to its queue.
const GIVE_BACK: &str = concat!(
    "WITH gone AS (DELETE FROM retry_running WHERE run_id = $1)
     UPDATE retry_run SET state = $2, direction = $3, failures = $4, wake_at = $5,
         error = $6, owner = NULL, step_by = NULL, fence = fence + 1, updated_at = ",
    now!(),
    ", deaths = $7, failed_ord = $8, failed_seq = coalesce($9, failed_seq)
     WHERE id = $1"
);

/// Keeps how often a step has failed.
const KEEP_FAILURE: &str = concat!(
    "INSERT INTO retry_failure (run_id, direction, seq, failures, error, at) VALUES ($1, $2, $3, $4, $5, ",
    now!(),
    ") ON CONFLICT (run_id, direction, seq) DO UPDATE SET failures = excluded.failures, error = excluded.error, at = excluded.at"
);

/// Shortens leases that are too long, because the clock was set back. A live worker renews its
/// lease; the lease of a dead one would last longer by as much.
const SHORTEN: &str = concat!(
    "UPDATE retry_worker SET lease_until = ",
    now!(),
    " + lease FROM (SELECT id AS long FROM ",
    long_leases!(),
    ") AS found WHERE id = long"
);

/// Forgets workers that will not come back.
const FORGET: &str = concat!(
    "DELETE FROM ",
    gone_workers!(),
    " AND NOT EXISTS (SELECT FROM retry_held WHERE owner = retry_worker.id)"
);

/// Forgets writers that have no connection any more: none is used for so long.
const FORGET_WRITERS: &str = concat!("DELETE FROM ", gone_writers!());

/// Forgets tasks of lanes that count for no rate any more.
const FORGET_BEGINS: &str = concat!("DELETE FROM ", old_begins!("60000000"));

/// The statements of a sweep that has found something.
pub(super) const SWEEPS: &[&str] = &[
    SHORTEN,
    SWEPT,
    NOTE,
    EXPIRED[0],
    EXPIRED[1],
    EXPIRED[2],
    EXPIRED[3],
    ALIVE,
    DUE,
    FORGET_RUNNING,
    GIVE_BACK,
    KEEP_FAILURE,
    FORGET,
    FORGET_WRITERS,
    FORGET_BEGINS,
];

/// The statements with which a supervisor looks whether there is anything to do.
pub(super) const LOOKS: &[&str] = &[LOOK, NOTE, whole::WHOLE, whole::REPORT];

macro_rules! swept {
    () => {
        concat!(
            "SELECT (SELECT value FROM retry_meta WHERE key = 'last_sweep'), (SELECT value FROM retry_meta WHERE key = 'judge_from'),
         (SELECT max(lease) FROM retry_worker), ",
            now!()
        )
    };
}

/// The sweeps before, the longest lease, and the time.
const SWEPT: &str = swept!();

/// Takes the turn to sweep, unless a supervisor has taken it within half of the interval $1, or takes it now: this
/// statement waits for no lock. Returns a row only with the turn, or if $2 says that the turn does not matter: what
/// [`SWEPT`] returns, whether there is anything to do, whether calls of agents are due, whether the time of a schedule has
/// come and, if $3 says so, the first tasks.
// A turn in the future was taken before the clock was set back, and does not count. `SKIP LOCKED`,
// because with `ON CONFLICT` alone the processes without the turn would wait for the winner.
const LOOK: &str =
    concat!(
    "WITH RECURSIVE free AS (
         SELECT FROM retry_meta WHERE key = 'swept' AND value NOT BETWEEN ",
    now!(),
    " - $1::bigint / 2 AND ",
    now!(),
    " FOR NO KEY UPDATE SKIP LOCKED
     ), turn AS (
         INSERT INTO retry_meta (key, value) SELECT 'swept', ",
    now!(),
    " WHERE EXISTS (SELECT FROM free) OR NOT EXISTS (SELECT FROM retry_meta WHERE key = 'swept')
         ON CONFLICT (key) DO UPDATE SET value = excluded.value RETURNING 1
     ), ",
    whole::level!(),
    " ",
    swept!(),
    ", EXISTS (SELECT FROM ", without_worker!(),
    ") OR EXISTS (SELECT FROM ", late_turns!(),
    ") OR EXISTS (SELECT FROM ", late_steps!(),
    ") OR EXISTS (SELECT FROM ", late_tasks!(),
    ") OR EXISTS (SELECT FROM ", long_leases!(),
    ") OR EXISTS (SELECT FROM ", gone_workers!(),
    ") OR EXISTS (SELECT FROM ", gone_writers!(),
    // A full sweep for old rows alone once an hour: a lane with a rate always has rows of the last minutes.
    ") OR EXISTS (SELECT FROM ", old_begins!("3600000000"),
    "), EXISTS (SELECT FROM retry_call WHERE due <= ", now!(),
    "), EXISTS (SELECT FROM retry_schedule WHERE state = 0 AND next_at <= ", now!(),
    "), CASE WHEN $3::bool THEN ",
    whole::first!(),
    " END FROM (SELECT FROM turn UNION ALL SELECT WHERE $2::bool) AS turn LIMIT 1"
);

/// What a supervisor sees before it does anything.
pub(super) struct Seen {
    /// Whether there is something to do.
    pub(super) has_work: bool,
    /// Whether a call of an agent is to be looked at.
    pub(super) has_calls: bool,
    /// Whether the time of a schedule has come.
    pub(super) has_due: bool,
    /// The first task of each level, if it has looked for them.
    pub(super) first: Option<Vec<(Level, Place)>>,
}

/// Takes the turn to sweep, and looks whether there is anything to do. Returns `None` if another process has the
/// turn.
pub(super) async fn look(
    link: &Link,
    sweep: &Sweep,
    with_first: bool,
) -> Result<Option<Seen>, StoreError> {
    let every = micros(sweep.every);
    let out_of_turn = !sweep.in_turn;
    let values: [&(dyn ToSql + Sync); 3] = [&every, &out_of_turn, &with_first];
    let rows = link.query(Need::Look, LOOK, &values).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let seen = Seen {
        has_work: row.get(4),
        has_calls: row.get(5),
        has_due: row.get(6),
        first: row.get::<_, Option<&str>>(7).map(whole::levels_of),
    };
    // With work the sweep makes the note in its own transaction.
    if let (false, Some(noted)) = (seen.has_work, watch_of(row, sweep.every).note) {
        let noted = values_of(noted, row);
        link.query(Need::Look, NOTE, &[&noted.0, &noted.1]).await?;
    }
    Ok(Some(seen))
}

/// Reads what [`SWEPT`] and [`LOOK`] begin with.
fn watch_of(row: &Row, every: Duration) -> Watch {
    let sweeps = Sweeps {
        last: row.get::<_, Option<i64>>(0).map(Time::from_micros),
        judge_from: Time::from_micros(row.get::<_, Option<i64>>(1).unwrap_or_default()),
    };
    let longest = row.get::<_, Option<i64>>(2).unwrap_or_default();
    let longest = Time::from_micros(longest).since(Time::default());
    sweeps.watch(Time::from_micros(row.get(3)), longest, every)
}

/// Returns the values of [`NOTE`].
fn values_of(noted: Sweeps, row: &Row) -> (i64, i64) {
    let now = Time::from_micros(row.get(3));
    let last = noted.last.unwrap_or(now);
    (last.as_micros(), noted.judge_from.as_micros())
}

/// Notes a sweep.
const NOTE: &str =
    "INSERT INTO retry_meta (key, value) VALUES ('judge_from', $2), ('last_sweep', $1)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/// Looks at the sweeps before, and notes this one. Returns whether it may judge leases.
async fn may_judge(
    transaction: &Transaction<'_>,
    prepared: &Prepared,
    sweep: &Sweep,
) -> Result<bool, StoreError> {
    let rows = prepared.query(transaction, SWEPT, &[]).await;
    let rows = rows.map_err(store_error)?;
    let Some(row) = rows.first() else {
        return Ok(true);
    };
    let watch = watch_of(row, sweep.every);
    if let Some(noted) = watch.note {
        let noted = values_of(noted, row);
        let values: [&(dyn ToSql + Sync); 2] = [&noted.0, &noted.1];
        let noted = prepared.query(transaction, NOTE, &values).await;
        noted.map_err(store_error)?;
    }
    Ok(watch.may_judge)
}

/// Reclaims expired tasks in one transaction. Also returns when it began.
pub(super) async fn reclaim_all(
    live: &mut Live,
    sweep: &Sweep,
) -> Result<(Time, Vec<Reclaimed>), StoreError> {
    let (transaction, prepared) = live.begin().await.map_err(store_error)?;
    let may_judge = may_judge(&transaction, prepared, sweep).await?;
    let limit = usize::try_from(sweep.limit).unwrap_or(usize::MAX);
    prepared
        // Before the leases are compared with the time.
        .query(&transaction, SHORTEN, &[])
        .await
        .map_err(store_error)?;
    let mut tasks: Vec<(Task, i32)> = Vec::new();
    let mut now = Time::default();
    // After an outage only what no worker holds is judged.
    let judged = if may_judge { 0 } else { HELD };
    for sql in EXPIRED.into_iter().skip(judged) {
        let left = limit.saturating_sub(tasks.len());
        let left = i64::try_from(left).unwrap_or(i64::MAX);
        let rows = prepared
            .query(&transaction, sql, &[&left])
            .await
            .map_err(store_error)?;
        for row in rows {
            now = Time::from_micros(row.get("now"));
            let task = rows::task_of(&row)?;
            // A task may have several reasons to expire.
            if tasks.iter().all(|(other, _)| other.id != task.id) {
                tasks.push((task, row.get("progress")));
            }
        }
    }
    let reclaimed = if tasks.is_empty() {
        Vec::new()
    } else {
        // The tasks are locked from here on, and a worker whose lease ended may have renewed it
        // meanwhile.
        let owners = tasks.iter().filter_map(|(task, _)| task.owner.as_ref());
        let owners: Vec<_> = owners.map(|owner| owner.0.as_str()).collect();
        let rows = prepared
            .query(&transaction, ALIVE, &[&owners])
            .await
            .map_err(store_error)?;
        let alive: HashSet<&str> = rows.iter().map(|row| row.get(0)).collect();
        let ids: Vec<_> = tasks.iter().map(|(task, _)| task.id.0).collect();
        let rows = prepared
            .query(&transaction, DUE, &[&ids])
            .await
            .map_err(store_error)?;
        let due = rows.iter().map(|row| {
            let (seq, failures) = (row.get(2), row.get(3));
            let due = Time::from_micros(row.get(1));
            (row.get(0), (due, Overdue { seq, failures }))
        });
        let due: HashMap<i64, (Time, Overdue)> = due.collect();
        let mut expired = Vec::new();
        for (task, progress) in &tasks {
            let (due, overdue) = due.get(&task.id.0).copied().unzip();
            let is_alive = |owner: &WorkerId| alive.contains(owner.0.as_str());
            if let Some(expiry) = find_expiry(task, due, now, may_judge, is_alive) {
                // Only an overdue step has failed. A step beside a dead worker is not to blame.
                let overdue = overdue.filter(|_| expiry == Expiry::Step);
                let before = Failure::before(task, *progress, overdue);
                let next =
                    NextState::after_expiry(task, expiry, before, &sweep.delays, rand::random());
                expired.push((Reclaimed::new(task, expiry, overdue, next), next));
            }
        }
        give_back(&transaction, prepared, &expired, now).await?;
        expired.into_iter().map(|(one, _)| one).collect()
    };
    // After the tasks were given back: a row of a worker stays as long as it holds one.
    for sql in [FORGET, FORGET_RUNNING, FORGET_WRITERS, FORGET_BEGINS] {
        prepared
            .query(&transaction, sql, &[])
            .await
            .map_err(store_error)?;
    }
    transaction.commit().await.map_err(store_error)?;
    Ok((now, reclaimed))
}

/// Gives expired tasks back to their queues.
async fn give_back(
    transaction: &Transaction<'_>,
    prepared: &Prepared,
    expired: &[(Reclaimed, NextState)],
    now: Time,
) -> Result<(), StoreError> {
    let mut sent: Vec<Sent<'_>> = Vec::new();
    for (one, next) in expired {
        sent.push(Box::pin(async move {
            let (state, direction) = (next.state.number(), next.direction.number());
            let wake_at = now.after(next.delay).as_micros();
            let values: [&(dyn ToSql + Sync); 9] = [
                &one.task.0,
                &state,
                &direction,
                &next.counts.failures,
                &wake_at,
                &one.error,
                &next.counts.deaths,
                &next.counts.failed_ord,
                &one.failed_seq(),
            ];
            prepared.query(transaction, GIVE_BACK, &values).await
        }));
        if let Some(step) = &one.failing_step {
            sent.push(Box::pin(async move {
                let direction = step.direction.number();
                let values: [&(dyn ToSql + Sync); 5] = [
                    &one.task.0,
                    &direction,
                    &step.seq,
                    &step.failures,
                    &step.error,
                ];
                prepared.query(transaction, KEEP_FAILURE, &values).await
            }));
        }
    }
    pipeline::together(sent).await.map_err(store_error)?;
    Ok(())
}
