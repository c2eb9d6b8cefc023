//! How a call ended that was given up: [`GaveUp`].

use core::fmt;
use core::time::Duration;

use crate::reason::GiveUpReason;
use crate::verdict::{Classify, Verdict};

/// The end of a call that has no error of its own: the deadline cancelled an attempt, the last
/// attempt timed out, or polling (`until`) ran out of attempts.
///
/// A policy that can end so wants `From<GaveUp>` of the function's error. `std::io::Error` and `http::RequestError` have it, and with their features the
/// errors of aws, diesel, `mysql_async`, `object_store`, redis, reqwest-middleware, sqlx, tonic and ureq; so have boxed errors,
/// `anyhow` and `eyre`. An error type that cannot have it, such as that of reqwest, is wrapped: `Result<T, RetryError<E>>`.
///
/// Two ends are equal if they have the same reason, number of attempts and time-out; [`retry_after`](Self::retry_after)
/// does not count.
// In this order, so that a `Result<(), GaveUp>` is distinguished by its first four bytes. Eight bytes, so that a call hands
// it on in a register.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GaveUp {
    reason: GiveUpReason,
    last_attempt: LastAttempt,
    retry_after: Wait,
    attempts: u32,
}

/// What became of the last attempt of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastAttempt {
    /// It came to an error or a value, or there was none.
    Ended,
    /// It took longer than `timeout`.
    TimedOut,
    /// It ended without an error for another reason, while an attempt before it had one.
    Unknown,
}

impl PartialEq for GaveUp {
    fn eq(&self, other: &Self) -> bool {
        self.reason == other.reason
            && self.last_timed_out() == other.last_timed_out()
            && self.attempts == other.attempts
    }
}

impl Eq for GaveUp {}

/// A duration in two bytes: whole seconds, from the highest bit on whole minutes; 0 where it is not known.
#[derive(Debug, Clone, Copy)]
struct Wait(u16);

impl Wait {
    const UNKNOWN: Self = Self(0);
    const MINUTES: u16 = 1 << 15;

    /// Rounds up, so that nobody comes too early.
    #[expect(clippy::cast_possible_truncation, reason = "below the highest bit")]
    const fn of(duration: Duration) -> Self {
        let seconds = duration
            .as_secs()
            .saturating_add((duration.subsec_nanos() > 0) as u64);
        let minutes = seconds.div_ceil(60);
        Self(if seconds == 0 {
            1
        } else if seconds < Self::MINUTES as u64 {
            seconds as u16
        } else if minutes < Self::MINUTES as u64 {
            minutes as u16 | Self::MINUTES
        } else {
            u16::MAX
        })
    }

    const fn duration(self) -> Option<Duration> {
        match self.0 {
            0 => None,
            seconds @ ..Self::MINUTES => Some(Duration::from_secs(seconds as u64)),
            minutes => {
                let minutes = (minutes & !Self::MINUTES) as u64;
                Some(Duration::from_secs(minutes.saturating_mul(60)))
            }
        }
    }
}

impl GaveUp {
    /// Returns the end of a call that was given up for `reason` after so many attempts.
    pub const fn new(reason: GiveUpReason, attempts: u32) -> Self {
        Self {
            reason,
            attempts,
            last_attempt: LastAttempt::Ended,
            retry_after: Wait::UNKNOWN,
        }
    }

    /// Returns the same end, where it is known after how long another try makes sense: in whole seconds, rounded up, above
    /// 9 hours in whole minutes.
    #[must_use = "an end is not changed in place"]
    pub const fn with_retry_after(self, wait: Duration) -> Self {
        Self {
            retry_after: Wait::of(wait),
            ..self
        }
    }

    /// Returns after how long another try makes sense: what the last error asked for, or the rest of a breaker's
    /// cool-down, else what the [reason](GiveUpReason::retry_after) says. `None` where no other try makes sense.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{GaveUp, GiveUpReason};
    /// use std::time::Duration;
    ///
    /// let end = GaveUp::new(GiveUpReason::RetryAfterTooLong, 1);
    /// assert_eq!(end.retry_after(), Some(Duration::from_secs(60)));
    /// let asked = end.with_retry_after(Duration::from_secs(90));
    /// assert_eq!(asked.retry_after(), Some(Duration::from_secs(90)));
    /// ```
    pub const fn retry_after(&self) -> Option<Duration> {
        match (self.reason.retry_after(), self.retry_after.duration()) {
            (Some(_), Some(known)) => Some(known),
            (by_reason, _) => by_reason,
        }
    }

    /// Returns the same end of a call whose last attempt took longer than `timeout`.
    #[must_use = "an end is not changed in place"]
    pub const fn timed_out(self) -> Self {
        Self {
            last_attempt: LastAttempt::TimedOut,
            ..self
        }
    }

    /// Returns the same end of a call whose last error is that of an attempt before the last one.
    pub(crate) const fn with_earlier_error(self) -> Self {
        let last_attempt = match self.last_attempt {
            LastAttempt::Ended => LastAttempt::Unknown,
            known => known,
        };
        Self {
            last_attempt,
            ..self
        }
    }

    /// Returns whether the last attempt has no error, so that one that is known is that of an attempt before it.
    pub(crate) const fn is_error_earlier(self) -> bool {
        !matches!(self.last_attempt, LastAttempt::Ended)
    }

    const fn last_timed_out(self) -> bool {
        matches!(self.last_attempt, LastAttempt::TimedOut)
    }

