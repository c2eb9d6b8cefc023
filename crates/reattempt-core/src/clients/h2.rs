//! What the errors of HTTP/2 mean.

use core::fmt;

use h2::Reason;

use super::chain::of_standing;
use crate::verdict::{Classify, Verdict};

/// h2 0.4: a refused stream, or one that the server did not accept before it went away, certainly did
/// not run. A stream that was reset, or broke with its connection, may have run.
#[diagnostic::do_not_recommend]
impl Classify for h2::Error {
    fn classify(&self) -> Verdict {
        match self.reason() {
            Some(Reason::REFUSED_STREAM) => Verdict::Refused,
            Some(Reason::HTTP_1_1_REQUIRED | Reason::INADEQUATE_SECURITY) => Verdict::Permanent,
            // Of the streams of a connection h2 says so to those above the last that the server names.
            Some(_) if self.is_go_away() && self.is_remote() => Verdict::Refused,
            // This side gave it up: it was cancelled, or its request could not be written.
            Some(_) if self.is_reset() && !self.is_remote() && !self.is_library() => {
                Verdict::Permanent
            }
            Some(_) => Verdict::Transient,
            None => match self.get_io() {
                Some(error) => of_standing(error),
                // Used in a way that cannot work.
                None => Verdict::Permanent,
            },
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}
