//! The errors of the standard library.

use core::fmt;
use std::io;

use crate::tables;
use crate::verdict::{Classify, Verdict};

/// Answers as the [`GaveUp`](crate::GaveUp) does that the error was made of, else by the kind. What a lost connection or an
/// interrupted call can cause is transient. Where the connection was refused or the host has no address, nothing was
/// executed. Everything else is final.
#[diagnostic::do_not_recommend]
impl Classify for io::Error {
    fn classify(&self) -> Verdict {
        if let Some(end) = super::gave_up::gave_up(self) {
            return end.classify();
        }
        match tables::io(self.kind()) {
            Verdict::Permanent if is_unknown_host(self) => Verdict::Refused,
            verdict => verdict,
        }
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}

/// The standard library has no kind for it, but says so on every Unix.
fn is_unknown_host(error: &io::Error) -> bool {
    let text = error.to_string();
    text.contains("failed to lookup address information")
}
