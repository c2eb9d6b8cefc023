//! Schedules: a workflow gets a task at each time of a cron expression.
//!
//! A process that writes a schedule computes its next time. One transaction stores the schedule with the
//! tasks of the times that are over, but only if no other process has written the schedule since it was
//! read. So each time has one task, however many processes look.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::client::{Client, SubmitError, unexpected_result};
use crate::cron::Cron;
use crate::operator::Operator;
use crate::payload::is_same_json;
use crate::store::submission::Submission;
use crate::store::{
    Missed, ScheduleState, ScheduleWrite, StoreError, StoredSchedule, Write, WriteResult,
};
use crate::task::NewTask;
use crate::time::Time;
use crate::workflow::Workflow;

/// How much later than its time a task may start before the time counts as missed.
const LATE: Duration = Duration::from_secs(60);

/// After how many intervals between two looks of a supervisor a time counts as missed, if that is later.
const MISSED_LOOKS: u32 = 3;

/// How many bytes a name may have: it is in the keys of the tasks, which have at most 1,000.
const LONGEST_NAME: usize = 900;

/// How many tasks of one schedule a look submits. The next look goes on.
const TASKS: usize = 100;

/// How many schedules a look reads at once.
const DUE: u32 = 256;

/// How often a command may find that another process has written the schedule meanwhile.
const TRIES: u32 = 100;

/// How far back the latest time is looked for, in microseconds: an hour, a day, a month and so on.
const BACK: [i64; 5] = [
    3_600_000_000,
    86_400_000_000,
    32 * 86_400_000_000,
    367 * 86_400_000_000,
    5 * 366 * 86_400_000_000,
];

/// A schedule that is not stored yet: [`Client::schedule`] stores it.
///
/// # Examples
///
/// ```
/// use reattempt_supervisor::{
///     Client, Memory, Missed, Schedule, Scheduler, StepError, WorkflowContext, workflow,
/// };
///
/// #[workflow]
/// async fn report(_context: &WorkflowContext, place: String) -> Result<(), StepError> {
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(Memory::new());
/// let nightly = Schedule::new("nightly report", "30 2 * * * Europe/Berlin", report("Berlin".to_owned()));
/// client.schedule(nightly.missed(Missed::Last)).await?;
/// // Any process with a scheduler, or a supervisor, submits its tasks.
/// let scheduler = Scheduler::new(&client).register(report).start()?;
/// # scheduler.stop(std::time::Duration::ZERO).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a schedule does nothing before `Client::schedule`"]
pub struct Schedule {
    name: String,
    cron: String,
    revision: i64,
    missed: Missed,
    task: Result<NewTask, StoreError>,
}

impl Schedule {
    /// Creates a schedule of this name, which submits `task` at the times of `cron`. The key of each
    /// task is `cron/`, the name, `/`, and its time in UTC.
    ///
    /// # Units and ranges
    ///
    /// `cron` has five fields - minute, hour, day of the month, month, day of the week - and a time
    /// zone of the IANA database; without one it is UTC. Lists, ranges, steps, names of months and
    /// days, and `L`, `W` and `#` are known.
    ///
    /// An expression whose hour begins with `*` follows the time that passes: `*/15 * * * *` has a
    /// time every 15 minutes, also when the clock changes. Any other one has times of day: a time
    /// that the clock leaves out comes when the clock goes on, and a time that it shows twice comes
    /// once, the first time.
    pub fn new<W: Workflow>(
        name: impl Into<String>,
        cron: impl Into<String>,
        task: Submission<W>,
    ) -> Self {
        Self {
            name: name.into(),
            cron: cron.into(),
            revision: 1,
            missed: Missed::default(),
            task: task.into_task_without_key(),
        }
    }

    /// Sets the revision of this definition: raise it with every change. A lower revision never
    /// replaces a higher one, so a process with older code changes nothing.
    ///
    /// # Default
    ///
    /// 1.
    pub fn revision(self, revision: i64) -> Self {
        Self { revision, ..self }
    }

    /// Sets what happens to times that are over when a process looks.
    ///
    /// # Default
    ///
    /// [`Missed::Run`]: each time gets its task.
    pub fn missed(self, missed: Missed) -> Self {
        Self { missed, ..self }
    }
}

