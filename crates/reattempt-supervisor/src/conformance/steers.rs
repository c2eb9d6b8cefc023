//! `Operation::Steer`.

use std::time::Duration;

use super::bench::{Bench, Checked, LONG, SHORT, change, hold, holds, new, record, same, standing};
use crate::store::{Change, Operation, Steer, Told, Wake};
use crate::task::{Direction, Fence, Hold, Kind, NewRun, RunId, State};

super::sentences! {
    "a task that nobody ever held is cancelled at once" => cancels_at_once,
    "a task that somebody held before is cancelled by whoever claims it, who may do so at once" => cancels_pending,
    "the holder of a task is asked to cancel it" => cancels_held,
    "a task that is parked is taken from its holder and rests" => parks,
    "a task that failed goes forward again when it is resubmitted, as if it had not failed" => resubmits_failed,
    "the failure that ended a task is forgotten when it is resubmitted, and no other record" => forgets_failure,
    "a parked task goes on its way when it is resubmitted, and what nobody knows the end of runs again" => resubmits_parked,
    "a time that is over is not held against a task that is resubmitted, one that is not still counts" => forgives_time,
    "a task whose state does not allow it is not steered, and one that there is not is unknown" => refuses,
}

async fn cancels_at_once(bench: &Bench) -> Checked {
    let id = bench
        .submit(NewRun {
            delay: LONG,
            ..new("a")
        })
        .await?;
    bench.steer(id, Steer::Cancel).await?;
    let run = bench.run(id).await?;
    same("its state", run.state, State::Cancelled)?;
    same("ready", bench.claim("a", 9).await?.len(), 0)
}

async fn cancels_pending(bench: &Bench) -> Checked {
    for state in [State::Pending, State::Waiting] {
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
        bench.steer(held.run.id, Steer::Cancel).await?;
        same(
            "its state",
            bench.run(held.run.id).await?.state,
            State::Pending,
        )?;
        let again = bench.claim_one("b").await?;
        holds("whoever claims it is asked", again.run.cancel_asked)?;
        same("its direction", again.run.direction, Direction::Forward)?;
    }
    Ok(())
}

async fn cancels_held(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    bench.steer(held.run.id, Steer::Cancel).await?;
    bench.steer(held.run.id, Steer::Cancel).await?;
    let run = bench.run(held.run.id).await?;
    let wanted = (
        State::Processing,
        held.run.owner.clone(),
        held.run.fence,
        true,
    );
    same(
        "how it stands",
        (run.state, run.owner, run.fence, run.cancel_asked),
        wanted,
    )?;
    let standing = bench.held(record(hold(&held), 0, Kind::Done)).await?;
    holds("its holder is told when it writes", standing.cancel_asked)
}

async fn parks(bench: &Bench) -> Checked {
    for state in [State::Pending, State::Waiting, State::Processing] {
        let held = bench.held_by("a").await?;
        let id = held.run.id;
        if state == State::Processing {
            bench
                .held(Operation::Announce(hold(&held), held.now.after(LONG)))
                .await?;
        } else {
            bench.held(change(hold(&held), standing(state))).await?;
        }
        bench
            .steer(id, Steer::Park("to look at it".to_owned()))
            .await?;
        let run = bench.run(id).await?;
        let wanted = (State::Parked, None, None, Fence(2));
        same(
            "how it stands",
            (run.state, run.owner, run.step_by, run.fence),
            wanted,
        )?;
        same("why", run.error.as_deref(), Some("to look at it"))?;
        same("ready", bench.claim("b", 9).await?.len(), 0)?;
        for fence in [held.run.fence, run.fence] {
            bench
                .lost(record(Hold { run: id, fence }, 0, Kind::Done))
                .await?;
        }
    }
    Ok(())
}

async fn resubmits_failed(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let error = Change {
        direction: Direction::Undoing,
        failures: 3,
        wake: Wake::In(LONG),
        ..standing(State::Error)
    };
    bench.held(change(hold(&held), error)).await?;
    bench.steer(held.run.id, Steer::Resubmit).await?;
    let run = bench.run(held.run.id).await?;
    let wanted = (State::Pending, Direction::Forward, 0, Fence(2));
    same(
        "how it stands",
        (run.state, run.direction, run.failures, run.fence),
        wanted,
    )?;
    same(
        "its fence when it is claimed",
        bench.claim_one("b").await?.run.fence,
        Fence(3),
    )
}

