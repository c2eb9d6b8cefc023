//! What the errors of sqlx mean: by SQLSTATE (PostgreSQL, MySQL), by result code (SQLite), by number
//! where MySQL has no state of its own, and by where sqlx makes them. A verdict is on the transaction
//! that failed, or the statement outside of one: not on what its caller has committed before.

use core::fmt;

use super::chain::before_sending;
use crate::said::said;
use crate::tables::{mysql, sqlite, sqlstate};
use crate::verdict::{Classify, Verdict};

macro_rules! of_version {
    ($sqlx:ident, $version:literal) => {
        #[doc = concat!("sqlx ", $version, ": ")]
        /// the code decides if the database answered, else the step that failed: taking a connection,
        /// sending, or reading the answer.
        #[diagnostic::do_not_recommend]
        impl Classify for $sqlx::Error {
            fn classify(&self) -> Verdict {
                match self {
                    Self::Database(error) => of_database(error.code().as_deref(), || said(error)),
                    Self::Io(error) => error.classify(),
                    Self::Tls(error) => before_sending(error.as_ref()),
                    // No connection, so nothing was sent.
                    Self::PoolTimedOut => Verdict::Refused,
                    // SQLite's thread is gone, before the command or in the middle of it.
                    Self::WorkerCrashed => Verdict::Transient,
                    // Mistakes of the caller, answers that sqlx does not understand, and a closed pool.
                    _ => Verdict::Permanent,
                }
            }

            fn message(&self) -> Option<&dyn fmt::Display> {
                Some(self)
            }

            fn has_code(&self, code: &str) -> bool {
                match self {
                    Self::Database(error) => error.code().as_deref() == Some(code),
                    Self::Io(error) => error.has_code(code),
                    _ => false,
                }
            }
        }
    };
}

#[cfg(feature = "sqlx08")]
of_version!(sqlx08, "0.8");
#[cfg(feature = "sqlx09")]
of_version!(sqlx09, "0.9");

/// A SQLSTATE has five characters; the result codes of SQLite are shorter numbers.
fn of_database(code: Option<&str>, text: impl Fn() -> String) -> Verdict {
    match code {
        // MySQL says these of many things.
        Some(state @ ("08004" | "42000" | "HY000")) => match mysql_number(state, &text()) {
            Some(number) => mysql(number, state),
            None => sqlstate(state),
        },
        Some(state) if state.len() == 5 => sqlstate(state),
        Some(code) => code.parse().map_or(Verdict::Permanent, sqlite),
        None => Verdict::Permanent,
    }
}

