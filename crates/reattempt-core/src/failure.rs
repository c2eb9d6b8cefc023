//! The errors of calls that were given up: [`GaveUp`] and [`RetryError`].

use core::fmt;

use crate::reason::GiveUpReason;
use crate::verdict::{Classify, Verdict};

/// The end of a call that has no error of its own: the deadline cancelled an attempt, the last
/// attempt timed out, or polling (`until`) ran out of attempts.
///
/// A policy that can end so wants `From<GaveUp>` of the function's error. `std::io::Error` has it, and with their features the
/// errors of aws, diesel, `mysql_async`, `object_store`, redis, reqwest-middleware, sqlx, tonic and ureq; so have boxed errors,
/// `anyhow` and `eyre`. An error type that cannot have it, such as that of reqwest, is wrapped: `Result<T, RetryError<E>>`.
// In this order, so that a `Result<(), GaveUp>` is distinguished by its first four bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GaveUp {
    reason: GiveUpReason,
    timed_out: bool,
    attempts: u32,
}

impl GaveUp {
    /// Returns the end of a call that was given up for `reason` after so many attempts.
    pub const fn new(reason: GiveUpReason, attempts: u32) -> Self {
        Self {
            reason,
            attempts,
            timed_out: false,
        }
    }

    /// Returns the same end of a call whose last attempt took longer than `timeout`.
    #[must_use = "an end is not changed in place"]
    pub const fn timed_out(self) -> Self {
        Self {
            timed_out: true,
            ..self
        }
    }

    /// Returns why the call ended.
    pub const fn reason(&self) -> GiveUpReason {
        self.reason
    }

    /// Returns the number of attempts that started.
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Returns whether time ran out: the last attempt took longer than `timeout`, or the deadline
    /// passed.
    pub const fn is_timeout(&self) -> bool {
        self.timed_out || matches!(self.reason, GiveUpReason::Deadline)
    }
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "gave up after {}: {}",
            Attempts(self.attempts),
            self.reason
        )?;
        if self.timed_out {
            f.write_str("; the last attempt timed out")?;
        }
        Ok(())
    }
}

impl core::error::Error for GaveUp {}

/// The error of a function with the return type `Result<T, RetryError<E>>`: the reason why the call
/// ended, the number of attempts, and the last error, if there is one.
///
/// The body of such a function still speaks `Result<T, E>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryError<E> {
    end: GaveUp,
    last: Option<E>,
}

impl<E> RetryError<E> {
    /// Returns the error of a call that ended so, with its last error if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{GaveUp, GiveUpReason, RetryError};
    ///
    /// let error = RetryError::new(GaveUp::new(GiveUpReason::Attempts, 3), Some("no answer"));
    /// assert_eq!(error.to_string(), "gave up after 3 attempts: all attempts are used up; last error: no answer");
    /// ```
    pub const fn new(end: GaveUp, last: Option<E>) -> Self {
        Self { end, last }
    }

    /// Returns why the call ended.
    pub const fn reason(&self) -> GiveUpReason {
        self.end.reason
    }

    /// Returns the number of attempts that started.
    pub const fn attempts(&self) -> u32 {
        self.end.attempts
    }

    /// Returns whether time ran out: the last attempt took longer than `timeout`, or the deadline
    /// passed. It does not look into the last error.
    pub const fn is_timeout(&self) -> bool {
        self.end.is_timeout()
    }

    /// Returns the error of the last attempt; `None` if it had none: a limit cancelled it, or
    /// polling ended without a final value.
    pub const fn last(&self) -> Option<&E> {
        self.last.as_ref()
    }

    /// Returns the last error by value.
    pub fn into_last(self) -> Option<E> {
        self.last
    }
}

impl<E: fmt::Display> fmt::Display for RetryError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.end.fmt(f)?;
        match &self.last {
            Some(error) => write!(f, "; last error: {error}"),
            None => Ok(()),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for RetryError<E> {
    /// The cause of the last error; the last error itself is part of the message.
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.last.as_ref().and_then(core::error::Error::source)
    }
}

impl<E> From<GaveUp> for RetryError<E> {
    fn from(end: GaveUp) -> Self {
        Self::new(end, None)
    }
}

/// For the caller of a call that was given up: the operation may have run, unless the service or the policy forbids
/// another attempt. The errors of libraries that are made of a `GaveUp` have the same verdict.
///
/// | reason | verdict |
/// |---|---|
/// | `Permanent` | `Permanent` |
/// | `RetryForbidden` | `RetryForbidden` |
/// | `RetryAfterTooLong` | `Throttled(None)` |
/// | `BreakerOpen`, `Throttle`, before the first attempt | `Refused` |
/// | any other | `Transient` |
#[diagnostic::do_not_recommend]
impl Classify for GaveUp {
    fn classify(&self) -> Verdict {
        match self.reason {
            GiveUpReason::Permanent => Verdict::Permanent,
            GiveUpReason::RetryForbidden => Verdict::RetryForbidden,
            GiveUpReason::RetryAfterTooLong => Verdict::Throttled(None),
            // Turned away before the first attempt.
            GiveUpReason::BreakerOpen | GiveUpReason::Throttle if self.attempts == 0 => {
                Verdict::Refused
            }
            GiveUpReason::Attempts
            | GiveUpReason::Deadline
            | GiveUpReason::Nested
            | GiveUpReason::Strategy
            | GiveUpReason::BreakerOpen
            | GiveUpReason::Throttle
            | GiveUpReason::Budget
            | GiveUpReason::Disabled
            | GiveUpReason::InvalidPolicy => Verdict::Transient,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}

/// The last error decides; without one, [`GaveUp`] does.
#[diagnostic::do_not_recommend]
impl<E: Classify> Classify for RetryError<E> {
    fn classify(&self) -> Verdict {
        match &self.last {
            Some(error) => error.classify(),
            None => self.end.classify(),
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        match &self.last {
            Some(error) => error.message(),
            None => Some(&self.end),
        }
    }
}

struct Attempts(u32);

impl fmt::Display for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 attempt"),
            n => write!(f, "{n} attempts"),
        }
    }
}
