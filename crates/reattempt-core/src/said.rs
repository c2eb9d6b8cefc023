//! The text of errors of others, also where their `Display` fails.

use core::fmt::{self, Write as _};

/// Returns what could be written: `to_string` panics where a `Display` fails, as that of a date with a wrong format does.
pub(crate) fn said(what: &(impl fmt::Display + ?Sized)) -> String {
    let mut text = String::new();
    let _as_far = write!(text, "{what}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_written_is_there() {
        struct Fails;

        impl fmt::Display for Fails {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("so far")?;
                Err(fmt::Error)
            }
        }

        assert_eq!((&*said(&7), &*said(&Fails)), ("7", "so far"));
    }
}
