//! What the errors of deadpool mean.

use core::fmt;

use deadpool013::managed::{HookError, PoolError};

use crate::verdict::{Classify, Verdict};

/// deadpool 0.13: without a connection in time nothing ran; else the inner error decides, also that of a statement, from
/// which `?` makes this type. A closed pool, a pool without a runtime, and an error of a hook are final.
#[diagnostic::do_not_recommend]
impl<E: Classify> Classify for PoolError<E> {
    fn classify(&self) -> Verdict {
        match self {
            Self::Timeout(_) => Verdict::Refused,
            Self::Backend(error) | Self::PostCreateHook(HookError::Backend(error)) => {
                error.classify()
            }
            Self::Closed
            | Self::NoRuntimeSpecified
            | Self::PostCreateHook(HookError::Message(_)) => Verdict::Permanent,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        match self {
            Self::Timeout(_) => Some(&"timed out in deadpool"),
            Self::Backend(error) | Self::PostCreateHook(HookError::Backend(error)) => {
                error.message()
            }
            Self::Closed => Some(&"the pool was closed"),
            Self::NoRuntimeSpecified => Some(&"the pool has no runtime"),
            Self::PostCreateHook(HookError::Message(text)) => Some(text),
        }
    }

    fn has_code(&self, code: &str) -> bool {
        match self {
            Self::Backend(error) | Self::PostCreateHook(HookError::Backend(error)) => {
                error.has_code(code)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use deadpool013::managed::TimeoutType;

    use super::*;

    #[test]
    fn every_variant() {
        let error = |kind| io::Error::from(kind);
        let backend = |kind| PoolError::Backend(error(kind));
        let hook = |kind| PoolError::PostCreateHook(HookError::Backend(error(kind)));
        let timeout = "timed out in deadpool";
        for (error, verdict, text) in [
            (
                PoolError::Timeout(TimeoutType::Wait),
                Verdict::Refused,
                timeout,
            ),
            (
                PoolError::Timeout(TimeoutType::Create),
                Verdict::Refused,
                timeout,
            ),
            (
                PoolError::Timeout(TimeoutType::Recycle),
                Verdict::Refused,
                timeout,
            ),
            (
                backend(io::ErrorKind::ConnectionRefused),
                Verdict::Refused,
                "connection refused",
            ),
            (
                backend(io::ErrorKind::ConnectionReset),
                Verdict::Transient,
                "connection reset",
            ),
            (
                hook(io::ErrorKind::PermissionDenied),
                Verdict::Permanent,
                "permission denied",
            ),
            (
                hook(io::ErrorKind::TimedOut),
                Verdict::Transient,
                "timed out",
            ),
            (
                PoolError::PostCreateHook(HookError::message("no")),
                Verdict::Permanent,
                "no",
            ),
            (PoolError::Closed, Verdict::Permanent, "the pool was closed"),
            (
                PoolError::NoRuntimeSpecified,
                Verdict::Permanent,
                "the pool has no runtime",
            ),
        ] {
            assert_eq!(error.classify(), verdict, "{error:?}");
            let message = error.message().map(ToString::to_string);
            assert_eq!(message.as_deref(), Some(text));
        }
    }
}
