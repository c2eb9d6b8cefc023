//! `Write::Start`, and what a store does when a child ends.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, change, change_to, check_equal, check_that, lease, new, record,
    sentences, signal, sweep_at_once, to_message,
};
use reattempt_supervisor::store::{
    AdminCommand, Change, ClaimedTask, Counts, SignalResult, Wake, Write, WriteResult,
};
use reattempt_supervisor::{
    Direction, Fence, Lease, NewTask, OnFailure, RecordKind, State, TaskId, Time,
};

sentences! {
    "a child is stored with the record of its start, which names it" => starts,
    "a start that is repeated returns the same child" => starts_once,
    "a child whose key another task has does not start" => finds_taken_key,
    "a start of a worker that has lost its task stores nothing" => starts_under_lease,
    "the end of a child is a signal for its parent, whoever ends it" => tells,
    "a task that waits for children wakes when so many have ended" => wakes_once,
    "children that ended before the task waits count" => counts_earlier_ends,
    "the end of a child does not wake a task that waits for something else" => leaves_others,
    "a signal wakes a task that waits for children" => is_signaled,
    "a child is kept as long as its parent" => keeps,
    "children that go on are cancelled with their parent, once" => cancels,
    "children that have ended turn back with their parent" => undoes,
    "a worker that has lost its task ends no child, and nobody ends those of others" => ends_under_lease,
}

/// Returns a start by the owner of a task.
fn start(parent: Lease, seq: i32, child: NewTask) -> Write {
    match record(parent, seq, RecordKind::Done) {
        Write::Record(lease, record) => Write::Start(lease, record, Box::new(child)),
        other => other,
    }
}

/// Starts a child with this key.
async fn child(bench: &Bench, parent: Lease, seq: i32, key: &str) -> CheckResult<TaskId> {
    match bench.write_one(start(parent, seq, new(key))).await? {
        WriteResult::Started(_, id) => Ok(id),
        result => Err(format!("the result of a start is {result:?}")),
    }
}

/// Claims the next task, a child, and ends it.
async fn end_one(bench: &Bench) -> CheckResult {
    let claimed = bench.claim("b", 1).await?;
    let one = claimed.first().ok_or("no child is ready")?;
    let end = change(lease(one), change_to(State::Processed));
    bench.write_held(end).await.map(drop)
}

/// Lets a task wait for so many children.
async fn wait(bench: &Bench, parent: &ClaimedTask, seen: i64, ends: u32) -> CheckResult {
    let at = Time::NEVER;
    let wait = Change {
        wake: Wake::Children { at, seen, ends },
        ..change_to(State::Waiting)
    };
    (bench.write_held(change(lease(parent), wait)).await).map(drop)
}

/// Returns the payloads of the signals of a parent about its children.
async fn ends(bench: &Bench, parent: TaskId) -> CheckResult<Vec<String>> {
    let signals = bench.other.signals(parent).await.map_err(to_message)?;
    let own = signals
        .into_iter()
        .filter(|one| one.name == "reattempt:child");
    Ok(own.map(|signal| signal.payload).collect())
}

async fn finds_taken_key(bench: &Bench) -> CheckResult {
    let other = bench.submit(new("k")).await?;
    bench.claim_one("b").await?;
    bench.submit(new("parent")).await?;
    let parent = lease(&bench.claim_one("a").await?);
    let result = bench.write_one(start(parent, 0, new("k"))).await?;
    check_equal("the start", result, WriteResult::KeyTaken(other))?;
    let history = bench.history(parent.task).await?;
    check_equal("the records of the parent", history, Vec::new())?;
    check_equal(
        "the end of the other task",
        end_other(bench, other, parent).await?,
        0,
    )?;
    child(bench, parent, 0, "l").await.map(drop)
}

/// Ends a task that is no child of this parent. Returns how many signals the parent got.
async fn end_other(bench: &Bench, other: TaskId, parent: Lease) -> CheckResult<usize> {
    let fence = bench.task(other).await?.fence;
    let held = Lease { task: other, fence };
    (bench.write_held(change(held, change_to(State::Processed)))).await?;
    Ok(ends(bench, parent.task).await?.len())
}

