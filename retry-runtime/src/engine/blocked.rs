//! Whether a sync call is about to block a task of tokio: tasks have a budget of operations, code that may block has none.

#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
pub(super) fn is_in_async() -> bool {
    use core::task::{Context, Waker};
    use tokio::task::coop::poll_proceed;

    // tokio gives a task 128 operations for each poll; without a budget it grants them all.
    const ABOVE_ANY_BUDGET: usize = 256;

    if tokio::runtime::Handle::try_current().is_err() {
        return false;
    }
    let mut context = Context::from_waker(Waker::noop());
    let mut spent = Vec::new();
    let in_task = loop {
        match poll_proceed(&mut context) {
            core::task::Poll::Pending => break true,
            core::task::Poll::Ready(one) => spent.push(one),
        }
        if spent.len() == ABOVE_ANY_BUDGET {
            break false;
        }
    };
    // Each gives back what was left before it, so the first one comes last.
    while spent.pop().is_some() {}
    in_task
}

#[cfg(not(all(feature = "tokio", not(target_os = "unknown"))))]
pub(super) const fn is_in_async() -> bool {
    false
}
