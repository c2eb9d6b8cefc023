//! What PostgreSQL says, and what to do about it.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;

use crate::store::StoreError;

/// By class first, then by code; others last until somebody mends them.
const PASSING: [(&str, &str); 12] = [
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
    ("53", "PostgreSQL has too little of something"),
    ("40001", "PostgreSQL wants the transaction again"),
    ("40P01", "PostgreSQL has ended a deadlock"),
    (
        "55P03",
        "another transaction holds a lock for too long; commit it, or end it with `pg_terminate_backend`",
    ),
];

const LASTING: [(&str, &str); 9] = [
    (
        "28",
        "PostgreSQL does not let this user in; see the user, the password and `pg_hba.conf`",
    ),
    (
        "3D000",
        "the database does not exist; make it with `createdb`",
    ),
    (
        "42501",
        "the user may not do this; grant it the rights to the tables `retry_...` and their sequences, and for their creation that to create in the schema",
    ),
    ("42P01", "a table is missing; connect again, which makes it"),
    (
        "42703",
        "a column is missing; the tables are of another release, or somebody changed them",
    ),
    (
        "25006",
        "the server is read-only; connect to the primary, with `target_session_attrs=read-write` if several hosts are given",
    ),
    (
        "22021",
        "a text has a NUL or is not UTF-8, which PostgreSQL does not keep",
    ),
    (
        "XX001",
        "the database is damaged; stop its processes and restore it from a backup",
    ),
    ("XX002", "an index is damaged; rebuild it with `REINDEX`"),
];

pub(super) fn trouble(error: Error) -> StoreError {
    let Some(code) = error.code().map(|code| code.code().to_owned()) else {
        let is_io = error
            .source()
            .is_some_and(<dyn std::error::Error>::is::<io::Error>);
        return if error.is_closed() || is_io {
            StoreError::passing("PostgreSQL cannot be reached").because(told(error))
        } else {
            StoreError::lasting("PostgreSQL").because(told(error))
        };
    };
    let fits = |(start, _): &&(&str, &str)| code.starts_with(start);
    if let Some((_, message)) = PASSING.iter().find(fits) {
        StoreError::passing(*message).because(told(error))
    } else {
        let known = LASTING.iter().find(fits);
        let message = known.map_or("PostgreSQL", |(_, message)| message);
        StoreError::lasting(message).because(told(error))
    }
}

/// The error of the library says no more than that there was one; its source says which.
fn told(error: Error) -> Box<dyn std::error::Error + Send + Sync> {
    if let Some(said) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", said.message(), said.code().code()).into();
    }
    match error.source() {
        Some(source) => format!("{error}: {source}").into(),
        None => error.into(),
    }
}
