//! Converts rows into tasks, records and signals.

use serde::de::DeserializeOwned;
use tokio_postgres::Row;

use super::sql::columns;
use crate::store::{ClaimedTask, Filter, HeldTask, StoreError};
use crate::task::{
    Direction, FailingStep, Fence, Lease, OnFailure, Record, RecordKind, Signal, State, Task,
    TaskId, WorkerId,
};
use crate::time::Time;

/// Converts a row into a task.
pub(super) fn task_of(row: &Row) -> Result<Task, StoreError> {
    Ok(Task {
        id: TaskId(row.get(0)),
        workflow: row.get(1),
        version: row.get(2),
        queue: row.get(3),
        priority: row.get(4),
        key: row.get(5),
        state: state(row.get(6))?,
        direction: direction(row.get(7))?,
        wake_at: Time::from_micros(row.get(8)),
        complete_by: row.get::<_, Option<i64>>(9).map(Time::from_micros),
        step_by: row.get::<_, Option<i64>>(10).map(Time::from_micros),
        owner: row.get::<_, Option<String>>(11).map(WorkerId),
        fence: Fence(row.get(12)),
        failures: row.get(13),
        max_failures: row.get(14),
        cancel_requested: row.get(15),
        input: row.get(16),
        output: row.get(17),
        error: row.get(18),
        headers: row.get(19),
        created_at: Time::from_micros(row.get(20)),
        updated_at: Time::from_micros(row.get(21)),
        nonce: row.get(22),
        on_failure: on_failure(row.get(23))?,
        deaths: row.get(24),
        failed_ord: row.get(25),
        failed_seq: row.get(26),
    })
}

/// Converts a row with a task, and with its time, records and signals in the columns after it.
pub(super) fn claimed_of(row: &Row) -> Result<ClaimedTask, StoreError> {
    let history: Vec<Line> = list_of(row.get("history"))?;
    let signals: Vec<(i64, String, String)> = list_of(row.get("signals"))?;
    let signal = |(id, name, payload)| Signal { id, name, payload };
    Ok(ClaimedTask {
        task: task_of(row)?,
        history: history.into_iter().map(record).collect::<Result<_, _>>()?,
        signals: signals.into_iter().map(signal).collect(),
        now: Time::from_micros(row.get("now")),
    })
}

type Line = (
    i32,
    i16,
    i32,
    String,
    i32,
    Option<String>,
    Option<String>,
    Option<i64>,
    i64,
    i64,
    Option<String>,
    Option<String>,
    Option<String>,
);

/// Converts a line of a history into a record.
fn record(line: Line) -> Result<Record, StoreError> {
    let (seq, kind, ord, name, attempts, result, error, due_at, at, fence, args_hash, args, undo) =
        line;
    Ok(Record {
        seq,
        kind: RecordKind::from_number(kind).ok_or_else(|| unknown("kind", kind))?,
        ord,
        name,
        attempts,
        result,
        error,
        due_at: due_at.map(Time::from_micros),
        at: Time::from_micros(at),
        fence: Fence(fence),
        args_hash,
        args,
        undo,
    })
}

pub(super) fn record_of(row: &Row) -> Result<Record, StoreError> {
    record((
        row.get(0),
        row.get(1),
        row.get(2),
        row.get(3),
        row.get(4),
        row.get(5),
        row.get(6),
        row.get(7),
        row.get(8),
        row.get(9),
        row.get(10),
        row.get(11),
        row.get(12),
    ))
}

pub(super) fn failing_step_of(row: &Row) -> Result<FailingStep, StoreError> {
    Ok(FailingStep {
        direction: direction(row.get(0))?,
        seq: row.get(1),
        failures: row.get(2),
        error: row.get(3),
        at: Time::from_micros(row.get(4)),
    })
}

pub(super) fn signal_of(row: &Row) -> Signal {
    Signal {
        id: row.get(0),
        name: row.get(1),
        payload: row.get(2),
    }
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

/// Parses a JSON array; no JSON is an empty list.
fn list_of<T: DeserializeOwned>(json: Option<&str>) -> Result<Vec<T>, StoreError> {
    json.map_or(Ok(Vec::new()), |json| {
        serde_json::from_str(json).map_err(|error| {
            StoreError::lasting("PostgreSQL returned JSON that does not fit").because(error)
        })
    })
}

pub(super) fn state(number: i16) -> Result<State, StoreError> {
    State::from_number(number).ok_or_else(|| unknown("state", number))
}

fn direction(number: i16) -> Result<Direction, StoreError> {
    Direction::from_number(number).ok_or_else(|| unknown("direction", number))
}

fn on_failure(number: i16) -> Result<OnFailure, StoreError> {
    OnFailure::from_number(number).ok_or_else(|| unknown("choice on failure", number))
}

/// Returns the error for a number without a meaning: other programs may have changed the store.
fn unknown(what: &str, number: i16) -> StoreError {
    StoreError::lasting(format!(
        "{number} is not a {what} that this release knows; update this program"
    ))
}

/// Returns the statement that lists tasks. It has the state as text, because the planner uses a
/// partial index only if it sees the state.
pub(super) fn list_sql(filter: &Filter) -> String {
    let state = filter.state.map_or(String::new(), |state| {
        format!(" AND state = {}", state.number())
    });
    format!(
        concat!(
            "SELECT ", columns!(), " FROM retry_run WHERE id < $1{} AND ($2::text IS NULL OR workflow = $2) AND ($3::text IS NULL OR queue = $3)
             ORDER BY id DESC LIMIT $4"
        ),
        state
    )
}
