//! Other attributes, above and below.

use reattempt::retry;

use crate::{Fault, Script};

/// A function with documentation and more.
///
/// Another paragraph.
#[must_use = "it is the shape"]
#[deprecated = "it is the shape"]
#[doc(hidden)]
#[inline(always)]
#[track_caller]
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

shapes! {
    documented, under_cfg_attr, under_cfg, cfg_in_body, with_expectation, without_warnings,
}
