//! What an error means for a retry: the verdict, and the trait by which an
//! error type gives it.

use core::fmt;
use core::time::Duration;

/// What an error means for a retry: whether another attempt is worthwhile, and whether the
/// operation may have run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Worth another attempt; the operation may or may not have been executed.
    Transient,
    /// The same, and the service asked for this delay.
    TransientAfter(Duration),
    /// The service is overloaded; the duration, if any, is the delay that it asked for.
    Throttled(Option<Duration>),
    /// Worth another attempt; the operation was certainly not executed.
    Refused,
    /// Not worth another attempt.
    Permanent,
    /// The service forbade another attempt.
    RetryForbidden,
}

impl Verdict {
    /// Returns whether this verdict allows another attempt.
    pub const fn is_retryable(self) -> bool {
        !matches!(self, Self::Permanent | Self::RetryForbidden)
    }

    /// Returns whether the operation may have run. A call does not repeat such an operation if it
    /// is not idempotent.
    pub const fn is_ambiguous(self) -> bool {
        matches!(self, Self::Transient | Self::TransientAfter(_))
    }

    /// Returns the delay that the service asked for.
    pub const fn requested_delay(self) -> Option<Duration> {
        match self {
            Self::TransientAfter(delay) => Some(delay),
            Self::Throttled(delay) => delay,
            _ => None,
        }
    }

    /// Returns this verdict without its proof that the operation was not executed, for an error that may be that of another
    /// request than the first: one of several, or one behind a redirect.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Verdict;
    ///
    /// assert_eq!(Verdict::Refused.into_ambiguous(), Verdict::Transient);
    /// assert_eq!(Verdict::Permanent.into_ambiguous(), Verdict::Permanent);
    /// ```
    #[must_use = "a verdict is not changed in place"]
    pub const fn into_ambiguous(self) -> Self {
        match self {
            Self::Refused | Self::Throttled(None) => Self::Transient,
            Self::Throttled(Some(delay)) => Self::TransientAfter(delay),
            verdict => verdict,
        }
    }

    /// Returns this verdict with the delay that the service asked for. Without a delay, or if the
    /// verdict allows no other attempt, returns it unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::Verdict;
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// assert_eq!(Verdict::Transient.after(Some(second)), Verdict::TransientAfter(second));
    /// assert_eq!(Verdict::Refused.after(Some(second)), Verdict::Throttled(Some(second)));
    /// assert_eq!(Verdict::Permanent.after(Some(second)), Verdict::Permanent);
    /// ```
    #[must_use = "a verdict is not changed in place"]
    pub const fn after(self, delay: Option<Duration>) -> Self {
        match (self, delay) {
            (Self::Transient | Self::TransientAfter(_), Some(delay)) => Self::TransientAfter(delay),
            (Self::Refused | Self::Throttled(_), Some(delay)) => Self::Throttled(Some(delay)),
            (verdict, _) => verdict,
        }
    }
}

/// `true` is [`Verdict::Transient`], `false` is [`Verdict::Permanent`].
impl From<bool> for Verdict {
    fn from(retryable: bool) -> Self {
        if retryable {
            Self::Transient
        } else {
            Self::Permanent
        }
    }
}

/// What `on` and `except` may answer: `bool` or [`Verdict`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` says nothing about a retry",
    label = "expected `bool` or `Verdict`",
    note = "`on`, `except` and `with` answer at once, by a `bool` or a `reattempt::Verdict`; none of them is async",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait IntoVerdict {
    /// The verdict of `on`.
    fn into_verdict(self) -> Verdict;

    /// The verdict of `except`; `None` when it has nothing against a retry.
    fn into_exclusion(self) -> Option<Verdict>;
}

impl IntoVerdict for bool {
    fn into_verdict(self) -> Verdict {
        self.into()
    }

    fn into_exclusion(self) -> Option<Verdict> {
        self.then_some(Verdict::Permanent)
    }
}

impl IntoVerdict for Verdict {
    fn into_verdict(self) -> Verdict {
        self
    }

    fn into_exclusion(self) -> Option<Verdict> {
        (!self.is_retryable()).then_some(self)
    }
}

