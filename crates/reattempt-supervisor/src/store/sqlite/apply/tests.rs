//! Tests what a write leaves in the tables.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use super::*;
use crate::store::Counts;
use crate::store::sqlite::schema;
use crate::task::Direction;
use crate::task::NewTask;

const NOW: Time = Time::from_micros(9_000_000_000_000_000);

/// Returns a store with one task, and that task.
fn with_task() -> (Connection, TaskId) {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::create(&mut connection).unwrap();
    let id = submit(&connection, &new("first"), None, NOW).unwrap().id;
    (connection, id)
}

fn new(key: &str) -> NewTask {
    NewTask::new("w", key, "[]")
}

/// Lets a worker hold the task with this fence.
fn hold(connection: &Connection, task: TaskId, fence: i64) -> Lease {
    let sql = "UPDATE retry_run SET state = 1, owner = 'one', fence = ?2 WHERE id = ?1";
    connection.execute(sql, [task.0, fence]).unwrap();
    let fence = Fence(fence);
    Lease { task, fence }
}

fn change_to(state: State) -> Change {
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

/// No read shows such a line, and nothing else deletes one without a limit.
#[test]
fn a_task_that_nobody_holds_has_no_line_of_a_running_step() {
    for (state, left) in [
        (State::Processing, 1),
        (State::Pending, 0),
        (State::Processed, 0),
        (State::Parked, 0),
    ] {
        let (connection, id) = with_task();
        let lease = hold(&connection, id, 1);
        let step = RunningStep {
            task: id,
            seq: 0,
            fence: lease.fence,
            worker: WorkerId("one".to_owned()),
            name: "step".to_owned(),
            since: NOW,
            due: None,
        };
        report_running(&connection, &[step], &[]).unwrap();
        let written = change(&connection, lease, &change_to(state), NOW, true).unwrap();
        assert_eq!(written, Some(false));
        let sql = "SELECT count(*) FROM retry_running";
        let lines = query_one(&connection, sql, [], |row| row.get(0)).unwrap();
        assert_eq!(lines, Some(left), "{state:?}");
    }
}

#[test]
fn a_change_counts_again_under_its_own_lease_only() {
    let (connection, id) = with_task();
    let (old, lease) = (hold(&connection, id, 1), hold(&connection, id, 2));
    let processed = change_to(State::Processed);
    for (lease, written) in [
        (old, None),
        (lease, Some(false)),
        (lease, Some(false)),
        (old, None),
    ] {
        let result = change(&connection, lease, &processed, NOW, true).unwrap();
        assert_eq!(result, written, "{lease:?}");
    }
}
