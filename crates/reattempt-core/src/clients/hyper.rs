//! What the errors of hyper, and of the client of hyper-util, mean.

use core::fmt;

use std::error::Error;

use hyper_util::client::legacy;

use super::chain::{in_chain, is_late, of_connecting};
use crate::codes::without_answer;
use crate::http::RequestError;
use crate::said::said;
use crate::verdict::{Classify, Verdict};

/// Whether `error` comes from a connection that did not come about.
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
pub(super) fn is_connecting(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<legacy::Error>()
        .is_some_and(legacy::Error::is_connect)
}

/// hyper 1: the cause of the failure decides. A request that was cancelled before it was sent did not run.
#[diagnostic::do_not_recommend]
impl Classify for hyper1::Error {
    fn classify(&self) -> Verdict {
        let cause = self.source();
        // It calls an upgrade cancelled, too, to which the server has agreed.
        if self.is_canceled() && cause.is_some_and(|cause| said(cause) == UPGRADE) {
            return Verdict::Transient;
        }
        // Else it cancels what it has not begun to send; a channel is closed before the request goes into it.
        if self.is_canceled() || self.is_closed() {
            return Verdict::Refused;
        }
        // What is not HTTP will not be so the next time.
        if self.is_user() || self.is_parse() {
            return Verdict::Permanent;
        }
        // Everything else happens to a connection that stood.
        cause.and_then(in_chain).unwrap_or(Verdict::Transient)
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        without_answer(code, self.is_timeout(), self)
    }
}

/// What hyper says of itself there; the type is private.
const UPGRADE: &str = "upgrade expected but not completed";

/// hyper-util 0.1, the legacy client: without a connection nothing ran; else as the error of hyper.
#[diagnostic::do_not_recommend]
impl Classify for legacy::Error {
    fn classify(&self) -> Verdict {
        if self.is_connect() {
            return of_connecting(self);
        }
        // Without a source: a request that cannot be sent.
        self.source()
            .and_then(in_chain)
            .unwrap_or(Verdict::Permanent)
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        without_answer(code, is_late(self), self)
    }
}

impl<R> From<hyper1::Error> for RequestError<hyper1::Error, R> {
    fn from(error: hyper1::Error) -> Self {
        Self::Transport(error)
    }
}

impl<R> From<legacy::Error> for RequestError<legacy::Error, R> {
    fn from(error: legacy::Error) -> Self {
        Self::Transport(error)
    }
}
