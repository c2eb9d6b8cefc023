//! The commands of operators. Each is one statement: it changes the task $1 if its state is one of $2, which take the command,
//! and returns the state before and whether it was one of these.

use tokio_postgres::types::ToSql;

use super::connection::Live;
use super::pipeline::{self, Sent};
use super::sql::now;
use crate::store::AdminCommand;
use crate::task::TaskId;

/// Changes the task, after other parts of the statement.
macro_rules! change {
    ($before:expr, $($set:expr),+) => {
        concat!(
            "WITH ", $before, "changed AS (
                 UPDATE retry_run SET updated_at = ", now!(), ", ", $($set),+, "
                 WHERE id = $1 AND state = ANY ($2::smallint[])
             )
             SELECT state, state = ANY ($2::smallint[]) FROM retry_run WHERE id = $1"
        )
    };
}

/// What a task gets that begins anew. The fence rises: its worker must not write over the decision of the operator.
macro_rules! restart {
    () => {
        concat!(
            "state = 0, fence = fence + 1, failures = 0, deaths = 0, failed_ord = -1, wake_at = ",
            now!()
        )
    };
}

/// Forgets the failures of steps, if the task has one of these states.
macro_rules! forget_failures {
    ($states:literal) => {
        concat!(
            "failures AS (DELETE FROM retry_failure WHERE run_id = (SELECT id FROM retry_run WHERE id = $1 AND ",
            $states,
            ")), "
        )
    };
}

// A task that no worker ever held (`fence = 0`) has nothing to undo, so it ends at once.
const CANCEL: &str = change!(
    forget_failures!("state = 7"),
    "cancel_asked = true,
     wake_at = CASE WHEN state = 1 THEN wake_at ELSE ",
    now!(),
    " END,
     state = CASE WHEN state = 1 THEN 1 WHEN fence = 0 THEN 6 ELSE 0 END,
     fence = CASE WHEN state = 7 THEN fence + 1 ELSE fence END,
     failures = CASE WHEN state = 7 THEN 0 ELSE failures END,
     deaths = CASE WHEN state = 7 THEN 0 ELSE deaths END,
     failed_ord = CASE WHEN state = 7 THEN -1 ELSE failed_ord END"
);

const PARK: &str = change!(
    "",
    "state = 7, owner = NULL, step_by = NULL, fence = fence + 1, error = $3"
);

// As cancelled: a task in an error could be resubmitted, and would run forward although a part of
// it may be undone.
const GIVE_UP: &str = change!("", "state = 6, fence = fence + 1");

// The failures of its steps are forgotten: the way back runs other code.
const UNDO: &str = change!(
    forget_failures!("state = ANY ($2::smallint[])"),
    restart!(),
    ", direction = CASE WHEN direction = 0 THEN 1 ELSE direction END"
);

/// The step that failed runs again, and no answer of an agent counts for it. Where the store does not know which, it was the
/// last one, or none.
// A `complete_by` that is over goes, too: it would turn the task back at once.
const RESUBMIT: &str = change!(
    concat!(
        "forgotten AS (
             DELETE FROM retry_step AS step USING retry_run AS run
             WHERE run.id = $1 AND run_id = $1 AND run.state = ANY ($2::smallint[]) AND (run.state = 4 OR run.direction = 0)
                 AND seq = coalesce(run.failed_seq, (SELECT seq FROM retry_step AS last WHERE last.run_id = $1 AND last.kind = 2
                     AND run.state = 4 AND last.ord = (SELECT max(ord) FROM retry_step WHERE run_id = $1)))
                 AND NOT EXISTS (SELECT 1 FROM retry_step AS done WHERE done.run_id = $1 AND done.seq = step.seq AND done.kind = 1)
         ), calls AS (
             DELETE FROM retry_call WHERE run_id = (SELECT id FROM retry_run WHERE id = $1 AND state = ANY ($2::smallint[]))
                 AND state = 3
         ), ",
        forget_failures!("state = ANY ($2::smallint[])")
    ),
    restart!(),
    ", failed_seq = NULL, direction = CASE WHEN state = 4 THEN 0 ELSE direction END,
     complete_by = CASE WHEN complete_by > ", now!(), " THEN complete_by END"
);

