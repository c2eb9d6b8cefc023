//! Which answers of a service are failures, and of what kind.

use crate::http::{HasMethod, HasStatus, Statuses};
use crate::verdict::{Classify, IntoVerdict, Verdict};

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
    ///
    /// # Default
    ///
    /// `true`: the policy alone says so.
    fn is_idempotent(&self, request: &Req) -> bool {
        let _ = request;
        true
    }
}

/// The error says itself whether it is retried; every response is a success.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByErrors;

impl<Req, Res, E: Classify> JudgeAnswer<Req, Res, E> for ByErrors {
    fn judge(&self, answer: &Result<Res, E>) -> Option<Verdict> {
        answer.as_ref().err().map(Classify::classify)
    }
}

/// The error says itself whether it is retried, and of a response the status.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByStatus(pub(super) Statuses);

impl<Req: HasMethod, Res: HasStatus, E: Classify> JudgeAnswer<Req, Res, E> for ByStatus {
    fn judge(&self, answer: &Result<Res, E>) -> Option<Verdict> {
        match answer {
            Ok(response) => self.0.retried(response),
            Err(error) => Some(error.classify()),
        }
    }

    fn is_idempotent(&self, request: &Req) -> bool {
        request.is_idempotent()
    }
}

/// As [`ByStatus`], and of a response that is nothing but a head the status of gRPC in it.
///
/// Once the headers of an answer have arrived without one, the call is committed, as gRPC has it: what
/// comes after them is not looked at.
#[cfg(any(feature = "tonic013", feature = "tonic014"))]
#[derive(Debug, Clone, Copy, Default)]
pub struct ByGrpc;

#[cfg(any(feature = "tonic013", feature = "tonic014"))]
impl<Req, B, E: Classify> JudgeAnswer<Req, http::Response<B>, E> for ByGrpc {
    fn judge(&self, answer: &Result<http::Response<B>, E>) -> Option<Verdict> {
        match answer {
            Ok(response) if response.headers().contains_key("grpc-status") => {
                crate::adapt::of_head(response.headers())
            }
            Ok(response) => Statuses::STANDARD.retried(response),
            Err(error) => Some(error.classify()),
        }
    }
}

/// A function judges the answer.
#[derive(Debug, Clone, Copy)]
pub struct ByFunction<F>(pub(super) F);

impl<Req, Res, E, V, F> JudgeAnswer<Req, Res, E> for ByFunction<F>
where
    V: IntoVerdict,
    F: Fn(&Result<Res, E>) -> V,
{
    fn judge(&self, answer: &Result<Res, E>) -> Option<Verdict> {
        let verdict = (self.0)(answer).into_verdict();
        (answer.is_err() || verdict != Verdict::Permanent).then_some(verdict)
    }
}
