//! `Store::sweep`.

use std::collections::HashSet;
use std::time::Duration;

use reattempt::{Jitter, Policy};

use super::bench::{
    Bench, Checked, LONG, SHORT, change, hold, new, record, said, same, standing, sweep,
};
use crate::store::{Change, Expired, Operation, Sweep, Swept};
use crate::task::{Direction, Kind, NewRun, State, WorkerId};

super::sentences! {
    "a task whose owner was not heard of for its lease is given back, and has failed once more" => owner,
    "a task whose owner is unknown is given back" => unknown_owner,
    "a task whose step was not done in time is given back" => step,
    "a task that was not done in time is undone, whoever holds it" => task,
    "a task that is undone already is not held to its time" => undone_already,
    "a task that failed too often is undone; one that cannot be undone is parked" => fates,
    "a sweep looks at most at so many tasks" => at_most,
    "several may look at the same time and do not see each other's" => at_once,
    "a sweep leaves alone what has ended, waits or is held by who lives" => leaves_alone,
}

async fn owner(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    bench.beat("a", SHORT).await?;
    let swept = bench.sweep_until_found().await?;
    let delay = Duration::from_secs(100);
    let wanted = Swept {
        run: held.run.id,
        workflow: "w".to_owned(),
        expired: Expired::Owner,
        owner: Some(WorkerId("a".to_owned())),
        state: State::Pending,
        direction: Direction::Forward,
        failures: 1,
        delay,
    };
    same("what was found", swept, vec![wanted])?;
    let run = bench.run(held.run.id).await?;
    let mut wanted = held.run.clone();
    wanted.state = State::Pending;
    wanted.owner = None;
    wanted.fence.0 += 1;
    wanted.failures = 1;
    wanted.error = Some(Expired::Owner.message().to_owned());
    wanted.wake_at = run.updated_at.after(delay);
    wanted.updated_at = run.updated_at;
    same("how it stands", run, wanted)?;
    same("found again", bench.sweep(9).await?.len(), 0)?;
    // The owner was stopped, not dead.
    bench.beat("a", LONG).await?;
    bench.lost(record(hold(&held), 0, Kind::Done)).await?;
    bench
        .lost(change(hold(&held), standing(State::Processed)))
        .await
}

async fn unknown_owner(bench: &Bench) -> Checked {
    let id = bench.submit(new("a")).await?;
    bench.claim_one("nobody").await?;
    let swept = bench.sweep(9).await?;
    same(
        "what was found",
        swept
            .into_iter()
            .map(|swept| (swept.run, swept.expired))
            .collect(),
        vec![(id, Expired::Owner)],
    )
}

async fn step(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    bench
        .held(Operation::Announce(hold(&held), held.now.after(LONG)))
        .await?;
    same("found before", bench.sweep(9).await?.len(), 0)?;
    bench
        .held(Operation::Announce(hold(&held), held.now))
        .await?;
    let swept = bench.sweep_until_found().await?;
    let found = swept
        .into_iter()
        .map(|swept| (swept.expired, swept.state, swept.failures))
        .collect();
    same(
        "what was found",
        found,
        vec![(Expired::Step, State::Pending, 1)],
    )?;
    let run = bench.run(held.run.id).await?;
    same("how it stands", (run.owner, run.step_by), (None, None))?;
    bench.lost(record(hold(&held), 0, Kind::Done)).await
}

async fn task(bench: &Bench) -> Checked {
    for state in [State::Pending, State::Processing, State::Waiting] {
        bench.beat("a", LONG).await?;
        let id = bench
            .submit(NewRun {
                complete_by: Some(SHORT),
                ..new(state.word())
            })
            .await?;
        let claimed = bench.claim_one("a").await?;
        let change = Change {
            failures: 2,
            wake: crate::store::Wake::In(LONG),
            ..standing(state)
        };
        bench
            .held(Operation::Change(hold(&claimed), Box::new(change)))
            .await?;
        let swept = bench.sweep_until_found().await?;
        let found = swept
            .into_iter()
            .map(|swept| (swept.run, swept.expired, swept.failures, swept.delay))
            .collect();
        same(
            "what was found",
            found,
            vec![(id, Expired::Task, 0, Duration::ZERO)],
        )?;
        let run = bench.run(id).await?;
        let wanted = (
            State::Pending,
            Direction::Undoing,
            None,
            claimed.run.fence.0 + 1,
        );
        same(
            "how it stands",
            (run.state, run.direction, run.owner, run.fence.0),
            wanted,
        )?;
        same(
            "who goes on with it",
            bench.claim_one("a").await?.run.id,
            id,
        )?;
        same("found again", bench.sweep(9).await?.len(), 0)?;
    }
    Ok(())
}

