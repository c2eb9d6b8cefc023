//! Random policies and random attempts: no attempt starts after the deadline, and no call with a limit of its own returns
//! later than that, but for the one poll that notices it.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use proptest::option;
use proptest::prelude::*;
use reattempt::timer::Clock;
use reattempt::{
    Backoff, GiveUpReason, Jitter, Policy, RetryError, Verdict, deadline, policy::Nested, retry,
};
use tokio::time::{Instant, sleep};

use crate::support::{Hand, assert_nothing_is_left, drive};

/// tokio's timer rounds up to this.
const POLL: Duration = Duration::from_millis(1);

fn micros(range: std::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_micros)
}

/// What one attempt does: how long it takes, and what it answers.
#[derive(Debug, Clone, Copy)]
struct Act {
    takes: Duration,
    verdict: Option<Verdict>,
}

fn act() -> impl Strategy<Value = Act> {
    let takes = prop_oneof![Just(Duration::ZERO), micros(0..3_000_000)];
    let verdict = prop_oneof![
        12 => Just(Some(Verdict::Transient)),
        2 => option::of(micros(0..2_000_000)).prop_map(|after| Some(Verdict::Throttled(after))),
        2 => Just(Some(Verdict::Refused)),
        1 => Just(Some(Verdict::Permanent)),
        1 => Just(None),
    ];
    (takes, verdict).prop_map(|(takes, verdict)| Act { takes, verdict })
}

fn policy() -> impl Strategy<Value = Policy> {
    let shape = prop_oneof![
        Just(Backoff::None),
        Just(Backoff::Fixed),
        Just(Backoff::Linear),
        Just(Backoff::Exp),
        Just(Backoff::Fibonacci),
        Just(Backoff::Decorrelated),
    ];
    let jitter = prop_oneof![
        Just(Jitter::None),
        Just(Jitter::Full),
        Just(Jitter::Equal),
        Just(Jitter::Ratio(0.3)),
    ];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let limits = (
        option::of(micros(1_000..2_000_000)),
        option::of(micros(1..5_000_000)),
    );
    (1u32..12, shape, micros(1..1_500_000), jitter, flags, limits).prop_map(
        |(max, shape, base, jitter, (fast, idempotent, multiply), (timeout, deadline))| {
            let mut policy = Policy::new()
                .max(max)
                .backoff(shape)
                .base(base)
                .jitter(jitter)
                .fast_first(fast)
                .idempotent(idempotent);
            if multiply {
                policy = policy.nested(Nested::Multiply);
            }
            if let Some(timeout) = timeout {
                policy = policy.timeout(timeout);
            }
            if let Some(deadline) = deadline {
                policy = policy.deadline(deadline);
            }
            // Of delays below a millisecond no more are accepted.
            if policy.build().is_err() {
                policy = policy.max(max.min(3));
            }
            policy
        },
    )
}

/// One call under test.
#[derive(Debug)]
struct Case {
    policy: Policy,
    own: Option<Duration>,
    above: Option<Duration>,
    acts: Vec<Act>,
}

impl Case {
    /// The time that all of it has.
    fn limit(&self) -> Option<Duration> {
        match (self.own, self.above) {
            (Some(own), Some(above)) => Some(own.min(above)),
            (own, above) => own.or(above),
        }
    }

    fn act(&self, number: usize) -> Act {
        self.acts[number % self.acts.len()]
    }
}

fn case() -> impl Strategy<Value = Case> {
    let acts = proptest::collection::vec(act(), 1..8);
    let own = option::of(micros(1..5_000_000));
    (policy(), own, option::of(micros(0..5_000_000)), acts).prop_map(
        |(policy, own, above, acts)| {
            // Where there is none here, that of the policy is put aside.
            let policy = match own {
                Some(own) => policy.deadline(own),
                None => without_deadline(policy),
            };
            Case {
                policy,
                own,
                above,
                acts,
            }
        },
    )
}

fn without_deadline(policy: Policy) -> Policy {
    let idempotent = policy.is_idempotent();
    let bare = Policy::new().backoff(policy.shape()).idempotent(idempotent);
    bare.max(policy.attempts().unwrap_or(9))
}

/// When the attempts started, and when the call ended.
#[derive(Debug)]
struct Run {
    starts: Vec<Duration>,
    end: Duration,
    answer: Result<u32, RetryError<Verdict>>,
}

impl Run {
    fn check(&self, case: &Case) -> Result<(), TestCaseError> {
        let Some(limit) = case.limit() else {
            return Ok(());
        };
        for start in self.starts.iter().skip(1) {
            prop_assert!(*start < limit, "an attempt at {start:?}: {self:?}");
        }
        if let Err(failed) = &self.answer {
            prop_assert_eq!(failed.attempts() as usize, self.starts.len());
            if failed.reason() == GiveUpReason::Attempts {
                prop_assert_eq!(Some(failed.attempts()), case.policy.attempts());
            }
        }
        Ok(())
    }
}

