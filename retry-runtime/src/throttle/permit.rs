//! What a throttle answers: a permit for one attempt, or a refusal.

use core::fmt;
use core::time::Duration;

use super::{Kind, Throttle};
use crate::timer::{Clock, Shared};
use crate::verdict::{Classify, Verdict};

/// One attempt that a [`Throttle`] allows, after [`wait`](Self::wait).
///
/// The attempt tells it how it ended. Dropped without that it says nothing about the service, and
/// a token that is not spent yet goes back.
#[must_use = "dropped at once it gives its token back; hold it until the attempt has ended"]
#[derive(Debug)]
pub struct Permit<'t> {
    throttle: &'t Throttle,
    wait: Duration,
    /// A token that goes back when this is dropped.
    reserved: bool,
}

impl<'t> Permit<'t> {
    pub(super) const fn new(throttle: &'t Throttle, wait: Option<Duration>) -> Self {
        Self {
            throttle,
            reserved: wait.is_some(),
            wait: match wait {
                Some(wait) => wait,
                None => Duration::ZERO,
            },
        }
    }

    /// How long to wait before the attempt.
    ///
    /// # Units and ranges
    ///
    /// 0 when the attempt may start now: always with [`Throttle::adaptive`]. Others who ask
    /// meanwhile are told later moments, so nobody has to ask again.
    pub fn wait(&self) -> Duration {
        self.wait
    }

    /// The attempt starts: its token is spent, whatever becomes of it.
    pub fn spend(&mut self) {
        self.reserved = false;
    }

    /// The attempt succeeded.
    pub fn answered(self) {
        self.answered_by(&Shared);
    }

    /// [`answered`](Self::answered) with a clock.
    pub fn answered_by(mut self, clock: &impl Clock) {
        self.spend();
        let now = clock.shared();
        match &self.throttle.kind {
            Kind::Adaptive(adaptive) => adaptive.add(now, true),
            Kind::Cubic(cubic) => cubic.answered(now),
        }
    }

    /// The attempt failed.
    ///
    /// [`Verdict::Permanent`] is an answer: the service is well. Any other verdict is none; only
    /// [`Verdict::Throttled`] lowers the rate of [`Throttle::cubic`].
    pub fn failed(self, verdict: Verdict) {
        self.failed_by(verdict, &Shared);
    }

    /// [`failed`](Self::failed) with a clock.
    pub fn failed_by(mut self, verdict: Verdict, clock: &impl Clock) {
        if verdict == Verdict::Permanent {
            return self.answered_by(clock);
        }
        self.spend();
        let now = clock.shared();
        match (&self.throttle.kind, verdict) {
            (Kind::Adaptive(adaptive), _) => adaptive.add(now, false),
            (Kind::Cubic(cubic), Verdict::Throttled(_)) => cubic.throttled(now),
            (Kind::Cubic(cubic), _) => cubic.failed(now),
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.reserved
            && let Kind::Cubic(cubic) = &self.throttle.kind
        {
            cubic.give_back();
        }
    }
}

/// A [`Throttle`] refused a call: the service accepts few of them at present.
///
/// Its verdict is [`Verdict::Refused`]: nothing was executed, and a later attempt may be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the throttle refused the call")
    }
}

impl std::error::Error for Refused {}

impl Classify for Refused {
    fn classify(&self) -> Verdict {
        Verdict::Refused
    }
}
