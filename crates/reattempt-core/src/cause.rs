//! Why attempts fail, in one word each: a label of metrics, so there are few.

use core::fmt;

use crate::Verdict;

/// What a failed attempt says about the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RetryCause {
    /// No answer: the connection broke, or the network did not reach the service.
    Connection,
    /// The value is not final yet: `until` asks again.
    NotFinal,
    /// The service refused before it executed anything: no connection, or a node that leaves.
    Refused,
    /// The service is busy: it throttled the call, or asked for a delay. If this cause is frequent, the service is too small.
    Throttled,
    /// No answer in time, by the key `timeout` or by a time-out of the client's own.
    Timeout,
    /// Any other error that may pass, such as a status 500, or 503 without a delay. Errors of clients that do not tell a
    /// lost connection apart are here, too.
    Transient,
}

impl RetryCause {
    /// Returns the cause of a retry after an error of this verdict; `None` for one that is not retried.
    #[doc(hidden)]
    pub const fn of(verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::Transient => Some(Self::Transient),
            Verdict::TransientAfter(_) | Verdict::Throttled(_) => Some(Self::Throttled),
            Verdict::Refused => Some(Self::Refused),
            Verdict::Permanent | Verdict::RetryForbidden => None,
        }
    }

    /// Returns the cause of an error that is not an answer of the service, by its codes.
    #[doc(hidden)]
    pub fn by_code(has_code: impl Fn(&str) -> bool) -> Option<Self> {
        let mut causes = [Self::Timeout, Self::Connection].into_iter();
        causes.find(|cause| has_code(cause.as_str()))
    }

    /// Returns the name of this cause in events, metrics and statistics: `connection`, `not_final`, `refused`,
    /// `throttled`, `timeout`, `transient`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::NotFinal => "not_final",
            Self::Refused => "refused",
            Self::Throttled => "throttled",
            Self::Timeout => "timeout",
            Self::Transient => "transient",
        }
    }
}

impl fmt::Display for RetryCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::string::ToString as _;

    use super::*;

    #[test]
    fn every_cause_has_a_name() {
        for (cause, name) in [
            (RetryCause::Connection, "connection"),
            (RetryCause::NotFinal, "not_final"),
            (RetryCause::Refused, "refused"),
            (RetryCause::Throttled, "throttled"),
            (RetryCause::Timeout, "timeout"),
            (RetryCause::Transient, "transient"),
        ] {
            assert_eq!((cause.as_str(), &*cause.to_string()), (name, name));
            let by_code = RetryCause::by_code(|code| code == name);
            let is_code = matches!(cause, RetryCause::Connection | RetryCause::Timeout);
            assert_eq!(by_code, is_code.then_some(cause));
        }
        assert_eq!(RetryCause::by_code(|_| true), Some(RetryCause::Timeout));
    }

    #[test]
    fn the_verdict_has_a_cause_where_it_is_retried() {
        for (verdict, cause) in [
            (Verdict::Transient, Some(RetryCause::Transient)),
            (
                Verdict::TransientAfter(core::time::Duration::ZERO),
                Some(RetryCause::Throttled),
            ),
            (Verdict::Throttled(None), Some(RetryCause::Throttled)),
            (Verdict::Refused, Some(RetryCause::Refused)),
            (Verdict::Permanent, None),
            (Verdict::RetryForbidden, None),
        ] {
            assert_eq!(RetryCause::of(verdict), cause, "{verdict:?}");
        }
    }
}
