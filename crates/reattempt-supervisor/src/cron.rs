//! The times of a cron expression in a time zone.

use std::fmt;

use cronexpr::Crontab;
use cronexpr::jiff::civil::DateTime;
use cronexpr::jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use cronexpr::jiff::{SignedDuration, Timestamp};

use crate::time::Time;

/// How many changes of the clock a search passes: more than there are in the four years after which
/// `cronexpr` gives up.
const CHANGES: usize = 64;

/// A cron expression with its time zone.
#[derive(Debug)]
pub(crate) struct Cron {
    /// The expression on a clock without a time zone.
    clock: Crontab,
    zone: TimeZone,
    /// Whether it has times in every hour or every few hours. Such an expression follows the time
    /// that has passed; others name times of a day, and each day has each of them once.
    is_interval: bool,
}

impl Cron {
    /// Reads five fields, and a time zone after them; UTC if there is none.
    pub(crate) fn parse(text: &str) -> Result<Self, CronError> {
        let error = |why: String| CronError {
            text: text.to_owned(),
            why,
        };
        let fields: Vec<_> = text.split_whitespace().collect();
        let ([minute, hour, day, month, weekday], zone) = match fields[..] {
            [minute, hour, day, month, weekday] => ([minute, hour, day, month, weekday], "UTC"),
            [minute, hour, day, month, weekday, zone] => {
                ([minute, hour, day, month, weekday], zone)
            }
            _ => return Err(error(format!("it has {} fields", fields.len()))),
        };
        // In UTC, and the changes of the clock are applied here: with several hours in the
        // expression `cronexpr` would lose the hour that the clock leaves out. So does
        // `croner`, which needs procedural macros, too.
        let clock = format!("{minute} {hour} {day} {month} {weekday} UTC");
        let clock = cronexpr::parse_crontab(&clock);
        let clock = clock.map_err(|cause| {
            // The first lines repeat the expression and mark the place.
            let cause = cause.to_string();
            let why = cause.lines().last().unwrap_or_default();
            error(why.trim_start_matches(['^', ' ']).to_owned())
        })?;
        let zone = TimeZone::get(zone)
            .map_err(|_| error(format!("this machine knows no time zone `{zone}`")))?;
        let cron = Self {
            clock,
            zone,
            is_interval: hour.starts_with('*'),
        };
        match cron.next_after(Time::from_micros(0)) {
            Some(_) => Ok(cron),
            None => Err(error("no date fits it".to_owned())),
        }
    }

    /// Returns the first time after `time`; `None` if there is none within about four years.
    pub(crate) fn next_after(&self, time: Time) -> Option<Time> {
        let after = Timestamp::from_microsecond(time.as_micros()).ok()?;
        let next = if self.is_interval {
            self.next_by_elapsed_time(after)?
        } else {
            self.next_of_day(after)?
        };
        Some(Time::from_micros(next.as_microsecond()))
    }

    /// Returns the first time on the clock after `time`.
    fn next_on_clock(&self, time: DateTime) -> Option<DateTime> {
        let time = Offset::UTC.to_timestamp(time).ok()?;
        Some(self.clock.find_next(time).ok()?.datetime())
    }

    /// Returns the next moment at which the clock shows a time of the expression: between two changes
    /// of the clock it goes on as time does.
    fn next_by_elapsed_time(&self, after: Timestamp) -> Option<Timestamp> {
        let mut offset = self.zone.to_offset(after);
        let mut from = offset.to_datetime(after);
        let mut changes = self.zone.following(after);
        for _ in 0..CHANGES {
            let next = self.next_on_clock(from)?;
            let next = offset.to_timestamp(next).ok()?;
            match changes.next() {
                Some(change) if change.timestamp() <= next => {
                    offset = change.offset();
                    // The moment of the change itself may fit.
                    let before = change
                        .timestamp()
                        .checked_sub(SignedDuration::from_micros(1));
                    from = offset.to_datetime(before.ok()?);
                }
                _ => return Some(next),
            }
        }
        None
    }

