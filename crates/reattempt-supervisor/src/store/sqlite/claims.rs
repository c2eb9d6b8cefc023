//! Claims tasks that are ready.

use std::time::Duration;

use rusqlite::{Connection, params};

use super::row::query_one;
use super::{queries, queue_limits};
use crate::store::unknown::OldestTasks;
use crate::store::{Claim, ClaimedTask, UnknownWorkflow, WriteResult};
use crate::task::{NewTask, Task};
use crate::time::Time;

/// Claims the tasks that are ready.
pub(super) fn claim(
    connection: &Connection,
    claim: &Claim,
    now: Time,
) -> rusqlite::Result<WriteResult> {
    let mut rooms = queue_limits::rooms(connection, &claim.queues, now)?;
    let mut ready = Vec::new();
    for queue in claim.queues.iter().filter(|queue| !rooms.is_full(queue)) {
        for workflow in &claim.workflows {
            add_ready(connection, &mut ready, claim, (queue, workflow), now)?;
        }
    }
    if ready.is_empty() {
        return Ok(WriteResult::Claimed(Vec::new(), rooms.again()));
    }
    ready.sort_unstable();
    // A claim may name a queue or a workflow twice.
    ready.dedup();
    let most = usize::try_from(claim.limit).unwrap_or(usize::MAX);
    let ids = ready.into_iter().filter(|(.., queue)| rooms.take(queue));
    // `take` ends the search, so no room is spent for tasks that are not claimed.
    let ids = ids.take(most).map(|(_, _, id, _)| id);
    // One parameter for all numbers: SQLite has no arrays, and with a list in its text the
    // statement would not stay prepared.
    let ids = ids.collect::<serde_json::Value>().to_string();
    let sql = format!(
        "UPDATE retry_run SET state = 1, owner = ?1, fence = fence + 1, step_by = NULL, updated_at = ?2
         WHERE id IN (SELECT value FROM json_each(?3)) RETURNING {}",
        queries::COLUMNS
    );
    let mut rows = connection.prepare_cached(&sql)?;
    let values = params![claim.worker.0, now.as_micros(), ids];
    let tasks = rows.query_map(values, queries::task_of)?;
    let mut tasks = tasks.collect::<rusqlite::Result<Vec<_>>>()?;
    tasks.sort_by_key(|task| (task.priority, task.wake_at, task.id));
    let claimed = |task: Task| {
        let sql = "SELECT 1 FROM retry_signal WHERE run_id = ?1 LIMIT 1";
        let signal = query_one(connection, sql, [task.id.0], |_| Ok(()))?;
        Ok(ClaimedTask {
            task,
            has_signals: signal.is_some(),
            now,
        })
    };
    let claimed = tasks
        .into_iter()
        .map(claimed)
        .collect::<rusqlite::Result<_>>()?;
    queue_limits::spend(connection, &rooms)?;
    Ok(WriteResult::Claimed(claimed, rooms.again()))
}

/// A workflow, its version and a priority.
type Level = (String, i32, i16);

