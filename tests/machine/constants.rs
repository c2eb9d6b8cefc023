//! Constant policies: functions whose keys are literals, and the same keys as text.

use std::sync::Arc;

use reattempt::retry;

use crate::clock::{Time, drive};
use crate::names::whole_story;
use crate::spec::{self, squares};
use crate::trace::Ending;
use crate::world::{Fault, ScriptResult, World};

type Call = fn(&Arc<World>) -> Ending;

/// One policy, in functions of four kinds.
pub(crate) struct Constant {
    pub(crate) keys: &'static str,
    /// Those that block and those that are async. A policy with a time-out has none that block.
    story: (Option<Call>, Call),
    plain: (Option<Call>, Call),
    /// The first with a breaker and a budget, the second with a budget.
    limited: (Option<Call>, Call),
    paid: (Option<Call>, Call),
}

macro_rules! constants {
    ([$story:ty] |$world:ident| $($kind:ident { $($keys:tt)* })*) => {
        pub(crate) const ALL: &[Constant] = &[$(Constant {
            keys: stringify!($($keys)*),
            story: constants!($kind $world [$story] {
                $($keys)*, timer = Time, on_retry = |retry| $world.announced(retry.delay())
            }),
            plain: constants!($kind $world [ScriptResult] { $($keys)*, timer = Time }),
            limited: constants!($kind $world [$story] {
                $($keys)*, timer = Time, breaker = $world.breaker, budget = $world.budget()
            }),
            paid: constants!($kind $world [ScriptResult] { $($keys)*, timer = Time, budget = $world.budget() }),
        }),*];
    };
    (both $world:ident [$answer:ty] { $($keys:tt)* }) => {{
        #[retry($($keys)*)]
        fn blocking($world: &World) -> $answer {
            $world.attempt()
        }
        let (_, asynchronous) = constants!(asynchronous $world [$answer] { $($keys)* });
        (Some(|world| blocking(world).into()), asynchronous)
    }};
    (asynchronous $world:ident [$answer:ty] { $($keys:tt)* }) => {{
        #[retry($($keys)*)]
        async fn asynchronous($world: &World) -> $answer {
            $world.attempt_async().await
        }
        let call: Call = |world| drive(asynchronous(world)).into();
        (None::<Call>, call)
    }};
}

whole_story! { constants! { |world|
    both { max = 3 }
    both { max = 8, base = "10ms" }
    both { backoff = "none" }
    both { backoff = "none", max = 2, nested = "multiply" }
    both { backoff = "none", deadline = "2s" }
    both { backoff = "fixed", jitter = "none" }
    both { backoff = "fixed", base = "30ms", max = 5 }
    both { backoff = "fixed", jitter = "equal", first = "5ms" }
    both { backoff = "fixed", jitter = 0.2, max = 6, fast_first = true }
    both { backoff = "linear", jitter = "none", base = "7ms", max = 7 }
    both { backoff = "linear", jitter = "full", first = "1ms", cap = "150ms", max = 9 }
    both { backoff = "linear", jitter = "equal", deadline = "900ms" }
    both { backoff = "linear", jitter = 0.5, nested = "multiply" }
    both { backoff = "exp", jitter = "none", max = 10, cap = "1s" }
    both { backoff = "exp", jitter = "full", factor = 1.5, max = 6 }
    both { backoff = "exp", jitter = "equal", factor = 3.0, base = "20ms", max = 6 }
    both { backoff = "exp", jitter = 0.1, first = "50ms", max = 5 }
    both { backoff = "exp", jitter = 1.0, cap = "100ms", max = 6 }
    both { backoff = "fibonacci", jitter = "none", max = 9 }
    both { backoff = "fibonacci", jitter = "full", base = "3ms", max = 12 }
    both { backoff = "fibonacci", jitter = "equal", first = "1ms", cap = "300ms", max = 6 }
    both { backoff = "fibonacci", jitter = 0.3, fast_first = true, max = 5 }
    both { backoff = "decorrelated", max = 6 }
    both { backoff = "decorrelated", base = "5ms", cap = "200ms", max = 9 }
    both { backoff = "decorrelated", fast_first = true, max = 4 }
    both { backoff = "decorrelated", max = "unlimited", deadline = "20s" }
    both { backoff = squares, jitter = "none", max = 5 }
    both { backoff = squares, jitter = "full", max = 5 }
    both { backoff = squares, jitter = "equal", cap = "6ms", max = 5 }
    both { backoff = squares, jitter = 0.4, deadline = "100ms", max = 9 }
    both { fast_first = true }
    both { fast_first = true, jitter = "none", max = 4, deadline = "700ms" }
    both { deadline = "1s" }
    both { deadline = "301ms", jitter = "none" }
    both { max = "unlimited", deadline = "10s" }
    both { max = "unlimited", backoff = "fixed", jitter = "none", deadline = "350ms" }
    both { max_retry_after = "2s", max = 4 }
    both { max_retry_after = "0s", max = 4 }
    both { throttled_base = "2s", max = 6 }
    both { idempotent = false, max = 5 }
    both { idempotent = false, backoff = "none" }
    both { idempotent = true, nested = "collapse", deadline = "5s", max = 4 }
    both { nested = "multiply", max = 5, jitter = "none" }
    both { nested = "multiply", deadline = "4s", backoff = "decorrelated" }
    both { priority = "low", max = 6 }
    both { priority = "low", deadline = "2s", base = "20ms" }
    both { priority = "normal", max = 4 }
    asynchronous { priority = "low", timeout = "90ms", max = 5 }
    both { reset_after = "20s", max = 4, deadline = "5m" }
    both { reset_after = "10s", cap = "5s", fast_first = true, max = 3, deadline = "40s" }
    both { reset_after = "20s", backoff = "decorrelated", fast_first = true, max = 3, deadline = "2h" }
    asynchronous { reset_after = "10s", cap = "1s", timeout = "15s", max = 3, deadline = "1h" }
    asynchronous { timeout = "200ms" }
    asynchronous { timeout = "5ms", max = 3, base = "1ms", jitter = "none" }
    asynchronous { timeout = "1s", deadline = "3s", backoff = "fixed", jitter = "equal" }
    asynchronous { timeout = "30ms", idempotent = false, backoff = "linear" }
    asynchronous { timeout = "80ms", backoff = "decorrelated", max = 6, nested = "multiply" }
    asynchronous { timeout = "100ms", backoff = "none", deadline = "250ms" }
    asynchronous { timeout = "50ms", backoff = squares, fast_first = true, max = 4 }
} }

impl Constant {
    pub(crate) fn has_blocking(&self) -> bool {
        self.plain.0.is_some()
    }
}

fn of(world: &World) -> &'static Constant {
    &ALL[world.case.constant.expect("the number of a constant")]
}

fn story_of(world: &World) -> (Option<Call>, Call) {
    match world.case.breaker {
        Some(_) => of(world).limited,
        None => of(world).story,
    }
}

fn plain_of(world: &World) -> (Option<Call>, Call) {
    match spec::budget(&world.case.spec) {
        Some(_) => of(world).paid,
        None => of(world).plain,
    }
}

pub(crate) fn story(world: &Arc<World>) -> Ending {
    story_of(world).0.expect("one that blocks")(world)
}

pub(crate) fn story_async(world: &Arc<World>) -> Ending {
    story_of(world).1(world)
}

pub(crate) fn plain(world: &Arc<World>) -> Ending {
    plain_of(world).0.expect("one that blocks")(world)
}

pub(crate) fn plain_async(world: &Arc<World>) -> Ending {
    plain_of(world).1(world)
}
