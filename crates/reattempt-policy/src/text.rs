//! A short text that can be put together while a constant is evaluated, so that a compile error can carry the numbers of
//! the policy it is about.
#![warn(clippy::arithmetic_side_effects)]

use core::fmt;
use core::time::Duration;

/// Bytes of a [`Text`].
pub const CAPACITY: usize = 320;

/// At most 320 bytes; what does not fit is cut off.
pub type Text = Letters<CAPACITY>;

/// At most `MOST` bytes.
#[derive(Clone, Copy)]
pub struct Letters<const MOST: usize> {
    bytes: [u8; MOST],
    length: usize,
}

impl<const MOST: usize> Letters<MOST> {
    /// Returns an empty text.
    pub const fn new() -> Self {
        Self {
            bytes: [0; MOST],
            length: 0,
        }
    }

    /// Returns what was appended so far.
    pub const fn as_str(&self) -> &str {
        let Some((used, _)) = self.bytes.split_at_checked(self.length) else {
            return "";
        };
        match core::str::from_utf8(used) {
            Ok(text) => text,
            Err(_) => "", // only whole `str`s go in
        }
    }

    /// Appends `text`, or nothing when it does not fit.
    #[expect(clippy::indexing_slicing, reason = "both lengths are compared before")]
    #[expect(clippy::arithmetic_side_effects, reason = "bounded by the capacity")]
    #[must_use]
    pub const fn push(mut self, text: &str) -> Self {
        let from = text.as_bytes();
        if from.len() <= MOST - self.length {
            let mut i = 0;
            while i < from.len() {
                self.bytes[self.length + i] = from[i];
                i += 1;
            }
            self.length += from.len();
        }
        self
    }

    /// Appends a name in backticks.
    #[must_use]
    pub const fn key(self, name: &str) -> Self {
        self.push("`").push(name).push("`")
    }

    /// Appends a number.
    #[expect(clippy::indexing_slicing, reason = "a digit is below ten")]
    #[must_use]
    pub const fn number(self, value: u64) -> Self {
        let this = if value >= 10 {
            self.number(value / 10)
        } else {
            self
        };
        this.push(DIGITS[(value % 10) as usize])
    }

    /// Appends a number with up to three decimals, rounded.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates; a message needs no more"
    )]
    #[must_use]
    pub const fn float(self, value: f64) -> Self {
        if value.is_nan() {
            return self.push("NaN");
        }
        let this = if value < 0.0 { self.push("-") } else { self };
        if value.is_infinite() {
            return this.push("infinity");
        }
        this.thousandths((value.abs() * 1000.0 + 0.5) as u64)
    }

    /// Appends a number of thousandths: 1500 is "1.5".
    const fn thousandths(self, value: u64) -> Self {
        let this = self.number(value / 1000);
        let rest = value % 1000;
        if rest == 0 {
            return this;
        }
        let this = this.push(".").number(rest / 100);
        if rest.is_multiple_of(100) {
            return this;
        }
        let this = this.number(rest / 10 % 10);
        if rest.is_multiple_of(10) {
            return this;
        }
        this.number(rest % 10)
    }

    /// Appends a duration; `gap` stands between a number and its unit.
    #[must_use]
    pub const fn duration(self, duration: Duration, gap: &str) -> Self {
        let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos() as u64);
        match (seconds, nanos) {
            (0, 0) => self.push("0").push(gap).push("s"),
            (0, 0..1_000) => self.number(nanos).push(gap).push("ns"),
            (0, 1_000..1_000_000) => self.thousandths(nanos).push(gap).push("us"),
            (0, _) => self.thousandths(nanos / 1_000).push(gap).push("ms"),
            (1..60, _) => self.seconds(seconds, nanos).push(gap).push("s"),
            (u64::MAX, _) => self.push("an endless time"),
            _ => self.clock(seconds, nanos, gap),
        }
    }

    const fn seconds(self, whole: u64, nanos: u64) -> Self {
        self.thousandths(whole.saturating_mul(1000).saturating_add(nanos / 1_000_000))
    }

    /// From a minute on: hours, minutes, seconds.
    const fn clock(mut self, seconds: u64, nanos: u64, gap: &str) -> Self {
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let start = self.length;
        if hours > 0 {
            self = self.number(hours).push(gap).push("h");
        }
        if minutes > 0 {
            let separate = if self.length > start { " " } else { "" };
            self = self.push(separate).number(minutes).push(gap).push("m");
        }
        if rest > 0 || nanos >= 1_000_000 {
            let separate = if self.length > start { " " } else { "" };
            self = self.push(separate).seconds(rest, nanos).push(gap).push("s");
        }
        self
    }
}

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl<const MOST: usize> Default for Letters<MOST> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const MOST: usize> fmt::Debug for Letters<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const MOST: usize> PartialEq for Letters<MOST> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl<const MOST: usize> Eq for Letters<MOST> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (value, text) in [
            (0.2, "0.2"),
            (1.5, "1.5"),
            (-0.25, "-0.25"),
            (2.0, "2"),
            (0.001, "0.001"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-infinity"),
        ] {
            assert_eq!(Text::new().float(value).as_str(), text);
        }
        assert_eq!(Text::new().number(u64::MAX).as_str(), u64::MAX.to_string());
    }

    #[test]
    fn what_does_not_fit_is_left_out_whole() {
        let long = "0123456789".repeat(32);
        let full = Text::new().push(&long).push("more");
        assert_eq!(full.as_str(), long);
    }
}
