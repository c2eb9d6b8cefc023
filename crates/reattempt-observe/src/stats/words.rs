//! Numbers for people, and texts that cannot harm a terminal or a page.

use core::fmt;
use std::time::Duration;

use reattempt_policy::duration::Human;

/// Returns a duration as exactly as a person wants to know it: three digits below a minute, seconds
/// from there on.
pub(super) fn rounded(duration: Duration) -> Human {
    let nanos = duration.subsec_nanos();
    let cut = |unit: u32| nanos.saturating_sub(nanos.checked_rem(unit).unwrap_or(0));
    let nanos = match (duration.as_secs(), nanos) {
        (60.., _) => 0,
        (10.., _) => cut(100_000_000),
        (1.., _) => cut(10_000_000),
        (0, 1_000_000..) => cut(1_000_000),
        (0, 1_000..) => cut(1_000),
        (0, _) => nanos,
    };
    Human(Duration::new(duration.as_secs(), nanos))
}

/// Returns whether a character only stands for itself: no control character, and none that turns
/// the text around it or hides in it.
pub(super) fn is_harmless(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// A text on one line, cut off after so many characters.
pub(super) struct OneLine<'a>(pub(super) &'a str, pub(super) usize);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;

        let mut left = self.1;
        for c in self.0.chars() {
            if left == 0 {
                return f.write_str("...");
            }
            left = left.saturating_sub(1);
            match c {
                '\n' | '\t' => f.write_char(' ')?,
                c if is_harmless(c) => f.write_char(c)?,
                _ => f.write_char(char::REPLACEMENT_CHARACTER)?,
            }
        }
        Ok(())
    }
}
