//! Polls code of users so that a panic ends only its own task.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::journal::Stop;
use crate::store::panic_text;

/// Polls a future and catches a panic. After a panic the caller must not poll it again.
pub(crate) fn poll_once<F: Future + ?Sized>(
    future: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Result<Poll<F::Output>, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(|| future.poll(cx)))
}

/// Returns why a task stops whose code has panicked.
pub(crate) fn stop_of_panic(panic: &(dyn Any + Send)) -> Stop {
    let message = panic_text(panic);
    Stop::Failed(None, format!("its code panicked: {message}"))
}