/// One attempt, and when it started.
async fn attempt(case: &Case, starts: &RefCell<Vec<Duration>>, origin: Instant) -> Answer {
    starts.borrow_mut().push(origin.elapsed());
    let act = case.act(starts.borrow().len() - 1);
    if !act.takes.is_zero() {
        sleep(act.takes).await;
    }
    act.verdict.map_or(Ok(1), Err)
}

type Answer = Result<u32, Verdict>;

#[retry(policy = case.policy, on = |verdict| *verdict)]
async fn call(
    case: &Case,
    starts: &RefCell<Vec<Duration>>,
    origin: Instant,
) -> Result<u32, RetryError<Verdict>> {
    attempt(case, starts, origin).await
}

/// Whose error cannot say that it was cut off, and so it is not.
#[retry(policy = case.policy, cut_off = false, on = |verdict| *verdict)]
async fn endured(
    case: &Case,
    starts: &RefCell<Vec<Duration>>,
    origin: Instant,
) -> Result<u32, Verdict> {
    attempt(case, starts, origin).await
}

async fn run(case: &Case) -> Run {
    let (starts, origin) = (RefCell::default(), Instant::now());
    let call = call(case, &starts, origin);
    let answer = match case.above {
        Some(above) => deadline::within(above, call).await,
        None => call.await,
    };
    Run {
        starts: starts.into_inner(),
        end: origin.elapsed(),
        answer,
    }
}

async fn run_endured(case: &Case) -> Vec<Duration> {
    let (starts, origin) = (RefCell::default(), Instant::now());
    let above = case.above.unwrap_or(Duration::MAX);
    let _ = deadline::within(above, endured(case, &starts, origin)).await;
    starts.into_inner()
}

fn paused() -> tokio::runtime::Runtime {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true);
    runtime.build().expect("a runtime")
}

/// The same around a clock moved by hand: a thread that is blocked cannot be cut off.
fn run_sync(case: &Case, hand: &Hand) -> Run {
    #[retry(policy = case.policy, on = |verdict| *verdict, timer = hand)]
    fn call(
        case: &Case,
        hand: &Hand,
        starts: &RefCell<Vec<Duration>>,
    ) -> Result<u32, RetryError<Verdict>> {
        starts.borrow_mut().push(hand.passed());
        let act = case.act(starts.borrow().len() - 1);
        hand.spend(act.takes);
        act.verdict.map_or(Ok(1), Err)
    }
    let starts = RefCell::default();
    let answer = call(case, hand, &starts);
    Run {
        starts: starts.into_inner(),
        end: hand.passed(),
        answer,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn asynchronous(case in case()) {
        let runtime = paused();
        let run = runtime.block_on(run(&case));
        run.check(&case)?;
        // A deadline around a call without a limit of its own cuts no attempt off.
        if let (Some(_), Some(limit)) = (case.own, case.limit()) {
            prop_assert!(run.end <= limit + POLL, "ended at {:?} of {limit:?}", run.end);
        }
        assert_nothing_is_left();
    }

    /// Nothing cuts the last attempt off, but none starts too late.
    #[test]
    fn enduring(case in case()) {
        let runtime = paused();
        let starts = runtime.block_on(run_endured(&case));
        let limit = case.limit().unwrap_or(Duration::MAX);
        prop_assert!(starts.iter().skip(1).all(|start| *start < limit), "{starts:?}");
        assert_nothing_is_left();
    }

    #[test]
    fn sync(mut case in case(), late in option::of(micros(0..100_000))) {
        case.above = None;
        let hand = Hand::late(late.unwrap_or_default());
        let run = run_sync(&case, &hand);
        run.check(&case)?;
        assert_nothing_is_left();
    }

    /// Two calls, one below the other, and the deadline of the upper one.
    #[test]
    fn one_below_the_other(upper in case(), lower in case()) {
        let runtime = paused();
        let (end, limit) = runtime.block_on(async {
            let (origin, calls) = (Instant::now(), Cell::new(0_u32));
            let body = async || {
                calls.set(calls.get() + 1);
                let run = run(&lower).await;
                run.answer.map_err(|failed| failed.into_last().unwrap_or(Verdict::Transient))
            };
            let runner = upper.policy.on(|verdict: &Verdict| *verdict);
            let outer = deadline::within(upper.above.unwrap_or(Duration::MAX), runner.try_run_async(body));
            let answer = outer.await;
            if let Err(failed) = answer {
                assert_eq!(failed.attempts(), calls.get());
            }
            (origin.elapsed(), upper.own.and(upper.limit()))
        });
        if let Some(limit) = limit {
            prop_assert!(end <= limit + POLL, "ended at {end:?} of {limit:?}");
        }
        assert_nothing_is_left();
    }
}

/// A clock that stands still while nobody sleeps is still a clock.
#[test]
fn hands_count() {
    let hand = Hand::default();
    let origin = hand.now();
    drive(reattempt::timer::Timer::sleep(&hand, POLL));
    assert_eq!(hand.now().since(origin), POLL);
}