async fn forgets_failure(bench: &Bench) -> Checked {
    let failed = [
        (0, Kind::Done),
        (1, Kind::Failed),
        (2, Kind::Done),
        (3, Kind::Begun),
        (4, Kind::Failed),
    ];
    for (count, wanted) in [(5, vec![0, 1, 2, 3]), (3, vec![0, 1, 2]), (1, vec![0])] {
        let held = bench.held_by("a").await?;
        for (seq, kind) in failed.into_iter().take(count) {
            bench.held(record(hold(&held), seq, kind)).await?;
        }
        bench
            .held(change(hold(&held), standing(State::Error)))
            .await?;
        bench.steer(held.run.id, Steer::Resubmit).await?;
        let seqs = bench
            .claim_one("b")
            .await?
            .history
            .into_iter()
            .map(|record| record.seq)
            .collect();
        same("what is left of its history", seqs, wanted)?;
    }
    Ok(())
}

async fn resubmits_parked(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let line = |seq, kind, name: &str, is_timer: bool| match record(hold(&held), seq, kind) {
        Operation::Record(own, mut record) => {
            name.clone_into(&mut record.name);
            record.due_at = is_timer.then_some(held.now);
            record.ord = seq * 2 + i32::from(kind != Kind::Begun);
            Operation::Record(own, record)
        }
        other => other,
    };
    let list = [
        line(0, Kind::Begun, "finished", false),
        line(0, Kind::Done, "finished", false),
        line(1, Kind::Begun, "failed", false),
        line(1, Kind::Failed, "failed", false),
        line(2, Kind::Begun, "sleep", true),
        line(3, Kind::Begun, "signal word", false),
        line(4, Kind::Begun, "Signal of mine", false),
        line(5, Kind::Begun, "nobody knows", false),
        line(6, Kind::Failed, "last", false),
    ];
    bench.write(list).await?;
    let parked = Change {
        direction: Direction::Undoing,
        failures: 4,
        ..standing(State::Parked)
    };
    bench.held(change(hold(&held), parked)).await?;
    bench.steer(held.run.id, Steer::Resubmit).await?;
    let again = bench.claim_one("b").await?;
    let wanted = (Direction::Undoing, 0, Fence(3));
    same(
        "how it stands",
        (again.run.direction, again.run.failures, again.run.fence),
        wanted,
    )?;
    let left = again
        .history
        .into_iter()
        .map(|record| (record.seq, record.kind))
        .collect();
    let (begun, done, failed) = (Kind::Begun, Kind::Done, Kind::Failed);
    let wanted = vec![
        (0, begun),
        (0, done),
        (1, begun),
        (1, failed),
        (2, begun),
        (3, begun),
        (6, failed),
    ];
    same("what is left of its history", left, wanted)
}

async fn forgives_time(bench: &Bench) -> Checked {
    for (complete_by, stays) in [(Duration::ZERO, false), (LONG, true)] {
        let key = format!("{complete_by:?}");
        let id = bench
            .submit(NewRun {
                complete_by: Some(complete_by),
                ..new(&key)
            })
            .await?;
        let by = bench.run(id).await?.complete_by;
        tokio::time::sleep(SHORT).await;
        bench.steer(id, Steer::Park(String::new())).await?;
        bench.steer(id, Steer::Resubmit).await?;
        same(
            "by when it must be done",
            bench.run(id).await?.complete_by,
            by.filter(|_| stays),
        )?;
        bench.claim_one("a").await?;
    }
    Ok(())
}

async fn refuses(bench: &Bench) -> Checked {
    let park = || Steer::Park("why".to_owned());
    for steer in [Steer::Cancel, park(), Steer::Resubmit] {
        bench
            .told(Operation::Steer(RunId(1_000_000), steer), Told::Unknown)
            .await?;
    }
    for state in State::ALL {
        let allowed = match state {
            State::Pending | State::Processing | State::Waiting => vec![Steer::Cancel, park()],
            State::Parked | State::Error => vec![Steer::Resubmit],
            State::Processed | State::Compensated | State::Cancelled => Vec::new(),
        };
        for steer in [Steer::Cancel, park(), Steer::Resubmit] {
            if allowed.contains(&steer) {
                continue;
            }
            let held = bench.held_by("a").await?;
            let change = Change {
                wake: Wake::In(LONG),
                ..standing(state)
            };
            bench
                .held(Operation::Change(hold(&held), Box::new(change)))
                .await?;
            let before = bench.run(held.run.id).await?;
            bench
                .told(Operation::Steer(held.run.id, steer), Told::Not(state))
                .await?;
            same("the task", bench.run(held.run.id).await?, before)?;
        }
    }
    Ok(())
}
