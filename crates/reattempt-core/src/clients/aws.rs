//! What the errors of the AWS SDKs mean: by the service's code, its status, and what broke.

use core::fmt;

use std::error::Error;

use ::http::header::{AGE, DATE, RETRY_AFTER};
use ::http::{HeaderMap, HeaderName, HeaderValue};
use aws_types1::error::metadata::ProvideErrorMetadata;
use aws_types1::retry::ErrorKind;
use aws1::client::orchestrator::HttpResponse;
use aws1::client::result::{ConnectorError, DispatchFailure, SdkError};

use super::chain::{in_chain, is_late};
use crate::codes::{is_number, without_answer};
use crate::failure::GaveUp;
use crate::http::{MILLIS, Statuses, heeded};
use crate::verdict::{Classify, Verdict};

/// The codes that AWS's own clients count as throttling.
// `THROTTLING_ERRORS`, src/retries/classifiers.rs of aws-runtime 1.6.
const THROTTLED: [&str; 14] = [
    "BandwidthLimitExceeded",
    "EC2ThrottledException",
    "LimitExceededException",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "ThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionInProgressException",
];

/// The service stopped waiting for the rest of the request.
// `TRANSIENT_ERRORS` of the same file.
const TRANSIENT: [&str; 2] = ["RequestTimeout", "RequestTimeoutException"];

