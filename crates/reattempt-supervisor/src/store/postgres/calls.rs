//! Calls of steps that agents run. What agents do is in the functions of the database.

use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::columns::micros;
use super::link::{Link, Need};
use super::sql::now;
use crate::store::{AgentCall, AgentFailure, CallState, CallStatus, NextOffer, StoreError};
use crate::task::Lease;
use crate::time::Time;

/// How many calls a sweep looks at.
const TOGETHER: i64 = 500;

// A call that nobody speaks of is looked at again after half a minute: its task may have ended.
macro_rules! later {
    () => {
        concat!(now!(), " + 30000000")
    };
}

macro_rules! held {
    () => {
        "held AS MATERIALIZED (
         SELECT id FROM retry_run WHERE id = $1::bigint AND fence = $2::bigint AND state + 0 = 1 FOR NO KEY UPDATE
     )"
    };
}

// `DO NOTHING`, because `DO UPDATE` would wait for an agent that is about to finish.
const OFFER: &str = concat!(
    "WITH ", held!(), ", offered AS (
         INSERT INTO retry_call (run_id, seq, queue, step, key, input, args_hash, headers, time_limit, offered_at, due)
         SELECT id, $3::int, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text, $10::bigint, ", now!(), ", ", later!(), " FROM held
         ON CONFLICT (run_id, seq) DO NOTHING RETURNING *
     ), call AS (
         SELECT offered.*, true AS is_new FROM offered
         UNION ALL
         SELECT old.*, false FROM retry_call AS old WHERE run_id = $1 AND seq = $3
     )
     SELECT attempt, state, failures, deaths, is_new, step, args_hash, result, error, verdict, delay,
         complete_by < ", now!(), " AS is_over, limit_at <= complete_by AS is_at_limit
     FROM held LEFT JOIN call ON true"
);

// An attempt of which an agent has said something since is another state, and one that it has extended is not over.
const RAISE: &str = concat!(
    "WITH ", held!(), "
     UPDATE retry_call SET attempt = attempt + 1, state = CASE WHEN $6::bigint IS NULL THEN 4 ELSE 0 END,
         failures = CASE WHEN $7::boolean THEN 0 WHEN state = 3 THEN failures + 1 ELSE failures END,
         deaths = CASE WHEN state = 1 AND NOT $7 THEN deaths + 1 ELSE 0 END,
         offered_at = ", now!(), " + coalesce($6, 0), due = ", later!(), ", complete_by = NULL, limit_at = NULL, taken_in = NULL,
         result = NULL, error = NULL, verdict = NULL, delay = NULL
     FROM held WHERE run_id = held.id AND seq = $3::int AND attempt = $4::int AND state = $5::smallint
         AND (state <> 1 OR complete_by < ", now!(), ")
     RETURNING attempt"
);

const WITHDRAW: &str = concat!(
    "WITH ",
    held!(),
    "
     UPDATE retry_call SET attempt = attempt + 1, state = 4, complete_by = NULL, due = ",
    later!(),
    "
     FROM held WHERE run_id = held.id AND state IN (0, 1)"
);

// Looks at calls that are due: wakes the tasks that may go on, once for each answer, as a workflow may have dropped the
// call, withdraws calls of tasks that have turned back, and deletes those that are recorded or whose task has ended. Tasks come before calls, as everywhere. What somebody has locked
// is left for the next time.
const LOOK: &str = concat!(
    "WITH late AS MATERIALIZED (
         SELECT run_id, seq FROM retry_call WHERE due <= ", now!(), " ORDER BY due LIMIT $1
     ), run AS MATERIALIZED (
         SELECT id, state, direction FROM retry_run WHERE id = ANY (ARRAY(SELECT run_id FROM late)) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
     ), call AS MATERIALIZED (
         SELECT call.* FROM late CROSS JOIN LATERAL (
             SELECT * FROM retry_call AS call WHERE call.run_id = late.run_id AND call.seq = late.seq AND due <= ", now!(), "
             FOR UPDATE SKIP LOCKED
         ) AS call
     ), judged AS MATERIALIZED (
         SELECT call.run_id, call.seq, run.state AS run_state, direction <> 0 OR run.state = 4 AS turns_back,
             call.state IN (2, 3) OR call.state = 1 AND complete_by < ", now!(), " AS is_answered,
             call.state, attempt, woken_for,
             run.id IS NULL OR run.state IN (3, 5, 6, 8) OR EXISTS (
                 SELECT FROM retry_step AS step WHERE step.run_id = call.run_id AND step.seq = call.seq AND kind IN (1, 2)) AS is_over
         FROM call LEFT JOIN run ON run.id = call.run_id
         WHERE run.id IS NOT NULL OR NOT EXISTS (SELECT FROM retry_run AS any_run WHERE any_run.id = call.run_id)
     ), gone AS (
         DELETE FROM retry_call AS old USING judged WHERE is_over AND old.run_id = judged.run_id AND old.seq = judged.seq
     ), kept AS (
         UPDATE retry_call AS old SET
             due = CASE WHEN old.state = 1 AND NOT is_answered THEN complete_by ELSE ", later!(), " END,
             attempt = old.attempt + CASE WHEN turns_back AND old.state IN (0, 1) THEN 1 ELSE 0 END,
             state = CASE WHEN turns_back AND old.state IN (0, 1) THEN 4 ELSE old.state END,
             woken_for = CASE WHEN judged.state IN (2, 3) AND NOT turns_back AND run_state IN (1, 2) THEN judged.attempt ELSE old.woken_for END
         FROM judged WHERE NOT is_over AND old.run_id = judged.run_id AND old.seq = judged.seq
     ), woken AS MATERIALIZED (
         SELECT * FROM judged WHERE is_answered AND NOT is_over AND NOT turns_back AND run_state IN (1, 2)
             AND (state = 1 OR woken_for IS DISTINCT FROM attempt)
     ), signals AS (
         INSERT INTO retry_signal (run_id, name, payload) SELECT run_id, 'reattempt:call', seq::text FROM woken
     ), runs AS (
         UPDATE retry_run SET state = 0, wake_at = ", now!(), ", updated_at = ", now!(), "
         WHERE id = ANY (ARRAY(SELECT run_id FROM woken WHERE run_state = 2))
     )
     SELECT count(*), ", now!(), " FROM woken"
);

