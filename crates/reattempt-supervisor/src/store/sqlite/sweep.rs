//! Tasks whose owner or whose time is gone.

use rusqlite::{Connection, TransactionBehavior, params};

use super::{one, read};
use crate::store::{Fate, Sweep, Swept, expired};
use crate::time::Time;

/// Each by an index of its own; ?1 is now, ?2 how many.
const EXPIRED: [&str; 3] = [
    "state = 1 AND NOT EXISTS (SELECT 1 FROM retry_worker WHERE retry_worker.id = retry_run.owner AND lease_until > ?1)",
    "state = 1 AND step_by < ?1",
    "state IN (0, 1, 2) AND direction = 0 AND complete_by IS NOT NULL AND complete_by < ?1",
];

/// Leases that are longer than they can be: the clock was set back since.
const AHEAD: &str = "SELECT 1 FROM retry_worker WHERE (lease_until - ?1) / 2 > lease LIMIT 1";

pub(super) fn is_worth(connection: &mut Connection) -> rusqlite::Result<bool> {
    let now = Time::of_this_machine().as_micros();
    if one(connection, AHEAD, [now], |_| Ok(()))?.is_some() {
        return Ok(true);
    }
    for condition in EXPIRED {
        let sql = format!("SELECT 1 FROM retry_run WHERE {condition} LIMIT 1");
        if one(connection, &sql, [now], |_| Ok(()))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn all(connection: &mut Connection, sweep: &Sweep) -> rusqlite::Result<Vec<Swept>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let now = Time::of_this_machine();
    // Who lives renews its lease; who does not would be waited for as long as the clock was set back.
    let sql =
        "UPDATE retry_worker SET lease_until = ?1 + lease WHERE (lease_until - ?1) / 2 > lease";
    transaction
        .prepare_cached(sql)?
        .execute([now.as_micros()])?;
    let mut swept = Vec::new();
    let limit = usize::try_from(sweep.limit).unwrap_or(usize::MAX);
    for condition in EXPIRED {
        let left = i64::try_from(limit.saturating_sub(swept.len())).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT {} FROM retry_run WHERE {condition} LIMIT ?2",
            read::COLUMNS
        );
        let mut rows = transaction.prepare_cached(&sql)?;
        let runs = rows.query_map([now.as_micros(), left], read::run_of)?;
        for run in runs.collect::<rusqlite::Result<Vec<_>>>()? {
            let owner = run.owner.as_ref().map(|owner| &owner.0);
            let sql = "SELECT 1 FROM retry_worker WHERE id = ?1 AND lease_until > ?2";
            let lives = one(&transaction, sql, params![owner, now.as_micros()], |_| {
                Ok(())
            })?;
            let Some(expired) = expired(&run, now, |_| lives.is_some()) else {
                continue;
            };
            let fate = Fate::of_expired(&run, expired, &sweep.delays, rand::random());
            let sql = "UPDATE retry_run SET state = ?2, direction = ?3, failures = ?4, wake_at = ?5, error = ?6, owner = NULL, step_by = NULL,
                     fence = fence + 1, updated_at = ?7 WHERE id = ?1";
            let values = params![
                run.id.0,
                fate.state.number(),
                fate.direction.number(),
                fate.failures,
                now.after(fate.delay).as_micros(),
                expired.message(),
                now.as_micros(),
            ];
            transaction.prepare_cached(sql)?.execute(values)?;
            swept.push(Swept::new(&run, expired, fate));
        }
    }
    // Workers that nobody will hear of again.
    let sql = "DELETE FROM retry_worker WHERE lease_until < ?1 AND NOT EXISTS (SELECT 1 FROM retry_run WHERE owner = retry_worker.id AND state = 1)";
    transaction
        .prepare_cached(sql)?
        .execute([now.as_micros().saturating_sub(3_600_000_000)])?;
    transaction.commit()?;
    Ok(swept)
}
