//! What an async call holds - tokens that are not spent yet, the permit of a probe - goes back when it is dropped,
//! after any poll, and when anything panics, at any step.

use std::sync::Arc;

use reattempt::observe::{self, Event, Observer};
use reattempt::overload::breaker::State;
use reattempt::strategy::{self, Decision, FailedAttempt};
use reattempt::tower::RetryLayer;
use reattempt::{Policy, Retry, RetryError, Verdict, deadline, retry, retry_block};
use tower::{Layer as _, ServiceExt as _};

use crate::bombs::{step, yield_once};
use crate::points::at_each_point;
use crate::support::{Fault, SECOND, World};

const POLICY: Policy = Policy::new();

#[test]
fn a_budget() {
    #[retry(budget = world.budget, timer = &world.clock)]
    async fn plain(world: &World) -> Result<u32, Fault> {
        world.work().await
    }
    #[retry(
        budget = world.budget,
        timer = &world.clock,
        timeout = "1s",
        deadline = "1h",
        retry_after = |_: &Fault| { step(); None },
        on_retry = |_| step(),
        before_retry = async |_| yield_once().await,
        fallback = async |_| { yield_once().await; 7 },
    )]
    async fn hooked(world: &World) -> Result<u32, Fault> {
        world.work().await
    }
    // Three attempts of two waits, two delays, and the end.
    let plain = async |world: &World| assert!(plain(world).await.is_err());
    assert_eq!(at_each_point(World::new, &plain, World::assert_paid), 9);

    let hooked = async |world: &World| assert_eq!(hooked(world).await, Ok(7));
    let polls = at_each_point(World::new, &hooked, World::assert_paid);
    // Each attempt is cut off at its second poll; two delays, the hooks, the fallback, and the end.
    assert_eq!(polls, 9);
}

/// Copies are attempts, and cost the same.
#[test]
fn a_budget_that_pays_for_copies() {
    #[retry(hedge = "10ms", budget = world.budget, timer = &world.clock)]
    async fn hedged(world: &World) -> Result<u32, Fault> {
        world.work().await
    }
    #[retry(hedge = "10ms", timeout = "1s", budget = world.budget, timer = &world.clock)]
    async fn limited(world: &World) -> Result<u32, Fault> {
        world.work().await
    }
    let hedged = async |world: &World| assert!(hedged(world).await.is_err());
    let polls = at_each_point(World::new, &hedged, World::assert_paid);
    assert!(polls > 9, "{polls}");
    let limited = async |world: &World| assert!(limited(world).await.is_err());
    let polls = at_each_point(World::new, &limited, World::assert_paid);
    assert!(polls > 3, "{polls}");
}

#[test]
fn a_throttle() {
    #[retry(
        budget = world.budget,
        throttle = world.throttle,
        timer = &world.clock,
        before_retry = async |_| yield_once().await,
        fallback = async |_| { yield_once().await; 7 },
    )]
    async fn throttled(world: &World) -> Result<u32, Fault> {
        world.work().await
    }
    let check = |world: &World| {
        world.assert_paid();
        world.assert_let_through();
    };
    let throttled = async |world: &World| assert_eq!(throttled(world).await, Ok(7));
    // Also the waits of two attempts for their tokens, each of four steps, those of two hooks, and that of the fallback.
    assert_eq!(at_each_point(World::new, &throttled, check), 20);
}

#[test]
fn the_permit_of_a_probe() {
    #[retry(
        breaker = world.breaker,
        throttle = world.throttle,
        budget = world.budget,
        timer = &world.clock,
        on = |fault| { step(); is_transient && *fault == Fault::Down },
        fallback = async |_| { yield_once().await; 7 },
    )]
    async fn probe(world: &World, is_transient: bool) -> Result<u32, Fault> {
        assert!(world.breaker.refuses_with_clock(&world.clock));
        world.work().await
    }
    // Whoever probes may have to wait for the throttle.
    let begin = |polls| {
        let world = World::half_open(polls);
        let mut permit = world.throttle.permit_with_clock(&world.clock).unwrap();
        permit.spend();
        drop(permit);
        world
    };
    for is_transient in [false, true] {
        let check = |world: &World| {
            world.assert_paid();
            world.assert_probe_is_free();
        };
        let call = async |world: &World| {
            assert_eq!(probe(world, is_transient).await, Ok(7));
            // It failed, or the service works: its answer is permanent.
            let state = if is_transient {
                State::Open
            } else {
                State::Closed
            };
            assert_eq!(world.state(), state);
        };
        assert_eq!(at_each_point(begin, &call, check), 8);
    }
}

/// A clock and a generator of the user's own, asked while a result is counted.
#[test]
fn the_permit_of_a_probe_whose_clock_panics() {
    #[retry(breaker = world.breaker, timer = &world.clock, telemetry = "timings", max = 2)]
    async fn probe(world: &World, works: bool) -> Result<u32, Fault> {
        let answer = world.work().await;
        if works { Ok(7) } else { answer }
    }
    for works in [false, true] {
        let call = async |world: &World| assert_eq!(probe(world, works).await.is_ok(), works);
        let begin = |polls| World::half_open(polls).explosive();
        let check = |world: &World| {
            world.assert_probe_is_free();
            assert_eq!(deadline::remaining(), None);
        };
        at_each_point(begin, &call, check);
        let permit = async |world: &World| {
            let permit = world.breaker.permit_with_clock(&world.clock).unwrap();
            match world.work().await {
                Ok(_) => unreachable!("it is down"),
                Err(_) if works => permit.succeeded_with_clock(&world.clock),
                Err(_) => permit.failed_with_clock(Verdict::Transient, &world.clock),
            }
        };
        at_each_point(begin, &permit, World::assert_probe_is_free);
    }
}

