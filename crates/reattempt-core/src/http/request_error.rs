//! The ways in which a call with requests fails, as one error.

use std::error::Error;
use std::fmt;

use http::{HeaderMap, StatusCode};

use super::{BadStatus, HasStatus};
use crate::failure::GaveUp;
use crate::retry_error::RetryError;
use crate::verdict::{Classify, Verdict};

/// A failed request: there was no response, or one with a bad status, or a limit ended the call.
///
/// `?` makes it from the errors of the clients whose features are on, from [`BadStatus`], and from a
/// [`RetryError`] of it; of other errors with `map_err(RequestError::Transport)`. Every limit can end a
/// call with it: `deadline`, `timeout`, `breaker`, `bulkhead` and `throttle`. With `reqwest`:
///
/// ```ignore
/// use reattempt::{http::CheckStatus, retry};
/// use reqwest::Client;
///
/// type RequestError = reattempt::http::RequestError<reqwest::Error, reqwest::Response>;
///
/// #[retry(max = 5, timeout = "2s")]
/// async fn page(client: &Client, url: &str) -> Result<String, RequestError> {
///     Ok(client.get(url).send().await?.check_status()?.text().await?)
/// }
/// ```
#[non_exhaustive]
pub enum RequestError<E, R> {
    /// There was no response, or it broke off.
    Transport(E),
    /// The response has a bad status.
    Status(BadStatus<R>),
    /// A limit ended the call before an attempt had an error.
    GaveUp(GaveUp),
}

impl<E, R> RequestError<E, R> {
    /// Returns whether a limit ended the call because time ran out. It does not look into the error of a
    /// client, which may have a time-out of its own.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{GaveUp, GiveUpReason, http::RequestError};
    ///
    /// type Error = RequestError<std::io::Error, http::Response<()>>;
    ///
    /// let error = Error::from(GaveUp::new(GiveUpReason::Deadline, 2));
    /// assert!(error.is_timeout());
    /// assert_eq!(error.end().unwrap().attempts(), 2);
    /// ```
    pub const fn is_timeout(&self) -> bool {
        match self {
            Self::GaveUp(end) => end.is_timeout(),
            Self::Transport(_) | Self::Status(_) => false,
        }
    }

    /// Returns how a limit ended the call; `None` where an attempt had an error, which this then is.
    pub const fn end(&self) -> Option<GaveUp> {
        match self {
            Self::GaveUp(end) => Some(*end),
            Self::Transport(_) | Self::Status(_) => None,
        }
    }
}

impl<E, R> From<GaveUp> for RequestError<E, R> {
    fn from(end: GaveUp) -> Self {
        Self::GaveUp(end)
    }
}

/// The last error, or how the call ended: for `?` in a call around the one that was given up.
impl<E, R> From<RetryError<Self>> for RequestError<E, R> {
    fn from(error: RetryError<Self>) -> Self {
        error.into_error()
    }
}

impl<E, R> From<BadStatus<R>> for RequestError<E, R> {
    fn from(bad: BadStatus<R>) -> Self {
        Self::Status(bad)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Classify, R> Classify for RequestError<E, R> {
    fn classify(&self) -> Verdict {
        match self {
            Self::Transport(error) => error.classify(),
            Self::Status(bad) => bad.classify(),
            Self::GaveUp(end) => end.classify(),
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        match self {
            Self::Transport(error) => error.message(),
            Self::Status(bad) => bad.message(),
            Self::GaveUp(end) => end.message(),
        }
    }

    fn has_code(&self, code: &str) -> bool {
        match self {
            Self::Transport(error) => error.has_code(code),
            Self::Status(bad) => bad.has_code(code),
            Self::GaveUp(end) => end.has_code(code),
        }
    }
}

impl<E, R: HasStatus> HasStatus for RequestError<E, R> {
    fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Status(bad) => Some(bad.status()),
            Self::Transport(_) | Self::GaveUp(_) => None,
        }
    }

    fn headers(&self) -> Option<&HeaderMap> {
        match self {
            Self::Status(bad) => bad.headers(),
            Self::Transport(_) | Self::GaveUp(_) => None,
        }
    }
}

impl<E: fmt::Debug, R> fmt::Debug for RequestError<E, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => f.debug_tuple("Transport").field(error).finish(),
            Self::Status(bad) => f.debug_tuple("Status").field(bad).finish(),
            Self::GaveUp(end) => f.debug_tuple("GaveUp").field(end).finish(),
        }
    }
}

