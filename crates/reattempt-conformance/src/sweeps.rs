//! `Store::sweep`.

use std::collections::HashSet;
use std::time::Duration;

use reattempt::{Jitter, Policy};

use super::bench::{
    Bench, CheckResult, LONG, SHORT, change, change_to, check_equal, check_that, counts, lease,
    new, record, running, sentences, sweep, sweep_at_once, to_message, unless_busy,
};
use reattempt_supervisor::store::GRACE;
use reattempt_supervisor::store::{
    AdminCommand, Change, Counts, Expiry, Reclaimed, Sweep, Write, WriteResult,
};
use reattempt_supervisor::{
    Direction, NewTask, OnFailure, Record, RecordKind, State, Time, WorkerId,
};

sentences! {
    "a task whose owner did not renew its lease is reclaimed, which counts as a death and not as a failure" => owner,
    "a task whose owner is unknown is reclaimed" => unknown_owner,
    "a task whose step was not done in time is reclaimed" => step,
    "a step that is overdue again and again ends its task, whatever makes progress beside it" => overdue_again,
    "a step that has ended, or whose worker has lost the task, does not expire" => ended_steps,
    "a task that was not done in time is undone, with or without an owner" => task,
    "the `complete_by` of a task does not count while it is undone" => undone_already,
    "a task that failed too often is undone; one that cannot be undone is parked" => next_states,
    "a task that keeps what it did ends as `error` where another is undone" => keeps,
    "an outcome of a step starts the counts of failures and deaths anew, and nothing else does" => progress_resets,
    "a task whose workers die more than 20 times in a row is parked; nothing is undone" => deaths,
    "a sweep judges no lease before everybody could renew it, if nobody has swept for half of the longest lease" => after_outage,
    "a sweep judges no held task before its worker could record what has ended, either" => steps_after_outage,
    "a step whose worker says that it has ended does not expire, although its record is not there" => unrecorded,
    "the silence of one worker is not an outage" => silent_worker,
    "a sweep reclaims a task once, whatever of it has expired" => once,
    "a sweep reclaims at most `limit` tasks" => at_most,
    "sweeps at the same time reclaim different tasks" => at_once,
    "a sweep leaves tasks that have ended, wait or have a live owner" => leaves_alone,
}

async fn owner(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    bench.heartbeat("a", SHORT).await?;
    let reclaimed = bench.sweep_until_found().await?;
    let delay = Duration::from_secs(100);
    let wanted = Reclaimed {
        task: held.task.id,
        workflow: "w".to_owned(),
        expiry: Expiry::Owner,
        owner: Some(WorkerId("a".to_owned())),
        state: State::Pending,
        direction: Direction::Forward,
        counts: Counts {
            deaths: 1,
            ..Counts::NONE
        },
        failing_step: None,
        error: Expiry::Owner.message().to_owned(),
        delay,
    };
    check_equal("the reclaimed tasks", reclaimed, vec![wanted])?;
    let task = bench.task(held.task.id).await?;
    let mut wanted = held.task.clone();
    wanted.state = State::Pending;
    wanted.owner = None;
    wanted.fence.0 += 1;
    wanted.deaths = 1;
    wanted.error = Some(Expiry::Owner.message().to_owned());
    wanted.wake_at = task.updated_at.after(delay);
    wanted.updated_at = task.updated_at;
    check_equal("the task", task, wanted)?;
    check_equal("reclaimed again", bench.sweep(9).await?.len(), 0)?;
    // The owner was suspended, not dead.
    bench.heartbeat("a", LONG).await?;
    bench
        .write_lost(record(lease(&held), 0, RecordKind::Done))
        .await?;
    bench
        .write_lost(change(lease(&held), change_to(State::Processed)))
        .await
}

async fn unknown_owner(bench: &Bench) -> CheckResult {
    let id = bench.submit(new("a")).await?;
    bench.claim_one("nobody").await?;
    let reclaimed = bench.sweep(9).await?;
    check_equal(
        "the reclaimed tasks",
        reclaimed
            .into_iter()
            .map(|reclaimed| (reclaimed.task, reclaimed.expiry))
            .collect(),
        vec![(id, Expiry::Owner)],
    )
}

