//! Bombs: a panic at step number so much of a thread, for tests that have one at each step in turn.

use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Poll;

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(usize::MAX) };
    // What comes before and after what is caught has no bomb.
    static CATCHES: Cell<bool> = const { Cell::new(false) };
}

/// What a bomb throws.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Boom;

/// From now on, step number `steps` of this thread, from 0, panics.
pub(crate) fn explode_after(steps: usize) {
    STEPS.set(steps);
}

/// Whether it has; then there is no bomb any more.
pub(crate) fn has_exploded() -> bool {
    STEPS.replace(usize::MAX) == usize::MAX
}

/// A bomb, and nothing else, is caught.
pub(crate) fn catch<R>(run: impl FnOnce() -> R) -> Result<R, Boom> {
    CATCHES.set(true);
    let end = catch_unwind(AssertUnwindSafe(run));
    CATCHES.set(false);
    end.map_err(|panic| {
        *panic
            .downcast::<Boom>()
            .unwrap_or_else(|other| resume_unwind(other))
    })
}

/// A place where a bomb may go off.
pub(crate) fn step() {
    match STEPS.get() {
        _ if !CATCHES.get() => {}
        usize::MAX => {}
        0 => {
            STEPS.set(usize::MAX);
            // Without a word of the panic hook, for there are many.
            resume_unwind(Box::new(Boom));
        }
        steps => STEPS.set(steps - 1),
    }
}

/// Pending once.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        step();
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
