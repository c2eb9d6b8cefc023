//! Writes that only the owner of a task may make.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, SHORT, change, change_to, check_equal, check_that, counts, lease,
    record, report, running, sentences, signal, to_message,
};
use reattempt_supervisor::store::{
    AdminCommand, Change, Counts, SignalResult, Wake, Write, WriteResult,
};
use reattempt_supervisor::{
    Direction, FailingStep, Fence, Lease, Record, RecordKind, State, TaskId, Time, WorkerId,
};

sentences! {
    "a write with a `Lease` whose fence is not that of the task changes nothing and returns `Lost`" => checks_the_fence,
    "a task that was given up has no owner" => gives_up,
    "a record is kept unchanged, with the time of the store and the fence of its writer" => keeps_it,
    "a record that is already there, written under the same fence, counts as written now" => accepts_a_repetition,
    "a record that is already there, written under another fence, returns `Lost`" => refuses_another_writer,
    "a record that comes several times in a list is stored once" => in_one_list,
    "a report of running steps is kept under the lease of its task, one line for each step" => reports,
    "the line of a running step goes with its record, in the same write, and without one when it was dropped" => reports_end,
    "the lines of a task go when its worker gives it up, in whatever way" => reports_go,
    "a change sets the state of a task" => changes,
    "the store keeps how often each step has failed in each direction, with the time of the store" => keeps_failing_steps,
    "a change that has taken place counts as written now when it is repeated, until the fence grows" => accepts_a_repeated_change,
    "so does one that comes before a command of an operator in the same list" => accepts_one_before_a_command,
    "a change without an output or an error keeps the earlier one" => keeps_output_and_error,
    "a task with a request to cancel it can be claimed at once when it is given up in the direction forward" => cancels_in_between,
    "a list of writes is carried out in its order" => in_order,
}

/// Returns all writes that need a lease.
fn all(lease: Lease) -> [Write; 4] {
    [
        Write::ClearDeaths(lease),
        record(lease, 7, RecordKind::Done),
        change(lease, change_to(State::Processing)),
        change(
            lease,
            Change {
                error: Some("no".to_owned()),
                ..change_to(State::Error)
            },
        ),
    ]
}

async fn checks_the_fence(bench: &Bench) -> CheckResult {
    let old = bench.claim_new("a").await?;
    bench
        .write_held(change(lease(&old), change_to(State::Pending)))
        .await?;
    let new = bench.claim_one("b").await?;
    let (task, fence) = (new.task.id, new.task.fence);
    for strange in [
        lease(&old),
        Lease {
            task,
            fence: Fence(0),
        },
        Lease {
            task,
            fence: Fence(fence.0 + 1),
        },
        Lease {
            task: TaskId(task.0 + 1_000_000),
            fence,
        },
    ] {
        for write in all(strange) {
            bench.write_lost(write).await?;
        }
    }
    check_equal("the task", bench.task(task).await?, new.task.clone())?;
    check_equal("its history", bench.history(task).await?, Vec::new())?;
    // In a list with writes of current owners.
    let list = [
        record(lease(&old), 0, RecordKind::Done),
        record(lease(&new), 1, RecordKind::Done),
        record(lease(&old), 2, RecordKind::Done),
    ];
    let results = bench.write(list).await?;
    let [
        WriteResult::Lost,
        WriteResult::Written(_),
        WriteResult::Lost,
    ] = results[..]
    else {
        return Err(format!("in a list: {results:?}"));
    };
    let seqs: Vec<_> = bench
        .history(task)
        .await?
        .iter()
        .map(|record| record.seq)
        .collect();
    check_equal("the records", seqs, vec![1])
}