async fn step(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    bench
        .report([
            running(lease(&held), 0, Some(held.now.after(LONG))),
            running(lease(&held), 2, None),
        ])
        .await?;
    check_equal("reclaimed before", bench.sweep(9).await?.len(), 0)?;
    // Another limit beside it does not hide this one.
    bench
        .report([running(lease(&held), 1, Some(held.now))])
        .await?;
    let reclaimed = bench.sweep_until_found().await?;
    let found = reclaimed
        .into_iter()
        .map(|reclaimed| (reclaimed.expiry, reclaimed.state, reclaimed.counts.failures))
        .collect();
    check_equal(
        "the reclaimed tasks",
        found,
        vec![(Expiry::Step, State::Pending, 1)],
    )?;
    let task = bench.task(held.task.id).await?;
    check_equal("the task", (task.owner, task.step_by), (None, None))?;
    bench
        .write_lost(record(lease(&held), 0, RecordKind::Done))
        .await
}

async fn overdue_again(bench: &Bench) -> CheckResult {
    let id = bench
        .submit(NewTask {
            max_failures: 1,
            ..new("a")
        })
        .await?;
    bench.heartbeat("a", LONG).await?;
    for (seq, failures, direction) in [(0, 1, Direction::Forward), (1, 2, Direction::Undoing)] {
        let held = bench.claim_any("a").await?;
        let past = Time::from_micros(held.now.as_micros() - 1);
        bench.report([running(lease(&held), 7, Some(past))]).await?;
        let beside = record(lease(&held), seq, RecordKind::Done);
        bench.write_held(beside).await?;
        let swept = bench.one.sweep(sweep_at_once(9)).await;
        let swept: Vec<_> = swept.map_err(to_message)?;
        let found = swept.iter().map(|one| one.direction).collect();
        check_equal("its direction", found, vec![direction])?;
        let kept = bench.failures(id).await?;
        let found = kept
            .iter()
            .map(|step| (step.seq, step.direction, step.failures));
        let wanted = vec![(7, Direction::Forward, failures)];
        check_equal("the failures of the step", found.collect(), wanted)?;
    }
    check_equal("what ended it", bench.task(id).await?.failed_seq, Some(7))
}

async fn ended_steps(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let own = lease(&held);
    let due = Some(held.now);
    bench.report([running(own, 0, due)]).await?;
    bench.write_held(record(own, 0, RecordKind::Done)).await?;
    bench
        .report([running(own, 1, Some(held.now.after(LONG)))])
        .await?;
    bench.wait_until_past(held.now).await?;
    check_equal("after its record", bench.sweep(9).await?.len(), 0)?;
    bench.report([running(own, 2, due)]).await?;
    let park = AdminCommand::Park("wait".to_owned());
    bench.command(own.task, park).await?;
    bench.command(own.task, AdminCommand::Resubmit).await?;
    bench.claim_one("a").await?;
    check_equal("under a later fence", bench.sweep(9).await?.len(), 0)
}

async fn once(bench: &Bench) -> CheckResult {
    bench.heartbeat("a", SHORT).await?;
    bench
        .submit(NewTask {
            complete_by: Some(SHORT),
            ..new("k")
        })
        .await?;
    let held = bench.claim_one("a").await?;
    let over = held.task.complete_by.unwrap_or_default();
    bench.wait_until_past(over).await?;
    let reclaimed = bench.sweep_until_found().await?;
    check_equal(
        "what had expired",
        reclaimed.iter().map(|one| one.expiry).collect(),
        vec![Expiry::Owner],
    )
}

async fn task(bench: &Bench) -> CheckResult {
    for state in [State::Pending, State::Processing, State::Waiting] {
        bench.heartbeat("a", LONG).await?;
        let id = bench
            .submit(NewTask {
                complete_by: Some(SHORT),
                ..new(state.as_str())
            })
            .await?;
        let claimed = bench.claim_one("a").await?;
        let change = Change {
            counts: counts(2),
            wake: reattempt_supervisor::store::Wake::In(LONG),
            ..change_to(state)
        };
        bench
            .write_held(Write::Change(lease(&claimed), Box::new(change)))
            .await?;
        let reclaimed = bench.sweep_until_found().await?;
        let found = reclaimed
            .into_iter()
            .map(|reclaimed| {
                (
                    reclaimed.task,
                    reclaimed.expiry,
                    reclaimed.counts.failures,
                    reclaimed.delay,
                )
            })
            .collect();
        check_equal(
            "the reclaimed tasks",
            found,
            vec![(id, Expiry::Task, 0, Duration::ZERO)],
        )?;
        let task = bench.task(id).await?;
        let wanted = (
            State::Pending,
            Direction::Undoing,
            None,
            claimed.task.fence.0 + 1,
        );
        check_equal(
            "the task",
            (task.state, task.direction, task.owner, task.fence.0),
            wanted,
        )?;
        check_equal("the claimed task", bench.claim_one("a").await?.task.id, id)?;
        check_equal("reclaimed again", bench.sweep(9).await?.len(), 0)?;
    }
    Ok(())
}

