//! A permit for one call, and how it is settled.

use super::state_word::Seen;
use super::{Breaker, Open};
use reattempt_core::Verdict;
use reattempt_core::process::ProcessClock;
use reattempt_core::{Clock, Timestamp};

/// A permit apart from its breaker.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    pub(super) permit: Seen,
    /// Where slow calls count.
    pub(super) started: Timestamp,
}

impl Breaker {
    /// The call begins later than the permit was given.
    #[inline(always)]
    #[doc(hidden)]
    pub fn begin(&self, pass: &mut Pass, clock: &impl Clock) {
        if self.settings.slow.is_some() {
            pass.started = clock.shared();
        }
    }
}

impl Pass {
    /// No permit: it counts nothing.
    pub const NOTHING: Self = Self {
        permit: Seen::NOTHING,
        started: super::ORIGIN,
    };

    /// Returns whether it is that of a probe: dropped without a result it has to be given back.
    #[inline(always)]
    pub const fn is_probe(self) -> bool {
        self.permit.is_probe()
    }
}

impl Pass {
    /// Returns what is left of it when the permit has been given back: when the attempt began.
    #[must_use]
    pub const fn without_permit(self) -> Self {
        Self {
            permit: Seen::NOTHING,
            ..self
        }
    }

    /// Returns it for an attempt that began as early as that of another one.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            started: earlier.started,
            ..self
        }
    }
}

impl Breaker {
    /// Asks for a permit to call the service; the permit takes how the call ended.
    ///
    /// # Errors
    ///
    /// [`Open`] while calls are refused.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Breaker, Verdict};
    ///
    /// static PAYMENTS: Breaker = Breaker::count_window(1);
    ///
    /// PAYMENTS.permit()?.succeeded();
    /// PAYMENTS.permit()?.failed(Verdict::Transient);
    /// assert!(PAYMENTS.permit().is_err());
    /// # Ok::<(), reattempt::overload::breaker::Open>(())
    /// ```
    #[inline]
    pub fn permit(&self) -> Result<Permit<'_>, Open> {
        self.permit_with_clock(&ProcessClock)
    }

    /// Returns the same by a clock of your own, which all calls of this breaker then have to be
    /// counted by.
    ///
    /// # Errors
    ///
    /// [`Open`] while calls are refused.
    #[inline]
    pub fn permit_with_clock(&self, clock: &impl Clock) -> Result<Permit<'_>, Open> {
        let pass = self.admit(clock)?;
        Ok(Permit {
            breaker: self,
            pass,
        })
    }
}

/// A permit for one call. Dropped without a result it counts nothing, and where it was a probe another call
/// may be one.
#[derive(Debug)]
#[must_use = "dropped without a result the call counts nothing"]
pub struct Permit<'b> {
    breaker: &'b Breaker,
    pass: Pass,
}

impl Permit<'_> {
    /// The call succeeded.
    #[inline]
    pub fn succeeded(self) {
        self.succeeded_with_clock(&ProcessClock);
    }

    /// The same by a clock of your own.
    #[inline(always)]
    pub fn succeeded_with_clock(mut self, clock: &impl Clock) {
        // Held until it is settled: a clock that panics gives it back.
        if self.breaker.succeeded(self.pass) {
            self.breaker.settle_success(self.pass, clock);
        }
        self.pass = Pass::NOTHING;
    }

    /// The call failed. `Permanent` is the answer of a service that works: a probe has succeeded, and the window of a
    /// closed breaker leaves the call out. `RetryForbidden` says nothing about health: as if the permit had been
    /// dropped.
    #[inline]
    pub fn failed(self, verdict: Verdict) {
        self.failed_with_clock(verdict, &ProcessClock);
    }

    /// The same by a clock of your own.
    #[inline]
    pub fn failed_with_clock(mut self, verdict: Verdict, clock: &impl Clock) {
        self.breaker.settle_error(self.pass, verdict, clock);
        self.pass = Pass::NOTHING;
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.pass.is_probe() {
            self.breaker.give_back(self.pass);
        }
    }
}
