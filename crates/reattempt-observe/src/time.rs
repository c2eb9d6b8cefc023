//! Times of the wall clock as text: RFC 3339 in UTC.
#![warn(clippy::arithmetic_side_effects)]

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_A_DAY: u64 = 86_400;
/// Of the Gregorian calendar, after which it repeats.
const DAYS_OF_400_YEARS: u64 = 146_097;
const DAYS_OF_100_YEARS: u64 = 36_524;
const DAYS_OF_4_YEARS: u64 = 1_461;
/// From 1 March of the year 0 to the first day of 1970.
const DAYS_BEFORE_1970: u64 = 719_468;
/// 31 December 9999, 23:59:59: later ones have no form in RFC 3339.
const LAST: u64 = 253_402_300_799;
/// Days before each month of a year that begins in March.
const DAYS_BEFORE: [u64; 12] = [0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337];

/// `time` as in `2026-03-01T12:00:00.250Z`.
///
/// # Units and ranges
///
/// Milliseconds, cut off. What lies before 1970 or after 9999 is written as the first or the last moment between.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, millis) = if since.as_secs() > LAST {
        (LAST, 999)
    } else {
        (since.as_secs(), since.subsec_millis())
    };
    let (year, month, day) = date(seconds / SECONDS_A_DAY);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date so many days after the first of 1970.
///
/// Years are counted from March on: the day that some of them have more is then the last one of a year, and
/// of a cycle of 4, 100 or 400 years.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "below the days of 10,000 years; what is taken away is a part"
)]
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_BEFORE_1970;
    let (cycles, days) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let centuries = (days / DAYS_OF_100_YEARS).min(3);
    let days = days - centuries * DAYS_OF_100_YEARS;
    let (fours, days) = (days / DAYS_OF_4_YEARS, days % DAYS_OF_4_YEARS);
    let years = (days / 365).min(3);
    let days = days - years * 365;
    let (mut month, mut before) = (0, 0);
    for (number, &start) in (0..).zip(&DAYS_BEFORE) {
        if start <= days {
            (month, before) = (number, start);
        }
    }
    let year = cycles * 400 + centuries * 100 + fours * 4 + years;
    // January and February belong to the year after.
    let (year, month) = if month < 10 {
        (year, month + 3)
    } else {
        (year + 1, month - 9)
    };
    (year, month, days - before + 1)
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "of numbers that are known")]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(millis: u64) -> String {
        rfc3339(UNIX_EPOCH + Duration::from_millis(millis))
    }

    #[test]
    fn dates_that_are_known() {
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(951_868_799_999), "2000-02-29T23:59:59.999Z");
        assert_eq!(at(951_868_800_000), "2000-03-01T00:00:00.000Z");
        assert_eq!(at(1_234_567_890_123), "2009-02-13T23:31:30.123Z");
        assert_eq!(at(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(at(4_107_542_399_000), "2100-02-28T23:59:59.000Z");
    }

    #[test]
    fn every_day_follows_the_day_before() {
        let mut before = (1969, 12, 31);
        for day in 0..=LAST / SECONDS_A_DAY {
            let (year, month, date) = date(day);
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match before.1 {
                2 if is_leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            let next = match before {
                (year, 12, 31) => (year + 1, 1, 1),
                (year, month, date) if date == last => (year, month + 1, 1),
                (year, month, date) => (year, month, date + 1),
            };
            assert_eq!((year, month, date), next, "day {day}");
            before = next;
        }
        assert_eq!(before, (9999, 12, 31));
    }

    #[test]
    fn what_has_no_form_is_the_nearest_that_has_one() {
        let early = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(rfc3339(early), "1970-01-01T00:00:00.000Z");
        let late = UNIX_EPOCH + Duration::from_secs(LAST + 1);
        assert_eq!(rfc3339(late), "9999-12-31T23:59:59.999Z");
    }
}
