//! `cut_off = false`: the `timeout` of a policy that only the running program knows is not applied, and that is reported.

#[cfg(feature = "observe")]
use core::sync::atomic::{AtomicBool, Ordering};

use crate::operation::Site;
use crate::policy::Policy;

/// Whether a `timeout` that is not applied has been reported, for one place in the code.
#[derive(Debug)]
pub struct IgnoredTimeout {
    #[cfg(feature = "observe")]
    is_reported: AtomicBool,
}

impl IgnoredTimeout {
    /// Returns one of a place in the code.
    #[expect(clippy::new_without_default, reason = "only an expansion makes one")]
    pub const fn new() -> Self {
        Self {
            #[cfg(feature = "observe")]
            is_reported: AtomicBool::new(false),
        }
    }

    /// Reports a `timeout` of `policy`, once.
    #[inline(always)]
    pub fn check(&self, policy: &Policy, site: &Site) {
        if policy.values.timeout.is_some() {
            self.report(site);
        }
    }

    #[cfg(feature = "observe")]
    #[cold]
    #[inline(never)]
    fn report(&self, site: &Site) {
        if !self.is_reported.swap(true, Ordering::Relaxed) {
            reattempt_observe::report(&reattempt_observe::Event::TimeoutIgnored(site.name()));
        }
    }

    #[cfg(not(feature = "observe"))]
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "nobody can listen")]
    const fn report(&self, _: &Site) {}
}