    /// Returns the next moment of a time of day. A time that the clock leaves out comes when the clock
    /// goes on, and a time that it shows twice comes the first time.
    fn next_of_day(&self, after: Timestamp) -> Option<Timestamp> {
        let mut time = self.zone.to_datetime(after);
        loop {
            time = self.next_on_clock(time)?;
            let next = match self.zone.to_ambiguous_timestamp(time).offset() {
                AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(time).ok()?,
                AmbiguousOffset::Fold { before, .. } => before.to_timestamp(time).ok()?,
                AmbiguousOffset::Gap { before, .. } => {
                    // By the clock from before it is later than the change.
                    let later = before.to_timestamp(time).ok()?;
                    let after = later.checked_add(SignedDuration::from_micros(1)).ok()?;
                    self.zone.preceding(after).next()?.timestamp()
                }
            };
            if next > after {
                return Some(next);
            }
        }
    }
}

/// A text is not a cron expression.
#[derive(Debug)]
pub(crate) struct CronError {
    text: String,
    why: String,
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a cron expression: {}; write minute, hour, day, month, day of the week and a time zone, such as \
             `30 2 * * * Europe/Berlin`",
            self.text, self.why
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

    use super::*;

    fn time(text: &str) -> Time {
        let timestamp: Timestamp = text.parse().unwrap();
        Time::from_micros(timestamp.as_microsecond())
    }

    /// The first times after `after`, without date and seconds.
    fn times(cron: &str, after: &str, count: usize) -> Vec<String> {
        let cron = Cron::parse(cron).unwrap();
        let next = |time: &Time| cron.next_after(*time);
        let times = std::iter::successors(next(&time(after)), next).take(count);
        times
            .map(|time| time.to_string()[8..16].to_owned())
            .collect()
    }

    #[test]
    fn a_time_that_the_clock_leaves_out_comes_when_it_goes_on() {
        // Berlin: at 01:00 UTC the clock goes from 02:00 to 03:00.
        let before = "2026-03-28T12:00:00Z";
        for (cron, wanted) in [
            (
                "30 2 * * * Europe/Berlin",
                ["29T01:00", "30T00:30", "31T00:30"],
            ),
            (
                "0 2 * * * Europe/Berlin",
                ["29T01:00", "30T00:00", "31T00:00"],
            ),
            (
                "0 3 * * * Europe/Berlin",
                ["29T01:00", "30T01:00", "31T01:00"],
            ),
            // Three of them come together, and are one.
            (
                "0,30 2,3 * * * Europe/Berlin",
                ["29T01:00", "29T01:30", "30T00:00"],
            ),
            (
                "*/20 2 * * * Europe/Berlin",
                ["29T01:00", "30T00:00", "30T00:20"],
            ),
        ] {
            assert_eq!(times(cron, before, 3), wanted, "{cron}");
        }
        // The clock of Lord Howe leaves out half an hour: from 02:00 to 02:30.
        let cron = "15 2 * * * Australia/Lord_Howe";
        let wanted = ["03T15:30", "04T15:15"];
        assert_eq!(times(cron, "2026-10-03T12:00:00Z", 2), wanted);
        // Samoa left out a day: 2011-12-30 began and ended at 10:00 UTC.
        let cron = "0 12 * * * Pacific/Apia";
        let wanted = ["29T22:00", "30T10:00", "30T22:00"];
        assert_eq!(times(cron, "2011-12-29T12:00:00Z", 3), wanted);
    }

    #[test]
    fn a_time_that_comes_twice_runs_once() {
        // Berlin: at 01:00 UTC the clock goes from 03:00 back to 02:00.
        let before = "2026-10-24T12:00:00Z";
        for (cron, wanted) in [
            (
                "30 2 * * * Europe/Berlin",
                ["25T00:30", "26T01:30", "27T01:30"],
            ),
            (
                "0 3 * * * Europe/Berlin",
                ["25T02:00", "26T02:00", "27T02:00"],
            ),
            (
                "0,30 2 * * * Europe/Berlin",
                ["25T00:00", "25T00:30", "26T01:00"],
            ),
        ] {
            assert_eq!(times(cron, before, 3), wanted, "{cron}");
        }
        // Also for a caller that looks when the clock shows it again.
        let cron = "30 2 * * * Europe/Berlin";
        for again in [
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:10:00Z",
            "2026-10-25T01:30:00Z",
        ] {
            assert_eq!(times(cron, again, 1), ["26T01:30"], "{again}");
        }
    }

