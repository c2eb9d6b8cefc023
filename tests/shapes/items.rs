//! Bodies that define things, and where functions stand.

use reattempt::retry;

use crate::{Fault, Script};

// Items of every kind in the body.
#[retry(max = 3, backoff = "none", on(_))]
fn items_in_body(script: &Script) -> Result<u32, Fault> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static CALLS: AtomicU32 = AtomicU32::new(0);
    const ONE: u32 = 1;
    struct Product(u32);
    impl Product {
        fn times(self, n: u32) -> Self {
            Self(self.0 * n)
        }
    }
    fn nested(script: &Script) -> Result<u32, Fault> {
        let number = script.step()?;
        return Ok(number);
    }
    macro_rules! once {
        ($product:expr) => {
            $product.times(ONE)
        };
    }
    CALLS.fetch_add(1, Ordering::Relaxed);
    Ok(once!(Product(nested(script)?)).0)
}

// An inner attribute.
#[retry(max = 3, backoff = "none", on(_))]
fn inner_attribute(script: &Script) -> Result<u32, Fault> {
    #![allow(unused_variables, reason = "it is the shape")]
    let unused = 1;
    script.step()
}

// Two inner attributes and an inner line of documentation.
#[retry(max = 3, backoff = "none", on(_))]
fn inner_documentation(script: &Script) -> Result<u32, Fault> {
    #![deny(unused_must_use)]
    #![allow(unused_mut, reason = "it is the shape")]
    //! One attempt.
    let mut number = script.step()?;
    Ok(number)
}

// A retried function inside a function.
fn function_in_function(script: &Script) -> Result<u32, Fault> {
    #[retry(max = 3, backoff = "none", on(_))]
    fn inside(script: &Script) -> Result<u32, Fault> {
        script.step()
    }
    inside(script)
}

// A retried function inside a retried function that does not fail.
#[retry(max = 3, backoff = "none", on(_))]
fn retried_in_retried(script: &Script) -> Result<u32, Fault> {
    #[retry(max = 2, backoff = "none", on(_))]
    fn inside() -> Result<u32, Fault> {
        Ok(0)
    }
    Ok(script.step()? + inside()?)
}

// Only for the crate.
#[retry(max = 3, backoff = "none", on(_))]
pub(crate) fn for_the_crate(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// Only for a module.
#[retry(max = 3, backoff = "none", on(_))]
pub(in crate::items) fn for_a_module(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// Of the C calling convention.
#[allow(improper_ctypes_definitions, reason = "nothing foreign calls it")]
#[retry(max = 3, backoff = "none", on(_))]
extern "C" fn foreign_convention(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// Nothing is imported: every path is whole.
mod paths {
    #![allow(unused_qualifications, reason = "it is the shape")]

    #[reattempt::retry(max = 3, backoff = "none", on(_))]
    pub(super) fn whole_paths(script: &crate::Script) -> core::result::Result<u32, crate::Fault> {
        crate::Script::step(script)
    }
}
use paths::whole_paths;

// Recursion: a retried function that calls itself once it got through.
#[retry(max = 3, backoff = "none", on(_))]
fn recursion(script: &Script, depth: u32) -> Result<u32, Fault> {
    if depth == 0 {
        return Ok(0);
    }
    Ok(script.step()? + recursion(script, depth - 1)?)
}

// Two retried functions that call each other.
#[retry(max = 3, backoff = "none", on(_))]
fn mutual_recursion(script: &Script) -> Result<u32, Fault> {
    Ok(script.step()? + other_half(script)?)
}

#[retry(max = 3, backoff = "none", on(_))]
fn other_half(script: &Script) -> Result<u32, Fault> {
    if script.attempts() == 0 {
        return mutual_recursion(script);
    }
    Ok(0)
}

// A retried call in a retried call: each does its own three attempts.
fn nested_retries(script: &Script) -> Result<u32, Fault> {
    #[retry(max = 3, backoff = "none", on(_))]
    fn inner(script: &Script) -> Result<u32, Fault> {
        script.step()
    }
    #[retry(max = 3, backoff = "none", on(_))]
    fn outer(script: &Script, below: &Script) -> Result<u32, Fault> {
        inner(below)?;
        script.step()
    }
    let below = Script::failing(2);
    let answer = outer(script, &below);
    // Three in the first attempt of `outer`, one in each of the others.
    assert_eq!(below.attempts(), 5);
    answer
}

// A pointer to a retried function.
fn function_pointer(script: &Script) -> Result<u32, Fault> {
    let pointer: fn(&Script) -> Result<u32, Fault> = for_the_crate;
    pointer(script)
}

shapes! {
    items_in_body, inner_attribute, inner_documentation, function_in_function, retried_in_retried, for_the_crate,
    for_a_module, whole_paths, mutual_recursion, nested_retries, function_pointer,
    foreign_convention => |script| foreign_convention(script),
    recursion => |script| recursion(script, 1),
}
