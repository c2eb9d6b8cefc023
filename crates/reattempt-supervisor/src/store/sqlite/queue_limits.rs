//! Limits of queues. There is one writer, so what it counts is true until its transaction ends.

use rusqlite::{Connection, params};

use super::row::query_one;
use crate::store::TaskLimit;
use crate::store::task_limit::{Room, Rooms, Spent};
use crate::time::Time;

/// Sets the limit of a queue.
pub(super) fn store(
    connection: &Connection,
    queue: &str,
    limit: TaskLimit,
) -> rusqlite::Result<()> {
    let [concurrency, tasks, period] = limit.to_columns();
    let sql = if limit.is_none() {
        "DELETE FROM retry_limit WHERE queue = ?1 AND ?2 IS NULL AND ?3 IS NULL AND ?4 IS NULL"
    } else {
        "INSERT OR REPLACE INTO retry_limit (queue, concurrency, tasks, period) VALUES (?1, ?2, ?3, ?4)"
    };
    let values = params![queue, concurrency, tasks, period];
    connection.execute(sql, values)?;
    if limit.max_rate().is_none() {
        let sql = "DELETE FROM retry_limit_spent WHERE queue = ?1";
        connection.execute(sql, [queue])?;
    }
    Ok(())
}

/// Returns the rooms of the queues that have limits.
pub(super) fn rooms(
    connection: &Connection,
    queues: &[String],
    now: Time,
) -> rusqlite::Result<Rooms> {
    let mut rooms = Rooms::default();
    for queue in queues {
        let sql = "SELECT concurrency, tasks, period FROM retry_limit WHERE queue = ?1";
        let limit = query_one(connection, sql, [queue], |row| {
            let columns = [row.get(0)?, row.get(1)?, row.get(2)?];
            Ok(TaskLimit::from_columns(columns))
        })?;
        let Some(limit) = limit else { continue };
        let held = match limit.max_concurrency() {
            Some(_) => held(connection, queue)?,
            None => 0,
        };
        let mut spent = spent(connection, queue)?;
        let before = spent.len();
        rooms.add(queue, Room::new(limit, held, &mut spent, now));
        // A delete writes, and most claims forget no slice.
        if spent.len() < before {
            let kept = spent.keys().copied().collect::<serde_json::Value>();
            let sql = "DELETE FROM retry_limit_spent WHERE queue = ?1 AND until NOT IN (SELECT value FROM json_each(?2))";
            let mut delete = connection.prepare_cached(sql)?;
            delete.execute(params![queue, kept.to_string()])?;
        }
    }
    Ok(rooms)
}

/// Counts the tasks of a queue that workers hold. It reads the tasks of all queues that workers hold.
// `owner >= ''` leads to the index of held tasks, which are few on one machine.
const HELD: &str = "SELECT count(*) FROM retry_run WHERE state = 1 AND owner >= '' AND queue = ?1";

fn held(connection: &Connection, queue: &str) -> rusqlite::Result<u32> {
    Ok(query_one(connection, HELD, [queue], |row| row.get(0))?.unwrap_or_default())
}

/// Returns how many tasks of a queue were claimed in each slice of time.
fn spent(connection: &Connection, queue: &str) -> rusqlite::Result<Spent> {
    let sql = "SELECT until, tasks FROM retry_limit_spent WHERE queue = ?1";
    let mut rows = connection.prepare_cached(sql)?;
    let rows = rows.query_map([queue], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Adds the tasks of a claim to what was spent.
pub(super) fn spend(connection: &Connection, rooms: &Rooms) -> rusqlite::Result<()> {
    let sql = "INSERT INTO retry_limit_spent (queue, until, tasks) VALUES (?1, ?2, ?3)
         ON CONFLICT (queue, until) DO UPDATE SET tasks = tasks + excluded.tasks";
    for (queue, room) in rooms.iter() {
        if let Some((until, tasks)) = room.spent() {
            let mut insert = connection.prepare_cached(sql)?;
            insert.execute(params![queue, until, tasks])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

    use super::*;
    use crate::store::sqlite::schema;

    #[test]
    fn counting_reads_no_task_that_waits_or_has_ended() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::create(&mut connection).unwrap();
        let explain = format!("EXPLAIN QUERY PLAN {HELD}");
        let plan: String = connection
            .query_row(&explain, ["q"], |row| row.get("detail"))
            .unwrap();
        assert!(plan.contains("USING INDEX retry_run_owner"), "{plan}");
    }
}
