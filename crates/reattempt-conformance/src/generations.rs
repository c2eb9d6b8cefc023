//! `Write::Continue`.

use super::bench::{
    Bench, CheckResult, LONG, SHORT, change, change_to, check_equal, check_that, claim, lease, new,
    record, running, sentences, signal, to_message,
};
use reattempt_supervisor::store::{
    AdminCommand, Change, Claim, ClaimedTask, Counts, NextGeneration, SignalResult, Submitted,
    Wake, Write, WriteResult,
};
use reattempt_supervisor::{FailingStep, Lease, NewTask, RecordKind, Signal, State, TaskId, Time};

sentences! {
    "a task that continues as new has new arguments and can be claimed at once" => begins_anew,
    "nothing of what the generation before has done is there" => forgets,
    "a task keeps the signals that its workflow has not got" => keeps_signals,
    "a signal that its sender repeats after the workflow has got it is not stored again" => hears_once,
    "a signal that a generation before has got wakes none after it" => wakes_none,
    "what is kept of the signals that were got does not grow" => is_bounded,
    "a claim in the same transaction finds the next generation" => is_claimed_at_once,
    "continuing that is repeated counts once" => continues_once,
    "a worker that has lost its task does not continue it" => continues_under_lease,
    "a task that continues as new and is to be cancelled says so in its next generation" => keeps_cancel,
    "a task that continues as new keeps its turn in its lane" => keeps_turn,
    "a child that continues as new has not ended" => stays_child,
    "a submission finds a task that has continued as new, and does not compare its arguments" => is_found,
}

fn next(generation: i32) -> NextGeneration {
    NextGeneration {
        generation,
        version: 1,
        input: format!("[{generation}]"),
        heard: Vec::new(),
    }
}

fn go_on(held: &ClaimedTask, next: NextGeneration) -> Write {
    Write::Continue(lease(held), Box::new(next))
}

/// Returns the signals of a task that a workflow can get.
async fn signals(bench: &Bench, id: TaskId) -> CheckResult<Vec<Signal>> {
    let signals = bench.other.signals(id).await.map_err(to_message)?;
    let is_there = |signal: &Signal| !signal.name.starts_with("reattempt:heard");
    Ok(signals.into_iter().filter(is_there).collect())
}

async fn begins_anew(bench: &Bench) -> CheckResult {
    bench.heartbeat("a", LONG).await?;
    let submitted = NewTask {
        headers: Some("{\"a\":1}".to_owned()),
        complete_by: Some(LONG),
        ..new("it")
    };
    bench.submit(submitted).await?;
    let held = bench.claim_one("a").await?;
    let id = held.task.id;
    let before = bench.task(id).await?;
    check_equal(
        "the generation before",
        (before.generation, before.continued_at),
        (0, None),
    )?;
    bench
        .wait_until_past(before.created_at.after(SHORT))
        .await?;
    let second = NextGeneration {
        version: 2,
        ..next(1)
    };
    let status = bench.write_held(go_on(&held, second)).await?;
    check_that("it is not cancelled", !status.cancel_requested)?;
    let after = bench.task(id).await?;
    check_equal(
        "the next generation",
        (after.generation, after.continued_at, after.version),
        (1, Some(status.now), 2),
    )?;
    check_equal("its arguments", after.input.as_str(), "[1]")?;
    check_equal(
        "its state, owner and wake-up time",
        (after.state, after.owner, after.wake_at),
        (State::Pending, None, status.now),
    )?;
    check_equal(
        "what it keeps",
        (
            after.key,
            after.headers,
            after.complete_by,
            after.created_at,
        ),
        (
            before.key,
            before.headers,
            before.complete_by,
            before.created_at,
        ),
    )?;
    check_equal(
        "tasks of the old version",
        bench.claim("b", 9).await?.len(),
        0,
    )?;
    let of_second = Claim {
        workflows: vec![("w".to_owned(), 2)],
        ..claim("b", 9)
    };
    let again = bench.claim_with(of_second).await?;
    check_equal("tasks of the new version", again.len(), 1)?;
    check_equal("its fence", again[0].task.fence, before.fence.next())
}

