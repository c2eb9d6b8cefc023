//! The feed of ends. A transaction with a higher number is committed later: one at a time writes, and a number of one
//! that was rolled back is used again.

use std::time::Duration;

use rusqlite::{Connection, Row, params};

use super::row::{in_table, query_one};
use crate::store::{Ending, FeedCursor, FeedPage, rows};
use crate::task::TaskId;
use crate::time::Time;

/// Adds a reader, unless it is known. It begins with the lines that are left.
pub(super) fn add_reader(connection: &Connection, reader: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO retry_feed_reader (name, number)
         SELECT ?1, coalesce((SELECT value FROM retry_meta WHERE key = 'feed_pruned'), 0)
         WHERE true ON CONFLICT (name) DO NOTHING";
    connection.prepare_cached(sql)?.execute([reader])?;
    Ok(())
}

/// Returns the next lines for a reader, or `None` if it is not known.
pub(super) fn read(
    connection: &Connection,
    reader: &str,
    limit: u32,
) -> rusqlite::Result<Option<FeedPage>> {
    let sql = "SELECT number, version, missed FROM retry_feed_reader WHERE name = ?1";
    let known = query_one(connection, sql, [reader], |row| {
        let cursor = FeedCursor {
            number: row.get(0)?,
            version: row.get(1)?,
            ..FeedCursor::default()
        };
        Ok((cursor, row.get::<_, i64>(2)?.cast_unsigned()))
    })?;
    let Some((cursor, missed)) = known else {
        return Ok(None);
    };
    let mut rows = connection.prepare_cached(
        "SELECT number, run_id, workflow, queue, idem_key, state, error, headers, at FROM retry_feed
         WHERE number > ?1 ORDER BY number LIMIT ?2",
    )?;
    let endings = rows.query_map(params![cursor.number, limit], ending_of)?;
    let endings = endings.collect::<rusqlite::Result<_>>()?;
    Ok(Some(FeedPage::without_gaps(endings, cursor, missed)))
}

fn ending_of(row: &Row<'_>) -> rusqlite::Result<Ending> {
    let task = row.get(1).map(TaskId);
    rows::read(row).map_err(|error| in_table(error, "retry_feed", task.ok()))
}

/// Moves a reader, unless it has moved since.
pub(super) fn move_reader(
    connection: &Connection,
    reader: &str,
    to: &FeedCursor,
    reported: u64,
) -> rusqlite::Result<bool> {
    let sql =
        "UPDATE retry_feed_reader SET number = ?3, missed = missed - ?4, version = version + 1
         WHERE name = ?1 AND version = ?2";
    let values = params![reader, to.version, to.number, reported.cast_signed()];
    Ok(connection.prepare_cached(sql)?.execute(values)? == 1)
}

/// Deletes old lines, and counts them for the readers that have not got them. Returns how many.
pub(super) fn prune(
    connection: &Connection,
    age: Duration,
    limit: u32,
    now: Time,
) -> rusqlite::Result<u64> {
    let before = now.before(age).as_micros();
    // Not all lines: without old ones each look would read them all.
    let old = "SELECT number FROM (SELECT number, at FROM retry_feed ORDER BY number LIMIT ?2) WHERE at <= ?1";
    let missed = format!(
        "UPDATE retry_feed_reader SET missed = missed + old.lines
         FROM (SELECT name, count(*) AS lines FROM retry_feed_reader AS reader JOIN ({old}) AS line ON line.number > reader.number GROUP BY name) AS old
         WHERE retry_feed_reader.name = old.name"
    );
    let pruned = format!(
        "INSERT INTO retry_meta (key, value) SELECT 'feed_pruned', max(number) FROM ({old}) HAVING count(*) > 0
         ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)"
    );
    let values = params![before, limit];
    connection.prepare_cached(&missed)?.execute(values)?;
    connection.prepare_cached(&pruned)?.execute(values)?;
    let delete = format!("DELETE FROM retry_feed WHERE number IN ({old})");
    let deleted = connection.prepare_cached(&delete)?.execute(values)?;
    Ok(u64::try_from(deleted).unwrap_or(u64::MAX))
}
