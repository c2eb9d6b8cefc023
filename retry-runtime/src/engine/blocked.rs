//! A warning for sync functions that are about to block an async runtime, once
//! for each call site.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use tracing::level_filters::LevelFilter;

type Place = (&'static str, u32, u32);

pub(super) fn warn_in_async(site: &'static Location<'static>) {
    // The cheapest question comes first: usually no subscriber reads warnings.
    if LevelFilter::current() >= LevelFilter::WARN {
        warn_if_in_async(site);
    }
}

#[cold]
#[inline(never)]
fn warn_if_in_async(site: &'static Location<'static>) {
    static WARNED: Mutex<Option<HashSet<Place>>> = Mutex::new(None);

    // In virtual time a sleep returns at once and blocks nothing.
    if reattempt_core::process::is_virtual() {
        return;
    }
    if !is_in_async() {
        return;
    }
    let place = (site.file(), site.line(), site.column());
    // Not held while a subscriber runs, which may retry something itself.
    let is_new = {
        let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
        warned.get_or_insert_default().insert(place)
    };
    if is_new {
        tracing::warn!(
            target: "reattempt",
            "the sync function retried at {site} blocks a thread of the async runtime while it waits; make it async, or call it in `spawn_blocking`"
        );
    }
}

// Tasks have a budget of operations; code that may block has none.
#[cfg(feature = "tokio")]
fn is_in_async() -> bool {
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

#[cfg(not(feature = "tokio"))]
const fn is_in_async() -> bool {
    false
}
