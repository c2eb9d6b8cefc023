//! What the errors of tokio-postgres and of postgres mean: by SQLSTATE where the server answered, else by
//! the step that failed. A verdict is on the transaction that failed, or the statement outside of one.

use core::fmt;

use std::error::Error;

use super::chain::{before_sending, in_chain, is_late};
use crate::codes::without_answer;
use crate::said::said;
use crate::tables::sqlstate;
use crate::verdict::{Classify, Verdict};

// The step that failed; its type is private. `impl Display for Error` writes these texts, src/error/mod.rs of 0.7.18.
const CONNECTING: &str = "error connecting to server";
const HANDSHAKE: &str = "error performing TLS handshake";
const TRANSFER: &str = "error communicating with the server";
const TIMEOUT: &str = "timeout waiting for server";

/// tokio-postgres 0.7: the SQLSTATE decides if the server answered, else the step that failed: connecting, sending, or
/// waiting for the answer.
#[diagnostic::do_not_recommend]
impl Classify for tokio_postgres07::Error {
    fn classify(&self) -> Verdict {
        if let Some(state) = self.code() {
            return sqlstate(state.code());
        }
        by_step(&said(self), self.source(), self.is_closed())
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        if let Some(state) = self.code() {
            return state.code() == code;
        }
        let is_late = is_late(self) || said(self).starts_with(TIMEOUT);
        without_answer(code, is_late, self)
    }
}

fn by_step(text: &str, source: Option<&(dyn Error + 'static)>, is_closed: bool) -> Verdict {
    match source {
        Some(source) if text.starts_with(CONNECTING) || text.starts_with(HANDSHAKE) => {
            before_sending(source)
        }
        Some(source) if text.starts_with(TRANSFER) => {
            in_chain(source).unwrap_or(Verdict::Permanent)
        }
        // An answer that the driver does not understand, or a message that it could not write.
        Some(_) => Verdict::Permanent,
        // The connection ended before the statement or in the middle of it.
        None => (is_closed || text.starts_with(TIMEOUT)).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind as Kind;

    use super::*;

    #[test]
    fn by_the_step_that_failed() {
        for (text, cause, verdict) in [
            (CONNECTING, Kind::ConnectionRefused.into(), Verdict::Refused),
            (CONNECTING, Kind::TimedOut.into(), Verdict::Refused),
            (
                CONNECTING,
                crate::clients::io::unknown_host(),
                Verdict::Refused,
            ),
            (CONNECTING, Kind::NotFound.into(), Verdict::Permanent),
            (HANDSHAKE, Kind::ConnectionReset.into(), Verdict::Refused),
            (HANDSHAKE, Kind::InvalidData.into(), Verdict::Permanent),
            (TRANSFER, Kind::ConnectionReset.into(), Verdict::Transient),
            (TRANSFER, Kind::ConnectionRefused.into(), Verdict::Transient),
            (TRANSFER, Kind::InvalidData.into(), Verdict::Permanent),
            (
                "error parsing response from server",
                Kind::UnexpectedEof.into(),
                Verdict::Permanent,
            ),
        ] {
            let said = by_step(text, Some(&cause), false);
            assert_eq!(said, verdict, "{text}: {cause}");
        }
        for (text, is_closed, verdict) in [
            ("connection closed", true, Verdict::Transient),
            (TIMEOUT, false, Verdict::Transient),
            ("unexpected message from server", false, Verdict::Permanent),
            ("invalid configuration", false, Verdict::Permanent),
        ] {
            assert_eq!(by_step(text, None, is_closed), verdict, "{text}");
        }
    }

    /// The driver's own texts, as far as somebody else can make them.
    #[test]
    fn what_the_driver_says() {
        let timeout = tokio_postgres07::Error::__private_api_timeout();
        assert_eq!(timeout.to_string(), TIMEOUT);
        assert_eq!(timeout.classify(), Verdict::Transient);
        let invalid = "port=x".parse::<tokio_postgres07::Config>();
        let invalid = invalid.err().map(|error| error.classify());
        assert_eq!(invalid, Some(Verdict::Permanent));
    }
}
