//! A policy as a list of keys, as they stand in an attribute: drawn at random, or those of a constant function.

use std::cell::RefCell;
use std::time::Duration;

use reattempt::{
    Backoff, Budget, Jitter, Policy, policy::Nested, policy::Priority, policy::duration,
};

use crate::names;
use crate::random::Random;

/// Keys such as `base = "10ms"`; here `budget` is the number of one of [`BUDGETS`].
pub(crate) type Spec = Vec<String>;

/// `backoff` of the user's own.
pub(crate) fn squares(retry: u32) -> Duration {
    Duration::from_micros(u64::from(retry.saturating_add(1)).saturating_pow(2) * 1500)
}

const SHAPES: [Backoff; 7] = [
    Backoff::None,
    Backoff::Fixed,
    Backoff::Linear,
    Backoff::Exp,
    Backoff::Fibonacci,
    Backoff::Decorrelated,
    Backoff::Custom(&squares),
];

/// So many budgets there are.
pub(crate) const HOW_MANY: usize = 7;

thread_local! {
    /// For ever, as a policy wants them; each run resets that of its policy.
    static BUDGETS: [&'static Budget; HOW_MANY] = [
        Budget::tokens(30),
        Budget::tokens(12).cost(3).timeout_cost(6).throttled_cost(4),
        Budget::per_success(0.5).initial(1),
        Budget::per_success(1.0).initial(2).floor(0.0),
        Budget::per_request(0.3).initial(1).floor(0.5),
        Budget::grpc(4, 0.5),
        Budget::grpc(10, 0.1),
    ]
    .map(|budget| &*Box::leak(Box::new(budget)));

    /// The last one that was made: most drivers in a row want the same.
    static POLICY: RefCell<(Spec, Policy)> = const { RefCell::new((Spec::new(), Policy::new())) };
}

/// The value of a key, if it is given.
pub(crate) fn value<'s>(spec: &'s [String], key: &str) -> Option<&'s str> {
    let value = |written: &'s String| written.strip_prefix(key)?.trim_start().strip_prefix('=');
    spec.iter()
        .find_map(value)
        .map(|value| value.trim().trim_matches('"'))
}

pub(crate) fn time(spec: &[String], key: &str) -> Option<Duration> {
    value(spec, key).map(|value| duration::parse(value).expect(value))
}

pub(crate) fn budget(spec: &[String]) -> Option<&'static Budget> {
    let index = value(spec, "budget")?.parse::<usize>().ok()?;
    BUDGETS.with(|budgets| budgets.get(index).copied())
}

pub(crate) fn multiplies(spec: &[String]) -> bool {
    value(spec, "nested") == Some("multiply")
}

pub(crate) fn policy(spec: &[String]) -> Policy {
    POLICY.with_borrow_mut(|(last, policy)| {
        if last != spec {
            *policy = spec.iter().fold(Policy::new(), with);
            spec.clone_into(last);
        }
        *policy
    })
}

fn with(policy: Policy, written: &String) -> Policy {
    let spec = std::slice::from_ref(written);
    let key = written.split('=').next().unwrap_or_default().trim();
    let value = value(spec, key).unwrap_or_default();
    let time = || time(spec, key).unwrap_or_default();
    let float = || value.parse().expect(value);
    match key {
        "max" if value == "unlimited" => policy.unlimited(),
        "max" => policy.max(value.parse().expect(value)),
        "backoff" => {
            let shape = SHAPES.iter().find(|shape| shape.as_str() == value);
            policy.backoff(*shape.unwrap_or(&Backoff::Custom(&squares)))
        }
        "base" => policy.base(time()),
        "first" => policy.first(time()),
        "factor" => policy.factor(float()),
        "cap" => policy.cap(time()),
        "jitter" => policy.jitter(match value {
            "none" => Jitter::None,
            "full" => Jitter::Full,
            "equal" => Jitter::Equal,
            _ => Jitter::Ratio(float()),
        }),
        "fast_first" => policy.fast_first(value == "true"),
        "throttled_base" => policy.throttled_base(time()),
        "reset_after" => policy.reset_after(time()),
        "deadline" => policy.deadline(time()),
        "timeout" => policy.timeout(time()),
        "max_retry_after" => names::max_retry_after(policy, time()),
        "idempotent" => policy.idempotent(value == "true"),
        "nested" if value == "multiply" => policy.nested(Nested::Multiply),
        "nested" => policy.nested(Nested::Collapse),
        "priority" if value == "low" => policy.priority(Priority::Low),
        "priority" => policy.priority(Priority::Normal),
        "budget" => policy.budget(budget(spec).expect(value)),
        _ => panic!("no key of this test: {written}"),
    }
}

/// Any policy but those that would hammer a service or make no sense.
pub(crate) fn random(random: &mut Random) -> Spec {
    let mut spec = Spec::new();
    let mut key = |random: &mut Random, share, key, value: &dyn Fn(&mut Random) -> String| {
        let is_given = random.percent(share);
        if is_given {
            spec.push(format!("{key} = {}", value(random)));
        }
        is_given
    };
    let up_to =
        |bits| move |random: &mut Random| format!("\"{}ns\"", random.duration(bits).as_nanos());
    let one_of = |words: &'static [&str]| move |random: &mut Random| random.pick(words).to_owned();

    let shape = random.pick(&SHAPES);
    key(random, 100, "backoff", &|_| format!("{:?}", shape.as_str()));
    let is_budgeted = key(random, 25, "budget", &|random| random.below(7).to_string());
    let has_deadline = key(random, 35, "deadline", &up_to(15));
    key(random, 25, "timeout", &up_to(13));
    let is_bounded = !shape.is_none() && (is_budgeted || has_deadline);
    if !(is_bounded && key(random, 25, "max", &one_of(&["\"unlimited\""]))) {
        let most = if shape.is_none() { 3 } else { 8 };
        key(random, 85, "max", &|random| {
            (1 + random.below(most)).to_string()
        });
    }
    key(random, 70, "base", &up_to(10));
    key(random, 25, "first", &up_to(10));
    key(
        random,
        25,
        "factor",
        &one_of(&["1.001", "1.5", "2.0", "3.0", "10.0", "1e6"]),
    );
    key(random, 40, "cap", &up_to(13));
    let words = &[
        "\"none\"",
        "\"full\"",
        "\"full\"",
        "\"equal\"",
        "0.0",
        "0.2",
        "0.5",
        "1.0",
    ];
    key(random, 75, "jitter", &one_of(words));
    key(
        random,
        20,
        "fast_first",
        &one_of(&["true", "true", "true", "false"]),
    );
    key(random, 15, "max_retry_after", &up_to(13));
    key(random, 25, "idempotent", &one_of(&["true", "false"]));
    key(
        random,
        25,
        "nested",
        &one_of(&["\"multiply\"", "\"multiply\"", "\"collapse\""]),
    );
    spec
}

/// The keys of an attribute as they are written.
pub(crate) fn read(keys: &str) -> Spec {
    keys.split(',').map(|key| key.trim().to_owned()).collect()
}