/// The statements of the connection for calls of agents.
pub(super) const STATEMENTS: &[&str] = &[OFFER, RAISE, WITHDRAW, LOOK];

/// Offers a call, unless it is there, and returns what agents have said.
pub(super) async fn offer(link: &Link, call: &AgentCall) -> Result<Option<CallStatus>, StoreError> {
    let limit = call.limit.map(micros);
    let values: [&(dyn ToSql + Sync); 10] = [
        &call.lease.task.0,
        &call.lease.fence.0,
        &call.seq,
        &call.queue,
        &call.step,
        &call.key,
        &call.input,
        &call.args_hash,
        &call.headers,
        &limit,
    ];
    let rows = link.query(Need::Work, OFFER, &values).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    if row.get::<_, Option<i32>>("attempt").is_none() {
        return Err(StoreError::passing(
            "another statement has just offered the call",
        ));
    }
    Ok(Some(CallStatus {
        attempt: row.get("attempt"),
        state: state_of(row),
        failures: row.get("failures"),
        deaths: row.get("deaths"),
        is_new: row.get("is_new"),
        step: row.get("step"),
        args_hash: row.get("args_hash"),
    }))
}

fn state_of(row: &Row) -> CallState {
    let is = |column| row.get::<_, Option<bool>>(column) == Some(true);
    match row.get::<_, i16>("state") {
        1 if is("is_over") && is("is_at_limit") => CallState::Overdue,
        1 if is("is_over") => CallState::Silent,
        2 => CallState::Finished(row.get("result")),
        3 => CallState::Failed(AgentFailure {
            error: row.get("error"),
            verdict: row.get("verdict"),
            delay: (row.get::<_, Option<i64>>("delay"))
                .map(|delay| Time::from_micros(delay).since(Time::default())),
        }),
        4 => CallState::Withdrawn,
        _ => CallState::Open,
    }
}

/// Returns the number of a state in the table.
const fn number_of(state: &CallState) -> i16 {
    match state {
        CallState::Open => 0,
        CallState::Silent | CallState::Overdue => 1,
        CallState::Finished(_) => 2,
        CallState::Failed(_) => 3,
        CallState::Withdrawn => 4,
    }
}

/// Raises the attempt of a call that is as it was seen. Returns whether it was.
pub(super) async fn raise(
    link: &Link,
    lease: Lease,
    seq: i32,
    seen: &CallStatus,
    next: NextOffer,
) -> Result<bool, StoreError> {
    let delay = match next {
        NextOffer::In(delay) => Some(micros(delay)),
        NextOffer::Anew => Some(micros(Duration::ZERO)),
        NextOffer::Never => None,
    };
    let is_anew = next == NextOffer::Anew;
    let state = number_of(&seen.state);
    let values: [&(dyn ToSql + Sync); 7] = [
        &lease.task.0,
        &lease.fence.0,
        &seq,
        &seen.attempt,
        &state,
        &delay,
        &is_anew,
    ];
    let rows = link.query(Need::Work, RAISE, &values).await?;
    Ok(!rows.is_empty())
}

/// Withdraws the calls of a task.
pub(super) async fn withdraw(link: &Link, lease: Lease) -> Result<(), StoreError> {
    let values: [&(dyn ToSql + Sync); 2] = [&lease.task.0, &lease.fence.0];
    link.query(Need::Work, WITHDRAW, &values).await?;
    Ok(())
}

/// Looks at the calls that are due. Returns when it did, if it has woken a task.
pub(super) async fn look(link: &Link) -> Result<Option<Time>, StoreError> {
    let rows = link.query(Need::Work, LOOK, &[&TOGETHER]).await?;
    let found = rows.first().filter(|row| row.get::<_, i64>(0) > 0);
    Ok(found.map(|row| Time::from_micros(row.get(1))))
}