async fn forgets(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    let failed = Change {
        counts: Counts {
            failures: 1,
            deaths: 1,
            failed_ord: 7,
        },
        failing_step: Some(FailingStep {
            direction: reattempt_supervisor::Direction::Forward,
            seq: 1,
            failures: 1,
            error: "no".to_owned(),
            at: Time::default(),
        }),
        error: Some("no".to_owned()),
        failed_seq: Some(1),
        ..change_to(State::Pending)
    };
    bench.write_held(change(lease(&held), failed)).await?;
    let held = bench.claim_one("a").await?;
    bench
        .write_held(record(lease(&held), 0, RecordKind::Begun))
        .await?;
    bench
        .write_held(record(lease(&held), 0, RecordKind::Done))
        .await?;
    bench.report([running(lease(&held), 1, None)]).await?;
    bench.write_held(go_on(&held, next(1))).await?;
    let task = bench.task(id).await?;
    check_equal(
        "its failures and deaths",
        (task.failures, task.deaths, task.failed_ord),
        (0, 0, -1),
    )?;
    check_equal("its error", (task.error, task.failed_seq), (None, None))?;
    check_equal("the records", bench.history(id).await?.len(), 0)?;
    check_equal("the failing steps", bench.failures(id).await?.len(), 0)?;
    // The next generation has steps with the same numbers.
    let again = bench.claim_one("b").await?;
    check_equal("the running steps", bench.running(id).await?.len(), 0)?;
    bench
        .write_held(record(lease(&again), 0, RecordKind::Done))
        .await?;
    check_equal("the new records", bench.history(id).await?.len(), 1)
}

async fn keeps_signals(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    let other = bench.submit(new("other")).await?;
    let sent = ["a", "b", "a", "c"].map(|name| signal(id, name));
    bench.write(sent).await?;
    bench.write_one(signal(other, "a")).await?;
    let there = signals(bench, id).await?;
    let heard = vec![there[0].id, there[3].id];
    let next = NextGeneration { heard, ..next(1) };
    bench.write_held(go_on(&held, next)).await?;
    check_equal(
        "the signals",
        signals(bench, id).await?,
        there[1..3].to_vec(),
    )?;
    check_equal("those of others", signals(bench, other).await?.len(), 1)?;
    let claimed = bench.claim("b", 9).await?;
    let again = claimed.iter().find(|claimed| claimed.task.id == id);
    let again = again.ok_or("it is not ready")?;
    check_that("it has signals", again.has_signals)?;
    // What it has seen does not wake it.
    let seen = bench.other.signals(id).await.map_err(to_message)?;
    let seen = seen.last().map_or(0, |signal| signal.id);
    let wait = Change {
        wake: Wake::At(Time::NEVER, seen),
        ..change_to(State::Waiting)
    };
    bench.write_held(change(lease(again), wait)).await?;
    check_equal("tasks that are ready", bench.claim("b", 9).await?.len(), 0)
}

async fn hears_once(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    let repeated = signal(id, "go");
    bench.send(repeated.clone(), SignalResult::Accepted).await?;
    let heard = vec![signals(bench, id).await?[0].id];
    let first = NextGeneration { heard, ..next(1) };
    bench.write_held(go_on(&held, first)).await?;
    bench.send(repeated.clone(), SignalResult::Accepted).await?;
    check_equal("the signals", signals(bench, id).await?.len(), 0)?;
    let again = bench.claim_one("a").await?;
    bench.write_held(go_on(&again, next(2))).await?;
    bench.send(repeated, SignalResult::Accepted).await?;
    check_equal("those of the third", signals(bench, id).await?.len(), 0)?;
    // Another one of the same name is a new one.
    bench.send(signal(id, "go"), SignalResult::Accepted).await?;
    check_equal("the new one", signals(bench, id).await?.len(), 1)
}

async fn wakes_none(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    bench.send(signal(id, "go"), SignalResult::Accepted).await?;
    let heard = vec![signals(bench, id).await?[0].id];
    let first = NextGeneration { heard, ..next(1) };
    bench.write_held(go_on(&held, first)).await?;
    let again = bench.claim_one("a").await?;
    let wait = Change {
        wake: Wake::Children {
            at: Time::NEVER,
            seen: 0,
            ends: 1,
        },
        ..change_to(State::Waiting)
    };
    bench.write_held(change(lease(&again), wait)).await?;
    check_equal(
        "until when it waits",
        bench.task(id).await?.wake_at,
        Time::NEVER,
    )
}

async fn is_bounded(bench: &Bench) -> CheckResult {
    let mut held = bench.claim_new("a").await?;
    let id = held.task.id;
    let mut last = Vec::new();
    for generation in 1..=4 {
        last = (0..60).map(|_| signal(id, "go")).collect();
        bench.write(last.clone()).await?;
        let heard = signals(bench, id).await?;
        let heard = heard.iter().map(|signal| signal.id).collect();
        let next = NextGeneration {
            heard,
            ..next(generation)
        };
        bench.write_held(go_on(&held, next)).await?;
        held = bench.claim_one("a").await?;
    }
    let kept = bench.other.signals(id).await.map_err(to_message)?;
    check_that("at most 100 are kept", kept.len() <= 100)?;
    bench.write(last).await?;
    check_equal("the signals", signals(bench, id).await?.len(), 0)
}

