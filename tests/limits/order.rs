//! In which order the reasons to end a call are asked for, what each of them leaves untouched, and when a budget pays.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use reattempt::overload::breaker::State;
use reattempt::timer::{BlockingTimer, Clock, Timestamp};
use reattempt::{
    Breaker, Bulkhead, GiveUpReason, Policy, RetryError, Throttle, Verdict, deadline, retry,
    testing,
};

use crate::points::poll;
use crate::support::{Fault, SECOND, Still, World};

const ORDER: [GiveUpReason; 9] = [
    GiveUpReason::Permanent,
    GiveUpReason::NotIdempotent,
    GiveUpReason::RetryForbidden,
    GiveUpReason::Attempts,
    GiveUpReason::Nested,
    GiveUpReason::RetryAfterTooLong,
    GiveUpReason::Deadline,
    GiveUpReason::BreakerOpen,
    GiveUpReason::Budget,
];

/// The reasons that hold after the first failure.
#[derive(Debug, Clone)]
struct Reasons(Vec<GiveUpReason>);

impl Reasons {
    /// All that can hold together; a verdict is one only.
    fn all() -> impl Iterator<Item = Self> {
        let subset = |bits: u32| {
            let held = ORDER.iter().enumerate();
            let held = held.filter(|(n, _)| bits >> n & 1 == 1);
            Self(held.map(|(_, reason)| *reason).collect())
        };
        (1..1 << ORDER.len()).map(subset).filter(|reasons| {
            let has = |reason| u32::from(reasons.has(reason));
            let is_final = has(GiveUpReason::Permanent) + has(GiveUpReason::RetryForbidden);
            is_final + has(GiveUpReason::NotIdempotent) <= 1
                && is_final + has(GiveUpReason::RetryAfterTooLong) <= 1
        })
    }

    fn has(&self, reason: GiveUpReason) -> bool {
        self.0.contains(&reason)
    }

    fn verdict(&self) -> Verdict {
        let long = Duration::from_secs(3600);
        match (
            self.has(GiveUpReason::NotIdempotent),
            self.has(GiveUpReason::RetryAfterTooLong),
        ) {
            (true, true) => Verdict::TransientAfter(long),
            (false, true) => Verdict::Throttled(Some(long)),
            _ if self.has(GiveUpReason::Permanent) => Verdict::Permanent,
            _ if self.has(GiveUpReason::RetryForbidden) => Verdict::RetryForbidden,
            _ => Verdict::Transient,
        }
    }

    fn policy(&self) -> Policy {
        Policy::new()
            .max(if self.has(GiveUpReason::Attempts) {
                1
            } else {
                3
            })
            .idempotent(!self.has(GiveUpReason::NotIdempotent))
    }

    fn world(&self) -> World {
        let world = World::new(1);
        if self.has(GiveUpReason::Budget) {
            let mut account = world.budget.account();
            while account.withdraw(reattempt::overload::budget::FailureClass::Failed) {
                account.spend();
            }
        }
        world
    }

    /// Inside what makes them hold; `use_up` uses up the retries of the operation.
    fn hold<R>(&self, use_up: impl Fn(), call: impl Fn() -> R) -> R {
        let limited = || {
            if self.has(GiveUpReason::Deadline) {
                deadline::within_blocking(Duration::from_millis(1), &call)
            } else {
                call()
            }
        };
        if !self.has(GiveUpReason::Nested) {
            return limited();
        }
        let answer = RefCell::new(None);
        let is_first = Cell::new(true);
        let policy = Policy::new();
        let outer = policy.on(|(): &()| true).timer(Still::pending(1));
        let _ = outer.run(|| {
            if is_first.replace(false) {
                use_up();
                return Err(());
            }
            *answer.borrow_mut() = Some(limited());
            Ok(())
        });
        answer.into_inner().unwrap()
    }

    /// The service, in whose trouble others open the breaker.
    fn attempt(&self, world: &World) -> Result<u32, Fault> {
        world.begin();
        if self.has(GiveUpReason::BreakerOpen) {
            world.breaker.force_open();
        }
        Err(Fault::Down)
    }
}

/// Each reason with each set of later ones: the first is reported, after one attempt, and nothing is paid.
fn assert_order(call: impl Fn(&Reasons, &World) -> RetryError<Fault>) {
    let _time = testing::virtual_time();
    let mut singles = 0;
    for reasons in Reasons::all() {
        let world = reasons.world();
        let balance = world.budget.balance();
        let use_up = || {
            let end = call(&Reasons(vec![GiveUpReason::Attempts]), &World::new(1));
            assert_eq!(end.reason(), GiveUpReason::Attempts);
        };
        let end = reasons.hold(use_up, || call(&reasons, &world));
        assert_eq!(end.reason(), reasons.0[0], "{reasons:?}");
        assert_eq!((end.attempts(), world.attempts.get()), (1, 1));
        assert_eq!(end.last(), Some(&Fault::Down));
        assert_eq!(world.budget.balance().to_bits(), balance.to_bits());
        singles += usize::from(reasons.0.len() == 1);
    }
    assert_eq!(singles, ORDER.len());
}

