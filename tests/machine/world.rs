//! What the calls of a case see: attempts by the script, what surrounds them, and a log.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reattempt::testing::{CallEnd, RecordedAttempt, RecordedCall};
use reattempt::{Backoff, Breaker, Budget, Classify, Policy, Retry, Verdict, deadline};

use crate::case::{Act, Case, End};
use crate::clock::{self, Time, now};
use crate::company;
use crate::names::{CutOff, Reason};
use crate::noise;
use crate::own_record::{Recorded, Unrelated};
use crate::spec;
use crate::trace::{Attempt, Call, Ending, Trace};

/// What attempts answer. A name that ends in `Result`: the attribute then knows that it is one.
pub(crate) type ScriptResult = Result<u32, Fault>;

/// A value that `until` does not accept.
pub(crate) const NOT_FINAL: u32 = 0;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    Judged(Verdict),
    Cut(Reason, u32),
}

impl Classify for Fault {
    fn classify(&self) -> Verdict {
        match self {
            Self::Judged(verdict) => *verdict,
            Self::Cut(..) => Verdict::Permanent,
        }
    }
}

impl From<CutOff> for Fault {
    fn from(end: CutOff) -> Self {
        Self::Cut(end.reason(), end.attempts())
    }
}

/// The calls of one case by one driver.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) case: Case,
    pub(crate) policy: Policy,
    /// As long as the process, as a `static` would.
    pub(crate) breaker: &'static Breaker,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    acts: usize,
    trace: Trace,
    /// When the last attempt ended, or the call began.
    since: Duration,
    /// The delay that `on_retry` was given.
    announced: Option<Duration>,
}

/// What a scripted panic carries.
struct Scripted;

impl World {
    pub(crate) fn run(case: &Case, call: fn(&Arc<Self>) -> Ending) -> Trace {
        let _time = clock::start(case);
        if let Some(budget) = spec::budget(&case.spec) {
            budget.reset();
        }
        let world = Arc::new(Self {
            policy: spec::policy(&case.spec),
            breaker: Box::leak(Box::new(case.breaker())),
            case: case.clone(),
            log: Mutex::default(),
        });
        for _ in 0..case.calls {
            company::turn();
            world.log().since = now();
            world.log().trace.calls.push(Call::default());
            let ending = around(case, call, || world.call(call));
            let mut log = world.log();
            let rest = now().saturating_sub(log.since);
            if let Some(call) = log.trace.calls.last_mut() {
                (call.rest, call.ending) = (rest, ending);
            }
            let left = (deadline::current(), deadline::attempt());
            assert_eq!(left, (None, 1), "something leaked: {case:?}");
        }
        std::mem::take(&mut world.log().trace)
    }

    /// Makes a call that ends because of a deadline that has passed.
    pub(crate) fn use_up(case: &Case, call: fn(&Arc<Self>) -> Ending) {
        let _uncounted = clock::uncounted();
        let _unrelated = Unrelated::begin();
        let mut case = case.clone();
        let fails = Act {
            takes: Duration::ZERO,
            end: End::Error(Verdict::Refused),
        };
        case.acts.insert(0, fails);
        let world = Arc::new(Self {
            policy: spec::policy(&case.spec),
            breaker: Box::leak(Box::new(case.breaker())),
            case,
            log: Mutex::default(),
        });
        let ending = deadline::within_blocking(Duration::ZERO, || world.call(call));
        assert!(
            !matches!(ending, Ending::Value | Ending::Stuck),
            "{ending:?} {world:?}"
        );
    }

