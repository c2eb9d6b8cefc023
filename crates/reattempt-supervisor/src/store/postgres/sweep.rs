//! Reclaims tasks whose worker or whose time is gone.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Transaction};

use super::columns::micros;
use super::connection::{Live, Prepared};
use super::pipeline::{self, Sent};
use super::rows;
use super::sql::{columns, now};
use super::sqlstate::store_error;
use crate::store::expiry::find_expiry;
use crate::store::outage::{Sweeps, Watch};
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
            columns!(),
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

/// How many of them find only tasks that a worker holds.
const HELD: usize = 3;

const EXPIRED: [&str; 4] = [
    expired!(
        concat!(
            "SELECT run_id FROM retry_held WHERE NOT EXISTS (
                 SELECT 1 FROM retry_worker WHERE retry_worker.id = owner AND lease_until > ", now!(), ") OFFSET 0"
        ),
        "state + 0 = 1"
    ),
    expired!(
        concat!("SELECT run_id FROM retry_held WHERE step_by IS NOT NULL AND step_by < ", now!(), " ORDER BY step_by OFFSET 0"),
        "state + 0 = 1"
    ),
    expired!(
        concat!("SELECT DISTINCT run_id FROM (SELECT run_id FROM retry_running WHERE due IS NOT NULL AND due < ", now!(), " AND EXISTS (
                 SELECT FROM retry_run AS run WHERE run.id = run_id AND run.fence = retry_running.fence AND run.state + 0 = 1)
             ORDER BY due LIMIT $1) AS line OFFSET 0"),
        "state + 0 = 1"
    ),
    expired!(
        concat!("SELECT run_id FROM retry_limited WHERE complete_by < ", now!(), " ORDER BY complete_by OFFSET 0"),
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
    "DELETE FROM retry_running AS line WHERE due IS NOT NULL AND due < ",
    now!(),
    "
         AND NOT EXISTS (SELECT FROM retry_run AS run WHERE run.id = line.run_id AND run.fence = line.fence AND run.state + 0 = 1)"
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

/// Shortens leases that are too long, because somebody has set the clock back. A live worker renews
/// its lease; the lease of a dead one would last longer by as much.
const SHORTEN: &str = concat!(
    "UPDATE retry_worker SET lease_until = ",
    now!(),
    " + lease WHERE (lease_until - ",
    now!(),
    ") / 2 > lease"
);

/// Forgets workers that will not come back.
const FORGET: &str = concat!(
    "DELETE FROM retry_worker WHERE lease_until < ",
    now!(),
    " - 3600000000
         AND NOT EXISTS (SELECT 1 FROM retry_held WHERE owner = retry_worker.id)"
);

pub(super) const SWEEPS: &[&str] = &[
    SHORTEN,
    SWEPT,
    TURN,
    LOOK,
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
    super::whole::WHOLE,
    super::whole::REPORT,
];

/// Forgets writers that have no connection any more: none is used for so long.
const FORGET_WRITERS: &str = concat!(
    "DELETE FROM retry_writer WHERE at < ",
    now!(),
    " - 7 * 86400000000"
);

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

/// The same, and whether there is anything to do: a task that has expired, a lease that is too long, or a line that
/// nobody needs any more.
const LOOK: &str = concat!(
    swept!(),
    ",
         EXISTS (SELECT FROM retry_held WHERE NOT EXISTS (
             SELECT FROM retry_worker WHERE retry_worker.id = owner AND lease_until > ",
    now!(),
    "))
         OR EXISTS (SELECT FROM retry_held WHERE step_by IS NOT NULL AND step_by < ",
    now!(),
    ")
         OR EXISTS (SELECT FROM retry_running WHERE due IS NOT NULL AND due < ",
    now!(),
    ")
         OR EXISTS (SELECT FROM retry_limited WHERE complete_by < ",
    now!(),
    ")
         OR EXISTS (SELECT FROM retry_worker WHERE (lease_until - ",
    now!(),
    ") / 2 > lease OR lease_until < ",
    now!(),
    " - 3600000000)
         OR EXISTS (SELECT FROM retry_writer WHERE at < ",
    now!(),
    " - 7 * 86400000000)"
);

/// Takes the turn to sweep, unless somebody has taken it within half of the interval $1.
const TURN: &str = concat!(
    "INSERT INTO retry_meta (key, value) VALUES ('swept', ", now!(), ")
     ON CONFLICT (key) DO UPDATE SET value = excluded.value
     WHERE retry_meta.value NOT BETWEEN excluded.value - $1::bigint / 2 AND excluded.value RETURNING 1"
);

/// Takes the turn to sweep, and notes it. Returns whether there is something to do, or `None` if it is the turn of another
/// process.
pub(super) async fn has_work(live: &Live, sweep: &Sweep) -> Result<Option<bool>, StoreError> {
    let every = micros(sweep.every);
    let turn: [&(dyn ToSql + Sync); 1] = [&every];
    let rows = live.alone(Box::pin(live.query(TURN, &turn))).await;
    if rows.map_err(store_error)?.is_empty() {
        return Ok(None);
    }
    let rows = live.alone(Box::pin(live.query(LOOK, &[]))).await;
    let rows = rows.map_err(store_error)?;
    let Some(row) = rows.first() else {
        return Ok(Some(true));
    };
    let has_work = row.get(4);
    if let (false, Some(noted)) = (has_work, watch_of(row, sweep.every).note) {
        let noted = values_of(noted, row);
        let values: [&(dyn ToSql + Sync); 2] = [&noted.0, &noted.1];
        let noting = live.alone(Box::pin(live.query(NOTE, &values)));
        noting.await.map_err(store_error)?;
    }
    Ok(Some(has_work))
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
        .query(&transaction, SHORTEN, &[])
        .await
        .map_err(store_error)?;
    let mut tasks: Vec<(Task, i32)> = Vec::new();
    let mut now = Time::default();
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
    for sql in [FORGET, FORGET_RUNNING, FORGET_WRITERS] {
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