async fn undone_already(bench: &Bench) -> CheckResult {
    bench.heartbeat("a", LONG).await?;
    for direction in [Direction::Undoing, Direction::Cancelling] {
        let key = format!("{direction:?}");
        bench
            .submit(NewTask {
                complete_by: Some(LONG),
                ..new(&key)
            })
            .await?;
        let claimed = bench.claim_one("a").await?;
        let back = Change {
            direction,
            ..change_to(State::Processing)
        };
        bench.write_held(change(lease(&claimed), back)).await?;
    }
    // Its time cannot be changed, so another task with the same limit shows when it would be over.
    bench
        .submit(NewTask {
            complete_by: Some(SHORT),
            ..new("forward")
        })
        .await?;
    let claimed = bench.claim_one("a").await?;
    bench
        .write_held(change(
            lease(&claimed),
            Change {
                direction: Direction::Undoing,
                ..change_to(State::Processing)
            },
        ))
        .await?;
    bench
        .submit(NewTask {
            complete_by: Some(SHORT),
            queue: "other".to_owned(),
            ..new("clock")
        })
        .await?;
    let reclaimed = bench.sweep_until_found().await?;
    check_equal("the number of reclaimed tasks", reclaimed.len(), 1)?;
    check_equal(
        "the task that is undone",
        bench.task(claimed.task.id).await?.state,
        State::Processing,
    )
}

async fn next_states(bench: &Bench) -> CheckResult {
    let id = bench
        .submit(NewTask {
            max_failures: 1,
            ..new("a")
        })
        .await?;
    let mut seen = Vec::new();
    let mut failures = 0;
    bench.heartbeat("a", LONG).await?;
    for _ in 0..4 {
        let claimed = bench.claim_until_ready("a").await?;
        check_equal("its failures", claimed.task.failures, failures)?;
        let own = lease(&claimed);
        let past = Time::from_micros(claimed.now.as_micros() - 1);
        bench.report([running(own, 0, Some(past))]).await?;
        let delays = Policy::new().base(SHORT).cap(SHORT).jitter(Jitter::None);
        let reclaimed = bench
            .one
            .sweep(Sweep {
                limit: 9,
                every: LONG,
                delays,
                in_turn: false,
            })
            .await
            .map_err(to_message)?;
        let [reclaimed] = &reclaimed[..] else {
            return Err(format!("{reclaimed:?}"));
        };
        failures = reclaimed.counts.failures;
        seen.push((reclaimed.state, reclaimed.direction, failures));
    }
    let wanted = vec![
        (State::Pending, Direction::Forward, 1),
        (State::Pending, Direction::Undoing, 0),
        (State::Pending, Direction::Undoing, 1),
        (State::Parked, Direction::Undoing, 2),
    ];
    check_equal("its next states", seen, wanted)?;
    check_equal("the task", bench.task(id).await?.state, State::Parked)?;
    check_equal(
        "the number of ready tasks",
        bench.claim("a", 9).await?.len(),
        0,
    )
}

async fn keeps(bench: &Bench) -> CheckResult {
    let kept = |key: &str| NewTask {
        on_failure: OnFailure::Keep,
        max_failures: 0,
        ..new(key)
    };
    bench.submit(kept("a")).await?;
    bench.heartbeat("a", LONG).await?;
    let held = bench.claim_one("a").await?;
    let past = Time::from_micros(held.now.as_micros() - 1);
    bench.report([running(lease(&held), 0, Some(past))]).await?;
    let late = NewTask {
        complete_by: Some(SHORT),
        ..kept("b")
    };
    for expiry in [Expiry::Step, Expiry::Task] {
        let reclaimed = bench.sweep_until_found().await?;
        let [reclaimed] = &reclaimed[..] else {
            return Err(format!("{reclaimed:?}"));
        };
        check_equal("what expired", reclaimed.expiry, expiry)?;
        let task = bench.task(reclaimed.task).await?;
        let wanted = (State::Error, Direction::Forward, None);
        check_equal("it", (task.state, task.direction, task.owner), wanted)?;
        check_equal("why", task.error.as_deref(), Some(expiry.message()))?;
        if expiry == Expiry::Step {
            bench.submit(late.clone()).await?;
        }
    }
    let ready = bench.claim("a", 9).await?;
    check_equal("the number of ready tasks", ready.len(), 0)
}

