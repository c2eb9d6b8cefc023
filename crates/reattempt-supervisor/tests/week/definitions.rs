//! The schedules, and their times by a walk over all minutes of the week.

use std::collections::HashSet;
use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use reattempt_supervisor::{Schedule, StepError, Time, WorkflowContext, workflow};

/// How long the week lasts.
pub(crate) const END: Duration = Duration::from_secs(7 * 86_400);

/// When the second revision comes.
pub(crate) const SWITCH: Duration = Duration::from_secs(2 * 86_400 + 5_400);

const ZONES: [&str; 5] = [
    "Europe/Berlin",
    "UTC",
    "Australia/Lord_Howe",
    "America/New_York",
    "Asia/Kolkata",
];

#[workflow]
pub(crate) async fn report(_context: &WorkflowContext, _number: u32) -> Result<(), StepError> {
    Ok(())
}

/// A schedule in two revisions.
pub(crate) struct Definition {
    number: usize,
}

/// The times on a clock.
enum Times {
    /// Every so many minutes.
    Every(i8),
    /// At this minute of these hours.
    At(i8, [i8; 2]),
}

impl Definition {
    pub(crate) const fn of(number: usize) -> Self {
        Self { number }
    }

    pub(crate) fn name(&self) -> String {
        format!("schedule {}", self.number)
    }

    fn on_clock(&self, revision: i64) -> Times {
        let hour = i8::try_from(self.number % 24).unwrap();
        let minute = self.number * 7 % 60 / 2 * 2;
        let minute = i8::try_from(minute).unwrap() + i8::from(revision == 1);
        match self.number % 4 {
            0 => Times::Every([15, 30, 20][self.number % 3]),
            // Times around the change of the clock.
            1 | 2 => Times::At(minute, [2, 3]),
            _ => Times::At(minute, [hour, (hour + 11) % 24]),
        }
    }

    fn zone(&self) -> &'static str {
        ZONES[self.number / 4 % ZONES.len()]
    }

    pub(crate) fn schedule(&self, revision: i64) -> Schedule {
        let clock = match self.on_clock(revision) {
            Times::Every(minutes) => format!("*/{minutes} *"),
            Times::At(minute, [one, other]) => format!("{minute} {one},{other}"),
        };
        let cron = format!("{clock} * * * {}", self.zone());
        let number = u32::try_from(self.number).unwrap();
        Schedule::new(self.name(), cron, report(number)).revision(revision)
    }

    /// Returns the times of a revision in the week.
    pub(crate) fn times(&self, revision: i64, start: Time) -> Vec<Time> {
        let on_clock = self.on_clock(revision);
        let zone = TimeZone::get(self.zone()).unwrap();
        let mut times = Vec::new();
        let mut seen: HashSet<DateTime> = HashSet::new();
        let mut last = zone.to_datetime(Timestamp::from_microsecond(start.as_micros()).unwrap());
        for minute in 1..=END.as_secs() / 60 + 30 {
            let now = start.after(Duration::from_secs(60 * minute));
            let clock = zone.to_datetime(Timestamp::from_microsecond(now.as_micros()).unwrap());
            let mut is_time = false;
            match on_clock {
                Times::Every(minutes) => is_time = clock.minute() % minutes == 0,
                Times::At(minute, hours) => {
                    // What the clock leaves out comes now; what it shows again has been.
                    let mut passed = last.min(clock);
                    while passed < clock {
                        passed = passed.checked_add(SignedDuration::from_mins(1)).unwrap();
                        let fits = passed.minute() == minute && hours.contains(&passed.hour());
                        is_time |= fits && seen.insert(passed);
                    }
                }
            }
            last = last.max(clock);
            if is_time {
                times.push(now);
            }
        }
        times
    }
}
