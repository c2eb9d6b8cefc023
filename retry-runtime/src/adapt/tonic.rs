//! What the statuses of tonic mean: what became of the connection where they were made here,
//! else the code; and the delay that the service asks for.

use std::error::Error;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
#[cfg(all(feature = "tonic013", not(feature = "tonic014")))]
use tonic013 as tonic;
#[cfg(feature = "tonic014")]
use tonic014 as tonic;

use super::chain::{in_chain, of_connecting};
use crate::verdict::{Classify, Verdict};

// As gRPC numbers them.
const CANCELLED: i32 = 1;
const DEADLINE_EXCEEDED: i32 = 4;
const RESOURCE_EXHAUSTED: i32 = 8;
const ABORTED: i32 = 10;
const UNAVAILABLE: i32 = 14;

/// The trailer by which a server says when to come back, or not to.
const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// What `TimeoutExpired` says of itself.
const EXPIRED: &str = "Timeout expired";

/// How a client of tonic 0.14 begins to say that the answer was too large for it.
const TOO_LARGE: &str = "Error decompressing: size limit";

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
        // The caller cancelled it, or its request could not be written.
        if error.downcast_ref::<h2::Error>().is_some_and(is_own_reset) {
            return Some(Verdict::Permanent);
        }
        next = error.source();
    }
    in_chain(cause)
}

fn is_own_reset(error: &h2::Error) -> bool {
    error.is_reset() && !error.is_remote() && !error.is_library()
}

fn by_code(code: i32, message: &str) -> Verdict {
    match code {
        UNAVAILABLE | DEADLINE_EXCEEDED | ABORTED => Verdict::Transient,
        // A time-out of tonic's server, which often strikes just before the client's own.
        CANCELLED if message == EXPIRED => Verdict::Transient,
        // It was executed, and the next answer will be as large.
        RESOURCE_EXHAUSTED if message.starts_with(TOO_LARGE) => Verdict::Permanent,
        RESOURCE_EXHAUSTED => Verdict::Throttled(None),
        _ => Verdict::Permanent,
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
            None => return Verdict::Forbidden,
        },
        (Some(_), Some(_)) => return Verdict::Forbidden,
    };
    verdict.after(delay.filter(|delay| !delay.is_zero()))
}

/// Milliseconds in 31 bits and no sign, as gRPC's retry design (A6) has them.
fn parse(pushback: &HeaderValue) -> Option<Duration> {
    let millis: i32 = pushback.to_str().ok()?.parse().ok()?;
    u64::try_from(millis).ok().map(Duration::from_millis)
}

/// The verdict on an answer that is nothing but a head with a status in it; `None` where the
/// status is not in the head, or says that all went well.
pub(crate) fn of_head(headers: &HeaderMap) -> Option<Verdict> {
    const DETAILS: &str = "grpc-status-details-bin";
    let mut metadata = tonic::metadata::MetadataMap::from_headers(headers.clone());
    // tonic panics on details that are not base64.
    if metadata
        .get_bin(DETAILS)
        .is_some_and(|details| details.to_bytes().is_err())
    {
        metadata.remove_bin(DETAILS);
    }
    let status = tonic::Status::from_header_map(metadata.as_ref())?;
    (status.code() != tonic::Code::Ok).then(|| status.classify())
}

macro_rules! adapt {
    ($tonic:ident, $types:ident) => {
        /// What is said of the connection, where the status was made here; else by code: `UNAVAILABLE`,
        /// `DEADLINE_EXCEEDED` and `ABORTED` are transient, `RESOURCE_EXHAUSTED` is throttled, all
        /// others are final. The delay is that of `grpc-retry-pushback-ms`, which may also forbid another
        /// attempt, or of a `RetryInfo` in the details.
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
        }

        /// A connection that did not come about executed nothing; of one that broke nobody knows. An
        /// endpoint that makes no sense is final.
        impl Classify for $tonic::transport::Error {
            fn classify(&self) -> Verdict {
                by_cause::<$tonic::ConnectError, $tonic::TimeoutExpired>(self)
                    .unwrap_or(Verdict::Permanent)
            }
        }
    };
}

#[cfg(feature = "tonic013")]
adapt!(tonic013, tonic_types013);
#[cfg(feature = "tonic014")]
adapt!(tonic014, tonic_types014);