async fn starts(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    let new = NewTask {
        input: "[7]".to_owned(),
        ..new("child")
    };
    let both = [
        record(lease(&parent), 0, RecordKind::Done),
        start(lease(&parent), 1, new),
        record(lease(&parent), 2, RecordKind::Done),
    ];
    let results = bench.write(both).await?;
    let WriteResult::Started(status, id) = &results[1] else {
        return Err(format!("the result of a start is {:?}", results[1]));
    };
    check_that("it was not cancelled", !status.cancel_requested)?;
    let child = bench.task(*id).await?;
    check_equal("its key", child.key.as_str(), "child")?;
    check_equal("its arguments", child.input.as_str(), "[7]")?;
    let history = bench.history(parent.task.id).await?;
    check_equal("the records", history.len(), 3)?;
    check_equal("the name of the record", history[1].name.as_str(), "step 1")?;
    check_equal("its child", history[1].result.clone(), Some(id.to_string()))
}

async fn starts_once(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    let first = child(bench, lease(&parent), 1, "child").await?;
    let again = child(bench, lease(&parent), 1, "child").await?;
    check_equal("the child", again, first)?;
    check_equal("the records", bench.history(parent.task.id).await?.len(), 1)?;
    check_equal("the children", bench.claim("b", 9).await?.len(), 1)
}

async fn starts_under_lease(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    bench
        .write_one(Write::GiveBack(vec![lease(&parent)]))
        .await?;
    bench
        .write_lost(start(lease(&parent), 1, new("child")))
        .await?;
    let again = bench.claim_one("b").await?;
    check_equal("the task", again.task.id, parent.task.id)?;
    bench
        .write_lost(start(lease(&parent), 1, new("child")))
        .await
}

async fn tells(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    let id = parent.task.id;
    let mut wanted = Vec::new();
    wanted.push(child(bench, lease(&parent), 1, "ends").await?);
    end_one(bench).await?;
    wanted.push(child(bench, lease(&parent), 2, "is cancelled").await?);
    bench.command(wanted[1], AdminCommand::Cancel).await?;
    wanted.push(child(bench, lease(&parent), 3, "is given up").await?);
    bench
        .command(wanted[2], AdminCommand::Park("why".to_owned()))
        .await?;
    check_equal("the ends before", ends(bench, id).await?.len(), 2)?;
    bench.command(wanted[2], AdminCommand::GiveUp).await?;
    let late = NewTask {
        complete_by: Some(Duration::ZERO),
        on_failure: OnFailure::Keep,
        ..new("is late")
    };
    match bench.write_one(start(lease(&parent), 4, late)).await? {
        WriteResult::Started(_, late) => wanted.push(late),
        result => return Err(format!("the result of a start is {result:?}")),
    }
    let start = bench.now().await?;
    bench.wait_until_past(start).await?;
    bench
        .one
        .sweep(sweep_at_once(9))
        .await
        .map_err(to_message)?;
    check_equal(
        "its state",
        bench.task(wanted[3]).await?.state,
        State::Error,
    )?;
    let wanted: Vec<_> = wanted.iter().map(ToString::to_string).collect();
    check_equal("the ends", ends(bench, id).await?, wanted)
}

async fn wakes_once(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    bench.heartbeat("b", LONG).await?;
    for nth in 1..4 {
        child(bench, lease(&parent), nth, &format!("child {nth}")).await?;
    }
    wait(bench, &parent, 0, 3).await?;
    for _ in 0..2 {
        end_one(bench).await?;
        let state = bench.task(parent.task.id).await?.state;
        check_equal("its state before", state, State::Waiting)?;
    }
    end_one(bench).await?;
    let task = bench.task(parent.task.id).await?;
    check_equal("its state", task.state, State::Pending)?;
    let again = bench.claim_one("a").await?;
    check_that("it has signals", again.has_signals)
}

