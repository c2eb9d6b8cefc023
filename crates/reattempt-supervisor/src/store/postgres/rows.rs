//! Converts rows into tasks, records and signals.

use std::time::Duration;

use tokio_postgres::Row;

use crate::cell::{Cell, NoValue};
use crate::store::rows::{FromRow, read, task};
use crate::store::{
    self, ClaimedTask, Filter, HeldTask, Page, StoreError, Submitted, UnknownWorkflow,
};
use crate::task::{Fence, Lease, NewTask, State, Task, TaskId};
use crate::time::Time;

impl store::rows::Row for Row {
    type Error = StoreError;

    fn cell<T: Cell>(&self, column: usize) -> Result<T, StoreError> {
        T::from_stored(self.get(column)).map_err(|why| no_value(&why))
    }
}

/// Returns the error for what is no value: a later release may have written it.
pub(super) fn no_value(why: &NoValue) -> StoreError {
    StoreError::lasting(why.to_string())
}

/// Converts a row into a task.
pub(super) fn task_of(row: &Row) -> Result<Task, StoreError> {
    let id = TaskId(row.get(0));
    read(row).map_err(|error: StoreError| error.about(Some(id), Some("retry_run")))
}

/// Converts a row with a task, and with its time in a column after it.
pub(super) fn claimed_of(row: &Row) -> Result<ClaimedTask, StoreError> {
    Ok(ClaimedTask {
        task: task_of(row)?,
        has_signals: row.get("has_signals"),
        now: Time::from_micros(row.get("now")),
    })
}

/// Returns after how long there may be more tasks, if a limit holds some back.
pub(super) fn again_of(row: &Row) -> Option<Duration> {
    let micros = row.get::<_, Option<i64>>("again")?;
    Some(match Time::from_micros(micros) {
        Time::NEVER => Duration::MAX,
        time => time.since(Time::default()),
    })
}

pub(super) fn unknown_of(row: &Row) -> UnknownWorkflow {
    UnknownWorkflow {
        queue: row.get(0),
        workflow: row.get(1),
        version: row.get(2),
        waited: Time::from_micros(row.get(3)).since(Time::default()),
    }
}

/// Converts rows with items, the fence of their task, and whether there are no more. A task without
/// items has one row, without an item; no rows mean that there is no task.
pub(super) fn page_of<T: FromRow>(rows: &[Row]) -> Result<Option<Page<T>>, StoreError> {
    let Some(last) = rows.last() else {
        return Ok(None);
    };
    // A task without items has a row for its fence.
    let has_item = |row: &&Row| !matches!(row.try_get::<_, Option<&str>>("name"), Ok(None));
    let items = rows.iter().filter(has_item).map(read);
    Ok(Some(Page {
        fence: Fence(last.get("now_fence")),
        items: items.collect::<Result<_, _>>()?,
        is_last: last.get("is_last"),
    }))
}

/// Converts a row of a task that has the key of `new`.
pub(super) fn earlier_of(row: &Row, new: &NewTask) -> Submitted {
    Submitted::earlier(TaskId(row.get(2)), row.get(3), row.get(4), new)
}

/// Converts a row of a heartbeat.
pub(super) fn held_of(row: &Row) -> HeldTask {
    HeldTask {
        lease: Lease {
            task: TaskId(row.get(0)),
            fence: Fence(row.get(1)),
        },
        cancel: row.get(2),
        signal: row.get(3),
    }
}

/// The headers of a task, without the character that PostgreSQL cannot read from JSON: a search for
/// one task must not fail because of another one.
const HEADERS: &str =
    r"regexp_replace(headers, E'(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000', E'\\1\\\\ufffd', 'g')";

/// Returns the text for which a list looks in headers.
pub(super) fn header_text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Returns the statement that lists tasks. Those in one state come from a small table, in the order of
/// its index. The planner uses the index only if it sees the state.
pub(super) fn list_sql(filter: &Filter) -> String {
    // Each state has its lines in the order of the tasks' numbers. `OFFSET 0` keeps the planner
    // from sorting all tasks of the state after a join.
    let of_a_small_table = |lines: &str, state: State| {
        let state = state.number();
        format!(
            "(SELECT run_id FROM {lines} {state} AND run_id < $1 ORDER BY run_id DESC OFFSET 0) AS line
             CROSS JOIN LATERAL (SELECT * FROM retry_run WHERE id = run_id AND state + 0 = {state} OFFSET 0) AS run WHERE true"
        )
    };
    let tasks = match filter.state {
        // The planner sees that these are few, and sorts them.
        None if filter.has_end() && filter.key.is_none() => "(SELECT run_id FROM retry_ended WHERE state BETWEEN 3 AND 7 AND run_id < $1
                 AND at >= coalesce($11, -9223372036854775808) AND at < coalesce($12, 9223372036854775807) ORDER BY run_id DESC OFFSET 0) AS line
             CROSS JOIN LATERAL (SELECT * FROM retry_run WHERE id = run_id OFFSET 0) AS run WHERE true"
            .to_owned(),
        None => "retry_run WHERE id < $1".to_owned(),
        Some(state) if filter.key.is_some() => {
            format!("retry_run WHERE id < $1 AND state + 0 = {}", state.number())
        }
        Some(state @ (State::Pending | State::Waiting)) => {
            let ready = "retry_ready WHERE ($2::text IS NULL OR workflow = $2) AND ($3::text IS NULL OR queue = $3) AND state =";
            of_a_small_table(ready, state)
        }
        Some(state @ State::Processing) => of_a_small_table("retry_held WHERE 1 =", state),
        Some(state) => of_a_small_table("retry_ended WHERE state =", state),
    };
    let order = if tasks.starts_with('(') {
        "run_id"
    } else {
        "id"
    };
    // A key alone is looked up in each workflow: they are few.
    let by_key = match filter.key {
        None => "$5::text IS NULL",
        Some(_) => {
            "id = ANY (ARRAY(WITH RECURSIVE names (name) AS (
                 SELECT min(workflow) FROM retry_run
                 UNION ALL SELECT (SELECT min(workflow) FROM retry_run WHERE workflow > name) FROM names WHERE name IS NOT NULL
             ) SELECT id FROM names JOIN retry_run ON workflow = name AND idem_key = $5))"
        }
    };
    let by_end = if filter.has_end() {
        " AND state + 0 BETWEEN 3 AND 7 AND ($11::bigint IS NULL OR updated_at >= $11) AND ($12::bigint IS NULL OR updated_at < $12)"
    } else {
        " AND $11::bigint IS NULL AND $12::bigint IS NULL"
    };
    format!(
        concat!(
            "SELECT ",
            task!(listed),
            " FROM {} AND ($2::text IS NULL OR workflow = $2) AND ($3::text IS NULL OR queue = $3) AND {}
                 AND ($6::text IS NULL OR EXISTS (SELECT FROM json_each_text({}::json) AS header WHERE header.key = $6 AND coalesce(header.value, 'null') = $7))
                 AND ($8::text IS NULL OR strpos(error, $8) > 0) AND ($9::bigint IS NULL OR created_at >= $9)
                 AND ($10::bigint IS NULL OR created_at < $10){}
             ORDER BY {} DESC LIMIT $4"
        ),
        tasks, by_key, HEADERS, by_end, order
    )
}
