//! `Write::Prune`.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, SHORT, change, change_to, check_equal, check_that, lease, new,
    record, sentences, signal, to_message,
};
use reattempt_supervisor::store::{
    Change, ClaimedTask, Filter, NextGeneration, Submitted, Write, WriteResult,
};
use reattempt_supervisor::{NewTask, RecordKind, Retention, State, TaskId, TaskLimit};

sentences! {
    "tasks that ended long ago are deleted with their records and signals, at most `limit`" => prunes,
    "unfinished and parked tasks are not deleted" => spares,
    "a key that outlives its task finds its number, and everything else is gone" => keeps_keys,
    "a key is taken as long as it should, and for the lag of a replica after its task was pruned" => frees_keys,
    "a free key stores another task, whose incarnation is the next" => counts_incarnations,
    "a free key finds no room in a full queue" => finds_no_room,
    "the line of a free key goes when it has been free for long" => forgets_keys,
    "a random key goes with its task" => random_keys,
    "the children of a pruned task are deleted with their keys" => children,
    "a pruned task takes no place of its queue" => limited,
    "a child stays as long as the generation that started it, and no longer" => children_of_generations,
}

const WITH_KEYS: Retention = Retention {
    keys: LONG,
    ..AT_ONCE
};

/// Keys are free at once.
const AT_ONCE: Retention = Retention {
    tasks: Duration::ZERO,
    keys: Duration::ZERO,
    lag: Duration::ZERO,
    forget_keys: LONG,
    ends: LONG,
};

async fn prunes(bench: &Bench) -> CheckResult {
    let mut ids = Vec::new();
    for _ in 0..5 {
        let held = bench.claim_new("a").await?;
        bench
            .write_held(record(lease(&held), 0, RecordKind::Done))
            .await?;
        bench.write_one(signal(held.task.id, "a")).await?;
        bench
            .write_held(change(lease(&held), change_to(State::Processed)))
            .await?;
        ids.push(held.task.id);
    }
    let key = bench.task(ids[0]).await?.key;
    for (age, limit, wanted) in [
        (LONG, 9, 0),
        (Duration::MAX, 9, 0),
        (Duration::ZERO, 3, 3),
        (Duration::ZERO, 3, 2),
        (Duration::ZERO, 3, 0),
    ] {
        let what = format!("{age:?}");
        let retention = Retention {
            tasks: age,
            ..AT_ONCE
        };
        check_equal(
            &what,
            bench.write_one(Write::Prune(retention, limit)).await?,
            WriteResult::Pruned(wanted),
        )?;
    }
    for id in ids {
        check_equal("the task", bench.task(id).await?.state, State::Pruned)?;
        check_equal("its history", bench.history(id).await?, Vec::new())?;
        check_equal(
            "its signals",
            bench.other.signals(id).await.map_err(to_message)?,
            Vec::new(),
        )?;
    }
    // Its key is free again, and its number is not.
    let again = bench.submit(new(&key)).await?;
    check_equal("its history", bench.history(again).await?, Vec::new())
}

async fn spares(bench: &Bench) -> CheckResult {
    let mut left = Vec::new();
    for state in State::ALL
        .into_iter()
        .filter(|state| *state != State::Pruned)
    {
        let held = bench.claim_new("a").await?;
        bench.give_state(&held, state).await?;
        if !state.is_final() || state == State::Parked {
            left.push(held.task.id);
        }
    }
    check_equal(
        "deleted",
        bench
            .write_one(Write::Prune(Duration::ZERO.into(), 99))
            .await?,
        WriteResult::Pruned(4),
    )?;
    left.reverse();
    let tasks = bench.other.list(Filter::default()).await;
    let tasks = tasks.map_err(to_message)?.into_iter();
    let tasks = tasks.filter(|task| task.state != State::Pruned);
    let tasks: Vec<_> = tasks.map(|task| task.id).collect();
    check_equal("the remaining tasks", tasks, left)
}