    /// Returns the same end of a call with so many attempts.
    pub(crate) const fn after(self, attempts: u32) -> Self {
        Self { attempts, ..self }
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
        self.last_timed_out() || matches!(self.reason, GiveUpReason::Deadline)
    }
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Inside another sentence, which says that a call gave up already.
        if !f.alternate() {
            write!(f, "gave up after {} because ", Attempts(self.attempts))?;
        }
        self.reason.fmt(f)?;
        if self.last_timed_out() {
            f.write_str(" and the last attempt timed out")?;
        }
        Ok(())
    }
}

impl core::error::Error for GaveUp {}

/// For the caller of a call that was given up: the operation may have run, unless the service or the policy forbids
/// another attempt. The errors of libraries that are made of a `GaveUp` have the same verdict.
///
/// | reason | verdict |
/// |---|---|
/// | `Permanent`, `NotIdempotent` | `Permanent` |
/// | `RetryForbidden` | `RetryForbidden` |
/// | `RetryAfterTooLong` | `Throttled(None)` |
/// | `BreakerOpen`, `BulkheadFull`, `Throttle`, before the first attempt | `Refused` |
/// | any other | `Transient` |
#[diagnostic::do_not_recommend]
impl Classify for GaveUp {
    fn classify(&self) -> Verdict {
        match self.reason {
            GiveUpReason::Permanent | GiveUpReason::NotIdempotent => Verdict::Permanent,
            GiveUpReason::RetryForbidden => Verdict::RetryForbidden,
            GiveUpReason::RetryAfterTooLong => Verdict::Throttled(None),
            // Turned away before the first attempt.
            GiveUpReason::BreakerOpen | GiveUpReason::BulkheadFull | GiveUpReason::Throttle
                if self.attempts == 0 =>
            {
                Verdict::Refused
            }
            GiveUpReason::Attempts
            | GiveUpReason::Deadline
            | GiveUpReason::Nested
            | GiveUpReason::Strategy
            | GiveUpReason::BreakerOpen
            | GiveUpReason::BulkheadFull
            | GiveUpReason::Throttle
            | GiveUpReason::Budget
            | GiveUpReason::Disabled
            | GiveUpReason::InvalidPolicy => Verdict::Transient,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        code == "timeout" && self.last_timed_out()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_rounded_up_and_saturates() {
        let table = [
            (Duration::ZERO, 1),
            (Duration::from_nanos(1), 1),
            (Duration::from_secs(7), 7),
            (Duration::from_millis(7_001), 8),
            (Duration::from_secs(32_767), 32_767),
            (Duration::from_secs(32_768), 547 * 60),
            (Duration::from_secs(86_400), 86_400),
            (Duration::MAX, 32_767 * 60),
        ];
        for (wait, seconds) in table {
            let end = GaveUp::new(GiveUpReason::Attempts, 1).with_retry_after(wait);
            assert_eq!(
                end.retry_after(),
                Some(Duration::from_secs(seconds)),
                "{wait:?}"
            );
        }
    }

    #[test]
    fn ends_are_the_same_whenever_one_may_come_again() {
        let end = GaveUp::new(GiveUpReason::Attempts, 2);
        assert_eq!(end, end.with_retry_after(Duration::from_secs(1)));
        assert_ne!(end, GaveUp::new(GiveUpReason::Attempts, 3));
        assert_ne!(end, GaveUp::new(GiveUpReason::Budget, 2));
        assert_ne!(end, GaveUp::new(GiveUpReason::Budget, 3));
        let late = GaveUp {
            last_attempt: LastAttempt::TimedOut,
            ..end
        };
        assert_ne!(end, late);
    }

    #[test]
    fn an_end_says_what_it_was_made_of() {
        let end = GaveUp::new(GiveUpReason::Budget, 2);
        let late = end.timed_out();
        let earlier = end.with_earlier_error();
        for (end, is_timeout, is_earlier, said) in [
            (end, false, false, ""),
            (late, true, true, " and the last attempt timed out"),
            (earlier, false, true, ""),
            (
                late.with_earlier_error(),
                true,
                true,
                " and the last attempt timed out",
            ),
        ] {
            assert_eq!((end.reason(), end.attempts()), (GiveUpReason::Budget, 2));
            assert_eq!(
                (end.is_timeout(), end.is_error_earlier()),
                (is_timeout, is_earlier)
            );
            assert_eq!(end.has_code("timeout"), is_timeout);
            assert!(!end.has_code("connection"));
            let after = end.after(3);
            assert_eq!((after.attempts(), after.is_timeout()), (3, is_timeout));
            #[cfg(feature = "std")]
            {
                use std::string::ToString as _;
                let because = std::format!("the retry budget is empty{said}");
                assert_eq!(std::format!("{end:#}"), because);
                let sentence = std::format!("gave up after 2 attempts because {because}");
                assert_eq!(end.to_string(), sentence);
                assert_eq!(end.message().map(ToString::to_string), Some(sentence));
                let one = std::format!("gave up after 1 attempt because {because}");
                assert_eq!(end.after(1).to_string(), one);
            }
            #[cfg(not(feature = "std"))]
            let _ = said;
        }
        let deadline = GaveUp::new(GiveUpReason::Deadline, 1);
        assert!(deadline.is_timeout() && !deadline.has_code("timeout"));
        assert_eq!(late.retry_after(), Some(Duration::from_secs(10)));
    }

    #[test]
    fn an_end_fits_a_register() {
        assert_eq!(size_of::<GaveUp>(), 8);
        assert_eq!(size_of::<Result<Duration, GaveUp>>(), 16);
    }

    #[test]
    fn no_wait_helps_what_is_final() {
        for reason in [
            GiveUpReason::Permanent,
            GiveUpReason::NotIdempotent,
            GiveUpReason::RetryForbidden,
        ] {
            let end = GaveUp::new(reason, 1).with_retry_after(Duration::from_secs(1));
            assert_eq!(end.retry_after(), None, "{reason:?}");
        }
    }
}
