//! `Write::Admin`.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, change, change_to, check_equal, check_that, counts, lease, new,
    record, running, sentences, to_message,
};
use reattempt_supervisor::store::{
    AdminCommand, Change, ClaimedTask, Counts, Resolution, SignalResult, Verdict, Wake, Write,
};
use reattempt_supervisor::{
    Direction, FailingStep, Fence, Lease, NewTask, Record, RecordKind, State, TaskId, Time,
};

sentences! {
    "a task that never had an owner is cancelled at once" => cancels_at_once,
    "a pending task that had an owner can be claimed at once when it is cancelled, and its worker cancels it" => cancels_pending,
    "the owner of a task gets the request to cancel it" => cancels_held,
    "a parked task loses its owner and is not claimed" => parks,
    "a failed task runs forward again when it is resubmitted, as if it had not failed" => resubmits_failed,
    "resubmitting a task deletes the failure that ended it, and no other record" => deletes_failure,
    "where a task does not say which failure ended it, that is its last record" => deletes_last_failure,
    "a parked task keeps its direction when it is resubmitted, and only the step that parked it runs again" => resubmits_parked,
    "a parked task that goes back keeps all its records when it is resubmitted" => keeps_records,
    "a failed or parked task turns back when somebody undoes it, and keeps all its records" => undoes,
    "an operator says of a step of unknown outcome that it was not done, that it was done, or that it is undone" => resolves,
    "an operator says what became of the step that ended a task" => resolves_failed,
    "an operator corrects a result that an operator gave, as long as nothing is recorded after it" => resolves_again,
    "an operator cannot say anything about a step with another outcome, a timer or a missing step" => resolves_no_other,
    "a parked task that is given up ends as cancelled with all its records" => gives_up,
    "a parked task that is cancelled can be claimed at once, and its worker cancels it" => cancels_parked,
    "resubmitting a task drops a `complete_by` that is over, and keeps one that is not" => drops_past_limit,
    "who gives a command and why is kept, if the task takes it" => signs,
    "a command for a task whose state does not allow it changes nothing, and one for a missing task returns `UnknownTask`" => refuses,
}

async fn signs(bench: &Bench) -> CheckResult {
    let id = bench.submit(new("a")).await?;
    let signed = |command: &AdminCommand| {
        let (by, why) = ("Ada".to_owned(), "she was asked".to_owned());
        let command = Box::new(command.clone());
        Write::Admin(id, AdminCommand::Signed { command, by, why })
    };
    let park = AdminCommand::Park("wait".to_owned());
    let mut wanted = Vec::new();
    for (command, name) in [
        (&park, "park"),
        (&AdminCommand::Undo, "undo"),
        (&park, "park"),
        (&AdminCommand::Resubmit, "resubmit"),
        (&AdminCommand::Cancel, "cancel"),
    ] {
        bench.send(signed(command), SignalResult::Accepted).await?;
        wanted.push((None, name, "Ada", "she was asked"));
        let state = bench.task(id).await?.state;
        if state != State::Parked {
            let refused = SignalResult::NotAllowed(state);
            bench.send(signed(&AdminCommand::Undo), refused).await?;
        }
    }
    let notes = bench.other.notes(id).await.map_err(to_message)?;
    let notes = notes.iter();
    let notes = notes.map(|note| (note.seq, &*note.verdict, &*note.by, &*note.why));
    check_equal("the notes", notes.collect(), wanted)
}

async fn cancels_at_once(bench: &Bench) -> CheckResult {
    let id = bench
        .submit(NewTask {
            delay: LONG,
            ..new("a")
        })
        .await?;
    bench.command(id, AdminCommand::Cancel).await?;
    let task = bench.task(id).await?;
    check_equal("its state", task.state, State::Cancelled)?;
    check_equal(
        "the number of ready tasks",
        bench.claim("a", 9).await?.len(),
        0,
    )
}

