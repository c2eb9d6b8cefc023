//! The errors of libraries that a call can end with when it was given up without an error of its own.
//!
//! Each has the [`GaveUp`] as its source, which [`Classify`](crate::Classify) finds there: for a call around the one that
//! was given up the error means what the reason means.

use std::error::Error;
use std::io;

use crate::failure::GaveUp;
use crate::retry_error::RetryError;

/// The kind is [`TimedOut`](io::ErrorKind::TimedOut) where time ran out, else [`Other`](io::ErrorKind::Other). The
/// [`GaveUp`] is what [`get_ref`](io::Error::get_ref) returns.
impl From<GaveUp> for io::Error {
    fn from(end: GaveUp) -> Self {
        let kind = if end.is_timeout() {
            io::ErrorKind::TimedOut
        } else {
            io::ErrorKind::Other
        };
        Self::new(kind, end)
    }
}

macro_rules! by_end {
    ($($(#[$version:meta])* $error:ty;)*) => { $(
        /// The last error, or one that is made of the [`GaveUp`]: for `?` in a call around the one that was given up.
        $(#[$version])*
        impl From<RetryError<Self>> for $error {
            fn from(error: RetryError<Self>) -> Self {
                error.into_error()
            }
        }
    )* };
}

by_end! {
    io::Error;
    #[cfg(feature = "sqlx08")] sqlx08::Error;
    #[cfg(feature = "sqlx09")] sqlx09::Error;
    #[cfg(feature = "redis1")] redis1::RedisError;
    #[cfg(feature = "ureq3")] ureq3::Error;
    #[cfg(feature = "diesel2")] diesel2::result::Error;
    #[cfg(feature = "diesel2")] diesel2::ConnectionError;
    #[cfg(feature = "mysql-async037")] mysql_async037::Error;
    #[cfg(feature = "object-store014")] object_store014::Error;
    #[cfg(feature = "tonic014")] tonic014::Status;
    #[cfg(feature = "reqwest-middleware04")] reqwest_middleware04::Error;
    #[cfg(feature = "reqwest-middleware05")] reqwest_middleware05::Error;
}

/// Returns the end of a call that `error` was made of.
pub(crate) fn gave_up(error: &io::Error) -> Option<GaveUp> {
    let inner: &(dyn Error + 'static) = error.get_ref()?;
    inner.downcast_ref().copied()
}

macro_rules! by_io {
    ($($(#[$version:meta])* $error:ty;)*) => { $(
        /// As an [`io::Error`] that was made of it.
        $(#[$version])*
        impl From<GaveUp> for $error {
            fn from(end: GaveUp) -> Self {
                Self::from(io::Error::from(end))
            }
        }
    )* };
}

by_io! {
    #[cfg(feature = "sqlx08")] sqlx08::Error;
    #[cfg(feature = "sqlx09")] sqlx09::Error;
    #[cfg(feature = "redis1")] redis1::RedisError;
    #[cfg(feature = "ureq3")] ureq3::Error;
}

macro_rules! boxed {
    ($(#[$version:meta] $error:ty = $make:expr;)*) => { $(
        /// With the [`GaveUp`] where the library keeps errors of others.
        #[$version]
        impl From<GaveUp> for $error {
            fn from(end: GaveUp) -> Self {
                $make(Box::new(end))
            }
        }
    )* };
}

boxed! {
    #[cfg(feature = "diesel2")] diesel2::result::Error = Self::QueryBuilderError;
    #[cfg(feature = "diesel2")] diesel2::ConnectionError = |end: Box<GaveUp>| Self::CouldntSetupConfiguration((*end).into());
    #[cfg(feature = "mysql-async037")] mysql_async037::Error = Self::Other;
    #[cfg(feature = "object-store014")] object_store014::Error = |source| Self::Generic { store: "reattempt", source };
}

#[cfg(feature = "tonic014")]
macro_rules! tonic {
    ($tonic:ident) => {
        /// `DEADLINE_EXCEEDED` where time ran out, else `UNAVAILABLE`.
        impl From<GaveUp> for $tonic::Status {
            fn from(end: GaveUp) -> Self {
                let code = if end.is_timeout() {
                    $tonic::Code::DeadlineExceeded
                } else {
                    $tonic::Code::Unavailable
                };
                let mut status = Self::new(code, end.to_string());
                status.set_source(std::sync::Arc::new(end));
                status
            }
        }
    };
}

#[cfg(feature = "tonic014")]
tonic!(tonic014);

#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
macro_rules! reqwest_middleware {
    ($middleware:ident) => {
        /// An error of a middleware.
        impl From<GaveUp> for $middleware::Error {
            fn from(end: GaveUp) -> Self {
                Self::middleware(end)
            }
        }
    };
}

#[cfg(feature = "reqwest-middleware04")]
reqwest_middleware!(reqwest_middleware04);
#[cfg(feature = "reqwest-middleware05")]
reqwest_middleware!(reqwest_middleware05);

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::reason::GiveUpReason;
    use crate::verdict::{Classify, Verdict};

    /// The table of `GaveUp`: the reason, and what it means for a call around, after no attempt and after two.
    const TABLE: [(GiveUpReason, Verdict, Verdict); 13] = [
        (
            GiveUpReason::Permanent,
            Verdict::Permanent,
            Verdict::Permanent,
        ),
        (
            GiveUpReason::NotIdempotent,
            Verdict::Permanent,
            Verdict::Permanent,
        ),
        (
            GiveUpReason::RetryForbidden,
            Verdict::RetryForbidden,
            Verdict::RetryForbidden,
        ),
        (
            GiveUpReason::Attempts,
            Verdict::Transient,
            Verdict::Transient,
        ),
        (
            GiveUpReason::Deadline,
            Verdict::Transient,
            Verdict::Transient,
        ),
        (
            GiveUpReason::RetryAfterTooLong,
            Verdict::Throttled(None),
            Verdict::Throttled(None),
        ),
        (GiveUpReason::Nested, Verdict::Transient, Verdict::Transient),
        (
            GiveUpReason::Strategy,
            Verdict::Transient,
            Verdict::Transient,
        ),
        (
            GiveUpReason::BreakerOpen,
            Verdict::Refused,
            Verdict::Transient,
        ),
        (
            GiveUpReason::BulkheadFull,
            Verdict::Refused,
            Verdict::Transient,
        ),
        (GiveUpReason::Throttle, Verdict::Refused, Verdict::Transient),
        (GiveUpReason::Budget, Verdict::Transient, Verdict::Transient),
        (
            GiveUpReason::Disabled,
            Verdict::Transient,
            Verdict::Transient,
        ),
    ];

    fn obeys<E: From<GaveUp> + Classify + Debug>() {
        for (reason, at_once, after_two) in TABLE {
            for (attempts, verdict) in [(0, at_once), (2, after_two)] {
                for end in [
                    GaveUp::new(reason, attempts),
                    GaveUp::new(reason, attempts).timed_out(),
                ] {
                    let error = E::from(end);
                    assert_eq!(error.classify(), verdict, "{error:?}");
                }
            }
        }
    }

    #[test]
    fn every_library_keeps_the_reason() {
        obeys::<GaveUp>();
        obeys::<io::Error>();
        #[cfg(feature = "http")]
        obeys::<crate::http::RequestError<io::Error, ()>>();
        #[cfg(feature = "sqlx08")]
        obeys::<sqlx08::Error>();
        #[cfg(feature = "sqlx09")]
        obeys::<sqlx09::Error>();
        #[cfg(feature = "redis1")]
        obeys::<redis1::RedisError>();
        #[cfg(feature = "aws1")]
        obeys::<
            aws1::client::result::SdkError<
                aws_types1::error::ErrorMetadata,
                aws1::client::orchestrator::HttpResponse,
            >,
        >();
        #[cfg(feature = "diesel2")]
        obeys::<diesel2::result::Error>();
        #[cfg(feature = "diesel2")]
        obeys::<diesel2::ConnectionError>();
        #[cfg(feature = "mysql-async037")]
        obeys::<mysql_async037::Error>();
        #[cfg(feature = "object-store014")]
        obeys::<object_store014::Error>();
        #[cfg(feature = "ureq3")]
        obeys::<ureq3::Error>();
        #[cfg(feature = "tonic014")]
        obeys::<tonic014::Status>();
        #[cfg(feature = "reqwest-middleware04")]
        obeys::<reqwest_middleware04::Error>();
        #[cfg(feature = "reqwest-middleware05")]
        obeys::<reqwest_middleware05::Error>();
    }

    #[test]
    fn the_last_error_is_that_of_the_call() {
        let end = GaveUp::new(GiveUpReason::Attempts, 2);
        let of = |last| io::Error::from(RetryError::new(end, last));
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        assert_eq!(of(Some(reset)).kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(gave_up(&of(None)), Some(end));
    }

    #[test]
    fn the_end_is_the_source() {
        let end = GaveUp::new(GiveUpReason::Deadline, 2);
        assert_eq!(gave_up(&io::Error::from(end)), Some(end));
        assert_eq!(io::Error::from(end).kind(), io::ErrorKind::TimedOut);
        let open = GaveUp::new(GiveUpReason::BreakerOpen, 0);
        assert_eq!(io::Error::from(open).kind(), io::ErrorKind::Other);
        assert_eq!(gave_up(&io::ErrorKind::TimedOut.into()), None);
    }
}
