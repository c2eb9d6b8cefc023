//! The verdict on a failure: what the keys `on`, `except`, `retry_after`, and those of `#[derive(Classify)]` ask.

use core::time::Duration;

#[cfg(feature = "std")]
use crate::hedge::Ended;
use reattempt_core::{Classify, IntoVerdict, Verdict};

/// `on`. A function, so that a closure learns the type of its parameter.
#[inline(always)]
pub fn judge<E: ?Sized, V: IntoVerdict>(error: &E, on: impl FnOnce(&E) -> V) -> Verdict {
    on(error).into_verdict()
}

/// `on` with `idempotent = false` and no `verify`.
#[inline(always)]
pub fn judge_by_proof<E: ?Sized, V: Proof>(error: &E, on: impl FnOnce(&E) -> V) -> Verdict {
    on(error).proof()
}

/// An answer of `on` that says whether anything was executed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether anything was executed, so `idempotent = false` would retry nothing",
    label = "expected `Verdict`",
    note = "answer `reattempt::Verdict::Refused` for errors that prove that nothing was executed, or add `verify`",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait Proof {
    fn proof(self) -> Verdict;
}

impl Proof for Verdict {
    fn proof(self) -> Verdict {
        self
    }
}

/// `except`.
#[inline(always)]
pub fn exclude<E: ?Sized, V: IntoVerdict>(
    error: &E,
    except: impl FnOnce(&E) -> V,
) -> Option<Verdict> {
    except(error).into_exclusion()
}

/// `except` wins over `on`.
#[inline(always)]
pub fn unless(except: Option<Verdict>, on: impl FnOnce() -> Verdict) -> Verdict {
    except.unwrap_or_else(on)
}

/// Returns a policy without `on`.
#[inline(always)]
pub fn classify<E: Classify + ?Sized>(error: &E) -> Verdict {
    error.classify()
}

/// The same, of an error that holds another one as far as its name tells, such as `anyhow::Error`.
#[inline(always)]
pub fn classify_holder<E: ClassifyHolder + ?Sized>(error: &E) -> Verdict {
    error.verdict()
}

/// A holder of errors that has a verdict; none of those that are known by name has one.
#[diagnostic::on_unimplemented(
    message = "which errors should be retried? `{Self}` does not say what is inside it, and the policy has no `on`",
    label = "any error may be inside",
    note = "name the types that may be inside: `on = reattempt::chain![std::io::Error]`; the first type found decides by its `Classify`, and any other error is final",
    note = "`on(_)` retries any error",
    note = "rule S4: https://reattempt.github.io/reattempt/errors.html#s4"
)]
pub trait ClassifyHolder {
    fn verdict(&self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<E: Classify + ?Sized> ClassifyHolder for E {
    #[inline(always)]
    fn verdict(&self) -> Verdict {
        self.classify()
    }
}

/// `with`: what a function says of the content of an error.
#[inline(always)]
pub fn given(verdict: impl IntoVerdict) -> Verdict {
    verdict.into_verdict()
}

/// `inherit`.
pub fn inherit<E: Inherit + ?Sized>(inner: &E) -> Verdict {
    inner.verdict()
}

/// An inner error that has a verdict.
#[diagnostic::on_unimplemented(
    message = "`inherit` takes the verdict of the wrapped error, and `{Self}` does not implement `Classify`",
    label = "`Classify` is not implemented for this error",
    note = "write a verdict such as `#[retry(transient)]` or `#[retry(permanent)]` above the variant, or, if `{Self}` is a type of yours, implement `reattempt::Classify` for it",
    note = "for `anyhow::Error`, `eyre::Report` and boxed errors, `#[retry(chain(std::io::Error))]` takes the verdict of the error inside",
    note = "rule S11: https://reattempt.github.io/reattempt/errors.html#s11"
)]
pub trait Inherit {
    fn verdict(&self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<E: Classify + ?Sized> Inherit for E {
    fn verdict(&self) -> Verdict {
        self.classify()
    }
}

/// `after = field`.
pub fn after<A: After>(field: &A) -> Option<Duration> {
    field.after()
}

/// A field with a delay.
#[diagnostic::on_unimplemented(
    message = "`after` names a field that is not a delay",
    label = "expected `Duration` or `Option<Duration>`, found `{Self}`",
    note = "of a number of seconds the delay is `with = |secs: &u64| reattempt::Verdict::Throttled(Some(std::time::Duration::from_secs(*secs)))`, in place of the verdict and `after`",
    note = "rule S11: https://reattempt.github.io/reattempt/errors.html#s11"
)]
pub trait After {
    fn after(&self) -> Option<Duration>;
}

impl After for Duration {
    fn after(&self) -> Option<Duration> {
        Some(*self)
    }
}

impl After for Option<Duration> {
    fn after(&self) -> Option<Duration> {
        *self
    }
}

/// What `retry_after` may answer.
#[diagnostic::on_unimplemented(
    message = "`retry_after` returns `{Self}`, which is not a delay",
    label = "expected `Option<Duration>` or `Duration`",
    note = "answer with the delay that the error asks for, `std::time::Duration::from_secs(..)` around a number of seconds, or with `None` where it asks for none",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait Delay {
    fn delay(&self) -> Option<Duration>;
}

#[diagnostic::do_not_recommend]
impl<D: After> Delay for D {
    fn delay(&self) -> Option<Duration> {
        self.after()
    }
}

/// What the failure of a copy means for the others.
#[cfg(feature = "std")]
pub fn ended(verdict: Verdict) -> Ended {
    if verdict.is_retryable() {
        Ended::Retryably
    } else {
        Ended::Finally
    }
}
