//! What a call does under a policy of the running program that breaks an unsafe rule. A constant one does not compile.

#[cfg(feature = "std")]
use std::cell::RefCell;

use super::checks::{SHORTEST_DELAY, SHORTEST_RESET, hammers};
use super::{Key, Rule, Severity, Violation, total};
use crate::policy::Policy;
use reattempt_rules::duration::Nanos;

/// Attempts that may come without a pause.
const FEW: u32 = 3;
/// Attempts that need no bound but their number.
const MANY: u32 = 20;

/// A policy that breaks a rule, and what a call keeps to in its place.
#[derive(Debug, Clone)]
pub(crate) struct Broken {
    pub(crate) violation: Violation,
    /// The nearest policy that is accepted; `None` for a value that means nothing, with which there is no retry.
    pub(crate) tamed: Option<Policy>,
}

#[cfg(feature = "std")]
impl Broken {
    /// Returns it for a policy that is the same but for what cannot be compared, and what no rule changes.
    fn of(mut self, policy: &Policy) -> Self {
        if let Some(tamed) = &mut self.tamed {
            tamed.backoff = policy.backoff;
            tamed.budget = policy.budget;
            tamed.default_budget = policy.default_budget;
        }
        self
    }
}

#[cfg(feature = "std")]
std::thread_local! {
    /// The policy that this thread has checked last, and what it breaks: most often it is the next one, too.
    static LAST: RefCell<Option<(Policy, Option<Broken>)>> = const { RefCell::new(None) };
}

impl Policy {
    /// Returns what a call keeps to in place of this policy, if it breaks an unsafe rule.
    #[cfg(feature = "std")]
    pub(crate) fn broken(&self) -> Option<Broken> {
        let known = LAST.try_with(|last| match last.try_borrow().as_deref() {
            Ok(Some((policy, broken))) if policy.is_same(self) => {
                Some(broken.clone().map(|broken| broken.of(self)))
            }
            _ => None,
        });
        if let Ok(Some(broken)) = known {
            return broken;
        }
        let broken = self.check();
        let _kept = LAST.try_with(|last| {
            if let Ok(mut last) = last.try_borrow_mut() {
                *last = Some((*self, broken.clone()));
            }
        });
        broken
    }

    /// Returns what a call keeps to in place of this policy, if it breaks an unsafe rule.
    #[cfg(not(feature = "std"))]
    pub(crate) fn broken(&self) -> Option<Broken> {
        self.check()
    }

    fn check(&self) -> Option<Broken> {
        let mut policy = *self;
        let mut first = None;
        for rule in Rule::ALL {
            if rule.severity() == Severity::Pointless {
                continue;
            }
            while let Some(violation) = rule.check(&policy) {
                let Some(tamed) = rule.tame(policy) else {
                    return Some(Broken {
                        violation,
                        tamed: None,
                    });
                };
                policy = tamed;
                first.get_or_insert(violation);
            }
        }
        first.map(|violation| Broken {
            violation,
            tamed: Some(policy),
        })
    }
}

/// R3, R6: delays of up to a millisecond, not of nothing.
pub(super) fn pauses(policy: Policy) -> Policy {
    let shortest = Nanos::new(SHORTEST_DELAY);
    let base = Nanos(policy.base.0.max(shortest.0));
    let first = if policy.has(Key::First) {
        policy.first
    } else {
        base
    };
    Policy {
        base,
        first,
        cap: Nanos(policy.cap.0.max(shortest.0)),
        ..policy
    }
    .on_course()
}

/// X6: a pause, or a number of attempts.
pub(super) fn ends(policy: Policy) -> Policy {
    if can_pause(&policy) {
        return pauses(policy);
    }
    match policy.reset_after {
        Some(_) => Policy {
            reset_after: None,
            ..policy
        }
        .on_course(),
        None => policy.max(MANY),
    }
}

/// X7: a pause, or the largest number of attempts that is accepted.
pub(super) fn fewer(policy: Policy) -> Policy {
    if can_pause(&policy) {
        return pauses(policy);
    }
    policy.max(if hammers(&policy) { FEW } else { MANY })
}

