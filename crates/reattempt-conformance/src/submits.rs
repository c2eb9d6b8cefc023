//! `Write::Submit`.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, check_equal, new, sentences, to_message, write_at_last,
};
use reattempt_supervisor::store::{Submitted, Write, WriteResult};
use reattempt_supervisor::{Direction, Fence, NewTask, OnFailure, State, Task, Time};

sentences! {
    "a task is stored unchanged" => stores_it,
    "a workflow has one task with each key" => once_by_key,
    "two submissions of the same key at the same time return the same task" => once_by_key_at_once,
    "a list of writes returns one result for each, in its order" => in_order,
    "a list of writes is carried out as a whole or not at all" => all_or_none,
    "a queue that is full takes no task, unless it is there" => bounded,
    "only tasks of the queue that could run count for its bound" => bound_of_pending,
    "a list of tasks fills a queue in its order" => bounded_list,
}

async fn stores_it(bench: &Bench) -> CheckResult {
    let given = NewTask {
        version: 7,
        priority: -3,
        on_failure: OnFailure::Keep,
        input: "[1,\"zw\\u00f6lf\"]".to_owned(),
        headers: Some("{\"a\":1}".to_owned()),
        delay: Duration::from_secs(100),
        complete_by: Some(Duration::from_secs(1_000)),
        ..new("key")
    };
    let id = bench.submit(given.clone()).await?;
    let task = bench.task(id).await?;
    let wanted = Task {
        id,
        workflow: given.workflow,
        version: 7,
        queue: given.queue,
        priority: -3,
        key: given.key,
        state: State::Pending,
        direction: Direction::Forward,
        wake_at: task.created_at.after(Duration::from_secs(100)),
        complete_by: Some(task.created_at.after(Duration::from_secs(1_000))),
        step_by: None,
        owner: None,
        fence: Fence(0),
        failures: 0,
        max_failures: 3,
        cancel_requested: false,
        input: given.input,
        output: None,
        error: None,
        headers: given.headers,
        incarnation: 0,
        on_failure: given.on_failure,
        deaths: 0,
        failed_ord: -1,
        failed_seq: None,
        lane: None,
        generation: 0,
        continued_at: None,
        origin: None,
        created_at: task.created_at,
        updated_at: task.created_at,
    };
    check_equal(
        "the time of the store is about that of this machine",
        true,
        {
            let now = Time::of_this_machine();
            let hour = Duration::from_secs(3_600);
            task.created_at <= now.after(hour) && now <= task.created_at.after(hour)
        },
    )?;
    check_equal("the task", task, wanted)
}

async fn once_by_key(bench: &Bench) -> CheckResult {
    let id = bench.submit(new("key")).await?;
    let again = NewTask {
        input: "2".to_owned(),
        ..new("key")
    };
    let old = |same_arguments| {
        WriteResult::Submitted(Submitted {
            id,
            is_new: false,
            same_arguments,
        })
    };
    check_equal(
        "the same key again, with other arguments",
        bench
            .write_one(Write::Submit(Box::new(again.clone())))
            .await?,
        old(Some(false)),
    )?;
    let of_another_version = NewTask {
        version: 2,
        ..again
    };
    check_equal(
        "the same key again, with another version",
        bench
            .write_one(Write::Submit(Box::new(of_another_version)))
            .await?,
        old(None),
    )?;
    let with_spaces = NewTask {
        input: "{ }".to_owned(),
        ..new("key")
    };
    check_equal(
        "the same key again, with the same arguments",
        bench
            .write_one(Write::Submit(Box::new(with_spaces)))
            .await?,
        old(Some(true)),
    )?;
    check_equal("its input", bench.task(id).await?.input, "{}".to_owned())?;
    let other = NewTask {
        workflow: "other".to_owned(),
        ..new("key")
    };
    bench.submit(other).await?;
    let two = [
        Write::Submit(Box::new(new("twice"))),
        Write::Submit(Box::new(new("twice"))),
    ];
    let results = bench.write(two).await?;
    let [
        WriteResult::Submitted(Submitted {
            id: first,
            is_new: true,
            ..
        }),
        WriteResult::Submitted(Submitted {
            id: second,
            is_new: false,
            ..
        }),
    ] = results[..]
    else {
        return Err(format!("twice in one list: {results:?}"));
    };
    check_equal("twice in one list", second, first)?;
    // The key stays taken when the task has ended.
    let claimed = bench.claim("a", 1).await?.pop().ok_or("nothing is ready")?;
    bench
        .write_held(super::bench::change(
            super::bench::lease(&claimed),
            super::bench::change_to(State::Processed),
        ))
        .await?;
    check_equal(
        "after its end",
        bench.write_one(Write::Submit(Box::new(new("key")))).await?,
        old(Some(true)),
    )
}

async fn once_by_key_at_once(bench: &Bench) -> CheckResult {
    for round in 0..20 {
        // The lists have different orders, which must not cause a deadlock.
        let keys: Vec<_> = (0..8).map(|nth| format!("{round} {nth}")).collect();
        let submit = |key: &String| Write::Submit(Box::new(new(key)));
        let ahead: Vec<_> = keys.iter().map(submit).collect();
        let back: Vec<_> = keys.iter().rev().map(submit).collect();
        let (ahead, back) = tokio::join!(
            write_at_last(&*bench.one, ahead),
            write_at_last(&*bench.other, back)
        );
        let mut back = back?;
        back.reverse();
        for pair in ahead?.iter().zip(&back) {
            let (
                WriteResult::Submitted(Submitted {
                    id: a, is_new: one, ..
                }),
                WriteResult::Submitted(Submitted {
                    id: b,
                    is_new: other,
                    ..
                }),
            ) = pair
            else {
                return Err(format!("{pair:?}"));
            };
            check_equal("the number of the task", a, b)?;
            check_equal("exactly one of them stored it", one ^ other, true)?;
        }
    }
    Ok(())
}

