//! How methods and variants are made that people look for and that do not exist.

use crate::{Backoff, Jitter};

/// Makes methods of a type that cannot be called: a reason, its message, its label, the names. `[fn(); impl ..]` makes
/// those without an argument, whose answer is of any type, and `[const Backoff = Backoff::Exp]` what is written as a variant.
///
/// The bound has a lifetime: without a variable it would be an error here. It is on the type, so that the message points at
/// the name. Of a type without parameters it is on the `impl`: then the compiler looks at no argument, takes the answer for any
/// type, and proposes none of these methods for another name. Of other types it would not say the message there.
#[doc(hidden)]
#[macro_export]
macro_rules! __misnamed {
    (@row [const $owner:ident = $value:path] $reason:ident $message:literal $label:literal [$($name:ident)+]) => {
        #[diagnostic::on_unimplemented(
            message = $message,
            label = $label,
            note = "rule R15: https://reattempt.github.io/reattempt/errors.html#r15"
        )]
        pub trait $reason<'a> {}

        #[allow(non_upper_case_globals, reason = "a variant is written so")]
        impl $owner
        where
            for<'a> Self: $reason<'a>,
        { $(
            #[doc(hidden)]
            pub const $name: Self = $value;
        )+ }
    };
    (@row [fn $argument:tt; impl $($owner:tt)+] $reason:ident $message:literal $label:literal [$($name:ident)+]) => {
        #[diagnostic::on_unimplemented(
            message = $message,
            label = $label,
            note = "rule R15: https://reattempt.github.io/reattempt/errors.html#r15"
        )]
        pub trait $reason {
            fn answer<Any>(self) -> Any;
        }

        impl $($owner)+ {
            $($crate::__misnamed! { @method $name $argument $reason })+
        }
    };
    (@method $name:ident ($($argument:ident)?) $reason:ident) => {
        #[doc(hidden)]
        pub fn $name<$($argument,)? Any>(&self $(, _: $argument)?) -> Any
        where
            for<'a> &'a Self: $reason,
        {
            self.answer()
        }
    };
    (@row [$owner:ty] $reason:ident $message:literal $label:literal [$($name:ident)+]) => {
        #[diagnostic::on_unimplemented(
            message = $message,
            label = $label,
            note = "rule R15: https://reattempt.github.io/reattempt/errors.html#r15"
        )]
        pub trait $reason<'a> {}

        impl $owner
        where
            for<'a> Self: $reason<'a>,
        { $(
            #[doc(hidden)]
            pub const fn $name(self) -> Self {
                self
            }
        )+ }
    };
    ($owner:tt $($reason:ident $message:literal $label:literal $names:tt;)+) => {
        $($crate::__misnamed! { @row $owner $reason $message $label $names })+
    };
}

