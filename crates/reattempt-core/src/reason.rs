//! Why a call was given up.

use core::fmt;
use core::time::Duration;

/// Why a call ended without success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GiveUpReason {
    /// The error is not to be retried.
    Permanent,
    /// The operation is not idempotent, and the failed attempt may have been executed: the error alone would be retried.
    NotIdempotent,
    /// The service forbade another attempt.
    RetryForbidden,
    /// The attempts are used up.
    Attempts,
    /// The next attempt could not start before the deadline, or the deadline
    /// cut an attempt off.
    Deadline,
    /// The service asked for a longer delay than the policy's `max_retry_after`.
    RetryAfterTooLong,
    /// The call ran inside a retry of another call, which decides instead.
    Nested,
    /// The user's strategy said so.
    Strategy,
    /// The circuit breaker is open: too many calls of this service failed.
    BreakerOpen,
    /// The bulkhead is full: as many attempts run at the same time as may.
    BulkheadFull,
    /// The throttle let no attempt through: the service turned too many away.
    Throttle,
    /// The retry budget is empty: too many calls of this service failed.
    Budget,
    /// Retries are switched off.
    Disabled,
    /// The policy has a value that means nothing, such as a `max` of 0 or a `factor` of NaN: the call made a single
    /// attempt.
    InvalidPolicy,
}

impl GiveUpReason {
    /// Returns the name of this reason in events and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Permanent => "permanent",
            Self::NotIdempotent => "not_idempotent",
            Self::RetryForbidden => "retry_forbidden",
            Self::Attempts => "attempts",
            Self::Deadline => "deadline",
            Self::RetryAfterTooLong => "retry_after_too_long",
            Self::Nested => "nested",
            Self::Strategy => "strategy",
            Self::BreakerOpen => "breaker_open",
            Self::BulkheadFull => "bulkhead_full",
            Self::Throttle => "throttle",
            Self::Budget => "budget",
            Self::Disabled => "disabled",
            Self::InvalidPolicy => "invalid_policy",
        }
    }

    /// Returns after how long another try makes sense, as far as the reason alone tells; `None` where none does, because
    /// it would end in the same way.
    ///
    /// [`GaveUp::retry_after`](crate::GaveUp::retry_after) knows more where the service, or a breaker, says when.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::GiveUpReason;
    ///
    /// fn advice(reason: GiveUpReason) -> String {
    ///     match reason.retry_after() {
    ///         Some(wait) => format!("try again in {} s", wait.as_secs()),
    ///         None => "check the request".to_owned(),
    ///     }
    /// }
    ///
    /// assert_eq!(advice(GiveUpReason::Attempts), "try again in 10 s");
    /// assert_eq!(advice(GiveUpReason::Permanent), "check the request");
    /// ```
    pub const fn retry_after(self) -> Option<Duration> {
        let seconds = match self {
            Self::Permanent | Self::NotIdempotent | Self::RetryForbidden | Self::InvalidPolicy => {
                return None;
            }
            // The call above decides within its own delays, and a slot is free when any attempt ends.
            Self::Nested | Self::BulkheadFull => 1,
            // A service that fails for the length of a call, or a breaker, needs longer than a delay between attempts.
            Self::Attempts
            | Self::Deadline
            | Self::Strategy
            | Self::BreakerOpen
            | Self::Throttle
            | Self::Budget => 10,
            // More than `max_retry_after`, which is a minute by default; and somebody has to switch retries on.
            Self::RetryAfterTooLong | Self::Disabled => 60,
        };
        Some(Duration::from_secs(seconds))
    }
}

impl fmt::Display for GiveUpReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Permanent => "the error is not to be retried",
            Self::NotIdempotent => "the operation is not idempotent and may have been executed",
            Self::RetryForbidden => "the service forbade another attempt",
            Self::Attempts => "all attempts are used up",
            Self::Deadline => "the deadline leaves no time for another attempt",
            Self::RetryAfterTooLong => {
                "the service asked for a longer delay than `max_retry_after` allows"
            }
            Self::Nested => "the call above is retrying already",
            Self::Strategy => "the strategy said so",
            Self::BreakerOpen => "the circuit breaker is open",
            Self::BulkheadFull => "the bulkhead is full",
            Self::Throttle => "the throttle let no attempt through",
            Self::Budget => "the retry budget is empty",
            Self::Disabled => "retries are switched off",
            Self::InvalidPolicy => "the policy has a value that means nothing",
        })
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::string::ToString as _;

    use super::*;

    #[test]
    fn every_reason_has_a_name_a_text_and_a_wait() {
        use GiveUpReason as Reason;
        for (reason, name, wait, text) in [
            (Reason::Permanent, "permanent", 0, "not to be retried"),
            (
                Reason::NotIdempotent,
                "not_idempotent",
                0,
                "is not idempotent",
            ),
            (Reason::RetryForbidden, "retry_forbidden", 0, "forbade"),
            (Reason::Attempts, "attempts", 10, "used up"),
            (Reason::Deadline, "deadline", 10, "the deadline"),
            (
                Reason::RetryAfterTooLong,
                "retry_after_too_long",
                60,
                "`max_retry_after`",
            ),
            (Reason::Nested, "nested", 1, "the call above"),
            (Reason::Strategy, "strategy", 10, "the strategy"),
            (Reason::BreakerOpen, "breaker_open", 10, "breaker is open"),
            (Reason::BulkheadFull, "bulkhead_full", 1, "bulkhead is full"),
            (Reason::Throttle, "throttle", 10, "the throttle"),
            (Reason::Budget, "budget", 10, "budget is empty"),
            (Reason::Disabled, "disabled", 60, "switched off"),
            (Reason::InvalidPolicy, "invalid_policy", 0, "means nothing"),
        ] {
            assert_eq!(reason.as_str(), name);
            let seconds = reason.retry_after().map_or(0, |wait| wait.as_secs());
            assert_eq!(seconds, wait, "{name}");
            assert!(reason.to_string().contains(text), "{reason}");
        }
    }
}
