//! The attribute and the block, under a policy that only the running program knows.

use std::sync::Arc;

use reattempt::{Classify as _, Verdict, retry, retry_block};

use crate::clock::{Time, drive};
use crate::names::whole_story;
use crate::trace::Ending;
use crate::world::{Fault, NOT_FINAL, ScriptResult, World};

macro_rules! functions {
    ([$answer:ty] |$world:ident| $name:ident $asynchronous:ident { $($keys:tt)* }) => {
        #[retry(policy = $world.policy, $($keys)*)]
        fn $name($world: &World) -> $answer {
            $world.attempt()
        }

        #[retry(policy = $world.policy, $($keys)*)]
        async fn $asynchronous($world: &World) -> $answer {
            $world.attempt_async().await
        }
    };
}

/// The functions that answer so: with and without a breaker and `until`.
macro_rules! form {
    ([$answer:ty] $form:ident |$world:ident| { $($keys:tt)* }) => {
        pub(crate) mod $form {
            use super::*;

            functions!([$answer] |$world| bare bare_async { $($keys)* });
            functions!([$answer] |$world| polled polled_async { until = |value| *value != NOT_FINAL, $($keys)* });
            functions!([$answer] |$world| guarded guarded_async { breaker = $world.breaker, $($keys)* });
            functions!([$answer] |$world| both both_async {
                breaker = $world.breaker, until = |value| *value != NOT_FINAL, $($keys)*
            });

            pub(crate) fn blocking(world: &Arc<World>) -> Ending {
                Ending::from(match (world.case.breaker.is_some(), world.polls()) {
                    (false, false) => bare(world),
                    (false, true) => polled(world),
                    (true, false) => guarded(world),
                    (true, true) => both(world),
                })
            }

            pub(crate) fn asynchronous(world: &Arc<World>) -> Ending {
                if world.case.tokio {
                    return drive(by_tokio(world)).into();
                }
                Ending::from(match (world.case.breaker.is_some(), world.polls()) {
                    (false, false) => drive(bare_async(world)),
                    (false, true) => drive(polled_async(world)),
                    (true, false) => drive(guarded_async(world)),
                    (true, true) => drive(both_async(world)),
                })
            }
        }
    };
}

form! { [ScriptResult] plain |world| { timer = Time } }

macro_rules! of_story {
    ([$story:ty]) => {
        form! { [$story] story |world| { timer = Time, on_retry = |retry| world.announced(retry.delay()) } }

        /// What middleware is compared with, which waits by tokio.
        #[retry(policy = world.policy, on_retry = |retry| world.announced(retry.delay()))]
        async fn by_tokio(world: &World) -> $story {
            world.attempt_async().await
        }

        pub(crate) fn block(world: &Arc<World>) -> Ending {
            let policy = world.policy;
            let answer: $story = retry_block!(policy = policy, timer = Time, || -> $story {
                world.attempt()
            });
            answer.into()
        }

        pub(crate) fn async_block(world: &Arc<World>) -> Ending {
            let policy = world.policy;
            drive(retry_block!(
                policy = policy,
                timer = Time,
                async || -> $story { world.attempt_async().await }
            ))
            .into()
        }
    };
}

whole_story! { of_story! {} }

/// Its error cannot say that an attempt was cut off.
#[retry(policy = world.policy, cut_off = false, timer = Time, on = |verdict| *verdict)]
async fn endures(world: &World) -> Result<u32, Verdict> {
    world
        .attempt_async()
        .await
        .map_err(|fault| fault.classify())
}

pub(crate) fn enduring(world: &Arc<World>) -> Ending {
    let answer = drive(endures(world));
    Ending::from(answer.map(|answer| answer.map_err(Fault::Judged)))
}
