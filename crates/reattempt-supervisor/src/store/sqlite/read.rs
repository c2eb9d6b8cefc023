//! Rows as tasks, records and signals.

use rusqlite::{Connection, Row, params};

use super::{one, unknown};
use crate::store::Filter;
use crate::task::{Direction, Fence, Kind, Record, Run, RunId, Signal, State, WorkerId};
use crate::time::Time;

/// The columns of a task, in the order in which [`run_of`] reads them.
pub(super) const COLUMNS: &str = "id, workflow, version, queue, priority, idem_key, state, direction, wake_at, complete_by, step_by, owner, \
     fence, failures, max_failures, cancel_asked, input, output, error, headers, created_at, updated_at";

pub(super) fn run_of(row: &Row<'_>) -> rusqlite::Result<Run> {
    let state = row.get(6)?;
    let direction = row.get(7)?;
    Ok(Run {
        id: RunId(row.get(0)?),
        workflow: row.get(1)?,
        version: row.get(2)?,
        queue: row.get(3)?,
        priority: row.get(4)?,
        key: row.get(5)?,
        state: State::from_number(state).ok_or_else(|| unknown("state", state))?,
        direction: Direction::from_number(direction)
            .ok_or_else(|| unknown("direction", direction))?,
        wake_at: Time::from_micros(row.get(8)?),
        complete_by: row.get::<_, Option<i64>>(9)?.map(Time::from_micros),
        step_by: row.get::<_, Option<i64>>(10)?.map(Time::from_micros),
        owner: row.get::<_, Option<String>>(11)?.map(WorkerId),
        fence: Fence(row.get(12)?),
        failures: row.get(13)?,
        max_failures: row.get(14)?,
        cancel_asked: row.get(15)?,
        input: row.get(16)?,
        output: row.get(17)?,
        error: row.get(18)?,
        headers: row.get(19)?,
        created_at: Time::from_micros(row.get(20)?),
        updated_at: Time::from_micros(row.get(21)?),
    })
}

fn record_of(row: &Row<'_>) -> rusqlite::Result<Record> {
    let kind = row.get(1)?;
    Ok(Record {
        seq: row.get(0)?,
        kind: Kind::from_number(kind).ok_or_else(|| unknown("kind", kind))?,
        ord: row.get(2)?,
        name: row.get(3)?,
        attempts: row.get(4)?,
        result: row.get(5)?,
        error: row.get(6)?,
        due_at: row.get::<_, Option<i64>>(7)?.map(Time::from_micros),
        at: Time::from_micros(row.get(8)?),
        fence: Fence(row.get(9)?),
    })
}

pub(super) fn run(connection: &Connection, id: RunId) -> rusqlite::Result<Option<Run>> {
    let sql = format!("SELECT {COLUMNS} FROM retry_run WHERE id = ?1");
    one(connection, &sql, [id.0], run_of)
}

pub(super) fn history(connection: &Connection, id: RunId) -> rusqlite::Result<Vec<Record>> {
    let mut rows = connection.prepare_cached(
        "SELECT seq, kind, ord, name, attempts, result, error, due_at, at, fence FROM retry_step WHERE run_id = ?1 ORDER BY ord",
    )?;
    rows.query_map([id.0], record_of)?.collect()
}

pub(super) fn signals(connection: &Connection, id: RunId) -> rusqlite::Result<Vec<Signal>> {
    let mut rows = connection.prepare_cached(
        "SELECT id, name, payload FROM retry_signal WHERE run_id = ?1 ORDER BY id",
    )?;
    let signal = |row: &Row<'_>| {
        Ok(Signal {
            id: row.get(0)?,
            name: row.get(1)?,
            payload: row.get(2)?,
        })
    };
    rows.query_map([id.0], signal)?.collect()
}

pub(super) fn list(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Run>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM retry_run
         WHERE id < ?1 AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR workflow = ?3) AND (?4 IS NULL OR queue = ?4)
         ORDER BY id DESC LIMIT ?5"
    );
    let mut rows = connection.prepare_cached(&sql)?;
    let values = params![
        filter.before.map_or(i64::MAX, |before| before.0),
        filter.state.map(State::number),
        filter.workflow,
        filter.queue,
        filter.bound(),
    ];
    rows.query_map(values, run_of)?.collect()
}

pub(super) fn counts(connection: &mut Connection) -> rusqlite::Result<Vec<(State, u64)>> {
    let mut rows = connection
        .prepare_cached("SELECT state, count(*) FROM retry_run GROUP BY state ORDER BY state")?;
    let count = |row: &Row<'_>| {
        let state = row.get(0)?;
        let state = State::from_number(state).ok_or_else(|| unknown("state", state))?;
        Ok((state, row.get::<_, i64>(1)?.cast_unsigned()))
    };
    rows.query_map([], count)?.collect()
}