async fn progress_resets(bench: &Bench) -> CheckResult {
    let id = bench.submit(new("a")).await?;
    // The record that each owner writes, and the deaths after it.
    let line = |seq, kind, name: &str, due: Option<Time>| (seq, kind, name.to_owned(), due);
    let (begun, done) = (RecordKind::Begun, RecordKind::Done);
    let lines = [
        (line(0, done, "pay", None), 1),
        (line(1, begun, "ship", None), 2),
        (line(2, begun, "sleep", Some(Time::NEVER)), 3),
        (line(2, done, "sleep", None), 4),
        (line(3, begun, "signal word", None), 5),
        (line(3, done, "signal word", None), 6),
        (line(1, done, "ship", None), 1),
        (line(4, begun, "sleep", None), 2),
        (line(4, RecordKind::Failed, "sleep", None), 1),
        (line(0, RecordKind::Undone, "pay", None), 1),
    ];
    let wanted_ords = [0, 0, 0, 0, 0, 0, 6, 6, 8, 9];
    for ((ord, ((seq, kind, name, due_at), deaths)), failed_ord) in
        (0..).zip(lines).zip(wanted_ords)
    {
        let claimed = bench.claim_any("nobody").await?;
        let Write::Record(own, new) = record(lease(&claimed), seq, kind) else {
            continue;
        };
        let what = format!("after {kind:?} of {name}");
        let new = Record {
            ord,
            name,
            due_at,
            ..*new
        };
        bench.write_held(Write::Record(own, Box::new(new))).await?;
        let reclaimed = bench
            .one
            .sweep(sweep_at_once(9))
            .await
            .map_err(to_message)?;
        let found: Vec<_> = reclaimed.iter().map(|one| (one.task, one.counts)).collect();
        let wanted = Counts {
            failures: 0,
            deaths,
            failed_ord,
        };
        check_equal(&what, found, vec![(id, wanted)])?;
        check_equal(&what, Counts::of(&bench.task(id).await?), wanted)?;
    }
    Ok(())
}

async fn deaths(bench: &Bench) -> CheckResult {
    let id = bench.submit(new("a")).await?;
    for deaths in 1..=21 {
        bench.claim_any("nobody").await?;
        let reclaimed = bench
            .one
            .sweep(sweep_at_once(9))
            .await
            .map_err(to_message)?;
        let found: Vec<_> = (reclaimed.iter())
            .map(|one| {
                (
                    one.state,
                    one.direction,
                    one.counts.failures,
                    one.counts.deaths,
                )
            })
            .collect();
        let state = if deaths > 20 {
            State::Parked
        } else {
            State::Pending
        };
        check_equal(
            "its fate",
            found,
            vec![(state, Direction::Forward, 0, deaths)],
        )?;
    }
    let task = bench.task(id).await?;
    check_equal("its state", (task.state, task.deaths), (State::Parked, 21))?;
    check_that(
        "its error says so",
        task.error
            .is_some_and(|error| error.contains("died 21 times")),
    )?;
    bench.command(id, AdminCommand::Resubmit).await?;
    check_equal("its deaths", bench.task(id).await?.deaths, 0)
}

/// A lease that is over soon.
const LEASE: Duration = Duration::from_millis(30);

async fn after_outage(bench: &Bench) -> CheckResult {
    let watchful = Sweep {
        every: Duration::ZERO,
        ..sweep_at_once(9)
    };
    let held = bench.claim_new("a").await?;
    bench.one.sweep(watchful).await.map_err(to_message)?;
    bench.heartbeat("a", LEASE).await?;
    let over = bench.now().await?.after(LEASE);
    bench.wait_until_past(over).await?;
    let found = bench.other.sweep(watchful).await.map_err(to_message)?;
    check_equal("what is found after the outage", found, Vec::new())?;
    check_equal(
        "the task",
        bench.task(held.task.id).await?,
        held.task.clone(),
    )?;
    let reclaimed = bench.sweep_until_found().await?;
    let found = reclaimed.iter().map(|one| one.expiry).collect();
    check_equal("what is found a lease later", found, vec![Expiry::Owner])?;
    let task = bench.task(held.task.id).await?;
    check_that(
        "its owner had a whole lease after the outage",
        task.updated_at >= over.after(LEASE),
    )
}

