//! What a call does under a policy of the running program that breaks an unsafe rule. A constant one does not compile.

use super::checks::{SHORTEST_DELAY, SHORTEST_RESET, hammers};
use super::{Key, Rule, Severity, Violation, total};
use crate::duration::Nanos;
use crate::values::Values;

/// Attempts that may come without a pause.
const FEW: u32 = 3;
/// Attempts that need no bound but their number.
const MANY: u32 = 20;

/// A policy that breaks a rule, and what a call keeps to in its place.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct Broken {
    /// The rule.
    pub violation: Violation,
    /// The nearest values that are accepted; `None` for a value that means nothing, with which there is no retry.
    pub tamed: Option<Values>,
}

impl Values {
    /// Returns what a call keeps to in place of these values, if they break an unsafe rule.
    pub fn broken(&self) -> Option<Broken> {
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
pub(super) fn pauses(policy: Values) -> Values {
    let shortest = Nanos::new(SHORTEST_DELAY);
    let base = Nanos(policy.base.0.max(shortest.0));
    let first = if policy.has(Key::First) {
        policy.first
    } else {
        base
    };
    Values {
        base,
        first,
        cap: Nanos(policy.cap.0.max(shortest.0)),
        ..policy
    }
    .on_course()
}

/// X6: a pause, or a number of attempts.
pub(super) fn ends(policy: Values) -> Values {
    if can_pause(&policy) {
        return pauses(policy);
    }
    match policy.reset_after {
        Some(_) => Values {
            reset_after: None,
            ..policy
        }
        .on_course(),
        None => policy.max(MANY),
    }
}

/// X7: a pause, or the largest number of attempts that is accepted.
pub(super) fn fewer(policy: Values) -> Values {
    if can_pause(&policy) {
        return pauses(policy);
    }
    policy.max(if hammers(&policy) { FEW } else { MANY })
}

/// X18: the count starts anew after the shortest time that is accepted.
pub(super) fn resets_later(policy: Values) -> Values {
    let cap = policy.cap.duration();
    Values {
        reset_after: policy.reset_after.map(|_| cap.max(SHORTEST_RESET)),
        ..policy
    }
}

/// X19: the largest number of attempts that is accepted.
pub(super) fn less(policy: Values) -> Values {
    policy.max(total::fewer(&policy))
}

/// Whether it hammers because its delays are too short, and not because it has none.
fn can_pause(policy: &Values) -> bool {
    hammers(policy) && !policy.backoff.is_none()
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::backoff::Backoff;

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
                    let plain = Values::new().max(max).backoff(*shape).base(base).cap(*cap);
                    let ends = plain.deadline(Duration::from_secs(60));
                    for policy in [
                        plain,
                        plain.reset_after(reset),
                        ends,
                        ends.reset_after(reset),
                    ] {
                        match policy.broken() {
                            None => {
                                assert!(policy.unsafe_violation().is_none(), "{policy:?}");
                                sound += 1;
                            }
                            Some(broken) => {
                                let kept = broken.tamed.expect("nothing that means nothing");
                                assert!(kept.unsafe_violation().is_none(), "{policy:?} {kept:?}");
                                assert!(policy.unsafe_violation().is_some(), "{policy:?}");
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
