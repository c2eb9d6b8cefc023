//! What the errors of tokio mean.

use core::fmt;

use crate::verdict::{Classify, Verdict};

/// tokio 1, `tokio::time::timeout`: the dropped operation may have run.
#[diagnostic::do_not_recommend]
impl Classify for tokio::time::error::Elapsed {
    fn classify(&self) -> Verdict {
        Verdict::Transient
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }

    fn has_code(&self, code: &str) -> bool {
        code == "timeout"
    }
}
