//! `Write::Signal`, and tasks that wait for signals.

use super::bench::{
    Bench, CheckResult, change, change_to, check_equal, check_that, lease, new, sentences, signal,
    to_message,
};
use reattempt_supervisor::store::{Change, SignalResult, Wake, Write};
use reattempt_supervisor::{Fence, State, TaskId, Time};

sentences! {
    "the signals of a task keep their order, and later signals have higher numbers" => in_order,
    "a signal wakes a waiting task" => wakes,
    "a waiting task can be claimed at once if it has a signal that is newer than the one it has seen" => in_between,
    "a signal does not wake a task before its delay is over" => leaves_delays,
    "a signal that is repeated with the random bits of its sender is stored once" => stores_once,
    "an ended or missing task takes no signal" => refuses_ended,
}

async fn in_order(bench: &Bench) -> CheckResult {
    let id = bench.submit(new("a")).await?;
    let other = bench.submit(new("b")).await?;
    let names: Vec<_> = (0..30).map(|nth| format!("signal {}", 50 - nth)).collect();
    let mut list: Vec<_> = names.iter().take(20).map(|name| signal(id, name)).collect();
    list.insert(10, signal(other, "other"));
    bench.write(list).await?;
    for name in names.iter().skip(20) {
        bench.write_one(signal(id, name)).await?;
    }
    let signals = bench.other.signals(id).await.map_err(to_message)?;
    check_equal(
        "their names",
        signals.iter().map(|signal| signal.name.clone()).collect(),
        names,
    )?;
    check_that(
        "their numbers rise",
        signals.is_sorted_by(|a, b| a.id < b.id),
    )?;
    check_that(
        "they are above 0",
        signals.iter().all(|signal| signal.id > 0),
    )?;
    check_equal("its payload", signals[0].payload.as_str(), "\"signal 50\"")
}

async fn wakes(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let wait = Change {
        wake: Wake::At(Time::NEVER, 0),
        ..change_to(State::Waiting)
    };
    bench.write_held(change(lease(&held), wait)).await?;
    check_equal(
        "the number of ready tasks before",
        bench.claim("b", 9).await?.len(),
        0,
    )?;
    bench
        .send(signal(held.task.id, "now"), SignalResult::Accepted)
        .await?;
    let task = bench.task(held.task.id).await?;
    check_equal(
        "its state and fence",
        (task.state, task.fence),
        (State::Pending, held.task.fence),
    )?;
    check_that("it has signals", bench.claim_one("b").await?.has_signals)
}

async fn in_between(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    bench
        .send(signal(id, "one"), SignalResult::Accepted)
        .await?;
    check_equal(
        "it keeps its owner",
        bench.task(id).await?.state,
        State::Processing,
    )?;
    let seen = bench.other.signals(id).await.map_err(to_message)?[0].id;
    let wait = |seen| Change {
        wake: Wake::At(Time::NEVER, seen),
        ..change_to(State::Waiting)
    };
    bench
        .write_held(change(lease(&held), wait(seen - 1)))
        .await?;
    let again = bench.claim_one("b").await?;
    bench.write_held(change(lease(&again), wait(seen))).await?;
    check_equal(
        "the number of ready tasks that have seen their signal",
        bench.claim("b", 9).await?.len(),
        0,
    )?;
    check_equal(
        "its wake-up time",
        bench.task(id).await?.wake_at,
        Time::NEVER,
    )
}

async fn leaves_delays(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    bench.give_state(&held, State::Pending).await?;
    let before = bench.task(held.task.id).await?;
    bench
        .send(signal(held.task.id, "now"), SignalResult::Accepted)
        .await?;
    check_equal(
        "its wake-up time",
        bench.task(held.task.id).await?.wake_at,
        before.wake_at,
    )
}

async fn stores_once(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    let repeated = signal(id, "go");
    bench.send(repeated.clone(), SignalResult::Accepted).await?;
    bench.send(signal(id, "go"), SignalResult::Accepted).await?;
    bench.send(repeated.clone(), SignalResult::Accepted).await?;
    bench
        .write_held(change(lease(&held), change_to(State::Processed)))
        .await?;
    // Perhaps the task ended because it got the signal.
    bench.send(repeated, SignalResult::Accepted).await?;
    let signals = bench.other.signals(id).await.map_err(to_message)?;
    check_equal("the number of its signals", signals.len(), 2)
}

async fn refuses_ended(bench: &Bench) -> CheckResult {
    bench
        .send(signal(TaskId(1_000_000), "a"), SignalResult::UnknownTask)
        .await?;
    for state in State::ALL.into_iter().filter(|state| state.is_final()) {
        let held = bench.claim_new("a").await?;
        let id = held.task.id;
        bench
            .write_held(change(lease(&held), change_to(state)))
            .await?;
        let list = [
            signal(id, "a"),
            Write::Signal {
                task: TaskId(-1),
                name: String::new(),
                payload: String::new(),
                nonce: 1,
            },
        ];
        let results = bench.write(list).await?;
        let wanted = [SignalResult::NotAllowed(state), SignalResult::UnknownTask]
            .map(reattempt_supervisor::store::WriteResult::Signaled);
        check_equal("the results", results, wanted.to_vec())?;
        check_equal(
            "its signals",
            bench.other.signals(id).await.map_err(to_message)?.len(),
            0,
        )?;
        check_equal("its fence", bench.task(id).await?.fence, Fence(1))?;
    }
    Ok(())
}