/// Adds the first tasks of a workflow in a queue that are ready: their priorities, wake-up times and
/// numbers, with the queue. It walks the priorities, and reads neither sleeping tasks nor those of other workflows.
fn add_ready<'a>(
    connection: &Connection,
    ready: &mut Vec<(i16, i64, i64, &'a str)>,
    claim: &Claim,
    (queue, (workflow, version)): (&'a str, &(String, i32)),
    now: Time,
) -> rusqlite::Result<()> {
    // The file has no statistics, so the planner could take an index that reads every task of a
    // queue.
    let tasks = match claim.suspects {
        None => "retry_run INDEXED BY retry_run_claim WHERE deaths < 2",
        Some(_) => "retry_run INDEXED BY retry_run_suspects WHERE deaths >= 2",
    };
    let these =
        format!("{tasks} AND state IN (0, 2) AND queue = ?1 AND workflow = ?2 AND version = ?3");
    let next = format!("SELECT priority FROM {these} AND priority > ?4 ORDER BY priority LIMIT 1");
    let first = format!(
        "SELECT wake_at, id FROM {these} AND priority = ?4 AND wake_at <= ?5 ORDER BY wake_at, id LIMIT ?6"
    );
    let waited = i64::try_from(claim.suspects.unwrap_or_default().as_micros()).unwrap_or(i64::MAX);
    let ready_at = now.as_micros().saturating_sub(waited);
    let mut left = claim.limit;
    let mut level = i32::from(i16::MIN).saturating_sub(1);
    while left > 0 {
        let values = params![queue, workflow, version, level];
        let Some(priority) = query_one(connection, &next, values, |row| row.get::<_, i16>(0))?
        else {
            break;
        };
        let mut rows = connection.prepare_cached(&first)?;
        let values = params![queue, workflow, version, priority, ready_at, left];
        let rows = rows.query_map(values, |row| {
            Ok((priority, row.get(0)?, row.get(1)?, queue))
        })?;
        for row in rows {
            ready.push(row?);
            left = left.saturating_sub(1);
        }
        level = i32::from(priority);
    }
    Ok(())
}

/// Returns whether the queue of a task takes it. It counts the tasks that could run or wait for their turn, up to the
/// largest number; suspects do not count.
pub(super) fn has_room(
    connection: &Connection,
    new: &NewTask,
    now: Time,
) -> rusqlite::Result<bool> {
    let Some(mut left) = new.max_pending else {
        return Ok(true);
    };
    let these = "SELECT 1 FROM retry_run INDEXED BY retry_run_claim WHERE deaths < 2 AND state IN (0, 2) AND queue = ?1
         AND workflow = ?2 AND version = ?3 AND priority = ?4 AND wake_at";
    let sql = format!(
        "SELECT count(*) FROM ({these} <= ?5 UNION ALL {these} = 9223372036854775806 LIMIT ?6)"
    );
    let mut level = (String::new(), 0, 0);
    while left > 0 {
        let Some((next, _)) = next_level(connection, &new.queue, &level)? else {
            return Ok(true);
        };
        let values = params![new.queue, next.0, next.1, next.2, now.as_micros(), left];
        let count = query_one(connection, &sql, values, |row| row.get(0))?;
        left = left.saturating_sub(count.unwrap_or_default());
        level = next;
    }
    Ok(false)
}

/// Finds the oldest tasks of workflows that are not known. It reads one task of each workflow and
/// priority, however many there are.
pub(super) fn unknown_workflows(
    connection: &Connection,
    queues: &[String],
    known: &[(String, i32)],
    (now, waited): (Time, Duration),
) -> rusqlite::Result<Vec<UnknownWorkflow>> {
    let mut oldest = OldestTasks::new(known);
    for queue in queues {
        let mut level = (String::new(), 0, 0);
        while let Some((next, wake_at)) = next_level(connection, queue, &level)? {
            oldest.add(queue, &next.0, next.1, wake_at);
            level = next;
        }
    }
    Ok(oldest.waiting(now, waited))
}

/// Returns the next workflow, version and priority of a queue, with the earliest wake-up time of its
/// tasks. SQLite does not look up three columns at once.
fn next_level(
    connection: &Connection,
    queue: &str,
    (workflow, version, priority): &Level,
) -> rusqlite::Result<Option<(Level, Time)>> {
    let larger = [
        "workflow = ?2 AND version = ?3 AND priority > ?4",
        "workflow = ?2 AND version > ?3 AND ?4 = ?4",
        "workflow > ?2 AND ?3 = ?3 AND ?4 = ?4",
    ];
    for larger in larger {
        let sql = format!(
            "SELECT workflow, version, priority, wake_at FROM retry_run INDEXED BY retry_run_claim
             WHERE deaths < 2 AND state IN (0, 2) AND queue = ?1 AND {larger}
             ORDER BY workflow, version, priority, wake_at LIMIT 1"
        );
        let values = params![queue, workflow, version, priority];
        let level = query_one(connection, &sql, values, |row| {
            let level = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((level, Time::from_micros(row.get(3)?)))
        })?;
        if level.is_some() {
            return Ok(level);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::store::sqlite::schema;
    use crate::task::WorkerId;

    /// Adds tasks that a worker of `mine` does not take, each ?1 times in two priorities, and one that
    /// it takes.
    const CROWD: &str = "WITH RECURSIVE crowd (nth) AS (SELECT 1 UNION ALL SELECT nth + 1 FROM crowd WHERE nth < ?1 * 2),
            kinds (workflow, version, wake_at) AS (VALUES ('other', 1, 0), ('mine', 2, 0), ('mine', 1, 9000000000000000))
        INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, fence, failures,
            max_failures, cancel_asked, input, created_at, updated_at)
        SELECT workflow, version, 'q', nth % 2, version || ' ' || wake_at || ' ' || nth, 0, 0, wake_at, 0, 0, 3, 0, 'null', 0, 0 FROM crowd, kinds
        UNION ALL SELECT 'mine', 1, 'q', 2, 'mine', 0, 0, 0, 0, 0, 3, 0, 'null', 0, 0";

    /// Returns how many operations a claim and a look take beside such a crowd.
    fn operations(crowd: u32) -> [u64; 2] {
        let mut connection = Connection::open_in_memory().unwrap();
        let now = Time::of_this_machine();
        schema::create(&mut connection).unwrap();
        connection.execute(CROWD, [crowd]).unwrap();
        let count = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&count);
        let each = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            false
        };
        connection.progress_handler(1, Some(each)).unwrap();
        let known = [("mine".to_owned(), 1)];
        let queues = ["q".to_owned()];
        let mine = Claim {
            worker: WorkerId("one".to_owned()),
            queues: queues.to_vec(),
            workflows: known.to_vec(),
            limit: 9,
            suspects: None,
        };
        let claimed = claim(&connection, &mine, now).unwrap();
        assert!(matches!(claimed, WriteResult::Claimed(claimed, None) if claimed.len() == 1));
        let of_claim = count.swap(0, Ordering::Relaxed);
        let unknown =
            unknown_workflows(&connection, &queues, &known, (now, Duration::ZERO)).unwrap();
        assert_eq!(unknown.len(), 2);
        [of_claim, count.load(Ordering::Relaxed)]
    }

    #[test]
    fn what_others_wait_for_costs_nothing() {
        assert_eq!(operations(10_000), operations(10));
    }
}
