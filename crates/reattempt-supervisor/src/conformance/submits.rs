//! `Operation::Submit`.

use std::time::Duration;

use super::bench::{Bench, Checked, new, said, same};
use crate::store::{Operation, Outcome};
use crate::task::{Direction, Fence, NewRun, Run, State};
use crate::time::Time;

super::sentences! {
    "stores a task as it is given" => stores_it,
    "stores a task, unless one of its workflow has its key" => once_by_key,
    "two who submit the same key at the same time get the same task" => once_by_key_at_once,
    "there are as many outcomes as operations, in their order" => in_order,
    "the operations of one write happen all or none" => all_or_none,
}

async fn stores_it(bench: &Bench) -> Checked {
    let given = NewRun {
        version: 7,
        priority: -3,
        input: "[1,\"zw\\u00f6lf\"]".to_owned(),
        headers: Some("{\"a\":1}".to_owned()),
        delay: Duration::from_secs(100),
        complete_by: Some(Duration::from_secs(1_000)),
        ..new("key")
    };
    let id = bench.submit(given.clone()).await?;
    let run = bench.run(id).await?;
    let wanted = Run {
        id,
        workflow: given.workflow,
        version: 7,
        queue: given.queue,
        priority: -3,
        key: given.key,
        state: State::Pending,
        direction: Direction::Forward,
        wake_at: run.created_at.after(Duration::from_secs(100)),
        complete_by: Some(run.created_at.after(Duration::from_secs(1_000))),
        step_by: None,
        owner: None,
        fence: Fence(0),
        failures: 0,
        max_failures: 3,
        cancel_asked: false,
        input: given.input,
        output: None,
        error: None,
        headers: given.headers,
        created_at: run.created_at,
        updated_at: run.created_at,
    };
    same(
        "the time of the store is about that of this machine",
        true,
        {
            let now = Time::of_this_machine();
            let hour = Duration::from_secs(3_600);
            run.created_at <= now.after(hour) && now <= run.created_at.after(hour)
        },
    )?;
    same("the task", run, wanted)
}

async fn once_by_key(bench: &Bench) -> Checked {
    let id = bench.submit(new("key")).await?;
    let again = NewRun {
        input: "2".to_owned(),
        ..new("key")
    };
    let old = Outcome::Submitted { id, is_new: false };
    same(
        "the same key again",
        bench.act(Operation::Submit(Box::new(again))).await?,
        old.clone(),
    )?;
    same("its input", bench.run(id).await?.input, "{}".to_owned())?;
    let other = NewRun {
        workflow: "other".to_owned(),
        ..new("key")
    };
    bench.submit(other).await?;
    let two = [
        Operation::Submit(Box::new(new("twice"))),
        Operation::Submit(Box::new(new("twice"))),
    ];
    let outcomes = bench.write(two).await?;
    let [
        Outcome::Submitted {
            id: first,
            is_new: true,
        },
        Outcome::Submitted {
            id: second,
            is_new: false,
        },
    ] = outcomes[..]
    else {
        return Err(format!("twice in one list: {outcomes:?}"));
    };
    same("twice in one list", second, first)?;
    // It stays so when the task has ended.
    let claimed = bench.claim("a", 1).await?.pop().ok_or("nothing is ready")?;
    bench
        .held(super::bench::change(
            super::bench::hold(&claimed),
            super::bench::standing(State::Processed),
        ))
        .await?;
    same(
        "after its end",
        bench.act(Operation::Submit(Box::new(new("key")))).await?,
        old,
    )
}

async fn once_by_key_at_once(bench: &Bench) -> Checked {
    for round in 0..20 {
        // In another order, which must not make them wait for each other.
        let keys: Vec<_> = (0..8).map(|nth| format!("{round} {nth}")).collect();
        let submit = |key: &String| Operation::Submit(Box::new(new(key)));
        let ahead: Vec<_> = keys.iter().map(submit).collect();
        let back: Vec<_> = keys.iter().rev().map(submit).collect();
        let (ahead, back) = tokio::join!(
            bench.one.write(ahead.into()),
            bench.other.write(back.into())
        );
        let mut back = back.map_err(said)?;
        back.reverse();
        for pair in ahead.map_err(said)?.iter().zip(&back) {
            let (
                Outcome::Submitted { id: a, is_new: one },
                Outcome::Submitted {
                    id: b,
                    is_new: other,
                },
            ) = pair
            else {
                return Err(format!("{pair:?}"));
            };
            same("the number of the task", a, b)?;
            same("exactly one of them stored it", one ^ other, true)?;
        }
    }
    Ok(())
}

async fn in_order(bench: &Bench) -> Checked {
    let submits: Vec<_> = (0..40)
        .map(|nth| Operation::Submit(Box::new(new(&format!("{}", 99 - nth)))))
        .collect();
    let outcomes = bench.write(submits).await?;
    let mut claimed = bench.claim("a", 100).await?.into_iter();
    for (nth, outcome) in outcomes.iter().enumerate() {
        let Outcome::Submitted { id, is_new: true } = outcome else {
            return Err(format!("{outcome:?}"));
        };
        same(
            "the key of a task",
            bench.run(*id).await?.key,
            format!("{}", 99 - nth),
        )?;
        let claimed = claimed.next().ok_or("not all are ready")?;
        same(
            "the first that was submitted is claimed first",
            claimed.run.id,
            *id,
        )?;
    }
    Ok(())
}

async fn all_or_none(bench: &Bench) -> Checked {
    // A text that PostgreSQL does not keep; a store that keeps it has nothing to undo.
    let odd = NewRun {
        input: "\"\0\"".to_owned(),
        ..new("odd")
    };
    let list = [
        Operation::Submit(Box::new(new("even"))),
        Operation::Submit(Box::new(odd)),
    ];
    let written = bench.one.write(list.into()).await;
    let there = bench.other.counts().await.map_err(said)?;
    let wanted = if written.is_ok() {
        vec![(State::Pending, 2)]
    } else {
        Vec::new()
    };
    same("tasks that are there", there, wanted)?;
    bench.submit(new("after")).await.map(drop)
}