async fn gives_up(bench: &Bench) -> CheckResult {
    for state in State::ALL
        .into_iter()
        .filter(|state| *state != State::Processing)
    {
        let held = bench.claim_new("a").await?;
        bench.give_state(&held, state).await?;
        check_equal("its owner", bench.task(held.task.id).await?.owner, None)?;
        for write in all(lease(&held)) {
            bench.write_lost(write).await?;
        }
        check_equal(state.as_str(), bench.task(held.task.id).await?.state, state)?;
    }
    Ok(())
}

async fn accepts_one_before_a_command(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let parked = change(lease(&held), change_to(State::Parked));
    bench.write_held(parked.clone()).await?;
    let command = Write::Admin(held.task.id, AdminCommand::Resubmit);
    let results = bench.one.write([parked, command].into()).await;
    let results = results.map_err(to_message)?;
    let are_done = matches!(
        results[..],
        [
            WriteResult::Written(_),
            WriteResult::Signaled(SignalResult::Accepted)
        ]
    );
    check_equal("whether both took place", are_done, true)
}

async fn accepts_a_repeated_change(bench: &Bench) -> CheckResult {
    for state in State::ALL
        .into_iter()
        .filter(|state| *state != State::Processing)
    {
        let held = bench.claim_new("a").await?;
        let wanted = Change {
            wake: Wake::At(Time::NEVER, 0),
            output: Some("7".to_owned()),
            error: Some("why".to_owned()),
            ..change_to(state)
        };
        bench
            .write_held(change(lease(&held), wanted.clone()))
            .await?;
        if state == State::Waiting {
            bench.write_one(signal(held.task.id, "go")).await?;
        }
        let before = bench.task(held.task.id).await?;
        bench
            .write_held(change(lease(&held), wanted.clone()))
            .await?;
        check_equal("the task", bench.task(held.task.id).await?, before)?;
        let other = Change {
            error: Some("no".to_owned()),
            ..wanted.clone()
        };
        bench.write_lost(change(lease(&held), other)).await?;
        bench
            .write_lost(record(lease(&held), 0, RecordKind::Done))
            .await?;
        if state == State::Waiting {
            let again = bench.claim_one("b").await?;
            check_equal("the task", again.task.id, held.task.id)?;
            bench.write_lost(change(lease(&held), wanted)).await?;
        }
    }
    Ok(())
}

async fn keeps_it(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let mut wanted = Vec::new();
    for kind in [
        RecordKind::Begun,
        RecordKind::Done,
        RecordKind::Failed,
        RecordKind::Undone,
    ] {
        let record = Record {
            seq: i32::from(kind.number() / 2),
            kind,
            ord: i32::from(kind.number()),
            name: "n\u{e4}me".to_owned(),
            attempts: 3,
            result: (kind == RecordKind::Done).then(|| "\"\\\\ \u{1f980}\"".to_owned()),
            error: (kind == RecordKind::Failed).then(|| "why\n\"so\"".to_owned()),
            due_at: (kind == RecordKind::Begun).then_some(Time::NEVER),
            at: Time::default(),
            fence: Fence::default(),
            args_hash: (kind == RecordKind::Done).then(|| "0a1b".to_owned()),
            args: (kind == RecordKind::Done).then(|| "[\"\u{e9}\",1]".to_owned()),
            undo: (kind == RecordKind::Done).then(|| "unpay".to_owned()),
        };
        let status = bench
            .write_held(Write::Record(lease(&held), Box::new(record.clone())))
            .await?;
        wanted.push(Record {
            at: status.now,
            fence: held.task.fence,
            ..record
        });
    }
    check_equal(
        "the history",
        bench.history(held.task.id).await?,
        wanted.clone(),
    )?;
    bench
        .write_held(change(lease(&held), change_to(State::Pending)))
        .await?;
    let again = bench.claim_one("b").await?;
    check_equal(
        "the history after a claim",
        bench.history(again.task.id).await?,
        wanted,
    )
}