impl<E: fmt::Display, R> fmt::Display for RequestError<E, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::Status(bad) => bad.fmt(f),
            Self::GaveUp(end) => end.fmt(f),
        }
    }
}

impl<E: Error + 'static, R> Error for RequestError<E, R> {
    /// The cause of the error; the error itself is the message.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Transport(error) => error.source(),
            Self::Status(_) | Self::GaveUp(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::GiveUpReason;

    use super::super::{CheckStatus as _, FollowsRedirects};

    type Error = RequestError<Unredirected, http::Response<()>>;

    /// A connection that was refused, behind a redirect or not.
    #[derive(Debug)]
    struct Unredirected(std::io::Error);

    impl fmt::Display for Unredirected {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("no answer")
        }
    }

    impl std::error::Error for Unredirected {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    impl Classify for Unredirected {
        fn classify(&self) -> Verdict {
            self.0.classify().into_ambiguous()
        }

        fn message(&self) -> Option<&dyn fmt::Display> {
            Some(self)
        }

        fn has_code(&self, code: &str) -> bool {
            self.0.has_code(code)
        }
    }

    impl FollowsRedirects for Unredirected {
        fn classify_unredirected(&self) -> Verdict {
            self.0.classify()
        }
    }

    fn refused() -> Error {
        Error::Transport(Unredirected(std::io::ErrorKind::ConnectionRefused.into()))
    }

    fn bad() -> Error {
        let response = http::Response::builder()
            .status(503)
            .header("x-reason", "full");
        let response = response.body(()).expect("a response");
        response.check_status().expect_err("it is bad").into()
    }

    /// Each kind of error: its status and a header, a code, its text, its verdict, and whether it has a source.
    #[test]
    fn an_error_says_what_it_holds() {
        use std::error::Error as _;

        let late = || Error::from(GaveUp::new(GiveUpReason::Attempts, 2).timed_out());
        let text = late().to_string();
        let unavailable = Some(StatusCode::SERVICE_UNAVAILABLE);
        for (error, status, code, text, unredirected) in [
            (refused(), None, "connection", "no answer", Verdict::Refused),
            (
                bad(),
                unavailable,
                "503",
                "the service answered 503 Service Unavailable",
                Verdict::Transient,
            ),
            (late(), None, "timeout", &*text, Verdict::Transient),
        ] {
            assert_eq!(error.status(), status);
            assert_eq!(
                error
                    .headers()
                    .is_some_and(|it| it.contains_key("x-reason")),
                status.is_some()
            );
            assert_eq!(error.headers().is_some(), status.is_some());
            assert_eq!(
                (error.to_string(), error.message().map(ToString::to_string)),
                (text.to_owned(), Some(text.to_owned()))
            );
            assert_eq!(
                (error.classify(), error.classify_unredirected()),
                (Verdict::Transient, unredirected)
            );
            assert_eq!(error.source().is_some(), code == "connection");
            for other in ["connection", "503", "timeout"] {
                assert_eq!(error.has_code(other), code == other, "{error:?} {other}");
            }
        }
    }

    #[test]
    fn the_last_error_of_a_call_is_that_of_the_request() {
        let end = GaveUp::new(GiveUpReason::Attempts, 2);
        let last = Error::from(RetryError::new(end, Some(bad())));
        assert_eq!((last.status().is_some(), last.end()), (true, None));
        assert_eq!(Error::from(RetryError::new(end, None)).end(), Some(end));
    }

    #[test]
    fn only_a_limit_ends_a_call_without_an_error() {
        let of = |reason| Error::from(GaveUp::new(reason, 2));
        let late = of(GiveUpReason::Deadline);
        assert_eq!(late.end(), Some(GaveUp::new(GiveUpReason::Deadline, 2)));
        assert!(late.is_timeout() && !of(GiveUpReason::Budget).is_timeout());
        for error in [refused(), bad()] {
            assert_eq!((error.end(), error.is_timeout()), (None, false));
        }
    }
}
