//! `history`, of attributes, blocks and runners: how long a call took, and the errors of its attempts before the last one,
//! for the `RetryError` that it ends with.

use crate::retry_error::RetryError;
use crate::time::Clock;
use crate::timestamp::Timestamp;

/// What a call with `history` keeps.
#[derive(Debug)]
pub struct History<E> {
    began: Timestamp,
    earlier: Errors<E>,
}

#[cfg(feature = "std")]
type Errors<E> = Vec<E>;
/// Nothing can be kept without an allocator.
#[cfg(not(feature = "std"))]
type Errors<E> = [E; 0];

impl<E> History<E> {
    /// Returns the history of a call that begins now.
    #[inline(always)]
    pub fn start(clock: &impl Clock) -> Self {
        Self {
            began: clock.now(),
            earlier: Errors::default(),
        }
    }

    /// Takes the error of an attempt that another one follows, if it has one.
    #[cold]
    pub fn push(&mut self, error: Option<E>) {
        #[cfg(feature = "std")]
        self.earlier.extend(error);
        #[cfg(not(feature = "std"))]
        drop(error);
    }

    /// Returns `error`, the end of the call, with the history.
    #[cold]
    pub fn of(self, error: RetryError<E>, clock: &impl Clock) -> RetryError<E> {
        let total_time = clock.now().since(self.began);
        #[cfg(feature = "std")]
        return {
            let mut earlier = self.earlier;
            let is_lost = error.last().is_none() && error.is_timeout();
            let error = match earlier.pop_if(|_| is_lost) {
                Some(before) => RetryError::with_earlier(error.end(), before),
                None => error,
            };
            error.with_history(total_time, earlier)
        };
        #[cfg(not(feature = "std"))]
        {
            let _ = (total_time, self.earlier);
            error
        }
    }
}

/// The answer of a call with `history`.
#[diagnostic::on_unimplemented(
    message = "`history` is read from a `RetryError`, and `{Self}` has none",
    label = "this answer cannot hold the history of the call",
    note = "return `Result<T, reattempt::RetryError<E>>`, write `map_err = |error: reattempt::RetryError<E>| ...`, or drop `history`; without the feature `std` nothing can be kept",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait HoldsHistory<E> {
    /// Returns the same answer, with the history if the call gave up.
    #[must_use]
    fn with_history(self, history: History<E>, clock: &impl Clock) -> Self;
}

#[cfg(feature = "std")]
impl<T, E> HoldsHistory<E> for Result<T, RetryError<E>> {
    fn with_history(self, history: History<E>, clock: &impl Clock) -> Self {
        self.map_err(|error| history.of(error, clock))
    }
}

/// Returns `answer`, with the history if the call gave up.
#[inline(always)]
pub fn with_history<E, A: HoldsHistory<E>>(
    answer: A,
    history: History<E>,
    clock: &impl Clock,
) -> A {
    answer.with_history(history, clock)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::vec;

    use super::*;
    use crate::failure::GaveUp;
    use crate::reason::GiveUpReason;

    struct At(u64);

    impl Clock for At {
        fn now(&self) -> Timestamp {
            Timestamp::from_nanos(self.0)
        }
    }

    /// The error of an attempt before stands for one that time has ended.
    #[test]
    fn a_call_keeps_the_errors_before_the_last() {
        let end = GaveUp::new(GiveUpReason::Attempts, 3);
        for (error, last, all) in [
            (RetryError::new(end, Some(7)), Some(7), vec![1, 2, 7]),
            (
                RetryError::new(end.timed_out(), Some(7)),
                Some(7),
                vec![1, 2, 7],
            ),
            (RetryError::from(end.timed_out()), Some(2), vec![1, 2]),
            (RetryError::from(end), None, vec![1, 2]),
        ] {
            let is_late = error.is_timeout();
            let mut history = History::start(&At(3));
            for before in [Some(1), None, Some(2)] {
                history.push(before);
            }
            let answer: Result<(), _> = with_history(Err(error), history, &At(10));
            let Err(error) = answer else {
                panic!("it failed")
            };
            assert_eq!(
                error.total_time(),
                Some(core::time::Duration::from_nanos(7))
            );
            assert_eq!((error.last().copied(), error.is_timeout()), (last, is_late));
            assert!(error.errors().eq(&all), "{error:?}");
        }
        let fine: Result<u8, RetryError<u8>> = Ok(1);
        assert_eq!(with_history(fine, History::start(&At(0)), &At(0)), Ok(1));
    }
}
