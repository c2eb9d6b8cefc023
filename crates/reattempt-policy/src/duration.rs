//! Durations as strings (`"250ms"`, `"1m 30s"`), as attributes, configuration files and messages write
//! them.
#![warn(clippy::arithmetic_side_effects)]

use core::fmt;
use core::time::Duration;

use crate::text::Text;

const NANOS_PER_SEC: f64 = 1e9;

/// The longest duration that a policy may name: 24 hours.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a text is not a duration; its `Display` names the fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseDurationError {
    /// Nothing stands there.
    Empty,
    /// A number without a unit.
    NoUnit,
    /// A minus sign.
    Negative,
    /// A unit that is none of ours.
    UnknownUnit,
    /// Anything else that is not a number followed by a unit.
    NotANumber,
    /// A unit that is not smaller than the one before it.
    Order,
    /// More than [`LONGEST`].
    TooLong,
}

impl fmt::Display for ParseDurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "this duration is empty; write a number and a unit, such as `\"250ms\"`",
            Self::NoUnit => {
                "a duration needs a unit; write `\"250ms\"`, `\"1.5s\"`, `\"2m\"` or `\"1h\"`"
            }
            Self::Negative => "a duration must not be negative; drop the minus sign",
            Self::UnknownUnit => {
                "a duration's unit must be one of `ns`, `us`, `ms`, `s`, `m`, `h`; write `\"250ms\"`"
            }
            Self::NotANumber => {
                "a duration must be a number and a unit, or several such pairs; write `\"250ms\"` or `\"1m 30s\"`"
            }
            Self::Order => {
                "each unit of a duration must appear only once, the largest first; write `\"1m 30s\"`"
            }
            Self::TooLong => "a duration in a policy must be at most 24 hours; lower it to `\"24h\"`",
        })
    }
}

impl core::error::Error for ParseDurationError {}

/// Reads a duration such as `"250ms"`, `"1.5s"`, `"2m"` or `"1m 30s"`.
///
/// # Units and ranges
///
/// `ns`, `us` (or `µs`), `ms`, `s`, `m`, `h`; parts are added up; fractions of
/// a nanosecond are cut off; at most 24 hours.
///
/// # Errors
///
/// A [`ParseDurationError`] for everything else.
///
/// # Examples
///
/// ```
/// use reattempt::policy::duration::parse;
/// use std::time::Duration;
///
/// assert_eq!(parse("1m 30s")?, Duration::from_secs(90));
/// assert_eq!(parse("1.5s")?, Duration::from_millis(1500));
/// assert!(parse("250").is_err());
/// # Ok::<(), reattempt::policy::duration::ParseDurationError>(())
/// ```
pub fn parse(text: &str) -> Result<Duration, ParseDurationError> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(ParseDurationError::Empty);
    }
    if rest.starts_with('-') {
        return Err(ParseDurationError::Negative);
    }
    let mut total: u128 = 0;
    let mut above = u64::MAX;
    while !rest.is_empty() {
        let (nanos, scale, after) = part(rest)?;
        if scale >= above {
            return Err(ParseDurationError::Order);
        }
        above = scale;
        total = total.saturating_add(nanos);
        rest = after.trim_start();
    }
    if total > LONGEST.as_nanos() {
        return Err(ParseDurationError::TooLong);
    }
    Ok(from_nanos(total))
}

/// One number with its unit, in nanoseconds, the length of the unit, and what follows it.
fn part(text: &str) -> Result<(u128, u64, &str), ParseDurationError> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
        .unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let rest = rest.trim_start();
    let unit_end = rest
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(rest.len());
    let (unit, rest) = rest.split_at_checked(unit_end).unwrap_or((rest, ""));
    if number.is_empty() {
        return Err(ParseDurationError::NotANumber);
    }
    let scale: u64 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "" if rest.is_empty() => return Err(ParseDurationError::NoUnit),
        "" => return Err(ParseDurationError::NotANumber),
        _ => return Err(ParseDurationError::UnknownUnit),
    };
    Ok((scaled(number, scale)?, scale, rest))
}

