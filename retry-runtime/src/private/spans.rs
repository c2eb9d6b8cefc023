//! A span of `tracing` around each attempt of a policy that says so, below the span of the caller.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::Progress;
use crate::observe::attempt_span;
use crate::operation::Operation;

#[inline(always)]
pub fn in_span<R>(
    operation: &Operation,
    progress: &impl Progress,
    mut body: impl FnMut() -> R,
) -> R {
    if operation.policy().telemetry.spans {
        let _entered = span(operation, progress.failures()).entered();
        return body();
    }
    body()
}

pin_project! {
    // Boxed, and only where there is one: a future pays for what it keeps.
    #[derive(Debug)]
    pub struct Spanned<F> {
        #[pin]
        body: F,
        span: Option<Box<tracing::Span>>,
    }
}

#[inline(always)]
pub fn spanned<F>(operation: &Operation, progress: &impl Progress, body: F) -> Spanned<F> {
    let span = (operation.policy().telemetry.spans)
        .then(|| Box::new(span(operation, progress.failures())));
    Spanned { body, span }
}

impl<F: Future> Future for Spanned<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = this.span.as_ref().map(|span| span.enter());
        this.body.poll(cx)
    }
}

#[cold]
#[inline(never)]
fn span(operation: &Operation, failures: u32) -> tracing::Span {
    attempt_span(operation, failures.saturating_add(1))
}