/// Those that a policy does not have.
#[doc(hidden)]
#[macro_export]
macro_rules! __misnamed_of_policy {
    ($owner:ident) => {
        $crate::__misnamed! {
            [$owner]
    CalledMax "a policy has the key `max` for this, which counts attempts"
        "write `.max(..)`, with one more than the number of retries" [count max_attempts max_retries max_times max_tries retries
        take times tries with_max with_max_attempts with_max_retries with_max_times with_retries];
    CalledUnlimited "a policy has `unlimited` for this" "write `.unlimited()`" [forever infinite without_max_times];
    CalledBase "a policy has the key `base` for this" "write `.base(..)`" [base_delay fixed_delay initial_backoff initial_delay
        initial_interval interval min_backoff min_delay wait with_base with_base_delay with_delay with_initial_interval
        with_interval with_min_delay];
    CalledDuration "the unit stands in the value, a `std::time::Duration`"
        "write `.base(std::time::Duration::from_millis(..))`, and so of the other keys" [base_ms cap_ms deadline_ms deadline_secs
        delay_ms initial_delay_ms max_delay_ms min_delay_ms timeout_ms timeout_secs];
    CalledCap "a policy has the key `cap` for this" "write `.cap(..)`" [max_backoff max_delay max_interval max_wait with_cap
        with_max_delay with_max_interval];
    CalledFactor "a policy has the key `factor` for this" "write `.factor(..)`" [backoff_factor exponential_base multiplier
        with_factor with_multiplier];
    CalledJitter "a policy has the key `jitter` for this, which is full by default"
        "drop it, or write another kind, such as `.jitter(reattempt::Jitter::Equal)`" [with_jitter];
    CalledRatio "a policy has the key `jitter` for this" "write `.jitter(reattempt::Jitter::Ratio(..))`" [jitter_factor
        randomization_factor with_randomization_factor];
    CalledNoJitter "a policy has the key `jitter` for this" "write `.jitter(reattempt::Jitter::None)`" [no_jitter without_jitter];
    CalledDeadline "a policy has the key `deadline` for this" "write `.deadline(..)`" [max_duration max_elapsed max_elapsed_time
        max_time total_delay total_timeout with_deadline with_max_duration with_max_elapsed_time with_total_delay];
    CalledTimeout "a policy has the key `timeout` for this, the time of one attempt" "write `.timeout(..)`" [attempt_timeout
        with_timeout];
    CalledExp "exponential delays are the default of a policy, and their numbers are keys"
        "write `Policy::new()`, and `.base(..)`, `.factor(..)` or `.cap(..)` behind it" [exp exponential exponential_backoff
        with_exponential_backoff];
    CalledFixed "a policy has the key `backoff` for this, and its delay is `base`"
        "write `Policy::new().backoff(reattempt::Backoff::Fixed).base(..)`" [constant_backoff fixed fixed_backoff];
    CalledLinear "a policy has the key `backoff` for this, and its first delay is `base`"
        "write `.backoff(reattempt::Backoff::Linear).base(..)`, or `Fibonacci`" [fibonacci linear linear_backoff];
    CalledNoDelay "a policy has the key `backoff` for this" "write `.backoff(reattempt::Backoff::None)`" [no_backoff no_delay
        without_backoff without_delay];
    CalledNew "a policy is its own builder" "write `Policy::new()`" [builder];
    CalledNever "a policy with one attempt never retries" "write `Policy::new().max(1)`" [never no_retries no_retry none];
    CalledWithoutBudget "a policy has `without_budget` for this" "write `.without_budget()`" [no_budget];
    CalledDelay "a policy computes the delay in front of one retry, from 1" "write `(1..).map(|retry| policy.delay(retry))`"
        [delays durations];
    CalledOn "`on` says which errors a policy retries" "write `.on(|error: &E| ...)`" [retry_if retry_on retry_when should_retry
        when];
    CalledRun "`run` runs a closure under a policy, and `run_async` an async one" "write `.run(..)` or `.run_async(..)`" [attempt
        call call_async execute execute_async retry retry_async spawn];
    OfRunner "this is a method of a runner, not of a policy"
        "write it where the policy is used: behind `.runner()` or `.on(|error: &E| ...)`, or as a key of an attribute" [breaker
        bulkhead detail history name on_retry strategy throttle timer try_run];
    UntilOfBlock "`run` looks at errors alone, and a block at values too"
        "write `reattempt::retry_block!(policy = policy, until = |value| ..., {{ ... }})`" [retry_if_result retry_on_result
        until];
    ExceptOfBlock "`on` alone says which errors a policy retries" "write `.on(|error: &E| !...)`" [except unless];
    FallbackOfBlock "the caller of a policy handles its last error"
        "write `.run(..).or_else(|error| ...)`, or `.map_err(|error| ...)`" [fallback map_err or_else recover unwrap_or];
    RetryAfterOfBlock "the verdict on an error says the delay that it asks for"
        "write `.on(|error: &E| reattempt::Verdict::TransientAfter(..))`" [retry_after];
    OnRetryOfRunner "a runner calls this `on_retry`"
        "write `.on_retry(|retry| ...)`, behind `policy.runner()` or `policy.on(|error: &E| ...)`" [before_retry before_sleep
        inspect_err notify on_error];
        }
    };
}

