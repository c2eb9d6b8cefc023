//! Which answers of a service are failures, and of what kind.

use reattempt_core::http::{HasMethod, HasStatus, Statuses};
use reattempt_core::{Classify, IntoVerdict, Verdict};

use super::idempotency::{AlwaysIdempotent, HasIdempotency, MethodIdempotency, RequestIdempotency};

/// Judges the answers of a service.
#[diagnostic::on_unimplemented(
    message = "nothing tells which answers of the service are retried",
    note = "`RetryLayer::new` asks the service's error, which has to implement `Classify`; `RetryLayer::http` also looks at the status of the response",
    note = "for any other service: `RetryLayer::new(policy).on(|answer: &Result<Response, Error>| ...)`"
)]
pub trait JudgeAnswer<Req, Res, E> {
    /// The verdict on a failure; `None` on a success.
    fn judge(&self, answer: &Result<Res, E>) -> Option<Verdict>;

    /// Whether the request may be executed twice, as far as it tells itself.
    fn is_idempotent(&self, request: &Req) -> bool;

    /// A failure in words, for telemetry.
    ///
    /// # Default
    ///
    /// None.
    fn message(&self, _answer: &Result<Res, E>) -> Option<String> {
        None
    }
}

/// The words of an error that was judged by itself.
fn words<R, E: Classify>(answer: &Result<R, E>) -> Option<String> {
    let error = answer.as_ref().err()?;
    error.message().map(ToString::to_string)
}

/// The error says itself whether it is retried; every response is a success.
#[derive(Debug, Clone, Copy, Default)]
pub struct ErrorClassifier;

impl HasIdempotency for ErrorClassifier {
    type Idempotency = AlwaysIdempotent;
}

#[diagnostic::do_not_recommend]
impl<Req, Res, E: Classify> JudgeAnswer<Req, Res, E> for ErrorClassifier {
    fn judge(&self, answer: &Result<Res, E>) -> Option<Verdict> {
        answer.as_ref().err().map(Classify::classify)
    }

    fn is_idempotent(&self, request: &Req) -> bool {
        AlwaysIdempotent.is_idempotent(request)
    }

    fn message(&self, answer: &Result<Res, E>) -> Option<String> {
        words(answer)
    }
}

/// The error says itself whether it is retried, and of a response the status.
#[derive(Debug, Clone, Copy, Default)]
pub struct StatusClassifier(pub(super) Statuses);

impl HasIdempotency for StatusClassifier {
    type Idempotency = MethodIdempotency;
}

#[diagnostic::do_not_recommend]
impl<Req: HasMethod, Res: HasStatus, E: Classify> JudgeAnswer<Req, Res, E> for StatusClassifier {
    fn judge(&self, answer: &Result<Res, E>) -> Option<Verdict> {
        match answer {
            Ok(response) => self.0.retried(response),
            Err(error) => Some(error.classify()),
        }
    }

    fn is_idempotent(&self, request: &Req) -> bool {
        MethodIdempotency.is_idempotent(request)
    }

    fn message(&self, answer: &Result<Res, E>) -> Option<String> {
        match answer {
            Ok(response) => response.status().map(|status| status.to_string()),
            Err(_) => words(answer),
        }
    }
}

/// By the error, and of a response that is nothing but a head the status of gRPC in it.
///
/// Once the headers of an answer have arrived without one, the call is committed, as gRPC has it: what
/// comes after them is not looked at.
#[cfg(any(feature = "tonic013", feature = "tonic014"))]
#[derive(Debug, Clone, Copy, Default)]
pub struct GrpcClassifier;

#[cfg(any(feature = "tonic013", feature = "tonic014"))]
impl HasIdempotency for GrpcClassifier {
    type Idempotency = AlwaysIdempotent;
}

#[cfg(any(feature = "tonic013", feature = "tonic014"))]
#[diagnostic::do_not_recommend]
impl<Req, B, E: Classify> JudgeAnswer<Req, http::Response<B>, E> for GrpcClassifier {
    fn judge(&self, answer: &Result<http::Response<B>, E>) -> Option<Verdict> {
        match answer {
            Ok(response) if response.headers().contains_key("grpc-status") => {
                reattempt_core::grpc::of_head(response.headers())
            }
            Ok(response) => GATEWAYS.retried(response),
            Err(error) => Some(error.classify()),
        }
    }

    fn is_idempotent(&self, request: &Req) -> bool {
        AlwaysIdempotent.is_idempotent(request)
    }

    fn message(&self, answer: &Result<http::Response<B>, E>) -> Option<String> {
        match answer {
            Ok(response) => Some(match response.headers().get("grpc-status") {
                Some(status) => {
                    format!("grpc-status {}", String::from_utf8_lossy(status.as_bytes()))
                }
                None => response.status().to_string(),
            }),
            Err(_) => words(answer),
        }
    }
}

/// What stands in front of a service of gRPC and speaks none: all of it is `UNAVAILABLE` there.
#[cfg(any(feature = "tonic013", feature = "tonic014"))]
const GATEWAYS: Statuses = Statuses::NONE
    .transient(429)
    .transient(502)
    .transient(503)
    .transient(504);

/// A function judges the answer.
#[derive(Debug, Clone, Copy)]
pub struct FnClassifier<F, I> {
    pub(super) on: F,
    pub(super) idempotency: I,
}

impl<F, I: Default> HasIdempotency for FnClassifier<F, I> {
    type Idempotency = I;
}

impl<Req, Res, E, V, F, I> JudgeAnswer<Req, Res, E> for FnClassifier<F, I>
where
    V: IntoVerdict,
    F: Fn(&Result<Res, E>) -> V,
    I: RequestIdempotency<Req>,
{
    fn judge(&self, answer: &Result<Res, E>) -> Option<Verdict> {
        let verdict = (self.on)(answer).into_verdict();
        (answer.is_err() || verdict != Verdict::Permanent).then_some(verdict)
    }

    fn is_idempotent(&self, request: &Req) -> bool {
        self.idempotency.is_idempotent(request)
    }
}