impl Client {
    /// Stores a schedule, unless the store has a higher revision of it. Schedules with the feature
    /// `cron` submit its tasks, each about a second after its time. The first is the first time from
    /// now on; a schedule that is paused stays so.
    ///
    /// # Errors
    ///
    /// Fails if the name has more than 900 bytes, if the cron expression or its time zone is invalid, if the
    /// task has a key or cannot be written as JSON, if the store has the same revision with another definition,
    /// or if the store has an error.
    pub async fn schedule(&self, schedule: Schedule) -> Result<(), SubmitError> {
        let Schedule {
            name,
            cron,
            revision,
            missed,
            task,
        } = schedule;
        if name.len() > LONGEST_NAME {
            return Err(SubmitError::Schedule(format!(
                "the name of a schedule has {} bytes, and may have {LONGEST_NAME}: use a shorter one",
                name.len()
            )));
        }
        let task = task.map_err(Arc::new)?;
        self.check_size(&format!("the input of the schedule `{name}`"), &task.input)?;
        // Each time has a key of its own.
        let task = NewTask {
            key: String::new(),
            ..task
        };
        let task = serde_json::to_string(&task).map_err(SubmitError::Json)?;
        let times = parse(&name, &cron)?;
        self.write_schedule(&name.clone(), |old, now| {
            let Some(old) = old else {
                return Ok(Some(StoredSchedule {
                    name: name.clone(),
                    version: 0,
                    revision,
                    cron: cron.clone(),
                    missed,
                    task: task.clone(),
                    state: ScheduleState::Active,
                    next_at: next_time(&times, now),
                    last_at: None,
                    by: String::new(),
                    why: String::new(),
                }));
            };
            if old.revision > revision {
                return Ok(None);
            }
            if old.revision == revision {
                let is_same = (&old.cron, old.missed) == (&cron, missed)
                    && is_same_task(&old.task, &task);
                return if is_same || old.state == ScheduleState::Removed {
                    Ok(None)
                } else {
                    Err(SubmitError::Schedule(format!(
                        "the schedule `{name}` is stored with revision {revision} and another definition; raise `revision`"
                    )))
                };
            }
            let state = match old.state {
                ScheduleState::Removed => ScheduleState::Active,
                state => state,
            };
            Ok(Some(StoredSchedule {
                revision,
                cron: cron.clone(),
                missed,
                task: task.clone(),
                state,
                next_at: next_time(&times, now),
                ..old
            }))
        })
        .await
    }

    /// Returns all schedules, by name, without those that were removed.
    ///
    /// # Errors
    ///
    /// Fails if the store has an error.
    pub async fn schedules(&self) -> Result<Vec<StoredSchedule>, Arc<StoreError>> {
        let mut schedules = self.read(|store| store.schedules(None)).await?.all;
        schedules.retain(|schedule| schedule.state != ScheduleState::Removed);
        Ok(schedules)
    }

    /// Writes a schedule as `change` returns it for the stored one and the time; `None` changes nothing.
    /// Times that are over get their tasks first: they belong to the stored one.
    async fn write_schedule(
        &self,
        name: &str,
        change: impl Fn(Option<StoredSchedule>, Time) -> Result<Option<StoredSchedule>, SubmitError>,
    ) -> Result<(), SubmitError> {
        let mut left = TRIES;
        while left > 0 {
            let stored = self.read(|store| store.schedules(None)).await?;
            let old = stored.all.into_iter().find(|old| old.name == *name);
            let is_due = |old: &StoredSchedule| {
                old.state == ScheduleState::Active && old.next_at <= stored.now
            };
            let due = old.clone().filter(is_due);
            let due = due.and_then(|old| submit_one(old, stored.now, stored.now.before(LATE)).ok());
            let is_change = due.is_none();
            let write = match due {
                Some(write) => write,
                None => match change(old, stored.now)? {
                    Some(schedule) => ScheduleWrite {
                        schedule,
                        tasks: Vec::new(),
                    },
                    None => return Ok(()),
                },
            };
            if !self.try_schedule(write).await? {
                left = left.saturating_sub(1);
            } else if is_change {
                return Ok(());
            }
        }
        Err(SubmitError::Schedule(format!(
            "the schedule `{name}` was written by others {TRIES} times; try again"
        )))
    }

    /// Writes a schedule. Returns `false` if another process has written it since it was read.
    async fn try_schedule(&self, write: ScheduleWrite) -> Result<bool, SubmitError> {
        match self.write(Write::Schedule(Box::new(write))).await? {
            WriteResult::Scheduled(is_stored) => Ok(is_stored),
            result => Err(unexpected_result(&result).into()),
        }
    }
}

impl Operator {
    /// Pauses a schedule: times until it is resumed get no task.
    ///
    /// # Errors
    ///
    /// Fails if there is no such schedule, or if the store has an error.
    pub async fn pause_schedule(&self, name: &str) -> Result<(), SubmitError> {
        self.set_state(name, ScheduleState::Paused).await
    }

    /// Resumes a schedule, from the first time after now; also one that is not paused and waits for a
    /// later time, because the clock of the store was wrong.
    ///
    /// # Errors
    ///
    /// Fails if there is no such schedule, or if the store has an error.
    pub async fn resume_schedule(&self, name: &str) -> Result<(), SubmitError> {
        self.set_state(name, ScheduleState::Active).await
    }

    /// Removes a schedule. Only a higher revision brings it back.
    ///
    /// # Errors
    ///
    /// Fails if there is no such schedule, or if the store has an error.
    pub async fn remove_schedule(&self, name: &str) -> Result<(), SubmitError> {
        self.set_state(name, ScheduleState::Removed).await
    }

