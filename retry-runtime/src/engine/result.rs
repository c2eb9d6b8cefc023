//! The result of an attempt that has not ended its call with success.

use crate::attempt::Cause;
use crate::verdict::Verdict;
#[cfg(feature = "observe")]
use reattempt_core::RetryCause;

/// What an attempt came to that has not ended its call with success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptResult {
    /// It failed with an error of this verdict.
    Failed(Verdict),
    /// It succeeded with a value that `until` does not accept.
    NotFinal,
    /// It took longer than `timeout`.
    TimedOut,
    /// The deadline cut it off.
    CutOff,
}

impl AttemptResult {
    #[inline(always)]
    pub(crate) const fn of<E: ?Sized>(cause: &Cause<'_, E>, verdict: Verdict) -> Self {
        match cause {
            Cause::Error(_) => Self::Failed(verdict),
            Cause::NotFinal => Self::NotFinal,
            Cause::TimedOut => Self::TimedOut,
        }
    }

    /// Returns why it may be retried; `None` where it may not.
    #[cfg(feature = "observe")]
    pub(super) const fn cause(self) -> Option<RetryCause> {
        match self {
            Self::Failed(verdict) => RetryCause::of(verdict),
            Self::NotFinal => Some(RetryCause::NotFinal),
            Self::TimedOut => Some(RetryCause::Timeout),
            Self::CutOff => None,
        }
    }

    /// Returns what it says about the service; `None` for an answer, be it one that is not final.
    pub const fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Failed(verdict) => Some(verdict),
            // Ambiguous: the service may have executed what it has not answered in time.
            Self::TimedOut | Self::CutOff => Some(Verdict::Transient),
            Self::NotFinal => None,
        }
    }
}

/// Where the last attempt of a call stood when the call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It came to this.
    Attempt(AttemptResult),
    /// It was reported before; no other followed.
    BetweenAttempts,
}
