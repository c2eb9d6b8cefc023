//! `Write::Fork`.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, change, change_to, check_equal, check_that, claim, lease, new,
    record, sentences, to_message,
};
use reattempt_supervisor::store::{AdminCommand, ClaimedTask, Fork, Submitted, Write, WriteResult};
use reattempt_supervisor::{
    Fence, NewTask, OnFailure, OperatorNote, Origin, Record, RecordKind, Retention, State, Task,
    TaskId, Time,
};

sentences! {
    "a fork is a new task with an origin, and with copies of the outcomes up to a place, without what undoes them" => copies,
    "a fork that is repeated is stored once, whatever has become of its original" => is_stored_once,
    "another task with its key keeps a fork from being stored" => finds_taken_key,
    "a task that goes on, is parked, pruned or missing, or has gone on since it was read, is not forked" => refuses,
    "a fork can be claimed at once, and may have records then" => is_claimed,
    "a fork waits for its turn in its lane" => waits_for_turn,
    "who forks a task, and why, is kept with the fork" => keeps_note,
    "a fork keeps its copies when its original is pruned" => outlives,
    "a fork of a fork has copies of what both have done" => forks_again,
    "a fork under a free key is its next incarnation" => takes_free_key,
}

/// Claims a new task and adds records of all kinds: its steps 0 and 1 are done, 2 has failed, and 3 was done after it.
async fn held(bench: &Bench) -> CheckResult<ClaimedTask> {
    let held = bench.claim_new("a").await?;
    let line = |seq, kind, ord| match record(lease(&held), seq, kind) {
        Write::Record(lease, record) => {
            let record = Record {
                ord,
                error: (kind == RecordKind::Failed).then(|| "no".to_owned()),
                args_hash: Some(format!("hash {seq}")),
                args: Some("[1]".to_owned()),
                undo: Some("undo".to_owned()),
                ..*record
            };
            Write::Record(lease, Box::new(record))
        }
        other => other,
    };
    let records = [
        line(0, RecordKind::Begun, 0),
        line(1, RecordKind::Done, 1),
        line(0, RecordKind::Done, 2),
        line(2, RecordKind::Failed, 3),
        line(3, RecordKind::Done, 4),
        line(1, RecordKind::Undone, 5),
    ];
    bench.write(records).await?;
    Ok(held)
}

/// Returns a task that has ended.
async fn ended(bench: &Bench) -> CheckResult<Task> {
    let held = held(bench).await?;
    let end = change(lease(&held), change_to(State::Error));
    bench.write_held(end).await?;
    bench.task(held.task.id).await
}

/// Returns a fork of a task from step 2 on.
fn fork(original: &Task, key: &str) -> Fork {
    Fork {
        new: new(key),
        origin: Origin {
            task: original.id,
            seq: 2,
            ord: 3,
            began: Time::from_micros(1_234_567),
            seeds: vec![(1, 7), (2, u64::MAX)],
        },
        fence: original.fence,
        note: None,
    }
}

async fn send(bench: &Bench, fork: Fork) -> CheckResult<WriteResult> {
    bench.write_one(Write::Fork(Box::new(fork))).await
}

/// Stores a fork that is new.
async fn store(bench: &Bench, fork: Fork) -> CheckResult<TaskId> {
    match send(bench, fork).await? {
        WriteResult::Submitted(Submitted {
            id,
            is_new: true,
            same_arguments: Some(true),
        }) => Ok(id),
        result => Err(format!("the result of a new fork is {result:?}")),
    }
}

/// The copies up to the place 3.
const COPIES: [(i32, RecordKind, i32); 3] = [
    (1, RecordKind::Done, 1),
    (0, RecordKind::Done, 2),
    (2, RecordKind::Failed, 3),
];

async fn copies(bench: &Bench) -> CheckResult {
    let original = ended(bench).await?;
    let history = bench.history(original.id).await?;
    let given = Fork {
        new: NewTask {
            version: 7,
            queue: "r".to_owned(),
            priority: -3,
            input: "[2]".to_owned(),
            headers: Some("{\"a\":1}".to_owned()),
            complete_by: Some(Duration::from_secs(1_000)),
            max_failures: 9,
            on_failure: OnFailure::Keep,
            ..new("fork")
        },
        ..fork(&original, "fork")
    };
    let id = store(bench, given.clone()).await?;
    let task = bench.task(id).await?;
    let wanted = Task {
        id,
        version: 7,
        queue: "r".to_owned(),
        priority: -3,
        key: "fork".to_owned(),
        input: "[2]".to_owned(),
        headers: given.new.headers,
        complete_by: Some(task.created_at.after(Duration::from_secs(1_000))),
        max_failures: 9,
        on_failure: OnFailure::Keep,
        origin: Some(given.origin),
        state: State::Pending,
        fence: Fence(0),
        wake_at: task.created_at,
        created_at: task.created_at,
        updated_at: task.created_at,
        ..original.clone()
    };
    check_equal("the fork", task.clone(), wanted)?;
    check_that("it is later", task.created_at >= original.updated_at)?;
    let copies = COPIES.map(|(seq, kind, ord)| {
        let old = history
            .iter()
            .find(|old| (old.seq, old.kind) == (seq, kind));
        old.map(|old| Record {
            ord,
            fence: Fence(0),
            args: None,
            undo: None,
            ..old.clone()
        })
    });
    let copies = copies.into_iter().flatten().collect();
    check_equal("its records", bench.history(id).await?, copies)?;
    check_equal(
        "the original",
        bench.task(original.id).await?,
        original.clone(),
    )?;
    check_equal("its history", bench.history(original.id).await?, history)
}

