//! What only the holder of a task may write.

use std::time::Duration;

use super::bench::{Bench, Checked, LONG, change, hold, holds, record, same, signal, standing};
use crate::store::{Change, Operation, Outcome, Steer, Wake};
use crate::task::{Direction, Fence, Hold, Kind, Record, RunId, State};
use crate::time::Time;

super::sentences! {
    "an operation with a `Hold` whose fence is not the task's changes nothing and is answered with `Lost`" => fenced,
    "nobody holds a task that was given up" => given_up,
    "a record is kept as it is given, with the time of the store and the fence of its writer" => keeps_it,
    "a record that is there already, written under the same fence, is answered as if it had been written now" => repeated,
    "a record that is there already, written under another fence, is answered with `Lost`" => by_another,
    "a record that was announced in many lists is one" => in_one_list,
    "an announcement says by when the step under way must be done" => announced,
    "a change says how a task stands from now on" => changed,
    "what was there before as output and error stays without another" => stays,
    "a task that is to be cancelled can be claimed at once when it is given up on its way forward" => cancelled_meanwhile,
    "the operations of one write happen in their order" => in_order,
}

/// All that needs a hold.
fn all(hold: Hold) -> [Operation; 4] {
    [
        record(hold, 7, Kind::Done),
        Operation::Announce(hold, Time::from_micros(5)),
        change(hold, standing(State::Processing)),
        change(
            hold,
            Change {
                error: Some("no".to_owned()),
                ..standing(State::Error)
            },
        ),
    ]
}

async fn fenced(bench: &Bench) -> Checked {
    let old = bench.held_by("a").await?;
    bench
        .held(change(hold(&old), standing(State::Pending)))
        .await?;
    let new = bench.claim_one("b").await?;
    let (run, fence) = (new.run.id, new.run.fence);
    for strange in [
        hold(&old),
        Hold {
            run,
            fence: Fence(0),
        },
        Hold {
            run,
            fence: Fence(fence.0 + 1),
        },
        Hold {
            run: RunId(run.0 + 1_000_000),
            fence,
        },
    ] {
        for operation in all(strange) {
            bench.lost(operation).await?;
        }
    }
    same("the task", bench.run(run).await?, new.run.clone())?;
    same("its history", bench.history(run).await?, Vec::new())?;
    // In a list with those who hold theirs.
    let list = [
        record(hold(&old), 0, Kind::Done),
        record(hold(&new), 1, Kind::Done),
        record(hold(&old), 2, Kind::Done),
    ];
    let outcomes = bench.write(list).await?;
    let [Outcome::Lost, Outcome::Held(_), Outcome::Lost] = outcomes[..] else {
        return Err(format!("in a list: {outcomes:?}"));
    };
    let seqs: Vec<_> = bench
        .history(run)
        .await?
        .iter()
        .map(|record| record.seq)
        .collect();
    same("what was written", seqs, vec![1])
}

async fn given_up(bench: &Bench) -> Checked {
    for state in State::ALL
        .into_iter()
        .filter(|state| *state != State::Processing)
    {
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
        same("its owner", bench.run(held.run.id).await?.owner, None)?;
        for operation in all(hold(&held)) {
            bench.lost(operation).await?;
        }
        same(state.word(), bench.run(held.run.id).await?.state, state)?;
    }
    Ok(())
}

async fn keeps_it(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let mut wanted = Vec::new();
    for kind in [Kind::Begun, Kind::Done, Kind::Failed, Kind::Undone] {
        let record = Record {
            seq: i32::from(kind.number() / 2),
            kind,
            ord: i32::from(kind.number()),
            name: "n\u{e4}me".to_owned(),
            attempts: 3,
            result: (kind == Kind::Done).then(|| "\"\\\\ \u{1f980}\"".to_owned()),
            error: (kind == Kind::Failed).then(|| "why\n\"so\"".to_owned()),
            due_at: (kind == Kind::Begun).then_some(Time::NEVER),
            at: Time::default(),
            fence: Fence::default(),
        };
        let standing = bench
            .held(Operation::Record(hold(&held), Box::new(record.clone())))
            .await?;
        wanted.push(Record {
            at: standing.now,
            fence: held.run.fence,
            ..record
        });
    }
    same(
        "the history",
        bench.history(held.run.id).await?,
        wanted.clone(),
    )?;
    bench
        .held(change(hold(&held), standing(State::Pending)))
        .await?;
    same(
        "the history that comes with a claim",
        bench.claim_one("b").await?.history,
        wanted,
    )
}

async fn repeated(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let operation = record(hold(&held), 0, Kind::Done);
    bench.held(operation.clone()).await?;
    let once = bench.history(held.run.id).await?;
    bench.held(operation.clone()).await?;
    let list = [
        operation.clone(),
        operation,
        record(hold(&held), 0, Kind::Begun),
    ];
    for outcome in bench.write(list).await? {
        holds("the holder holds it", matches!(outcome, Outcome::Held(_)))?;
    }
    let history = bench.history(held.run.id).await?;
    let done = history
        .into_iter()
        .filter(|record| record.kind == Kind::Done)
        .collect();
    same("the records", done, once)
}