async fn cancels_pending(bench: &Bench) -> CheckResult {
    for state in [State::Pending, State::Waiting] {
        let held = bench.claim_new("a").await?;
        bench.give_state(&held, state).await?;
        bench.command(held.task.id, AdminCommand::Cancel).await?;
        check_equal(
            "its state",
            bench.task(held.task.id).await?.state,
            State::Pending,
        )?;
        let again = bench.claim_one("b").await?;
        check_that(
            "the next worker gets the request",
            again.task.cancel_requested,
        )?;
        check_equal("its direction", again.task.direction, Direction::Forward)?;
    }
    Ok(())
}

async fn cancels_held(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    bench.command(held.task.id, AdminCommand::Cancel).await?;
    bench.command(held.task.id, AdminCommand::Cancel).await?;
    let task = bench.task(held.task.id).await?;
    let wanted = (
        State::Processing,
        held.task.owner.clone(),
        held.task.fence,
        true,
    );
    check_equal(
        "the task",
        (task.state, task.owner, task.fence, task.cancel_requested),
        wanted,
    )?;
    let status = bench
        .write_held(record(lease(&held), 0, RecordKind::Done))
        .await?;
    check_that(
        "its owner gets the request when it writes",
        status.cancel_requested,
    )
}

async fn parks(bench: &Bench) -> CheckResult {
    for state in [State::Pending, State::Waiting, State::Processing] {
        let held = bench.claim_new("a").await?;
        let id = held.task.id;
        if state == State::Processing {
            bench
                .report([running(lease(&held), 0, Some(held.now.after(LONG)))])
                .await?;
        } else {
            bench
                .write_held(change(lease(&held), change_to(state)))
                .await?;
        }
        bench
            .command(id, AdminCommand::Park("to look at it".to_owned()))
            .await?;
        let task = bench.task(id).await?;
        let wanted = (State::Parked, None, None, Fence(2));
        check_equal(
            "the task",
            (task.state, task.owner, task.step_by, task.fence),
            wanted,
        )?;
        check_equal("why", task.error.as_deref(), Some("to look at it"))?;
        check_equal(
            "the number of ready tasks",
            bench.claim("b", 9).await?.len(),
            0,
        )?;
        for fence in [held.task.fence, task.fence] {
            bench
                .write_lost(record(Lease { task: id, fence }, 0, RecordKind::Done))
                .await?;
        }
    }
    Ok(())
}

async fn resubmits_failed(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let error = Change {
        direction: Direction::Undoing,
        counts: Counts {
            failures: 3,
            deaths: 4,
            failed_ord: 5,
        },
        failing_step: Some(FailingStep {
            direction: Direction::Forward,
            seq: 5,
            failures: 3,
            error: "no".to_owned(),
            at: Time::default(),
        }),
        wake: Wake::In(LONG),
        ..change_to(State::Error)
    };
    bench.write_held(change(lease(&held), error)).await?;
    bench.command(held.task.id, AdminCommand::Resubmit).await?;
    let task = bench.task(held.task.id).await?;
    let wanted = (State::Pending, Direction::Forward, Fence(2));
    check_equal("the task", (task.state, task.direction, task.fence), wanted)?;
    check_equal("its counts", Counts::of(&task), Counts::NONE)?;
    check_equal(
        "its failing steps",
        bench.failures(task.id).await?,
        Vec::new(),
    )?;
    check_equal(
        "its fence when it is claimed",
        bench.claim_one("b").await?.task.fence,
        Fence(3),
    )
}