/// X18: the count starts anew after the shortest time that is accepted.
pub(super) fn resets_later(policy: Policy) -> Policy {
    let cap = policy.cap.duration();
    Policy {
        reset_after: policy.reset_after.map(|_| cap.max(SHORTEST_RESET)),
        ..policy
    }
}

/// X19: the largest number of attempts that is accepted.
pub(super) fn less(policy: Policy) -> Policy {
    policy.max(total::fewer(&policy))
}

/// Whether it hammers because its delays are too short, and not because it has none.
fn can_pause(policy: &Policy) -> bool {
    hammers(policy) && !policy.backoff.is_none()
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::backoff::Backoff;
    use crate::budget::Budget;

    /// What has been checked is not checked again, and what is like it but for one value is.
    #[test]
    fn a_value_that_changes_is_checked() {
        let sound = Policy::new();
        for broken in [
            sound.max(0),
            sound.factor(f64::NAN),
            sound.base(Duration::ZERO).max(21),
            sound.deadline(Duration::ZERO),
            sound.timeout(Duration::ZERO),
            sound.backoff(Backoff::None).max(4),
            sound.reset_after(Duration::ZERO),
            sound.max_retry_after(Duration::from_secs(90_000)),
        ] {
            assert!(sound.broken().is_none());
            let is_kept = LAST.with_borrow(|last| match last {
                Some((policy, None)) => policy.is_same(&sound),
                _ => false,
            });
            assert!(is_kept);
            assert!(broken.broken().is_some(), "{broken:?}");
            assert!(broken.broken().is_some(), "{broken:?}");
        }
    }

    /// What a call keeps to has the functions and the budget of its own policy.
    #[test]
    fn what_is_known_of_one_policy_does_not_become_another() {
        static ONE: Budget = Budget::per_success(0.1);
        static OTHER: Budget = Budget::per_success(0.2);
        let endless = Policy::new().backoff(Backoff::None).unlimited();
        for budget in [&ONE, &OTHER] {
            let tamed = endless
                .budget(budget)
                .broken()
                .and_then(|broken| broken.tamed);
            let kept = tamed.and_then(|tamed| tamed.budget);
            assert!(kept.is_some_and(|kept| core::ptr::eq(kept, budget)));
        }
    }

    /// A value takes the mark of a policy away that was built; a budget does not.
    #[test]
    fn what_is_built_is_trusted_until_a_value_is_set() {
        static SHARED: Budget = Budget::per_success(0.1);
        let built = Policy::new().build().expect("the default is accepted");
        assert!(built.is_trusted());
        assert!(!built.max(4).is_trusted());
        assert!(!built.base(Duration::from_secs(1)).is_trusted());
        assert!(built.budget(&SHARED).is_trusted());
        assert!(built.budget(&SHARED).broken().is_none());
    }

    /// Whatever is tamed keeps to every unsafe rule, and is the policy itself where it did before.
    #[test]
    fn what_is_tamed_is_accepted() {
        let times = [0, 1, 999_999, 1_000_000, 9_000_000_000].map(Duration::from_nanos);
        let shapes = [
            Backoff::None,
            Backoff::Fixed,
            Backoff::Exp,
            Backoff::ExpAboveFirst,
            Backoff::Decorrelated,
        ];
        let (mut tamed, mut sound) = (0, 0);
        for max in [1, 2, 3, 4, 20, 21, u32::MAX] {
            for (shape, base) in shapes
                .iter()
                .flat_map(|shape| times.map(|base| (shape, base)))
            {
                for (cap, reset) in times.iter().flat_map(|cap| times.map(|reset| (cap, reset))) {
                    let plain = Policy::new().max(max).backoff(*shape).base(base).cap(*cap);
                    let ends = plain.deadline(Duration::from_secs(60));
                    for policy in [
                        plain,
                        plain.reset_after(reset),
                        ends,
                        ends.reset_after(reset),
                    ] {
                        match policy.broken() {
                            None => {
                                assert!(policy.validate().is_ok(), "{policy:?}");
                                sound += 1;
                            }
                            Some(broken) => {
                                let kept = broken.tamed.expect("nothing that means nothing");
                                assert!(kept.validate().is_ok(), "{policy:?} {kept:?}");
                                assert!(policy.validate().is_err(), "{policy:?}");
                                tamed += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(tamed > 1000 && sound > 1000, "{tamed} {sound}");
    }
}