async fn undone_already(bench: &Bench) -> Checked {
    bench.beat("a", LONG).await?;
    for direction in [Direction::Undoing, Direction::Cancelling] {
        let key = format!("{direction:?}");
        bench
            .submit(NewRun {
                complete_by: Some(LONG),
                ..new(&key)
            })
            .await?;
        let claimed = bench.claim_one("a").await?;
        let back = Change {
            direction,
            ..standing(State::Processing)
        };
        bench.held(change(hold(&claimed), back)).await?;
    }
    // Its time cannot be moved, so that of another task tells when it would be over.
    bench
        .submit(NewRun {
            complete_by: Some(SHORT),
            ..new("forward")
        })
        .await?;
    let claimed = bench.claim_one("a").await?;
    bench
        .held(change(
            hold(&claimed),
            Change {
                direction: Direction::Undoing,
                ..standing(State::Processing)
            },
        ))
        .await?;
    bench
        .submit(NewRun {
            complete_by: Some(SHORT),
            queue: "other".to_owned(),
            ..new("clock")
        })
        .await?;
    let swept = bench.sweep_until_found().await?;
    same("how many were found", swept.len(), 1)?;
    same(
        "the one that goes back",
        bench.run(claimed.run.id).await?.state,
        State::Processing,
    )
}

async fn fates(bench: &Bench) -> Checked {
    let id = bench
        .submit(NewRun {
            max_failures: 1,
            ..new("a")
        })
        .await?;
    let mut seen = Vec::new();
    let mut failures = 0;
    for _ in 0..4 {
        let claimed = bench.claim_until_ready("nobody").await?;
        same("its failures", claimed.run.failures, failures)?;
        let delays = Policy::new().base(SHORT).cap(SHORT).jitter(Jitter::None);
        let swept = bench
            .one
            .sweep(Sweep { limit: 9, delays })
            .await
            .map_err(said)?;
        let [swept] = &swept[..] else {
            return Err(format!("{swept:?}"));
        };
        failures = swept.failures;
        seen.push((swept.state, swept.direction, swept.failures));
    }
    let wanted = vec![
        (State::Pending, Direction::Forward, 1),
        (State::Pending, Direction::Undoing, 0),
        (State::Pending, Direction::Undoing, 1),
        (State::Parked, Direction::Undoing, 2),
    ];
    same("how it went on", seen, wanted)?;
    same("how it stands", bench.run(id).await?.state, State::Parked)?;
    same("ready", bench.claim("a", 9).await?.len(), 0)
}

async fn at_most(bench: &Bench) -> Checked {
    for nth in 0..7 {
        bench.submit(new(&nth.to_string())).await?;
    }
    bench.claim("nobody", 9).await?;
    let mut all = HashSet::new();
    for (limit, wanted) in [(0, 0), (3, 3), (3, 3), (3, 1), (3, 0)] {
        let swept = bench.sweep(limit).await?;
        same("how many were found", swept.len(), wanted)?;
        all.extend(swept.into_iter().map(|swept| swept.run));
    }
    same("how many different ones", all.len(), 7)
}

async fn at_once(bench: &Bench) -> Checked {
    for round in 0..10 {
        let submits: Vec<_> = (0..40)
            .map(|nth| Operation::Submit(Box::new(new(&format!("{round} {nth}")))))
            .collect();
        bench.write(submits).await?;
        bench.claim("nobody", 100).await?;
        let mut all = Vec::new();
        while all.len() < 40 {
            let (one, other) =
                tokio::join!(bench.one.sweep(sweep(15)), bench.other.sweep(sweep(15)));
            let found = [one.map_err(said)?, other.map_err(said)?].concat();
            if found.is_empty() {
                break;
            }
            all.extend(found.into_iter().map(|swept| (swept.run, swept.failures)));
        }
        same("how many were found", all.len(), 40)?;
        let different: HashSet<_> = all.iter().map(|(run, _)| *run).collect();
        same("how many different ones", different.len(), 40)?;
        same(
            "failed once",
            all.iter().all(|(_, failures)| *failures == 1),
            true,
        )?;
    }
    Ok(())
}

async fn leaves_alone(bench: &Bench) -> Checked {
    for state in State::ALL {
        let held = bench.held_by("a").await?;
        let change = Change {
            wake: crate::store::Wake::In(LONG),
            ..standing(state)
        };
        bench
            .held(Operation::Change(hold(&held), Box::new(change)))
            .await?;
        let before = bench.run(held.run.id).await?;
        same("found", bench.sweep(9).await?.len(), 0)?;
        same("how it stands", bench.run(held.run.id).await?, before)?;
    }
    Ok(())
}
