//! Verdicts that people write and that are called otherwise here. Nobody can name them.

use crate::Verdict;

/// Makes the names of a verdict: a reason, its message, its label, the names.
macro_rules! misnamed {
    ($($verdict:ident $message:literal $label:literal [$($name:ident)+];)+) => { $(
        #[diagnostic::on_unimplemented(
            message = $message,
            label = $label,
            note = "rule R15: https://reattempt.github.io/reattempt/errors.html#r15"
        )]
        pub trait $verdict<'a> {}

        #[allow(non_upper_case_globals, reason = "a variant is written so")]
        impl Verdict
        where
            // Without the lifetime it would be an error here.
            for<'a> Self: $verdict<'a>,
        { $(
            #[doc(hidden)]
            pub const $name: Self = Self::Transient;
        )+ }
    )+ };
}

misnamed! {
    CalledTransient "an error that is worth another attempt is called `Transient` here" "write `Verdict::Transient`, or `Verdict::Refused` if nothing ran"
        [Again Retriable Retry Retryable Temporary TryAgain];
    CalledPermanent "an error that is not worth another attempt is called `Permanent` here" "write `Verdict::Permanent`" [Abort
        DoNotRetry Fail Fatal Final GiveUp NonRetryable NotRetryable Stop];
    CalledThrottled "a service that is overloaded has the verdict `Throttled` here" "write `Verdict::Throttled(None)`, or a delay, `Some(..)`" [Overloaded
        RateLimit RateLimited TooManyRequests];
    CalledAfter "a delay that the service asks for stands in `TransientAfter` and `Throttled` here" "write `Verdict::TransientAfter(delay)`, or `Throttled(Some(delay))`"
        [Delayed RetryAfter RetryIn];
    CalledForbidden "a service that forbids another attempt has the verdict `RetryForbidden` here" "write `Verdict::RetryForbidden`" [Forbidden Never];
}