    async fn set_state(&self, name: &str, state: ScheduleState) -> Result<(), SubmitError> {
        let change = |old: Option<StoredSchedule>, now| {
            let old = old.filter(|old| old.state != ScheduleState::Removed);
            let old =
                old.ok_or_else(|| SubmitError::Schedule(format!("there is no schedule `{name}`")))?;
            let next_at = match state {
                ScheduleState::Active => next_time(&parse(name, &old.cron)?, now),
                ScheduleState::Paused | ScheduleState::Removed => old.next_at,
            };
            if (old.state, old.next_at) == (state, next_at) {
                return Ok(None);
            }
            Ok(Some(StoredSchedule {
                state,
                next_at,
                by: self.by.clone(),
                why: self.why.clone(),
                ..old
            }))
        };
        self.client.write_schedule(name, change).await
    }
}

fn parse(name: &str, cron: &str) -> Result<Cron, SubmitError> {
    Cron::parse(cron)
        .map_err(|error| SubmitError::Schedule(format!("the schedule `{name}`: {error}")))
}

/// Returns the first time after now. The last time does not count: a clock that was wrong may have put
/// it far into the future.
fn next_time(times: &Cron, now: Time) -> Time {
    times.next_after(now).unwrap_or(Time::NEVER)
}

/// Submits the tasks of all schedules whose time has come, for a supervisor that looks so often. What
/// another process submits meanwhile is left to it.
pub(crate) async fn submit_due(client: &Client, every: Duration) -> Result<(), StoreError> {
    let shared = client.shared();
    let late = LATE.max(every.saturating_mul(MISSED_LOOKS));
    let mut missed_before = None;
    // Those that submit nothing, or have more times, stay due. They must not hide the others.
    let mut seen = HashSet::new();
    loop {
        let limit = DUE.saturating_add(u32::try_from(seen.len()).unwrap_or(u32::MAX));
        let due = shared.store().schedules(Some(limit)).await?;
        let missed_before = *missed_before.get_or_insert(due.now.before(late));
        let is_last = due.all.len() < usize::try_from(limit).unwrap_or(usize::MAX);
        let mut sent = Vec::new();
        for schedule in due.all {
            let name = schedule.name.clone();
            if !seen.insert(name.clone()) {
                continue;
            }
            match submit_one(schedule, due.now, missed_before) {
                Ok(write) => sent.push(shared.writer().send(Write::Schedule(Box::new(write)))),
                Err(why) => shared.emit_store_error(&StoreError::lasting(format!(
                    "the schedule `{name}` submits nothing: {why}"
                ))),
            }
        }
        for reply in sent {
            if let Err(error) = reply.await {
                shared.emit_store_error(&error);
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Returns a schedule after its times up to now, with their tasks. Times before `missed_before` are
/// missed.
fn submit_one(
    schedule: StoredSchedule,
    now: Time,
    missed_before: Time,
) -> Result<ScheduleWrite, String> {
    let cron = Cron::parse(&schedule.cron).map_err(|error| error.to_string())?;
    let template: NewTask =
        serde_json::from_str(&schedule.task).map_err(|error| error.to_string())?;
    let first = schedule.next_at;
    let (times, last_at) = times_to_run(&cron, schedule.missed, (first, missed_before), now);
    let tasks = times.iter().map(|time| NewTask {
        key: format!("cron/{}/{time}", schedule.name),
        ..template.clone()
    });
    let tasks = tasks.collect();
    let schedule = StoredSchedule {
        next_at: cron.next_after(last_at).unwrap_or(Time::NEVER),
        last_at: Some(last_at),
        ..schedule
    };
    Ok(ScheduleWrite { schedule, tasks })
}

/// Returns the times from `first` to `now` that get a task, and the last time that is over then.
fn times_to_run(
    cron: &Cron,
    missed: Missed,
    (first, missed_before): (Time, Time),
    now: Time,
) -> (Vec<Time>, Time) {
    let from = match missed {
        Missed::Run => first,
        Missed::Skip => first.max(missed_before),
        Missed::Last => {
            let last = latest_time(cron, first, now);
            return (vec![last], last);
        }
    };
    // The time before `from` is not over yet if `from` is one itself.
    let before = Time::from_micros(from.as_micros().saturating_sub(1));
    let next = |time: &Time| cron.next_after(*time).filter(|next| *next <= now);
    let times: Vec<_> = std::iter::successors(next(&before), next)
        .take(TASKS)
        .collect();
    let last = times.last().copied();
    (times, last.unwrap_or_else(|| latest_time(cron, first, now)))
}

/// Returns the last time from `first` to `now`; `first` is one.
fn latest_time(cron: &Cron, first: Time, now: Time) -> Time {
    let next = |time: &Time| cron.next_after(*time).filter(|next| *next <= now);
    for back in BACK {
        let from = Time::from_micros(now.as_micros().saturating_sub(back));
        if from <= first {
            break;
        }
        if let Some(last) = std::iter::successors(next(&from), next).last() {
            return last;
        }
    }
    std::iter::successors(Some(first), next)
        .last()
        .unwrap_or(first)
}

/// Returns whether two texts are the same task. The order of keys in the arguments may differ.
fn is_same_task(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<NewTask>(text);
    let (Ok(one), Ok(other)) = (read(one), read(other)) else {
        return false;
    };
    is_same_json(&one.input, &other.input)
        && other
            == NewTask {
                input: other.input.clone(),
                ..one
            }
}