async fn accepts_a_repetition(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let write = record(lease(&held), 0, RecordKind::Done);
    bench.write_held(write.clone()).await?;
    let once = bench.history(held.task.id).await?;
    bench.write_held(write.clone()).await?;
    let list = [
        write.clone(),
        write,
        record(lease(&held), 0, RecordKind::Begun),
    ];
    for result in bench.write(list).await? {
        check_that(
            "the owner still has it",
            matches!(result, WriteResult::Written(_)),
        )?;
    }
    let history = bench.history(held.task.id).await?;
    let done = history
        .into_iter()
        .filter(|record| record.kind == RecordKind::Done)
        .collect();
    check_equal("the records", done, once)
}

async fn refuses_another_writer(bench: &Bench) -> CheckResult {
    let old = bench.claim_new("a").await?;
    bench
        .write_held(record(lease(&old), 0, RecordKind::Done))
        .await?;
    bench
        .write_held(change(lease(&old), change_to(State::Pending)))
        .await?;
    let new = bench.claim_one("b").await?;
    let before = bench.history(old.task.id).await?;
    bench
        .write_lost(record(lease(&new), 0, RecordKind::Done))
        .await?;
    check_equal("the history", bench.history(old.task.id).await?, before)?;
    bench
        .write_held(record(lease(&new), 0, RecordKind::Undone))
        .await
        .map(drop)
}

async fn in_one_list(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let list: Vec<_> = (0..600)
        .map(|nth| record(lease(&held), nth % 300, RecordKind::Done))
        .collect();
    for result in bench.write(list).await? {
        check_that(
            "the owner still has it",
            matches!(result, WriteResult::Written(_)),
        )?;
    }
    let history = bench.history(held.task.id).await?;
    check_equal(
        "the records",
        history.iter().map(|record| record.seq).collect(),
        (0..300).collect::<Vec<_>>(),
    )
}

async fn reports(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let own = lease(&held);
    let steps = vec![
        running(own, 0, None),
        running(own, 1, Some(held.now.after(LONG))),
        running(own, 7, Some(Time::NEVER)),
    ];
    bench.report(steps.clone()).await?;
    check_equal("its steps", bench.running(own.task).await?, steps.clone())?;
    // A step that was dropped may run again.
    let again = running(own, 1, None);
    bench.report([again.clone()]).await?;
    let wanted = vec![steps[0].clone(), again, steps[2].clone()];
    check_equal(
        "its steps later",
        bench.running(own.task).await?,
        wanted.clone(),
    )?;
    for fence in [0, 2] {
        let strange = Lease {
            fence: Fence(fence),
            ..own
        };
        bench
            .report([running(strange, 1, None), running(strange, 2, None)])
            .await?;
        bench
            .write_one(Write::Running {
                started: Vec::new(),
                ended: vec![(strange, 0)],
            })
            .await?;
    }
    let nobody = Lease {
        task: TaskId(own.task.0 + 1_000_000),
        ..own
    };
    bench.report([running(nobody, 0, None)]).await?;
    check_equal(
        "its steps under its lease",
        bench.running(own.task).await?,
        wanted,
    )?;
    check_equal(
        "those of no task",
        bench.running(nobody.task).await?,
        Vec::new(),
    )
}

async fn reports_end(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let own = lease(&held);
    bench
        .report((0..6).map(|seq| running(own, seq, None)))
        .await?;
    let begun = record(own, 0, RecordKind::Begun);
    bench.write_held(begun).await?;
    bench.write_held(record(own, 1, RecordKind::Done)).await?;
    let list = [
        report([running(own, 6, None)]),
        record(own, 2, RecordKind::Failed),
        record(own, 3, RecordKind::Undone),
        record(own, 6, RecordKind::Done),
    ];
    bench.write(list).await?;
    bench
        .write_one(Write::Running {
            started: Vec::new(),
            ended: vec![(own, 4), (own, 9)],
        })
        .await?;
    let left = bench.running(own.task).await?;
    let left = left.into_iter().map(|step| step.seq).collect();
    check_equal("the steps that run still", left, vec![0, 5])?;
    // The record of a worker that has lost the task removes nothing.
    let old = Lease {
        fence: Fence(0),
        ..own
    };
    bench.write_lost(record(old, 5, RecordKind::Done)).await?;
    check_equal("their number", bench.running(own.task).await?.len(), 2)
}

