//! Limits of lanes. The functions of the database keep them.

use std::collections::BTreeMap;

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::connection::Live;
use super::sql::now;
use crate::store::{TaskLimit, WriteResult};
use crate::time::Time;

/// Sets the limit of lanes, and gives turns to those that may have one.
pub(super) const STORE: &str =
    "SELECT retry_limit_lanes($1::text, $2::bigint, $3::bigint, $4::bigint)";

/// Gives the next turns of lanes of which tasks have begun. Returns how many, and the time.
// After the claim and not in it: there the transaction may have locked other lanes already.
pub(super) const OPEN: &str = concat!("SELECT retry_open_lanes($1::text[]), ", now!());

pub(super) const ALL: &str = "SELECT pattern, concurrency, tasks, period FROM retry_lane_limit";

/// Sends the limit of lanes.
pub(super) async fn send(live: &Live, pattern: &str, limit: TaskLimit) -> Result<Vec<Row>, Error> {
    let [concurrency, tasks, period] = limit.to_columns();
    let values: [&(dyn ToSql + Sync); 4] = [&pattern, &concurrency, &tasks, &period];
    live.query(STORE, &values).await
}

/// Converts the rows of [`ALL`].
pub(super) fn of_rows(rows: &[Row]) -> BTreeMap<String, TaskLimit> {
    let limit = |row: &Row| TaskLimit::from_columns([row.get(1), row.get(2), row.get(3)]);
    rows.iter().map(|row| (row.get(0), limit(row))).collect()
}

/// Returns when the turns of [`OPEN`] were given, if there are any.
pub(super) fn given_at(rows: &[Row]) -> Option<Time> {
    let row = rows.first().filter(|row| row.get::<_, i64>(0) > 0)?;
    Some(Time::from_micros(row.get(1)))
}

/// Returns the lanes of tasks that were claimed.
pub(super) fn of_claims(results: &[WriteResult]) -> Vec<&str> {
    let claimed = results.iter().filter_map(|result| match result {
        WriteResult::Claimed(claimed, _) => Some(claimed),
        _ => None,
    });
    let lanes = claimed.flatten().filter_map(|one| one.task.lane.as_deref());
    lanes.collect()
}
