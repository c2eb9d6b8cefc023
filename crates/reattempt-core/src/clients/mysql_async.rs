//! What the errors of `mysql_async` mean: by the server's number and SQLSTATE, else by what broke. A verdict is on
//! the transaction that failed, or the statement outside of one.

use core::fmt;

use std::error::Error as _;
use std::io;

use mysql_async037::{DriverError, Error};

use super::chain::{before_sending, in_chain, is_late};
use crate::codes::{is_number, without_answer};
use crate::tables::mysql;
use crate::verdict::{Classify, Verdict};

/// `mysql_async` 0.37: number and SQLSTATE decide if the server answered, else the cause of the failure.
#[diagnostic::do_not_recommend]
impl Classify for Error {
    fn classify(&self) -> Verdict {
        match self {
            Self::Server(error) => mysql(error.code, &error.state),
            Self::Io(error) => error.source().map_or(Verdict::Permanent, of_io),
            Self::Driver(DriverError::ConnectionClosed) => Verdict::Transient,
            // Of a hook or a stream of the program, and of a call that was given up.
            Self::Other(error) => in_chain(error.as_ref()).unwrap_or(Verdict::Permanent),
            // Mistakes of the caller, answers that the driver does not understand, and a closed pool.
            Self::Driver(_) | Self::Url(_) => Verdict::Permanent,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    /// Its number, or its SQLSTATE; of what the server did not answer, what became of it.
    fn has_code(&self, code: &str) -> bool {
        match self {
            Self::Server(error) => error.state == code || is_number(error.code, code),
            _ => without_answer(code, is_late(self), self),
        }
    }
}

/// TLS is the other kind, and before its handshake is done nothing else is sent.
fn of_io(cause: &(dyn std::error::Error + 'static)) -> Verdict {
    match cause.downcast_ref::<io::Error>() {
        Some(error) => error.classify(),
        None => before_sending(cause),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use mysql_async037::{ServerError, UrlError};

    use super::*;

    #[test]
    fn every_variant() {
        let server = |code, state: &str| {
            let (message, state) = ("a text".to_owned(), state.to_owned());
            Error::Server(ServerError {
                code,
                message,
                state,
            })
        };
        let io = |kind: ErrorKind| Error::Io(io::Error::from(kind).into());
        for (error, verdict) in [
            (server(1213, "40001"), Verdict::Refused),
            (server(1205, "HY000"), Verdict::Refused),
            (server(1040, "08004"), Verdict::Throttled(None)),
            (server(1053, "08S01"), Verdict::Transient),
            (server(1062, "23000"), Verdict::Permanent),
            (io(ErrorKind::ConnectionRefused), Verdict::Refused),
            (io(ErrorKind::ConnectionReset), Verdict::Transient),
            (io(ErrorKind::InvalidData), Verdict::Permanent),
            (DriverError::ConnectionClosed.into(), Verdict::Transient),
            (DriverError::PoolDisconnected.into(), Verdict::Permanent),
            (DriverError::PacketOutOfOrder.into(), Verdict::Permanent),
            (UrlError::Invalid.into(), Verdict::Permanent),
            (Error::Other("a text".into()), Verdict::Permanent),
            (
                Error::Other(io::Error::from(ErrorKind::TimedOut).into()),
                Verdict::Transient,
            ),
        ] {
            assert_eq!(error.classify(), verdict, "{error:?}");
        }
        for (error, codes) in [
            (server(1053, "08S01"), [false, false]),
            (io(ErrorKind::ConnectionReset), [true, false]),
            (io(ErrorKind::TimedOut), [false, true]),
            (io(ErrorKind::InvalidData), [false, false]),
            (DriverError::ConnectionClosed.into(), [true, false]),
        ] {
            let has = ["connection", "timeout"].map(|code| error.has_code(code));
            assert_eq!(has, codes, "{error:?}");
        }
    }
}
