//! One call under any policy, with any outcomes and clocks: by the state machine alone, beside the order of
//! reasons that `Call::failed` documents, and by the loops of a runner, sync and async.
#![no_main]

use core::cell::{Cell, RefCell};
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use reattempt::testing;
use reattempt_fuzz::policy::{Keys, Time};
use reattempt_fuzz::{HandClock, Jump};
use retry_runtime::strategy::{Decision, from_fn};
use retry_runtime::{
    Breaker, Budget, Call, CallEnv, FailedAttempt, GiveUpReason, Policy, Retry, RetryError,
    Throttle, Verdict, deadline,
};

#[derive(Debug, Arbitrary)]
struct Input {
    keys: Keys,
    start: u64,
    how: How,
    attempts: Vec<Attempt>,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum How {
    Machine,
    Sync(Around),
    Async(Around),
}

/// What surrounds a call.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct Around {
    gates: Gates,
    /// Tokens of a budget.
    budget: Option<u8>,
    /// A deadline from above.
    above: Option<Time>,
    /// Whether it runs inside a retry of a call in which it has not used up its retries.
    nested: bool,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Gates {
    None,
    Breaker(u8),
    Throttle,
    Both(u8),
    Strategy,
}

impl Gates {
    const fn throttles(self) -> bool {
        matches!(self, Self::Throttle | Self::Both(_))
    }
}

#[derive(Debug, Clone, Copy, Arbitrary)]
struct Attempt {
    outcome: Outcome,
    takes: Jump,
    /// So much later than asked the timer ends, in milliseconds.
    late: u8,
    /// How often it is pending.
    polls: u8,
    /// For the machine alone.
    left: Option<Time>,
    random: u64,
    nested: bool,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Outcome {
    Done,
    Transient,
    TransientAfter(Time),
    Throttled(Option<Time>),
    Refused,
    Permanent,
    Forbidden,
}

impl Outcome {
    fn verdict(self) -> Option<Verdict> {
        Some(match self {
            Self::Done => return None,
            Self::Transient => Verdict::Transient,
            Self::TransientAfter(time) => Verdict::TransientAfter(time.duration()),
            Self::Throttled(time) => Verdict::Throttled(time.map(Time::duration)),
            Self::Refused => Verdict::Refused,
            Self::Permanent => Verdict::Permanent,
            Self::Forbidden => Verdict::RetryForbidden,
        })
    }
}

fuzz_target!(|input: Input| match input.how {
    How::Machine => machine(&input),
    How::Sync(around) => looped(&input, around, sync),
    How::Async(around) => looped(&input, around, asynchronous),
});

/// What an error asks for.
fn asked(verdict: Verdict) -> Option<Duration> {
    match verdict {
        Verdict::TransientAfter(delay) | Verdict::Throttled(Some(delay)) => {
            (!delay.is_zero()).then_some(delay)
        }
        _ => None,
    }
}

/// Why no policy would go on after this verdict, as far as no clock is asked.
fn final_reason(
    policy: &Policy,
    max: Option<u32>,
    verdict: Verdict,
    failures: u32,
) -> Option<GiveUpReason> {
    match verdict {
        Verdict::Permanent => return Some(GiveUpReason::Permanent),
        Verdict::RetryForbidden => return Some(GiveUpReason::RetryForbidden),
        _ if verdict.is_ambiguous() && !policy.is_idempotent() => {
            return Some(GiveUpReason::NotIdempotent);
        }
        _ => {}
    }
    if max.is_some_and(|max| failures >= max) {
        return Some(GiveUpReason::Attempts);
    }
    None
}

/// A delay that was asked for is not shortened, and little longer.
fn spread(asked: Duration, delay: Duration) -> bool {
    let most = asked
        .saturating_add(asked / 10)
        .saturating_add(asked / 1_000_000);
    delay >= asked && delay <= most.saturating_add(Duration::from_nanos(1))
}

struct Still(Attempt);

impl CallEnv for Still {
    fn remaining(&self) -> Option<Duration> {
        self.0.left.map(Time::duration)
    }

    fn random(&self) -> u64 {
        self.0.random
    }

