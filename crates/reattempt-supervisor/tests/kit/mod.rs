//! What tests of stores have in common.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::unwrap_used,
    reason = "each test program uses a part of it, and one that panics has failed"
)]

use std::time::Duration;

use reattempt_supervisor::store::{
    Change, Claim, Counts, Store, Submitted, Wake, Write, WriteResult,
};
use reattempt_supervisor::{
    Direction, Lease, NewTask, OnFailure, Record, RecordKind, State, TaskId, Time, WorkerId,
};

/// Returns a task of the workflow `plain`.
pub(crate) fn plain(key: &str) -> NewTask {
    NewTask {
        max_failures: 1,
        ..NewTask::new("plain", key, "[]")
    }
}

/// Stores a task that is new. Returns its number.
pub(crate) async fn submit(store: &dyn Store, new: NewTask) -> TaskId {
    let stored = store.write([Write::Submit(Box::new(new))].into()).await;
    match &stored.unwrap()[..] {
        [
            WriteResult::Submitted(Submitted {
                id, is_new: true, ..
            }),
        ] => *id,
        other => panic!("{other:?}"),
    }
}

/// Returns the claim of a worker that knows this workflow.
pub(crate) fn claim(worker: &str, workflow: &str, limit: u32) -> Claim {
    Claim {
        worker: WorkerId(worker.to_owned()),
        queues: vec!["default".to_owned()],
        workflows: vec![(workflow.to_owned(), 1)],
        limit,
        suspects: None,
    }
}

/// Returns the record of a step that is done.
pub(crate) fn done(lease: Lease, seq: i32, result: Option<String>) -> Write {
    let record = Record {
        seq,
        kind: RecordKind::Done,
        ord: seq,
        name: "one".to_owned(),
        attempts: 1,
        result,
        error: None,
        due_at: None,
        at: Time::default(),
        fence: lease.fence,
        args_hash: None,
        args: None,
        undo: None,
    };
    Write::Record(lease, Box::new(record))
}

/// Asks a PostgreSQL whether its small tables say what the tasks say.
pub(crate) const SMALL_TABLES_FIT: &str = "WITH wanted (small, run_id, line) AS (
        SELECT 'ready', id, ROW(queue, workflow, version, priority, wake_at, deaths >= 2, state)::text FROM retry_run WHERE state IN (0, 2)
        UNION ALL SELECT 'held', id, ROW(owner, step_by)::text FROM retry_run WHERE state = 1
        UNION ALL SELECT 'limited', id, complete_by::text FROM retry_run WHERE state < 3 AND direction = 0 AND complete_by IS NOT NULL
        UNION ALL SELECT 'ended', id, ROW(state, updated_at)::text FROM retry_run WHERE state > 2
    ), found AS (
        SELECT 'ready', run_id, ROW(queue, workflow, version, priority, wake_at, is_suspect, state)::text FROM retry_ready
        UNION ALL SELECT 'held', run_id, ROW(owner, step_by)::text FROM retry_held
        UNION ALL SELECT 'limited', run_id, complete_by::text FROM retry_limited
        UNION ALL SELECT 'ended', run_id, ROW(state, at)::text FROM retry_ended
    )
    SELECT NOT EXISTS (TABLE wanted EXCEPT ALL TABLE found) AND NOT EXISTS (TABLE found EXCEPT ALL TABLE wanted)";

/// Methods of a store that pass everything on to the field `store`.
macro_rules! pass_on {
    // What tests do not change.
    () => {
        pass_on! {
            settle() -> ();
            task(id: TaskId) -> Option<Task>;
            running(id: TaskId) -> Vec<RunningStep>;
            notes(id: TaskId) -> Vec<OperatorNote>;
            signals(id: TaskId) -> Vec<Signal>;
            list(filter: Filter) -> Vec<Task>;
            counts() -> Vec<(State, u64)>;
            queues() -> Vec<QueueStatus>;
            lane_limits() -> std::collections::BTreeMap<String, reattempt_supervisor::TaskLimit>;
            schedules(due: Option<u32>) -> Schedules;
            unknown_workflows(queues: Vec<String>, known: Vec<(String, i32)>, waited: Duration) -> Vec<UnknownWorkflow>;
            read_feed(reader: String, limit: u32, old_gaps: bool) -> reattempt_supervisor::store::FeedPage;
            move_reader(reader: String, to: reattempt_supervisor::store::FeedCursor, reported: u64) -> bool;
        }

        fn salt(&self) -> reattempt_supervisor::store::Salt {
            self.store.salt()
        }
    };
    ($($method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(fn $method(&self, $($argument: $type),*) -> StoreFuture<'_, $answer> {
            self.store.$method($($argument),*)
        })*
    };
}
pub(crate) use pass_on;

/// Returns a change to a state, without a failure.
pub(crate) const fn change_to(state: State) -> Change {
    Change {
        state,
        direction: Direction::Forward,
        counts: Counts::NONE,
        failing_step: None,
        wake: Wake::In(Duration::ZERO),
        output: None,
        error: None,
        failed_seq: None,
    }
}

/// Opens a session of another program.
#[cfg(feature = "postgres")]
pub(crate) async fn session(url: &str) -> tokio_postgres::Client {
    let connecting = tokio_postgres::connect(url, tokio_postgres::NoTls);
    let (client, connection) = connecting.await.unwrap();
    tokio::spawn(connection);
    client
}
