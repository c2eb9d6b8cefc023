//! `Operation::Beat`, `Disown` and `Leave`.

use super::bench::{Bench, Checked, LONG, change, hold, record, said, same, signal, standing};
use crate::store::{Asked, Operation, Outcome, Steer};
use crate::task::{Kind, RunId, State, WorkerId};

super::sentences! {
    "a heartbeat tells of the tasks of its worker that somebody wants something of" => asked,
    "a worker that beats is not swept, for so long at least" => lives,
    "a worker gives back all that it holds, but for those it names" => disowns,
    "what a worker holds that leaves is pending again, and did not fail" => leaves,
    "what was given back is not held by who held it" => fenced,
}

fn worker(name: &str) -> WorkerId {
    WorkerId(name.to_owned())
}

async fn asked(bench: &Bench) -> Checked {
    let quiet = bench.held_by("a").await?.run.id;
    let cancelled = bench.held_by("a").await?.run.id;
    let told = bench.held_by("a").await?.run.id;
    let other = bench.held_by("b").await?.run.id;
    bench.steer(cancelled, Steer::Cancel).await?;
    bench.steer(other, Steer::Cancel).await?;
    for name in ["one", "two"] {
        bench.act(signal(told, name)).await?;
    }
    let newest = bench.other.signals(told).await.map_err(said)?[1].id;
    let Outcome::Beaten(mut asked) = bench.act(Operation::Beat(worker("a"), LONG)).await? else {
        return Err("a heartbeat was answered otherwise".to_owned());
    };
    asked.sort_by_key(|asked| asked.run);
    let wanted = vec![
        Asked {
            run: cancelled,
            cancel: true,
            signal: 0,
        },
        Asked {
            run: told,
            cancel: false,
            signal: newest,
        },
    ];
    same("what is asked", asked, wanted)?;
    same(
        "the others are left alone",
        bench.run(quiet).await?.state,
        State::Processing,
    )
}

async fn lives(bench: &Bench) -> Checked {
    bench.held_by("a").await?;
    same("swept", bench.sweep(9).await?.len(), 0)?;
    // The last word counts.
    bench.beat("a", std::time::Duration::ZERO).await?;
    bench.beat("a", std::time::Duration::MAX).await?;
    same("swept", bench.sweep(9).await?.len(), 0)
}

async fn disowns(bench: &Bench) -> Checked {
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(bench.held_by("a").await?.run.id);
    }
    let other = bench.held_by("b").await?.run.id;
    let [kept, ..] = ids[..] else {
        return Err("no tasks".to_owned());
    };
    let list = vec![kept, other, RunId(1_000_000)];
    same(
        "its outcome",
        bench.act(Operation::Disown(worker("a"), list)).await?,
        Outcome::Done,
    )?;
    let mut states = Vec::new();
    for id in ids {
        states.push(bench.run(id).await?.state);
    }
    same(
        "how they stand",
        states,
        vec![State::Processing, State::Pending, State::Pending],
    )?;
    same(
        "that of another",
        bench.run(other).await?.state,
        State::Processing,
    )?;
    same("the worker lives", bench.sweep(9).await?.len(), 0)
}

async fn leaves(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    bench
        .held(Operation::Announce(hold(&held), held.now.after(LONG)))
        .await?;
    let other = bench.held_by("b").await?.run.id;
    same(
        "its outcome",
        bench.act(Operation::Leave(worker("a"))).await?,
        Outcome::Done,
    )?;
    let run = bench.run(held.run.id).await?;
    let found = (run.state, run.owner, run.step_by, run.failures, run.error);
    same(
        "how it stands",
        found,
        (State::Pending, None, None, 0, None),
    )?;
    same(
        "that of another",
        bench.run(other).await?.state,
        State::Processing,
    )?;
    same(
        "who claims it",
        bench.claim_one("b").await?.run.id,
        held.run.id,
    )?;
    // Nobody lives on after that.
    bench.act(Operation::Leave(worker("b"))).await?;
    bench.claim("b", 9).await?;
    same("swept", bench.sweep(9).await?.len(), 2)
}

async fn fenced(bench: &Bench) -> Checked {
    for operation in [
        Operation::Disown(worker("a"), Vec::new()),
        Operation::Leave(worker("a")),
    ] {
        let held = bench.held_by("a").await?;
        bench.act(operation).await?;
        bench.lost(record(hold(&held), 0, Kind::Done)).await?;
        // Also when it is the same worker that holds it again.
        let again = bench.claim_one("a").await?;
        bench.lost(record(hold(&held), 0, Kind::Done)).await?;
        bench.held(record(hold(&again), 0, Kind::Done)).await?;
        bench
            .held(change(hold(&again), standing(State::Processed)))
            .await?;
    }
    Ok(())
}
