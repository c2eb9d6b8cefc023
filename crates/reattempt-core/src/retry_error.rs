//! The error of a call that was given up, with the last error of its attempts: [`RetryError`].

use core::fmt;
use core::time::Duration;

use crate::failure::GaveUp;
use crate::reason::GiveUpReason;
use crate::verdict::{Classify, Verdict};

/// The error of a function with the return type `Result<T, RetryError<E>>`: the reason why the call
/// ended, the number of attempts, and the last error, if there is one.
///
/// The body of such a function still speaks `Result<T, E>`.
///
/// Its `Display` is one sentence, also where the last error is a `RetryError` itself: why the call gave up, and the
/// innermost error. The alternate form `{:#}` is the innermost error alone.
///
/// # Through another retried call
///
/// In a function that is retried itself, `?` makes an `E` of it, for the errors of libraries that have [`From<GaveUp>`],
/// and for an enum with `derive(Classify)` and a variant that has `from` or holds the [`GaveUp`]: the last error, or what
/// `From<GaveUp>` makes of the end. For any other type [`flatten`](RetryError::flatten) joins the two layers.
///
/// Two errors are equal if they have the same end and the same last error; what `history` keeps does not count.
#[derive(Debug, Clone)]
pub struct RetryError<E> {
    end: GaveUp,
    last: Option<E>,
    /// One pointer, so that the error stays small where nobody asked for it.
    #[cfg(feature = "std")]
    history: Option<Box<History<E>>>,
}

#[cfg(feature = "std")]
#[derive(Debug, Clone)]
struct History<E> {
    total_time: Duration,
    earlier: Vec<E>,
}

impl<E: PartialEq> PartialEq for RetryError<E> {
    fn eq(&self, other: &Self) -> bool {
        self.end == other.end && self.last == other.last
    }
}

impl<E: Eq> Eq for RetryError<E> {}

impl<E> RetryError<E> {
    /// Returns the error of a call that ended so, with its last error if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{GaveUp, GiveUpReason, RetryError};
    ///
    /// let error = RetryError::new(GaveUp::new(GiveUpReason::Attempts, 3), Some("no answer"));
    /// assert_eq!(error.to_string(), "gave up after 3 attempts because all attempts are used up: no answer");
    /// ```
    pub const fn new(end: GaveUp, last: Option<E>) -> Self {
        Self {
            end,
            last,
            #[cfg(feature = "std")]
            history: None,
        }
    }

    /// Returns the error of a call whose last attempt has none, because it timed out or was cut off, with the last error of
    /// the attempts before it.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{GaveUp, GiveUpReason, RetryError};
    ///
    /// let end = GaveUp::new(GiveUpReason::Attempts, 3).timed_out();
    /// let error = RetryError::with_earlier(end, "no route");
    /// assert_eq!(error.last(), Some(&"no route"));
    /// assert_eq!(
    ///     error.to_string(),
    ///     "gave up after 3 attempts because all attempts are used up and the last attempt timed out; before that: no route"
    /// );
    /// ```
    pub const fn with_earlier(end: GaveUp, error: E) -> Self {
        Self::new(end.with_earlier_error(), Some(error))
    }

    /// Returns why the call ended.
    pub const fn reason(&self) -> GiveUpReason {
        self.end.reason()
    }

    /// Returns the number of attempts that started.
    pub const fn attempts(&self) -> u32 {
        self.end.attempts()
    }

    /// Returns whether time ran out: the last attempt took longer than `timeout`, or the deadline
    /// passed. It does not look into the last error.
    pub const fn is_timeout(&self) -> bool {
        self.end.is_timeout()
    }

    /// Returns after how long another try makes sense, as [`GaveUp::retry_after`] does: what to tell a user, or
    /// to send on as `Retry-After`.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.end.retry_after()
    }

    /// Returns how the call ended, without the error.
    pub const fn end(&self) -> GaveUp {
        self.end
    }

    /// Returns the last error. Where time ended the last attempt it is the error of an attempt before, which an async call
    /// with `timeout` or `deadline` keeps if it is [`Send`]. `None` where no attempt had an error, or polling ended without
    /// a final value.
    pub const fn last(&self) -> Option<&E> {
        self.last.as_ref()
    }

    /// Returns the [last error](Self::last) by value. It may be older than the last attempt, of which it says nothing then:
    /// [`into_error`](Self::into_error) returns only what that attempt came to.
    pub fn into_last(self) -> Option<E> {
        self.last
    }
}

