//! What the codes of protocols mean, for adapters of your own.
//!
//! The errors of a client library that this crate does not know carry a code that many libraries
//! share. A function from the error to the code, and one of these tables, is a policy's `on`.
//! `http::Statuses` has the statuses of HTTP, with the feature `http`.
//!
//! `docs/services` says why each code has its verdict.
//!
//! # Examples
//!
//! ```
//! use reattempt_core::{Verdict, tables};
//!
//! struct DbError { state: String }
//!
//! fn verdict(error: &DbError) -> Verdict {
//!     tables::sqlstate(&error.state)
//! }
//!
//! let deadlock = DbError { state: "40P01".into() };
//! assert_eq!(verdict(&deadlock), Verdict::Refused);
//! ```
//!
//! In a policy: `#[retry(on = verdict)]`.

#[cfg(feature = "std")]
use std::io::ErrorKind;

use crate::verdict::Verdict;

/// Returns the verdict on a SQLSTATE: five characters, as PostgreSQL and most other databases
/// write them.
///
/// The verdict is on the transaction that failed, or on the statement outside of one. Anything that
/// is not in the table is final.
///
/// MySQL shares some states among many errors; [`mysql`] knows its numbers.
pub fn sqlstate(state: &str) -> Verdict {
    match state {
        // The whole transaction was rolled back: after a conflict, to end a deadlock, by group replication.
        "40000" | "40001" | "40P01"
        // A lock that somebody else holds.
        | "55P03"
        // There was no connection, or none any more when the statement came.
        | "08001" | "08004" | "57P03" | "57P05" => Verdict::Refused,
        // Perhaps after the commit, before the answer.
        "40003" | "57P01" | "57P02" => Verdict::Transient,
        // A limit of the configuration, which the next attempt meets as well.
        "53400" => Verdict::Permanent,
        // 08P01 too: a driver at fault, but also whatever `PgBouncer` has to say.
        _ if state.len() == 5 && state.starts_with("08") => Verdict::Transient,
        _ if state.len() == 5 && state.starts_with("53") => Verdict::Throttled(None),
        _ => Verdict::Permanent,
    }
}

/// Returns the verdict on an error of MySQL or MariaDB: by its number where that says more than the
/// SQLSTATE, else as [`sqlstate`] does.
pub fn mysql(number: u16, state: &str) -> Verdict {
    match number {
        // Too many connections: in all, of this user.
        1040 | 1203 => Verdict::Throttled(None),
        // A lock that somebody else holds: after waiting, with `NOWAIT`.
        1205 | 3572 => Verdict::Refused,
        _ => sqlstate(state),
    }
}

/// Returns the verdict on a result code of SQLite, primary or extended.
///
/// A lock that another connection or statement holds is refused; anything else is final.
pub const fn sqlite(code: i32) -> Verdict {
    const BUSY: i32 = 5;
    const LOCKED: i32 = 6;
    // WAL: others were faster at starting a transaction, again and again.
    const PROTOCOL: i32 = 15;
    match code & 0xff {
        BUSY | LOCKED | PROTOCOL if code > 0 => Verdict::Refused,
        _ => Verdict::Permanent,
    }
}

/// Returns the verdict on a code of gRPC, as `tonic::Code` and others number them: 0 to 16.
///
/// | code | verdict |
/// |---|---|
/// | 4 `DEADLINE_EXCEEDED`, 10 `ABORTED`, 14 `UNAVAILABLE` | transient |
/// | 8 `RESOURCE_EXHAUSTED` | throttled |
/// | any other | permanent |
pub const fn grpc(code: i32) -> Verdict {
    const DEADLINE_EXCEEDED: i32 = 4;
    const RESOURCE_EXHAUSTED: i32 = 8;
    const ABORTED: i32 = 10;
    const UNAVAILABLE: i32 = 14;
    match code {
        UNAVAILABLE | DEADLINE_EXCEEDED | ABORTED => Verdict::Transient,
        RESOURCE_EXHAUSTED => Verdict::Throttled(None),
        _ => Verdict::Permanent,
    }
}

/// Returns the verdict on a kind of `std::io::Error`.
///
/// What a lost connection or an interrupted call can cause is transient, `WouldBlock` and
/// `UnexpectedEof` among them; a refused connection executed nothing; anything else is final.
///
/// `Classify` for `std::io::Error` says the same, and knows an unknown host, which has no kind.
#[cfg(feature = "std")]
pub const fn io(kind: ErrorKind) -> Verdict {
    match kind {
        ErrorKind::ConnectionRefused => Verdict::Refused,
        // Also said of a connection that stood and broke in the middle.
        ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::NotConnected
        | ErrorKind::BrokenPipe
        | ErrorKind::NetworkDown
        | ErrorKind::TimedOut
        | ErrorKind::Interrupted
        | ErrorKind::WouldBlock
        | ErrorKind::UnexpectedEof
        | ErrorKind::ResourceBusy => Verdict::Transient,
        _ => Verdict::Permanent,
    }
}

