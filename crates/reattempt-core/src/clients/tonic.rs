//! What the statuses of tonic mean: what became of the connection where they were made here,
//! else the code; and the delay that the service asks for.

use core::fmt;

use std::error::Error;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};

use super::chain::{causes, in_chain, is_late, of_connecting};
use crate::codes::{has_grpc_code, without_answer};
use crate::tables;
use crate::verdict::{Classify, Verdict};

// As gRPC numbers them.
const CANCELLED: i32 = 1;
const RESOURCE_EXHAUSTED: i32 = 8;

/// The trailer by which a server says when to come back, or not to.
const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// What `TimeoutExpired` says of itself.
const EXPIRED: &str = "Timeout expired";

/// How a client of tonic 0.14 begins to say that the answer was too large for it.
const TOO_LARGE: &str = "Error decompressing: size limit";

/// What a server written in Go says, before the call and after it.
const LARGER: &str = "message larger than max";

/// `C` is the `ConnectError` of tonic, `T` its `TimeoutExpired`.
fn by_cause<C: Error + 'static, T: Error + 'static>(
    cause: &(dyn Error + 'static),
) -> Option<Verdict> {
    let mut next = Some(cause);
    while let Some(error) = next {
        if error.is::<C>() {
            return Some(of_connecting(error));
        }
        if error.is::<T>() {
            return Some(Verdict::Transient);
        }
        next = error.source();
    }
    in_chain(cause)
}

/// `T` is the `TimeoutExpired` of tonic.
fn expired<T: Error + 'static>(cause: &(dyn Error + 'static)) -> bool {
    causes(cause).any(<dyn Error>::is::<T>) || is_late(cause)
}

fn is_too_large(message: &str) -> bool {
    message.starts_with(TOO_LARGE) || message.contains(LARGER)
}

fn by_code(code: i32, message: &str) -> Verdict {
    match code {
        // A time-out of tonic's server, which often strikes just before the client's own.
        CANCELLED if message == EXPIRED => Verdict::Transient,
        // The next request or answer will be as large, and of an answer the call was executed.
        RESOURCE_EXHAUSTED if is_too_large(message) => Verdict::Permanent,
        _ => tables::grpc(code),
    }
}

/// `verdict` with what the service asks for: its pushback, else the delay of its details.
fn asked(
    verdict: Verdict,
    headers: &HeaderMap,
    details: impl FnOnce() -> Option<Duration>,
) -> Verdict {
    if !verdict.is_retryable() {
        return verdict;
    }
    let mut pushbacks = headers.get_all(PUSHBACK).iter();
    let delay = match (pushbacks.next(), pushbacks.next()) {
        (None, _) => details(),
        (Some(pushback), None) => match parse(pushback) {
            Some(delay) => Some(delay),
            None => return Verdict::RetryForbidden,
        },
        (Some(_), Some(_)) => return Verdict::RetryForbidden,
    };
    verdict.after(delay.filter(|delay| !delay.is_zero()))
}

/// Milliseconds in 31 bits and no sign, as gRPC's retry design (A6) has them.
fn parse(pushback: &HeaderValue) -> Option<Duration> {
    let millis: i32 = pushback.to_str().ok()?.parse().ok()?;
    u64::try_from(millis).ok().map(Duration::from_millis)
}

/// Returns the verdict on an answer that is nothing but a head with a status in it; `None` where the
/// status is not in the head, or says that all went well.
pub fn of_head(headers: &HeaderMap) -> Option<Verdict> {
    use tonic014 as tonic;

    const DETAILS: &str = "grpc-status-details-bin";
    if headers.get("grpc-status")? == "0" {
        return None;
    }
    let mut metadata = tonic::metadata::MetadataMap::from_headers(headers.clone());
    // tonic panics on details that are not base64.
    if metadata
        .get_bin(DETAILS)
        .is_some_and(|details| details.to_bytes().is_err())
    {
        metadata.remove_bin(DETAILS);
    }
    let status = tonic::Status::from_header_map(metadata.as_ref())?;
    Some(status.classify())
}

macro_rules! adapt {
    ($tonic:ident, $types:ident, $version:literal) => {
        #[doc = concat!("tonic ", $version, ": ")]
        /// the connection decides if this client made the status, else the code: `UNAVAILABLE`,
        /// `DEADLINE_EXCEEDED` and `ABORTED` are transient, `RESOURCE_EXHAUSTED` is throttled, all
        /// others are final. The delay comes from `grpc-retry-pushback-ms`, which may also forbid another
        /// attempt, or from a `RetryInfo` in the details.
        #[diagnostic::do_not_recommend]
        impl Classify for $tonic::Status {
            fn classify(&self) -> Verdict {
                use $types::StatusExt;

                let verdict = self
                    .source()
                    .and_then(by_cause::<$tonic::ConnectError, $tonic::TimeoutExpired>)
                    .unwrap_or_else(|| by_code(self.code().into(), self.message()));
                let details = || self.get_details_retry_info()?.retry_delay;
                asked(verdict, self.metadata().as_ref(), details)
            }

            fn message(&self) -> Option<&dyn fmt::Display> {
                Some(self)
            }

            fn has_code(&self, code: &str) -> bool {
                let is_own =
                    |cause| without_answer(code, expired::<$tonic::TimeoutExpired>(cause), self);
                has_grpc_code(self.code().into(), code) || self.source().is_some_and(is_own)
            }
        }

        #[doc = concat!("tonic ", $version, ": ")]
        /// without a connection nothing ran; after a broken connection the operation may have run. An
        /// invalid endpoint is final.
        #[diagnostic::do_not_recommend]
        impl Classify for $tonic::transport::Error {
            fn classify(&self) -> Verdict {
                by_cause::<$tonic::ConnectError, $tonic::TimeoutExpired>(self)
                    .unwrap_or(Verdict::Permanent)
            }

            fn message(&self) -> Option<&dyn fmt::Display> {
                Some(self)
            }

            fn has_code(&self, code: &str) -> bool {
                without_answer(code, expired::<$tonic::TimeoutExpired>(self), self)
            }
        }
    };
}