async fn counts_earlier_ends(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    bench.heartbeat("b", LONG).await?;
    for nth in 1..4 {
        child(bench, lease(&parent), nth, &format!("child {nth}")).await?;
        end_one(bench).await?;
    }
    let signals = bench
        .other
        .signals(parent.task.id)
        .await
        .map_err(to_message)?;
    wait(bench, &parent, signals[0].id, 3).await?;
    check_equal("ready tasks", bench.claim("c", 9).await?.len(), 0)?;
    bench
        .send(signal(parent.task.id, "go"), SignalResult::Accepted)
        .await?;
    let again = bench.claim_one("a").await?;
    wait(bench, &again, signals[0].id - 1, 3).await?;
    bench.claim_one("a").await.map(drop)
}

async fn leaves_others(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    bench.heartbeat("b", LONG).await?;
    child(bench, lease(&parent), 1, "first").await?;
    child(bench, lease(&parent), 2, "second").await?;
    end_one(bench).await?;
    let wait = Change {
        wake: Wake::At(Time::NEVER, 0),
        ..change_to(State::Waiting)
    };
    bench.write_held(change(lease(&parent), wait)).await?;
    end_one(bench).await?;
    check_equal("ready tasks", bench.claim("c", 9).await?.len(), 0)
}

async fn is_signaled(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    bench
        .send(signal(parent.task.id, "early"), SignalResult::Accepted)
        .await?;
    wait(bench, &parent, 0, 3).await?;
    let again = bench.claim_one("a").await?;
    let signals = bench
        .other
        .signals(parent.task.id)
        .await
        .map_err(to_message)?;
    wait(bench, &again, signals[0].id, 3).await?;
    check_equal("ready tasks", bench.claim("c", 9).await?.len(), 0)?;
    bench
        .send(signal(parent.task.id, "late"), SignalResult::Accepted)
        .await?;
    bench.claim_one("a").await.map(drop)
}

async fn keeps(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    bench.heartbeat("b", LONG).await?;
    child(bench, lease(&parent), 1, "child").await?;
    end_one(bench).await?;
    let prune = async |wanted: u64| {
        let pruned = bench
            .write_one(Write::Prune(Duration::ZERO.into(), 9))
            .await?;
        check_equal("the pruned tasks", pruned, WriteResult::Pruned(wanted))
    };
    prune(0).await?;
    let end = change(lease(&parent), change_to(State::Processed));
    bench.write_held(end).await?;
    // The parent may be undone, by its own parent, as long as it is there.
    prune(1).await?;
    prune(1).await
}

/// Ends children of a task. Returns their states.
async fn end(
    bench: &Bench,
    parent: Lease,
    children: &[TaskId],
    undo: bool,
) -> CheckResult<Vec<State>> {
    let write = Write::EndChildren {
        lease: parent,
        children: children.to_vec(),
        undo,
    };
    let WriteResult::Children(_, mut states) = bench.write_one(write).await? else {
        return Err("the result of the end of children is another one".to_owned());
    };
    states.sort_unstable_by_key(|(id, _)| *id);
    let ids: Vec<_> = states.iter().map(|(id, _)| *id).collect();
    check_equal("the children", &*ids, children)?;
    for (id, state) in &states {
        check_equal("a state", bench.task(*id).await?.state, *state)?;
    }
    Ok(states.into_iter().map(|(_, state)| state).collect())
}

async fn cancels(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    bench.heartbeat("b", LONG).await?;
    let mut children = Vec::new();
    for nth in 1..5 {
        let key = format!("child {nth}");
        children.push(child(bench, lease(&parent), nth, &key).await?);
    }
    let claimed = bench.claim("b", 3).await?;
    let held = |nth: usize| claimed.get(nth).ok_or("no child is ready");
    let wait = Change {
        wake: Wake::At(Time::NEVER, 0),
        ..change_to(State::Waiting)
    };
    bench.write_held(change(lease(held(1)?), wait)).await?;
    bench
        .command(children[2], AdminCommand::Park("why".to_owned()))
        .await?;
    let states = end(bench, lease(&parent), &children, false).await?;
    let wanted = [
        State::Processing,
        State::Pending,
        State::Pending,
        State::Cancelled,
    ];
    check_equal("the states", &*states, &wanted[..])?;
    for id in &children {
        check_that("it is cancelled", bench.task(*id).await?.cancel_requested)?;
    }
    check_equal(
        "the ends",
        ends(bench, parent.task.id).await?,
        vec![children[3].to_string()],
    )?;
    let again = bench.claim("b", 9).await?;
    check_equal("those that turn back", again.len(), 2)?;
    // An operator may have parked one again.
    bench
        .command(children[2], AdminCommand::Park("why".to_owned()))
        .await?;
    let states = end(bench, lease(&parent), &children, true).await?;
    let wanted = [
        State::Processing,
        State::Processing,
        State::Parked,
        State::Cancelled,
    ];
    check_equal("the states at the end", &*states, &wanted[..])
}