/// Submits a task with this key, and ends it.
async fn ended(bench: &Bench, task: NewTask) -> CheckResult<TaskId> {
    let id = bench.submit(task).await?;
    let held = bench.claim_one("a").await?;
    check_equal("the claimed task", held.task.id, id)?;
    bench
        .write_held(record(lease(&held), 0, RecordKind::Done))
        .await?;
    bench.write_one(signal(id, "a")).await?;
    let end = Change {
        output: Some("7".to_owned()),
        error: Some("none".to_owned()),
        ..change_to(State::Processed)
    };
    bench.write_held(change(lease(&held), end)).await?;
    Ok(id)
}

async fn prune(bench: &Bench, retention: impl Into<Retention>, wanted: u64) -> CheckResult {
    let pruned = bench.write_one(Write::Prune(retention.into(), 99)).await?;
    check_equal(
        "the number of pruned tasks",
        pruned,
        WriteResult::Pruned(wanted),
    )
}

/// Submits a task, and returns what the store says of one that was there before.
async fn submit(bench: &Bench, task: NewTask) -> CheckResult<Submitted> {
    match bench.write_one(Write::Submit(Box::new(task))).await? {
        WriteResult::Submitted(submitted) => Ok(submitted),
        other => Err(format!("the submission returned {other:?}")),
    }
}

