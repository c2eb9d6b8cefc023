//! What the errors of ureq mean.

use core::fmt;

use ureq3::Timeout;

use super::chain::in_chain;
use crate::codes::is_number;
use crate::http::{FollowsRedirects, RequestError, Statuses, unproved};
use crate::verdict::{Classify, Verdict};

/// ureq 3: a status decides, by [`Statuses::STANDARD`]; else the cause of the failure. It never proves that nothing ran,
/// because a redirect may have been followed: see [`FollowsRedirects`].
#[diagnostic::do_not_recommend]
impl Classify for ureq3::Error {
    fn classify(&self) -> Verdict {
        let verdict = self.classify_unredirected();
        match self {
            Self::StatusCode(_) => verdict,
            // It has no `source`.
            Self::Io(error) => unproved(error, verdict),
            _ => unproved(self, verdict),
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        match self {
            Self::StatusCode(status) => is_number(*status, code),
            Self::Io(error) => error.has_code(code),
            Self::Timeout(_) => code == "timeout",
            _ => false,
        }
    }
}

#[diagnostic::do_not_recommend]
impl FollowsRedirects for ureq3::Error {
    fn classify_unredirected(&self) -> Verdict {
        match self {
            Self::StatusCode(status) => Statuses::STANDARD.of(*status),
            Self::Io(error) => error.classify(),
            Self::HostNotFound
            | Self::ConnectionFailed
            | Self::Timeout(Timeout::Resolve | Timeout::Connect) => Verdict::Refused,
            Self::Timeout(_) => Verdict::Transient,
            // The proxy wants a password, or forbids it.
            Self::ConnectProxyFailed(text) if text.contains("responded 4") => Verdict::Permanent,
            Self::ConnectProxyFailed(_) => Verdict::Refused,
            // Connectors of others.
            Self::Other(error) => in_chain(error.as_ref()).unwrap_or(Verdict::Permanent),
            // An answer that is not HTTP, a failure of TLS, or a mistake of the caller.
            _ => Verdict::Permanent,
        }
    }
}

impl<R> From<ureq3::Error> for RequestError<ureq3::Error, R> {
    fn from(error: ureq3::Error) -> Self {
        Self::Transport(error)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};

    use ureq3::Error;

    use super::*;

    #[test]
    fn every_kind() {
        let proxy = |answer: &str| Error::ConnectProxyFailed(format!("proxy server {answer}"));
        let other = |kind: ErrorKind| Error::Other(io::Error::from(kind).into());
        for (error, verdict) in [
            (Error::StatusCode(503), Verdict::Transient),
            (Error::StatusCode(429), Verdict::Throttled(None)),
            (Error::StatusCode(404), Verdict::Permanent),
            (
                Error::Io(ErrorKind::ConnectionRefused.into()),
                Verdict::Refused,
            ),
            (
                Error::Io(ErrorKind::UnexpectedEof.into()),
                Verdict::Transient,
            ),
            (Error::Io(ErrorKind::InvalidData.into()), Verdict::Permanent),
            (Error::HostNotFound, Verdict::Refused),
            (Error::ConnectionFailed, Verdict::Refused),
            (Error::Timeout(Timeout::Resolve), Verdict::Refused),
            (Error::Timeout(Timeout::Connect), Verdict::Refused),
            (Error::Timeout(Timeout::Global), Verdict::Transient),
            (Error::Timeout(Timeout::SendBody), Verdict::Transient),
            (Error::Timeout(Timeout::RecvResponse), Verdict::Transient),
            (proxy("responded 407/407"), Verdict::Permanent),
            (proxy("responded 502/502"), Verdict::Refused),
            (proxy("did not respond"), Verdict::Refused),
            (other(ErrorKind::ConnectionReset), Verdict::Transient),
            (other(ErrorKind::InvalidData), Verdict::Permanent),
            (Error::Other(fmt::Error.into()), Verdict::Permanent),
            (Error::TooManyRedirects, Verdict::Permanent),
            (Error::BadUri(String::new()), Verdict::Permanent),
            (Error::Tls("no"), Verdict::Permanent),
        ] {
            assert_eq!(error.classify_unredirected(), verdict, "{error:?}");
            let is_status = matches!(error, Error::StatusCode(_));
            let proves_nothing = !is_status && verdict == Verdict::Refused;
            let expected = if proves_nothing {
                Verdict::Transient
            } else {
                verdict
            };
            assert_eq!(error.classify(), expected, "{error:?}");
        }
    }
}