#[cfg(feature = "std")]
impl<E> RetryError<E> {
    /// Returns the same error of a call with `history`, which took `total_time`, and whose attempts before the last one
    /// failed with the errors `earlier`, in their order.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{GaveUp, GiveUpReason, RetryError};
    /// use std::time::Duration;
    ///
    /// let error = RetryError::new(GaveUp::new(GiveUpReason::Attempts, 2), Some("timed out"));
    /// assert_eq!(error.total_time(), None);
    /// let error = error.with_history(Duration::from_secs(3), vec!["refused"]);
    /// assert_eq!(error.total_time(), Some(Duration::from_secs(3)));
    /// assert!(error.errors().eq(&["refused", "timed out"]));
    /// ```
    #[must_use = "an error is not changed in place"]
    pub fn with_history(self, total_time: Duration, earlier: Vec<E>) -> Self {
        Self {
            history: Some(Box::new(History {
                total_time,
                earlier,
            })),
            ..self
        }
    }

    /// Returns how long the call took, its delays included; `None` without the key `history`, since a call that nobody
    /// times reads no clock.
    pub fn total_time(&self) -> Option<Duration> {
        self.history.as_ref().map(|history| history.total_time)
    }

    /// Returns the errors of all attempts, the first one first. Without the key `history` it is the last one alone. An
    /// attempt without an error, such as one that timed out, is left out.
    pub fn errors(&self) -> impl Iterator<Item = &E> {
        let earlier = self.history.as_ref().map(|history| &*history.earlier);
        earlier.unwrap_or_default().iter().chain(&self.last)
    }
}

impl<E> RetryError<RetryError<E>> {
    /// Joins the ends of two calls, one inside the other: how the outer one ended, and the last error of the inner one.
    ///
    /// Without an error of the inner call, its end is the one that is kept, with the attempts of the outer one.
    ///
    /// # Examples
    ///
    /// As `map_err` it lets the body of a retried function use `?` on another one:
    ///
    /// ```
    /// use reattempt::{Classify, RetryError, retry};
    ///
    /// #[derive(Debug, Classify)]
    /// #[retry(transient)]
    /// struct Busy;
    ///
    /// #[retry(max = 2, base = "1ms")]
    /// fn inner() -> Result<u8, RetryError<Busy>> {
    ///     Err(Busy)
    /// }
    ///
    /// #[retry(max = 2, base = "1ms", map_err = RetryError::flatten)]
    /// fn outer() -> Result<u8, RetryError<Busy>> {
    ///     Ok(inner()? + 1)
    /// }
    ///
    /// let error = outer().unwrap_err();
    /// assert!(matches!(error.last(), Some(Busy)));
    /// ```
    pub fn flatten(self) -> RetryError<E> {
        let end = self.end;
        let flat = match self.last {
            Some(RetryError {
                last: Some(last),
                end: inner,
                ..
            }) if inner.is_error_earlier() => RetryError::with_earlier(end, last),
            Some(RetryError {
                last: Some(last), ..
            }) => RetryError::new(end, Some(last)),
            Some(inner) => RetryError::from(inner.end.after(end.attempts())),
            None => RetryError::from(end),
        };
        #[cfg(feature = "std")]
        let flat = RetryError {
            history: self.history.map(|history| {
                let earlier = history.earlier.into_iter();
                Box::new(History {
                    total_time: history.total_time,
                    earlier: earlier.filter_map(RetryError::into_last).collect(),
                })
            }),
            ..flat
        };
        flat
    }
}

impl<E: From<GaveUp>> RetryError<E> {
    /// Returns the error of the last attempt, or where it has none what `From<GaveUp>` makes of the end. What came before
    /// does not count: whoever retries the answer has to know that the last attempt may have run.
    pub fn into_error(self) -> E {
        let end = self.end;
        self.last
            .filter(|_| !end.is_error_earlier())
            .unwrap_or_else(|| end.into())
    }
}

impl<E: fmt::Display> fmt::Display for RetryError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(error) = &self.last else {
            return self.end.fmt(f);
        };
        if !f.alternate() {
            let before = if self.end.is_error_earlier() {
                "; before that"
            } else {
                ""
            };
            write!(f, "{}{before}: ", self.end)?;
        }
        write!(f, "{error:#}")
    }
}

impl<E: core::error::Error + 'static> core::error::Error for RetryError<E> {
    /// The cause of the last error; the last error itself is part of the message.
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.last.as_ref().and_then(core::error::Error::source)
    }
}

impl<E> From<GaveUp> for RetryError<E> {
    fn from(end: GaveUp) -> Self {
        Self::new(end, None)
    }
}

