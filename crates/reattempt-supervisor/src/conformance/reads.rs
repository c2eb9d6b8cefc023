//! What is read, and `Operation::Prune`.

use std::time::Duration;

use super::bench::{Bench, Checked, LONG, change, hold, new, record, said, same, signal, standing};
use crate::store::{Change, Filter, Operation, Outcome, Wake};
use crate::task::{Kind, NewRun, RunId, State};

super::sentences! {
    "what there is not is not found" => nothing,
    "tasks are listed, the newest first, at most so many, page by page" => pages,
    "tasks are listed by state, workflow and queue" => filters,
    "how many tasks there are in each state" => counts,
    "tasks that ended so long ago are deleted with all that belongs to them, at most so many" => prunes,
    "what has not ended is not deleted, nor what is parked" => spares,
    "two ways to one store have the same number" => salt,
}

async fn nothing(bench: &Bench) -> Checked {
    let id = RunId(1_000_000);
    same("a task", bench.one.run(id).await.map_err(said)?, None)?;
    same(
        "its history",
        bench.one.history(id).await.map_err(said)?,
        Vec::new(),
    )?;
    same(
        "its signals",
        bench.one.signals(id).await.map_err(said)?,
        Vec::new(),
    )?;
    same(
        "tasks",
        bench.one.list(Filter::default()).await.map_err(said)?,
        Vec::new(),
    )?;
    same("an empty list", bench.write([]).await?, Vec::new())?;
    same(
        "counts",
        bench.one.counts().await.map_err(said)?,
        Vec::new(),
    )
}

async fn listed(bench: &Bench, filter: Filter) -> Checked<Vec<RunId>> {
    let runs = bench.other.list(filter).await.map_err(said)?;
    Ok(runs.into_iter().map(|run| run.id).collect())
}

async fn pages(bench: &Bench) -> Checked {
    let mut ids = Vec::new();
    for nth in 0..105 {
        ids.push(bench.submit(new(&nth.to_string())).await?);
    }
    ids.reverse();
    let first: Vec<_> = ids.iter().copied().take(100).collect();
    same("a list", listed(bench, Filter::default()).await?, first)?;
    let mut found = Vec::new();
    loop {
        let before = found.last().copied();
        let page = listed(
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
    same("all pages", found, ids)
}

async fn filters(bench: &Bench) -> Checked {
    for state in State::ALL {
        let held = bench.held_by("a").await?;
        bench
            .held(change(
                hold(&held),
                Change {
                    wake: Wake::In(LONG),
                    ..standing(state)
                },
            ))
            .await?;
        let found = listed(
            bench,
            Filter {
                state: Some(state),
                ..Filter::default()
            },
        )
        .await?;
        same(state.word(), found, vec![held.run.id])?;
    }
    let other = NewRun {
        workflow: "other".to_owned(),
        queue: "r".to_owned(),
        ..new("other")
    };
    let other = bench.submit(other).await?;
    let workflow = Some("other".to_owned());
    same(
        "by workflow",
        listed(
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
    same(
        "by queue",
        listed(
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
    same("by all three", listed(bench, both).await?, Vec::new())
}

async fn counts(bench: &Bench) -> Checked {
    let mut wanted = Vec::new();
    for (nth, state) in (1..).zip(State::ALL) {
        for _ in 0..nth {
            let held = bench.held_by("a").await?;
            bench
                .held(change(
                    hold(&held),
                    Change {
                        wake: Wake::In(LONG),
                        ..standing(state)
                    },
                ))
                .await?;
        }
        wanted.push((state, nth));
    }
    let mut found = bench.other.counts().await.map_err(said)?;
    found.retain(|(_, count)| *count > 0);
    found.sort_by_key(|(state, _)| *state);
    same("how many", found, wanted)
}

async fn prunes(bench: &Bench) -> Checked {
    let mut ids = Vec::new();
    for _ in 0..5 {
        let held = bench.held_by("a").await?;
        bench.held(record(hold(&held), 0, Kind::Done)).await?;
        bench.act(signal(held.run.id, "a")).await?;
        bench
            .held(change(hold(&held), standing(State::Processed)))
            .await?;
        ids.push(held.run.id);
    }
    let key = bench.run(ids[0]).await?.key;
    for (age, limit, wanted) in [
        (LONG, 9, 0),
        (Duration::MAX, 9, 0),
        (Duration::ZERO, 3, 3),
        (Duration::ZERO, 3, 2),
        (Duration::ZERO, 3, 0),
    ] {
        let what = format!("{age:?}");
        same(
            &what,
            bench.act(Operation::Prune(age, limit)).await?,
            Outcome::Pruned(wanted),
        )?;
    }
    for id in ids {
        same("the task", bench.other.run(id).await.map_err(said)?, None)?;
        same("its history", bench.history(id).await?, Vec::new())?;
        same(
            "its signals",
            bench.other.signals(id).await.map_err(said)?,
            Vec::new(),
        )?;
    }
    // Its key is free again, and its number is not.
    let again = bench.submit(new(&key)).await?;
    same("its history", bench.history(again).await?, Vec::new())
}

async fn spares(bench: &Bench) -> Checked {
    let mut left = Vec::new();
    for state in State::ALL {
        let held = bench.held_by("a").await?;
        bench
            .held(change(
                hold(&held),
                Change {
                    wake: Wake::In(LONG),
                    ..standing(state)
                },
            ))
            .await?;
        if !state.is_final() || state == State::Parked {
            left.push(held.run.id);
        }
    }
    same(
        "deleted",
        bench.act(Operation::Prune(Duration::ZERO, 99)).await?,
        Outcome::Pruned(4),
    )?;
    left.reverse();
    same(
        "what is left",
        listed(bench, Filter::default()).await?,
        left,
    )
}

async fn salt(bench: &Bench) -> Checked {
    bench.submit(new("a")).await?;
    same("the number", bench.one.salt(), bench.other.salt())
}
