//! `Write::Schedule`.

use super::bench::{Bench, CheckResult, check_equal, new, sentences, to_message, unless_busy};
use reattempt_supervisor::store::{
    Missed, ScheduleState, ScheduleWrite, Schedules, Store, StoredSchedule, Write, WriteResult,
};
use reattempt_supervisor::{NewTask, Time};

sentences! {
    "a schedule is stored unchanged, and its version grows" => stores_it,
    "a schedule counts only if nobody has written it since, and a lower revision never" => newest,
    "a schedule and its tasks are stored together or not at all" => with_tasks,
    "the schedules that are due are active, the earliest first" => due,
    "of two writers of a schedule at the same time one stores it with its tasks" => at_once,
}

fn schedule(name: &str) -> StoredSchedule {
    StoredSchedule {
        name: name.to_owned(),
        version: 0,
        revision: 3,
        cron: "30 2 * * * Europe/Berlin".to_owned(),
        missed: Missed::Skip,
        task: "{\"zw\\u00f6lf\":1}".to_owned(),
        state: ScheduleState::Active,
        next_at: Time::NEVER,
        last_at: None,
        by: String::new(),
        why: "a 'reason'".to_owned(),
    }
}

impl Bench {
    async fn schedule(&self, schedule: &StoredSchedule, tasks: Vec<NewTask>) -> CheckResult<bool> {
        match self.write_one(write(schedule, tasks)).await? {
            WriteResult::Scheduled(is_stored) => Ok(is_stored),
            result => Err(format!("the result of a schedule is {result:?}")),
        }
    }

    async fn schedules(&self, due: Option<u32>) -> CheckResult<Schedules> {
        self.other.schedules(due).await.map_err(to_message)
    }
}

fn write(schedule: &StoredSchedule, tasks: Vec<NewTask>) -> Write {
    let schedule = schedule.clone();
    Write::Schedule(Box::new(ScheduleWrite { schedule, tasks }))
}

async fn stores_it(bench: &Bench) -> CheckResult {
    let mut one = schedule("one");
    check_equal(
        "the first time",
        bench.schedule(&one, Vec::new()).await?,
        true,
    )?;
    one.version = 1;
    check_equal("all", bench.schedules(None).await?.all, vec![one.clone()])?;
    one = StoredSchedule {
        revision: 4,
        cron: "* * * * *".to_owned(),
        missed: Missed::Last,
        task: "{}".to_owned(),
        state: ScheduleState::Paused,
        next_at: Time::from_micros(7),
        last_at: Some(Time::from_micros(5)),
        by: "Ada".to_owned(),
        why: String::new(),
        ..one
    };
    check_equal(
        "the second time",
        bench.schedule(&one, Vec::new()).await?,
        true,
    )?;
    one.version = 2;
    check_equal("all", bench.schedules(None).await?.all, vec![one])
}

async fn newest(bench: &Bench) -> CheckResult {
    let one = schedule("one");
    bench.schedule(&one, Vec::new()).await?;
    check_equal("again", bench.schedule(&one, Vec::new()).await?, false)?;
    let seen = StoredSchedule { version: 1, ..one };
    let older = StoredSchedule {
        revision: 2,
        ..seen.clone()
    };
    check_equal(
        "an older revision",
        bench.schedule(&older, Vec::new()).await?,
        false,
    )?;
    let newer = StoredSchedule {
        revision: 5,
        ..seen.clone()
    };
    check_equal(
        "a newer revision",
        bench.schedule(&newer, Vec::new()).await?,
        true,
    )?;
    check_equal(
        "an older version",
        bench.schedule(&seen, Vec::new()).await?,
        false,
    )?;
    let unknown = StoredSchedule {
        version: 1,
        ..schedule("two")
    };
    check_equal(
        "one that is gone",
        bench.schedule(&unknown, Vec::new()).await?,
        false,
    )?;
    let revisions = bench.schedules(None).await?.all;
    let revisions: Vec<_> = revisions
        .iter()
        .map(|one| (one.version, one.revision))
        .collect();
    check_equal("the versions and revisions", revisions, vec![(2, 5)])
}