async fn reports_go(bench: &Bench) -> CheckResult {
    for way in 0..5 {
        let held = bench.claim_new("a").await?;
        let own = lease(&held);
        bench
            .report([running(own, 0, None), running(own, 1, None)])
            .await?;
        match way {
            0 => {
                let waits = Change {
                    wake: Wake::In(LONG),
                    ..change_to(State::Waiting)
                };
                bench.write_held(change(own, waits)).await?;
            }
            1 => {
                bench.write_one(Write::GiveBack(vec![own])).await?;
            }
            2 => {
                bench
                    .write_one(Write::Leave(WorkerId("a".to_owned())))
                    .await?;
            }
            3 => {
                let park = AdminCommand::Park("wait".to_owned());
                bench.command(own.task, park).await?;
                bench.command(own.task, AdminCommand::Resubmit).await?;
            }
            _ => {
                bench.heartbeat("a", SHORT).await?;
                bench.sweep_until_found().await?;
            }
        }
        check_equal("its steps", bench.running(own.task).await?, Vec::new())?;
        if (1..4).contains(&way) {
            let again = bench.claim_one("b").await?;
            check_equal(
                "its steps later",
                bench.running(own.task).await?,
                Vec::new(),
            )?;
            bench
                .write_held(change(lease(&again), change_to(State::Processed)))
                .await?;
        }
    }
    Ok(())
}

async fn changes(bench: &Bench) -> CheckResult {
    for state in State::ALL {
        for direction in [
            Direction::Forward,
            Direction::Undoing,
            Direction::Cancelling,
        ] {
            let held = bench.claim_new("a").await?;
            let change = Change {
                state,
                direction,
                counts: Counts {
                    failures: 2,
                    deaths: 3,
                    failed_ord: 7,
                },
                failing_step: None,
                wake: Wake::In(LONG),
                output: Some("1".to_owned()),
                error: Some("why".to_owned()),
                failed_seq: Some(7),
            };
            let status = bench
                .write_held(Write::Change(lease(&held), Box::new(change)))
                .await?;
            let task = bench.task(held.task.id).await?;
            let mut wanted = held.task.clone();
            wanted.state = state;
            wanted.direction = direction;
            wanted.failures = 2;
            wanted.deaths = 3;
            wanted.failed_ord = 7;
            wanted.wake_at = status.now.after(LONG);
            wanted.output = Some("1".to_owned());
            wanted.error = Some("why".to_owned());
            wanted.failed_seq = Some(7);
            wanted.updated_at = status.now;
            wanted.owner = wanted.owner.filter(|_| state == State::Processing);
            check_equal("the task", task, wanted)?;
        }
    }
    Ok(())
}

