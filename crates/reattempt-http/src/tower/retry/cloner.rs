//! How a request is sent again.

/// Clones the request for another attempt.
#[diagnostic::on_unimplemented(
    message = "the request `{Req}` cannot be sent again",
    label = "it is not `Clone`",
    note = "say how it is cloned: `RetryLayer::new(policy).clone_request(|request: &{Req}| ...)`, where `None` means that it cannot be"
)]
pub trait RequestCloner<Req> {
    /// Returns the same request once more; `None` where it cannot be sent again.
    fn clone_request(&self, request: &Req) -> Option<Req>;
}

/// Clones requests that are `Clone`.
#[derive(Debug, Clone, Copy, Default)]
pub struct CloneRequest;

#[diagnostic::do_not_recommend]
impl<Req: Clone> RequestCloner<Req> for CloneRequest {
    fn clone_request(&self, request: &Req) -> Option<Req> {
        Some(request.clone())
    }
}

/// Clones a request with a function.
#[derive(Debug, Clone, Copy)]
pub struct CloneWith<F>(pub(super) F);

impl<Req, F: Fn(&Req) -> Option<Req>> RequestCloner<Req> for CloneWith<F> {
    fn clone_request(&self, request: &Req) -> Option<Req> {
        (self.0)(request)
    }
}
