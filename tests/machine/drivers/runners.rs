//! The programmatic form, and the layer.

use std::sync::Arc;

use reattempt::tower::RetryLayer;
use reattempt::{Classify as _, Retry};
use tower::{Layer as _, Service as _, service_fn};

use crate::clock::{Time, drive};
use crate::trace::Ending;
use crate::world::{Fault, ScriptResult, World};

pub(crate) fn try_run(world: &Arc<World>) -> Ending {
    let runner = world.policy.runner().timer(Time);
    let runner = runner.on_retry(|retry: &Retry<'_, Fault>| world.announced(retry.delay()));
    Ending::from(match world.case.breaker {
        Some(_) => runner.breaker(world.breaker).try_run(|| world.attempt()),
        None => runner.try_run(|| world.attempt()),
    })
}

pub(crate) fn try_run_async(world: &Arc<World>) -> Ending {
    let runner = world.policy.runner().timer(Time);
    let runner = runner.on_retry(|retry: &Retry<'_, Fault>| world.announced(retry.delay()));
    Ending::from(match world.case.breaker {
        Some(_) => drive(
            runner
                .breaker(world.breaker)
                .try_run_async(|| world.attempt_async()),
        ),
        None => drive(runner.try_run_async(|| world.attempt_async())),
    })
}

pub(crate) fn run(world: &Arc<World>) -> Ending {
    let runner = world
        .policy
        .on(|fault: &Fault| fault.classify())
        .timer(Time);
    runner.run(|| world.attempt()).into()
}

pub(crate) fn run_async(world: &Arc<World>) -> Ending {
    let runner = world.policy.runner().timer(Time);
    Ending::from(match world.case.breaker {
        Some(_) => drive(
            runner
                .breaker(world.breaker)
                .run_async(|| world.attempt_async()),
        ),
        None => drive(runner.run_async(|| world.attempt_async())),
    })
}

pub(crate) fn layer(world: &Arc<World>) -> Ending {
    let layer = RetryLayer::new(world.policy).timer(Time).name("layer");
    let layer = layer.on_retry(|retry: &Retry<'_, ScriptResult>| world.announced(retry.delay()));
    let attempts = service_fn(|()| world.attempt_async());
    Ending::from(match world.case.breaker {
        Some(_) => drive(layer.breaker(world.breaker).layer(attempts).call(())),
        None => drive(layer.cut_off().layer(attempts).call(())),
    })
}
