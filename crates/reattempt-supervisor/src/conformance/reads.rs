//! Reads, and `Write::Prune`.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, change, change_to, check_equal, lease, new, record, sentences,
    signal, to_message,
};
use crate::store::{Change, Filter, Wake, Write, WriteResult};
use crate::task::{NewTask, RecordKind, State, TaskId};

sentences! {
    "a missing task is not found" => nothing,
    "tasks are listed with the newest first, at most `limit`, page by page" => pages,
    "tasks are listed by state, workflow and queue" => filters,
    "the counts are the numbers of tasks in each state" => counts,
    "tasks that ended long ago are deleted with their records and signals, at most `limit`" => prunes,
    "unfinished and parked tasks are not deleted" => spares,
    "two connections to one store have the same salt" => salt,
}

async fn nothing(bench: &Bench) -> CheckResult {
    let id = TaskId(1_000_000);
    check_equal(
        "a task",
        bench.one.task(id).await.map_err(to_message)?,
        None,
    )?;
    check_equal(
        "its history",
        bench.one.history(id).await.map_err(to_message)?,
        Vec::new(),
    )?;
    check_equal(
        "its signals",
        bench.one.signals(id).await.map_err(to_message)?,
        Vec::new(),
    )?;
    check_equal(
        "tasks",
        bench
            .one
            .list(Filter::default())
            .await
            .map_err(to_message)?,
        Vec::new(),
    )?;
    check_equal("an empty list", bench.write([]).await?, Vec::new())?;
    check_equal(
        "counts",
        bench.one.counts().await.map_err(to_message)?,
        Vec::new(),
    )
}

async fn list_ids(bench: &Bench, filter: Filter) -> CheckResult<Vec<TaskId>> {
    let tasks = bench.other.list(filter).await.map_err(to_message)?;
    Ok(tasks.into_iter().map(|task| task.id).collect())
}

async fn pages(bench: &Bench) -> CheckResult {
    let mut ids = Vec::new();
    for nth in 0..105 {
        ids.push(bench.submit(new(&nth.to_string())).await?);
    }
    ids.reverse();
    let first: Vec<_> = ids.iter().copied().take(100).collect();
    check_equal("a list", list_ids(bench, Filter::default()).await?, first)?;
    let mut found = Vec::new();
    loop {
        let before = found.last().copied();
        let page = list_ids(
            bench,
            Filter {
                before,
                limit: 20,
                ..Filter::default()
            },
        )
        .await?;
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    check_equal("all pages", found, ids)
}

async fn filters(bench: &Bench) -> CheckResult {
    for state in State::ALL {
        let held = bench.claim_new("a").await?;
        bench
            .write_held(change(
                lease(&held),
                Change {
                    wake: Wake::In(LONG),
                    ..change_to(state)
                },
            ))
            .await?;
        let found = list_ids(
            bench,
            Filter {
                state: Some(state),
                ..Filter::default()
            },
        )
        .await?;
        check_equal(state.as_str(), found, vec![held.task.id])?;
    }
    let other = NewTask {
        workflow: "other".to_owned(),
        queue: "r".to_owned(),
        ..new("other")
    };
    let other = bench.submit(other).await?;
    let workflow = Some("other".to_owned());
    check_equal(
        "by workflow",
        list_ids(
            bench,
            Filter {
                workflow: workflow.clone(),
                ..Filter::default()
            },
        )
        .await?,
        vec![other],
    )?;
    let queue = Some("r".to_owned());
    check_equal(
        "by queue",
        list_ids(
            bench,
            Filter {
                queue: queue.clone(),
                ..Filter::default()
            },
        )
        .await?,
        vec![other],
    )?;
    let both = Filter {
        state: Some(State::Error),
        workflow,
        queue,
        ..Filter::default()
    };
    check_equal("by all three", list_ids(bench, both).await?, Vec::new())
}

async fn counts(bench: &Bench) -> CheckResult {
    let mut wanted = Vec::new();
    for (nth, state) in (1..).zip(State::ALL) {
        for _ in 0..nth {
            let held = bench.claim_new("a").await?;
            bench
                .write_held(change(
                    lease(&held),
                    Change {
                        wake: Wake::In(LONG),
                        ..change_to(state)
                    },
                ))
                .await?;
        }
        wanted.push((state, nth));
    }
    let mut found = bench.other.counts().await.map_err(to_message)?;
    found.retain(|(_, count)| *count > 0);
    found.sort_by_key(|(state, _)| *state);
    check_equal("the counts", found, wanted)
}

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
        check_equal(
            &what,
            bench.write_one(Write::Prune(age, limit)).await?,
            WriteResult::Pruned(wanted),
        )?;
    }
    for id in ids {
        check_equal(
            "the task",
            bench.other.task(id).await.map_err(to_message)?,
            None,
        )?;
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
    for state in State::ALL {
        let held = bench.claim_new("a").await?;
        bench
            .write_held(change(
                lease(&held),
                Change {
                    wake: Wake::In(LONG),
                    ..change_to(state)
                },
            ))
            .await?;
        if !state.is_final() || state == State::Parked {
            left.push(held.task.id);
        }
    }
    check_equal(
        "deleted",
        bench.write_one(Write::Prune(Duration::ZERO, 99)).await?,
        WriteResult::Pruned(4),
    )?;
    left.reverse();
    check_equal(
        "the remaining tasks",
        list_ids(bench, Filter::default()).await?,
        left,
    )
}

async fn salt(bench: &Bench) -> CheckResult {
    bench.submit(new("a")).await?;
    check_equal("the number", bench.one.salt(), bench.other.salt())
}
