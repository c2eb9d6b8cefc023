//! Every shape that a function can have is retried, and retried right: a shape
//! that fails twice succeeds in its third attempt, one that always fails gives
//! up after three with the last error. The name of a test is the name of its shape.
#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::expect_used,
    clippy::panic_in_result_fn,
    clippy::todo,
    clippy::try_err,
    deprecated,
    unused_qualifications,
    reason = "shapes are written as users write them, not as lints like them"
)]

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reattempt::{GiveUpReason, RetryError};

/// What fails: the number of the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) u32);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "attempt {} failed", self.0)
    }
}

impl std::error::Error for Fault {}

/// Counts the attempts and fails the first ones. Clones count together.
#[derive(Debug, Clone)]
pub(crate) struct Script(Arc<Plan>);

#[derive(Debug)]
struct Plan {
    failures: u32,
    attempts: AtomicU32,
}

impl Script {
    pub(crate) fn failing(failures: u32) -> Self {
        let attempts = AtomicU32::new(0);
        Self(Arc::new(Plan { failures, attempts }))
    }

    /// One attempt: its number, as a success or as a fault.
    pub(crate) fn step(&self) -> Result<u32, Fault> {
        let number = self.0.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        if number > self.0.failures {
            Ok(number)
        } else {
            Err(Fault(number))
        }
    }

    /// The same, after it has given way once.
    pub(crate) async fn step_async(&self) -> Result<u32, Fault> {
        tokio::task::yield_now().await;
        self.step()
    }

    pub(crate) fn attempts(&self) -> u32 {
        self.0.attempts.load(Ordering::Relaxed)
    }
}

/// What a shape answers, as text: `"3"` or `"attempt 3 failed"`.
pub(crate) trait Reported {
    fn reported(self) -> Result<String, String>;
}

impl<T: fmt::Display, E: fmt::Display> Reported for Result<T, E> {
    fn reported(self) -> Result<String, String> {
        self.map(|value| value.to_string())
            .map_err(|error| error.to_string())
    }
}

impl<T: fmt::Display> Reported for Option<T> {
    fn reported(self) -> Result<String, String> {
        // `None` can't say which attempt it comes from.
        self.ok_or(Fault(3)).reported()
    }
}

const FLAKY: u32 = 2;
const BROKEN: u32 = u32::MAX;

fn compare(script: &Script, answer: impl Reported) {
    assert_eq!(script.attempts(), 3, "attempts");
    match script.0.failures {
        FLAKY => assert_eq!(answer.reported(), Ok("3".to_owned())),
        _ => assert_eq!(answer.reported(), Err(Fault(3).to_string())),
    }
}

pub(crate) fn check<R: Reported>(shape: impl Fn(&Script) -> R) {
    for script in [FLAKY, BROKEN].map(Script::failing) {
        compare(&script, shape(&script));
    }
}

pub(crate) async fn check_async<R: Reported>(shape: impl AsyncFn(&Script) -> R) {
    for script in [FLAKY, BROKEN].map(Script::failing) {
        compare(&script, shape(&script).await);
    }
}

/// Whether a future can be spawned is seen by the compiler.
pub(crate) fn sendable<F: Future + Send>(future: F) -> F {
    future
}

/// The last error of a call that tells why it ended, after three attempts.
pub(crate) fn last<T>(answer: Result<T, RetryError<Fault>>) -> Result<T, Fault> {
    answer.map_err(|failed| {
        assert_eq!(
            (failed.attempts(), failed.reason()),
            (3, GiveUpReason::Attempts)
        );
        failed.into_last().unwrap_or(Fault(0))
    })
}

/// `shapes! { a, b => |script| ... }`: a test for each, calling `a(script)` or the closure.
macro_rules! shapes {
    ($($(#[$cfg:meta])? $name:ident $(=> $call:expr)?),+ $(,)?) => {
        mod shape {
            $(
                $(#[$cfg])?
                #[test]
                fn $name() {
                    use super::*;
                    crate::check(shape_of!($name $(, $call)?));
                }
            )+
        }
    };
}

/// The same for functions that are awaited.
macro_rules! async_shapes {
    ($($(#[$cfg:meta])? $name:ident $(=> $call:expr)?),+ $(,)?) => {
        mod async_shape {
            $(
                $(#[$cfg])?
                #[tokio::test(start_paused = true)]
                async fn $name() {
                    use super::*;
                    crate::check_async(shape_of!($name $(, $call)?)).await;
                }
            )+
        }
    };
}

macro_rules! shape_of {
    ($name:ident) => {
        $name
    };
    ($name:ident, $call:expr) => {
        $call
    };
}

#[path = "shapes/answers.rs"]
mod answers;
#[path = "shapes/async_blocks.rs"]
mod async_blocks;
#[path = "shapes/async_bodies.rs"]
mod async_bodies;
#[path = "shapes/async_instrument.rs"]
mod async_instrument;
#[path = "shapes/async_parameters.rs"]
mod async_parameters;
#[path = "shapes/attributes.rs"]
mod attributes;
#[path = "shapes/auto_traits.rs"]
mod auto_traits;
#[path = "shapes/blocks.rs"]
mod blocks;
#[path = "shapes/bodies.rs"]
mod bodies;
#[path = "shapes/by_macros.rs"]
mod by_macros;
#[path = "shapes/future_methods.rs"]
mod future_methods;
#[path = "shapes/futures.rs"]
mod futures;
#[path = "shapes/generics.rs"]
mod generics;
#[path = "shapes/held_hooks.rs"]
mod held_hooks;
#[path = "shapes/hooks.rs"]
mod hooks;
#[path = "shapes/impl_blocks.rs"]
mod impl_blocks;
#[path = "shapes/instrument.rs"]
mod instrument;
#[path = "shapes/items.rs"]
mod items;
#[path = "shapes/judging.rs"]
mod judging;
#[path = "shapes/keys.rs"]
mod keys;
#[path = "shapes/map_err.rs"]
mod map_err;
#[path = "shapes/methods.rs"]
mod methods;
#[path = "shapes/names.rs"]
mod names;
#[path = "shapes/native_traits.rs"]
mod native_traits;
#[path = "shapes/parameters.rs"]
mod parameters;
#[path = "shapes/places.rs"]
mod places;
#[path = "shapes/retry_errors.rs"]
mod retry_errors;
#[path = "shapes/trait_keys.rs"]
mod trait_keys;
#[path = "shapes/traits.rs"]
mod traits;
