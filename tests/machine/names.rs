//! The names that a release may change, each in one place.

pub(crate) use reattempt::GaveUp as CutOff;
pub(crate) use reattempt::GiveUpReason as Reason;
pub(crate) use reattempt::RetryError as Story;
pub(crate) use reattempt::timer::BlockingTimer;
pub(crate) use reattempt::timer::Timestamp;
use reattempt::{Policy, Verdict};
use std::time::Duration;

/// What the attribute reads as "the whole story": it goes by the name that is written.
macro_rules! whole_story {
    ($with:ident! { $($rest:tt)* }) => { $with! { [Result<u32, reattempt::RetryError<Fault>>] $($rest)* } };
}
pub(crate) use whole_story;

pub(crate) const FORBIDDEN: Verdict = Verdict::RetryForbidden;

pub(crate) const fn max_retry_after(policy: Policy, max_retry_after: Duration) -> Policy {
    policy.max_retry_after(max_retry_after)
}
