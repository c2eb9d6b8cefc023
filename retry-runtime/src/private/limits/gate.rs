//! What is asked before each attempt and told what it came to: a breaker, a throttle.

use core::time::Duration;

use crate::call::GaveUp;
use crate::events::Came;
use crate::timer::Clock;
use crate::verdict::Verdict;

pub trait Gate {
    // How long an attempt has to wait, or why there is none.
    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp>;

    // The attempt begins.
    fn begin(&mut self);

    // Why there would be none now.
    fn refuses(&self, clock: &impl Clock) -> Result<(), GaveUp>;

    // The attempt came to an answer, be it one that is not final yet.
    fn answered(&mut self, clock: &impl Clock);

    fn failed(&mut self, verdict: Verdict, clock: &impl Clock);
}

impl Gate for () {
    #[inline(always)]
    fn enter(&mut self, _: &impl Clock) -> Result<Duration, GaveUp> {
        Ok(Duration::ZERO)
    }

    #[inline(always)]
    fn begin(&mut self) {}

    #[inline(always)]
    fn refuses(&self, _: &impl Clock) -> Result<(), GaveUp> {
        Ok(())
    }

    #[inline(always)]
    fn answered(&mut self, _: &impl Clock) {}

    #[inline(always)]
    fn failed(&mut self, _: Verdict, _: &impl Clock) {}
}

// One that the program may have or not.
impl<G: Gate> Gate for Option<G> {
    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp> {
        self.as_mut()
            .map_or(Ok(Duration::ZERO), |gate| gate.enter(clock))
    }

    fn begin(&mut self) {
        if let Some(gate) = self {
            gate.begin();
        }
    }

    fn refuses(&self, clock: &impl Clock) -> Result<(), GaveUp> {
        self.as_ref().map_or(Ok(()), |gate| gate.refuses(clock))
    }

    fn answered(&mut self, clock: &impl Clock) {
        if let Some(gate) = self {
            gate.answered(clock);
        }
    }

    fn failed(&mut self, verdict: Verdict, clock: &impl Clock) {
        if let Some(gate) = self {
            gate.failed(verdict, clock);
        }
    }
}

// What attempts see as failures of the service.
#[inline(always)]
pub(super) const fn verdict_of(came: Came) -> Option<Verdict> {
    match came {
        Came::Failed(verdict) => Some(verdict),
        // Whoever is cut off has waited in vain.
        Came::TimedOut | Came::CutOff => Some(Verdict::Transient),
        Came::NotFinal | Came::Last => None,
    }
}
