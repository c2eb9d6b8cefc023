//! `Operation::Claim`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::bench::{
    Bench, Checked, LONG, SHORT, change, claim, hold, holds, new, record, said, same, signal,
    standing,
};
use crate::store::{Change, Claim, Operation, Outcome, Wake};
use crate::task::{Fence, Kind, NewRun, State, WorkerId};

super::sentences! {
    "a claim hands a task to one worker, and raises its fence" => raises_the_fence,
    "a claim hands a task to one worker only, however many claim at the same time" => to_one_only,
    "what has a lower priority goes first, then what could run earlier" => in_order,
    "priority counts over all queues of a claim" => over_queues,
    "a task with a delay is not claimed before" => delayed,
    "a claim takes tasks from its queues, of its workflows and versions alone" => what_it_knows,
    "a claim takes at most so many" => at_most,
    "a claim sees what was written before it in its list" => after_others,
    "a claimed task comes with its history and its signals" => with_history,
    "a claim takes no task that is held, has ended or is parked" => only_ready,
}

async fn raises_the_fence(bench: &Bench) -> Checked {
    let id = bench.submit(new("a")).await?;
    let claimed = bench.claim_one("a").await?;
    same("its number", claimed.run.id, id)?;
    same("its state", claimed.run.state, State::Processing)?;
    same(
        "its owner",
        claimed.run.owner.clone(),
        Some(WorkerId("a".to_owned())),
    )?;
    same("its fence", claimed.run.fence, Fence(1))?;
    holds(
        "the time of the claim is not before that of the task",
        claimed.now >= claimed.run.wake_at,
    )?;
    same("as it is stored", bench.run(id).await?, claimed.run.clone())?;
    bench
        .held(change(hold(&claimed), standing(State::Pending)))
        .await?;
    same(
        "its fence the next time",
        bench.claim_one("b").await?.run.fence,
        Fence(2),
    )
}

async fn to_one_only(bench: &Bench) -> Checked {
    let count = 200;
    let submits: Vec<_> = (0..count)
        .map(|nth| Operation::Submit(Box::new(new(&nth.to_string()))))
        .collect();
    bench.write(submits).await?;
    let claimer = |nth: usize| {
        let store = if nth.is_multiple_of(2) {
            &bench.one
        } else {
            &bench.other
        };
        let store = Arc::clone(store);
        tokio::spawn(async move {
            let mut ids = Vec::new();
            let mut idle = 0;
            // Others may hold what is left for a moment.
            while idle < 20 {
                let list: Arc<[Operation]> =
                    Arc::new([Operation::Claim(claim(&nth.to_string(), 7))]);
                let outcomes = store.write(list).await.map_err(said)?;
                let [Outcome::Claimed(claimed)] = &*outcomes else {
                    return Err(format!("{outcomes:?}"));
                };
                idle = if claimed.is_empty() { idle + 1 } else { 0 };
                ids.extend(claimed.iter().map(|claimed| claimed.run.id));
                tokio::task::yield_now().await;
            }
            Ok(ids)
        })
    };
    let claimers: Vec<_> = (0..8).map(claimer).collect();
    let mut all = Vec::new();
    for claimer in claimers {
        all.extend(claimer.await.map_err(|error| error.to_string())??);
    }
    same("claims of so many tasks", all.len(), count)?;
    same(
        "tasks that were claimed",
        all.into_iter().collect::<HashSet<_>>().len(),
        count,
    )
}