async fn by_another(bench: &Bench) -> Checked {
    let old = bench.held_by("a").await?;
    bench.held(record(hold(&old), 0, Kind::Done)).await?;
    bench
        .held(change(hold(&old), standing(State::Pending)))
        .await?;
    let new = bench.claim_one("b").await?;
    let before = bench.history(old.run.id).await?;
    bench.lost(record(hold(&new), 0, Kind::Done)).await?;
    same("the history", bench.history(old.run.id).await?, before)?;
    bench
        .held(record(hold(&new), 0, Kind::Undone))
        .await
        .map(drop)
}

async fn in_one_list(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let list: Vec<_> = (0..600)
        .map(|nth| record(hold(&held), nth % 300, Kind::Done))
        .collect();
    for outcome in bench.write(list).await? {
        holds("the holder holds it", matches!(outcome, Outcome::Held(_)))?;
    }
    let history = bench.history(held.run.id).await?;
    same(
        "the records",
        history.iter().map(|record| record.seq).collect(),
        (0..300).collect::<Vec<_>>(),
    )
}

async fn announced(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    for by in [Time::NEVER, held.now.after(LONG)] {
        bench.held(Operation::Announce(hold(&held), by)).await?;
        same("by when", bench.run(held.run.id).await?.step_by, Some(by))?;
    }
    bench
        .held(change(hold(&held), standing(State::Pending)))
        .await?;
    same(
        "by when, after it was given up",
        bench.run(held.run.id).await?.step_by,
        None,
    )
}

async fn changed(bench: &Bench) -> Checked {
    for state in State::ALL {
        for direction in [
            Direction::Forward,
            Direction::Undoing,
            Direction::Cancelling,
        ] {
            let held = bench.held_by("a").await?;
            let change = Change {
                state,
                direction,
                failures: 2,
                wake: Wake::In(LONG),
                output: Some("1".to_owned()),
                error: Some("why".to_owned()),
            };
            let standing = bench
                .held(Operation::Change(hold(&held), Box::new(change)))
                .await?;
            let run = bench.run(held.run.id).await?;
            let mut wanted = held.run.clone();
            wanted.state = state;
            wanted.direction = direction;
            wanted.failures = 2;
            wanted.wake_at = standing.now.after(LONG);
            wanted.output = Some("1".to_owned());
            wanted.error = Some("why".to_owned());
            wanted.updated_at = standing.now;
            wanted.owner = wanted.owner.filter(|_| state == State::Processing);
            same("the task", run, wanted)?;
        }
    }
    Ok(())
}

async fn stays(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let first = Change {
        output: Some("1".to_owned()),
        error: Some("why".to_owned()),
        ..standing(State::Processing)
    };
    bench.held(change(hold(&held), first)).await?;
    bench
        .held(change(hold(&held), standing(State::Processed)))
        .await?;
    let run = bench.run(held.run.id).await?;
    same(
        "output and error",
        (run.output.as_deref(), run.error.as_deref()),
        (Some("1"), Some("why")),
    )
}

async fn cancelled_meanwhile(bench: &Bench) -> Checked {
    for wake in [Wake::In(LONG), Wake::At(Time::NEVER, i64::MAX)] {
        for (direction, is_ready) in [(Direction::Forward, true), (Direction::Undoing, false)] {
            let held = bench.held_by("a").await?;
            bench.steer(held.run.id, Steer::Cancel).await?;
            let change = Change {
                direction,
                wake,
                ..standing(State::Waiting)
            };
            let standing = bench
                .held(Operation::Change(hold(&held), Box::new(change)))
                .await?;
            holds("its holder is told", standing.cancel_asked)?;
            let claimed = bench.claim("b", 1).await?;
            same("whether it is ready", !claimed.is_empty(), is_ready)?;
        }
    }
    Ok(())
}

async fn in_order(bench: &Bench) -> Checked {
    let held = bench.held_by("a").await?;
    let (id, own) = (held.run.id, hold(&held));
    let list = [
        change(
            own,
            Change {
                failures: 1,
                ..standing(State::Processing)
            },
        ),
        record(own, 0, Kind::Done),
        Operation::Steer(id, Steer::Cancel),
        record(own, 1, Kind::Done),
        Operation::Announce(own, Time::from_micros(1)),
        change(
            own,
            Change {
                failures: 2,
                wake: Wake::In(Duration::ZERO),
                ..standing(State::Pending)
            },
        ),
        record(own, 2, Kind::Done),
        signal(id, "after"),
        change(
            own,
            Change {
                failures: 3,
                ..standing(State::Pending)
            },
        ),
    ];
    let outcomes = bench.write(list).await?;
    let asked = |outcome: &Outcome| match outcome {
        Outcome::Held(standing) => Some(standing.cancel_asked),
        _ => None,
    };
    let found: Vec<_> = outcomes.iter().map(asked).collect();
    let (no, yes) = (Some(false), Some(true));
    same(
        "who knew of the cancellation",
        found,
        vec![no, no, None, yes, yes, yes, None, None, None],
    )?;
    let run = bench.run(id).await?;
    same(
        "how it stands",
        (run.state, run.failures, run.step_by),
        (State::Pending, 2, None),
    )?;
    same("what happened in it", bench.history(id).await?.len(), 2)
}
