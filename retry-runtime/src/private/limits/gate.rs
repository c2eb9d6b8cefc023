//! What is asked before each attempt and told what it came to: a breaker, a throttle.

use core::time::Duration;

use super::Settle;
use crate::call::GaveUp;
use crate::events::Came;
use crate::operation::Operation;
use crate::timer::Clock;
use crate::verdict::Verdict;

pub trait Gate {
    // Whether attempts may have to wait for it.
    const WAITS: bool;

    // How long an attempt has to wait, or why there is none.
    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp>;

    // How long it has to wait now, and then ask again; nothing, when it may begin.
    fn still(&mut self, _: &impl Clock) -> Duration {
        Duration::ZERO
    }

    // The attempt begins, perhaps after a wait.
    fn begin(&mut self, clock: &impl Clock);

    // Whether it may be made in copies.
    fn allows_copies(&self) -> bool {
        true
    }

    // Asked out of line, why there would be none now.
    type Asked: Refuse;

    fn asked(&self) -> Self::Asked;

    // The attempt came to an answer, be it one that is not final yet. Whether there is more to do about it.
    fn answered(&mut self) -> bool;

    // That, with the permit.
    type Rest: Settle;

    fn rest(&mut self) -> Self::Rest;

    fn failed(&mut self, verdict: Verdict, clock: &impl Clock);
}

pub trait Refuse {
    fn refuses(self, clock: &impl Clock) -> Result<(), GaveUp>;
}

impl Refuse for () {
    #[inline(always)]
    fn refuses(self, _: &impl Clock) -> Result<(), GaveUp> {
        Ok(())
    }
}

impl<R: Refuse> Refuse for Option<R> {
    fn refuses(self, clock: &impl Clock) -> Result<(), GaveUp> {
        self.map_or(Ok(()), |gate| gate.refuses(clock))
    }
}

impl<R: Settle> Settle for Option<R> {
    fn settle(self, operation: &Operation, clock: &impl Clock) {
        if let Some(rest) = self {
            rest.settle(operation, clock);
        }
    }
}

impl Gate for () {
    const WAITS: bool = false;

    type Asked = ();

    type Rest = ();

    #[inline(always)]
    fn enter(&mut self, _: &impl Clock) -> Result<Duration, GaveUp> {
        Ok(Duration::ZERO)
    }

    #[inline(always)]
    fn begin(&mut self, _: &impl Clock) {}

    #[inline(always)]
    fn asked(&self) {}

    #[inline(always)]
    fn answered(&mut self) -> bool {
        false
    }

    #[inline(always)]
    fn rest(&mut self) {}

    #[inline(always)]
    fn failed(&mut self, _: Verdict, _: &impl Clock) {}
}

// One that the program may have or not.
impl<G: Gate> Gate for Option<G> {
    const WAITS: bool = G::WAITS;

    type Asked = Option<G::Asked>;

    type Rest = Option<G::Rest>;

    fn enter(&mut self, clock: &impl Clock) -> Result<Duration, GaveUp> {
        self.as_mut()
            .map_or(Ok(Duration::ZERO), |gate| gate.enter(clock))
    }

    fn still(&mut self, clock: &impl Clock) -> Duration {
        self.as_mut()
            .map_or(Duration::ZERO, |gate| gate.still(clock))
    }

    fn begin(&mut self, clock: &impl Clock) {
        if let Some(gate) = self {
            gate.begin(clock);
        }
    }

    fn allows_copies(&self) -> bool {
        self.as_ref().is_none_or(Gate::allows_copies)
    }

    fn asked(&self) -> Self::Asked {
        self.as_ref().map(Gate::asked)
    }

    fn answered(&mut self) -> bool {
        self.as_mut().is_some_and(Gate::answered)
    }

    fn rest(&mut self) -> Self::Rest {
        self.as_mut().map(Gate::rest)
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