async fn in_order(bench: &Bench) -> Checked {
    let mut wanted = Vec::new();
    for (key, priority, delay) in [
        ("c", 1, 0),
        ("b", 0, 2),
        ("a", 0, 0),
        ("z", i16::MIN, 0),
        ("y", i16::MAX, 0),
    ] {
        let new = NewRun {
            priority,
            delay: Duration::from_millis(delay),
            ..new(key)
        };
        let id = bench.submit(new).await?;
        let run = bench.run(id).await?;
        wanted.push((priority, run.wake_at, id));
    }
    wanted.sort_unstable();
    tokio::time::sleep(SHORT).await;
    let last = wanted.iter().map(|(_, wake_at, _)| *wake_at).max();
    for _ in 0..5_000 {
        let now = bench.now().await?;
        if Some(now) >= last {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut found = Vec::new();
    for limit in [1, 2, 9] {
        found.extend(
            bench
                .claim("a", limit)
                .await?
                .into_iter()
                .map(|claimed| claimed.run.id),
        );
    }
    let wanted = wanted.into_iter().map(|(_, _, id)| id).collect();
    same("the order of the claims", found, wanted)
}

async fn over_queues(bench: &Bench) -> Checked {
    for (queue, priority) in [("r", 2), ("q", 3), ("r", 1), ("q", 0)] {
        let key = format!("{queue}{priority}");
        bench
            .submit(NewRun {
                queue: queue.to_owned(),
                priority,
                ..new(&key)
            })
            .await?;
    }
    let both = Claim {
        queues: vec!["r".to_owned(), "q".to_owned()],
        ..claim("a", 2)
    };
    let mut found = Vec::new();
    for _ in 0..2 {
        found.extend(
            bench
                .take(both.clone())
                .await?
                .into_iter()
                .map(|claimed| claimed.run.priority),
        );
    }
    same(
        "priorities in the order of the claims",
        found,
        vec![0, 1, 2, 3],
    )
}

async fn delayed(bench: &Bench) -> Checked {
    bench
        .submit(NewRun {
            delay: LONG,
            ..new("late")
        })
        .await?;
    let soon = bench
        .submit(NewRun {
            delay: SHORT,
            ..new("soon")
        })
        .await?;
    let claimed = bench.claim_until_ready("a").await?;
    same("what is ready first", claimed.run.id, soon)?;
    holds(
        "it was not claimed before its delay",
        claimed.now >= claimed.run.created_at.after(SHORT),
    )?;
    same("what is ready then", bench.claim("a", 9).await?.len(), 0)
}

async fn what_it_knows(bench: &Bench) -> Checked {
    let id = bench
        .submit(NewRun {
            version: 2,
            ..new("a")
        })
        .await?;
    let strange = [
        Claim {
            workflows: vec![("w".to_owned(), 1), ("v".to_owned(), 2)],
            ..claim("a", 9)
        },
        Claim {
            workflows: Vec::new(),
            ..claim("a", 9)
        },
        Claim {
            queues: vec!["other".to_owned()],
            workflows: vec![("w".to_owned(), 2)],
            ..claim("a", 9)
        },
        Claim {
            queues: Vec::new(),
            workflows: vec![("w".to_owned(), 2)],
            ..claim("a", 9)
        },
    ];
    for claim in strange {
        let what = format!("{claim:?}");
        same(&what, bench.take(claim).await?, Vec::new())?;
    }
    let known = Claim {
        workflows: vec![("v".to_owned(), 1), ("w".to_owned(), 2)],
        queues: vec!["other".to_owned(), "q".to_owned()],
        ..claim("a", 9)
    };
    let found = bench.take(known).await?;
    same(
        "what it knows",
        found.into_iter().map(|claimed| claimed.run.id).collect(),
        vec![id],
    )
}

async fn at_most(bench: &Bench) -> Checked {
    for nth in 0..5 {
        let queue = if nth < 3 { "q" } else { "r" };
        bench
            .submit(NewRun {
                queue: queue.to_owned(),
                ..new(&nth.to_string())
            })
            .await?;
    }
    let both = |limit| Claim {
        queues: vec!["q".to_owned(), "r".to_owned()],
        ..claim("a", limit)
    };
    for (limit, wanted) in [(0, 0), (4, 4), (9, 1)] {
        same(
            "how many are claimed",
            bench.take(both(limit)).await?.len(),
            wanted,
        )?;
    }
    Ok(())
}

async fn after_others(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let list = [
        Operation::Claim(claim("b", 9)),
        record(hold(&held), 0, Kind::Done),
        change(hold(&held), standing(State::Pending)),
        Operation::Claim(claim("b", 9)),
        Operation::Submit(Box::new(new("late"))),
    ];
    let outcomes = bench.write(list).await?;
    let [
        Outcome::Claimed(first),
        Outcome::Held(_),
        Outcome::Held(_),
        Outcome::Claimed(second),
        Outcome::Submitted { .. },
    ] = &outcomes[..]
    else {
        return Err(format!("{outcomes:?}"));
    };
    same("claimed before it was given up", first.len(), 0)?;
    let [again] = &second[..] else {
        return Err(format!("claimed when it was given up: {second:?}"));
    };
    same("its number", again.run.id, held.run.id)?;
    same("what happened in it", again.history.len(), 1)
}

async fn with_history(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let (id, own) = (held.run.id, hold(&held));
    for seq in [2, 0, 1] {
        let Operation::Record(_, mut record) = record(own, seq, Kind::Done) else {
            continue;
        };
        record.ord = 10 - seq;
        record.due_at = Some(held.now);
        bench.held(Operation::Record(own, record)).await?;
    }
    bench.act(signal(id, "one")).await?;
    bench.act(signal(id, "two")).await?;
    bench.held(change(own, standing(State::Pending))).await?;
    let again = bench.claim_one("b").await?;
    same(
        "its records",
        again.history.iter().map(|record| record.seq).collect(),
        vec![2, 1, 0],
    )?;
    same("its history", again.history, bench.history(id).await?)?;
    same(
        "its signals",
        again
            .signals
            .iter()
            .map(|signal| signal.name.as_str())
            .collect(),
        vec!["one", "two"],
    )?;
    same(
        "all signals",
        again.signals,
        bench.other.signals(id).await.map_err(said)?,
    )?;
    // A task that nobody held before may have been told something.
    let fresh = bench.submit(new("fresh")).await?;
    bench.act(signal(fresh, "early")).await?;
    let fresh = bench.claim_one("b").await?;
    same("signals of a new task", fresh.signals.len(), 1)
}

async fn only_ready(bench: &Bench) -> Checked {
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
        same(state.word(), bench.claim("b", 9).await?.len(), 0)?;
    }
    Ok(())
}