async fn deletes_failure(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let list = [
        (0, RecordKind::Done, 0),
        (1, RecordKind::Failed, 1),
        (2, RecordKind::Begun, 2),
        (2, RecordKind::Failed, 3),
        (3, RecordKind::Done, 4),
    ];
    for (seq, kind, ord) in list {
        let line = match record(lease(&held), seq, kind) {
            Write::Record(own, mut record) => {
                record.ord = ord;
                Write::Record(own, record)
            }
            other => other,
        };
        bench.write_held(line).await?;
    }
    let error = Change {
        failed_seq: Some(2),
        ..change_to(State::Error)
    };
    bench.write_held(change(lease(&held), error)).await?;
    check_equal(
        "the failed step",
        bench.task(held.task.id).await?.failed_seq,
        Some(2),
    )?;
    bench.command(held.task.id, AdminCommand::Resubmit).await?;
    let again = bench.claim_one("b").await?;
    check_equal("the failed step", again.task.failed_seq, None)?;
    let left = bench.history(again.task.id).await?;
    let left = left.into_iter().map(|record| record.seq).collect();
    check_equal("the rest of its history", left, vec![0, 1, 3])
}

async fn deletes_last_failure(bench: &Bench) -> CheckResult {
    let failed = [
        (0, RecordKind::Done),
        (1, RecordKind::Failed),
        (2, RecordKind::Done),
        (3, RecordKind::Begun),
        (4, RecordKind::Failed),
    ];
    for (count, wanted) in [(5, vec![0, 1, 2, 3]), (3, vec![0, 1, 2]), (1, vec![0])] {
        let held = bench.claim_new("a").await?;
        for (seq, kind) in failed.into_iter().take(count) {
            bench.write_held(record(lease(&held), seq, kind)).await?;
        }
        bench
            .write_held(change(lease(&held), change_to(State::Error)))
            .await?;
        bench.command(held.task.id, AdminCommand::Resubmit).await?;
        let again = bench.claim_one("b").await?;
        let seqs = bench
            .history(again.task.id)
            .await?
            .into_iter()
            .map(|record| record.seq)
            .collect();
        check_equal("the rest of its history", seqs, wanted)?;
    }
    Ok(())
}

/// Parks a task with records of all kinds, and carries out a command.
async fn command_for_parked(
    bench: &Bench,
    direction: Direction,
    command: AdminCommand,
) -> CheckResult<(ClaimedTask, Vec<(i32, RecordKind)>)> {
    let held = bench.claim_new("a").await?;
    let line = |seq, kind, name: &str, is_timer: bool| match record(lease(&held), seq, kind) {
        Write::Record(own, mut record) => {
            name.clone_into(&mut record.name);
            record.due_at = is_timer.then_some(held.now);
            record.ord = seq * 2 + i32::from(kind != RecordKind::Begun);
            Write::Record(own, record)
        }
        other => other,
    };
    let list = [
        line(0, RecordKind::Begun, "finished", false),
        line(0, RecordKind::Done, "finished", false),
        line(1, RecordKind::Begun, "failed", false),
        line(1, RecordKind::Failed, "failed", false),
        line(2, RecordKind::Begun, "sleep", true),
        line(3, RecordKind::Begun, "signal word", false),
        line(4, RecordKind::Begun, "Signal of mine", false),
        line(5, RecordKind::Begun, "nobody knows", false),
        line(6, RecordKind::Failed, "last", false),
    ];
    bench.write(list).await?;
    let parked = Change {
        direction,
        counts: counts(4),
        failed_seq: Some(5),
        ..change_to(State::Parked)
    };
    bench.write_held(change(lease(&held), parked)).await?;
    bench.command(held.task.id, command).await?;
    let task = bench.task(held.task.id).await?;
    check_equal("when it changed", task.updated_at, task.wake_at)?;
    let again = bench.claim_one("b").await?;
    check_equal(
        "the task",
        (again.task.failures, again.task.fence),
        (0, Fence(3)),
    )?;
    let left = bench.history(again.task.id).await?.into_iter();
    let left = left.map(|record| (record.seq, record.kind)).collect();
    Ok((again, left))
}

/// The records of [`command_for_parked`].
const PARKED: [(i32, RecordKind); 9] = {
    use RecordKind::{Begun, Done, Failed};
    [
        (0, Begun),
        (0, Done),
        (1, Begun),
        (1, Failed),
        (2, Begun),
        (3, Begun),
        (4, Begun),
        (5, Begun),
        (6, Failed),
    ]
};