adapt!(tonic014, tonic_types014, "0.14");

#[cfg(test)]
mod tests {
    use super::*;

    const GONE: (&str, &str) = ("grpc-status", "14");
    /// A `RetryInfo` with three seconds.
    const DETAILS: (&str, &str) = (
        "grpc-status-details-bin",
        "CA4SAm5vGjAKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8SBAoCCAM",
    );

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let lines = lines.iter().map(|(name, value)| {
            let name = http::HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        });
        lines.collect()
    }

    #[test]
    fn heads() {
        let garbage = (DETAILS.0, "*");
        let after = |seconds| Some(Verdict::TransientAfter(Duration::from_secs(seconds)));
        for (lines, expected) in [
            (&[][..], None),
            (&[("grpc-status", "0"), (PUSHBACK, "-1")], None),
            (&[("grpc-status", "5")], Some(Verdict::Permanent)),
            (&[("grpc-status", "none")], Some(Verdict::Permanent)),
            (&[("grpc-status", "8")], Some(Verdict::Throttled(None))),
            (&[GONE], Some(Verdict::Transient)),
            (&[GONE, garbage], Some(Verdict::Transient)),
            (&[GONE, DETAILS], after(3)),
            (&[GONE, DETAILS, (PUSHBACK, "7000")], after(7)),
            (&[GONE, garbage, (PUSHBACK, "7000")], after(7)),
            (
                &[GONE, DETAILS, (PUSHBACK, "-1")],
                Some(Verdict::RetryForbidden),
            ),
        ] {
            assert_eq!(of_head(&headers(lines)), expected, "{lines:?}");
        }
    }

    macro_rules! version {
        ($tonic:ident) => {
            /// Both versions say the same in the same way.
            #[test]
            fn $tonic() {
                use $tonic::{ConnectError, Status, TimeoutExpired};

                let read = |lines: &[_]| {
                    Status::from_header_map(&headers(lines)).map(|read| read.classify())
                };
                assert_eq!(read(&[GONE]), Some(Verdict::Transient));
                let delay = Duration::from_secs(3);
                assert_eq!(read(&[GONE, DETAILS]), Some(Verdict::TransientAfter(delay)));
                let expected = Verdict::Throttled(Some(delay));
                assert_eq!(read(&[("grpc-status", "8"), DETAILS]), Some(expected));
                assert_eq!(
                    read(&[GONE, DETAILS, (PUSHBACK, "-1")]),
                    Some(Verdict::RetryForbidden)
                );
                assert_eq!(
                    read(&[("grpc-status", "5"), DETAILS]),
                    Some(Verdict::Permanent)
                );

                assert_eq!(TimeoutExpired(()).to_string(), EXPIRED);
                assert_eq!(Status::cancelled(EXPIRED).classify(), Verdict::Transient);
                assert_eq!(
                    Status::cancelled("by somebody").classify(),
                    Verdict::Permanent
                );

                let io = |kind: std::io::ErrorKind| -> Box<dyn Error + Send + Sync> {
                    std::io::Error::from(kind).into()
                };
                let table: [(Box<dyn Error + Send + Sync>, _); 8] = [
                    (TimeoutExpired(()).into(), Verdict::Transient),
                    (
                        ConnectError(io(std::io::ErrorKind::TimedOut)).into(),
                        Verdict::Refused,
                    ),
                    (ConnectError("no such host".into()).into(), Verdict::Refused),
                    (
                        ConnectError(io(std::io::ErrorKind::InvalidData)).into(),
                        Verdict::Permanent,
                    ),
                    (io(std::io::ErrorKind::ConnectionReset), Verdict::Transient),
                    (
                        h2::Error::from(h2::Reason::REFUSED_STREAM).into(),
                        Verdict::Refused,
                    ),
                    (
                        h2::Error::from(h2::Reason::INTERNAL_ERROR).into(),
                        Verdict::Transient,
                    ),
                    ("something else".into(), Verdict::Permanent),
                ];
                for (cause, expected) in table {
                    let status = Status::from_error(cause);
                    assert_eq!(status.classify(), expected, "{status:?}");
                }

                let codes = |cause| {
                    let status = Status::from_error(cause);
                    ["connection", "timeout"].map(|code| status.has_code(code))
                };
                assert_eq!(codes(TimeoutExpired(()).into()), [false, true]);
                assert_eq!(codes(io(std::io::ErrorKind::TimedOut)), [false, true]);
                assert_eq!(
                    codes(io(std::io::ErrorKind::ConnectionReset)),
                    [true, false]
                );
                assert_eq!(codes("something else".into()), [false, false]);
                // An answer.
                assert!(!Status::unavailable("busy").has_code("connection"));
            }
        };
    }

    version!(tonic014);
}
