//! What the errors of sqlx mean: by SQLSTATE (PostgreSQL, MySQL), by result code (SQLite), by number
//! where MySQL has no state of its own, and by where sqlx makes them. A verdict is on the transaction
//! that failed, or the statement outside of one: not on what its caller has committed before.

use core::fmt;

use super::chain::in_chain;
use crate::said::said;
use crate::verdict::{Classify, Verdict};

macro_rules! of_version {
    ($sqlx:ident) => {
        /// By code, if the database answered; else by what sqlx was doing: taking a connection, sending,
        /// or reading the answer.
        #[diagnostic::do_not_recommend]
        impl Classify for $sqlx::Error {
            fn classify(&self) -> Verdict {
                match self {
                    Self::Database(error) => of_database(error.code().as_deref(), || said(error)),
                    Self::Io(error) => error.classify(),
                    Self::Tls(error) => match in_chain(error.as_ref()) {
                        // Before the handshake is done nothing else is sent.
                        Some(verdict) if verdict.is_retryable() => Verdict::Refused,
                        _ => Verdict::Permanent,
                    },
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
        }
    };
}

#[cfg(feature = "sqlx08")]
of_version!(sqlx08);
#[cfg(feature = "sqlx09")]
of_version!(sqlx09);

/// A SQLSTATE has five characters; the result codes of SQLite are shorter numbers.
fn of_database(code: Option<&str>, text: impl Fn() -> String) -> Verdict {
    match code {
        Some(state) if state.len() == 5 => of_state(state, text),
        Some(code) => code.parse().map_or(Verdict::Permanent, of_sqlite),
        None => Verdict::Permanent,
    }
}

/// Of a SQLSTATE; `docs/services/databases.md` says why of each.
fn of_state(state: &str, text: impl Fn() -> String) -> Verdict {
    match state {
        // The whole transaction was rolled back: after a conflict, to end a deadlock, by group replication.
        "40000" | "40001" | "40P01"
        // A lock that somebody else holds.
        | "55P03"
        // There was no connection, or none any more when the statement came.
        | "08001" | "57P03" | "57P05" => Verdict::Refused,
        // Perhaps after the commit, before the answer.
        "40003" | "57P01" | "57P02" => Verdict::Transient,
        // A limit of the configuration, which the next attempt meets as well.
        "53400" => Verdict::Permanent,
        // MySQL says these of many things.
        "08004" => of_mysql(state, &text()).unwrap_or(Verdict::Refused),
        "42000" | "HY000" => of_mysql(state, &text()).unwrap_or(Verdict::Permanent),
        // 08P01 too: a driver at fault, but also whatever `PgBouncer` has to say.
        _ if state.starts_with("08") => Verdict::Transient,
        _ if state.starts_with("53") => Verdict::Throttled(None),
        _ => Verdict::Permanent,
    }
}

/// Of an error of MySQL or MariaDB whose number tells more than its state.
fn of_mysql(state: &str, text: &str) -> Option<Verdict> {
    match mysql_number(state, text)? {
        // Too many connections: in all, of this user.
        1040 | 1203 => Some(Verdict::Throttled(None)),
        // A lock that somebody else holds: after waiting, with `NOWAIT`.
        1205 | 3572 => Some(Verdict::Refused),
        _ => None,
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

/// Of an extended result code; the primary one is its low byte.
fn of_sqlite(code: u32) -> Verdict {
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    // WAL: others were faster at starting a transaction, again and again.
    const PROTOCOL: u32 = 15;
    match code & 0xff {
        BUSY | LOCKED | PROTOCOL => Verdict::Refused,
        _ => Verdict::Permanent,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::error::Error;
    use std::fmt;
    use std::io::{self, ErrorKind};

    use super::*;

    const OVERLOADED: Verdict = Verdict::Throttled(None);

    /// The states of PostgreSQL.
    const STATES: &[(Verdict, &str)] = &[
        (Verdict::Refused, "40000 40001 40P01 55P03"),
        (Verdict::Refused, "08001 08004 57P03 57P05"),
        (Verdict::Transient, "40003 57P01 57P02"),
        (Verdict::Transient, "08000 08003 08006 08007 08P01"),
        (OVERLOADED, "53000 53100 53200 53300"),
        (Verdict::Permanent, "53400 40002 57000 57014 57P04"),
        (Verdict::Permanent, "22012 23505 23P01 25006 25P02 25P03"),
        (Verdict::Permanent, "25P04 28P01 42000 42P01 55000 55006"),
        (Verdict::Permanent, "58030 XX000 HY000 00000"),
    ];

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

    /// Extended result codes of SQLite.
    const RESULTS: &[(Verdict, &str, &[u32])] = &[
        (Verdict::Refused, "BUSY", &[5, 261, 517, 773]),
        (Verdict::Refused, "LOCKED", &[6, 262, 518]),
        (Verdict::Refused, "PROTOCOL", &[15]),
        (Verdict::Permanent, "IOERR", &[10, 266, 3850, 8714]),
        (Verdict::Permanent, "CONSTRAINT", &[19, 787, 1555, 2067]),
        (Verdict::Permanent, "READONLY", &[8, 264, 1032]),
        (
            Verdict::Permanent,
            "ERROR, INTERNAL, PERM, ABORT",
            &[1, 2, 3, 4],
        ),
        (Verdict::Permanent, "NOMEM, INTERRUPT, CORRUPT", &[7, 9, 11]),
        (
            Verdict::Permanent,
            "FULL, CANTOPEN, SCHEMA, MISUSE",
            &[13, 14, 17, 21],
        ),
    ];

    #[test]
    fn by_state() {
        for (verdict, states) in STATES {
            for state in states.split(' ') {
                let said = of_database(Some(state), || "1205 (57014): a text".to_owned());
                assert_eq!(said, *verdict, "{state}");
            }
        }
    }

    /// A state that is in no list goes by its class, and two of the classes are retried.
    #[test]
    fn by_class() {
        let letters = || ('0'..='9').chain('A'..='Z');
        for class in letters().flat_map(|a| letters().map(move |b| format!("{a}{b}"))) {
            let verdict = match class.as_str() {
                "08" => Verdict::Transient,
                "53" => OVERLOADED,
                _ => Verdict::Permanent,
            };
            let said = of_database(Some(&format!("{class}ZZZ")), String::new);
            assert_eq!(said, verdict, "{class}");
        }
    }

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
    fn by_result_code() {
        for (verdict, names, codes) in RESULTS {
            for code in *codes {
                let said = of_database(Some(&code.to_string()), String::new);
                assert_eq!(said, *verdict, "{names} {code}");
            }
        }
        for code in [None, Some(""), Some("-5"), Some("5x"), Some("123456")] {
            let said = of_database(code, || "1205 (HY000): Lock wait timeout".to_owned());
            assert_eq!(said, Verdict::Permanent, "{code:?}");
        }
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
