//! A response of a bad status, as an error that keeps the response.

use std::error::Error;
use std::fmt;

use http::{HeaderMap, StatusCode};

use super::Statuses;
use crate::codes::is_number;
use crate::verdict::{Classify, Verdict};

/// What has, or may have, the status of a response.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no status",
    note = "implement `reattempt::http::HasStatus` for it; `http::Response` has it, and the types of reqwest with the feature `reqwest`, or `reqwest012` for that release"
)]
pub trait HasStatus {
    /// The status; `None` where there was no response.
    fn status(&self) -> Option<StatusCode>;

    /// The headers; `None` where they are not kept.
    fn headers(&self) -> Option<&HeaderMap>;
}

/// Returns whether the response has the status that `code` says.
#[doc(hidden)]
pub fn has_status(response: &impl HasStatus, code: &str) -> bool {
    (response.status()).is_some_and(|status| is_number(status.as_u16(), code))
}

impl<B> HasStatus for http::Response<B> {
    fn status(&self) -> Option<StatusCode> {
        Some(self.status())
    }

    fn headers(&self) -> Option<&HeaderMap> {
        Some(self.headers())
    }
}

/// Turns a response of a bad status into an error that keeps it.
///
/// # Examples
///
/// ```
/// use reattempt::http::CheckStatus;
///
/// let response = http::Response::new("fine").check_status();
/// assert_eq!(response.expect("status 200").body(), &"fine");
/// ```
pub trait CheckStatus: HasStatus + Sized {
    /// The response, unless it is an error by [`Statuses::STANDARD`].
    ///
    /// # Errors
    ///
    /// [`BadStatus`] for the statuses from 400 to 599.
    fn check_status(self) -> Result<Self, BadStatus<Self>> {
        self.check_status_by(&Statuses::STANDARD)
    }

    /// The response, unless it is an error by `statuses`.
    ///
    /// # Errors
    ///
    /// [`BadStatus`] for the statuses from 400 to 599, and for those that `statuses`
    /// says are worth another attempt.
    fn check_status_by(self, statuses: &Statuses) -> Result<Self, BadStatus<Self>> {
        let Some(status) = self.status() else {
            return Ok(self);
        };
        let verdict = statuses.verdict_on(&self).unwrap_or(Verdict::Permanent);
        if verdict.is_retryable() || status.is_client_error() || status.is_server_error() {
            return Err(BadStatus {
                status,
                verdict,
                response: Box::new(self),
            });
        }
        Ok(self)
    }
}

impl<R: HasStatus> CheckStatus for R {}

/// A response of a bad status; made by [`CheckStatus::check_status`].
///
/// It is `Send` and `Sync` where the response is; the body of axum, for one, is not `Sync`, and a
/// boxed error then is `Box<dyn Error + Send>`.
///
/// Its verdict is that of the table it was checked by, with the delay of a `Retry-After` that was counted
/// when it was checked.
pub struct BadStatus<R> {
    status: StatusCode,
    verdict: Verdict,
    /// Boxed, so that a `Result` with it stays small.
    response: Box<R>,
}

impl<R> BadStatus<R> {
    /// Returns the status.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the response.
    pub const fn response(&self) -> &R {
        &self.response
    }

    /// Returns the response by value, for its body.
    pub fn into_response(self) -> R {
        *self.response
    }
}

impl<R: HasStatus> BadStatus<R> {
    /// Returns the headers of the response; `None` where its type does not keep them.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::http::CheckStatus;
    ///
    /// let response = http::Response::builder().status(403).header("x-reason", "expired").body(())?;
    /// let bad = response.check_status().unwrap_err();
    /// assert_eq!(bad.headers().unwrap()["x-reason"], "expired");
    /// # Ok::<(), http::Error>(())
    /// ```
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.response.headers()
    }
}

impl<R: HasStatus> HasStatus for BadStatus<R> {
    fn status(&self) -> Option<StatusCode> {
        Some(self.status)
    }

    fn headers(&self) -> Option<&HeaderMap> {
        self.headers()
    }
}

#[diagnostic::do_not_recommend]
impl<R> Classify for BadStatus<R> {
    fn classify(&self) -> Verdict {
        self.verdict
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        is_number(self.status.as_u16(), code)
    }
}

impl<R> fmt::Debug for BadStatus<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BadStatus")
            .field("status", &self.status)
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}

impl<R> fmt::Display for BadStatus<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the service answered {}", self.status)
    }
}

impl<R> Error for BadStatus<R> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// No response, and so no status.
    struct Nothing;

    impl HasStatus for Nothing {
        fn status(&self) -> Option<StatusCode> {
            None
        }

        fn headers(&self) -> Option<&HeaderMap> {
            None
        }
    }

    #[test]
    fn a_bad_status_keeps_its_response() {
        let response = http::Response::builder()
            .status(429)
            .header("retry-after", "7");
        let response = response.body("slow down").expect("a response");
        assert_eq!(
            HasStatus::status(&response),
            Some(StatusCode::TOO_MANY_REQUESTS)
        );
        let bad = response.check_status().expect_err("it is bad");
        assert_eq!(bad.response().body(), &"slow down");
        for headers in [
            bad.headers(),
            HasStatus::headers(&bad),
            HasStatus::headers(bad.response()),
        ] {
            assert_eq!(headers.expect("they are kept")["retry-after"], "7");
        }
        assert_eq!(bad.into_response().into_body(), "slow down");
        assert!(Nothing.check_status().is_ok());
        // By a table that has another opinion.
        let found = http::Response::builder()
            .status(302)
            .body(())
            .expect("a response");
        let bad = found
            .check_status_by(&Statuses::NONE.refused(302))
            .expect_err("it is bad");
        assert_eq!(bad.classify(), Verdict::Refused);
    }

    #[test]
    fn a_bad_status_is_an_error_that_has_it_as_its_code() {
        for (number, is_bad) in [
            (200, false),
            (302, false),
            (399, false),
            (400, true),
            (404, true),
            (503, true),
            (599, true),
            (600, false),
        ] {
            let mut response = http::Response::new(());
            *response.status_mut() = StatusCode::from_u16(number).unwrap_or_default();
            let error = response.check_status().err();
            assert_eq!(error.is_some(), is_bad, "{number}");
            if let Some(error) = error {
                assert!(error.has_code(&number.to_string()));
                assert_eq!(error.status().as_u16(), number);
                assert_eq!(HasStatus::status(&error), Some(error.status()));
                assert!(has_status(&error, &number.to_string()) && !has_status(&error, "418"));
                let text = format!("the service answered {}", error.status());
                assert_eq!(error.message().map(ToString::to_string), Some(text));
                assert!(!error.has_code("418"));
                assert_eq!(error.classify().is_retryable(), number == 503, "{number}");
            }
        }
    }
}
