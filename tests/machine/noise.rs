//! What a neighbour does, for ever: operations that fail, that succeed later, that time out, panic, are dropped after some
//! polls, or give up inside of each other. Its clock, its budgets and its breakers are its own.

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use reattempt::{Backoff, Breaker, Budget, Jitter, Policy, Verdict, deadline, nesting};

use crate::company::Scenario;
use crate::own_clock::Own;
use crate::random::Random;
use crate::spec;
use crate::world::{Fault, ScriptResult, World};

pub(crate) type Neighbour = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How the names of operations begin that are not of the case.
pub(crate) const BESIDE: &str = "beside";
pub(crate) const OUTER: &str = "beside: outer";

const FAILED: ScriptResult = Err(Fault::Judged(Verdict::Transient));

/// What a planned panic carries.
struct Planned;

/// Pending once.
pub(crate) async fn pause() {
    let mut is_first = true;
    poll_fn(|cx| {
        if !std::mem::take(&mut is_first) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// One that `moves` from thread to thread finds another time on each: its deadlines are far.
pub(crate) fn neighbour(seed: u64, scenario: &Scenario, moves: bool) -> Neighbour {
    let mut scenario = scenario.clone();
    // A neighbour has budgets of its own; a constant function has no such one without a budget.
    let shares_function = scenario.case.constant.is_none();
    let is_paid = spec::budget(&scenario.case.spec).is_some();
    scenario.case.spec.retain(|key| !key.starts_with("budget"));
    let mut noise = Noise {
        random: Random(seed),
        clock: Own::default(),
        moves,
        scenario: (shares_function || !is_paid)
            .then_some(scenario)
            .map(Arc::new),
    };
    Box::pin(async move {
        loop {
            let polls = noise.random.some(40, |random| random.below(8));
            let operation = noise.another().operation();
            let clock = noise.clock.clone();
            limited(operation, polls, clock).await;
        }
    })
}

/// Drops `operation` after so many polls, or after a planned panic. Each poll takes time.
async fn limited(mut operation: Neighbour, polls: Option<u64>, clock: Own) {
    let mut polls = polls.unwrap_or(u64::MAX);
    poll_fn(|cx| {
        if polls == 0 {
            return Poll::Ready(());
        }
        polls -= 1;
        clock.advance(Duration::from_millis(100));
        let poll = AssertUnwindSafe(|| operation.as_mut().poll(cx));
        catch_unwind(poll).unwrap_or_else(|panic| {
            if !panic.is::<Planned>() {
                resume_unwind(panic);
            }
            Poll::Ready(())
        })
    })
    .await;
    drop(operation);
    pause().await;
}

#[derive(Debug, Clone)]
struct Noise {
    random: Random,
    clock: Own,
    moves: bool,
    scenario: Option<Arc<Scenario>>,
}

impl Noise {
    fn another(&mut self) -> Self {
        let seed = self.random.next();
        Self {
            random: Random(seed),
            ..self.clone()
        }
    }

    fn operation(mut self) -> Neighbour {
        let is_far = self.random.percent(50) || self.moves;
        let limit = Duration::from_secs(if is_far { 1 << 20 } else { 0 });
        match self.random.below(10) {
            0 | 1 => Box::pin(self.plain()),
            2 => Box::pin(async { self.plain_blocking() }),
            3 => Box::pin(self.chain()),
            4 => Box::pin(async { self.chain_blocking() }),
            5 => Box::pin(deadline::within(limit, self.chain())),
            6 => {
                Box::pin(async move { deadline::within_blocking(limit, || self.chain_blocking()) })
            }
            7 => Box::pin(nesting::isolate(self.chain())),
            _ => Box::pin(async move { self.use_up() }),
        }
    }

    /// The operation of the case gives up: another call of it, with which it has nothing to do.
    fn use_up(&self) {
        if let Some(scenario) = &self.scenario {
            World::use_up(&scenario.case, scenario.call);
        }
    }

    fn script(&mut self) -> Script {
        Script {
            max: self.up_to(1, 4),
            good: self.up_to(1, 6),
            panics: self.up_to(1, 12),
            hangs: self.random.percent(20),
            has_deadline: self.random.percent(40),
            made: AtomicU32::new(0),
        }
    }

    fn up_to(&mut self, least: u32, most: u32) -> u32 {
        let further = self.random.below(u64::from(most - least) + 1);
        least + u32::try_from(further).unwrap_or(0)
    }

    /// An operation that sees nothing but what is its own.
    async fn plain(mut self) {
        let script = self.script();
        let policy = script.policy();
        let policy = if script.hangs {
            policy.timeout(Duration::from_secs(1))
        } else {
            policy
        };
        let runner = policy.runner().name("beside: plain").timer(self.clock);
        let _answer = runner
            .run_async(|| async {
                let number = script.begin();
                pause().await;
                script.look(number);
                if script.hangs && number != script.good {
                    pending::<()>().await;
                }
                script.end(number)
            })
            .await;
        script.check();
    }

    fn plain_blocking(mut self) {
        let mut script = self.script();
        script.hangs = false;
        let policy = script.policy();
        let runner = policy.runner().name("beside: plain").timer(self.clock);
        let _answer = runner.run(|| {
            let number = script.begin();
            script.end(number)
        });
        script.check();
    }

    /// Operations inside of each other, which give up.
    async fn chain(mut self) {
        let (outer, link) = (self.outer(), self.link());
        let uses_up = self.random.percent(50);
        let breaker = Breaker::count_window(2);
        let budget = Budget::tokens(2);
        let outer = outer.runner().name(OUTER).timer(self.clock.clone());
        let _answer = outer
            .run_async(|| async {
                let link = link.runner().name("beside: link").budget(&budget);
                let link = link.timer(self.clock.clone()).breaker(&breaker);
                let _gave_up = link
                    .run_async(|| async {
                        pause().await;
                        FAILED
                    })
                    .await;
                if uses_up {
                    self.use_up();
                }
                pause().await;
                FAILED
            })
            .await;
    }

    fn chain_blocking(mut self) {
        let (outer, link) = (self.outer(), self.link());
        let (uses_up, panics) = (self.random.percent(50), self.random.percent(30));
        let budget = Budget::tokens(2);
        let outer = outer.runner().name(OUTER).timer(self.clock.clone());
        let _answer = outer.run(|| {
            let link = link.runner().name("beside: link").budget(&budget);
            let _gave_up = link.timer(self.clock.clone()).run(|| FAILED);
            if uses_up {
                self.use_up();
            }
            if panics && deadline::attempt() > 1 {
                resume_unwind(Box::new(Planned));
            }
            FAILED
        });
    }

    fn outer(&mut self) -> Policy {
        let policy = Policy::new().max(self.up_to(2, 3));
        if self.random.percent(50) {
            policy.backoff(Backoff::None)
        } else {
            policy.deadline(Duration::from_secs(1000))
        }
    }

    fn link(&mut self) -> Policy {
        Policy::new().max(self.up_to(1, 4))
    }
}

/// A plain operation.
struct Script {
    max: u32,
    /// The attempt that succeeds.
    good: u32,
    /// The attempt that panics.
    panics: u32,
    /// Whether attempts that fail never end by themselves.
    hangs: bool,
    has_deadline: bool,
    made: AtomicU32,
}

impl Script {
    fn policy(&self) -> Policy {
        let policy = Policy::new().max(self.max).jitter(Jitter::None);
        if self.has_deadline {
            policy.deadline(Duration::from_secs(1000))
        } else {
            policy
        }
    }

    fn begin(&self) -> u32 {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        self.look(number);
        number
    }

    fn look(&self, number: u32) {
        let seen = (deadline::attempt(), deadline::current().is_some());
        let is_limited = self.has_deadline || self.hangs;
        assert_eq!(seen, (number, is_limited), "what the neighbour sees");
    }

    fn end(&self, number: u32) -> ScriptResult {
        if number == self.panics {
            resume_unwind(Box::new(Planned));
        }
        if number == self.good { Ok(1) } else { FAILED }
    }

    fn check(&self) {
        let made = self.made.load(Ordering::Relaxed);
        assert_eq!(made, self.max.min(self.good), "attempts of the neighbour");
    }
}
