//! Schedules as an application and an operator use them, on a clock that the tests set.
#![cfg(feature = "cron")]

use std::time::Duration;

use reattempt_supervisor::store::{Filter, ScheduleState, ScheduleWrite, StoredSchedule, Write};
use reattempt_supervisor::{
    Client, Memory, Missed, Schedule, StepError, Supervisor, Task, Time, WorkflowContext, workflow,
};

const MINUTE: Duration = Duration::from_secs(60);

#[workflow]
async fn report(_context: &WorkflowContext, _place: String) -> Result<(), StepError> {
    Ok(())
}

fn each_minute() -> Schedule {
    Schedule::new("each minute", "* * * * *", report("here".to_owned()))
}

/// A client, and a process that looks when the test says so.
struct Place {
    client: Client,
    supervisor: Supervisor,
}

impl Place {
    fn new() -> Self {
        let client = Client::new(Memory::new());
        let supervisor = Supervisor::new(&client);
        Self { client, supervisor }
    }

    /// Stores a schedule, and goes to a moment right after one of its times.
    async fn start(schedule: Schedule) -> Self {
        let place = Self::new();
        place.client.schedule(schedule).await.unwrap();
        let now = place.client.store().schedules(None).await.unwrap().now;
        let next = place.stored().await.next_at;
        tokio::time::advance(next.since(now) + Duration::from_secs(1)).await;
        place
    }

    async fn stored(&self) -> StoredSchedule {
        self.client.schedules().await.unwrap().pop().unwrap()
    }

    /// Looks, and returns the tasks since the last look, the oldest first.
    async fn look(&self, seen: &mut usize) -> Vec<Task> {
        self.supervisor.sweep().await.unwrap();
        let limit = 100_000;
        let filter = Filter {
            limit,
            ..Filter::default()
        };
        let mut tasks = self.client.list(filter).await.unwrap();
        tasks.reverse();
        let new = tasks.split_off(*seen);
        *seen += new.len();
        new
    }

    async fn passes(&self, time: Duration, seen: &mut usize) -> usize {
        tokio::time::advance(time).await;
        self.look(seen).await.len()
    }
}

