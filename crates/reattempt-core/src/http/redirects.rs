//! What an error proves whose client may have followed redirects.

use super::RequestError;
use crate::verdict::{Classify, Verdict};

/// The error of a client that follows redirects by itself, such as reqwest and ureq do unless their
/// settings forbid it.
///
/// Such an error is about the last request, and does not say whether there was one before, which
/// the service has executed. So [`Classify`] takes a refused connection for no proof that nothing
/// ran: [`Verdict::Transient`] instead of [`Verdict::Refused`].
///
/// # Examples
///
/// A client that is built with `redirect::Policy::none()` keeps the proof, and an operation that
/// must not run twice is then retried where no connection came about:
///
/// ```ignore
/// use reattempt::{http::FollowsRedirects as _, retry};
///
/// #[retry(idempotent = false, on = |error: &reqwest::Error| error.classify_unredirected())]
/// async fn pay(client: &reqwest::Client, url: &str) -> Result<reqwest::Response, reqwest::Error> {
///     client.post(url).send().await
/// }
/// ```
pub trait FollowsRedirects: Classify {
    /// Returns the verdict on this error if no redirect was followed.
    fn classify_unredirected(&self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<E: FollowsRedirects, R> FollowsRedirects for RequestError<E, R> {
    fn classify_unredirected(&self) -> Verdict {
        match self {
            Self::Transport(error) => error.classify_unredirected(),
            Self::Status(_) | Self::GaveUp(_) => self.classify(),
        }
    }
}

/// Returns the verdict where a redirect may have been followed: what was refused need not be the first request. What a
/// limit of a call inside has decided stays.
#[cfg(any(feature = "reqwest012", feature = "reqwest013", feature = "ureq3"))]
pub(crate) fn unproved(error: &(impl core::error::Error + 'static), verdict: Verdict) -> Verdict {
    if verdict == crate::chained::verdict::<(), _, _>(error) {
        return verdict;
    }
    verdict.into_ambiguous()
}
