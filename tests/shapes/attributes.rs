//! Other attributes, above and below.

use std::sync::atomic::{AtomicU32, Ordering};

use reattempt::retry;

use crate::{Fault, Script};

/// A function with documentation and more.
///
/// Another paragraph.
#[must_use = "it is the shape"]
#[deprecated = "it is the shape"]
#[doc(hidden)]
#[inline(always)]
#[retry(max = 3, backoff = "none", on(_))]
#[cold]
/// Documentation below.
fn documented(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// Behind `cfg_attr`.
#[cfg_attr(all(), retry(max = 3, backoff = "none", on(_)))]
fn under_cfg_attr(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// `cfg` below and above, and the other one of a pair.
#[retry(max = 3, backoff = "none", on(_))]
#[cfg(test)]
fn under_cfg(script: &Script) -> Result<u32, Fault> {
    script.step()
}

#[cfg(any())]
#[retry(max = 3, backoff = "none", on(_))]
fn under_cfg(script: &Nothing) -> Nothing {}

// `cfg` on statements and expressions of the body.
#[retry(max = 3, backoff = "none", on(_))]
fn cfg_in_body(script: &Script) -> Result<u32, Fault> {
    #[cfg(any())]
    return Nothing;
    #[cfg(test)]
    let outcome = script.step();
    outcome
}

// A lint level of its own.
#[retry(max = 3, backoff = "none", on(_))]
#[expect(unused_variables, reason = "it is the shape")]
fn with_expectation(script: &Script) -> Result<u32, Fault> {
    let unused = 1;
    script.step()
}

// Every lint refused in the body.
#[deny(warnings)]
#[retry(max = 3, backoff = "none", on(_))]
fn without_warnings(script: &Script) -> Result<u32, Fault> {
    let number = script.step()?;
    Ok(number)
}

// `#[tokio::main]` above: what it makes is a sync function.
#[tokio::main(flavor = "current_thread")]
#[retry(max = 3, backoff = "none", on(_))]
async fn tokio_main_above(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// Below: all attempts run in one runtime.
#[retry(max = 3, backoff = "none", on(_))]
#[tokio::main(flavor = "current_thread")]
async fn tokio_main_below(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

static TESTS: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];

fn third_time(test: usize) -> Result<(), Fault> {
    match TESTS[test].fetch_add(1, Ordering::Relaxed) {
        2 => Ok(()),
        n => Err(Fault(n)),
    }
}

// A test, above, that fails twice.
#[test]
#[retry(max = 3, backoff = "none", on(_))]
fn test_above() -> Result<(), Fault> {
    third_time(0)
}

// Below.
#[retry(max = 3, backoff = "none", on(_))]
#[test]
fn test_below() -> Result<(), Fault> {
    third_time(1)
}

// An async one.
#[retry(max = 3, on(_))]
#[tokio::test(start_paused = true)]
async fn tokio_test_below() -> Result<(), Fault> {
    third_time(2)
}

shapes! {
    documented, under_cfg_attr, under_cfg, cfg_in_body, with_expectation, tokio_main_above, tokio_main_below, without_warnings,
}
