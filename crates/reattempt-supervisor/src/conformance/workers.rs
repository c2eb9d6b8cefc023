//! `Write::Heartbeat`, `Release` and `Leave`.

use super::bench::{
    Bench, CheckResult, LONG, change, change_to, check_equal, lease, record, sentences, signal,
    to_message,
};
use crate::store::{AdminCommand, PendingRequest, Write, WriteResult};
use crate::task::{RecordKind, State, TaskId, WorkerId};

sentences! {
    "a heartbeat returns the requests for the tasks of its worker" => requests,
    "a worker keeps its tasks for as long as its lease" => lives,
    "a worker releases all its tasks, except those it names" => releases,
    "the tasks of a worker that leaves are pending again, and did not fail" => leaves,
    "a released task does not accept writes of its earlier owner" => fences,
}

fn worker(name: &str) -> WorkerId {
    WorkerId(name.to_owned())
}

async fn requests(bench: &Bench) -> CheckResult {
    let quiet = bench.claim_new("a").await?.task.id;
    let cancelled = bench.claim_new("a").await?.task.id;
    let with_signals = bench.claim_new("a").await?.task.id;
    let other = bench.claim_new("b").await?.task.id;
    bench.command(cancelled, AdminCommand::Cancel).await?;
    bench.command(other, AdminCommand::Cancel).await?;
    for name in ["one", "two"] {
        bench.write_one(signal(with_signals, name)).await?;
    }
    let newest = bench
        .other
        .signals(with_signals)
        .await
        .map_err(to_message)?[1]
        .id;
    let WriteResult::Requests(mut requests) =
        bench.write_one(Write::Heartbeat(worker("a"), LONG)).await?
    else {
        return Err("the result of the heartbeat is not a list of requests".to_owned());
    };
    requests.sort_by_key(|requests| requests.task);
    let wanted = vec![
        PendingRequest {
            task: cancelled,
            cancel: true,
            signal: 0,
        },
        PendingRequest {
            task: with_signals,
            cancel: false,
            signal: newest,
        },
    ];
    check_equal("the requests", requests, wanted)?;
    check_equal(
        "the other tasks",
        bench.task(quiet).await?.state,
        State::Processing,
    )
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

async fn releases(bench: &Bench) -> CheckResult {
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(bench.claim_new("a").await?.task.id);
    }
    let other = bench.claim_new("b").await?.task.id;
    let [kept, ..] = ids[..] else {
        return Err("no tasks".to_owned());
    };
    let list = vec![kept, other, TaskId(1_000_000)];
    check_equal(
        "its result",
        bench.write_one(Write::Release(worker("a"), list)).await?,
        WriteResult::Done,
    )?;
    let mut states = Vec::new();
    for id in ids {
        states.push(bench.task(id).await?.state);
    }
    check_equal(
        "the tasks",
        states,
        vec![State::Processing, State::Pending, State::Pending],
    )?;
    check_equal(
        "the task of another worker",
        bench.task(other).await?.state,
        State::Processing,
    )?;
    check_equal(
        "the number of reclaimed tasks",
        bench.sweep(9).await?.len(),
        0,
    )
}

async fn leaves(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    bench
        .write_held(Write::Announce(lease(&held), held.now.after(LONG)))
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
    for write in [
        Write::Release(worker("a"), Vec::new()),
        Write::Leave(worker("a")),
    ] {
        let held = bench.claim_new("a").await?;
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
