//! Why a call was given up.

use core::fmt;

/// Why a call ended without success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GiveUpReason {
    /// The error is not to be retried.
    Permanent,
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
            Self::RetryForbidden => "retry_forbidden",
            Self::Attempts => "attempts",
            Self::Deadline => "deadline",
            Self::RetryAfterTooLong => "retry_after_too_long",
            Self::Nested => "nested",
            Self::Strategy => "strategy",
            Self::BreakerOpen => "breaker_open",
            Self::Throttle => "throttle",
            Self::Budget => "budget",
            Self::Disabled => "disabled",
            Self::InvalidPolicy => "invalid_policy",
        }
    }
}

impl fmt::Display for GiveUpReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Permanent => "the error is not to be retried",
            Self::RetryForbidden => "the service forbade another attempt",
            Self::Attempts => "all attempts are used up",
            Self::Deadline => "the deadline leaves no time for another attempt",
            Self::RetryAfterTooLong => {
                "the service asked for a longer delay than `max_retry_after` allows"
            }
            Self::Nested => "the call above is retrying already",
            Self::Strategy => "the strategy said so",
            Self::BreakerOpen => "the circuit breaker is open",
            Self::Throttle => "the throttle let no attempt through",
            Self::Budget => "the retry budget is empty",
            Self::Disabled => "retries are switched off",
            Self::InvalidPolicy => "the policy has a value that means nothing",
        })
    }
}