    #[test]
    fn intervals_follow_the_time_that_passes() {
        for (before, from) in [("2026-03-29T00:29:00Z", 0), ("2026-10-25T00:29:00Z", 0)] {
            let found = times("*/15 * * * * Europe/Berlin", before, 12);
            let wanted = (2..14).map(|nth: u32| {
                format!(
                    "{}T{:02}:{:02}",
                    &before[8..10],
                    from + nth / 4,
                    nth % 4 * 15
                )
            });
            assert_eq!(found, wanted.collect::<Vec<_>>());
        }
        // Two years later, and four changes of the clock.
        let leap_day = times("0 */12 29 2 * Europe/Berlin", "2026-01-01T00:00:00Z", 2);
        assert_eq!(leap_day, ["28T23:00", "29T11:00"]);
        // By the clock: 22, 0, 4 and 6 o'clock, and 22, 0, 2, 2 and 4 o'clock.
        let found = times("0 */2 * * * Europe/Berlin", "2026-03-28T20:30:00Z", 4);
        assert_eq!(found, ["28T21:00", "28T23:00", "29T02:00", "29T04:00"]);
        let found = times("0 */2 * * * Europe/Berlin", "2026-10-24T19:30:00Z", 5);
        assert_eq!(
            found,
            ["24T20:00", "24T22:00", "25T00:00", "25T01:00", "25T03:00"]
        );
    }

    /// Every quarter of an hour, one after another, with what the clock shows.
    #[test]
    fn the_times_are_those_of_a_walk_over_a_year() {
        const QUARTER: SignedDuration = SignedDuration::from_mins(15);
        for zone in ["Australia/Lord_Howe", "Africa/Casablanca"] {
            let zone_of = TimeZone::get(zone).unwrap();
            let cron = format!("15,45 1-3 * * * {zone}");
            let cron = Cron::parse(&cron).unwrap();
            let every = Cron::parse(&format!("0 * * * * {zone}")).unwrap();
            let start = time("2026-01-01T00:00:00Z");
            let mut seen = std::collections::HashSet::new();
            let (mut wanted, mut intervals) = (Vec::new(), Vec::new());
            let mut last: Option<DateTime> = None;
            for quarter in 1..=365 * 24 * 4 {
                let now = Time::from_micros(start.as_micros() + quarter * 900_000_000);
                let clock =
                    zone_of.to_datetime(Timestamp::from_microsecond(now.as_micros()).unwrap());
                if clock.minute() == 0 {
                    intervals.push(now);
                }
                // All quarters of an hour on the clock since the last one: those that it leaves out come now.
                let mut passed = last
                    .map_or(clock, |last| last.checked_add(QUARTER).unwrap())
                    .min(clock);
                let mut runs = false;
                while passed <= clock {
                    runs |= matches!(passed.minute(), 15 | 45)
                        && (1..=3).contains(&passed.hour())
                        && seen.insert(passed);
                    passed = passed.checked_add(QUARTER).unwrap();
                }
                if runs {
                    wanted.push(now);
                }
                last = Some(last.map_or(clock, |last| last.max(clock)));
            }
            let all = |cron: &Cron, count| -> Vec<Time> {
                std::iter::successors(cron.next_after(start), |time| cron.next_after(*time))
                    .take(count)
                    .collect()
            };
            assert_eq!(all(&cron, wanted.len()), wanted, "{zone}");
            assert_eq!(all(&every, intervals.len()), intervals, "{zone}");
        }
    }

    #[test]
    fn an_error_says_what_to_write() {
        for (cron, why) in [
            ("* * * *", "it has 4 fields"),
            (
                "0 9 * * * Europe/Atlantis",
                "this machine knows no time zone `Europe/Atlantis`",
            ),
            ("0 0 30 2 *", "no date fits it"),
            ("61 * * * *", "value must be in range 0..=59; found 61"),
        ] {
            let error = Cron::parse(cron).unwrap_err().to_string();
            let wanted = format!("`{cron}` is not a cron expression: {why}; write minute, ");
            assert!(error.starts_with(&wanted), "{error}");
        }
    }
}