    fn is_nested(&self) -> bool {
        self.0.nested
    }
}

fn machine(input: &Input) {
    let (keys, policy) = (input.keys, input.keys.policy());
    let mut call = Call::new();
    let mut previous = None;
    for (at, attempt) in (0_u32..).zip(&input.attempts) {
        let Some(verdict) = attempt.outcome.verdict() else {
            continue;
        };
        let before = call.failures();
        let step = call.failed(&policy, verdict, &mut Still(*attempt));
        assert!(call.failures() <= at + 1);
        let around = Still(*attempt);
        let failures = before + 1;
        let asked = asked(verdict);
        let mut expected = final_reason(&policy, policy.attempts(), verdict, failures);
        if expected.is_none() && !keys.multiply && around.is_nested() {
            expected = Some(GiveUpReason::Nested);
        }
        if expected.is_none() && asked.is_some_and(|asked| asked > keys.max_retry_after()) {
            expected = Some(GiveUpReason::RetryAfterTooLong);
        }
        if let Some(reason) = expected {
            assert_eq!(step, Err(reason));
            continue;
        }
        let delay = match asked {
            Some(asked) => {
                if let Ok(delay) = step {
                    assert!(spread(asked, delay), "{asked:?} {delay:?}");
                    if let Some(left) = around.remaining() {
                        assert!(delay < left);
                    }
                } else {
                    assert_eq!(step, Err(GiveUpReason::Deadline));
                    // The delay by itself does not fit; its spread ends no call.
                    let left = around.remaining().expect("a deadline");
                    assert!(left <= asked, "{left:?} {asked:?}");
                }
                continue;
            }
            None => policy.sample_delay(failures - 1, previous, || around.random()),
        };
        // The machine keeps it in nanoseconds, of which a policy that the rules accept never asks for too many.
        previous = Some(delay.min(Duration::from_nanos(u64::MAX)));
        assert!(delay <= keys.cap(), "{delay:?}");
        let (least, most) = policy.delay_bounds(failures - 1);
        let slack = Duration::from_nanos(2).saturating_add(most / 1_000_000_000);
        // A ratio that the rules refuse has no bounds but the cap.
        if policy.violation().is_none() {
            assert!(
                least <= delay.saturating_add(slack),
                "{delay:?} below {least:?}"
            );
            assert!(
                delay <= most.saturating_add(slack),
                "{delay:?} above {most:?}"
            );
        }
        match around.remaining() {
            Some(left) if left <= delay => assert_eq!(step, Err(GiveUpReason::Deadline)),
            _ => assert_eq!(step, Ok(delay)),
        }
    }
}

/// What a call comes to, and what it was made of.
struct Course<'i> {
    input: &'i Input,
    around: Around,
    policy: Policy,
    clock: HandClock,
    /// The end of the call by its clock.
    until: Option<u64>,
    time: testing::VirtualTime,
    /// Attempts that were made ready: the last may have come too late to start.
    made: Cell<u32>,
    /// Those that have started.
    started: Cell<u32>,
    /// How the last one ended; nothing when it was cut off.
    ended: RefCell<Option<Attempt>>,
}

#[derive(Debug, Clone, Copy)]
struct Fault(Verdict);

const ENDED: Attempt = Attempt {
    outcome: Outcome::Done,
    takes: Jump::Stand,
    late: 0,
    polls: 0,
    left: None,
    random: 0,
    nested: false,
};

impl Course<'_> {
    fn max(&self) -> Option<u32> {
        match self.around.gates {
            Gates::Strategy if self.input.keys.max.is_none() => None,
            _ => self.policy.attempts(),
        }
    }

    /// An attempt is made ready.
    fn make(&self) {
        self.made.set(self.made.get() + 1);
        self.ended.replace(None);
    }

    /// It starts.
    fn start(&self) -> Attempt {
        self.started.set(self.started.get() + 1);
        let number = self.made.get();
        assert!(
            self.max().is_none_or(|max| number <= max),
            "attempt {number}"
        );
        if number > 1 {
            if let Some(until) = self.until {
                assert!(
                    self.clock.nanos() < until,
                    "attempt {number} after the deadline"
                );
            }
            if let Some(above) = self.around.above {
                assert!(
                    self.time.elapsed() < above.duration(),
                    "attempt {number} after the deadline above"
                );
            }
        }
        let attempt = self.input.attempts.get(number as usize - 1);
        attempt.copied().unwrap_or(ENDED)
    }

    fn end(&self, attempt: Attempt) -> Result<(), Fault> {
        self.clock.be_late(u64::from(attempt.late) * 1_000_000);
        self.ended.replace(Some(attempt));
        match attempt.outcome.verdict() {
            None => Ok(()),
            Some(verdict) => Err(Fault(verdict)),
        }
    }

