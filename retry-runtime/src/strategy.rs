//! Decisions of your own: a [`Strategy`] decides after each failure whether there is another attempt,
//! and after which delay.

use core::fmt;
use core::time::Duration;

use crate::attempt::Cause;
use crate::call::CallEnv;
pub use crate::call::Decision;
use crate::operation::Operation;
use reattempt_policy::unit;

/// A decision of your own after each failure, with a state for each call.
///
/// The call asks it about failures that may be retried: after `on`, `except`, `Classify`,
/// `idempotent` and `verify`, and after `max` if that is set. Without `max` the strategy alone
/// limits the attempts. A deadline, a breaker or a budget may still forbid what it allows. A
/// reference to a strategy is a strategy, too, and [`from_fn`] makes one from a function that needs
/// no state.
///
/// # Examples
///
/// ```
/// use reattempt::{strategy::Decision, strategy::FailedAttempt, Policy, Strategy};
/// use std::time::Duration;
///
/// /// Waits for a second, and stops when an error comes twice in a row.
/// struct Unless;
///
/// impl Strategy<u32> for Unless {
///     type State = Option<u32>;
///
///     fn start(&self) -> Option<u32> {
///         None
///     }
///
///     fn failed(&self, last: &mut Option<u32>, failure: &FailedAttempt<'_, u32>) -> Decision {
///         match failure.error() {
///             Some(error) if last.replace(*error) == Some(*error) => Decision::Stop,
///             _ => Decision::Retry(Duration::ZERO),
///         }
///     }
/// }
///
/// let mut errors = [1, 2, 1, 1, 3].into_iter();
/// let policy = Policy::new();
/// let answer = policy.on(|_: &u32| true).strategy(Unless).run(|| match errors.next() {
///     Some(error) => Err(error),
///     None => Ok(()),
/// });
/// assert_eq!((answer, errors.len()), (Err(1), 1));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a strategy for errors of type `{E}`",
    label = "`Strategy<{E}>` is not implemented for it",
    note = "implement `reattempt::Strategy<{E}>`, or write a closure `|failure| ...` that returns a `reattempt::strategy::Decision`; a function, or a closure for a `Runner`, is passed through `reattempt::strategy::from_fn(..)`",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait Strategy<E: ?Sized> {
    /// The state that one call keeps from failure to failure.
    type State;

    /// Returns the state of a call. The call makes it at the first failure that it asks the
    /// strategy about, so a call that succeeds at once pays nothing.
    fn start(&self) -> Self::State;

    /// Decides whether there is another attempt after this failure, and when.
    fn failed(&self, state: &mut Self::State, failure: &FailedAttempt<'_, E>) -> Decision;
}

impl<E: ?Sized, S: Strategy<E> + ?Sized> Strategy<E> for &S {
    type State = S::State;

    fn start(&self) -> S::State {
        S::start(self)
    }

    fn failed(&self, state: &mut S::State, failure: &FailedAttempt<'_, E>) -> Decision {
        S::failed(self, state, failure)
    }
}

/// A failure that a [`Strategy`] decides about.
pub struct FailedAttempt<'a, E: ?Sized> {
    pub(crate) operation: Operation<'a>,
    pub(crate) attempt: u32,
    pub(crate) cause: Cause<'a, E>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) around: &'a dyn CallEnv,
}

impl<'a, E: ?Sized> FailedAttempt<'a, E> {
    /// Returns the name of the operation.
    pub fn operation(&self) -> &'static str {
        self.operation.name()
    }

    /// Returns the number of the attempt that failed, from 1.
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the number of the retry that would follow, from 0, as delays count.
    pub const fn retry(&self) -> u32 {
        self.attempt.saturating_sub(1)
    }

    /// Returns the number of attempts that `max` allows in total; `None` without it.
    pub const fn max(&self) -> Option<u32> {
        self.operation.policy().attempts()
    }

    /// Returns the error of the failed attempt; `None` when it timed out, or succeeded with a value
    /// that `until` does not accept.
    pub const fn error(&self) -> Option<&'a E> {
        match self.cause {
            Cause::Error(error) => Some(error),
            Cause::NotFinal | Cause::TimedOut => None,
        }
    }

    /// Returns what failed; its `Display` is the one of the error.
    pub const fn cause(&self) -> Cause<'a, E> {
        self.cause
    }

    /// Returns the delay that the error asks for, which replaces that of the decision.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the time until the deadline, the call's own or an inherited one; `None` without a
    /// deadline.
    pub fn remaining(&self) -> Option<Duration> {
        self.around.remaining()
    }

    /// Returns a random number, a new one each time, from the source of the call: that of its
    /// timer, seeded in tests.
    ///
    /// # Units and ranges
    ///
    /// From 0 up to, but not including, 1.
    pub fn random(&self) -> f64 {
        unit(self.around.random())
    }
}

impl<E: fmt::Debug + ?Sized> fmt::Debug for FailedAttempt<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailedAttempt")
            .field("operation", &self.operation())
            .field("attempt", &self.attempt)
            .field("cause", &self.cause)
            .field("retry_after", &self.retry_after)
            .finish_non_exhaustive()
    }
}

/// A strategy without a state, made by [`from_fn`].
#[derive(Debug, Clone, Copy)]
pub struct FromFn<F>(F);

/// Returns the strategy of a function of the failure: for
/// [`Runner::strategy`](crate::Runner::strategy), and for functions with a name. The key `strategy`
/// takes closures as they are.
///
/// # Examples
///
/// ```
/// use reattempt::{strategy::Decision, strategy::FailedAttempt, Policy, strategy};
/// use std::time::Duration;
///
/// fn twice(failure: &FailedAttempt<'_, u32>) -> Decision {
///     match failure.retry() {
///         0 | 1 => Decision::Retry(Duration::ZERO),
///         _ => Decision::Stop,
///     }
/// }
///
/// let mut calls = 0;
/// let policy = Policy::new();
/// let answer = policy.on(|_: &u32| true).strategy(strategy::from_fn(twice)).run(|| {
///     calls += 1;
///     Err::<(), _>(calls)
/// });
/// assert_eq!(answer, Err(3));
/// ```
pub const fn from_fn<F>(decide: F) -> FromFn<F> {
    FromFn(decide)
}

impl<E: ?Sized, F: Fn(&FailedAttempt<'_, E>) -> Decision> Strategy<E> for FromFn<F> {
    type State = ();

    fn start(&self) {}

    fn failed(&self, (): &mut (), failure: &FailedAttempt<'_, E>) -> Decision {
        (self.0)(failure)
    }
}
