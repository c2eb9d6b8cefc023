//! Decisions of the user's own, on every kind of function.

use core::time::Duration;

use reattempt::{
    RetryError, Strategy, retry, retry_block, strategy, strategy::Decision, strategy::FailedAttempt,
};

use crate::support::{Fault, Still, seen};

/// A strategy with a state.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Mine {
    /// How often.
    pub most: u32,
}

impl<E: ?Sized> Strategy<E> for Mine {
    type State = u32;

    #[inline]
    fn start(&self) -> u32 {
        self.most
    }

    #[inline]
    fn failed(&self, state: &mut u32, _: &FailedAttempt<'_, E>) -> Decision {
        *state = state.saturating_sub(1);
        if *state == 0 {
            return Decision::Stop;
        }
        Decision::Retry(Duration::ZERO)
    }
}

/// A function.
#[inline]
#[must_use]
pub const fn stop(_: &FailedAttempt<'_, Fault>) -> Decision {
    Decision::Stop
}

/// Of a borrowed value.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 30, strategy = mine, timer = Still, on_retry = seen, fallback = |_| 7)]
pub fn borrowed(mine: &Mine, answer: Option<u32>) -> Result<u32, Fault> {
    answer.ok_or(Fault::Busy)
}

/// A closure, while it polls.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(deadline = "1s", until = |value| *value > 3, timer = Still, strategy = |failure| {
    calls.push(failure.attempt());
    Decision::Stop
})]
pub fn closure(calls: &mut Vec<u32>, answer: Option<u32>) -> Result<u32, RetryError<Fault>> {
    answer.ok_or(Fault::Busy)
}

/// A function, of another's error.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(timeout = "1s", strategy = strategy::from_fn(stop), timer = Still, before_retry = async |_| {})]
pub async fn function(answer: Option<u32>) -> Result<u32, Fault> {
    answer.ok_or(Fault::Busy)
}

/// Blocks.
///
/// # Errors
///
/// For the lints.
#[inline]
pub async fn blocks(answer: Option<u32>) -> Option<u32> {
    let first = retry_block!(strategy = Mine { most: 3 }, timer = Still, { answer });
    let second = retry_block!(strategy = || Decision::Stop, timer = Still, async {
        answer
    });
    first.or(second.await)
}

/// What is asked.
#[derive(Debug)]
#[non_exhaustive]
pub struct Client<S> {
    /// How often.
    pub calls: u32,
    /// The decisions.
    pub strategy: S,
}

impl<S: Strategy<Fault>> Client<S> {
    /// With a mutable receiver.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[inline]
    #[retry(strategy = &self.strategy, timer = Still)]
    pub fn fetch(&mut self) -> Result<u32, Fault> {
        self.calls = self.calls.saturating_add(1);
        Err(Fault::Busy)
    }

    /// The same, async.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[inline]
    #[retry(strategy = self.strategy, timer = Still)]
    pub async fn fetch_later(&mut self) -> Result<u32, Fault> {
        self.calls = self.calls.saturating_add(1);
        core::future::ready(Err(Fault::Busy)).await
    }
}