async fn is_stored_once(bench: &Bench) -> CheckResult {
    let original = ended(bench).await?;
    let given = fork(&original, "fork");
    let id = store(bench, given.clone()).await?;
    let again = WriteResult::Submitted(Submitted {
        id,
        is_new: false,
        same_arguments: Some(true),
    });
    check_equal("again", send(bench, given.clone()).await?, again.clone())?;
    bench.command(original.id, AdminCommand::Resubmit).await?;
    check_equal(
        "when it goes on",
        send(bench, given.clone()).await?,
        again.clone(),
    )?;
    let twice = [given.clone(), given].map(|fork| Write::Fork(Box::new(fork)));
    check_equal(
        "both",
        bench.write(twice).await?,
        vec![again.clone(), again],
    )?;
    check_equal("its records", bench.history(id).await?.len(), COPIES.len())
}

async fn finds_taken_key(bench: &Bench) -> CheckResult {
    let (original, other) = (ended(bench).await?, ended(bench).await?);
    let given = fork(&original, "fork");
    let id = store(bench, given.clone()).await?;
    let mut from_another_step = given.clone();
    from_another_step.origin.seq = 1;
    let result = send(bench, from_another_step).await?;
    check_equal("from another step", result, WriteResult::KeyTaken(id))?;
    let result = send(bench, fork(&other, "fork")).await?;
    check_equal("of another task", result, WriteResult::KeyTaken(id))?;
    let result = send(bench, fork(&original, &original.key)).await?;
    check_equal(
        "under its own key",
        result,
        WriteResult::KeyTaken(original.id),
    )?;
    check_equal("its records", bench.history(id).await?.len(), COPIES.len())
}

/// Deletes the records of all tasks that have ended. Their keys stay for so long.
async fn prune(bench: &Bench, keys: Duration, wanted: u64) -> CheckResult {
    let retention = Retention {
        tasks: Duration::ZERO,
        keys,
        lag: Duration::ZERO,
        forget_keys: LONG,
        ends: LONG,
    };
    let pruned = bench.write_one(Write::Prune(retention, 99)).await?;
    check_equal("what was pruned", pruned, WriteResult::Pruned(wanted))
}

async fn refuses(bench: &Bench) -> CheckResult {
    let check_lost = async |what: &str, task: &Task| {
        let result = send(bench, fork(task, "fork")).await?;
        check_equal(what, result, WriteResult::Lost)
    };
    let original = ended(bench).await?;
    bench.command(original.id, AdminCommand::Resubmit).await?;
    let again = bench.claim_one("a").await?;
    bench
        .write_held(change(lease(&again), change_to(State::Error)))
        .await?;
    check_lost("one that has gone on since", &original).await?;
    let pruned = bench.task(original.id).await?;
    prune(bench, LONG, 1).await?;
    check_lost("a pruned one", &pruned).await?;
    let id = TaskId(1_000_000);
    check_lost("a missing one", &Task { id, ..pruned }).await?;
    for state in [State::Waiting, State::Parked, State::Pending] {
        let held = held(bench).await?;
        check_lost("a held one", &held.task).await?;
        bench.give_state(&held, state).await?;
        check_lost(state.as_str(), &held.task).await?;
    }
    let fork = bench.submit(new("fork")).await?;
    check_equal(
        "the records of the key",
        bench.history(fork).await?.len(),
        0,
    )
}

async fn is_claimed(bench: &Bench) -> CheckResult {
    let original = ended(bench).await?;
    let both = [
        Write::Fork(Box::new(fork(&original, "fork"))),
        Write::Claim(claim("b", 9)),
    ];
    let results = bench.write(both).await?;
    let [
        WriteResult::Submitted(stored),
        WriteResult::Claimed(claimed, _),
    ] = &results[..]
    else {
        return Err(format!("the results are {results:?}"));
    };
    let claimed: Vec<_> = claimed.iter().map(|one| one.task.id).collect();
    check_equal("what is claimed", claimed, vec![stored.id])?;
    store(bench, fork(&original, "another")).await?;
    let held = bench.claim_one("b").await?;
    check_equal("its fence", held.task.fence, Fence(1))?;
    check_that("it may have records", held.may_have_records())?;
    let page = bench.other.history_page(held.task.id, None).await;
    let page = page.map_err(to_message)?.ok_or("there is no page")?;
    check_equal("its records", page.items.len(), COPIES.len())?;
    // A step that it has not run is recorded.
    bench
        .write_held(record(lease(&held), 3, RecordKind::Done))
        .await?;
    bench
        .write_lost(record(lease(&held), 2, RecordKind::Failed))
        .await
}

