//! A warning for sync functions that are about to block an async runtime, once for each call site.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use tracing::level_filters::LevelFilter;

use reattempt_core::process;

type Place = (&'static str, u32, u32);

/// Warns that the sync function retried at this place blocks a thread, where `is_in_async` says so.
#[inline]
pub fn warn_in_async(site: &'static Location<'static>, is_in_async: fn() -> bool) {
    // The cheapest question comes first: usually no subscriber reads warnings.
    if LevelFilter::current() >= LevelFilter::WARN {
        warn_if_in_async(site, is_in_async);
    }
}

#[cold]
#[inline(never)]
fn warn_if_in_async(site: &'static Location<'static>, is_in_async: fn() -> bool) {
    static WARNED: Mutex<Option<HashSet<Place>>> = Mutex::new(None);

    // In virtual time a sleep returns at once and blocks nothing.
    if process::is_virtual() || !is_in_async() {
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