/// Says what became of a step that has begun or failed, where nothing else is known about it, or of which an
/// operator has said it last: $4 is `not done`, `done` or `undo`. Continues the task, or turns it back.
// `given` lets an operator correct a result that the code could not read, as long as nothing was
// recorded after it.
const RESOLVE: &str = concat!(
    "WITH run AS (
         SELECT * FROM retry_run WHERE id = $1 AND state = ANY ($2::smallint[])
     ), given AS (
         SELECT FROM run JOIN retry_step AS step ON run_id = run.id WHERE run.state = 7 AND seq = $3 AND kind = 1
             AND ord = (SELECT max(ord) FROM retry_step WHERE run_id = $1)
             AND EXISTS (SELECT 1 FROM retry_note WHERE run_id = $1 AND retry_note.seq = $3 AND verdict = 'done')
     ), open AS (
         SELECT run.fence, step.seq, step.name, args_hash, args FROM run JOIN retry_step AS step ON run_id = run.id
         WHERE step.seq = $3 AND (EXISTS (SELECT FROM given)
             OR (kind = 0 AND due_at IS NULL AND NOT starts_with(name, 'signal ') OR kind = 2 AND run.state = 4)
             AND NOT EXISTS (SELECT 1 FROM retry_step AS other WHERE other.run_id = $1 AND other.seq = $3
                 AND (other.kind IN (1, 3) OR other.kind = 2 AND run.state <> 4)))
         ORDER BY kind LIMIT 1
     ), forgotten AS (
         DELETE FROM retry_step WHERE run_id = $1 AND seq = (SELECT seq FROM open)
             AND ($4 = 'not done' OR $4 = 'done' AND kind = 2)
     ), done AS (
         INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, result, at, fence, args_hash, args)
         SELECT $1, seq, 1, (SELECT max(ord) + 1 FROM retry_step WHERE run_id = $1), name, 0, $5, ", now!(), ", fence, args_hash, args
         FROM open WHERE $4 = 'done'
         ON CONFLICT (run_id, seq, kind) DO UPDATE SET ord = excluded.ord, result = excluded.result, at = excluded.at, fence = excluded.fence
     ), calls AS (
         DELETE FROM retry_call WHERE run_id = $1 AND seq = (SELECT seq FROM open)
     ), noted AS (
         INSERT INTO retry_note (run_id, seq, verdict, operator, why, at)
         SELECT $1, seq, $4, $6, $7, ", now!(), " FROM open
     ), failures AS (
         DELETE FROM retry_failure WHERE run_id = $1 AND EXISTS (SELECT 1 FROM open)
     ), changed AS (
         UPDATE retry_run SET updated_at = ", now!(), ", ", restart!(), ",
             failed_seq = CASE WHEN $4 = 'undo' THEN failed_seq END,
             direction = CASE WHEN $4 = 'undo' THEN greatest(direction, 1::smallint) WHEN state = 4 THEN 0 ELSE direction END,
             complete_by = CASE WHEN $4 = 'undo' OR complete_by > ", now!(), " THEN complete_by END
         WHERE id = $1 AND EXISTS (SELECT 1 FROM open)
     )
     SELECT state, state = ANY ($2::smallint[]), EXISTS (SELECT 1 FROM open) FROM retry_run WHERE id = $1"
);

/// Keeps the operator and the reason of a command, if the state of the task allows it. No step has
/// the number -1.
const SIGN: &str = concat!(
    "INSERT INTO retry_note (run_id, seq, verdict, operator, why, at)
     SELECT id, -1, $2, $3, $4, ",
    now!(),
    " FROM retry_run WHERE id = $1 AND state = ANY ($5::smallint[])"
);

/// Returns the statement of a command.
const fn statement_of(command: &AdminCommand) -> &'static str {
    match command {
        AdminCommand::Cancel => CANCEL,
        AdminCommand::Park(_) => PARK,
        AdminCommand::Resubmit => RESUBMIT,
        AdminCommand::Undo => UNDO,
        AdminCommand::GiveUp => GIVE_UP,
        AdminCommand::Resolve(_) => RESOLVE,
        AdminCommand::Signed { .. } => SIGN,
    }
}

/// Returns the statements of all commands.
pub(super) fn statements() -> Vec<&'static str> {
    let all = AdminCommand::all("");
    let all = all.iter().map(statement_of);
    all.chain([RESOLVE, SIGN]).collect()
}

/// Sends the command of an operator.
pub(super) fn send<'a>(live: &'a Live, task: &'a TaskId, command: &'a AdminCommand) -> Sent<'a> {
    Box::pin(async move {
        let states = command.states().iter().map(|state| state.number());
        let states: Vec<_> = states.collect();
        let sql = statement_of(command);
        match command {
            AdminCommand::Park(why) => live.query(sql, &[&task.0, &states, why]).await,
            AdminCommand::Resolve(resolution) => {
                let values: [&(dyn ToSql + Sync); 7] = [
                    &task.0,
                    &states,
                    &resolution.seq,
                    &resolution.verdict.as_str(),
                    &resolution.verdict.result(),
                    &resolution.by,
                    &resolution.why,
                ];
                live.query(sql, &values).await
            }
            AdminCommand::Signed { command, by, why } => {
                let name = command.as_str();
                let values: [&(dyn ToSql + Sync); 5] = [&task.0, &name, by, why, &states];
                // The note first: whether the task takes the command depends on the state before
                // it.
                let sign: Sent<'_> = Box::pin(live.query(sql, &values));
                let both = pipeline::together(vec![sign, send(live, task, command)]);
                Ok(both.await?.pop().unwrap_or_default())
            }
            _ => live.query(sql, &[&task.0, &states]).await,
        }
    })
}
