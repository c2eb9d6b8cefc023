//! `Operation::Signal`, and waiting for one.

use super::bench::{Bench, Checked, LONG, change, hold, holds, new, said, same, signal, standing};
use crate::store::{Change, Operation, Told, Wake};
use crate::task::{Fence, RunId, State};
use crate::time::Time;

super::sentences! {
    "what a task was told is kept in that order, and later signals have higher numbers" => in_order,
    "a signal wakes a task that waits" => wakes,
    "a task that waits can be claimed at once, if there is a signal that is newer than the one it has seen" => in_between,
    "a signal does not wake a task that waits for its delay" => leaves_delays,
    "a task that has ended cannot be told anything, nor one that there is not" => ended,
}

async fn in_order(bench: &Bench) -> Checked {
    let id = bench.submit(new("a")).await?;
    let other = bench.submit(new("b")).await?;
    let names: Vec<_> = (0..30).map(|nth| format!("signal {}", 50 - nth)).collect();
    let mut list: Vec<_> = names.iter().take(20).map(|name| signal(id, name)).collect();
    list.insert(10, signal(other, "other"));
    bench.write(list).await?;
    for name in names.iter().skip(20) {
        bench.act(signal(id, name)).await?;
    }
    let signals = bench.other.signals(id).await.map_err(said)?;
    same(
        "their names",
        signals.iter().map(|signal| signal.name.clone()).collect(),
        names,
    )?;
    holds(
        "their numbers rise",
        signals.is_sorted_by(|a, b| a.id < b.id),
    )?;
    holds(
        "they are above 0",
        signals.iter().all(|signal| signal.id > 0),
    )?;
    same(
        "what it carries",
        signals[0].payload.as_str(),
        "\"signal 50\"",
    )
}

async fn wakes(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let wait = Change {
        wake: Wake::At(Time::NEVER, 0),
        ..standing(State::Waiting)
    };
    bench.held(change(hold(&held), wait)).await?;
    same("ready before", bench.claim("b", 9).await?.len(), 0)?;
    bench.told(signal(held.run.id, "now"), Told::Yes).await?;
    let run = bench.run(held.run.id).await?;
    same(
        "its state and fence",
        (run.state, run.fence),
        (State::Pending, held.run.fence),
    )?;
    same("its signals", bench.claim_one("b").await?.signals.len(), 1)
}

async fn in_between(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let id = held.run.id;
    bench.told(signal(id, "one"), Told::Yes).await?;
    same(
        "it stays with its holder",
        bench.run(id).await?.state,
        State::Processing,
    )?;
    let seen = bench.other.signals(id).await.map_err(said)?[0].id;
    let wait = |seen| Change {
        wake: Wake::At(Time::NEVER, seen),
        ..standing(State::Waiting)
    };
    bench.held(change(hold(&held), wait(seen - 1))).await?;
    let again = bench.claim_one("b").await?;
    bench.held(change(hold(&again), wait(seen))).await?;
    same(
        "ready, where it has seen it",
        bench.claim("b", 9).await?.len(),
        0,
    )?;
    same(
        "until when it waits",
        bench.run(id).await?.wake_at,
        Time::NEVER,
    )
}

async fn leaves_delays(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    bench
        .held(change(
            hold(&held),
            Change {
                wake: Wake::In(LONG),
                ..standing(State::Pending)
            },
        ))
        .await?;
    let before = bench.run(held.run.id).await?;
    bench.told(signal(held.run.id, "now"), Told::Yes).await?;
    same(
        "when it may be claimed",
        bench.run(held.run.id).await?.wake_at,
        before.wake_at,
    )
}

async fn ended(bench: &Bench) -> Checked {
    bench
        .told(signal(RunId(1_000_000), "a"), Told::Unknown)
        .await?;
    for state in State::ALL.into_iter().filter(|state| state.is_final()) {
        let held = bench.held_by("a").await?;
        let id = held.run.id;
        bench.held(change(hold(&held), standing(state))).await?;
        let list = [
            signal(id, "a"),
            Operation::Signal {
                run: RunId(-1),
                name: String::new(),
                payload: String::new(),
            },
        ];
        let outcomes = bench.write(list).await?;
        let wanted = [Told::Not(state), Told::Unknown].map(crate::store::Outcome::Told);
        same("what came of it", outcomes, wanted.to_vec())?;
        same(
            "its signals",
            bench.other.signals(id).await.map_err(said)?.len(),
            0,
        )?;
        same("its fence", bench.run(id).await?.fence, Fence(1))?;
    }
    Ok(())
}
