//! What the errors of reqwest mean, and what its requests and responses tell.

use core::fmt;

use std::error::Error;

use http::{HeaderMap, Method, StatusCode};

#[cfg(not(target_os = "unknown"))]
use super::chain::{in_chain, of_connecting};
#[cfg(not(target_os = "unknown"))]
use super::hyper::is_connecting;
use crate::codes::{is_number, without_answer};
use crate::http::{FollowsRedirects, HasMethod, HasStatus, RequestError, Statuses, unproved};
#[cfg(target_os = "unknown")]
use crate::said::said;
use crate::verdict::{Classify, Verdict};

macro_rules! reqwest {
    ($reqwest:ident, $version:literal) => {
        #[doc = concat!("reqwest ", $version, ": ")]
        /// the status of `error_for_status` decides, by [`Statuses::STANDARD`]; without one the cause of the failure does.
        /// It never proves that nothing ran, because a redirect may have been followed: see [`FollowsRedirects`].
        #[diagnostic::do_not_recommend]
        impl Classify for $reqwest::Error {
            fn classify(&self) -> Verdict {
                let verdict = self.classify_unredirected();
                match self.status() {
                    Some(_) => verdict,
                    // Its URL is no help: it is that of the first request, also behind a redirect.
                    None => unproved(self, verdict),
                }
            }

            fn message(&self) -> Option<&dyn fmt::Display> {
                Some(self)
            }

            fn has_code(&self, code: &str) -> bool {
                match self.status() {
                    Some(status) => is_number(status.as_u16(), code),
                    None => without_answer(code, self.is_timeout(), self),
                }
            }
        }

        #[diagnostic::do_not_recommend]
        impl FollowsRedirects for $reqwest::Error {
            fn classify_unredirected(&self) -> Verdict {
                if let Some(status) = self.status() {
                    return Statuses::STANDARD.of(status.as_u16());
                }
                if self.is_builder() || self.is_redirect() || self.is_upgrade() {
                    return Verdict::Permanent;
                }
                of(self.source(), self.is_timeout())
            }
        }

        impl HasStatus for $reqwest::Error {
            fn status(&self) -> Option<StatusCode> {
                self.status()
            }

            fn headers(&self) -> Option<&HeaderMap> {
                None
            }
        }

        impl HasMethod for $reqwest::Request {
            fn method(&self) -> &Method {
                self.method()
            }

            fn headers(&self) -> &HeaderMap {
                self.headers()
            }
        }

        impl<R> From<$reqwest::Error> for RequestError<$reqwest::Error, R> {
            fn from(error: $reqwest::Error) -> Self {
                Self::Transport(error)
            }
        }
    };
}

macro_rules! response {
    ($response:path) => {
        impl HasStatus for $response {
            fn status(&self) -> Option<StatusCode> {
                Some(self.status())
            }

            fn headers(&self) -> Option<&HeaderMap> {
                Some(self.headers())
            }
        }
    };
}

#[cfg(feature = "reqwest012")]
reqwest!(reqwest012, "0.12");
#[cfg(feature = "reqwest012")]
response!(reqwest012::Response);
#[cfg(feature = "reqwest012-blocking")]
response!(reqwest012::blocking::Response);
#[cfg(feature = "reqwest013")]
reqwest!(reqwest013, "0.13");
#[cfg(feature = "reqwest013")]
response!(reqwest013::Response);
#[cfg(feature = "reqwest013-blocking")]
response!(reqwest013::blocking::Response);

/// What broke, by the sources of an error.
#[cfg(not(target_os = "unknown"))]
fn of(source: Option<&(dyn Error + 'static)>, is_timeout: bool) -> Verdict {
    let mut next = source;
    while let Some(error) = next {
        if is_connecting(error) {
            return of_connecting(error);
        }
        next = error.source();
    }
    if is_timeout {
        return Verdict::Transient;
    }
    // A body that arrived and is not what was expected has other sources.
    source.and_then(in_chain).unwrap_or(Verdict::Permanent)
}

/// What `fetch` of JavaScript said, which is text; a script does not learn why a request failed. A body that arrived and is not
/// what was expected has another source.
#[cfg(target_os = "unknown")]
fn of(source: Option<&(dyn Error + 'static)>, is_timeout: bool) -> Verdict {
    let is_of_fetch = source.is_some_and(|source| said(source).starts_with("JsValue("));
    if is_timeout || is_of_fetch {
        Verdict::Transient
    } else {
        Verdict::Permanent
    }
}