async fn undoes(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    bench.heartbeat("b", LONG).await?;
    let mut children = Vec::new();
    for (nth, on_failure, state) in [
        (1, OnFailure::Undo, State::Processed),
        (2, OnFailure::Keep, State::Error),
        (3, OnFailure::Undo, State::Error),
        (4, OnFailure::Undo, State::Compensated),
    ] {
        let new = NewTask {
            on_failure,
            ..new(&format!("child {nth}"))
        };
        match bench.write_one(start(lease(&parent), nth, new)).await? {
            WriteResult::Started(_, id) => children.push(id),
            result => return Err(format!("the result of a start is {result:?}")),
        }
        let claimed = bench.claim_one("b").await?;
        let change_to_end = Change {
            counts: Counts {
                failures: 2,
                deaths: 1,
                failed_ord: 7,
            },
            output: Some("7".to_owned()),
            ..change_to(state)
        };
        bench
            .write_held(change(lease(&claimed), change_to_end))
            .await?;
    }
    let wanted = [
        State::Processed,
        State::Error,
        State::Error,
        State::Compensated,
    ];
    let states = end(bench, lease(&parent), &children, false).await?;
    check_equal("the states before", &*states, &wanted[..])?;
    for _ in 0..2 {
        let states = end(bench, lease(&parent), &children, true).await?;
        let wanted = [
            State::Pending,
            State::Pending,
            State::Error,
            State::Compensated,
        ];
        check_equal("the states", &*states, &wanted[..])?;
    }
    for id in &children[..2] {
        let task = bench.task(*id).await?;
        check_equal("its direction", task.direction, Direction::Cancelling)?;
        check_equal("its fence", task.fence, Fence(2))?;
        check_equal("its failures", Counts::of(&task), Counts::NONE)?;
        check_equal("its result", task.output.as_deref(), Some("7"))?;
    }
    // Each tells the parent once more when it has turned back.
    for claimed in bench.claim("b", 9).await? {
        let end = Change {
            direction: Direction::Cancelling,
            ..change_to(State::Cancelled)
        };
        bench.write_held(change(lease(&claimed), end)).await?;
    }
    check_equal("the ends", ends(bench, parent.task.id).await?.len(), 6)?;
    let states = end(bench, lease(&parent), &children, true).await?;
    check_equal("the first state", states.first(), Some(&State::Cancelled))
}

async fn ends_under_lease(bench: &Bench) -> CheckResult {
    let parent = bench.claim_new("a").await?;
    let one = child(bench, lease(&parent), 1, "child").await?;
    let other = bench.submit(new("other")).await?;
    let write = |lease, children: &[TaskId]| Write::EndChildren {
        lease,
        children: children.to_vec(),
        undo: true,
    };
    let result = bench.write_one(write(lease(&parent), &[other])).await?;
    let none = |result| matches!(result, WriteResult::Children(_, children) if children.is_empty());
    check_that("it ends no task of others", none(result))?;
    bench
        .write_one(Write::GiveBack(vec![lease(&parent)]))
        .await?;
    bench.write_lost(write(lease(&parent), &[one])).await?;
    for id in [one, other] {
        let task = bench.task(id).await?;
        check_equal("its state", task.state, State::Pending)?;
        check_that("it goes on", !task.cancel_requested)?;
    }
    Ok(())
}