async fn continues_once(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    bench.write_held(go_on(&held, next(1))).await?;
    bench.send(signal(id, "go"), SignalResult::Accepted).await?;
    let first = bench.task(id).await?;
    bench.write_held(go_on(&held, next(1))).await?;
    check_equal("the task", bench.task(id).await?, first)?;
    check_equal("the signals", signals(bench, id).await?.len(), 1)?;
    bench.write_lost(go_on(&held, next(2))).await?;
    // Another worker has begun the next generation.
    let again = bench.claim_one("b").await?;
    bench
        .write_held(record(lease(&again), 0, RecordKind::Done))
        .await?;
    bench.write_lost(go_on(&held, next(1))).await?;
    check_equal("the records", bench.history(id).await?.len(), 1)
}

async fn continues_under_lease(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    bench
        .write_held(record(lease(&held), 0, RecordKind::Done))
        .await?;
    bench.send(signal(id, "go"), SignalResult::Accepted).await?;
    let heard = vec![signals(bench, id).await?[0].id];
    bench.write_one(Write::GiveBack(vec![lease(&held)])).await?;
    let late = NextGeneration { heard, ..next(1) };
    bench.write_lost(go_on(&held, late.clone())).await?;
    bench.claim_one("b").await?;
    bench.write_lost(go_on(&held, late.clone())).await?;
    let unknown = Lease {
        task: TaskId(1_000_000),
        ..lease(&held)
    };
    bench
        .write_lost(Write::Continue(unknown, Box::new(late)))
        .await?;
    check_equal("its generation", bench.task(id).await?.generation, 0)?;
    check_equal("the records", bench.history(id).await?.len(), 1)?;
    check_equal("the signals", signals(bench, id).await?.len(), 1)
}

async fn keeps_cancel(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    bench.command(held.task.id, AdminCommand::Cancel).await?;
    let status = bench.write_held(go_on(&held, next(1))).await?;
    check_that("the writer learns it", status.cancel_requested)?;
    let again = bench.claim_one("b").await?;
    check_that("the next one learns it", again.task.cancel_requested)
}

async fn keeps_turn(bench: &Bench) -> CheckResult {
    let in_lane = |key| NewTask {
        lane: Some("it".to_owned()),
        ..new(key)
    };
    let first = bench.submit(in_lane("first")).await?;
    bench.submit(in_lane("second")).await?;
    for generation in 1..3 {
        let held = bench.claim_one("a").await?;
        check_equal("whose turn it is", held.task.id, first)?;
        bench.write_held(go_on(&held, next(generation))).await?;
    }
    let task = bench.task(first).await?;
    check_that("it does not wait", !task.waits_for_turn())
}

async fn stays_child(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    let start = match record(lease(&parent), 0, RecordKind::Done) {
        Write::Record(lease, record) => Write::Start(lease, record, Box::new(new("child"))),
        other => other,
    };
    let WriteResult::Started(..) = bench.write_one(start).await? else {
        return Err("the child has not started".to_owned());
    };
    let child = bench.claim_one("b").await?;
    bench.write_held(go_on(&child, next(1))).await?;
    let ends = signals(bench, parent.task.id).await?;
    check_equal("its ends before", ends.len(), 0)?;
    let child = bench.claim_one("b").await?;
    let end = change(lease(&child), change_to(State::Processed));
    bench.write_held(end).await?;
    let ends = signals(bench, parent.task.id).await?;
    check_equal("its ends", ends.len(), 1)?;
    // The next generation of the parent does not know it.
    bench.write_held(go_on(&parent, next(1))).await?;
    check_equal(
        "what it hears",
        signals(bench, parent.task.id).await?.len(),
        0,
    )
}

async fn is_found(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    bench.write_held(go_on(&held, next(1))).await?;
    let again = new(&held.task.key);
    let wanted = Submitted {
        id: held.task.id,
        is_new: false,
        same_arguments: None,
    };
    check_equal(
        "the answer",
        bench.write_one(Write::Submit(Box::new(again))).await?,
        WriteResult::Submitted(wanted),
    )
}

async fn is_claimed_at_once(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let both = [go_on(&held, next(1)), Write::Claim(claim("b", 9))];
    let results = bench.write(both).await?;
    let Some(WriteResult::Claimed(claimed, _)) = results.get(1) else {
        return Err(format!("the results are {results:?}"));
    };
    let found = claimed.iter().map(|claimed| claimed.task.generation);
    check_equal("the generations", found.collect(), vec![1])
}