    /// The clock of the call moves, and that of deadlines from above.
    fn pass(&self, attempt: Attempt) {
        self.clock.jump(attempt.takes);
        if self.around.gates.throttles() {
            // Who waits for a throttle looks at the clock until its turn comes: one that stands at its end has none.
            self.clock.set(self.clock.nanos().min(u64::MAX / 2));
        }
        if let Jump::Millis(millis) = attempt.takes {
            self.time.advance(Duration::from_millis(millis.into()));
        }
    }

    /// The verdict on the last attempt.
    fn verdict(&self) -> Verdict {
        let ended = self.ended.borrow();
        // One that is cut off may have been executed.
        ended
            .and_then(|attempt| attempt.outcome.verdict())
            .unwrap_or(Verdict::Transient)
    }

    fn retried(&self, retry: &Retry<'_, Fault>) {
        let (verdict, delay) = (self.verdict(), retry.delay());
        assert_eq!(retry.attempt(), self.made.get());
        assert_eq!(retry.max(), self.max());
        assert_eq!(retry.error().is_some(), self.ended.borrow().is_some());
        match asked(verdict) {
            Some(asked) => {
                assert!(asked <= self.input.keys.max_retry_after());
                assert!(spread(asked, delay), "{asked:?} {delay:?}");
            }
            None if matches!(self.around.gates, Gates::Strategy) => {}
            None => assert!(delay <= self.input.keys.cap(), "{delay:?}"),
        }
        if let Some(until) = self.until
            && !delay.is_zero()
        {
            let left = until.saturating_sub(self.clock.nanos());
            assert!(delay < Duration::from_nanos(left), "{delay:?} of {left} ns");
        }
    }

    fn gave_up(&self, reason: GiveUpReason, attempts: u32, last: Option<&Fault>) {
        let started = self.started.get();
        if reason == GiveUpReason::Deadline {
            assert!(
                (started..=self.made.get()).contains(&attempts),
                "{attempts} of {started}"
            );
        } else {
            assert_eq!(attempts, self.made.get());
        }
        let verdict = self.verdict();
        assert!(last.is_none_or(|last| last.0 == verdict));
        let could_end = self.until.is_some()
            || self.around.above.is_some()
            || self.input.keys.deadline.is_some();
        let gates = self.around.gates;
        let has_breaker = matches!(gates, Gates::Breaker(_) | Gates::Both(_));
        let has_throttle = gates.throttles();
        if attempts == 0 {
            match reason {
                GiveUpReason::BreakerOpen => assert!(has_breaker),
                GiveUpReason::Throttle => assert!(has_throttle),
                GiveUpReason::Deadline => assert!(could_end),
                _ => panic!("{reason:?} before any attempt"),
            }
            return;
        }
        let keys = self.input.keys;
        let is_cut_off = self.ended.borrow().is_none();
        match final_reason(&self.policy, self.max(), verdict, attempts) {
            // The deadline cut it off, whatever else.
            Some(_) if is_cut_off && reason == GiveUpReason::Deadline => assert!(could_end),
            Some(expected) => assert_eq!(reason, expected),
            None => match reason {
                GiveUpReason::Nested => panic!("it has not used up its retries"),
                GiveUpReason::RetryAfterTooLong => {
                    assert!(asked(verdict).is_some_and(|asked| asked > keys.max_retry_after()))
                }
                GiveUpReason::Strategy => assert!(matches!(gates, Gates::Strategy)),
                GiveUpReason::Deadline => assert!(could_end),
                GiveUpReason::BreakerOpen => assert!(has_breaker),
                GiveUpReason::Throttle => assert!(has_throttle),
                GiveUpReason::Budget => assert!(self.around.budget.is_some()),
                _ => panic!("{reason:?} after {verdict:?}"),
            },
        }
    }
}

const DAY: u64 = 24 * 3600 * 1_000_000_000;

/// A clock's end is never come to: a deadline there is none.
fn until(start: u64, deadline: Option<Duration>) -> Option<u64> {
    let deadline = u64::try_from(deadline?.as_nanos()).ok()?;
    start
        .checked_add(deadline)
        .filter(|until| *until < u64::MAX)
}

