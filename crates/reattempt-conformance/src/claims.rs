//! `Write::Claim`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, SHORT, change, change_to, check_equal, check_that, claim, lease, new,
    record, sentences, signal, sweep_at_once, to_message, write_at_last,
};
use reattempt_supervisor::store::{Claim, ClaimedTask, Write, WriteResult};
use reattempt_supervisor::{Fence, NewTask, RecordKind, State, TaskId, WorkerId};

sentences! {
    "a claim gives a task to one worker, and raises its fence" => raises_the_fence,
    "a claim gives a task to one worker only, even if many claim at the same time" => to_one_only,
    "a lower priority goes first, then an earlier wake-up time" => in_order,
    "the order counts across all queues, workflows and versions of a claim" => over_workflows,
    "a task is not claimed before its delay is over" => respects_delays,
    "a claim takes only tasks from its queues, and of its workflows and versions" => known_workflows,
    "a claim takes at most `limit` tasks" => at_most,
    "a claim sees the writes before it in its list" => after_others,
    "a claim says whether a task may have records and whether it has signals" => with_signals,
    "a task is a suspect when two workers in a row died while they held it; claims take either suspects or other tasks" => apart,
    "a suspect that has run for long is none any more" => clears_deaths,
    "a claim takes no task that has an owner, has ended or is parked" => only_ready,
}

async fn raises_the_fence(bench: &Bench) -> CheckResult {
    let id = bench.submit(new("a")).await?;
    let claimed = bench.claim_one("a").await?;
    check_equal("its number", claimed.task.id, id)?;
    check_equal("its state", claimed.task.state, State::Processing)?;
    check_equal(
        "its owner",
        claimed.task.owner.clone(),
        Some(WorkerId("a".to_owned())),
    )?;
    check_equal("its fence", claimed.task.fence, Fence(1))?;
    check_that(
        "the time of the claim is not before that of the task",
        claimed.now >= claimed.task.wake_at,
    )?;
    check_equal(
        "the stored task",
        bench.task(id).await?,
        claimed.task.clone(),
    )?;
    bench
        .write_held(change(lease(&claimed), change_to(State::Pending)))
        .await?;
    check_equal(
        "its fence the next time",
        bench.claim_one("b").await?.task.fence,
        Fence(2),
    )
}

