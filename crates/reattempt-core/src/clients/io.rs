//! The errors of the standard library.

use core::fmt;
use std::io;

use crate::tables;
use crate::verdict::{Classify, Verdict};

/// `std`: the kind decides. Lost connections, time-outs and interrupted calls are transient. If the connection was
/// refused or the host has no address, nothing ran. Other kinds are final. An error that was made of a
/// [`GaveUp`](crate::GaveUp) has the verdict of that.
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