#[test]
fn of_functions() {
    #[retry(
        policy = reasons.policy(),
        breaker = world.breaker,
        bulkhead = world.bulkhead,
        throttle = world.throttle,
        budget = world.budget,
        timer = &world.clock,
        on = |_| reasons.verdict(),
    )]
    fn call(reasons: &Reasons, world: &World) -> Result<u32, RetryError<Fault>> {
        reasons.attempt(world)
    }
    assert_order(|reasons, world| call(reasons, world).unwrap_err());
}

#[test]
fn of_async_functions() {
    #[retry(
        policy = reasons.policy(),
        breaker = world.breaker,
        bulkhead = world.bulkhead,
        throttle = world.throttle,
        budget = world.budget,
        timer = &world.clock,
        on = |_| reasons.verdict(),
    )]
    async fn call(reasons: &Reasons, world: &World) -> Result<u32, RetryError<Fault>> {
        reasons.attempt(world)
    }
    #[retry(
        policy = reasons.policy(),
        breaker = world.breaker,
        budget = world.budget,
        timer = &world.clock,
        on = |_| reasons.verdict(),
        on_retry = |_| (),
        before_retry = async |_| (),
    )]
    async fn hooked(reasons: &Reasons, world: &World) -> Result<u32, RetryError<Fault>> {
        reasons.attempt(world)
    }
    assert_order(|reasons, world| poll(call(reasons, world), 100).unwrap().unwrap_err());
    assert_order(|reasons, world| poll(hooked(reasons, world), 100).unwrap().unwrap_err());
}

#[test]
fn of_runners() {
    assert_order(|reasons, world| {
        let (policy, verdict) = (reasons.policy(), reasons.verdict());
        let runner = policy.on(|_: &Fault| verdict).timer(&world.clock);
        let runner = runner.breaker(world.breaker).budget(world.budget);
        runner.try_run(|| reasons.attempt(world)).unwrap_err()
    });
    assert_order(|reasons, world| {
        let (policy, verdict) = (reasons.policy(), reasons.verdict());
        let runner = policy.on(|_: &Fault| verdict).timer(&world.clock);
        let runner = runner.breaker(world.breaker).budget(world.budget);
        let end = runner.try_run_async(async || reasons.attempt(world));
        poll(end, 100).unwrap().unwrap_err()
    });
}

/// A timer by which the balance is noted in each wait.
struct Watching<'w>(&'w World, RefCell<Vec<f64>>);

impl Clock for Watching<'_> {
    fn now(&self) -> Timestamp {
        self.0.clock.now()
    }
}

impl BlockingTimer for Watching<'_> {
    fn sleep(&self, _: Duration) {
        self.1.borrow_mut().push(self.0.budget.balance());
    }
}

#[test]
fn a_budget_pays_before_the_wait() {
    #[retry(budget = timer.0.budget, timer = timer)]
    fn call(timer: &Watching<'_>) -> Result<u32, Fault> {
        timer.0.begin();
        Err(Fault::Down)
    }
    let world = World::new(1);
    let timer = Watching(&world, RefCell::default());
    assert_eq!(call(&timer), Err(Fault::Down));
    assert_eq!(*timer.1.borrow(), [95.0, 90.0]);
    world.assert_paid();
}

#[retry(breaker = breaker, bulkhead = world.bulkhead, throttle = throttle, budget = world.budget, timer = &world.clock, name = "call")]
fn observed(
    world: &World,
    breaker: &Breaker,
    throttle: &Throttle,
) -> Result<u32, RetryError<Fault>> {
    world.begin();
    Err(Fault::Down)
}

#[retry(
    breaker = breaker,
    bulkhead = world.bulkhead,
    throttle = throttle,
    timer = &world.clock,
    name = "call",
    fallback = |fault| match fault { Fault::Cut(reason, attempts) => Err(Fault::Cut(reason, attempts + 70)), Fault::Down => Ok(7) }
)]
async fn fallen_back(world: &World, breaker: &Breaker, throttle: &Throttle) -> Result<u32, Fault> {
    world.begin();
    Err(Fault::Down)
}

