//! What people write and what is called otherwise here. Nobody can name or call it.

use crate::{GiveUpReason, RetryError, Verdict};

/// Makes the reasons for variants or methods: the bound that nothing meets, its message, its label, the names.
macro_rules! misnamed {
    ($kind:tt $($reason:ident $message:literal $label:literal $names:tt;)+) => { $(
        #[diagnostic::on_unimplemented(
            message = $message,
            label = $label,
            note = "rule R15: https://reattempt.github.io/reattempt/errors.html#r15"
        )]
        pub trait $reason<'a> {
            fn answer<Any>(self) -> Any;
        }

        misnamed! { @names $kind $reason $names }
    )+ };
    (@names [const $owner:ident = $value:ident] $reason:ident [$($name:ident)+]) => {
        #[allow(non_upper_case_globals, reason = "a variant is written so")]
        impl $owner
        where
            // Without the lifetime it would be an error here.
            for<'a> Self: $reason<'a>,
        { $(
            #[doc(hidden)]
            pub const $name: Self = Self::$value;
        )+ }
    };
    (@names [fn; impl $($owner:tt)+] $reason:ident [$($name:ident)+]) => {
        impl $($owner)+ { $(
            #[doc(hidden)]
            pub fn $name<Any>(&self) -> Any
            where
                for<'a> &'a Self: $reason<'a>,
            {
                self.answer()
            }
        )+ }
    };
}

misnamed! {
    [const Verdict = Transient]
    CalledTransient "an error that is worth another attempt is called `Transient` here"
        "write `Verdict::Transient`, or `Verdict::Refused` if nothing ran" [Again Retriable Retry Retryable Temporary TryAgain];
    CalledPermanent "an error that is not worth another attempt is called `Permanent` here" "write `Verdict::Permanent`" [Abort
        DoNotRetry Fail Fatal Final GiveUp NonRetryable NotRetryable Stop];
    CalledThrottled "a service that is overloaded has the verdict `Throttled` here"
        "write `Verdict::Throttled(None)`, or a delay, `Some(..)`" [Overloaded RateLimit RateLimited TooManyRequests];
    CalledAfter "a delay that the service asks for stands in `TransientAfter` and `Throttled` here"
        "write `Verdict::TransientAfter(delay)`, or `Throttled(Some(delay))`" [Delayed RetryAfter RetryIn];
    CalledForbidden "a service that forbids another attempt has the verdict `RetryForbidden` here"
        "write `Verdict::RetryForbidden`" [Forbidden Never];
}

misnamed! {
    [const GiveUpReason = Attempts]
    CalledAttempts "a call whose attempts are used up ends for the reason `Attempts`" "write `GiveUpReason::Attempts`" [Exhausted
        MaxAttempts MaxRetries TooManyAttempts];
    CalledDeadline "a call that a limit in time ends does so for the reason `Deadline`, and `Attempts` after the last `timeout`"
        "write `GiveUpReason::Deadline`, or ask `is_timeout()` of the error" [Elapsed TimedOut Timeout];
    CalledBreakerOpen "an open breaker is the reason `BreakerOpen`" "write `GiveUpReason::BreakerOpen`" [Breaker CircuitBreaker
        CircuitOpen];
    CalledBudget "a budget without tokens is the reason `Budget`" "write `GiveUpReason::Budget`" [BudgetEmpty BudgetExhausted];
}

misnamed! {
    [fn; impl<E> RetryError<E>]
    CalledAttemptCount "an error of a call has `attempts` for this" "write `.attempts()`" [attempt attempt_count count retries
        tries];
    CalledLast "an error of a call has the error of the last attempt, if there is one" "write `.last()`, or `.into_last()`" [error
        inner into_inner into_source last_error];
    CalledTimeout "an error of a call says by `is_timeout` whether a limit in time ended it" "write `.is_timeout()`" [is_deadline
        is_elapsed is_timed_out timed_out];
    CalledTotalTime "an error of a call has `total_time` for this, with the key `history`" "write `.total_time()`" [duration
        elapsed];
}