/// Returns whether an answer did not come in time. A socket with a time-out says `WouldBlock` on Unix.
#[cfg(feature = "std")]
pub(crate) const fn is_late(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::TimedOut | ErrorKind::WouldBlock)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::io;

    use super::*;
    use crate::verdict::Classify;

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

    /// Extended result codes of SQLite.
    const RESULTS: &[(Verdict, &str, &[i32])] = &[
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
    fn states() {
        for (verdict, states) in STATES {
            for state in states.split(' ') {
                assert_eq!(sqlstate(state), *verdict, "{state}");
            }
        }
        for broken in ["", "08", "0800", "080000", "5330", "40001 "] {
            assert_eq!(sqlstate(broken), Verdict::Permanent, "{broken:?}");
        }
    }

    /// A state that is in no list goes by its class, and two of the classes are retried.
    #[test]
    fn classes_of_states() {
        let letters = || ('0'..='9').chain('A'..='Z');
        for class in letters().flat_map(|a| letters().map(move |b| format!("{a}{b}"))) {
            let verdict = match class.as_str() {
                "08" => Verdict::Transient,
                "53" => OVERLOADED,
                _ => Verdict::Permanent,
            };
            assert_eq!(sqlstate(&format!("{class}ZZZ")), verdict, "{class}");
        }
    }

    #[test]
    fn numbers_of_mysql() {
        for (number, state, verdict) in [
            (1040, "08004", OVERLOADED),
            (1203, "42000", OVERLOADED),
            (1205, "HY000", Verdict::Refused),
            (3572, "HY000", Verdict::Refused),
            (1213, "40001", Verdict::Refused),
            (3101, "40000", Verdict::Refused),
            (1251, "08004", Verdict::Refused),
            (1053, "08S01", Verdict::Transient),
            (1064, "42000", Verdict::Permanent),
            (1226, "42000", Verdict::Permanent),
            (1180, "HY000", Verdict::Permanent),
            (1062, "23000", Verdict::Permanent),
            (1317, "70100", Verdict::Permanent),
        ] {
            assert_eq!(mysql(number, state), verdict, "{number} ({state})");
        }
    }

    #[test]
    fn results_of_sqlite() {
        for (verdict, names, codes) in RESULTS {
            for code in *codes {
                assert_eq!(sqlite(*code), *verdict, "{names} {code}");
            }
        }
        for code in [0, -5, -251, 123_456, i32::MIN, i32::MAX] {
            assert_eq!(sqlite(code), Verdict::Permanent, "{code}");
        }
    }

    #[test]
    fn codes_of_grpc() {
        for code in -1..=17 {
            let verdict = match code {
                4 | 10 | 14 => Verdict::Transient,
                8 => OVERLOADED,
                _ => Verdict::Permanent,
            };
            assert_eq!(grpc(code), verdict, "{code}");
        }
    }

    /// The table, and the errors that have nothing but a kind.
    fn kind(kind: ErrorKind) -> Verdict {
        assert_eq!(io::Error::from(kind).classify(), io(kind), "{kind}");
        io(kind)
    }

    #[test]
    fn kinds_of_io() {
        for (verdict, kinds) in [
            (Verdict::Refused, &[ErrorKind::ConnectionRefused][..]),
            (
                Verdict::Transient,
                &[
                    ErrorKind::HostUnreachable,
                    ErrorKind::NetworkUnreachable,
                    ErrorKind::ConnectionReset,
                    ErrorKind::ConnectionAborted,
                    ErrorKind::NotConnected,
                    ErrorKind::BrokenPipe,
                    ErrorKind::NetworkDown,
                    ErrorKind::TimedOut,
                    ErrorKind::Interrupted,
                    ErrorKind::ResourceBusy,
                ],
            ),
            (
                Verdict::Permanent,
                &[
                    ErrorKind::NotFound,
                    ErrorKind::PermissionDenied,
                    ErrorKind::AddrInUse,
                    ErrorKind::AddrNotAvailable,
                    ErrorKind::AlreadyExists,
                    ErrorKind::InvalidInput,
                    ErrorKind::InvalidData,
                    ErrorKind::WriteZero,
                    ErrorKind::StorageFull,
                    ErrorKind::Unsupported,
                    ErrorKind::OutOfMemory,
                    ErrorKind::Other,
                ],
            ),
        ] {
            for each in kinds {
                assert_eq!(kind(*each), verdict, "{each}");
            }
        }
    }

    /// A socket with a time-out says so instead of `TimedOut` on Unix.
    #[test]
    fn would_block_is_transient() {
        assert_eq!(kind(ErrorKind::WouldBlock), Verdict::Transient);
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("there is a free port");
        socket.set_nonblocking(true).expect("a socket takes it");
        let error = socket.recv(&mut [0]).expect_err("there is nothing to read");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert_eq!(error.classify(), Verdict::Transient);
    }

    /// The other side hung up in the middle: perhaps it has executed the request.
    #[test]
    fn unexpected_eof_is_transient() {
        assert_eq!(kind(ErrorKind::UnexpectedEof), Verdict::Transient);
        let error =
            io::Read::read_exact(&mut &b"ab"[..], &mut [0; 3]).expect_err("a byte is missing");
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        assert_eq!(error.classify(), Verdict::Transient);
    }
}