async fn with_tasks(bench: &Bench) -> CheckResult {
    let one = schedule("one");
    let tasks = vec![new("a"), new("b")];
    check_equal("the first time", bench.schedule(&one, tasks).await?, true)?;
    check_equal("again", bench.schedule(&one, vec![new("c")]).await?, false)?;
    let keys = bench
        .claim("a", 9)
        .await?
        .into_iter()
        .map(|claimed| claimed.task.key);
    check_equal(
        "the tasks",
        keys.collect(),
        vec!["a".to_owned(), "b".to_owned()],
    )?;
    // A task that is there already is not stored again.
    let seen = StoredSchedule { version: 1, ..one };
    check_equal(
        "with a task that is there",
        bench.schedule(&seen, vec![new("a"), new("d")]).await?,
        true,
    )?;
    let keys = bench
        .claim("a", 9)
        .await?
        .into_iter()
        .map(|claimed| claimed.task.key);
    check_equal("the new tasks", keys.collect(), vec!["d".to_owned()])
}

async fn due(bench: &Bench) -> CheckResult {
    let now = bench.now().await?;
    let at = |micros: i64| Time::from_micros(now.as_micros().saturating_add(micros));
    for (name, state, next_at) in [
        ("later", ScheduleState::Active, at(3_600_000_000)),
        ("second", ScheduleState::Active, at(-1_000)),
        ("paused", ScheduleState::Paused, at(-9_000)),
        ("removed", ScheduleState::Removed, at(-9_000)),
        ("first", ScheduleState::Active, at(-2_000)),
    ] {
        let one = StoredSchedule {
            state,
            next_at,
            ..schedule(name)
        };
        bench.schedule(&one, Vec::new()).await?;
    }
    for (limit, wanted) in [(9, vec!["first", "second"]), (1, vec!["first"])] {
        let due = bench.schedules(Some(limit)).await?;
        let names: Vec<_> = due.all.iter().map(|one| one.name.as_str()).collect();
        check_equal("those that are due", names, wanted)?;
        check_equal("the time is that of the store", due.now >= now, true)?;
    }
    Ok(())
}

async fn at_once(bench: &Bench) -> CheckResult {
    for round in 0..4 {
        let names: Vec<_> = (0..6).map(|nth| format!("{round} {nth}")).collect();
        let stored = |version| {
            let one = move |name: &String| StoredSchedule {
                version,
                ..schedule(name)
            };
            names.iter().map(one).collect::<Vec<_>>()
        };
        for version in 0..3 {
            let writes = |by: &'static str| {
                let with_task = move |one: StoredSchedule| {
                    let task = new(&format!("{} {version} {by}", one.name));
                    write(&one, vec![task])
                };
                stored(version)
                    .into_iter()
                    .map(with_task)
                    .collect::<Vec<_>>()
            };
            let mut back = writes("back");
            back.reverse();
            let (ahead, back) = tokio::join!(
                write_until_stored(&*bench.one, writes("ahead")),
                write_until_stored(&*bench.other, back)
            );
            let (ahead, mut back) = (ahead?, back?);
            back.reverse();
            for pair in ahead.into_iter().zip(back) {
                // A writer that gets no answer in time does not know, and repeats the write in vain.
                check_equal("both of them stored it", pair, (pair.0, pair.1 && !pair.0))?;
            }
        }
        let claimed = bench.claim("a", 100).await?.len();
        check_equal("the number of tasks", claimed, 18)?;
        let stored = bench.schedules(None).await?.all;
        let is_old = |one: &StoredSchedule| names.contains(&one.name) && one.version != 3;
        check_equal(
            "a schedule that was not written",
            stored.into_iter().find(is_old),
            None,
        )?;
    }
    Ok(())
}

/// Carries out writes of schedules, each by itself if the store is busy. Returns which were stored.
async fn write_until_stored(store: &dyn Store, writes: Vec<Write>) -> CheckResult<Vec<bool>> {
    let mut stored = Vec::new();
    for write in writes {
        let results = loop {
            if let Some(results) = unless_busy(store.write([write.clone()].into()).await)? {
                break results;
            }
        };
        stored.push(results == [WriteResult::Scheduled(true)]);
    }
    Ok(stored)
}