#[tokio::test(start_paused = true)]
async fn each_time_has_a_task_with_its_key() {
    let place = Place::start(each_minute().missed(Missed::Run)).await;
    let before = place.stored().await.next_at;
    let seen = &mut 0;
    let task = place.look(seen).await.pop().unwrap();
    assert_eq!(task.key, format!("cron/each minute/{before}"));
    assert_eq!(
        (task.workflow, task.input),
        ("report".to_owned(), "[\"here\"]".to_owned())
    );
    assert_eq!(place.look(seen).await, []);
    assert_eq!(place.passes(MINUTE, seen).await, 1);
    let stored = place.stored().await;
    assert_eq!(
        stored.last_at.map(|last| last.after(MINUTE)),
        Some(stored.next_at)
    );
    // A look submits a hundred tasks of a schedule, and the next one goes on.
    assert_eq!(place.passes(150 * MINUTE, seen).await, 100);
    assert_eq!(place.look(seen).await.len(), 50);
    assert_eq!(place.look(seen).await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn missed_times_are_run_skipped_or_only_the_last_is_run() {
    for (missed, wanted) in [(Missed::Run, 10), (Missed::Skip, 1), (Missed::Last, 1)] {
        let place = Place::start(each_minute().missed(missed)).await;
        let seen = &mut 0;
        assert_eq!(place.look(seen).await.len(), 1, "{missed:?}");
        tokio::time::advance(10 * MINUTE).await;
        let tasks = place.look(seen).await;
        assert_eq!(tasks.len(), wanted, "{missed:?}");
        let last = place.stored().await.last_at.unwrap();
        assert_eq!(tasks[wanted - 1].key, format!("cron/each minute/{last}"));
        assert_eq!(place.passes(MINUTE, seen).await, 1, "{missed:?}");
    }
    // A time that is more than a minute ago is missed, also if it is the last one.
    for (missed, wanted) in [(Missed::Run, 1), (Missed::Skip, 0), (Missed::Last, 1)] {
        let yearly = Schedule::new("each year", "0 0 1 1 *", report(String::new()));
        let place = Place::start(yearly.missed(missed)).await;
        assert_eq!(place.passes(2 * MINUTE, &mut 0).await, wanted, "{missed:?}");
        let stored = place.stored().await;
        let year = stored.next_at.since(stored.last_at.unwrap());
        assert!(year >= Duration::from_secs(365 * 86_400), "{year:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_older_revision_changes_nothing() {
    let place = Place::start(each_minute().revision(2)).await;
    let seen = &mut 0;
    place.look(seen).await;
    let stored = place.stored().await;
    let hourly = || Schedule::new("each minute", "0 * * * *", report("there".to_owned()));
    place.client.schedule(hourly().revision(1)).await.unwrap();
    place
        .client
        .schedule(each_minute().revision(2))
        .await
        .unwrap();
    assert_eq!(place.stored().await, stored);
    let error = place
        .client
        .schedule(hourly().revision(2))
        .await
        .unwrap_err();
    let wanted = "the schedule `each minute` is stored with revision 2 and another definition; raise `revision`";
    assert_eq!(error.to_string(), wanted);
    // A newer one leaves the times that are over to the old one.
    tokio::time::advance(3 * MINUTE).await;
    place.client.schedule(hourly().revision(3)).await.unwrap();
    let tasks = place.look(seen).await;
    assert_eq!(tasks.len(), 3);
    assert!(tasks.iter().all(|task| task.input == "[\"here\"]"));
    assert_eq!(place.passes(60 * MINUTE, seen).await, 1);
}

#[tokio::test(start_paused = true)]
async fn an_operator_pauses_resumes_and_removes_a_schedule() {
    let place = Place::start(each_minute()).await;
    let seen = &mut 0;
    let operator = place.client.operator("Ada", "too many");
    // The time that is over is not lost.
    operator.pause_schedule("each minute").await.unwrap();
    assert_eq!(place.look(seen).await.len(), 1);
    assert_eq!(place.passes(5 * MINUTE, seen).await, 0);
    let stored = place.stored().await;
    let found = (stored.state, &*stored.by, &*stored.why);
    assert_eq!(found, (ScheduleState::Paused, "Ada", "too many"));
    // An operator that pauses it again changes nothing.
    let other = place.client.operator("Bob", "again");
    other.pause_schedule("each minute").await.unwrap();
    assert_eq!(place.stored().await, stored);
    // A process that starts leaves it paused, also with a new revision.
    place
        .client
        .schedule(each_minute().revision(2))
        .await
        .unwrap();
    assert_eq!(place.passes(5 * MINUTE, seen).await, 0);
    operator.resume_schedule("each minute").await.unwrap();
    assert_eq!(place.passes(MINUTE, seen).await, 1);
    operator.remove_schedule("each minute").await.unwrap();
    place
        .client
        .schedule(each_minute().revision(2))
        .await
        .unwrap();
    assert_eq!(place.passes(MINUTE, seen).await, 0);
    // What its last revision was does not matter any more.
    let same = each_minute().missed(Missed::Last).revision(2);
    place.client.schedule(same).await.unwrap();
    assert_eq!(place.client.schedules().await.unwrap(), []);
    let error = operator.pause_schedule("each minute").await.unwrap_err();
    assert_eq!(error.to_string(), "there is no schedule `each minute`");
    place
        .client
        .schedule(each_minute().revision(3))
        .await
        .unwrap();
    assert_eq!(place.passes(MINUTE, seen).await, 1);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_a_schedule_is_refused() {
    let place = Place::new();
    let report = || report(String::new());
    for (schedule, wanted) in [
        (
            Schedule::new("a", "0 9 * * * Mars/Olympus", report()),
            "the schedule `a`: `0 9 * * * Mars/Olympus` is not a cron expression: this machine knows no time zone `Mars/Olympus`",
        ),
        (
            Schedule::new("a", "0 9 * * *", report().key("b")),
            "a schedule sets the keys of its tasks; leave out `key`",
        ),
        (
            Schedule::new("a".repeat(901), "0 9 * * *", report()),
            "the name of a schedule has 901 bytes, and may have 900: use a shorter one",
        ),
    ] {
        let error = place
            .client
            .schedule(schedule)
            .await
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(wanted), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_supervisor_that_looks_rarely_misses_nothing() {
    let yearly = Schedule::new("each year", "0 0 1 1 *", report(String::new()));
    let mut place = Place::start(yearly.missed(Missed::Skip)).await;
    place.supervisor = place.supervisor.every(5 * MINUTE);
    assert_eq!(place.passes(7 * MINUTE, &mut 0).await, 1);
}

#[tokio::test(start_paused = true)]
async fn times_before_a_schedule_have_no_task() {
    for missed in [Missed::Run, Missed::Skip, Missed::Last] {
        let mut place = Place::start(each_minute().missed(missed)).await;
        place.supervisor = place.supervisor.every(5 * MINUTE);
        assert_eq!(place.look(&mut 0).await.len(), 1, "{missed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_look_finds_all_schedules_also_behind_those_that_submit_nothing() {
    let place = Place::start(each_minute().missed(Missed::Skip)).await;
    let good = place.stored().await;
    let mut writes = Vec::new();
    for nth in 0..600 {
        let is_bad = nth < 300;
        let cron = if is_bad {
            "from another release"
        } else {
            &*good.cron
        };
        let hour = if is_bad { 3_600_000_000 } else { 0 };
        let schedule = StoredSchedule {
            name: format!("schedule {nth}"),
            version: 0,
            cron: cron.to_owned(),
            next_at: Time::from_micros(good.next_at.as_micros() - hour),
            ..good.clone()
        };
        let tasks = Vec::new();
        writes.push(Write::Schedule(Box::new(ScheduleWrite { schedule, tasks })));
    }
    place.client.store().write(writes.into()).await.unwrap();
    assert_eq!(place.look(&mut 0).await.len(), 301);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_wrong_is_forgotten_when_a_schedule_is_resumed_or_changed() {
    let place = Place::start(each_minute()).await;
    let seen = &mut 0;
    place.look(seen).await;
    let operator = place.client.operator("Ada", "the clock was wrong");
    for change in ["resume", "pause and resume", "revision"] {
        let mut schedule = place.stored().await;
        schedule.next_at = schedule.next_at.after(366 * 24 * 60 * MINUTE);
        schedule.last_at = Some(schedule.next_at);
        let tasks = Vec::new();
        let write = Write::Schedule(Box::new(ScheduleWrite { schedule, tasks }));
        place.client.store().write([write].into()).await.unwrap();
        assert_eq!(place.passes(MINUTE, seen).await, 0);
        if change.starts_with("pause") {
            operator.pause_schedule("each minute").await.unwrap();
        }
        if change.ends_with("resume") {
            operator.resume_schedule("each minute").await.unwrap();
        } else {
            let newer = each_minute().revision(2);
            place.client.schedule(newer).await.unwrap();
        }
        assert_eq!(place.passes(MINUTE, seen).await, 1, "{change}");
    }
}