async fn steps_after_outage(bench: &Bench) -> CheckResult {
    let watchful = Sweep {
        every: Duration::ZERO,
        ..sweep_at_once(9)
    };
    bench.one.sweep(watchful).await.map_err(to_message)?;
    bench.heartbeat("a", LONG).await?;
    bench
        .submit(NewTask {
            complete_by: Some(SHORT),
            ..new("late")
        })
        .await?;
    let late = bench.claim_one("a").await?;
    // It is over during the outage, and the worker waits to record it.
    let held = bench.claim_new("a").await?;
    let due = Some(held.now);
    bench.report([running(lease(&held), 0, due)]).await?;
    bench.heartbeat("a", LEASE).await?;
    let over = bench.now().await?.after(LEASE).after(GRACE);
    bench.wait_until_past(over).await?;
    let found = bench.other.sweep(watchful).await.map_err(to_message)?;
    check_equal("what is found after the outage", found, Vec::new())?;
    bench
        .write_held(record(lease(&held), 0, RecordKind::Done))
        .await?;
    let end = change(lease(&late), change_to(State::Processed));
    bench.write_held(end).await.map(drop)
}

async fn unrecorded(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let own = lease(&held);
    bench.report([running(own, 0, Some(held.now))]).await?;
    bench.wait_until_past(held.now).await?;
    let ended = Write::Running {
        started: Vec::new(),
        ended: vec![(own, 0)],
    };
    let said = bench.other.write([ended].into()).await;
    check_equal(
        "the result",
        said.map_err(to_message)?,
        vec![WriteResult::Done],
    )?;
    check_equal("reclaimed", bench.sweep(9).await?.len(), 0)?;
    let late = bench.write_held(record(own, 0, RecordKind::Done)).await;
    late.map(drop)
}

async fn silent_worker(bench: &Bench) -> CheckResult {
    let silent = bench.claim_new("a").await?;
    let other = bench.claim_new("b").await?;
    bench.sweep(9).await?;
    bench.heartbeat("a", LEASE).await?;
    let over = bench.now().await?.after(LEASE);
    bench.wait_until_past(over).await?;
    let reclaimed = bench.sweep(9).await?;
    let found = reclaimed.iter().map(|one| one.task).collect();
    check_equal("what is found at once", found, vec![silent.task.id])?;
    check_equal(
        "the other task",
        bench.task(other.task.id).await?,
        other.task,
    )
}

async fn at_most(bench: &Bench) -> CheckResult {
    for nth in 0..7 {
        bench.submit(new(&nth.to_string())).await?;
    }
    bench.claim("nobody", 9).await?;
    let mut all = HashSet::new();
    for (limit, wanted) in [(0, 0), (3, 3), (3, 3), (3, 1), (3, 0)] {
        let reclaimed = bench.sweep(limit).await?;
        check_equal("the number of reclaimed tasks", reclaimed.len(), wanted)?;
        all.extend(reclaimed.into_iter().map(|reclaimed| reclaimed.task));
    }
    check_equal("the number of different tasks", all.len(), 7)
}

async fn at_once(bench: &Bench) -> CheckResult {
    for round in 0..10 {
        let submits: Vec<_> = (0..40)
            .map(|nth| Write::Submit(Box::new(new(&format!("{round} {nth}")))))
            .collect();
        bench.write(submits).await?;
        bench.claim("nobody", 100).await?;
        let mut all = Vec::new();
        while all.len() < 40 {
            let (one, other) =
                tokio::join!(bench.one.sweep(sweep(15)), bench.other.sweep(sweep(15)));
            let (one, other) = (unless_busy(one)?, unless_busy(other)?);
            let is_all = one.is_some() && other.is_some();
            let found = [one.unwrap_or_default(), other.unwrap_or_default()].concat();
            if found.is_empty() && is_all {
                break;
            }
            all.extend(
                found
                    .into_iter()
                    .map(|reclaimed| (reclaimed.task, reclaimed.counts.deaths)),
            );
        }
        check_equal("the number of reclaimed tasks", all.len(), 40)?;
        let different: HashSet<_> = all.iter().map(|(task, _)| *task).collect();
        check_equal("the number of different tasks", different.len(), 40)?;
        check_equal(
            "the tasks with one death",
            all.iter().all(|(_, deaths)| *deaths == 1),
            true,
        )?;
    }
    Ok(())
}

async fn leaves_alone(bench: &Bench) -> CheckResult {
    for state in State::ALL {
        let held = bench.claim_new("a").await?;
        let change = Change {
            wake: reattempt_supervisor::store::Wake::In(LONG),
            ..change_to(state)
        };
        bench
            .write_held(Write::Change(lease(&held), Box::new(change)))
            .await?;
        let before = bench.task(held.task.id).await?;
        check_equal("reclaimed", bench.sweep(9).await?.len(), 0)?;
        check_equal("the task", bench.task(held.task.id).await?, before)?;
    }
    Ok(())
}
