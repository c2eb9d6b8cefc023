//! Code of others, polled so that its panics end its task alone.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::journal::Stop;

pub(crate) fn poll_once<F: Future + ?Sized>(
    future: Pin<&mut F>,
    context: &mut Context<'_>,
) -> Result<Poll<F::Output>, Box<dyn Any + Send>> {
    // It is not polled again after a panic.
    catch_unwind(AssertUnwindSafe(|| future.poll(context)))
}

/// What becomes of a task whose code panics.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Stop {
    let said = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("something that is no text");
    Stop::Failed(format!("its code panicked: {said}"))
}
