//! What the errors of diesel mean: by kind, and by the text of the database where diesel has no kind.

use core::fmt;

use diesel2::ConnectionError;
use diesel2::result::{DatabaseErrorKind, Error};

use crate::failure::GaveUp;
use crate::verdict::{Classify, Verdict};

/// How databases begin to say that the transaction lost against another one: they rolled it back, or the statement.
const LOST: [&str; 8] = [
    // PostgreSQL: 40P01, 55P03 twice.
    "deadlock detected",
    "could not obtain lock on",
    "canceling statement due to lock timeout",
    // MySQL and MariaDB: 1213, 1205, 3572.
    "Deadlock found when trying to get lock",
    "Lock wait timeout exceeded",
    "Statement aborted because lock(s) could not be acquired immediately",
    // SQLite: `BUSY`, `LOCKED`.
    "database is locked",
    "database table is locked",
];

/// How they say that the connection broke: libpq's, then those of MySQL and MariaDB.
const BROKE: [&str; 8] = [
    "server closed the connection unexpectedly",
    "no connection to the server",
    "could not receive data from server",
    "could not send data to server",
    "SSL connection has been closed unexpectedly",
    "SSL SYSCALL error",
    "MySQL server has gone away",
    "Lost connection to",
];

/// What a server says while a client connects that the next client hears as well; libpq writes the address in front.
const TURNED_AWAY: [&str; 5] = [
    "password authentication failed",
    "no pg_hba.conf entry",
    "does not exist",
    "Access denied",
    "Unknown database",
];

/// diesel 2: after a serialization failure the transaction is rolled back, so nothing ran. Of a deadlock, a lock or a broken
/// connection it has only the text of the database, which a procedure may write as well: the operation may have run. The
/// verdict is about the failed transaction, or about a statement outside of one.
#[diagnostic::do_not_recommend]
impl Classify for Error {
    fn classify(&self) -> Verdict {
        match self {
            Self::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => Verdict::Refused,
            Self::DatabaseError(DatabaseErrorKind::ClosedConnection, _) => Verdict::Transient,
            Self::DatabaseError(
                DatabaseErrorKind::Unknown | DatabaseErrorKind::UnableToSendCommand,
                said,
            ) => of_text(said.message()),
            // Whether the commit ran is the question.
            Self::RollbackErrorOnCommit { commit_error, .. } => commit_error.classify(),
            Self::QueryBuilderError(error) => match error.downcast_ref::<GaveUp>() {
                Some(end) => end.classify(),
                None => Verdict::Permanent,
            },
            _ => Verdict::Permanent,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}

/// A text proves nothing.
fn of_text(text: &str) -> Verdict {
    let mut known = LOST.iter().chain(&BROKE);
    known.any(|beginning| text.starts_with(beginning)).into()
}

/// diesel 2: without a connection nothing ran. A permanent refusal of the server, by its text, is final.
#[diagnostic::do_not_recommend]
impl Classify for ConnectionError {
    fn classify(&self) -> Verdict {
        match self {
            Self::BadConnection(text) if TURNED_AWAY.iter().any(|said| text.contains(said)) => {
                Verdict::Permanent
            }
            Self::BadConnection(_) => Verdict::Refused,
            Self::CouldntSetupConfiguration(error) => error.classify(),
            _ => Verdict::Permanent,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(kind: DatabaseErrorKind, text: &str) -> Error {
        Error::DatabaseError(kind, Box::new(text.to_owned()))
    }

    #[test]
    fn every_kind() {
        use DatabaseErrorKind as Kind;
        let boxed = || Box::new(fmt::Error);
        for (error, verdict) in [
            (said(Kind::SerializationFailure, "a text"), Verdict::Refused),
            (said(Kind::ClosedConnection, "a text"), Verdict::Transient),
            (
                said(Kind::UniqueViolation, "deadlock detected"),
                Verdict::Permanent,
            ),
            (
                said(Kind::ReadOnlyTransaction, "a text"),
                Verdict::Permanent,
            ),
            (said(Kind::Unknown, "a text"), Verdict::Permanent),
            (
                said(Kind::Unknown, "division by zero: deadlock detected"),
                Verdict::Permanent,
            ),
            (
                said(Kind::UnableToSendCommand, "no connection to the server\n"),
                Verdict::Transient,
            ),
            (
                said(Kind::UnableToSendCommand, "number of parameters must be"),
                Verdict::Permanent,
            ),
            (Error::QueryBuilderError(boxed()), Verdict::Permanent),
            (Error::NotFound, Verdict::Permanent),
            (Error::BrokenTransactionManager, Verdict::Permanent),
            (
                Error::RollbackErrorOnCommit {
                    rollback_error: Box::new(Error::NotFound),
                    commit_error: Box::new(said(Kind::ClosedConnection, "a text")),
                },
                Verdict::Transient,
            ),
        ] {
            assert_eq!(error.classify(), verdict, "{error:?}");
        }
        for text in LOST.into_iter().chain(BROKE) {
            let verdict = said(Kind::Unknown, text).classify();
            assert_eq!(verdict, Verdict::Transient, "{text}");
        }
    }

    #[test]
    fn connecting() {
        let failed = |text: &str| {
            let text = format!("connection to server at \"db\", port 5432 failed: {text}");
            ConnectionError::BadConnection(text).classify()
        };
        assert_eq!(failed("Connection refused"), Verdict::Refused);
        assert_eq!(
            failed("FATAL:  the database system is starting up"),
            Verdict::Refused
        );
        for text in TURNED_AWAY {
            assert_eq!(failed(text), Verdict::Permanent, "{text}");
        }
        let url = ConnectionError::InvalidConnectionUrl("Connection refused".to_owned());
        assert_eq!(url.classify(), Verdict::Permanent);
        let setup = said(DatabaseErrorKind::ClosedConnection, "a text");
        let setup = ConnectionError::CouldntSetupConfiguration(setup);
        assert_eq!(setup.classify(), Verdict::Transient);
    }
}