async fn to_one_only(bench: &Bench) -> CheckResult {
    let count = 200;
    let submits: Vec<_> = (0..count)
        .map(|nth| Write::Submit(Box::new(new(&nth.to_string()))))
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
            // Others may hold the rest for a short time.
            while idle < 20 {
                let list = [Write::Claim(claim(&nth.to_string(), 7))];
                let results = write_at_last(&*store, list).await?;
                let [WriteResult::Claimed(claimed, _)] = &*results else {
                    return Err(format!("{results:?}"));
                };
                idle = if claimed.is_empty() { idle + 1 } else { 0 };
                ids.extend(claimed.iter().map(|claimed| claimed.task.id));
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
    check_equal("the number of claimed tasks", all.len(), count)?;
    check_equal(
        "tasks that were claimed",
        all.into_iter().collect::<HashSet<_>>().len(),
        count,
    )
}

async fn in_order(bench: &Bench) -> CheckResult {
    let mut wanted = Vec::new();
    for (key, priority, delay) in [
        ("c", 1, 0),
        ("b", 0, 2),
        ("a", 0, 0),
        ("z", i16::MIN, 0),
        ("y", i16::MAX, 0),
    ] {
        let new = NewTask {
            priority,
            delay: Duration::from_millis(delay),
            ..new(key)
        };
        let id = bench.submit(new).await?;
        let task = bench.task(id).await?;
        wanted.push((priority, task.wake_at, id));
    }
    wanted.sort_unstable();
    let last = wanted.iter().map(|(_, wake_at, _)| *wake_at).max();
    bench.wait_until_past(last.unwrap_or_default()).await?;
    let mut found = Vec::new();
    for limit in [1, 2, 9] {
        found.extend(
            bench
                .claim("a", limit)
                .await?
                .into_iter()
                .map(|claimed| claimed.task.id),
        );
    }
    let wanted = wanted.into_iter().map(|(_, _, id)| id).collect();
    check_equal("the order of the claims", found, wanted)
}

async fn over_workflows(bench: &Bench) -> CheckResult {
    let groups = [("r", "w", 1), ("q", "w", 2), ("q", "v", 1), ("q", "w", 1)];
    let mut wanted = Vec::new();
    for (nth, priority) in [2, 0, 3, 1, 0, 0, 2, 1, 3, 0, 0, 1].into_iter().enumerate() {
        let (queue, workflow, version) = groups[nth % groups.len()];
        let new = NewTask {
            queue: queue.to_owned(),
            workflow: workflow.to_owned(),
            version,
            priority,
            ..new(&nth.to_string())
        };
        let id = bench.submit(new).await?;
        let task = bench.task(id).await?;
        wanted.push((priority, task.wake_at, id));
    }
    wanted.sort_unstable();
    bench
        .wait_until_past(
            wanted
                .iter()
                .map(|(_, wake_at, _)| *wake_at)
                .max()
                .unwrap_or_default(),
        )
        .await?;
    let mut found = Vec::new();
    for limit in [1, 4, 2, 9] {
        let claim = Claim {
            // A queue that is there twice is there.
            queues: ["r", "q", "r"].map(str::to_owned).to_vec(),
            workflows: [("w", 1), ("v", 1), ("w", 2)]
                .map(|(name, version)| (name.to_owned(), version))
                .to_vec(),
            ..claim("a", limit)
        };
        let claimed = bench.claim_with(claim).await?.into_iter();
        found.extend(claimed.map(|claimed| claimed.task.id));
    }
    let wanted = wanted.into_iter().map(|(_, _, id)| id).collect();
    check_equal("the order of the claims", found, wanted)
}

async fn respects_delays(bench: &Bench) -> CheckResult {
    bench
        .submit(NewTask {
            delay: LONG,
            ..new("late")
        })
        .await?;
    let soon = bench
        .submit(NewTask {
            delay: SHORT,
            ..new("soon")
        })
        .await?;
    let claimed = bench.claim_until_ready("a").await?;
    check_equal("the first ready task", claimed.task.id, soon)?;
    check_that(
        "it was not claimed before its delay",
        claimed.now >= claimed.task.created_at.after(SHORT),
    )?;
    check_equal(
        "the number of ready tasks",
        bench.claim("a", 9).await?.len(),
        0,
    )
}

async fn known_workflows(bench: &Bench) -> CheckResult {
    let id = bench
        .submit(NewTask {
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
        check_equal(&what, bench.claim_with(claim).await?, Vec::new())?;
    }
    let known = Claim {
        workflows: vec![("v".to_owned(), 1), ("w".to_owned(), 2)],
        queues: vec!["other".to_owned(), "q".to_owned()],
        ..claim("a", 9)
    };
    let found = bench.claim_with(known).await?;
    check_equal(
        "the claimed tasks",
        found.into_iter().map(|claimed| claimed.task.id).collect(),
        vec![id],
    )
}

async fn at_most(bench: &Bench) -> CheckResult {
    for nth in 0..5 {
        let queue = if nth < 3 { "q" } else { "r" };
        bench
            .submit(NewTask {
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
        check_equal(
            "the number of claimed tasks",
            bench.claim_with(both(limit)).await?.len(),
            wanted,
        )?;
    }
    Ok(())
}

async fn after_others(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let list = [
        Write::Claim(claim("b", 9)),
        record(lease(&held), 0, RecordKind::Done),
        change(lease(&held), change_to(State::Pending)),
        Write::Claim(claim("b", 9)),
        Write::Submit(Box::new(new("late"))),
    ];
    let results = bench.write(list).await?;
    let [
        WriteResult::Claimed(first, _),
        WriteResult::Written(_),
        WriteResult::Written(_),
        WriteResult::Claimed(second, _),
        WriteResult::Submitted(_),
    ] = &results[..]
    else {
        return Err(format!("{results:?}"));
    };
    check_equal(
        "the number of tasks claimed before it was given up",
        first.len(),
        0,
    )?;
    let [again] = &second[..] else {
        return Err(format!("claimed when it was given up: {second:?}"));
    };
    check_equal("its number", again.task.id, held.task.id)?;
    let records = bench.history(again.task.id).await?.len();
    check_equal("the number of records", records, 1)
}

async fn with_signals(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let claimed = (held.may_have_records(), held.has_signals);
    check_equal("a new task", claimed, (false, false))?;
    bench.write_one(signal(held.task.id, "one")).await?;
    bench
        .write_held(change(lease(&held), change_to(State::Pending)))
        .await?;
    let again = bench.claim_one("b").await?;
    let claimed = (again.may_have_records(), again.has_signals);
    check_equal("a task that was held before", claimed, (true, true))?;
    // A task that never had an owner may have signals.
    let fresh = bench.submit(new("fresh")).await?;
    bench.write_one(signal(fresh, "early")).await?;
    let fresh = bench.claim_one("b").await?;
    let claimed = (fresh.may_have_records(), fresh.has_signals);
    check_equal("a new task with a signal", claimed, (false, true))
}

/// Makes a task a suspect.
async fn submit_suspect(bench: &Bench, key: &str) -> CheckResult<TaskId> {
    let id = bench.submit(new(key)).await?;
    for _ in 0..2 {
        bench.claim_one("nobody").await?;
        let reclaimed = bench
            .one
            .sweep(sweep_at_once(9))
            .await
            .map_err(to_message)?;
        check_equal("the number of reclaimed tasks", reclaimed.len(), 1)?;
    }
    Ok(id)
}

fn suspects(waited: Duration) -> Claim {
    Claim {
        suspects: Some(waited),
        ..claim("a", 9)
    }
}

async fn apart(bench: &Bench) -> CheckResult {
    let suspect = submit_suspect(bench, "suspect").await?;
    let other = bench.submit(new("other")).await?;
    let ids = |claimed: Vec<ClaimedTask>| -> Vec<_> {
        claimed.into_iter().map(|claimed| claimed.task.id).collect()
    };
    let none = bench.claim_with(suspects(LONG)).await?;
    check_equal("suspects that wait for long", ids(none), vec![])?;
    let elsewhere = Claim {
        queues: vec!["r".to_owned()],
        ..suspects(Duration::ZERO)
    };
    let none = bench.claim_with(elsewhere).await?;
    check_equal("suspects of another queue", ids(none), vec![])?;
    let all = bench.claim_with(suspects(Duration::ZERO)).await?;
    check_equal("the suspects", ids(all), vec![suspect])?;
    check_equal("the others", ids(bench.claim("a", 9).await?), vec![other])
}

async fn clears_deaths(bench: &Bench) -> CheckResult {
    let id = submit_suspect(bench, "suspect").await?;
    bench.heartbeat("a", LONG).await?;
    let held = bench.claim_any("a").await?;
    check_equal("its deaths", held.task.deaths, 2)?;
    bench.write_held(Write::ClearDeaths(lease(&held))).await?;
    let mut wanted = held.task.clone();
    wanted.deaths = 0;
    check_equal("the task", bench.task(id).await?, wanted)?;
    bench.write_one(Write::GiveBack(vec![lease(&held)])).await?;
    check_equal("it", bench.claim_one("a").await?.task.id, id)
}

async fn only_ready(bench: &Bench) -> CheckResult {
    for state in State::ALL {
        let held = bench.claim_new("a").await?;
        bench.give_state(&held, state).await?;
        check_equal(state.as_str(), bench.claim("b", 9).await?.len(), 0)?;
    }
    Ok(())
}
