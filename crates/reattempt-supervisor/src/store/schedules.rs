//! What a store keeps of a schedule. It knows neither cron expressions nor time zones: the process
//! that writes a schedule has computed its next time.

use serde::Serialize;

use crate::cell::numbered;
use crate::task::NewTask;
use crate::time::Time;

/// A schedule in the store: a workflow gets a task at each of its times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredSchedule {
    /// Its name.
    pub name: String,
    /// How often it was written: a write counts only if it has seen the newest version. 0 if it is
    /// not stored yet.
    pub version: i64,
    /// The revision of its definition, which only grows.
    pub revision: i64,
    /// The cron expression and the time zone.
    pub cron: String,
    /// What happens to times that all processes missed.
    pub missed: Missed,
    /// Its tasks, as JSON.
    pub task: String,
    /// Its state.
    pub state: ScheduleState,
    /// The next time; [`Time::NEVER`] if there is none.
    pub next_at: Time,
    /// The last time that was over when a process looked. Later times are newer, unless the clock of
    /// the store goes back and the schedule is resumed or gets a higher revision.
    pub last_at: Option<Time>,
    /// The operator that changed its state last.
    pub by: String,
    /// Why the operator did.
    pub why: String,
}

/// The state of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScheduleState {
    /// It submits tasks.
    Active,
    /// It submits none until an operator resumes it.
    Paused,
    /// It is gone; the store keeps its revision, so that an older one cannot bring it back.
    Removed,
}

/// What happens to the times of a schedule at which no process looked, because all were down. A time
/// is missed when it is more than a minute ago, and more than three intervals of the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Missed {
    /// Each of them gets its task, late.
    #[default]
    Run,
    /// They get no task.
    Skip,
    /// Only the latest time gets a task, whether it is missed or not.
    Last,
}

/// The numbers and names of an enum.
macro_rules! numbers {
    ($type:ident: $($variant:ident = $number:literal $name:literal),*) => {
        impl $type {
            /// Returns its number in a store.
            pub const fn number(self) -> i16 {
                match self {
                    $(Self::$variant => $number,)*
                }
            }

            /// Returns the value with this number.
            pub const fn from_number(number: i16) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns its name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

numbers!(ScheduleState: Active = 0 "active", Paused = 1 "paused", Removed = 2 "removed");
numbers!(Missed: Run = 0 "run", Skip = 1 "skip", Last = 2 "last");
numbered!(ScheduleState: "state of a schedule", Missed: "choice for missed times");

/// Schedules, and the time of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedules {
    /// The time of the store.
    pub now: Time,
    /// The schedules, by name. Those that were removed are among them.
    pub all: Vec<StoredSchedule>,
}

/// Stores a schedule, and submits its tasks in the same transaction, if the stored schedule still has
/// the version of this one and no higher revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleWrite {
    /// The schedule, with the version that the writer has seen. The store adds 1.
    pub schedule: StoredSchedule,
    /// The tasks of times that are over.
    pub tasks: Vec<NewTask>,
}
