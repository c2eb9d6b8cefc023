//! Heartbeats, `Write::GiveBack` and `Leave`.

use super::bench::{
    Bench, CheckResult, LONG, change, change_to, check_equal, lease, record, running, sentences,
    signal, to_message,
};
use reattempt_supervisor::store::{AdminCommand, HeldTask, Write, WriteResult};
use reattempt_supervisor::{Fence, Lease, RecordKind, State, TaskId, WorkerId};

sentences! {
    "a heartbeat returns the tasks that its worker holds, with their fences and the requests for them" => holds,
    "a worker keeps its tasks for as long as its lease" => lives,
    "tasks that are given back by their leases are pending again, and did not fail" => gives_back,
    "the tasks of a worker that leaves are pending again, and did not fail" => leaves,
    "a task that was given back does not accept writes of its earlier owner" => fences,
}

fn worker(name: &str) -> WorkerId {
    WorkerId(name.to_owned())
}

async fn holds(bench: &Bench) -> CheckResult {
    let given_up = bench.claim_new("a").await?;
    bench
        .write_held(change(lease(&given_up), change_to(State::Processed)))
        .await?;
    let again = bench.claim_new("a").await?;
    bench
        .write_held(change(lease(&again), change_to(State::Pending)))
        .await?;
    let quiet = lease(&bench.claim_one("a").await?);
    check_equal("the task with a higher fence", quiet.task, again.task.id)?;
    let cancelled = lease(&bench.claim_new("a").await?);
    let with_signals = lease(&bench.claim_new("a").await?);
    let other = bench.claim_new("b").await?.task.id;
    bench.command(cancelled.task, AdminCommand::Cancel).await?;
    bench.command(other, AdminCommand::Cancel).await?;
    for name in ["one", "two"] {
        bench.write_one(signal(with_signals.task, name)).await?;
    }
    let newest = bench
        .other
        .signals(with_signals.task)
        .await
        .map_err(to_message)?[1]
        .id;
    let held = bench.one.heartbeat(worker("a"), LONG, None).await;
    let mut held = held.map_err(to_message)?;
    held.sort_by_key(|held| held.lease.task);
    let wanted = vec![
        HeldTask {
            lease: quiet,
            cancel: false,
            signal: 0,
        },
        HeldTask {
            lease: cancelled,
            cancel: true,
            signal: 0,
        },
        HeldTask {
            lease: with_signals,
            cancel: false,
            signal: newest,
        },
    ];
    check_equal("the tasks that it holds", &held, &wanted)?;
    let known = vec![other, given_up.task.id, cancelled.task];
    let asked = bench.one.heartbeat(worker("a"), LONG, Some(known)).await;
    let asked = asked.map_err(to_message)?;
    let are_held = asked.contains(&wanted[1]) && asked.iter().all(|held| wanted.contains(held));
    check_equal("whether those are held that it asks for", are_held, true)
}

async fn lives(bench: &Bench) -> CheckResult {
    bench.claim_new("a").await?;
    check_equal(
        "the number of reclaimed tasks",
        bench.sweep(9).await?.len(),
        0,
    )?;
    // The last heartbeat counts.
    bench.heartbeat("a", std::time::Duration::ZERO).await?;
    bench.heartbeat("a", std::time::Duration::MAX).await?;
    check_equal(
        "the number of reclaimed tasks",
        bench.sweep(9).await?.len(),
        0,
    )
}

async fn gives_back(bench: &Bench) -> CheckResult {
    let given = lease(&bench.claim_new("a").await?);
    let kept = lease(&bench.claim_new("a").await?);
    let other = lease(&bench.claim_new("b").await?);
    let ended = lease(&bench.claim_new("a").await?);
    bench
        .write_held(change(ended, change_to(State::Processed)))
        .await?;
    let with = |task, fence: i64| Lease {
        task,
        fence: Fence(fence),
    };
    let list = vec![
        with(kept.task, kept.fence.0 - 1),
        other,
        with(TaskId(1_000_000), 1),
        ended,
        with(given.task, given.fence.0 - 1),
        given,
        with(kept.task, kept.fence.0 + 1),
    ];
    check_equal(
        "its result",
        bench.write_one(Write::GiveBack(list)).await?,
        WriteResult::Done,
    )?;
    for (lease, wanted) in [
        (given, (State::Pending, None, 0, given.fence.next())),
        (kept, (State::Processing, Some(worker("a")), 0, kept.fence)),
        // Of any worker: a lease says enough.
        (other, (State::Pending, None, 0, other.fence.next())),
        (ended, (State::Processed, None, 0, ended.fence)),
    ] {
        let task = bench.task(lease.task).await?;
        let found = (task.state, task.owner, task.failures, task.fence);
        check_equal("the task", found, wanted)?;
    }
    check_equal(
        "the number of reclaimed tasks",
        bench.sweep(9).await?.len(),
        0,
    )
}

async fn leaves(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    bench
        .report([running(lease(&held), 0, Some(held.now.after(LONG)))])
        .await?;
    let other = bench.claim_new("b").await?.task.id;
    check_equal(
        "its result",
        bench.write_one(Write::Leave(worker("a"))).await?,
        WriteResult::Done,
    )?;
    let task = bench.task(held.task.id).await?;
    let found = (
        task.state,
        task.owner,
        task.step_by,
        task.failures,
        task.error,
    );
    check_equal("the task", found, (State::Pending, None, None, 0, None))?;
    check_equal(
        "the task of another worker",
        bench.task(other).await?.state,
        State::Processing,
    )?;
    check_equal(
        "the claimed task",
        bench.claim_one("b").await?.task.id,
        held.task.id,
    )?;
    // Then no worker has a lease.
    bench.write_one(Write::Leave(worker("b"))).await?;
    bench.claim("b", 9).await?;
    check_equal(
        "the number of reclaimed tasks",
        bench.sweep(9).await?.len(),
        2,
    )
}

async fn fences(bench: &Bench) -> CheckResult {
    for leaves in [false, true] {
        let held = bench.claim_new("a").await?;
        let write = if leaves {
            Write::Leave(worker("a"))
        } else {
            Write::GiveBack(vec![lease(&held)])
        };
        bench.write_one(write).await?;
        bench
            .write_lost(record(lease(&held), 0, RecordKind::Done))
            .await?;
        // Also if the same worker claims it again.
        let again = bench.claim_one("a").await?;
        bench
            .write_lost(record(lease(&held), 0, RecordKind::Done))
            .await?;
        bench
            .write_held(record(lease(&again), 0, RecordKind::Done))
            .await?;
        bench
            .write_held(change(lease(&again), change_to(State::Processed)))
            .await?;
    }
    Ok(())
}
