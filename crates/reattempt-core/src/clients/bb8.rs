//! What the errors of bb8 mean.

use core::fmt;

use bb8_09::RunError;

use crate::verdict::{Classify, Verdict};

/// bb8 0.9: without a connection in time nothing ran; else the inner error decides, also that of a statement, from
/// which `?` makes this type.
#[diagnostic::do_not_recommend]
impl<E: Classify> Classify for RunError<E> {
    fn classify(&self) -> Verdict {
        match self {
            Self::User(error) => error.classify(),
            Self::TimedOut => Verdict::Refused,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        match self {
            Self::User(error) => error.message(),
            Self::TimedOut => Some(&"timed out in bb8"),
        }
    }

    fn has_code(&self, code: &str) -> bool {
        matches!(self, Self::User(error) if error.has_code(code))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn every_variant() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, verdict, text) in [
            (
                RunError::User(refused),
                Verdict::Refused,
                "connection refused",
            ),
            (
                RunError::User(reset),
                Verdict::Transient,
                "connection reset",
            ),
            (
                RunError::User(denied),
                Verdict::Permanent,
                "permission denied",
            ),
            (RunError::TimedOut, Verdict::Refused, "timed out in bb8"),
        ] {
            assert_eq!(error.classify(), verdict, "{error:?}");
            let message = error.message().map(ToString::to_string);
            assert_eq!(message.as_deref(), Some(text));
        }
    }
}