/// Those that a runner does not have.
#[doc(hidden)]
#[macro_export]
macro_rules! __misnamed_of_runner {
    ($($owner:tt)+) => {
        $crate::__misnamed! {
            [fn(V); impl $($owner)+]
    OfPolicy "this is a key of the policy, and a runner does not change its policy"
        "write it in front of `.on(..)` or `.runner()`" [backoff base cap deadline factor fast_first first idempotent jitter max
        max_retry_after nested priority reset_after telemetry throttled_base timeout];
    CalledKeyOfPolicy "this is a key of the policy by another name, and a runner does not change its policy"
        "write `.max(..)`, `.base(..)`, `.cap(..)` or `.deadline(..)` in front of `.on(..)` or `.runner()`" [initial_delay
        max_attempts max_delay max_elapsed_time max_retries max_times retries with_max_delay with_max_times with_min_delay];
    OnOfPolicy "`on` is a method of a policy, and returns a runner"
        "write `.on(..)` in place of `.runner()`, in front of the rest" [on retry_if retry_on retry_when when];
    UntilOfRunner "a runner looks at errors alone, and a block at values too"
        "write `reattempt::retry_block!(policy = policy, until = |value| ..., {{ ... }})`" [until];
    ExceptOfRunner "`on` alone says which errors a policy retries" "write `.on(|error: &E| !...)` in place of `.runner()`" [except
        unless];
    FallbackOfRunner "the caller of a policy handles its last error"
        "write `.run(..).or_else(|error| ...)`, or `.map_err(|error| ...)`" [fallback map_err or_else recover];
    RetryAfterOfRunner "the verdict on an error says the delay that it asks for"
        "write `.on(|error: &E| reattempt::Verdict::TransientAfter(..))` in place of `.runner()`" [adjust retry_after];
    CalledOnRetry "a runner calls this `on_retry`" "write `.on_retry(|retry| ...)`" [before_retry before_sleep inspect_err notify
        on_error];
    CalledTimer "a runner knows how to wait where it runs" "drop it, or write `.timer(..)` with a timer of your own" [sleep
        with_sleep];
        }
    };
}

/// Those that a retry and an attempt do not have.
#[doc(hidden)]
#[macro_export]
macro_rules! __misnamed_of_attempt {
    ($retry:ident, $attempt:ident) => {
        $crate::__misnamed! {
            [fn(); impl<E: ?Sized> $retry<'_, E>]
    CalledAttempt "a retry has `attempt` for this, the number of the attempt that failed" "write `.attempt()`" [attempt_number
        attempts count index n number retries retry_number];
    CalledNextDelay "a retry has `delay` for this" "write `.delay()`" [backoff duration next_delay sleep wait];
    CalledError "a retry has `error` for this, which is `None` after a time-out" "write `.error()`" [err exception failure
        last_error outcome];
    OfAttempt "the body knows the time of the call" "write `context = attempt`, and in the body `attempt.elapsed()`" [elapsed
        remaining total_time];
        }
        $crate::__misnamed! {
            [fn(); impl $attempt<'_>]
    CalledNumber "an attempt has `number` for this, from 1" "write `.number()`" [attempt attempt_number count index n retries
        retry retry_number];
    CalledKey "an attempt has `idempotency_key` for this" "write `.idempotency_key()`" [idempotence_key key request_id];
    OfRetry "the attempt has not ended; a hook gets a retry, which knows this" "write `on_retry = |retry| ...`" [cause delay
        err error max max_attempts];
        }
    };
}

__misnamed! {
    [const Backoff = Backoff::Exp]
    CalledExp "exponential delays are called `Exp` here, and are the default" "write `Backoff::Exp`" [Expo Exponential
        ExponentialBackoff ExponentialJitter];
    CalledFixed "equal delays are called `Fixed` here" "write `Backoff::Fixed`, whose delay is the key `base`" [Constant
        ConstantBackoff FixedDelay FixedInterval];
    CalledNone "a backoff without delays is called `None` here" "write `Backoff::None`" [Immediate NoDelay Off Zero];
}

__misnamed! {
    [const Jitter = Jitter::Full]
    CalledFull "a jitter from 0 to the whole delay is called `Full` here, and is the default" "write `Jitter::Full`" [Enabled On
        Random Uniform];
    CalledEqual "a jitter of half the delay is called `Equal` here" "write `Jitter::Equal`" [Half];
    CalledRatio "a jitter of a share is called `Ratio` here" "write `Jitter::Ratio(0.2)`" [Factor Percent Proportional];
    CalledNoJitter "a delay without jitter has the jitter `None`" "write `Jitter::None`" [Disabled Off Zero];
    CalledDecorrelated "decorrelated jitter is a backoff here" "write `.backoff(reattempt::Backoff::Decorrelated)`" [Decorrelated];
}