async fn keeps_keys(bench: &Bench) -> CheckResult {
    let task = NewTask {
        headers: Some(r#"{"tenant":"7"}"#.to_owned()),
        lane: Some("l".to_owned()),
        ..new("k")
    };
    let id = ended(bench, task).await?;
    let before = bench.task(id).await?;
    prune(bench, WITH_KEYS, 1).await?;
    let task = bench.task(id).await?;
    check_equal("the state", task.state, State::Pruned)?;
    check_equal(
        "when its key is free",
        task.wake_at,
        before.updated_at.after(LONG),
    )?;
    check_equal("what is left", (&*task.key, &*task.input), ("k", "null"))?;
    check_equal(
        "what is gone",
        (task.output, task.error, task.headers, task.lane),
        (None, None, None, None),
    )?;
    check_equal("its history", bench.history(id).await?, Vec::new())?;
    let signals = bench.other.signals(id).await.map_err(to_message)?;
    check_equal("its signals", signals, Vec::new())?;
    let wanted = Submitted {
        id,
        is_new: false,
        same_arguments: None,
    };
    for input in ["[]", "[1]"] {
        let again = NewTask {
            input: input.to_owned(),
            ..new("k")
        };
        check_equal("the submission", submit(bench, again).await?, wanted)?;
    }
    let other = NewTask {
        workflow: "other".to_owned(),
        ..new("k")
    };
    check_that(
        "another workflow has keys of its own",
        submit(bench, other).await?.is_new,
    )?;
    let filter = Filter {
        state: Some(State::Pruned),
        ..Filter::default()
    };
    let listed = bench.other.list(filter).await.map_err(to_message)?;
    check_equal(
        "the pruned tasks",
        listed.iter().map(|task| task.id).collect(),
        vec![id],
    )?;
    let counts = bench.other.counts().await.map_err(to_message)?;
    check_that("they are counted", counts.contains(&(State::Pruned, 1)))?;
    check_equal("the claimed tasks", bench.claim("a", 9).await?.len(), 0)?;
    prune(bench, WITH_KEYS, 0).await?;
    prune(bench, AT_ONCE, 0).await?;
    check_equal("the submission", submit(bench, new("k")).await?, wanted)
}

async fn frees_keys(bench: &Bench) -> CheckResult {
    for is_lag in [false, true] {
        let mut wait = Duration::from_millis(300);
        // Longer where the machine is too slow to find the key taken.
        while !frees_key(bench, is_lag, wait).await? {
            check_that(
                "a taken key is found in time",
                wait < Duration::from_secs(4),
            )?;
            wait = wait.saturating_mul(4);
        }
    }
    Ok(())
}

/// Returns whether the key was looked at while it was taken.
async fn frees_key(bench: &Bench, is_lag: bool, wait: Duration) -> CheckResult<bool> {
    let (keys, lag) = if is_lag {
        (Duration::ZERO, wait)
    } else {
        (wait, Duration::ZERO)
    };
    let key = format!("{keys:?} {lag:?}");
    let id = ended(bench, new(&key)).await?;
    let ended_at = bench.task(id).await?.updated_at;
    let retention = Retention {
        keys,
        lag,
        ..AT_ONCE
    };
    prune(bench, retention, 1).await?;
    let free_at = bench.task(id).await?.wake_at;
    check_that("it is taken for so long", free_at >= ended_at.after(wait))?;
    // A later prune does not free what was promised.
    let pruned = bench.write_one(Write::Prune(AT_ONCE, 1_000)).await?;
    let found = submit(bench, new(&key)).await?;
    let is_in_time = bench.now().await? < free_at;
    if is_in_time {
        check_equal("the later prune", pruned, WriteResult::Pruned(0))?;
        check_equal("a taken key", found.id, id)?;
        bench.wait_until_past(free_at).await?;
    }
    let again = if found.is_new {
        found
    } else {
        submit(bench, new(&key)).await?
    };
    check_that(
        "the key is free, and the number is not",
        again.is_new && again.id != id,
    )?;
    let task = bench.other.task(id).await.map_err(to_message)?;
    check_equal("the line", task, None)?;
    let second = submit(bench, new(&key)).await?;
    check_that(
        "the second submission finds it",
        !second.is_new && second.id == again.id,
    )?;
    // It must not be claimed as the next one.
    bench.claim_one("a").await?;
    Ok(is_in_time)
}

async fn counts_incarnations(bench: &Bench) -> CheckResult {
    for incarnation in 0..3 {
        let tasks = ["k", "l"].map(|key| Write::Submit(Box::new(new(key))));
        for result in bench.write(tasks).await? {
            let WriteResult::Submitted(stored) = result else {
                return Err(format!("the submission returned {result:?}"));
            };
            check_that("it is new", stored.is_new)?;
            let task = bench.task(stored.id).await?;
            check_equal("its incarnation", task.incarnation, incarnation)?;
        }
        for held in bench.claim("a", 2).await? {
            check_equal("that of a claim", held.task.incarnation, incarnation)?;
            let end = change(lease(&held), change_to(State::Processed));
            bench.write_held(end).await?;
        }
        prune(bench, AT_ONCE, 2).await?;
    }
    Ok(())
}

async fn finds_no_room(bench: &Bench) -> CheckResult {
    let bounded = |key| NewTask {
        max_pending: Some(1),
        ..new(key)
    };
    ended(bench, new("k")).await?;
    prune(bench, AT_ONCE, 1).await?;
    bench.submit(new("other")).await?;
    let submit = |key| Write::Submit(Box::new(bounded(key)));
    let full = bench.write_one(submit("k")).await?;
    check_equal("the submission", full, WriteResult::QueueFull)?;
    bench.claim_one("a").await?;
    let WriteResult::Submitted(stored) = bench.write_one(submit("k")).await? else {
        return Err("there is room".to_owned());
    };
    let incarnation = bench.task(stored.id).await?.incarnation;
    check_equal("the incarnation", (stored.is_new, incarnation), (true, 1))
}

async fn forgets_keys(bench: &Bench) -> CheckResult {
    let forgetful = Retention {
        forget_keys: Duration::ZERO,
        ..AT_ONCE
    };
    ended(bench, new("k")).await?;
    prune(bench, forgetful, 1).await?;
    // Its line is still there.
    let again = bench.submit(new("k")).await?;
    check_equal("the incarnation", bench.task(again).await?.incarnation, 0)?;
    bench.claim_one("a").await?;
    let other = ended(bench, new("l")).await?;
    prune(bench, forgetful, 1).await?;
    prune(bench, AT_ONCE, 1).await?;
    let task = bench.other.task(other).await.map_err(to_message)?;
    check_equal("the line", task, None)?;
    // Both times are those of the prune that has deleted the task.
    let kept = ended(bench, new("m")).await?;
    prune(bench, AT_ONCE, 1).await?;
    prune(bench, forgetful, 0).await?;
    let until = bench.task(kept).await?;
    check_that(
        "the line stays",
        until.updated_at >= until.wake_at.after(AT_ONCE.forget_keys),
    )
}

async fn random_keys(bench: &Bench) -> CheckResult {
    // As a submission without a key gets it.
    let id = ended(bench, new(&format!("~{:032x}", rand::random::<u128>()))).await?;
    prune(bench, WITH_KEYS, 1).await?;
    let task = bench.other.task(id).await.map_err(to_message)?;
    check_equal("the task", task, None)?;
    // Their length and their first character are those of random keys.
    for key in [
        format!("~{}", "\u{e9}".repeat(16)),
        format!("~{}", "x".repeat(32)),
    ] {
        let id = ended(bench, new(&key)).await?;
        prune(bench, WITH_KEYS, 1).await?;
        let state = bench.task(id).await?.state;
        check_equal("a key of a caller", state, State::Pruned)?;
    }
    Ok(())
}

/// Starts a child, and ends it.
async fn ended_child(bench: &Bench, parent: &ClaimedTask, key: &str) -> CheckResult<TaskId> {
    let Write::Record(held, start) = record(lease(parent), 0, RecordKind::Done) else {
        return Err("a record".to_owned());
    };
    let started = bench
        .write_one(Write::Start(held, start, Box::new(new(key))))
        .await?;
    let WriteResult::Started(_, child) = started else {
        return Err(format!("the start returned {started:?}"));
    };
    let held = bench.claim_one("a").await?;
    bench
        .write_held(change(lease(&held), change_to(State::Processed)))
        .await?;
    Ok(child)
}

async fn children(bench: &Bench) -> CheckResult {
    bench.submit(new("parent")).await?;
    let parent = bench.claim_one("a").await?;
    let child = ended_child(bench, &parent, "child").await?;
    prune(bench, WITH_KEYS, 0).await?;
    bench
        .write_held(change(lease(&parent), change_to(State::Processed)))
        .await?;
    prune(bench, WITH_KEYS, 1).await?;
    check_equal(
        "the parent",
        bench.task(parent.task.id).await?.state,
        State::Pruned,
    )?;
    prune(bench, WITH_KEYS, 1).await?;
    let child = bench.other.task(child).await.map_err(to_message)?;
    check_equal("the child", child, None)
}

async fn limited(bench: &Bench) -> CheckResult {
    let limit = TaskLimit::new().concurrency(1);
    let limit = Write::LimitQueue("q".to_owned(), limit);
    bench.write_one(limit).await?;
    ended(bench, new("k")).await?;
    prune(bench, WITH_KEYS, 1).await?;
    let next = bench.submit(new("next")).await?;
    check_equal(
        "the claimed task",
        bench.claim_until_ready("a").await?.task.id,
        next,
    )
}

async fn children_of_generations(bench: &Bench) -> CheckResult {
    bench.submit(new("parent")).await?;
    let mut parent = bench.claim_one("a").await?;
    for generation in 1..3 {
        let child = ended_child(bench, &parent, &format!("child {generation}")).await?;
        prune(bench, Duration::ZERO, 0).await?;
        let started = bench.task(child).await?.created_at;
        bench.wait_until_past(started.after(SHORT)).await?;
        let next = NextGeneration {
            generation,
            version: 1,
            input: "[]".to_owned(),
            heard: Vec::new(),
        };
        bench
            .write_held(Write::Continue(lease(&parent), Box::new(next)))
            .await?;
        prune(bench, Duration::ZERO, 1).await?;
        let child = bench.other.task(child).await.map_err(to_message)?;
        check_equal("the child", child, None)?;
        parent = bench.claim_one("a").await?;
    }
    Ok(())
}
