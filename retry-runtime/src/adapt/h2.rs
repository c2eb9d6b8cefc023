//! What the errors of HTTP/2 mean.

use crate::verdict::{Classify, Verdict};

impl Classify for h2::Error {
    /// A stream that was refused was certainly not executed; of one that was reset, or went down
    /// with its connection, nobody knows.
    fn classify(&self) -> Verdict {
        use h2::Reason;

        match self.reason() {
            Some(Reason::REFUSED_STREAM) => Verdict::Refused,
            Some(Reason::HTTP_1_1_REQUIRED | Reason::INADEQUATE_SECURITY) => Verdict::Permanent,
            Some(_) => Verdict::Transient,
            None => match self.get_io() {
                Some(error) => error.classify(),
                // Used in a way that cannot work.
                None => Verdict::Permanent,
            },
        }
    }
}