/// Decides which values of an error type are worth another attempt.
///
/// A policy without `on` uses it. `#[derive(Classify)]` implements it for an error type of yours.
/// `Box<dyn Error>`, `String` and `anyhow::Error` do not implement it, because they carry no verdict.
/// [`chain!`](crate::chain) looks for errors inside a box or an `anyhow::Error`.
///
/// # Examples
///
/// ```
/// use reattempt::{Classify, Verdict};
///
/// enum FetchError { Timeout, NotFound }
///
/// impl Classify for FetchError {
///     fn classify(&self) -> Verdict {
///         match self {
///             Self::Timeout => Verdict::Transient,
///             Self::NotFound => Verdict::Permanent,
///         }
///     }
/// }
/// assert!(FetchError::Timeout.classify().is_retryable());
/// ```
#[diagnostic::on_unimplemented(
    message = "which errors should be retried? `{Self}` does not implement `Classify` and the policy has no `on`",
    label = "`Classify` is not implemented for this error",
    note = "for your own error type: `#[derive(reattempt::Classify)]`",
    note = "for an error of aws, bb8, deadpool, diesel, hyper, lettre, mysql-async, object-store, redis, reqwest, sqlx, tokio-postgres, tonic or ureq: enable the feature named after the library; older or newer releases have a number, such as `reqwest012` or `sqlx09`; for `std::io::Error` it is `std`",
    note = "for `anyhow::Error`, `eyre::Report` and boxed errors: `on = reattempt::chain![std::io::Error]`, with the types that may be inside",
    note = "for any other type, also of another library: choose the errors in the policy, `on = |error| ...` or `on(Pattern | Pattern)`; `on(_)` retries any error",
    note = "with `Policy::run`: `policy.on(|error: &{Self}| ...).run(...)`, and `policy.on(reattempt::chain![..])`",
    note = "rule S4: https://reattempt.github.io/reattempt/errors.html#s4"
)]
pub trait Classify {
    /// Returns the verdict on this value.
    fn classify(&self) -> Verdict;

    /// Returns this value in words, for telemetry: `Some(self)` if it implements `Display`.
    ///
    /// Attributes and blocks detect `Display` themselves; a policy that runs a closure (`Policy::run`) cannot.
    ///
    /// # Default
    ///
    /// `None`: events have the type of the error alone.
    fn message(&self) -> Option<&dyn fmt::Display> {
        None
    }

    /// Returns whether this value has the status or code: `404`, `UNAVAILABLE`, `40001`. A policy with the key `codes` asks.
    /// An error that is not an answer of the service has the code `connection` or `timeout`, which events report as the cause.
    ///
    /// # Default
    ///
    /// `false`: it has none.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Classify, Verdict};
    ///
    /// struct Busy;
    ///
    /// impl Classify for Busy {
    ///     fn classify(&self) -> Verdict {
    ///         Verdict::Throttled(None)
    ///     }
    ///
    ///     fn has_code(&self, code: &str) -> bool {
    ///         code == "BUSY"
    ///     }
    /// }
    /// ```
    fn has_code(&self, _code: &str) -> bool {
        false
    }
}

#[diagnostic::do_not_recommend]
impl<E: Classify + ?Sized> Classify for &E {
    fn classify(&self) -> Verdict {
        (**self).classify()
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        (**self).message()
    }

    fn has_code(&self, code: &str) -> bool {
        (**self).has_code(code)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Classify + ?Sized> Classify for &mut E {
    fn classify(&self) -> Verdict {
        (**self).classify()
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        (**self).message()
    }

    fn has_code(&self, code: &str) -> bool {
        (**self).has_code(code)
    }
}

#[cfg(feature = "std")]
#[diagnostic::do_not_recommend]
impl<E: Classify + ?Sized> Classify for Box<E> {
    fn classify(&self) -> Verdict {
        (**self).classify()
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        (**self).message()
    }

    fn has_code(&self, code: &str) -> bool {
        (**self).has_code(code)
    }
}

#[cfg(feature = "std")]
#[diagnostic::do_not_recommend]
impl<E: Classify + ?Sized> Classify for std::sync::Arc<E> {
    fn classify(&self) -> Verdict {
        (**self).classify()
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        (**self).message()
    }

    fn has_code(&self, code: &str) -> bool {
        (**self).has_code(code)
    }
}

/// The error of a function that returns `Option`: there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absent;

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no value")
    }
}

#[cfg(feature = "std")]
impl std::error::Error for Absent {}

