//! Whether a request may be executed twice, as far as it says so itself.

use reattempt_core::http::HasMethod;

/// Reads from a request whether it may be executed twice.
pub trait RequestIdempotency<Req> {
    /// Returns whether `request` may be executed twice.
    fn is_idempotent(&self, request: &Req) -> bool;
}

/// Takes any request as one that may be executed twice: the policy alone decides.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlwaysIdempotent;

impl<Req> RequestIdempotency<Req> for AlwaysIdempotent {
    fn is_idempotent(&self, _: &Req) -> bool {
        true
    }
}

/// Reads the method and the headers of a request of HTTP.
#[derive(Debug, Clone, Copy, Default)]
pub struct MethodIdempotency;

impl<Req: HasMethod> RequestIdempotency<Req> for MethodIdempotency {
    fn is_idempotent(&self, request: &Req) -> bool {
        request.is_idempotent()
    }
}

/// A classifier whose idempotency of requests stays when [`RetryLayer::on_answer`](super::RetryLayer::on_answer)
/// replaces it.
pub trait HasIdempotency {
    /// Reads it from a request.
    type Idempotency: Default;
}
