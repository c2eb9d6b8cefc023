//! What people await and what is not a future. It cannot be awaited: no type meets the bound, and its message says what to
//! write.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::client::TaskHandle;
use crate::store::submission::Submission;

/// The bound of submissions.
#[diagnostic::on_unimplemented(
    message = "the call of a workflow describes a task, which runs after it was submitted",
    label = "not a future",
    note = "write `client.submit(order(...)).await?.wait().await`, or in a workflow `context.start(order(...)).await`",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait Submitted {
    /// Nobody sees it.
    type Output;
}

/// The bound of handles.
#[diagnostic::on_unimplemented(
    message = "the handle of a task is not a future",
    label = "write `.wait()` in front of it",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait Waits {
    /// Nobody sees it.
    type Output;
}

macro_rules! no_future {
    ($($bound:ident $owner:ident)+) => { $(
        #[doc(hidden)]
        impl<T> Future for $owner<T>
        where
            // Of `Self` the compiler would only say that it is not a future.
            (Self,): $bound,
        {
            type Output = <(Self,) as $bound>::Output;

            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
                Poll::Pending
            }
        }
    )+ };
}

no_future!(Submitted Submission Waits TaskHandle);