fn looped(
    input: &Input,
    around: Around,
    run: impl Fn(&Course<'_>, &Budget) -> Option<Result<(), RetryError<Fault>>>,
) {
    let policy = input.keys.policy();
    let start = if around.gates.throttles() {
        input.start / 2
    } else {
        input.start
    };
    let course = Course {
        input,
        around,
        policy,
        clock: HandClock::new(start, input.start),
        until: until(start, input.keys.deadline()),
        time: testing::virtual_time(),
        made: Cell::new(0),
        started: Cell::new(0),
        ended: RefCell::new(None),
    };
    if around.gates.throttles() {
        course.clock.sleep_at_most(DAY);
    }
    let tokens = around.budget.map_or(1, |tokens| u32::from(tokens.max(1)));
    let budget = Budget::tokens(tokens).cost(1).timeout_cost(1);
    let answer = below(&course, || run(&course, &budget));
    let Some(answer) = answer else {
        return;
    };
    if let Err(failed) = &answer {
        course.gave_up(failed.reason(), failed.attempts(), failed.last());
    }
    // What was not begun has not been paid for, and a success brings a token back.
    if around.budget.is_some() {
        let retries = course.made.get().saturating_sub(1);
        assert!(retries <= tokens, "{retries} of {tokens}");
        let spent = if answer.is_ok() {
            retries.saturating_sub(1)
        } else {
            retries
        };
        assert_eq!(
            budget.balance_with_clock(&course.clock),
            f64::from(tokens - spent)
        );
    }
    assert_eq!(deadline::remaining(), None);
    assert_eq!(deadline::attempt(), 1);
}

/// Under what is above.
fn below<R>(course: &Course<'_>, run: impl Fn() -> R) -> R {
    let run = || match course.around.above {
        Some(above) => deadline::within_blocking(above.duration(), &run),
        None => run(),
    };
    if !course.around.nested {
        return run();
    }
    let mut attempts = 0;
    let outer = Policy::new().max(2).backoff(retry_runtime::Backoff::None);
    let clock = HandClock::new(0, 0);
    let answer = outer.on(|(): &()| true).timer(&clock).run(|| {
        attempts += 1;
        if attempts == 1 { Err(()) } else { Ok(run()) }
    });
    answer.expect("the second attempt succeeds")
}

fn decide(failure: &FailedAttempt<'_, Fault>) -> Decision {
    match failure.attempt() {
        7.. => Decision::Stop,
        number => Decision::Retry(Duration::from_secs(number.into())),
    }
}

macro_rules! with_gates {
    ($course:ident, $budget:ident, |$runner:ident| $run:expr) => {{
        let plain = $course
            .policy
            .on(|fault: &Fault| fault.0)
            .timer(&$course.clock)
            .on_retry(|retry: &Retry<'_, Fault>| $course.retried(retry));
        let plain = match $course.around.budget {
            Some(_) => plain.budget($budget),
            None => plain,
        };
        let breaker = |calls: u8| Breaker::count_window(u32::from(calls.max(1)));
        match $course.around.gates {
            Gates::None => {
                let $runner = plain;
                $run
            }
            Gates::Breaker(calls) => {
                let breaker = breaker(calls);
                let $runner = plain.breaker(&breaker);
                $run
            }
            Gates::Throttle => {
                let throttle = Throttle::cubic();
                let $runner = plain.throttle(&throttle);
                $run
            }
            Gates::Both(calls) => {
                let (breaker, throttle) = (breaker(calls), Throttle::cubic());
                let $runner = plain.breaker(&breaker).throttle(&throttle);
                $run
            }
            Gates::Strategy => {
                let $runner = plain.strategy(from_fn(decide));
                $run
            }
        }
    }};
}

fn sync(course: &Course<'_>, budget: &Budget) -> Option<Result<(), RetryError<Fault>>> {
    Some(with_gates!(course, budget, |runner| runner.try_run(|| {
        course.make();
        let attempt = course.start();
        course.pass(attempt);
        course.end(attempt)
    })))
}

fn asynchronous(course: &Course<'_>, budget: &Budget) -> Option<Result<(), RetryError<Fault>>> {
    Some(with_gates!(course, budget, |runner| {
        block_on(runner.try_run_async(|| course.attempt()))
    }))
}

impl Course<'_> {
    fn attempt(&self) -> impl Future<Output = Result<(), Fault>> {
        self.make();
        async {
            let attempt = self.start();
            let mut polls = attempt.polls;
            poll_fn(|_| {
                self.pass(attempt);
                if polls == 0 {
                    return Poll::Ready(());
                }
                polls -= 1;
                Poll::Pending
            })
            .await;
            self.end(attempt)
        }
    }
}

/// Polls until it is ready; a call that waits for nothing never is.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..200_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("it never ends");
}
