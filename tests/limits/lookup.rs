//! A lookup of `verify`: the attempt that it is about no longer stands in its way.

use std::cell::Cell;

use reattempt::overload::breaker::State;
use reattempt::{Bulkhead, Verdict, Verified, retry};

use crate::points::poll;
use crate::support::{Fault, World, forever};

/// A service that takes effect and loses its answer.
struct Service {
    world: World,
    /// How many slots were taken in all lookups.
    lookups: Cell<u32>,
    /// Whether a lookup is a call of the service, or reads what is known here.
    looks: bool,
}

impl Service {
    /// With one slot, and a breaker that waits for its only probe.
    fn new(looks: bool) -> Self {
        let world = World {
            bulkhead: forever(Bulkhead::new(1)),
            ..World::half_open(0)
        };
        Self {
            world,
            lookups: Cell::new(0),
            looks,
        }
    }

    #[retry(
        max = 1,
        on(_),
        timer = self.world.clock.clone(),
        breaker = &self.world.breaker,
        bulkhead = &self.world.bulkhead
    )]
    fn look(&self) -> Result<u32, Fault> {
        self.lookups
            .set(self.lookups.get() + self.world.bulkhead.running());
        Ok(7)
    }

    fn found(&self) -> Verified<u32> {
        if !self.looks {
            return Verified::NotDone;
        }
        self.look().map_or(Verified::Unknown, Verified::Done)
    }

    #[retry(
        max = 3,
        idempotent = false,
        on = |_| Verdict::Transient,
        verify = |_| self.found(),
        timer = self.world.clock.clone(),
        breaker = &self.world.breaker,
        bulkhead = &self.world.bulkhead
    )]
    fn charge(&self) -> Result<u32, Fault> {
        Err(Fault::Down)
    }

    #[retry(
        max = 3,
        idempotent = false,
        on = |_| Verdict::Transient,
        verify = async |_| self.found(),
        timer = self.world.clock.clone(),
        breaker = &self.world.breaker,
        bulkhead = &self.world.bulkhead
    )]
    async fn charge_later(&self) -> Result<u32, Fault> {
        Err(Fault::Down)
    }

    /// The answers of both forms.
    fn each(looks: bool) -> impl Iterator<Item = (Self, Result<u32, Fault>)> {
        [false, true].into_iter().map(move |is_async| {
            let service = Self::new(looks);
            let answer = if is_async {
                poll(service.charge_later(), 100).expect("it ends")
            } else {
                service.charge()
            };
            assert_eq!(service.world.bulkhead.running(), 0);
            (service, answer)
        })
    }
}

#[test]
fn a_lookup_has_the_slot_and_the_probe_of_the_attempt() {
    for (service, answer) in Service::each(true) {
        assert_eq!((answer, service.lookups.get()), (Ok(7), 1));
        assert_eq!(service.world.state(), State::Closed);
    }
}

/// The probe is one again when its failure is counted.
#[test]
fn a_failure_counts_behind_the_lookup() {
    for (service, answer) in Service::each(false) {
        answer.unwrap_err();
        assert_eq!(service.world.state(), State::Open);
        service.world.assert_probe_is_free();
    }
}
