//! The text of errors of others, also where their `Display` fails.

use core::fmt::{self, Write as _};

/// Returns what could be written: `to_string` panics where a `Display` fails, as that of a date with a wrong format does.
pub(crate) fn said(what: &(impl fmt::Display + ?Sized)) -> String {
    let mut text = String::new();
    let _as_far = write!(text, "{what}");
    text
}
