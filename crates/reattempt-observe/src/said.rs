//! What errors of others say of themselves, also where they cannot.

use core::fmt::{self, Write as _};

/// As far as it could be written: `to_string` panics where a `Display` fails, as that of a date with a wrong format does.
pub fn said(what: &(impl fmt::Display + ?Sized)) -> String {
    written(format_args!("{what}"))
}

/// Returns the same of its `Debug`.
pub fn shown(what: &(impl fmt::Debug + ?Sized)) -> String {
    written(format_args!("{what:?}"))
}

fn written(what: fmt::Arguments<'_>) -> String {
    let mut text = String::new();
    let _as_far = text.write_fmt(what);
    text
}