/// aws-smithy-runtime-api 1, the SDKs of AWS: the code of the service decides, else the status of its answer, else the
/// cause of the failed dispatch. A request that could not be built is final. The delay comes from
/// `x-amz-retry-after`, else from `Retry-After`.
#[diagnostic::do_not_recommend]
impl<E> Classify for SdkError<E, HttpResponse>
where
    E: ProvideErrorMetadata + Error + 'static,
{
    fn classify(&self) -> Verdict {
        match self {
            Self::ServiceError(answer) => {
                let raw = answer.raw();
                asked(of_answer(answer.err().code(), raw.status().as_u16()), raw)
            }
            Self::DispatchFailure(failure) => of_dispatch(failure),
            // The answer broke off, or cannot be read.
            Self::ResponseError(answer) => asked(Verdict::Transient, answer.raw()),
            Self::TimeoutError(_) => self
                .source()
                .and_then(in_chain)
                .unwrap_or(Verdict::Transient),
            _ => Verdict::Permanent,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        match self {
            Self::ServiceError(answer) => Some(answer.err()),
            _ => Some(self),
        }
    }

    /// The code of the service, such as `SlowDown`, or the status; of a request without an answer, what became of it.
    fn has_code(&self, code: &str) -> bool {
        let is_late = match self {
            Self::ServiceError(answer) => {
                return answer.err().code() == Some(code)
                    || is_number(answer.raw().status().as_u16(), code);
            }
            Self::TimeoutError(_) => true,
            Self::DispatchFailure(failure) => failure.is_timeout(),
            _ => is_late(self),
        };
        without_answer(code, is_late, self)
    }
}

/// The code counts: S3 answers 503 for `SlowDown`, most others 400 for their throttling.
fn of_answer(code: Option<&str>, status: u16) -> Verdict {
    match code {
        Some(code) if THROTTLED.contains(&code) => Verdict::Throttled(None),
        Some(code) if TRANSIENT.contains(&code) => Verdict::Transient,
        _ => Statuses::STANDARD.of(status),
    }
}

fn of_dispatch(failure: &DispatchFailure) -> Verdict {
    if failure.is_user() {
        return Verdict::Permanent;
    }
    let cause = failure.as_connector_error().and_then(Error::source);
    let by_kind = match failure.as_other() {
        Some(ErrorKind::ThrottlingError) => Verdict::Throttled(None),
        Some(ErrorKind::TransientError | ErrorKind::ServerError) => Verdict::Transient,
        _ => (failure.is_io() || failure.is_timeout()).into(),
    };
    cause.and_then(in_chain).unwrap_or(by_kind)
}

/// Returns `verdict` with the delay that the service asks for.
fn asked(verdict: Verdict, response: &HttpResponse) -> Verdict {
    let headers = response.headers();
    let names = [RETRY_AFTER, DATE, AGE].into_iter();
    let names = names.chain(MILLIS.map(HeaderName::from_static));
    let lines = names.filter_map(|name| {
        let value = HeaderValue::from_str(headers.get(name.as_str())?).ok()?;
        Some((name, value))
    });
    heeded(verdict, &lines.collect::<HeaderMap>())
}

/// A time-out where time ran out, else a failure of dispatch.
impl<E, R> From<GaveUp> for SdkError<E, R> {
    fn from(end: GaveUp) -> Self {
        if end.is_timeout() {
            Self::timeout_error(end)
        } else {
            Self::dispatch_failure(ConnectorError::other(end.into(), None))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use aws_types1::body::SdkBody;
    use aws_types1::error::ErrorMetadata;
    use aws1::http::StatusCode;

    use std::time::Duration;

    use super::*;

    type Sdk = SdkError<ErrorMetadata, HttpResponse>;

    fn response(status: u16, headers: &[(&'static str, &'static str)]) -> HttpResponse {
        let status = StatusCode::try_from(status).expect("a status");
        let mut response = HttpResponse::new(status, SdkBody::empty());
        for (name, value) in headers {
            response.headers_mut().append(*name, *value);
        }
        response
    }

    fn service(code: &str, status: u16, headers: &[(&'static str, &'static str)]) -> Sdk {
        let error = ErrorMetadata::builder()
            .code(code)
            .message("a text")
            .build();
        Sdk::service_error(error, response(status, headers))
    }

    #[test]
    fn by_code_and_status() {
        for code in THROTTLED {
            assert_eq!(
                service(code, 400, &[]).classify(),
                Verdict::Throttled(None),
                "{code}"
            );
        }
        for (code, status, verdict) in [
            ("SlowDown", 503, Verdict::Throttled(None)),
            ("RequestTimeout", 400, Verdict::Transient),
            ("InternalError", 500, Verdict::Transient),
            ("ServiceUnavailable", 503, Verdict::Transient),
            ("Unknown", 429, Verdict::Throttled(None)),
            ("NoSuchKey", 404, Verdict::Permanent),
            ("AccessDenied", 403, Verdict::Permanent),
            ("ConditionalCheckFailedException", 400, Verdict::Permanent),
        ] {
            assert_eq!(service(code, status, &[]).classify(), verdict, "{code}");
        }
        let plain = Sdk::service_error(ErrorMetadata::builder().build(), response(502, &[]));
        assert_eq!(plain.classify(), Verdict::Transient);
        let busy = service("SlowDown", 503, &[]);
        let message = Classify::message(&busy).map(ToString::to_string);
        assert!(message.is_some_and(|text| text.contains("a text")));
    }

    #[test]
    fn the_delay_of_the_service() {
        let after = |millis| Some(Duration::from_millis(millis));
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        for (headers, delay) in [
            (&[("retry-after", "3")][..], after(3000)),
            (&[("x-amz-retry-after", "1500")], after(1500)),
            (
                &[("retry-after", "3"), ("x-amz-retry-after", "1500")],
                after(1500),
            ),
            (
                &[("retry-after", "3"), ("x-amz-retry-after", "soon")],
                after(3000),
            ),
            (&[("x-amz-retry-after", "0")], None),
            (
                &[("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"), date],
                after(10_000),
            ),
            (&[("retry-after", "never")], None),
        ] {
            let verdict = service("SlowDown", 503, headers).classify();
            assert_eq!(verdict, Verdict::Throttled(delay), "{headers:?}");
            let expected = Verdict::Permanent;
            assert_eq!(service("NoSuchKey", 404, headers).classify(), expected);
        }
        let forbidden = service("SlowDown", 503, &[("retry-after", "-1")]);
        assert_eq!(forbidden.classify(), Verdict::RetryForbidden);
    }

    #[test]
    fn what_never_got_an_answer() {
        let io =
            |kind: io::ErrorKind| -> Box<dyn Error + Send + Sync> { io::Error::from(kind).into() };
        let text = || -> Box<dyn Error + Send + Sync> { "a text".into() };
        for (error, verdict) in [
            (ConnectorError::io(text()), Verdict::Transient),
            (
                ConnectorError::io(io(io::ErrorKind::ConnectionReset)),
                Verdict::Transient,
            ),
            // Whether there was a connection is not known without hyper's own error.
            (
                ConnectorError::io(io(io::ErrorKind::ConnectionRefused)),
                Verdict::Transient,
            ),
            (
                ConnectorError::io(io(io::ErrorKind::InvalidData)),
                Verdict::Permanent,
            ),
            (ConnectorError::timeout(text()), Verdict::Transient),
            (
                ConnectorError::user(io(io::ErrorKind::ConnectionReset)),
                Verdict::Permanent,
            ),
            // Credentials that cannot be had.
            (ConnectorError::other(text(), None), Verdict::Permanent),
            (
                ConnectorError::other(text(), Some(ErrorKind::TransientError)),
                Verdict::Transient,
            ),
            (
                ConnectorError::other(text(), Some(ErrorKind::ThrottlingError)),
                Verdict::Throttled(None),
            ),
            (
                ConnectorError::other(text(), Some(ErrorKind::ClientError)),
                Verdict::Permanent,
            ),
        ] {
            let error = Sdk::dispatch_failure(error);
            assert_eq!(error.classify(), verdict, "{error:?}");
        }
        let construction = Sdk::construction_failure(io(io::ErrorKind::ConnectionReset));
        assert_eq!(construction.classify(), Verdict::Permanent);
        assert_eq!(Sdk::timeout_error("late").classify(), Verdict::Transient);
        let broken = Sdk::response_error("half an answer", response(200, &[]));
        assert_eq!(broken.classify(), Verdict::Transient);

        let codes = |error: &Sdk| ["connection", "timeout"].map(|code| error.has_code(code));
        let late = Sdk::dispatch_failure(ConnectorError::timeout(text()));
        assert_eq!(codes(&late), [false, true]);
        assert_eq!(codes(&Sdk::timeout_error("late")), [false, true]);
        let lost = Sdk::dispatch_failure(ConnectorError::io(text()));
        assert_eq!(codes(&lost), [true, false]);
        assert_eq!(codes(&broken), [true, false]);
        assert_eq!(codes(&construction), [false, false]);
        assert_eq!(codes(&service("InternalError", 500, &[])), [false, false]);
    }
}
