//! The feed of ends. See [`gaps`] for the order in which its lines appear.

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::gaps::{self, Found};
use super::link::{Link, Need};
use super::pipeline::Sent;
use super::rows;
use super::sql::now;
use super::sqlstate::store_error;
use crate::cell::Cell as _;
use crate::store::{Ending, FeedCursor, FeedGap, FeedPage, StoreError, feed};
use crate::task::{State, TaskId};
use crate::time::Time;

/// Finds the oldest transaction that is not over.
pub(super) const OVER: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint";

/// Reads the cursor of the reader $1, at most $2 lines after it, and those in its gaps: in all with $3 or if there
/// are new lines, else in those that end at most $4 below the cursor. Without a line there is one row.
pub(super) const READ: &str =
    "SELECT reader.number AS cursor, first, last, noticed, version, missed, line.*
     FROM retry_feed_reader AS reader LEFT JOIN LATERAL (
         SELECT * FROM (SELECT * FROM retry_feed WHERE number > reader.number ORDER BY number LIMIT $2) AS new
         UNION ALL
         SELECT late.* FROM unnest(first, last) AS gap (first, last)
         CROSS JOIN LATERAL (SELECT * FROM retry_feed WHERE number BETWEEN gap.first AND gap.last OFFSET 0) AS late
         WHERE $3::boolean OR gap.last > reader.number - $4::bigint OR EXISTS (SELECT FROM retry_feed WHERE number > reader.number)
     ) AS line ON true
     WHERE name = $1 ORDER BY line.number";

/// Adds a reader, unless it is known. It begins with the lines that are left.
pub(super) const ADD: &str = "INSERT INTO retry_feed_reader (name, number)
     SELECT $1, coalesce((SELECT value FROM retry_meta WHERE key = 'feed_pruned'), 0)
     ON CONFLICT (name) DO NOTHING";

/// Moves the reader $1, unless it has moved since the version $2.
// New gaps were noticed before this transaction got its number, so those who took the numbers have lower ones. In a
// database that was restored elsewhere, all transactions may have lower numbers than before. A cursor that is lost
// brings lines again, so this need not wait for the disk.
pub(super) const MOVE: &str =
    "UPDATE retry_feed_reader SET number = $3, first = $4, last = $5, noticed = ARRAY(
         SELECT least(noticed, pg_current_xact_id()::text::bigint)
         FROM unnest($6::bigint[]) WITH ORDINALITY AS gap (noticed, n) ORDER BY n
     ), missed = missed - $7, version = version + 1
     FROM (SELECT set_config('synchronous_commit', 'off', true)) AS off
     WHERE name = $1 AND version = $2 RETURNING version";

/// Deletes lines that are older than $1, of the first $2.
pub(super) const PRUNE: &str = concat!("SELECT retry_prune_feed(", now!(), " - $1, $2)");

/// Returns the next lines for a reader.
pub(super) async fn read(
    link: &Link,
    reader: &str,
    limit: u32,
    old_gaps: bool,
) -> Result<FeedPage, StoreError> {
    let values: [&(dyn ToSql + Sync); 4] = [&reader, &i64::from(limit), &old_gaps, &gaps::NEAR];
    let mut looks = look(link, &values).await?;
    if looks.1.is_empty() {
        link.query(Need::Look, ADD, &[&reader]).await?;
        looks = look(link, &values).await?;
    }
    let (over, rows) = looks;
    let first = rows.first().ok_or_else(feed::unknown_reader)?;
    let cursor = cursor_of(first);
    let lines = rows
        .iter()
        .filter_map(|row| Some((row.get::<_, Option<i64>>("number")?, row)));
    let endings = lines.map(|(number, row)| ending_of(number, row));
    let endings = endings.collect::<Result<Vec<_>, _>>()?;
    let numbers: Vec<_> = endings.iter().map(|line| line.number).collect();
    let found = Found {
        numbers: &numbers,
        old_gaps,
        over,
    };
    Ok(FeedPage {
        next: gaps::advance(&cursor, found),
        endings,
        missed: first.get::<_, i64>("missed").cast_unsigned(),
        cursor,
    })
}

/// Finds which transactions are over, and reads lines after that, in one round trip.
async fn look(link: &Link, values: &[&(dyn ToSql + Sync)]) -> Result<(i64, Vec<Row>), StoreError> {
    let live = link.live(Need::Look).await?;
    let looking = async {
        let over: Sent<'_> = Box::pin(live.query(OVER, &[]));
        let lines: Sent<'_> = Box::pin(live.query(READ, values));
        // Each statement sees what was committed before it.
        let looked = live.transaction(vec![over, lines]).await;
        looked.map_err(store_error)
    };
    let mut answers = link.limited(&live, looking).await?.into_iter();
    let over = answers.next().unwrap_or_default();
    let over = over.first().map_or(0, |row| row.get(0));
    Ok((over, answers.next().unwrap_or_default()))
}

fn cursor_of(row: &Row) -> FeedCursor {
    let [first, last, noticed] =
        ["first", "last", "noticed"].map(|column| row.get::<_, Vec<i64>>(column));
    let gaps = first.into_iter().zip(last).zip(noticed);
    let gaps = gaps.map(|((first, last), noticed)| FeedGap {
        first,
        last,
        noticed: Some(noticed),
    });
    FeedCursor {
        number: row.get("cursor"),
        gaps: gaps.collect(),
        version: row.get("version"),
    }
}

fn ending_of(number: i64, row: &Row) -> Result<Ending, StoreError> {
    let task = TaskId(row.get("run_id"));
    let state = State::from_stored(row.get("state"));
    let unreadable = |why| rows::no_value(&why).about(Some(task), Some("retry_feed"));
    Ok(Ending {
        number,
        task,
        workflow: row.get("workflow"),
        queue: row.get("queue"),
        key: row.get("idem_key"),
        state: state.map_err(unreadable)?,
        error: row.get("error"),
        headers: row.get("headers"),
        at: Time::from_micros(row.get("at")),
    })
}

/// Moves a reader, unless it has moved since.
pub(super) async fn move_reader(
    link: &Link,
    reader: &str,
    to: &FeedCursor,
    reported: u64,
) -> Result<bool, StoreError> {
    let of = |value: fn(&FeedGap) -> i64| to.gaps.iter().map(value).collect::<Vec<_>>();
    let (first, last) = (of(|gap| gap.first), of(|gap| gap.last));
    let noticed = of(|gap| gap.noticed.unwrap_or(i64::MAX));
    let reported = reported.cast_signed();
    let values: [&(dyn ToSql + Sync); 7] = [
        &reader,
        &to.version,
        &to.number,
        &first,
        &last,
        &noticed,
        &reported,
    ];
    let moved = link.query(Need::Look, MOVE, &values).await?;
    Ok(!moved.is_empty())
}