#[test]
fn all_together() {
    #[retry(
        breaker = world.breaker,
        bulkhead = world.bulkhead,
        throttle = world.throttle,
        budget = world.budget,
        hedge = "10ms",
        timeout = "1s",
        deadline = "1h",
        timer = &world.clock,
        before_retry = async |_| yield_once().await,
        on_retry = |_| step(),
        fallback = async |_| { yield_once().await; 7 },
    )]
    async fn call(world: &World) -> Result<u32, Fault> {
        world.work().await
    }
    let call = async |world: &World| assert_eq!(call(world).await, Ok(7));
    // Three attempts that are cut off, their two delays, hooks and waits for tokens, the fallback, and the end.
    let polls = at_each_point(World::new, &call, World::assert_nothing_is_held);
    assert_eq!(polls, 13);
    let polls = at_each_point(World::half_open, &call, World::assert_nothing_is_held);
    assert_eq!(polls, 3);
}

#[test]
fn blocks_and_runners() {
    let block = async |world: &World| {
        let end = retry_block!(
            budget = world.budget,
            bulkhead = world.bulkhead,
            throttle = world.throttle,
            timer = &world.clock,
            async || -> Result<u32, Fault> { world.work().await }
        );
        assert!(end.await.is_err());
    };
    let runner = async |world: &World| {
        let runner = POLICY.runner().timer(&world.clock).budget(world.budget);
        let runner = runner.throttle(world.throttle).breaker(world.breaker);
        let runner = runner.bulkhead(world.bulkhead);
        let runner = runner.on_retry(|_: &Retry<'_, Fault>| step());
        assert!(runner.try_run_async(|| world.work()).await.is_err());
    };
    let check = |world: &World| {
        world.assert_paid();
        world.assert_let_through();
        assert_eq!(world.bulkhead.running(), 0);
    };
    assert_eq!(at_each_point(World::new, &block, check), 17);
    assert_eq!(at_each_point(World::new, &runner, check), 17);

    let plain = async |world: &World| {
        let runner = POLICY.runner().timer(&world.clock).budget(world.budget);
        assert!(runner.run_async(|| world.work()).await.is_err());
    };
    assert_eq!(at_each_point(World::new, &plain, World::assert_paid), 9);
    let probe = async |world: &World| {
        let runner = POLICY.runner().timer(&world.clock);
        let runner = runner.breaker(world.breaker);
        assert!(runner.try_run_async(|| world.work()).await.is_err());
    };
    let check = |world: &World| world.assert_probe_is_free();
    assert_eq!(at_each_point(World::half_open, &probe, check), 3);
}

#[test]
fn a_layer() {
    let call = async |world: &World| {
        let layer = RetryLayer::new(POLICY).timer(world.clock.clone());
        let service = tower::service_fn(|()| world.work());
        let service = layer.budget(world.budget).layer(service);
        assert!(service.oneshot(()).await.is_err());
    };
    assert_eq!(at_each_point(World::new, &call, World::assert_paid), 9);

    let call = async |world: &World| {
        let layer = RetryLayer::new(POLICY).timer(world.clock.clone());
        let layer = layer.budget(world.budget).throttle(world.throttle);
        let layer = layer.breaker(world.breaker).bulkhead(world.bulkhead);
        let layer = layer.on_retry(|_: &Retry<'_, Result<u32, Fault>>| step());
        let service = layer.layer(tower::service_fn(|()| world.work()));
        assert!(service.oneshot(()).await.is_err());
    };
    let check = |world: &World| {
        world.assert_paid();
        world.assert_let_through();
        assert_eq!(world.bulkhead.running(), 0);
    };
    assert_eq!(at_each_point(World::new, &call, check), 17);
    let probe = async |world: &World| {
        let layer = RetryLayer::new(POLICY).timer(world.clock.clone());
        let service = layer.breaker(world.breaker);
        let service = service.layer(tower::service_fn(|()| world.work()));
        assert!(service.oneshot(()).await.is_err());
    };
    let check = |world: &World| world.assert_probe_is_free();
    assert_eq!(at_each_point(World::half_open, &probe, check), 3);
}

/// Learns of everything, and may panic.
struct Sink;

impl Observer for Sink {
    fn observe(&self, _: &Event<'_>) {
        step();
    }
}

/// What users write and what they listen with: an observer, `map_err`, `until`, a strategy, an exclusion.
#[test]
fn what_is_not_ours() {
    #[retry(
        budget = world.budget,
        breaker = world.breaker,
        timer = &world.clock,
        telemetry = "timings",
        on = |_| { step(); true },
        except = |_| { step(); false },
        map_err = |end: RetryError<Fault>| { step(); end.attempts() },
    )]
    async fn mapped(world: &World) -> Result<u32, u32> {
        world.work().await
    }
    #[retry(
        max = 3,
        budget = world.budget,
        timer = &world.clock,
        strategy = strategy::from_fn(|_: &FailedAttempt<'_, Fault>| {
            step();
            Decision::Retry(SECOND)
        }),
        until = |answer: &u32| { step(); *answer > 8 },
    )]
    async fn polled(world: &World) -> Result<u32, RetryError<Fault>> {
        world.work().await
    }
    let mapped = async |world: &World| {
        let call = observe::scope(Arc::new(Sink), mapped(world));
        assert_eq!(call.await, Err(3));
    };
    assert_eq!(at_each_point(World::new, &mapped, World::assert_paid), 9);
    let polled = async |world: &World| {
        let call = observe::scope(Arc::new(Sink), polled(world));
        assert_eq!(call.await.unwrap_err().attempts(), 3);
    };
    assert_eq!(at_each_point(World::new, &polled, World::assert_paid), 9);
    assert!(deadline::remaining().is_none());
}