/// The error of the last attempt decides; where it has none, [`GaveUp`] does.
#[diagnostic::do_not_recommend]
impl<E: Classify> Classify for RetryError<E> {
    fn classify(&self) -> Verdict {
        match &self.last {
            Some(error) if !self.end.is_error_earlier() => error.classify(),
            _ => self.end.classify(),
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        match &self.last {
            Some(error) => error.message(),
            None => Some(&self.end),
        }
    }

    fn has_code(&self, code: &str) -> bool {
        match &self.last {
            Some(error) if !self.end.is_error_earlier() => error.has_code(code),
            _ => self.end.has_code(code),
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::error::Error as _;
    use std::io;
    use std::string::ToString as _;

    use super::*;

    const INNER: GaveUp = GaveUp::new(GiveUpReason::Budget, 2);
    const OUTER: GaveUp = GaveUp::new(GiveUpReason::Attempts, 3);
    const LATE: GaveUp = OUTER.timed_out();

    type Error = RetryError<io::Error>;

    fn reset() -> io::Error {
        io::ErrorKind::ConnectionReset.into()
    }

    /// Of the last attempt, of one before it, or none: what the error says where the last attempt is all that counts.
    #[test]
    fn an_error_says_how_the_call_ended() {
        for (error, has_last, is_its_own, text) in [
            (
                Error::new(OUTER, Some(reset())),
                true,
                true,
                "gave up after 3 attempts because all attempts are used up: connection reset",
            ),
            (
                Error::with_earlier(LATE, reset()),
                true,
                false,
                "gave up after 3 attempts because all attempts are used up and the last attempt timed out; before that: connection reset",
            ),
            (
                Error::with_earlier(OUTER, reset()),
                true,
                false,
                "gave up after 3 attempts because all attempts are used up; before that: connection reset",
            ),
            (
                Error::from(OUTER),
                false,
                false,
                "gave up after 3 attempts because all attempts are used up",
            ),
        ] {
            let end = error.end();
            assert_eq!(
                (error.reason(), error.attempts()),
                (GiveUpReason::Attempts, 3)
            );
            assert_eq!(
                (error.retry_after(), error.is_timeout()),
                (end.retry_after(), end == LATE)
            );
            assert_eq!(error.to_string(), text);
            assert_eq!(error.last().is_some(), has_last);
            let alternate = if has_last {
                "connection reset"
            } else {
                "all attempts are used up"
            };
            assert_eq!(std::format!("{error:#}"), alternate);
            let message = if has_last { "connection reset" } else { text };
            assert_eq!(
                error.message().map(ToString::to_string).as_deref(),
                Some(message)
            );
            assert_eq!(error.classify(), Verdict::Transient);
            assert_eq!(error.has_code("connection"), is_its_own);
            assert_eq!(error.has_code("timeout"), end == LATE);
            assert!(error.source().is_none());
            let kind = error.into_error().kind();
            assert_eq!(kind == io::ErrorKind::ConnectionReset, is_its_own);
        }
        let refused = Error::with_earlier(LATE, io::ErrorKind::ConnectionRefused.into());
        assert_eq!(refused.classify(), Verdict::Transient);
        assert_eq!(
            refused.into_last().map(|it| it.kind()),
            Some(io::ErrorKind::ConnectionRefused)
        );
        let text = std::ffi::CString::new([0xFF]).ok();
        let caused = text.and_then(|text| text.into_string().err());
        let wraps = RetryError::new(OUTER, caused);
        assert!(wraps.source().is_some());
    }

    #[test]
    fn the_end_and_the_last_error_make_two_equal() {
        let error = RetryError::new(OUTER, Some(7));
        let kept = error
            .clone()
            .with_history(Duration::from_secs(1), std::vec![1, 2]);
        assert_eq!(error, kept);
        assert_eq!((error.total_time(), error.errors().count()), (None, 1));
        assert_eq!(kept.total_time(), Some(Duration::from_secs(1)));
        assert!(kept.errors().eq(&[1, 2, 7]));
        assert_ne!(error, RetryError::new(OUTER, Some(8)));
        assert_ne!(error, RetryError::new(INNER, Some(7)));
    }

    #[test]
    fn of_two_layers_the_end_of_the_outer_one_stays() {
        let with = |last: Option<RetryError<u8>>| RetryError::new(OUTER, last).flatten();
        for (flat, end, last, is_earlier) in [
            (
                with(Some(RetryError::new(INNER, Some(7)))),
                OUTER,
                Some(7),
                false,
            ),
            (
                with(Some(RetryError::with_earlier(INNER, 7))),
                OUTER,
                Some(7),
                true,
            ),
            (with(Some(INNER.into())), INNER.after(3), None, false),
            (with(None), OUTER, None, false),
        ] {
            assert_eq!((flat.end(), flat.last().copied()), (end, last));
            assert_eq!(flat.end().is_error_earlier(), is_earlier);
            assert_eq!(flat.total_time(), None);
        }
        let earlier = std::vec![RetryError::new(INNER, Some(1)), INNER.into()];
        let nested = RetryError::new(OUTER, Some(RetryError::new(INNER, Some(7))));
        let flat = nested
            .with_history(Duration::from_secs(2), earlier)
            .flatten();
        assert_eq!(flat.total_time(), Some(Duration::from_secs(2)));
        assert!(flat.errors().eq(&[1, 7]));
    }
}
