//! Methods that people write and that a policy or a runner does not have: those of the other one,
//! and those of other libraries, because the compiler reads `doc(alias)` of its own crate alone.
//! They cannot be called: no type meets their bound, and its message says what to write.

use core::future::{Pending, pending};
use core::hint;

use super::Runner;
use crate::policy::Policy;

/// Makes methods of one signature that cannot be called, and their message.
///
/// The bound has a lifetime: without a variable it would be an error here. It is on the type, so that the message points at
/// the name.
#[doc(hidden)]
#[macro_export]
macro_rules! __misnamed {
    // What comes of it is whatever is wanted there, so that nothing else is said of the mistake.
    ($reason:ident, $message:literal, $label:literal;
     [$($owner:tt)+] fn<$value:ident> $parameters:tt $($name:ident)+) => {
        #[diagnostic::on_unimplemented(
            message = $message,
            label = $label,
            note = "rule R15: https://reattempt.github.io/reattempt/errors.html#r15"
        )]
        pub trait $reason {}

        $($owner)+ { $(
            #[doc(hidden)]
            pub fn $name<$value, Wanted> $parameters -> Wanted
            where
                for<'a> &'a Self: $reason,
            {
                loop {
                    hint::spin_loop();
                }
            }
        )+ }
    };
    ($reason:ident, $message:literal, $label:literal;
     [$($owner:tt)+] fn<$value:ident> $parameters:tt -> $answer:ty $body:block $($name:ident)+) => {
        #[diagnostic::on_unimplemented(
            message = $message,
            label = $label,
            note = "rule R15: https://reattempt.github.io/reattempt/errors.html#r15"
        )]
        pub trait $reason {}

        $($owner)+ { $(
            #[doc(hidden)]
            pub fn $name<$value> $parameters -> $answer
            where
                for<'a> &'a Self: $reason,
            $body
        )+ }
    };
}

__misnamed! {
    CalledMax, "a policy has the key `max` for this, which counts attempts",
    "write `.max(..)`, with one more than the number of retries";
    [impl Policy] fn<V>(self, _: V) -> Self { self }
    max_attempts max_retries max_times retries tries with_max_retries with_max_times
}

__misnamed! {
    CalledBase, "a policy has the key `base` for this", "write `.base(..)`";
    [impl Policy] fn<V>(self, _: V) -> Self { self }
    base_delay initial_delay initial_interval interval min_delay wait with_min_delay
}

__misnamed! {
    CalledCap, "a policy has the key `cap` for this", "write `.cap(..)`";
    [impl Policy] fn<V>(self, _: V) -> Self { self }
    max_backoff max_delay max_interval with_max_delay
}

__misnamed! {
    CalledFactor, "a policy has the key `factor` for this", "write `.factor(..)`";
    [impl Policy] fn<V>(self, _: V) -> Self { self }
    multiplier with_factor
}

__misnamed! {
    CalledDeadline, "a policy has the key `deadline` for this", "write `.deadline(..)`";
    [impl Policy] fn<V>(self, _: V) -> Self { self }
    max_elapsed max_elapsed_time total_timeout with_total_delay
}

__misnamed! {
    CalledOn, "`on` says which errors a policy retries", "write `.on(|error: &E| ...)`";
    [impl Policy] fn<J>(&self, _: J)
    retry_if retry_when when
}

__misnamed! {
    CalledRun, "`run` runs a closure under a policy, and `run_async` an async one", "write `.run(..)` or `.run_async(..)`";
    [impl Policy] fn<R>(&self, operation: impl FnOnce() -> R) -> R { operation() }
    call execute retry
}

__misnamed! {
    OfRunner, "this is a method of a runner, not of a policy", "write it where the policy is used: behind `.runner()` or `.on(|error: &E| ...)`, or as a key of an attribute";
    [impl Policy] fn<V>(&self, _: V)
    breaker bulkhead detail name on_retry strategy throttle timer
}

__misnamed! {
    TryRunOfRunner, "`try_run` and `try_run_async` are methods of a runner", "write `.runner()` in front of it";
    [impl Policy] fn<R>(&self, _: impl Sized) -> R { loop { hint::spin_loop(); } }
    try_run
}

__misnamed! {
    TryRunAsyncOfRunner, "`try_run` and `try_run_async` are methods of a runner", "write `.runner()` in front of it";
    [impl Policy] fn<R>(&self, _: impl Sized) -> Pending<R> { pending() }
    try_run_async
}

__misnamed! {
    OfPolicy, "this is a key of the policy, and a runner does not change its policy", "write it in front of `.on(..)` or `.runner()`";
    [impl<C> Runner<'_, C>] fn<V>(self, _: V) -> Self { self }
    backoff base cap deadline factor fast_first first idempotent jitter max max_retry_after nested priority reset_after telemetry throttled_base timeout
}

__misnamed! {
    OnOfPolicy, "`on` is a method of a policy, and returns a runner", "write `.on(..)` in place of `.runner()`, in front of the rest";
    [impl<C> Runner<'_, C>] fn<V>(self, _: V) -> Self { self }
    on retry_if when
}

__misnamed! {
    CalledOnRetry, "a runner calls this `on_retry`", "write `.on_retry(|retry| ...)`";
    [impl<C> Runner<'_, C>] fn<V>(self, _: V) -> Self { self }
    before_sleep notify on_error
}

__misnamed! {
    CalledTimer, "a runner knows how to wait where it runs", "drop it, or write `.timer(..)` with a timer of your own";
    [impl<C> Runner<'_, C>] fn<V>(self, _: V) -> Self { self }
    sleep with_sleep
}
