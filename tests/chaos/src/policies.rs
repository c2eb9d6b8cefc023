//! Policies at random, such as the rules accept.

use std::time::Duration;

use reattempt::{Backoff, Jitter, Policy, policy::Nested};

use crate::calls::Spec;
use crate::ops::Op;
use crate::ops::shared::DECIDED;
use crate::random::Random;
use crate::shared_budgets::{KEYS, SharedBudget};

/// A call of `op`: its policy, and the same in numbers.
pub(crate) fn draw(random: &mut Random, op: Op) -> (Spec, Policy) {
    loop {
        let (spec, policy) = candidate(random, op);
        if policy.violations().next().is_none() {
            return (spec, policy);
        }
    }
}

fn candidate(random: &mut Random, op: Op) -> (Spec, Policy) {
    let mut spec = Spec {
        op,
        max: u32::try_from(random.range(1, 6)).unwrap(),
        key: u16::try_from(random.range(0, u64::from(KEYS) - 1)).unwrap(),
        ..Spec::NOTHING
    };
    if op == Op::Poll {
        spec.max = 12;
    }
    let mut policy = delays(random, &mut spec);
    if random.chance(70) || op == Op::Poll {
        let deadline = random.millis(300, 1500);
        spec.deadline = Some(deadline);
        policy = policy.deadline(deadline);
    }
    if random.chance(60) && op.can_be_timed() {
        let timeout = random.millis(60, 290);
        spec.timeout = Some(timeout);
        policy = policy.timeout(timeout);
    }
    if random.chance(30) {
        policy = policy.max_retry_after(random.millis(300, 1200));
    }
    spec.multiplies = random.chance(40);
    if spec.multiplies {
        policy = policy.nested(Nested::Multiply);
    }
    spec.budget = match op {
        Op::Search | Op::Everything => Some(SharedBudget::Copies),
        _ if !op.may_pay() || random.chance(40) => None,
        _ => Some(random.one_of(&[
            SharedBudget::Tight,
            SharedBudget::Success,
            SharedBudget::Request,
            SharedBudget::Tokens,
        ])),
    };
    // What is limited by default is modelled in `tests/machine` and the storms.
    policy = match spec.budget {
        Some(budget) => policy.budget(budget.budget()),
        None => policy.without_budget(),
    };
    if random.chance(20) {
        spec.within = Some(random.millis(20, 900));
    }
    if random.chance(op.cancelled()) {
        spec.cancel = Some(random.millis(1, 300));
    }
    match op {
        // A file says the rest.
        Op::Named => {
            (spec.max, spec.cap, spec.deadline) = (NAMED.0, NAMED.1, Some(NAMED.2));
            (spec.timeout, spec.budget) = (None, None);
        }
        // These are keys of theirs.
        Op::Decided => {
            (spec.max, spec.cap, spec.timeout) = (3, DECIDED, None);
            spec.deadline = Some(Duration::from_millis(800));
        }
        Op::Order | Op::PayVerified => spec.timeout = Some(Duration::from_millis(200)),
        Op::Fence => spec.timeout = Some(Duration::from_millis(300)),
        _ => (),
    }
    (spec, policy)
}

fn delays(random: &mut Random, spec: &mut Spec) -> Policy {
    let mut policy = Policy::new().max(spec.max);
    let shape = random.one_of(&[
        Backoff::None,
        Backoff::Fixed,
        Backoff::Linear,
        Backoff::Exp,
        Backoff::Exp,
        Backoff::Fibonacci,
        Backoff::Decorrelated,
    ]);
    policy = policy.backoff(shape);
    if spec.max == 1 || matches!(shape, Backoff::None) {
        // What only a retry needs is refused beside `max = 1`, and without delays there is none of the others.
        policy = if spec.max == 1 {
            Policy::new().max(1)
        } else {
            policy
        };
        return policy;
    }
    let base = random.millis(1, 30);
    spec.cap = base + random.millis(10, 120);
    policy = policy.base(base).cap(spec.cap);
    if !matches!(shape, Backoff::Decorrelated) {
        policy = policy.jitter(random.one_of(&[
            Jitter::None,
            Jitter::Full,
            Jitter::Equal,
            Jitter::Ratio(0.5),
        ]));
    }
    if random.chance(15) {
        policy = policy.fast_first(true);
    }
    policy
}

/// The most attempts, the longest delay and the longest deadline of the policies in files.
pub(crate) const NAMED: (u32, Duration, Duration) =
    (5, Duration::from_millis(100), Duration::from_millis(900));

/// The files that policies are read from, one after the other; the third is refused.
pub(crate) const FILES: [&str; 4] = [
    "[policies.chaos]\nmax = 3\nbase = \"5ms\"\ncap = \"40ms\"\ndeadline = \"900ms\"\n",
    "[policies.chaos]\nmax = 5\nbackoff = \"fixed\"\nbase = \"10ms\"\ncap = \"100ms\"\ntimeout = \"100ms\"\ndeadline = \"600ms\"\n",
    "[policies.chaos]\nmax = 0\n",
    "[policies.chaos]\nmax = 2\nbase = \"2ms\"\ncap = \"20ms\"\njitter = 0.5\ndeadline = \"400ms\"\nbudget = 0.2\n",
];