/// `number * scale` without a detour through floating point: "0.1s" is exact.
fn scaled(number: &str, scale: u64) -> Result<u128, ParseDurationError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.contains('.') {
        return Err(ParseDurationError::NotANumber);
    }
    let digits = |text: &str| {
        text.bytes()
            .filter(u8::is_ascii_digit)
            .fold(0u128, |value, byte| {
                value
                    .saturating_mul(10)
                    .saturating_add(u128::from(byte.saturating_sub(b'0')))
            })
    };
    let mut nanos = digits(whole).saturating_mul(u128::from(scale));
    let mut place = u128::from(scale);
    for byte in fraction.bytes().filter(u8::is_ascii_digit) {
        place /= 10;
        nanos = nanos.saturating_add(place.saturating_mul(u128::from(byte.saturating_sub(b'0'))));
    }
    Ok(nanos)
}

/// A duration in the shortest form that reads well: `1.5 s`, `250 ms`, `2 m`.
#[derive(Debug, Clone, Copy)]
pub struct Human(pub Duration);

impl fmt::Display for Human {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Text::new().duration(self.0, " ").as_str())
    }
}

/// Saturates at [`Duration::MAX`].
#[expect(clippy::cast_possible_truncation, reason = "guarded by the comparison")]
const fn from_nanos(nanos: u128) -> Duration {
    if nanos >= Duration::MAX.as_nanos() {
        return Duration::MAX;
    }
    Duration::new(
        (nanos / 1_000_000_000) as u64,
        (nanos % 1_000_000_000) as u32,
    )
}

/// A duration in nanoseconds as a float, in which delays are computed: exact up
/// to 104 days, beyond that rounded down, so that a cap stays a cap.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub struct Nanos(pub f64);

impl fmt::Debug for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.duration().fmt(f)
    }
}

#[cfg(feature = "serde")]
impl From<Nanos> for Option<Duration> {
    fn from(nanos: Nanos) -> Self {
        Some(nanos.duration())
    }
}

impl Nanos {
    /// Returns whether they are a whole number that a float holds exactly.
    #[expect(
        clippy::cast_precision_loss,
        clippy::float_cmp,
        reason = "compared with what it was made of"
    )]
    pub const fn is_whole(self) -> bool {
        0.0 <= self.0 && self.0 < Self::EXACT && self.truncated() as f64 == self.0
    }

    /// Returns the whole number below them.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no negative number is asked for"
    )]
    pub const fn truncated(self) -> u64 {
        // Signed: that is one instruction of most processors.
        self.0 as i64 as u64
    }

    /// What is rounded from here on.
    const EXACT: f64 = 9_007_199_254_740_992.0;

    /// Returns the nanoseconds of `duration`, rounded down where a float cannot hold them.
    #[expect(clippy::cast_precision_loss, reason = "made good for below")]
    pub const fn new(duration: Duration) -> Self {
        let mut nanos = duration.as_secs() as f64 * NANOS_PER_SEC + duration.subsec_nanos() as f64;
        if nanos < Self::EXACT || duration.as_secs() == u64::MAX {
            return Self(nanos); // rounded up, the longest stays the longest
        }
        while is_shorter(duration, Self(nanos).duration()) {
            nanos = nanos.next_down();
        }
        Self(nanos)
    }

    /// The nearest duration: 0 for negative numbers and NaN, [`Duration::MAX`]
    /// for what is too large.
    #[inline]
    pub const fn duration(self) -> Duration {
        // Added to a number below it, what is left of a fraction is rounded away,
        // and the whole number stands in the low bits.
        const SHIFT: f64 = 4_503_599_627_370_496.0;
        const FRACTION: u64 = (1 << 52) - 1;

        // As bits, negative numbers and NaN are above it, too; what is rounded up to it
        // would have no bit left.
        if self.0.to_bits() < (SHIFT - 1.0).to_bits() {
            return Duration::from_nanos((self.0 + SHIFT).to_bits() & FRACTION);
        }
        self.long()
    }

    #[cold]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`as` saturates, which is what is wanted; NaN becomes 0"
    )]
    const fn long(self) -> Duration {
        // From here on there are no fractions.
        let half = if self.0 < Self::EXACT / 2.0 { 0.5 } else { 0.0 };
        from_nanos((self.0 + half) as u128)
    }

    /// Returns the smaller one.
    #[must_use]
    #[inline]
    pub const fn min(self, other: Self) -> Self {
        if other.0 < self.0 { other } else { self }
    }

    /// Returns the larger one.
    #[must_use]
    #[inline]
    pub const fn max(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }
}

/// The shorter of two; `Ord::min` is not `const`.
#[inline]
pub const fn shorter(a: Duration, b: Duration) -> Duration {
    if is_shorter(b, a) { b } else { a }
}