    /// Where the answer does not say why the call gave up, its events do.
    fn call(self: &Arc<Self>, call: fn(&Arc<Self>) -> Ending) -> Ending {
        let recorded = Recorded::begin();
        let ending = catch_unwind(AssertUnwindSafe(|| call(self))).unwrap_or_else(|panic| {
            if !panic.is::<Scripted>() {
                resume_unwind(panic);
            }
            Ending::Panic
        });
        let recorded = recorded.end();
        let mut log = self.log();
        log.announced = None;
        match (ending, recorded.as_ref().map(RecordedCall::end)) {
            (Ending::Failed, Some(CallEnd::GaveUp(reason))) => {
                let attempts = log.trace.calls.last().map_or(0, |call| call.attempts.len());
                let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
                // Where the count may have started anew, only the events say how far it came.
                let restarts = spec::value(&self.case.spec, "reset_after").is_some();
                let reported = recorded.as_ref().map_or(0, last_number);
                Ending::GaveUp(reason, if restarts { reported } else { attempts })
            }
            (Ending::GaveUp(reason, _), Some(CallEnd::GaveUp(recorded))) => {
                assert_eq!(reason, recorded, "the reason that the events say");
                ending
            }
            _ => ending,
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For `on_retry`: the next attempt has to begin so much later.
    pub(crate) fn announced(&self, delay: Duration) {
        self.log().announced = Some(delay);
    }

    pub(crate) fn budget(&self) -> &'static Budget {
        spec::budget(&self.case.spec).expect("a budget")
    }

    pub(crate) fn polls(&self) -> bool {
        self.case.has(End::NotFinal)
    }

    pub(crate) fn attempt(&self) -> ScriptResult {
        let (act, under_way) = self.begin();
        Time::spend(act.takes);
        under_way.end(act.end)
    }

    pub(crate) async fn attempt_async(&self) -> ScriptResult {
        let (act, under_way) = self.begin();
        clock::pass(act.takes).await;
        if act.end == End::Hangs {
            std::future::pending::<()>().await;
        }
        under_way.end(act.end)
    }

    fn begin(&self) -> (Act, UnderWay<'_>) {
        let mut log = self.log();
        let wait = now().saturating_sub(log.since);
        if let Some(announced) = log.announced.take() {
            let late = if announced.is_zero() {
                announced
            } else {
                self.case.late
            };
            // tokio's timer rounds up.
            let most = if self.case.tokio { 1_000_000 } else { 1 };
            let is_near = wait.abs_diff(announced + late).as_nanos() < most;
            assert!(
                is_near,
                "announced {announced:?}, waited {wait:?}: {:?}",
                self.case
            );
        }
        let view = (deadline::attempt(), deadline::remaining());
        if let Some(call) = log.trace.calls.last_mut() {
            call.attempts.push(Attempt { wait, view });
        }
        let act = self.case.acts.get(log.acts).copied().unwrap_or(Act {
            takes: Duration::ZERO,
            end: End::Value,
        });
        log.acts += 1;
        (act, UnderWay(Some(self)))
    }
}

fn last_number(call: &RecordedCall) -> u32 {
    call.attempts().last().map_or(0, RecordedAttempt::number)
}

/// An attempt; dropped before its end it was cut off.
struct UnderWay<'w>(Option<&'w World>);

impl UnderWay<'_> {
    fn end(mut self, end: End) -> ScriptResult {
        if let Some(world) = self.0.take() {
            world.log().since = now();
        }
        match end {
            End::Value | End::Hangs => Ok(1),
            End::NotFinal => Ok(NOT_FINAL),
            End::Error(verdict) => Err(Fault::Judged(verdict)),
            End::Panic => resume_unwind(Box::new(Scripted)),
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(world) = self.0 {
            let mut log = world.log();
            (log.since, log.trace.has_cut) = (now(), true);
        }
    }
}

/// A call inside the outer deadline of the case, and inside the second attempt of another call, in whose first attempt
/// the operation has used up its retries.
fn around(case: &Case, driver: fn(&Arc<World>) -> Ending, call: impl Fn() -> Ending) -> Ending {
    const OUTER: Policy = Policy::new().max(2).backoff(Backoff::None);
    let nested = || {
        let (is_first, mut ending) = (Cell::new(true), None);
        let outer = OUTER.on(|(): &()| true).name(noise::OUTER).timer(Time);
        let outer = outer.on_retry(|_: &Retry<'_, ()>| company::turn());
        let _second = outer.run(|| {
            if is_first.replace(false) {
                // With `multiply` it would change nothing but its budget.
                if !case.is_fresh && !spec::multiplies(&case.spec) {
                    World::use_up(case, driver);
                }
                company::turn_inside();
                return Err(());
            }
            ending = Some(call());
            Ok(())
        });
        ending.unwrap_or_default()
    };
    if company::surrounds() {
        return call();
    }
    let call = || if case.nested { nested() } else { call() };
    match case.outer_deadline {
        Some(outer_deadline) => deadline::within_blocking(outer_deadline, call),
        None => call(),
    }
}