/// `Option`: `None` is retried. Use `until` in a function that must not retry it.
#[diagnostic::do_not_recommend]
impl Classify for Absent {
    fn classify(&self) -> Verdict {
        Verdict::Transient
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}

/// `core`: a function without an error has nothing to classify.
#[diagnostic::do_not_recommend]
impl Classify for core::convert::Infallible {
    fn classify(&self) -> Verdict {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// What was not executed proves so only while nobody else may have executed it.
    #[test]
    fn a_delay_stays_where_the_proof_goes() {
        for (verdict, ambiguous) in [
            (Verdict::Refused, Verdict::Transient),
            (Verdict::Throttled(None), Verdict::Transient),
            (
                Verdict::Throttled(Some(SECOND)),
                Verdict::TransientAfter(SECOND),
            ),
            (Verdict::Permanent, Verdict::Permanent),
        ] {
            assert_eq!(verdict.into_ambiguous(), ambiguous);
        }
        assert!(Verdict::Transient.is_ambiguous());
        assert!(Verdict::TransientAfter(SECOND).is_ambiguous());
        assert!(!Verdict::Throttled(Some(SECOND)).is_ambiguous());
    }

    /// Whether it is retried, whether it may have run, its delay, and what becomes of it with another delay.
    #[test]
    fn what_a_verdict_says() {
        const TWO: Duration = Duration::from_secs(2);
        let after = Verdict::TransientAfter;
        let throttled = |delay| Verdict::Throttled(Some(delay));
        for (verdict, is_retryable, is_ambiguous, delay, later) in [
            (Verdict::Transient, true, true, None, after(TWO)),
            (after(SECOND), true, true, Some(SECOND), after(TWO)),
            (Verdict::Throttled(None), true, false, None, throttled(TWO)),
            (throttled(SECOND), true, false, Some(SECOND), throttled(TWO)),
            (Verdict::Refused, true, false, None, throttled(TWO)),
            (Verdict::Permanent, false, false, None, Verdict::Permanent),
            (
                Verdict::RetryForbidden,
                false,
                false,
                None,
                Verdict::RetryForbidden,
            ),
        ] {
            assert_eq!(verdict.is_retryable(), is_retryable, "{verdict:?}");
            assert_eq!(verdict.is_ambiguous(), is_ambiguous, "{verdict:?}");
            assert_eq!(verdict.requested_delay(), delay, "{verdict:?}");
            assert_eq!(verdict.after(Some(TWO)), later);
            assert_eq!(verdict.after(None), verdict);
            assert_eq!(verdict.into_verdict(), verdict);
            assert_eq!(verdict.into_exclusion(), (!is_retryable).then_some(verdict));
        }
        assert_eq!(true.into_verdict(), Verdict::Transient);
        assert_eq!(false.into_verdict(), Verdict::Permanent);
        assert_eq!(Absent.classify(), Verdict::Transient);
        assert!(Absent.message().is_some() && !Absent.has_code("timeout"));
    }

    /// Code 7, and a message of its own.
    struct Seven;

    impl Classify for Seven {
        fn classify(&self) -> Verdict {
            Verdict::Transient
        }

        fn message(&self) -> Option<&dyn fmt::Display> {
            Some(&"seven")
        }

        fn has_code(&self, code: &str) -> bool {
            code == "7"
        }
    }

    struct Silent;

    impl Classify for Silent {
        fn classify(&self) -> Verdict {
            Verdict::Permanent
        }
    }

    #[cfg(feature = "std")]
    #[test]
    fn what_holds_an_error_says_what_the_error_says() {
        use std::string::{String, ToString as _};

        fn said<E: Classify + ?Sized>(error: &E) -> (Verdict, Option<String>, bool, bool) {
            let message = error.message().map(ToString::to_string);
            (
                error.classify(),
                message,
                error.has_code("7"),
                error.has_code("8"),
            )
        }
        let silent = (Verdict::Permanent, None, false, false);
        let seven = (Verdict::Transient, Some("seven".into()), true, false);
        assert_eq!(said(&Silent), silent);
        assert_eq!(said(&Seven), seven);
        assert_eq!(said::<&Seven>(&&Seven), seven);
        assert_eq!(said::<&mut Seven>(&&mut Seven), seven);
        assert_eq!(said(&Box::new(Seven)), seven);
        let held: Box<dyn Classify> = Box::new(Silent);
        assert_eq!(said(&held), silent);
        assert_eq!(said(&std::sync::Arc::new(Seven)), seven);
        let end = crate::GaveUp::new(crate::GiveUpReason::Attempts, 2);
        assert_eq!(said(&crate::RetryError::new(end, Some(Seven))), seven);
        assert_eq!(Absent.to_string(), "no value");
    }

    #[test]
    fn an_exception_excludes_what_is_final() {
        assert_eq!(Verdict::Transient.into_exclusion(), None);
        assert_eq!(
            Verdict::Permanent.into_exclusion(),
            Some(Verdict::Permanent)
        );
        assert_eq!(true.into_exclusion(), Some(Verdict::Permanent));
        assert_eq!(false.into_exclusion(), None);
    }
}