async fn in_order(bench: &Bench) -> CheckResult {
    let submits: Vec<_> = (0..40)
        .map(|nth| Write::Submit(Box::new(new(&format!("{}", 99 - nth)))))
        .collect();
    let results = bench.write(submits).await?;
    let mut claimed = bench.claim("a", 100).await?.into_iter();
    for (nth, result) in results.iter().enumerate() {
        let WriteResult::Submitted(Submitted {
            id, is_new: true, ..
        }) = result
        else {
            return Err(format!("{result:?}"));
        };
        check_equal(
            "the key of a task",
            bench.task(*id).await?.key,
            format!("{}", 99 - nth),
        )?;
        let claimed = claimed.next().ok_or("not all are ready")?;
        check_equal(
            "the first that was submitted is claimed first",
            claimed.task.id,
            *id,
        )?;
    }
    Ok(())
}

async fn all_or_none(bench: &Bench) -> CheckResult {
    // PostgreSQL cannot store this string; a store that can has nothing to roll back.
    let odd = NewTask {
        input: "\"\0\"".to_owned(),
        ..new("odd")
    };
    let list = [
        Write::Submit(Box::new(new("even"))),
        Write::Submit(Box::new(odd)),
    ];
    let written = bench.one.write(list.into()).await;
    let there = bench.other.counts().await.map_err(to_message)?;
    let wanted = if written.is_ok() {
        vec![(State::Pending, 2)]
    } else {
        Vec::new()
    };
    check_equal("the stored tasks", there, wanted)?;
    bench.submit(new("after")).await.map(drop)
}

/// Returns the submission of a task to a queue that takes so many.
fn bounded_by(max_pending: u32, key: &str) -> Write {
    Write::Submit(Box::new(NewTask {
        max_pending: Some(max_pending),
        ..new(key)
    }))
}

async fn bounded(bench: &Bench) -> CheckResult {
    let first = bench.submit(new("first")).await?;
    let full = bench.write_one(bounded_by(1, "second")).await?;
    check_equal("a second task", full, WriteResult::QueueFull)?;
    let again = bench.write_one(bounded_by(1, "first")).await?;
    let WriteResult::Submitted(Submitted { id, is_new, .. }) = again else {
        return Err(format!("the first task again: {again:?}"));
    };
    check_equal("the first task again", (id, is_new), (first, false))?;
    bench.claim_one("a").await?;
    let taken = bench.write_one(bounded_by(1, "second")).await?;
    let is_new = matches!(
        taken,
        WriteResult::Submitted(Submitted { is_new: true, .. })
    );
    check_equal("there is room when a worker has taken one", is_new, true)?;
    let none = bench.write_one(bounded_by(0, "third")).await?;
    check_equal("a bound of 0", none, WriteResult::QueueFull)
}

async fn bound_of_pending(bench: &Bench) -> CheckResult {
    let elsewhere = NewTask {
        queue: "r".to_owned(),
        ..new("elsewhere")
    };
    let later = NewTask {
        delay: Duration::from_secs(1_000),
        ..new("later")
    };
    bench.submit(elsewhere).await?;
    bench.submit(later).await?;
    for (nth, (workflow, version, priority)) in
        [("w", 1, 0), ("w", 1, -9), ("w", 2, 0), ("v", 1, 7)]
            .into_iter()
            .enumerate()
    {
        let task = NewTask {
            workflow: workflow.to_owned(),
            version,
            priority,
            max_pending: Some(4),
            ..new(&nth.to_string())
        };
        bench.submit(task).await?;
    }
    let full = bench.write_one(bounded_by(4, "full")).await?;
    check_equal("a fifth task", full, WriteResult::QueueFull)?;
    bench.submit(new("without a bound")).await.map(drop)
}

async fn bounded_list(bench: &Bench) -> CheckResult {
    bench.submit(new("first")).await?;
    let mut list: Vec<_> = (0..5).map(|nth| bounded_by(3, &nth.to_string())).collect();
    list.insert(
        2,
        Write::Submit(Box::new(NewTask {
            queue: "r".to_owned(),
            ..new("elsewhere")
        })),
    );
    let results = bench.write(list).await?;
    let stored = results
        .iter()
        .map(|result| *result != WriteResult::QueueFull);
    check_equal(
        "which were stored",
        stored.collect(),
        vec![true, true, true, false, false, false],
    )?;
    // Those that are there already take no room.
    let again = ["first", "0", "new", "one too many"].map(|key| bounded_by(4, key));
    let is_new = |result: &WriteResult| match result {
        WriteResult::Submitted(submitted) => Some(submitted.is_new),
        _ => None,
    };
    check_equal(
        "which are new",
        bench.write(again).await?.iter().map(is_new).collect(),
        vec![Some(false), Some(false), Some(true), None],
    )?;
    // Neither do those that start later.
    let later = [LONG, LONG, Duration::ZERO, Duration::ZERO].map(|delay| {
        Write::Submit(Box::new(NewTask {
            queue: "s".to_owned(),
            max_pending: Some(1),
            delay,
            ..new(&format!("later {}", rand::random::<u64>()))
        }))
    });
    check_equal(
        "which are new",
        bench.write(later).await?.iter().map(is_new).collect(),
        vec![Some(true), Some(true), Some(true), None],
    )
}
