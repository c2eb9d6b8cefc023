//! What a call does under a policy of the running program that breaks a rule.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::observe::{self, Event};
use reattempt::policy::rules::{Consequence, Rule, Severity};
use reattempt::testing::{Record, record, virtual_time};
use reattempt::tower::RetryLayer;
use reattempt::{
    Backoff, Classify, GiveUpReason, Jitter, Policy, RetryError, Verdict, retry, retry_block,
};
use tower::{Layer as _, ServiceExt as _, service_fn};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

const P: Policy = Policy::new().jitter(Jitter::None);

/// What a call comes to that always fails.
#[derive(Debug, Clone, PartialEq)]
struct Outcome {
    attempts: usize,
    /// The longest and the shortest delay.
    delays: Option<(Duration, Duration)>,
    reason: GiveUpReason,
}

impl Outcome {
    fn of(record: &Record) -> Self {
        let calls = record.calls();
        let [call] = calls.as_slice() else {
            panic!("one call, not {calls:?}")
        };
        let delays = call.delays();
        let longest = delays.iter().max().copied();
        let reattempt::testing::CallEnd::GaveUp(reason) = call.end() else {
            panic!("a call that gives up: {call:?}")
        };
        Self {
            attempts: call.attempts().len(),
            delays: longest.zip(delays.iter().min().copied()),
            reason,
        }
    }
}