#[test]
fn refused_before_the_first_attempt() {
    let world = World::new(1);
    let (open, throttle) = (Breaker::count_window(1), world.refusing());
    open.force_open();
    let table = [
        (&open, 2, world.throttle, GiveUpReason::BreakerOpen),
        (world.breaker, 0, world.throttle, GiveUpReason::BulkheadFull),
        (world.breaker, 2, &throttle, GiveUpReason::Throttle),
        (world.breaker, 0, &throttle, GiveUpReason::BulkheadFull),
        (&open, 0, world.throttle, GiveUpReason::BreakerOpen),
        (&open, 2, &throttle, GiveUpReason::BreakerOpen),
        (&open, 0, &throttle, GiveUpReason::BreakerOpen),
    ];
    for (breaker, free, throttle, reason) in table {
        let _others = [free; 2].map(|free| (free == 0).then(|| world.bulkhead.permit()));
        let record = testing::record();
        let end = observed(&world, breaker, throttle).unwrap_err();
        assert_eq!(
            (end.reason(), end.attempts(), end.last()),
            (reason, 0, None)
        );
        let end = poll(fallen_back(&world, breaker, throttle), 100);
        assert_eq!(end, Some(Err(Fault::Cut(reason, 70))));
        let call = format!("call\n  gave up ({})\n", reason.as_str());
        record.assert(&call.repeat(2));
    }
    // A permit that the breaker gave before the throttle refused is back, and no token is gone.
    assert_eq!(world.attempts.get(), 0);
    world.assert_paid();
    world.assert_let_through();
}

#[test]
fn refused_before_a_later_attempt() {
    let world = World::new(1);
    let throttle = Throttle::adaptive().min_requests(1);
    // After its own failure, which is one of one, chance lets every other attempt through.
    let record = testing::record();
    let end = observed(&world, world.breaker, &throttle).unwrap_err();
    assert_eq!((end.reason(), end.attempts()), (GiveUpReason::Throttle, 1));
    record.assert(
        "
        call
          1. failed (transient), retry in 50ms
          gave up (throttle)
        ",
    );
    // The price of the second attempt is back.
    assert_eq!(world.attempts.get(), 1);
    world.assert_paid();
}

#[test]
fn a_breaker_that_others_open_during_the_wait() {
    struct Opening<'w>(&'w World);
    impl Clock for Opening<'_> {
        fn now(&self) -> Timestamp {
            self.0.clock.now()
        }
    }
    impl BlockingTimer for Opening<'_> {
        fn sleep(&self, _: Duration) {
            self.0.clock.spend(SECOND);
            self.0.breaker.force_open();
        }
    }
    #[retry(breaker = &timer.0.breaker, budget = timer.0.budget, timer = timer, name = "call")]
    fn call(timer: &Opening<'_>) -> Result<u32, Fault> {
        timer.0.begin();
        Err(Fault::Down)
    }
    let world = World::new(1);
    let record = testing::record();
    let end = call(&Opening(&world));
    assert_eq!(end, Err(Fault::Down));
    assert_eq!(record.calls()[0].attempts().len(), 1);
    assert!(record.to_string().ends_with("  gave up (breaker_open)\n"));
    world.assert_paid();
}

/// An attempt takes as long as it runs: neither a breaker nor a bulkhead counts the wait for a throttle before it.
#[test]
fn the_wait_for_a_throttle_is_no_part_of_the_attempt() {
    static BREAKER: Breaker = Breaker::count_window(2).slow_calls(Duration::from_millis(500), 1.0);
    static BULKHEAD: Bulkhead = Bulkhead::adaptive();
    static THROTTLE: Throttle = Throttle::rate(1, SECOND);
    type Answer = Result<(), RetryError<&'static str>>;
    #[retry(max = 3, breaker = &BREAKER, bulkhead = &BULKHEAD, on(_))]
    fn at_once(work: impl Fn()) -> Answer {
        work();
        Ok(())
    }
    #[retry(max = 3, breaker = &BREAKER, bulkhead = &BULKHEAD, throttle = &THROTTLE, on(_))]
    fn waiting(work: impl Fn()) -> Answer {
        work();
        Ok(())
    }
    let time = testing::virtual_time();
    let work = || time.advance(Duration::from_millis(50));
    for _ in 0..200 {
        assert!(at_once(work).is_ok());
    }
    let began = time.elapsed();
    for _ in 0..100 {
        assert!(waiting(work).is_ok());
    }
    assert!(time.elapsed() > began + SECOND * 98);
    assert_eq!(BREAKER.state(), State::Closed);
    assert_eq!(BULKHEAD.limit(), Bulkhead::adaptive().limit());
}
