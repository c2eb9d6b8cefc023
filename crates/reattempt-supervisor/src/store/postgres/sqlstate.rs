//! The errors of PostgreSQL as errors of a store, with what to do about them.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;

use crate::store::{StoreError, limits};

/// Errors that may be over soon, by class (two characters) or by code. All others are lasting.
const PASSING: [(&str, &str); 17] = [
    ("08", "the connection to PostgreSQL was lost"),
    ("57P01", "PostgreSQL is shutting down"),
    ("57P02", "PostgreSQL has crashed and is recovering"),
    ("57P03", "PostgreSQL is starting up"),
    ("57P05", "PostgreSQL has closed an idle connection"),
    (
        "53100",
        "PostgreSQL has no disk space left; make room, nothing is lost",
    ),
    ("53200", "PostgreSQL has no memory left"),
    (
        "53300",
        "PostgreSQL has no connection left; raise its `max_connections`",
    ),
    ("53", "PostgreSQL has too few resources"),
    (
        "RS002",
        "a newer connection of this process has taken the place of this one",
    ),
    (
        "25P03",
        "PostgreSQL has ended a transaction that was idle for too long",
    ),
    (
        "25006",
        "the server is read-only; connect to the primary, with `target_session_attrs=read-write` if several hosts are given",
    ),
    (
        "0A000",
        "a prepared statement does not fit any more, because a table has changed",
    ),
    (
        "42P01",
        "a table is missing; connect again, which creates it",
    ),
    (
        "42703",
        "a column is missing; the tables come from another release, or somebody has changed them",
    ),
    ("40001", "PostgreSQL could not serialize the transaction"),
    ("40P01", "PostgreSQL has ended a deadlock"),
];

/// The code of a statement that waited for a lock for too long.
const LOCKED: &str = "55P03";

/// The code of a statement that took too long, or that was cancelled.
const TIMED_OUT: &str = "57014";

/// Errors of a connection to a database that has answered before: the database is being restored or replaced.
const AWAY: [&str; 2] = ["3D000", "55000"];

/// What to do where a pool mixes up the prepared statements of connections.
const POOL: &str = "a pool before PostgreSQL, such as PgBouncer, mixes up prepared statements; use PgBouncer 1.21 or newer with `max_prepared_statements` above 0, or a pool for sessions";

/// Lasting errors that need an explanation.
const LASTING: [(&str, &str); 12] = [
    (
        "28",
        "PostgreSQL refuses this user; check the user, the password and `pg_hba.conf`",
    ),
    (
        "3D000",
        "the database does not exist; create it with `createdb`",
    ),
    (
        "42501",
        "the user has too few rights; grant it rights to the tables `retry_...` and their sequences, and the right to create them in the schema",
    ),
    (
        "RS003",
        "the transaction is not in the database of the store; use a pool with its database and its `search_path`",
    ),
    (
        "42883",
        "the transaction finds no function of the store; use a pool with its database and its `search_path`",
    ),
    (
        "22021",
        "a string has a NUL or is not UTF-8, and PostgreSQL cannot store it",
    ),
    (
        "22P05",
        "a string has a NUL, and PostgreSQL cannot store it",
    ),
    (
        "54000",
        "a key, or the name of a lane or a queue, is too long for an index of PostgreSQL: use one of up to 1,000 bytes, such as a hash",
    ),
    (
        "XX001",
        "the database is damaged; stop its processes and restore it from a backup",
    ),
    ("XX002", "an index is damaged; rebuild it with `REINDEX`"),
    ("42P05", POOL),
    ("26000", POOL),
];

/// Converts the error of a connection to a database that has answered before.
pub(super) fn reconnect_error(error: Error) -> StoreError {
    if error.code().is_some_and(|code| AWAY.contains(&code.code())) {
        return StoreError::passing("the database is away; it was there before")
            .because(error_source(error));
    }
    store_error(error)
}

/// Converts an error of PostgreSQL.
pub(super) fn store_error(error: Error) -> StoreError {
    let table = error.as_db_error().and_then(|error| error.table());
    let table = table.map(str::to_owned);
    without_table(error).about(None, table.as_deref())
}

fn without_table(error: Error) -> StoreError {
    let Some(code) = error.code().map(|code| code.code().to_owned()) else {
        // An error without a code comes from the client: it is about the connection, or about a
        // value.
        let is_io = error
            .source()
            .is_some_and(<dyn std::error::Error>::is::<io::Error>);
        return if error.is_closed() || is_io {
            StoreError::passing("PostgreSQL cannot be reached").because(error_source(error))
        } else {
            StoreError::lasting("PostgreSQL").because(error_source(error))
        };
    };
    error_of_state(&code, error_source(error))
}

/// Converts an error with this SQLSTATE, of any driver.
pub(crate) fn error_of_state(
    code: &str,
    source: Box<dyn std::error::Error + Send + Sync>,
) -> StoreError {
    if code == LOCKED {
        let message = "another transaction holds a lock for too long; commit it, or end it: with `pg_terminate_backend`, or with `ROLLBACK PREPARED` if it stands in `pg_prepared_xacts`";
        return StoreError::locked(message).because(source);
    }
    if code == TIMED_OUT {
        return limits::timed_out().because(source);
    }
    let fits = |(start, _): &&(&str, &str)| code.starts_with(start);
    if let Some((_, message)) = PASSING.iter().find(fits) {
        StoreError::passing(*message).because(source)
    } else {
        let known = LASTING.iter().find(fits);
        let message = known.map_or("PostgreSQL", |(_, message)| message);
        StoreError::lasting(message).because(source)
    }
}

/// Returns the source of an error, which has the details.
fn error_source(error: Error) -> Box<dyn std::error::Error + Send + Sync> {
    if let Some(db_error) = error.as_db_error() {
        return format!(
            "{} (SQLSTATE {})",
            db_error.message(),
            db_error.code().code()
        )
        .into();
    }
    match error.source() {
        Some(source) => format!("{error}: {source}").into(),
        None => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ErrorKind;

    #[test]
    fn a_pool_that_mixes_up_statements_is_named() {
        for code in ["42P05", "26000"] {
            let error = error_of_state(code, "prepared statement \"s1\"".into());
            assert_eq!(error.kind(), ErrorKind::Lasting);
            assert!(error.to_string().contains("PgBouncer 1.21"), "{error}");
        }
    }
}
