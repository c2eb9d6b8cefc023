//! How a request is sent again.

/// Makes the request for another attempt.
#[diagnostic::on_unimplemented(
    message = "the request `{Req}` cannot be sent again",
    label = "it is not `Clone`",
    note = "say how it is made anew: `RetryLayer::new(policy).copy_request(|request: &{Req}| ...)`, where `None` means that it cannot be"
)]
pub trait CopyRequest<Req> {
    /// The same request once more; `None` where it cannot be sent again.
    fn copy(&self, request: &Req) -> Option<Req>;
}

/// Requests that are `Clone`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cloned;

#[diagnostic::do_not_recommend]
impl<Req: Clone> CopyRequest<Req> for Cloned {
    fn copy(&self, request: &Req) -> Option<Req> {
        Some(request.clone())
    }
}

/// A function makes the request anew.
#[derive(Debug, Clone, Copy)]
pub struct CloneWith<F>(pub(super) F);

impl<Req, F: Fn(&Req) -> Option<Req>> CopyRequest<Req> for CloneWith<F> {
    fn copy(&self, request: &Req) -> Option<Req> {
        (self.0)(request)
    }
}