async fn waits_for_turn(bench: &Bench) -> CheckResult {
    let in_lane = |key| NewTask {
        lane: Some("it".to_owned()),
        ..new(key)
    };
    let original = ended(bench).await?;
    bench.submit(in_lane("first")).await?;
    let given = Fork {
        new: in_lane("fork"),
        ..fork(&original, "fork")
    };
    let id = store(bench, given).await?;
    check_that("it waits", bench.task(id).await?.waits_for_turn())?;
    let first = bench.claim_one("a").await?;
    bench
        .write_held(change(lease(&first), change_to(State::Processed)))
        .await?;
    check_equal("whose turn it is", bench.claim_one("a").await?.task.id, id)
}

async fn keeps_note(bench: &Bench) -> CheckResult {
    let original = ended(bench).await?;
    let note = OperatorNote {
        seq: None,
        verdict: "fork".to_owned(),
        by: "Ada".to_owned(),
        why: "she was asked".to_owned(),
        at: Time::default(),
    };
    let given = Fork {
        note: Some(note.clone()),
        ..fork(&original, "fork")
    };
    let id = store(bench, given.clone()).await?;
    send(bench, given).await?;
    let at = bench.task(id).await?.created_at;
    let notes = bench.other.notes(id).await.map_err(to_message)?;
    check_equal("its notes", notes, vec![OperatorNote { at, ..note }])?;
    let notes = bench.other.notes(original.id).await.map_err(to_message)?;
    check_equal("those of the original", notes, Vec::new())?;
    let plain = store(bench, fork(&original, "plain")).await?;
    let notes = bench.other.notes(plain).await.map_err(to_message)?;
    check_equal("those of a fork without a name", notes, Vec::new())
}

async fn outlives(bench: &Bench) -> CheckResult {
    let original = ended(bench).await?;
    let given = fork(&original, "fork");
    let id = store(bench, given.clone()).await?;
    prune(bench, Duration::ZERO, 1).await?;
    check_equal("its records", bench.history(id).await?.len(), COPIES.len())?;
    let again = send(bench, given.clone()).await?;
    check_equal("again", again, WriteResult::Submitted(Submitted::same(id)))?;
    // The origin stays with the key.
    bench.command(id, AdminCommand::Cancel).await?;
    prune(bench, LONG, 1).await?;
    check_equal("its state", bench.task(id).await?.state, State::Pruned)?;
    let again = send(bench, given).await?;
    check_equal("again", again, WriteResult::Submitted(Submitted::same(id)))
}

async fn forks_again(bench: &Bench) -> CheckResult {
    let original = ended(bench).await?;
    store(bench, fork(&original, "fork")).await?;
    let held = bench.claim_one("a").await?;
    let own = match record(lease(&held), 5, RecordKind::Done) {
        Write::Record(lease, record) => {
            Write::Record(lease, Box::new(Record { ord: 4, ..*record }))
        }
        other => other,
    };
    bench.write_held(own).await?;
    bench
        .write_held(change(lease(&held), change_to(State::Processed)))
        .await?;
    let task = bench.task(held.task.id).await?;
    let mut given = fork(&task, "again");
    given.origin.ord = 4;
    let id = store(bench, given.clone()).await?;
    let records = bench.history(id).await?;
    let seqs: Vec<_> = records.iter().map(|record| record.seq).collect();
    check_equal("its records", seqs, vec![1, 0, 2, 5])?;
    check_that(
        "they are copies",
        records.iter().all(|one| one.fence == Fence(0)),
    )?;
    check_equal(
        "its origin",
        bench.task(id).await?.origin,
        Some(given.origin),
    )
}

async fn takes_free_key(bench: &Bench) -> CheckResult {
    bench.submit(new("fork")).await?;
    let held = bench.claim_one("a").await?;
    bench
        .write_held(change(lease(&held), change_to(State::Processed)))
        .await?;
    prune(bench, Duration::ZERO, 1).await?;
    bench
        .wait_until_past(bench.task(held.task.id).await?.wake_at)
        .await?;
    let original = ended(bench).await?;
    let id = store(bench, fork(&original, "fork")).await?;
    let task = bench.task(id).await?;
    check_equal("its incarnation", task.incarnation, 1)?;
    check_that("it has an origin", task.origin.is_some())
}
