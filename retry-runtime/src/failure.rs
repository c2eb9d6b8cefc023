//! What a caller sees when a call was cut off, or asks for the whole story.

use core::fmt;

use crate::call::GaveUp;
use crate::verdict::{Classify, Verdict};

/// A call that ended where no error of its own exists: the deadline cut an
/// attempt off, the last attempt timed out, or polling (`until`) ran out of
/// attempts.
///
/// A policy that can end so wants `From<Interrupted>` of the function's error;
/// an error type that cannot have it is wrapped: `Result<T, Failed<E>>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted {
    reason: GaveUp,
    attempts: u32,
    timed_out: bool,
}

impl Interrupted {
    pub(crate) const fn new(reason: GaveUp, attempts: u32) -> Self {
        Self {
            reason,
            attempts,
            timed_out: false,
        }
    }

    /// The same, whose last attempt took longer than `timeout`.
    pub(crate) const fn timed_out(self) -> Self {
        Self {
            timed_out: true,
            ..self
        }
    }

    /// Why the call ended.
    pub const fn reason(&self) -> GaveUp {
        self.reason
    }

    /// Attempts that were started.
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether it was time that ran out: the last attempt took longer than
    /// `timeout`, or the deadline was over.
    pub const fn is_timeout(&self) -> bool {
        self.timed_out || matches!(self.reason, GaveUp::Deadline)
    }
}

impl fmt::Display for Interrupted {
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

impl core::error::Error for Interrupted {}

/// The error of a function that is written `-> Result<T, Failed<E>>`: why and
/// after how many attempts the call ended, and the last error, if there is one.
///
/// The body of such a function still speaks `Result<T, E>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed<E> {
    end: Interrupted,
    last: Option<E>,
}

impl<E> Failed<E> {
    pub(crate) const fn new(end: Interrupted, last: Option<E>) -> Self {
        Self { end, last }
    }

    /// Why the call ended.
    pub const fn reason(&self) -> GaveUp {
        self.end.reason
    }

    /// Attempts that were started.
    pub const fn attempts(&self) -> u32 {
        self.end.attempts
    }

    /// Whether it was time that ran out: the last attempt took longer than
    /// `timeout`, or the deadline was over. It does not look into the last error.
    pub const fn is_timeout(&self) -> bool {
        self.end.is_timeout()
    }

    /// The last attempt's error; `None` when it had none: it was cut off, or polling
    /// ended without a final value.
    pub const fn last(&self) -> Option<&E> {
        self.last.as_ref()
    }

    /// The last error, by value.
    pub fn into_last(self) -> Option<E> {
        self.last
    }
}

impl<E: fmt::Display> fmt::Display for Failed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.end.fmt(f)?;
        match &self.last {
            Some(error) => write!(f, "; last error: {error}"),
            None => Ok(()),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for Failed<E> {
    /// The cause of the last error; the last error itself is part of the message.
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.last.as_ref().and_then(core::error::Error::source)
    }
}

impl<E> From<Interrupted> for Failed<E> {
    fn from(interrupted: Interrupted) -> Self {
        Self::new(interrupted, None)
    }
}

/// For a call around the one that was cut off: it may have been executed, unless
/// the service or the policy ruled another attempt out.
impl Classify for Interrupted {
    fn classify(&self) -> Verdict {
        match self.reason {
            GaveUp::Permanent => Verdict::Permanent,
            GaveUp::Forbidden => Verdict::Forbidden,
            GaveUp::Patience => Verdict::Throttled(None),
            // Turned away before the first attempt.
            GaveUp::BreakerOpen | GaveUp::Throttle if self.attempts == 0 => Verdict::Refused,
            GaveUp::Attempts
            | GaveUp::Deadline
            | GaveUp::Nested
            | GaveUp::Strategy
            | GaveUp::BreakerOpen
            | GaveUp::Throttle
            | GaveUp::Budget
            | GaveUp::Disabled => Verdict::Transient,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}

/// As the last error says; without one, as [`Interrupted`] does.
impl<E: Classify> Classify for Failed<E> {
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
