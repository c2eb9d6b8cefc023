//! A span of `tracing` around each attempt of a policy that asks for it, below the span of the caller.

/// The span of an attempt: boxed, and only where there is one, since a future pays for what it keeps.
#[derive(Debug)]
pub struct AttemptSpan {
    #[cfg(feature = "tracing")]
    span: Option<Box<tracing::Span>>,
}

impl AttemptSpan {
    /// No span.
    pub const NONE: Self = Self {
        #[cfg(feature = "tracing")]
        span: None,
    };

    /// Returns the span of attempt number `attempt`.
    #[cfg(feature = "tracing")]
    #[cold]
    #[inline(never)]
    pub fn new(operation: &'static str, attempt: u32, max: Option<u32>) -> Self {
        let span = crate::to_tracing::attempt_span(operation, attempt, max);
        Self {
            span: Some(Box::new(span)),
        }
    }

    /// Returns the span of a request of HTTP, which says how often it was sent before, as OpenTelemetry does.
    #[must_use]
    pub fn resent(self, failures: u32) -> Self {
        #[cfg(feature = "tracing")]
        if let (Some(span), 1..) = (&self.span, failures) {
            span.record("http.request.resend_count", failures);
        }
        #[cfg(not(feature = "tracing"))]
        let _ = failures;
        self
    }
}

/// Runs an attempt in its span.
#[inline(always)]
pub fn in_span<R>(span: &AttemptSpan, mut body: impl FnMut() -> R) -> R {
    #[cfg(feature = "tracing")]
    let _entered = span.span.as_ref().map(|span| span.enter());
    #[cfg(not(feature = "tracing"))]
    let _ = span;
    body()
}

/// An attempt that may have a span; without `tracing` it is the attempt itself.
#[cfg(not(feature = "tracing"))]
pub type Spanned<F> = F;
#[cfg(feature = "tracing")]
pub use with_tracing::Spanned;

/// Returns an attempt in its span.
#[inline(always)]
#[cfg_attr(
    not(feature = "tracing"),
    expect(
        clippy::needless_pass_by_value,
        reason = "with `tracing` the attempt keeps it"
    )
)]
pub fn spanned<F>(span: AttemptSpan, body: F) -> Spanned<F> {
    #[cfg(feature = "tracing")]
    return Spanned::new(span, body);
    #[cfg(not(feature = "tracing"))]
    {
        let _ = span;
        body
    }
}

#[cfg(feature = "tracing")]
mod with_tracing {
    use core::future::Future;
    use core::pin::Pin;
    use core::task::{Context, Poll};

    use pin_project_lite::pin_project;

    use super::AttemptSpan;

    pin_project! {
        /// An attempt that may have a span.
        #[derive(Debug)]
        pub struct Spanned<F> {
            #[pin]
            body: F,
            span: AttemptSpan,
        }
    }

    impl<F> Spanned<F> {
        #[inline(always)]
        pub(super) const fn new(span: AttemptSpan, body: F) -> Self {
            Self { body, span }
        }
    }

    impl<F: Future> Future for Spanned<F> {
        type Output = F::Output;

        #[inline]
        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
            let this = self.project();
            // For one poll: between two of them other tasks run on this thread.
            let _entered = this.span.span.as_ref().map(|span| span.enter());
            this.body.poll(cx)
        }
    }
}
