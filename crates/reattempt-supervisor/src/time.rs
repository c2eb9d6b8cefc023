//! Times on the clock of a store, which several machines share.

use std::fmt;
use std::str::FromStr;
#[cfg(feature = "sqlite")]
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A time on the clock of the store.
///
/// # Units and ranges
///
/// Microseconds since 1970-01-01 UTC, 0 to about 292,000 years; arithmetic saturates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(i64);

impl Time {
    /// A time later than all others.
    pub const NEVER: Self = Self(i64::MAX);

    /// When a task wakes up that waits for its turn in a lane: never. The triggers of the stores have the
    /// same number.
    pub(crate) const NO_TURN: Self = Self(i64::MAX - 1);

    /// Returns the time this many microseconds after 1970-01-01 UTC.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Returns the microseconds since 1970-01-01 UTC.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the time of this machine, for stores without a clock.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self(micros(since))
    }

    /// Returns the time this much later.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self(self.0.saturating_add(micros(delay)))
    }

    /// Returns the time this much earlier.
    pub(crate) fn before(self, delay: Duration) -> Self {
        Self(self.0.saturating_sub(micros(delay)))
    }

    /// Returns the time that has passed since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        Duration::from_micros(u64::try_from(micros).unwrap_or_default())
    }
}

/// What a store takes for the time.
#[cfg(feature = "sqlite")]
#[derive(Clone)]
pub(crate) struct Clock(Arc<dyn Fn() -> Time + Send + Sync>);

#[cfg(feature = "sqlite")]
impl Clock {
    pub(crate) fn new(clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Self(Arc::new(clock))
    }

    pub(crate) fn now(&self) -> Time {
        (self.0)()
    }
}

#[cfg(feature = "sqlite")]
impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// Serializes as the text of `Display`.
impl serde::Serialize for Time {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Formats as in RFC 3339, in UTC and to the millisecond; [`Time::NEVER`], and the time of a task that waits
/// for its turn in a lane, as `never`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self >= Self::NO_TURN {
            return f.write_str("never");
        }
        let seconds = self.0.div_euclid(1_000_000);
        let millis = self.0.rem_euclid(1_000_000) / 1_000;
        let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = date(days);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{millis:03}Z",
            of_day / 3_600,
            of_day / 60 % 60,
            of_day % 60
        )
    }
}

/// Reads a date, or a date and a time of day in UTC: `2026-03-29`, `2026-03-29T01:00:00Z`, with or without
/// milliseconds.
impl FromStr for Time {
    type Err = ParseTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| ParseTimeError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Time> {
    let (date, of_day) = match text.split_once('T') {
        Some((date, time)) => (date, time.strip_suffix('Z')?),
        None => (text, "00:00:00"),
    };
    let number = |text: &str, digits: usize, most: i64| {
        let is_number = text.len() == digits && text.bytes().all(|digit| digit.is_ascii_digit());
        let number = text.parse().ok().filter(|number| *number <= most);
        number.filter(|_| is_number)
    };
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4, 9_999)?;
    let month = number(parts.next()?, 2, 12)?;
    let day = number(parts.next()?, 2, 31)?;
    let mut times = of_day.split(':');
    let hour = number(times.next()?, 2, 23)?;
    let minute = number(times.next()?, 2, 59)?;
    let second = times.next().unwrap_or("00");
    let (second, millis) = second.split_once('.').unwrap_or((second, "000"));
    let (second, millis) = (number(second, 2, 59)?, number(millis, 3, 999)?);
    if parts.next().is_some() || times.next().is_some() {
        return None;
    }
    let of = |larger: i64, count, smaller| larger.checked_mul(count)?.checked_add(smaller);
    let minutes = of(of(days(year, month, day)?, 24, hour)?, 60, minute)?;
    let millis = of(of(minutes, 60, second)?, 1_000, millis)?;
    of(millis, 1_000, 0).map(Time)
}

/// Returns the days from 1970 to a date: the inverse of [`date`]. `None` if there is no such date.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "of numbers below ten thousand"
)]
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let (from_march, year_from_march) = match month {
        1 | 2 => (month + 9, year - 1),
        _ => (month - 3, year),
    };
    let (era, of_era) = (
        year_from_march.div_euclid(400),
        year_from_march.rem_euclid(400),
    );
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some(days).filter(|days| date(*days) == (year, month, day))
}

/// A text is not a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseTimeError(String);

impl fmt::Display for ParseTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a time; write a date, such as `2026-03-29`, or a time in UTC, such as `2026-03-29T01:00:00Z`",
            self.0
        )
    }
}

impl std::error::Error for ParseTimeError {}

/// Converts days since 1970 to year, month and day of the Gregorian calendar.
///
/// # Source
///
/// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`: years begin in
/// March, so that the leap day is the last of one.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "of numbers below a million, and of eras, of which there are few"
)]
const fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(719_468);
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn times_are_written_as_rfc_3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_763_784_000, "2025-11-22T04:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(Time::from_micros(seconds * 1_000_000).to_string(), text);
        }
        assert_eq!(Time::NEVER.to_string(), "never");
    }

    #[test]
    fn times_are_read_in_utc() {
        for (text, micros) in [
            ("1970-01-01", 0),
            ("2000-02-29T00:00Z", 951_782_400_000_000),
            ("2100-03-01T01:02:03Z", 4_107_546_123_000_000),
            ("2025-11-22T04:00:00.250Z", 1_763_784_000_250_000),
        ] {
            assert_eq!(text.parse(), Ok(Time::from_micros(micros)), "{text}");
        }
        for text in [
            "",
            "2025-02-29",
            "2025-13-01",
            "2025-1-1",
            "2025-01-01T00:00",
            "2025-01-01T24:00:00Z",
            "2025-01-01T00:00:00+01:00",
            "2025-01-01T00:00:00:00Z",
        ] {
            let error = text.parse::<Time>().map_err(|error| error.to_string());
            let error = error.err().unwrap_or_default();
            assert!(
                error.starts_with(&format!("`{text}` is not a time; write a date")),
                "{error}"
            );
        }
    }
}