async fn resubmits_parked(bench: &Bench) -> CheckResult {
    let (task, left) =
        command_for_parked(bench, Direction::Forward, AdminCommand::Resubmit).await?;
    check_equal("its direction", task.task.direction, Direction::Forward)?;
    let wanted = PARKED.into_iter().filter(|(seq, _)| *seq != 5).collect();
    check_equal("the rest of its history", left, wanted)
}

async fn keeps_records(bench: &Bench) -> CheckResult {
    for direction in [Direction::Undoing, Direction::Cancelling] {
        let (task, left) = command_for_parked(bench, direction, AdminCommand::Resubmit).await?;
        check_equal("its direction", task.task.direction, direction)?;
        check_equal("its history", left, PARKED.to_vec())?;
    }
    Ok(())
}

async fn undoes(bench: &Bench) -> CheckResult {
    for (before, after) in [
        (Direction::Forward, Direction::Undoing),
        (Direction::Undoing, Direction::Undoing),
        (Direction::Cancelling, Direction::Cancelling),
    ] {
        let (task, left) = command_for_parked(bench, before, AdminCommand::Undo).await?;
        check_equal("its direction", task.task.direction, after)?;
        check_equal("its history", left, PARKED.to_vec())?;
    }
    let held = bench.claim_new("a").await?;
    let kept = Change {
        counts: counts(3),
        ..change_to(State::Error)
    };
    bench.write_held(change(lease(&held), kept)).await?;
    bench.command(held.task.id, AdminCommand::Undo).await?;
    let task = bench.claim_one("b").await?.task;
    let wanted = (Direction::Undoing, 0, Fence(3));
    check_equal("it", (task.direction, task.failures, task.fence), wanted)
}

fn resolution(seq: i32, verdict: Verdict) -> AdminCommand {
    AdminCommand::Resolve(Resolution {
        seq,
        verdict,
        by: "Ada".to_owned(),
        why: "she asked the bank".to_owned(),
    })
}

async fn resolves(bench: &Bench) -> CheckResult {
    let done = || Verdict::Done("7".to_owned());
    for (verdict, before, after) in [
        (Verdict::NotDone, Direction::Forward, Direction::Forward),
        (Verdict::NotDone, Direction::Undoing, Direction::Undoing),
        (done(), Direction::Forward, Direction::Forward),
        (done(), Direction::Cancelling, Direction::Cancelling),
        (Verdict::Undo, Direction::Forward, Direction::Undoing),
        (Verdict::Undo, Direction::Cancelling, Direction::Cancelling),
    ] {
        let command = resolution(5, verdict.clone());
        let (task, left) = command_for_parked(bench, before, command).await?;
        check_equal("its direction", task.task.direction, after)?;
        let mut wanted = PARKED.to_vec();
        match &verdict {
            Verdict::NotDone => wanted.retain(|(seq, _)| *seq != 5),
            Verdict::Done(_) => wanted.push((5, RecordKind::Done)),
            Verdict::Undo => {}
        }
        check_equal("its history", left, wanted)?;
        let history = bench.history(task.task.id).await?;
        if let (Verdict::Done(result), Some(last)) = (&verdict, history.last()) {
            let found = (last.name.as_str(), last.result.as_ref(), last.attempts);
            check_equal("the record", found, ("nobody knows", Some(result), 0))?;
        }
        let notes = bench.other.notes(task.task.id).await.map_err(to_message)?;
        let notes: Vec<_> = (notes.iter())
            .map(|note| (note.seq, &*note.verdict, &*note.by, &*note.why))
            .collect();
        let wanted = vec![(Some(5), verdict.as_str(), "Ada", "she asked the bank")];
        check_equal("the notes", notes, wanted)?;
    }
    Ok(())
}