/// The name of a driver, and a call that fails under a policy.
type Driver = (&'static str, fn(Policy));

/// Each driver, under the same policy.
const DRIVERS: [Driver; 6] = [
    ("sync", |policy| {
        #[retry(policy = policy, on(_))]
        fn call(policy: Policy) -> Result<(), u32> {
            Err(1)
        }
        let _ = call(policy);
    }),
    ("async", |policy| {
        #[retry(policy = policy, on(_))]
        async fn call(policy: Policy) -> Result<(), RetryError<u32>> {
            Err(1)
        }
        let _ = blocked(call(policy));
    }),
    ("block", |policy| {
        let _: Result<(), u32> = retry_block!(policy = policy, on(_), { Err(1) });
    }),
    ("runner", |policy| {
        let _ = policy.on(|_: &u32| true).run(|| Err::<(), _>(1));
    }),
    ("runner, async", |policy| {
        let _ = blocked(
            policy
                .on(|_: &u32| true)
                .try_run_async(async || Err::<(), _>(1)),
        );
    }),
    ("layer", |policy| {
        // Of its error nobody can say that it was cut off.
        let service = RetryLayer::new(policy)
            .on_answer(|_: &Result<(), Infallible>| Verdict::Transient)
            .layer(service_fn(async |()| Ok::<_, Infallible>(())));
        let _ = blocked(service.oneshot(()));
    }),
];

fn blocked<F: Future>(call: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(call)
}

fn outcome(driver: fn(Policy), policy: Policy) -> Outcome {
    let (record, _time) = (record(), virtual_time());
    driver(policy);
    Outcome::of(&record)
}

/// A policy that breaks a rule, and what a call comes to: attempts, the longest and the shortest delay, the reason.
struct Case {
    rule: &'static str,
    policy: Policy,
    attempts: usize,
    delays: Option<(Duration, Duration)>,
    reason: GiveUpReason,
}

const fn single(rule: &'static str, policy: Policy) -> Case {
    Case {
        rule,
        policy,
        attempts: 1,
        delays: None,
        reason: GiveUpReason::InvalidPolicy,
    }
}

const fn all(
    rule: &'static str,
    policy: Policy,
    attempts: usize,
    longest: Duration,
    shortest: Duration,
) -> Case {
    Case {
        rule,
        policy,
        attempts,
        delays: Some((longest, shortest)),
        reason: GiveUpReason::Attempts,
    }
}

const NONE: Policy = Policy::new().backoff(Backoff::None);
const ZERO: Duration = Duration::ZERO;
const SHORT: Duration = Duration::from_micros(9);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const CASES: &[Case] = &[
    // Values that mean nothing.
    single("R1", P.max(0)),
    single("R2", P.base(DAY.saturating_mul(2))),
    single("R2", P.deadline(Duration::MAX)),
    single("R4", P.factor(f64::NAN)),
    single("R4", P.factor(0.5)),
    single("R5", P.jitter(Jitter::Ratio(f64::NAN))),
    single("R5", P.jitter(Jitter::Ratio(2.0))),
    single("R7", P.deadline(ZERO)),
    single("R8", P.timeout(Duration::from_micros(999))),
    // What would hammer a service.
    all("R3", P.base(ZERO), 3, ms(2), ms(1)),
    all("R6", P.cap(ZERO), 3, ms(1), ms(1)),
    all("X6", NONE.unlimited(), 3, ZERO, ZERO),
    all("X6", P.unlimited().cap(ms(300)), 20, ms(300), ms(100)),
    all("X7", NONE.max(50), 3, ZERO, ZERO),
    all(
        "X7",
        P.max(6).base(Duration::from_nanos(1)),
        6,
        ms(16),
        ms(1),
    ),
    all("X7", P.max(9).base(SHORT).cap(SHORT), 9, ms(1), ms(1)),
    all("X7", P.max(21).cap(ms(300)), 20, ms(300), ms(100)),
    all("X18", P.reset_after(ms(1)), 3, ms(200), ms(100)),
    all(
        "X19",
        P.max(200).base(ms(2)).cap(ms(2)).deadline(DAY),
        101,
        ms(2),
        ms(2),
    ),
    // What is only pointless runs as it is written.
    all("X1", P.base(ms(2000)).cap(ms(1000)), 3, ms(1000), ms(1000)),
    Case {
        reason: GiveUpReason::Deadline,
        ..all("X2", P.deadline(ms(100)), 1, ZERO, ZERO)
    },
    all(
        "X3",
        P.timeout(ms(9000)).deadline(ms(8000)),
        3,
        ms(200),
        ms(100),
    ),
    Case {
        reason: GiveUpReason::Deadline,
        ..all("X4", P.max(10).deadline(ms(400)), 3, ms(200), ms(100))
    },
    all("X5", P.max(1), 1, ZERO, ZERO),
    all("X8", NONE.factor(3.0), 3, ZERO, ZERO),
    all("X16", P.max(4).timeout(ms(9)), 4, ms(400), ms(100)),
    all("X17", NONE.fast_first(true), 3, ZERO, ZERO),
];

#[test]
fn every_rule_has_a_case() {
    for rule in Rule::ALL {
        assert!(
            CASES.iter().any(|case| case.rule == rule.id().as_str()),
            "{rule:?}"
        );
    }
}

#[test]
fn all_drivers_follow_the_same_policy() {
    for case in CASES {
        let first = case.policy.violation().expect("it breaks a rule");
        assert_eq!(first.rule().as_str(), case.rule);
        let expected = Outcome {
            attempts: case.attempts,
            delays: case.delays.filter(|_| case.attempts > 1),
            reason: case.reason,
        };
        for (name, driver) in DRIVERS {
            // The error of a service cannot say that it was cut off.
            if name == "layer" && case.policy.values().timeout.is_some() {
                continue;
            }
            assert_eq!(outcome(driver, case.policy), expected, "{name}: {first}");
        }
    }
}

/// Attempts of 15 seconds are longer than the time after which the count starts anew, but not than the one that is
/// accepted, which is the cap.
#[test]
fn the_count_does_not_start_anew_too_soon() {
    let (policy, time, mut calls) = (P.reset_after(ms(11_000)), virtual_time(), 0);
    let answer = policy.on(|_: &u32| true).run(|| {
        time.advance(ms(15_000));
        calls += 1;
        Err::<(), _>(calls)
    });
    assert_eq!(answer, Err(3));
}

/// Other limits are kept with a value that means nothing.
#[test]
fn a_single_attempt_keeps_every_other_limit() {
    #[retry(policy = policy, on(_))]
    async fn slow(policy: Policy) -> Result<(), RetryError<u32>> {
        tokio::time::sleep(ms(500)).await;
        Ok(())
    }
    let broken = P.factor(f64::NAN);
    let cut_off = blocked(slow(broken.timeout(ms(100)))).unwrap_err();
    assert_eq!(cut_off.reason(), GiveUpReason::InvalidPolicy);
    let cut_off = blocked(slow(broken.deadline(ms(100)))).unwrap_err();
    assert_eq!(cut_off.reason(), GiveUpReason::Deadline);
    // The one that means nothing does not hold.
    assert!(blocked(slow(P.timeout(ZERO))).is_ok());
    assert!(blocked(slow(P.deadline(ZERO))).is_ok());
}

#[test]
fn permanent_is_permanent_under_any_policy() {
    let ended = P.max(0).on(|_: &u32| false).try_run(|| Err::<(), _>(1));
    assert_eq!(ended.unwrap_err().reason(), GiveUpReason::Permanent);
}

#[test]
fn a_built_policy_keeps_to_the_rules() {
    for case in CASES {
        let severity = case
            .policy
            .violation()
            .map(|violation| violation.severity());
        let built = case.policy.build();
        if severity == Some(Severity::Unsafe) {
            let refused = built.unwrap_err();
            assert_eq!(refused.rule().as_str(), case.rule);
            assert_eq!(case.policy.validate().err(), Some(refused));
        } else {
            let built = built.expect(case.rule);
            let warnings = built.validate().expect(case.rule);
            let warnings: Vec<_> = warnings.map(|it| it.rule().as_str()).collect();
            assert_eq!(warnings, [case.rule]);
        }
    }
}

/// What is set after `build` is checked.
#[test]
fn a_value_takes_the_mark_away() {
    let built = P.max(3).build().expect("it keeps to the rules");
    for (_, driver) in DRIVERS {
        let outcome = outcome(driver, built.max(0));
        assert_eq!(outcome.reason, GiveUpReason::InvalidPolicy);
    }
}

#[test]
fn a_layer_is_refused_by_try_new() {
    let refused = RetryLayer::try_new(P.max(50).cap(ms(300))).unwrap_err();
    assert_eq!(refused.rule().as_str(), "X7");
    let refused = RetryLayer::try_http(P.factor(f64::NAN)).unwrap_err();
    assert_eq!(refused.rule().as_str(), "R4");
    let refused = RetryLayer::try_new(P.timeout(ms(100))).unwrap_err();
    assert_eq!(refused.rule().as_str(), "S5");
    assert!(RetryLayer::try_new(P.max(1).factor(3.0)).is_ok());
}

/// The operation, the rule, what follows and the line, of each event.
type Line = (&'static str, &'static str, Consequence, String);
type Seen = Arc<Mutex<Vec<Line>>>;

fn seen(calls: impl FnOnce()) -> Vec<Line> {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let observer = move |event: &Event<'_>| {
        if let Event::InvalidPolicy {
            operation,
            violation,
            consequence,
        } = *event
        {
            assert_eq!(event.name(), "invalid_policy");
            let line = event.to_string();
            assert!(line.contains(violation.message()), "{line}");
            let mut seen = log.lock().unwrap();
            seen.push((operation, violation.rule().as_str(), consequence, line));
        }
    };
    observe::scope_blocking(Arc::new(observer), calls);
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[test]
fn it_is_reported_once() {
    #[retry(policy = policy, on(_))]
    fn call(policy: Policy) -> Result<(), u32> {
        Err(1)
    }
    let _time = virtual_time();
    let events = seen(|| {
        for policy in [P.max(0), P.max(0), NONE.max(50), P.max(3).factor(3.0)] {
            let _ = call(policy);
        }
    });
    let short: Vec<_> = events
        .iter()
        .map(|(_, rule, consequence, _)| (*rule, *consequence))
        .collect();
    assert_eq!(
        short,
        [
            ("R1", Consequence::SingleAttempt),
            ("X7", Consequence::NearestValues)
        ]
    );
    assert!(events[0].0.ends_with("::call"));
    assert!(
        events[0]
            .3
            .contains("calls make a single attempt: `max` counts")
    );
    assert!(
        events[1]
            .3
            .contains("calls keep to the nearest values that are accepted: `max` of 50")
    );
}

/// Each operation by itself, whatever its rule is; nothing is reported of what is only pointless.
#[test]
fn each_unsafe_rule_is_reported() {
    let _time = virtual_time();
    for (n, case) in CASES.iter().enumerate() {
        let name: &'static str = format!("operation {n}").leak();
        let events = seen(|| {
            for _ in 0..2 {
                let runner = case.policy.on(|_: &u32| true).name(name);
                let _ = runner.run(|| Err::<(), _>(1));
            }
        });
        let severity = case
            .policy
            .violation()
            .map(|violation| violation.severity());
        let is_reported = severity == Some(Severity::Unsafe);
        assert_eq!(events.len(), usize::from(is_reported), "{}", case.rule);
        if let [(operation, rule, consequence, _)] = events.as_slice() {
            assert_eq!((*operation, *rule), (name, case.rule));
            let is_tamed = *consequence == Consequence::NearestValues;
            assert_eq!(is_tamed, case.reason != GiveUpReason::InvalidPolicy);
        }
    }
}

/// A value of the running program is judged as a policy is.
#[test]
fn values_are_judged_too() {
    #[retry(max = max, base = base, cap = "300ms", jitter = jitter, on(_))]
    fn call(max: usize, base: Duration, jitter: f64) -> Result<(), RetryError<u32>> {
        Err(1)
    }
    let _time = virtual_time();
    let reason = |answer: Result<(), RetryError<u32>>| answer.unwrap_err();
    let ended = reason(call(0, ms(1), 0.0));
    assert_eq!(
        (ended.reason(), ended.attempts()),
        (GiveUpReason::InvalidPolicy, 1)
    );
    let ended = reason(call(3, ms(1), f64::NAN));
    assert_eq!(
        (ended.reason(), ended.attempts()),
        (GiveUpReason::InvalidPolicy, 1)
    );
    let ended = reason(call(usize::MAX, Duration::ZERO, 0.0));
    assert_eq!(
        (ended.reason(), ended.attempts()),
        (GiveUpReason::Attempts, 20)
    );
    let ended = reason(call(4, ms(1), 0.0));
    assert_eq!(
        (ended.reason(), ended.attempts()),
        (GiveUpReason::Attempts, 4)
    );
}

/// For a call around it, the reason says what the last error says.
#[test]
fn the_reason_has_a_verdict_and_a_name() {
    let ended = P.max(0).on(|_: &u32| true).try_run(|| Err::<(), _>(1));
    let ended = ended.unwrap_err();
    assert_eq!(ended.reason().as_str(), "invalid_policy");
    let end: reattempt::GaveUp = reattempt::GaveUp::new(ended.reason(), 1);
    assert_eq!(end.classify(), Verdict::Transient);
}
