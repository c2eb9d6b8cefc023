//! The state machine by itself, driven as the simulator of `reattempt-storm` does.

use std::sync::Arc;

use reattempt::overload::breaker::Breaker;
use reattempt::overload::budget::{Account, FailureClass};
use reattempt::timer::Clock;
use reattempt::{Classify as _, Verdict, deadline, runner::Call, runner::CallEnv};
use reattempt_core::around::{Bounds, BoundsScope};

use crate::clock::Time;
use crate::names::{Reason, Timestamp};
use crate::spec;
use crate::trace::Ending;
use crate::world::World;

struct Env<'a, 'b> {
    until: Option<Timestamp>,
    verdict: Verdict,
    breaker: Option<&'a Breaker>,
    account: &'a mut Option<Account<'b>>,
    started: Timestamp,
}

impl CallEnv for Env<'_, '_> {
    fn remaining(&self) -> Option<std::time::Duration> {
        let own = self.until.map(|until| until.since(Time.now()));
        own.into_iter().chain(deadline::remaining()).min()
    }

    fn random(&self) -> u64 {
        Time.random()
    }

    fn attempt_time(&self) -> Option<std::time::Duration> {
        Some(Time.now().since(self.started))
    }

    fn is_nested(&self) -> bool {
        deadline::attempt() > 1
    }

    fn permit_retry(&mut self) -> Result<(), Reason> {
        if self.breaker.is_some_and(|it| it.refuses_with_clock(&Time)) {
            return Err(Reason::BreakerOpen);
        }
        let class = FailureClass::of(self.verdict);
        let is_paid = self
            .account
            .as_mut()
            .is_none_or(|it| it.withdraw_with_clock(class, &Time));
        if is_paid { Ok(()) } else { Err(Reason::Budget) }
    }
}

pub(crate) fn simulator(world: &Arc<World>) -> Ending {
    let is_low = world.policy.values().is_low();
    let _priority = is_low.then(|| BoundsScope::new(Bounds::LOW, false));
    let breaker = world.case.breaker.map(|_| world.breaker);
    let mut account = spec::budget(&world.case.spec).map(|budget| budget.account_with_clock(&Time));
    let until = spec::time(&world.case.spec, "deadline").map(|deadline| Time.now().after(deadline));
    let mut call = Call::new();
    loop {
        let permit = breaker.map(|breaker| breaker.permit_with_clock(&Time));
        let Ok(permit) = permit.transpose() else {
            return Ending::GaveUp(Reason::BreakerOpen, call.failures());
        };
        if let Some(account) = &mut account {
            account.spend();
        }
        let started = Time.now();
        let Err(fault) = world.attempt() else {
            if let Some(permit) = permit {
                permit.succeeded_with_clock(&Time);
            }
            if let Some(account) = account {
                account.succeeded_with_clock(&Time);
            }
            return Ending::Value;
        };
        let verdict = fault.classify();
        if let Some(permit) = permit {
            permit.failed_with_clock(verdict, &Time);
        }
        if let Some(account) = &mut account {
            account.failed(verdict);
        }
        let mut env = Env {
            until,
            verdict,
            breaker,
            account: &mut account,
            started,
        };
        match call.failed(&world.policy, verdict, &mut env) {
            Ok(delay) => Time::spend(delay),
            Err(reason) => return Ending::GaveUp(reason, call.failures()),
        }
    }
}
