//! What the errors of reqwest-middleware mean.

use core::fmt;

use http::{HeaderMap, StatusCode};

use super::chain::in_chain;
use crate::failure::GaveUp;
use crate::http::{FollowsRedirects, HasStatus, RequestError, has_status};
use crate::verdict::{Classify, Verdict};

macro_rules! reqwest_middleware {
    ($middleware:ident, $version:literal) => {
        #[doc = concat!("reqwest-middleware ", $version, ": ")]
        /// an error of reqwest decides. An error of other middleware is final, unless its cause is a broken
        /// connection; then the operation may have run.
        #[diagnostic::do_not_recommend]
        impl Classify for $middleware::Error {
            fn classify(&self) -> Verdict {
                match self {
                    Self::Reqwest(error) => error.classify(),
                    Self::Middleware(error) => match error.downcast_ref::<GaveUp>() {
                        Some(end) => end.classify(),
                        None => in_chain(error.as_ref())
                            .map_or(Verdict::Permanent, Verdict::into_ambiguous),
                    },
                }
            }

            fn message(&self) -> Option<&dyn fmt::Display> {
                Some(self)
            }

            fn has_code(&self, code: &str) -> bool {
                match self {
                    Self::Reqwest(error) => error.has_code(code),
                    Self::Middleware(_) => has_status(self, code),
                }
            }
        }

        #[diagnostic::do_not_recommend]
        impl FollowsRedirects for $middleware::Error {
            fn classify_unredirected(&self) -> Verdict {
                match self {
                    Self::Reqwest(error) => error.classify_unredirected(),
                    Self::Middleware(_) => self.classify(),
                }
            }
        }

        impl HasStatus for $middleware::Error {
            fn status(&self) -> Option<StatusCode> {
                self.status()
            }

            fn headers(&self) -> Option<&HeaderMap> {
                None
            }
        }

        impl<R> From<$middleware::Error> for RequestError<$middleware::Error, R> {
            fn from(error: $middleware::Error) -> Self {
                Self::Transport(error)
            }
        }
    };
}

#[cfg(feature = "reqwest-middleware04")]
reqwest_middleware!(reqwest_middleware04, "0.4");
#[cfg(feature = "reqwest-middleware05")]
reqwest_middleware!(reqwest_middleware05, "0.5");
