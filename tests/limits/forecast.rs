//! A call that would wait for a throttle longer than its deadline ends at once, and holds nothing meanwhile.

use std::cell::Cell;
use std::time::Duration;

use reattempt::overload::throttle::Permit;
use reattempt::timer::Clock as _;
use reattempt::tower::RetryLayer;
use reattempt::{GiveUpReason, Policy, Throttle, Verdict, deadline, retry, retry_block, testing};
use tower::{Layer as _, ServiceExt as _, service_fn};

use crate::points::poll;
use crate::support::{Fault, SECOND, World};

#[retry(deadline = "10s", timer = &world.clock, throttle = world.throttle, bulkhead = world.bulkhead)]
fn blocking(world: &World) -> Result<u32, Fault> {
    world.begin();
    Ok(1)
}

#[retry(deadline = "10s", timer = &world.clock, throttle = world.throttle, bulkhead = world.bulkhead)]
async fn later(world: &World) -> Result<u32, Fault> {
    world.begin();
    Ok(1)
}

/// Others get in line while its first attempt fails.
#[retry(deadline = "10s", backoff = "none", timer = &world.clock, throttle = world.throttle, bulkhead = world.bulkhead)]
fn again<'w>(world: &'w World, line: &mut Vec<Permit<'w>>) -> Result<u32, Fault> {
    world.begin();
    *line = in_line(world);
    Err(Fault::Down)
}

fn block(world: &World) -> Result<u32, Fault> {
    retry_block!(
        deadline = "10s",
        timer = &world.clock,
        throttle = world.throttle,
        bulkhead = world.bulkhead,
        || -> Result<u32, Fault> {
            world.begin();
            Ok(1)
        }
    )
}

fn runner(world: &World) -> Result<u32, Fault> {
    const POLICY: Policy = Policy::new().deadline(Duration::from_secs(10));
    let runner = POLICY
        .runner()
        .throttle(world.throttle)
        .bulkhead(world.bulkhead);
    let end = runner.timer(&world.clock).try_run(|| {
        world.begin();
        Ok::<_, Fault>(1)
    });
    end.map_err(|end| Fault::Cut(end.reason(), end.attempts()))
}

fn layer(world: &World) -> Result<u32, Fault> {
    let layer = RetryLayer::new(Policy::new().deadline(10 * SECOND));
    let layer = layer
        .throttle(world.throttle)
        .bulkhead(world.bulkhead)
        .timer(world.clock.clone());
    let service = layer.layer(service_fn(async |()| {
        world.begin();
        Ok(1)
    }));
    poll(service.oneshot(()), 100).unwrap()
}

/// As many as begin in a minute.
fn in_line(world: &World) -> Vec<Permit<'_>> {
    let permits = (0..31).map(|_| world.throttle.permit_with_clock(&world.clock));
    let permits: Vec<_> = permits.map(Result::unwrap).collect();
    assert!(
        permits
            .last()
            .is_some_and(|last| last.wait() >= 55 * SECOND)
    );
    permits
}

#[test]
fn a_turn_behind_the_deadline_is_not_waited_for() {
    type Form = fn(&World) -> Result<u32, Fault>;
    let forms: [Form; 5] = [blocking, block, runner, layer, |world| {
        poll(later(world), 100).unwrap()
    }];
    for form in forms {
        let world = World::new(0);
        let line = in_line(&world);
        let start = world.clock.now();
        let end = form(&world);
        assert_eq!(end, Err(Fault::Cut(GiveUpReason::Deadline, 0)));
        assert_eq!(world.clock.now(), start);
        assert_eq!((world.attempts.get(), world.bulkhead.running()), (0, 0));
        drop(line);
        assert_eq!(form(&world), Ok(1));
    }
}

#[test]
fn nor_is_that_of_a_retry() {
    let world = World::new(0);
    let start = world.clock.now();
    let mut line = Vec::new();
    assert_eq!(again(&world, &mut line), Err(Fault::Down));
    assert_eq!(world.attempts.get(), 1);
    assert_eq!(world.clock.now(), start);
    assert_eq!(world.bulkhead.running(), 0);
}

#[retry(throttle = throttle)]
fn inheriting(throttle: &Throttle) -> Result<u32, Fault> {
    Ok(1)
}

#[test]
fn nor_behind_an_inherited_deadline() {
    let time = testing::virtual_time();
    let throttle = Throttle::cubic();
    let permit = throttle.permit().unwrap();
    permit.failed(Verdict::Throttled(None));
    time.advance(1000 * SECOND);
    let permits = (0..31).map(|_| throttle.permit().unwrap());
    let _line: Vec<_> = permits.collect();
    let start = time.elapsed();
    let end = deadline::within_blocking(10 * SECOND, || inheriting(&throttle));
    assert_eq!(end, Err(Fault::Cut(GiveUpReason::Deadline, 0)));
    assert_eq!(time.elapsed(), start);
}

/// Nobody is served meanwhile: neither a deadline nor the service ends the wait.
#[test]
fn without_a_deadline_the_wait_ends_after_a_minute() {
    #[retry(timer = &world.clock, throttle = world.throttle, bulkhead = world.bulkhead)]
    fn blocking(world: &World) -> Result<u32, Fault> {
        world.begin();
        Ok(1)
    }

    #[retry(timer = &world.clock, throttle = world.throttle, bulkhead = world.bulkhead)]
    async fn later(world: &World) -> Result<u32, Fault> {
        world.begin();
        Ok(1)
    }

    type Form = fn(&World) -> Result<u32, Fault>;
    let forms: [Form; 2] = [blocking, |world| poll(later(world), 1000).unwrap()];
    for form in forms {
        let world = World::new(0);
        let mut line = in_line(&world);
        line.extend(in_line(&world));
        let start = world.clock.now();
        let end = form(&world);
        assert_eq!(end, Err(Fault::Cut(GiveUpReason::Throttle, 0)));
        let waited = world.clock.now().since(start);
        assert!(waited >= 60 * SECOND && waited <= 61 * SECOND, "{waited:?}");
        assert_eq!((world.attempts.get(), world.bulkhead.running()), (0, 0));
    }
}

#[retry(throttle = throttle)]
async fn quota(throttle: &Throttle, begun: &Cell<u32>) -> Result<u32, Fault> {
    begun.set(begun.get() + 1);
    Ok(begun.get())
}

/// Calls at once: as many as the rate begin, the next ones in the next periods; one whose turn comes too late, or after its
/// deadline, does not begin, and takes no turn from the others.
#[tokio::test(start_paused = true)]
async fn a_fixed_rate_is_a_line() {
    let throttle = Throttle::rate(2, SECOND).max_wait(2 * SECOND);
    let (begun, start) = (Cell::new(0), tokio::time::Instant::now());
    let call = || async {
        let answer = quota(&throttle, &begun).await;
        (answer.is_ok(), start.elapsed())
    };
    let late = async {
        let end = deadline::within(SECOND / 2, quota(&throttle, &begun)).await;
        assert_eq!(end, Err(Fault::Cut(GiveUpReason::Deadline, 0)));
        (false, start.elapsed())
    };
    let (one, two, none, three, four, five, six, seven) =
        tokio::join!(call(), call(), late, call(), call(), call(), call(), call());
    let now = Duration::ZERO;
    assert_eq!([one, two, none], [(true, now), (true, now), (false, now)]);
    let [second, third] = [(true, SECOND), (true, 2 * SECOND)];
    assert_eq!([three, four, five, six], [second, second, third, third]);
    assert_eq!(seven, (false, now));
    assert_eq!(begun.get(), 6);
}
