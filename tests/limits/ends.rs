//! What a call holds goes back when a sync function panics, at any step, and before a fallback is asked.

use reattempt::{Policy, Retry, Throttle, retry, retry_block};

use crate::bombs::{catch, step};
use crate::points::{at_each_step, poll};
use crate::support::{Fault, World};

/// Whether the call ended as it should.
type Call<'c> = dyn Fn(&World) -> bool + 'c;

#[test]
fn sync_functions() {
    #[retry(
        budget = world.budget,
        breaker = world.breaker,
        throttle = world.throttle,
        timer = &world.clock,
        deadline = "1h",
        on = |_| { step(); true },
        retry_after = |_: &Fault| { step(); None },
        on_retry = |_| step(),
        before_retry = |_| step(),
        fallback = |_| { step(); 7 },
    )]
    fn call(world: &World) -> Result<u32, Fault> {
        world.begin();
        Err(Fault::Down)
    }
    let block = |world: &World| {
        retry_block!(
            budget = world.budget,
            breaker = world.breaker,
            throttle = world.throttle,
            timer = &world.clock,
            || -> Result<u32, Fault> {
                world.begin();
                Err(Fault::Down)
            }
        )
        .is_err()
    };
    let policy = Policy::new();
    let runner = |world: &World| {
        let runner = policy.runner().timer(&world.clock).budget(world.budget);
        let runner = runner.throttle(world.throttle).breaker(world.breaker);
        let end = runner.on_retry(|_: &Retry<'_, Fault>| step()).try_run(|| {
            world.begin();
            Err::<u32, _>(Fault::Down)
        });
        end.is_err()
    };
    let calls: [(&Call<'_>, _, _); 3] = [
        // Three attempts of 3 steps each, two delays of 3, two waits of 4 for the throttle, the fallback, and no bomb.
        (&|world| call(world) == Ok(7), 25, 5),
        (&block, 17, 3),
        (&runner, 19, 3),
    ];
    for (call, whole, probing) in calls {
        let worlds = at_each_step(|| {
            let world = World::new(1);
            (catch(|| assert!(call(&world))), world)
        });
        let worlds = worlds.inspect(|world| {
            world.assert_paid();
            world.assert_let_through();
        });
        assert_eq!(worlds.count(), whole);
        let worlds = at_each_step(|| {
            let world = World::half_open(1);
            (catch(|| assert!(call(&world))), world)
        });
        let worlds = worlds.inspect(World::assert_probe_is_free);
        assert_eq!(worlds.count(), probing);
    }
}

/// Another service may take its time, and nothing is kept from others meanwhile.
#[test]
fn a_fallback_holds_nothing() {
    #[retry(
        breaker = world.breaker,
        throttle = throttle,
        budget = world.budget,
        timer = &world.clock,
        on = |_| is_transient,
        fallback = async |_| { world.assert_nothing_is_held(); 7 },
    )]
    async fn call(world: &World, throttle: &Throttle, is_transient: bool) -> Result<u32, Fault> {
        world.work().await
    }
    #[retry(
        breaker = world.breaker,
        throttle = throttle,
        budget = world.budget,
        timer = &world.clock,
        on(_),
        fallback = |_| { world.assert_nothing_is_held(); 7 },
    )]
    fn blocking(world: &World, throttle: &Throttle) -> Result<u32, Fault> {
        world.begin();
        Err(Fault::Down)
    }
    // The failure of a probe, and what says nothing about the service.
    for is_transient in [true, false] {
        let world = World::half_open(1);
        let call = call(&world, world.throttle, is_transient);
        assert_eq!(poll(call, 100), Some(Ok(7)));
    }
    // A probe that the throttle refuses, and a second attempt: its price is paid by then.
    for world in [World::half_open(1), World::new(1)] {
        let throttle = world.refusing();
        assert_eq!(poll(call(&world, &throttle, true), 100), Some(Ok(7)));
        assert_eq!(blocking(&world, &throttle), Ok(7));
        assert_eq!(world.attempts.get(), 0);
    }
    for is_blocking in [true, false] {
        let (world, throttle) = (World::new(1), Throttle::adaptive().min_requests(1));
        let answer = if is_blocking {
            Some(blocking(&world, &throttle))
        } else {
            poll(call(&world, &throttle, true), 100)
        };
        assert_eq!((answer, world.attempts.get()), (Some(Ok(7)), 1));
    }
}
