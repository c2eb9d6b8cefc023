//! The two ways in which a request fails, as one error.

use std::error::Error;
use std::fmt;

use http::{HeaderMap, StatusCode};

use super::{BadStatus, HasStatus};
use crate::verdict::{Classify, Verdict};

/// A failed request: there was no response, or one with a bad status.
///
/// `?` makes it from the errors of the clients whose features are on, and from [`BadStatus`]; of
/// others with `map_err(RequestError::Transport)`. With `reqwest`:
///
/// ```ignore
/// use reattempt::{http::CheckStatus, retry};
/// use reqwest::Client;
///
/// type RequestError = reattempt::http::RequestError<reqwest::Error, reqwest::Response>;
///
/// #[retry(max = 5)]
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
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        match self {
            Self::Transport(error) => error.message(),
            Self::Status(bad) => bad.message(),
        }
    }
}

impl<E, R: HasStatus> HasStatus for RequestError<E, R> {
    fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Transport(_) => None,
            Self::Status(bad) => Some(bad.status()),
        }
    }

    fn headers(&self) -> Option<&HeaderMap> {
        match self {
            Self::Transport(_) => None,
            Self::Status(bad) => bad.response().headers(),
        }
    }
}

impl<E: fmt::Debug, R> fmt::Debug for RequestError<E, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => f.debug_tuple("Transport").field(error).finish(),
            Self::Status(bad) => f.debug_tuple("Status").field(bad).finish(),
        }
    }
}

impl<E: fmt::Display, R> fmt::Display for RequestError<E, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::Status(bad) => bad.fmt(f),
        }
    }
}

impl<E: Error + 'static, R> Error for RequestError<E, R> {
    /// The cause of the error; the error itself is the message.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Transport(error) => error.source(),
            Self::Status(_) => None,
        }
    }
}