async fn keeps_failing_steps(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    let mut wanted = Vec::new();
    for (direction, seq, failures) in [
        (Direction::Undoing, 1, 1),
        (Direction::Forward, 4, 1),
        (Direction::Forward, 1, 1),
        (Direction::Forward, 4, 2),
    ] {
        let step = FailingStep {
            direction,
            seq,
            failures,
            error: format!("failure \u{fc}ber {failures}"),
            at: Time::default(),
        };
        let failed = Change {
            failing_step: Some(step.clone()),
            ..change_to(State::Processing)
        };
        let status = bench.write_held(change(lease(&held), failed)).await?;
        wanted.push(FailingStep {
            at: status.now,
            ..step
        });
    }
    wanted.remove(1);
    wanted.reverse();
    wanted.swap(0, 1);
    check_equal(
        "the failing steps",
        bench.failures(id).await?,
        wanted.clone(),
    )?;
    let last = Change {
        failing_step: wanted.first().cloned(),
        ..change_to(State::Pending)
    };
    let status = bench.write_held(change(lease(&held), last.clone())).await?;
    if let Some(first) = wanted.first_mut() {
        first.at = status.now;
    }
    bench.wait_until_past(status.now).await?;
    bench.write_held(change(lease(&held), last)).await?;
    check_equal(
        "the failing steps after a repetition",
        bench.failures(id).await?,
        wanted.clone(),
    )?;
    let strange = Lease {
        fence: Fence(9),
        ..lease(&held)
    };
    let failed = Change {
        failing_step: wanted.first().cloned().map(|step| FailingStep {
            failures: 9,
            ..step
        }),
        ..change_to(State::Pending)
    };
    bench.write_lost(change(strange, failed)).await?;
    check_equal(
        "the failing steps of its owner",
        bench.failures(id).await?,
        wanted,
    )?;
    check_equal(
        "those of another task",
        bench.failures(TaskId(id.0 + 1)).await?,
        Vec::new(),
    )
}

async fn keeps_output_and_error(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let first = Change {
        output: Some("1".to_owned()),
        error: Some("why".to_owned()),
        ..change_to(State::Processing)
    };
    bench.write_held(change(lease(&held), first)).await?;
    bench
        .write_held(change(lease(&held), change_to(State::Processed)))
        .await?;
    let task = bench.task(held.task.id).await?;
    check_equal(
        "output and error",
        (task.output.as_deref(), task.error.as_deref()),
        (Some("1"), Some("why")),
    )
}

async fn cancels_in_between(bench: &Bench) -> CheckResult {
    for wake in [Wake::In(LONG), Wake::At(Time::NEVER, i64::MAX)] {
        for (direction, is_ready) in [(Direction::Forward, true), (Direction::Undoing, false)] {
            let held = bench.claim_new("a").await?;
            bench.command(held.task.id, AdminCommand::Cancel).await?;
            let change = Change {
                direction,
                wake,
                ..change_to(State::Waiting)
            };
            let status = bench
                .write_held(Write::Change(lease(&held), Box::new(change)))
                .await?;
            check_that("its owner gets the request", status.cancel_requested)?;
            let claimed = bench.claim("b", 1).await?;
            check_equal("that it is ready", !claimed.is_empty(), is_ready)?;
        }
    }
    Ok(())
}

async fn in_order(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let (id, own) = (held.task.id, lease(&held));
    let list = [
        change(
            own,
            Change {
                counts: counts(1),
                ..change_to(State::Processing)
            },
        ),
        record(own, 0, RecordKind::Done),
        Write::Admin(id, AdminCommand::Cancel),
        record(own, 1, RecordKind::Done),
        report([running(own, 7, None)]),
        change(
            own,
            Change {
                counts: counts(2),
                wake: Wake::In(Duration::ZERO),
                ..change_to(State::Pending)
            },
        ),
        record(own, 2, RecordKind::Done),
        signal(id, "after"),
        change(
            own,
            Change {
                counts: counts(3),
                ..change_to(State::Pending)
            },
        ),
    ];
    let results = bench.write(list).await?;
    let asked = |result: &WriteResult| match result {
        WriteResult::Written(status) => Some(status.cancel_requested),
        _ => None,
    };
    let found: Vec<_> = results.iter().map(asked).collect();
    let (no, yes) = (Some(false), Some(true));
    check_equal(
        "the results with the request to cancel",
        found,
        vec![no, no, None, yes, None, yes, None, None, None],
    )?;
    let task = bench.task(id).await?;
    check_equal("the task", (task.state, task.failures), (State::Pending, 2))?;
    check_equal("its steps", bench.running(id).await?, Vec::new())?;
    check_equal("the number of records", bench.history(id).await?.len(), 2)
}
