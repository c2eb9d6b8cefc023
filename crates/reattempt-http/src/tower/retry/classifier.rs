//! Which answers of a service are failures, and of what kind.

#[cfg(feature = "tonic014")]
use reattempt_core::codes::has_grpc_code;
use reattempt_core::http::{HasMethod, HasStatus, Statuses, has_status};
use reattempt_core::{Classify, IntoVerdict, Verdict};

use super::idempotency::{AlwaysIdempotent, HasIdempotency, MethodIdempotency, RequestIdempotency};

/// Judges the answers of a service.
#[diagnostic::on_unimplemented(
    message = "nothing says which answers of the service are retried",
    label = "its error is `{E}`",
    note = "`RetryLayer::new` asks the service's error, which has to implement `Classify`, on a type of yours by `#[derive(reattempt::Classify)]`; `RetryLayer::http` also reads the status of the response",
    note = "for any other service: `RetryLayer::new(policy).on_answer(|answer: &Result<{Res}, {E}>| ...)`"
)]
pub trait JudgeAnswer<Req, Res, E> {
    /// Returns the verdict on a failure; `None` on a success.
    fn judge(&self, answer: &Result<Res, E>) -> Option<Verdict>;

    /// Returns whether the request may be executed twice, as far as it says so itself.
    fn is_idempotent(&self, request: &Req) -> bool;

    /// Returns the message of a failure, for telemetry.
    ///
    /// # Default
    ///
    /// `None`
    fn message(&self, _answer: &Result<Res, E>) -> Option<String> {
        None
    }

    /// Returns whether a response or an error has this status or code.
    ///
    /// # Default
    ///
    /// `false`
    fn has_code(&self, _answer: &Result<Res, E>, _code: &str) -> bool {
        false
    }

    /// Returns whether its spans are those of requests of HTTP: a retry has the field `http.request.resend_count`.
    ///
    /// # Default
    ///
    /// `false`
    fn is_http(&self) -> bool {
        false
    }
}

/// Returns the message of an error.
fn error_message<R, E: Classify>(answer: &Result<R, E>) -> Option<String> {
    let error = answer.as_ref().err()?;
    error.message().map(ToString::to_string)
}

/// Classifies errors by [`Classify`]; every response is a success.
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
        error_message(answer)
    }

    fn has_code(&self, answer: &Result<Res, E>, code: &str) -> bool {
        matches!(answer, Err(error) if error.has_code(code))
    }
}

/// Classifies errors by [`Classify`], and responses by their status.
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

    fn is_http(&self) -> bool {
        true
    }

    fn message(&self, answer: &Result<Res, E>) -> Option<String> {
        match answer {
            Ok(response) => response.status().map(|status| status.to_string()),
            Err(_) => error_message(answer),
        }
    }

    fn has_code(&self, answer: &Result<Res, E>, code: &str) -> bool {
        match answer {
            Ok(response) => has_status(response, code),
            Err(error) => error.has_code(code),
        }
    }
}

/// Classifies errors by [`Classify`], and a response that consists of a head alone by its gRPC
/// status.
///
/// Once the headers of an answer have arrived without a status, the call is committed, as in gRPC:
/// the classifier does not read a status that comes after them.
#[cfg(feature = "tonic014")]
#[derive(Debug, Clone, Copy, Default)]
pub struct GrpcClassifier;

#[cfg(feature = "tonic014")]
impl HasIdempotency for GrpcClassifier {
    type Idempotency = AlwaysIdempotent;
}

#[cfg(feature = "tonic014")]
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
            Err(_) => error_message(answer),
        }
    }

    fn has_code(&self, answer: &Result<http::Response<B>, E>, code: &str) -> bool {
        match answer {
            Ok(response) => match response.headers().get("grpc-status") {
                Some(status) => {
                    let number = status.to_str().ok().and_then(|text| text.parse().ok());
                    number.is_some_and(|number| has_grpc_code(number, code))
                }
                None => has_status(response, code),
            },
            Err(error) => error.has_code(code),
        }
    }
}

/// The statuses of gateways that do not speak gRPC: a client of gRPC reads each of them as
/// `UNAVAILABLE`.
#[cfg(feature = "tonic014")]
const GATEWAYS: Statuses = Statuses::NONE
    .transient(429)
    .transient(502)
    .transient(503)
    .transient(504);

/// Classifies answers with a function.
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