async fn resolves_failed(bench: &Bench) -> CheckResult {
    for verdict in [Verdict::NotDone, Verdict::Done("7".to_owned())] {
        let held = bench.claim_new("a").await?;
        for (seq, kind) in [(0, RecordKind::Failed), (1, RecordKind::Done)] {
            bench.write_held(record(lease(&held), seq, kind)).await?;
        }
        let error = Change {
            direction: Direction::Undoing,
            failed_seq: Some(0),
            ..change_to(State::Error)
        };
        bench.write_held(change(lease(&held), error)).await?;
        let command = resolution(0, verdict.clone());
        bench.command(held.task.id, command).await?;
        let again = bench.claim_one("b").await?;
        let found = (again.task.direction, again.task.failed_seq);
        check_equal("the task", found, (Direction::Forward, None))?;
        let history = bench.history(held.task.id).await?;
        let left = history.iter().map(|line| (line.seq, line.kind));
        let mut wanted = vec![(1, RecordKind::Done)];
        wanted.extend(verdict.result().map(|_| (0, RecordKind::Done)));
        check_equal("its history", left.collect(), wanted)?;
    }
    Ok(())
}

async fn resolves_again(bench: &Bench) -> CheckResult {
    let done = |result: &str| Verdict::Done(result.to_owned());
    for (verdict, result) in [(done("8"), Some("8")), (Verdict::NotDone, None)] {
        let first = resolution(5, done("7"));
        let (held, _) = command_for_parked(bench, Direction::Forward, first).await?;
        let id = held.task.id;
        let again = || Write::Admin(id, resolution(5, verdict.clone()));
        let error = change(lease(&held), change_to(State::Error));
        bench.write_held(error).await?;
        bench.send(again(), SignalResult::UnknownStep).await?;
        bench.command(id, AdminCommand::Resubmit).await?;
        let held = bench.claim_one("b").await?;
        let parked = change(lease(&held), change_to(State::Parked));
        bench.write_held(parked.clone()).await?;
        bench.send(again(), SignalResult::Accepted).await?;
        let held = bench.claim_one("b").await?;
        let history = bench.history(id).await?;
        let own: Vec<_> = (history.iter().filter(|line| line.seq == 5)).collect();
        check_equal(
            "the number of its records",
            own.len(),
            result.map_or(0, |_| 2),
        )?;
        let found = own.last().and_then(|last| last.result.as_deref());
        check_equal("its result", found, result)?;
        if let (Some(_), Some(last)) = (result, history.last()) {
            let Write::Record(own, line) = record(lease(&held), 9, RecordKind::Done) else {
                return Err("a record".to_owned());
            };
            let ord = last.ord + 1;
            let later = Write::Record(own, Box::new(Record { ord, ..*line }));
            bench.write_held(later).await?;
            let parked = change(lease(&held), change_to(State::Parked));
            bench.write_held(parked).await?;
            bench.send(again(), SignalResult::UnknownStep).await?;
        }
    }
    Ok(())
}

async fn resolves_no_other(bench: &Bench) -> CheckResult {
    let (held, _) = command_for_parked(bench, Direction::Forward, AdminCommand::Undo).await?;
    let parked = change(lease(&held), change_to(State::Parked));
    bench.write_held(parked).await?;
    let before = bench.task(held.task.id).await?;
    for seq in [0, 1, 2, 3, 6, 99] {
        for verdict in [
            Verdict::NotDone,
            Verdict::Done("7".to_owned()),
            Verdict::Undo,
        ] {
            let write = Write::Admin(held.task.id, resolution(seq, verdict));
            bench.send(write, SignalResult::UnknownStep).await?;
        }
    }
    check_equal("the task", bench.task(held.task.id).await?, before)?;
    let history = bench.history(held.task.id).await?;
    let left = history.iter().map(|record| (record.seq, record.kind));
    check_equal("its history", left.collect(), PARKED.to_vec())
}