/// The number in `1205 (HY000): Lock wait timeout exceeded`. sqlx gives it only to those who compile
/// its MySQL part; the text begins with it.
// So writes `impl Display for MySqlDatabaseError`, src/error.rs of sqlx-mysql 0.8.6 and 0.9.0.
fn mysql_number(state: &str, text: &str) -> Option<u16> {
    let (number, rest) = text.split_once(" (")?;
    rest.strip_prefix(state)?.strip_prefix("): ")?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::error::Error;
    use std::fmt;
    use std::io::{self, ErrorKind};

    use super::*;

    const OVERLOADED: Verdict = Verdict::Throttled(None);

    /// Errors of MySQL and MariaDB as sqlx shows them: the state stands in brackets.
    const MYSQL: &[(Verdict, &str)] = &[
        (OVERLOADED, "1040 (08004): Too many connections"),
        (Verdict::Refused, "1251 (08004): Client does not support"),
        (OVERLOADED, "1203 (42000): User a already has more than"),
        (Verdict::Permanent, "1226 (42000): User 'a' has exceeded"),
        (Verdict::Permanent, "1064 (42000): You have an error in"),
        (Verdict::Refused, "1205 (HY000): Lock wait timeout exceeded"),
        (Verdict::Refused, "3572 (HY000): Statement aborted because"),
        (Verdict::Permanent, "1180 (HY000): Got error 149 during"),
        (Verdict::Permanent, "x (HY000): no number"),
        (Verdict::Permanent, "12051205 (HY000): no number"),
        (Verdict::Refused, "1213 (40001): Deadlock found when trying"),
        (Verdict::Refused, "3101 (40000): Plugin instructed the"),
        (
            Verdict::Transient,
            "1053 (08S01): Server shutdown in progress",
        ),
        (Verdict::Permanent, "1317 (70100): Query execution was"),
        (Verdict::Permanent, "1062 (23000): Duplicate entry"),
    ];

    #[test]
    fn by_number() {
        for (verdict, text) in MYSQL {
            let state = text.split(['(', ')']).nth(1);
            assert_eq!(
                of_database(state, || (*text).to_owned()),
                *verdict,
                "{text}"
            );
        }
        // Of another state, or of none.
        for text in [
            "1205 (42000): Lock",
            "1205: Lock",
            "1205 (HY000)",
            "1205",
            "",
        ] {
            let said = of_database(Some("HY000"), || text.to_owned());
            assert_eq!(said, Verdict::Permanent, "{text}");
        }
    }

    #[test]
    fn by_code() {
        let text = || "1205 (57014): a text".to_owned();
        for (code, verdict) in [
            ("40001", Verdict::Refused),
            ("57014", Verdict::Permanent),
            ("53300", OVERLOADED),
            ("517", Verdict::Refused),
            ("19", Verdict::Permanent),
            ("", Verdict::Permanent),
            ("-5", Verdict::Permanent),
            ("5x", Verdict::Permanent),
        ] {
            assert_eq!(of_database(Some(code), text), verdict, "{code}");
        }
        assert_eq!(of_database(None, text), Verdict::Permanent);
    }

    /// What a database answers: a code and a text.
    #[derive(Debug)]
    struct Answer(&'static str, &'static str);

    impl fmt::Display for Answer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.1)
        }
    }

    impl Error for Answer {}

    /// The error of a TLS library.
    #[derive(Debug)]
    struct Handshake(io::Error);

    impl fmt::Display for Handshake {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the handshake failed")
        }
    }

    impl Error for Handshake {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    macro_rules! of_every_version {
        ($($feature:literal $version:ident)*) => {$(
            #[cfg(feature = $feature)]
            mod $version {
                use ::$version::Error as Sqlx;
                use ::$version::error::{DatabaseError, ErrorKind as Violation};

                use super::*;

                impl DatabaseError for Answer {
                    fn message(&self) -> &str {
                        self.1
                    }

                    fn code(&self) -> Option<Cow<'_, str>> {
                        Some(Cow::Borrowed(self.0))
                    }

                    fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
                        self
                    }

                    fn as_error_mut(&mut self) -> &mut (dyn Error + Send + Sync + 'static) {
                        self
                    }

                    fn into_error(self: Box<Self>) -> Box<dyn Error + Send + Sync + 'static> {
                        self
                    }

                    fn kind(&self) -> Violation {
                        Violation::Other
                    }
                }

                fn tls(kind: ErrorKind) -> Sqlx {
                    Sqlx::Tls(Box::new(Handshake(kind.into())))
                }

                #[test]
                fn every_variant() {
                    let text = "1205 (HY000): Lock wait timeout exceeded";
                    for (error, verdict) in [
                        (Answer("HY000", text).into(), Verdict::Refused),
                        (Answer("HY000", "Lock wait timeout").into(), Verdict::Permanent),
                        (Answer("57P01", "").into(), Verdict::Transient),
                        (Answer("517", "(code: 517)").into(), Verdict::Refused),
                        (Sqlx::Io(ErrorKind::ConnectionRefused.into()), Verdict::Refused),
                        (Sqlx::Io(ErrorKind::UnexpectedEof.into()), Verdict::Transient),
                        (Sqlx::Io(ErrorKind::PermissionDenied.into()), Verdict::Permanent),
                        (tls(ErrorKind::ConnectionReset), Verdict::Refused),
                        (tls(ErrorKind::InvalidData), Verdict::Permanent),
                        (Sqlx::Tls("no TLS".into()), Verdict::Permanent),
                        (Sqlx::PoolTimedOut, Verdict::Refused),
                        (Sqlx::WorkerCrashed, Verdict::Transient),
                        (Sqlx::PoolClosed, Verdict::Permanent),
                        (Sqlx::Protocol(String::new()), Verdict::Permanent),
                        (Sqlx::RowNotFound, Verdict::Permanent),
                        (Sqlx::BeginFailed, Verdict::Permanent),
                        (Sqlx::InvalidSavePointStatement, Verdict::Permanent),
                        (Sqlx::Configuration("".into()), Verdict::Permanent),
                        (Sqlx::Encode("".into()), Verdict::Permanent),
                        (Sqlx::Decode("".into()), Verdict::Permanent),
                    ] {
                        assert_eq!(error.classify(), verdict, "{error:?}");
                    }
                }
            }
        )*};
    }

    of_every_version!("sqlx08" sqlx08 "sqlx09" sqlx09);
}