/// `a < b`; comparison operators are not `const` for durations.
#[inline]
pub const fn is_shorter(a: Duration, b: Duration) -> bool {
    let (left, right) = (a.as_secs(), b.as_secs());
    left < right || (left == right && a.subsec_nanos() < b.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_unit_and_sums_parts() {
        for (text, nanos) in [
            ("7ns", 7),
            ("7us", 7_000),
            ("7 µs", 7_000),
            ("250ms", 250_000_000),
            ("1.5s", 1_500_000_000),
            ("0.1s", 100_000_000),
            ("2m", 120_000_000_000),
            ("1m 30s", 90_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("  3s  ", 3_000_000_000),
            ("1_000ms", 1_000_000_000),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn refuses_with_the_fix() {
        for (text, fault) in [
            ("", ParseDurationError::Empty),
            ("250", ParseDurationError::NoUnit),
            ("1m 30", ParseDurationError::NoUnit),
            ("-1s", ParseDurationError::Negative),
            ("1 fortnight", ParseDurationError::UnknownUnit),
            ("soon", ParseDurationError::NotANumber),
            ("5, 3s", ParseDurationError::NotANumber),
            ("5 ", ParseDurationError::NoUnit),
            ("1.s", ParseDurationError::NotANumber),
            (".5s", ParseDurationError::NotANumber),
            ("1.2.3s", ParseDurationError::NotANumber),
            ("100ms100ms", ParseDurationError::Order),
            ("30s 1m", ParseDurationError::Order),
            ("25h", ParseDurationError::TooLong),
            ("99999999999999999999999999h", ParseDurationError::TooLong),
        ] {
            assert_eq!(parse(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn speaks_plainly() {
        for (nanos, text) in [
            (0, "0 s"),
            (250_000_000, "250 ms"),
            (1_500_000_000, "1.5 s"),
            (1_050_000_000, "1.05 s"),
            (22_781_250_000, "22.781 s"),
            (60_000_000_000, "1 m"),
            (90_500_000_000, "1 m 30.5 s"),
            (3_600_000_000_000, "1 h"),
            (3_605_000_000_000, "1 h 5 s"),
        ] {
            assert_eq!(Human(Duration::from_nanos(nanos)).to_string(), text);
        }
    }

    #[test]
    fn floats_saturate() {
        for (nanos, duration) in [
            (f64::NAN, Duration::ZERO),
            (-1.0, Duration::ZERO),
            (f64::NEG_INFINITY, Duration::ZERO),
            (f64::INFINITY, Duration::MAX),
            (f64::MAX, Duration::MAX),
            (1.5e9, Duration::from_millis(1500)),
            (0.4, Duration::ZERO),
            (0.6, Duration::from_nanos(1)),
            (1.5, Duration::from_nanos(2)),
            (2.4, Duration::from_nanos(2)),
            (
                4_503_599_627_370_495.5, // rounded up, like all in the middle from there on
                Duration::from_nanos(4_503_599_627_370_496),
            ),
            (
                4_503_599_627_370_497.0,
                Duration::from_nanos(4_503_599_627_370_497),
            ),
        ] {
            assert_eq!(Nanos(nanos).duration(), duration, "{nanos}");
        }
        assert_eq!(Nanos::new(Duration::MAX).duration(), Duration::MAX);
    }

    #[test]
    fn the_larger_and_the_shorter() {
        for (a, b) in [(1.0, 2.0), (2.0, 1.0), (2.0, 2.0)] {
            let (one, other) = (Nanos(a), Nanos(b));
            let expected = (a.max(b).to_bits(), a.min(b).to_bits());
            assert_eq!(
                (one.max(other).0.to_bits(), one.min(other).0.to_bits()),
                expected
            );
        }
        let table =
            [(0, 5), (5, 0), (5, 5), (5, 6)].map(|(secs, nanos)| Duration::new(secs, nanos));
        for a in table {
            for b in table {
                assert_eq!((shorter(a, b), is_shorter(a, b)), (a.min(b), a < b));
            }
        }
    }

    #[test]
    fn floats_never_round_up() {
        for duration in [
            Duration::new(u64::MAX - 1, 999_999_999),
            Duration::new(1 << 40, 1),
            Duration::from_nanos((1 << 53) + 1),
            Duration::from_nanos(u64::MAX),
        ] {
            assert!(Nanos::new(duration).duration() <= duration, "{duration:?}");
        }
    }
}