async fn cancels_parked(bench: &Bench) -> CheckResult {
    let (task, left) = command_for_parked(bench, Direction::Forward, AdminCommand::Cancel).await?;
    check_that("its worker gets the request", task.task.cancel_requested)?;
    check_equal("its direction", task.task.direction, Direction::Forward)?;
    check_equal("its history", left, PARKED.to_vec())?;
    let held = bench.claim_new("a").await?;
    let failed = Change {
        failing_step: Some(FailingStep {
            direction: Direction::Forward,
            seq: 1,
            failures: 1,
            error: "down".to_owned(),
            at: Time::default(),
        }),
        ..change_to(State::Parked)
    };
    bench.write_held(change(lease(&held), failed)).await?;
    bench.command(held.task.id, AdminCommand::Cancel).await?;
    let failures = bench.failures(held.task.id).await?;
    check_equal("its failures", failures, Vec::new())
}

async fn drops_past_limit(bench: &Bench) -> CheckResult {
    for (complete_by, stays) in [(Duration::ZERO, false), (LONG, true)] {
        let key = format!("{complete_by:?}");
        let id = bench
            .submit(NewTask {
                complete_by: Some(complete_by),
                ..new(&key)
            })
            .await?;
        let by = bench.task(id).await?.complete_by;
        let now = bench.now().await?;
        bench.wait_until_past(now).await?;
        bench.command(id, AdminCommand::Park(String::new())).await?;
        bench.command(id, AdminCommand::Resubmit).await?;
        check_equal(
            "its `complete_by`",
            bench.task(id).await?.complete_by,
            by.filter(|_| stays),
        )?;
        bench.claim_one("a").await?;
    }
    Ok(())
}

async fn gives_up(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    bench
        .write_held(record(lease(&held), 0, RecordKind::Done))
        .await?;
    let park = Write::Admin(id, AdminCommand::Park("why".to_owned()));
    bench.send(park, SignalResult::Accepted).await?;
    let before = bench.task(id).await?;
    let give_up = Write::Admin(id, AdminCommand::GiveUp);
    bench.send(give_up, SignalResult::Accepted).await?;
    let task = bench.task(id).await?;
    let found = (task.state, task.error, task.fence);
    let wanted = (State::Cancelled, before.error, before.fence.next());
    check_equal("the task", found, wanted)?;
    let history = bench.other.history(id).await.map_err(to_message)?;
    check_equal("the number of records", history.len(), 1)?;
    check_equal("tasks that are ready", bench.claim("a", 9).await?.len(), 0)
}

async fn refuses(bench: &Bench) -> CheckResult {
    let park = || AdminCommand::Park("why".to_owned());
    let commands = || {
        let all = AdminCommand::all("why").into_iter();
        all.chain([resolution(0, Verdict::NotDone)])
    };
    for command in commands() {
        bench
            .send(
                Write::Admin(TaskId(1_000_000), command),
                SignalResult::UnknownTask,
            )
            .await?;
    }
    for state in State::ALL {
        let allowed = match state {
            State::Pending | State::Processing | State::Waiting => {
                vec![AdminCommand::Cancel, park()]
            }
            State::Error => vec![
                AdminCommand::Resubmit,
                AdminCommand::Undo,
                resolution(0, Verdict::NotDone),
            ],
            State::Parked => vec![
                AdminCommand::Cancel,
                AdminCommand::GiveUp,
                AdminCommand::Resubmit,
                AdminCommand::Undo,
                resolution(0, Verdict::NotDone),
            ],
            // Processed, compensated, cancelled, pruned.
            _ => Vec::new(),
        };
        for command in commands() {
            if allowed.contains(&command) {
                continue;
            }
            let held = bench.claim_new("a").await?;
            let change = Change {
                wake: Wake::In(LONG),
                ..change_to(state)
            };
            bench
                .write_held(Write::Change(lease(&held), Box::new(change)))
                .await?;
            let before = bench.task(held.task.id).await?;
            bench
                .send(
                    Write::Admin(held.task.id, command),
                    SignalResult::NotAllowed(state),
                )
                .await?;
            check_equal("the task", bench.task(held.task.id).await?, before)?;
        }
    }
    Ok(())
}
