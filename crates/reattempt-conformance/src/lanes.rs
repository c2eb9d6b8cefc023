//! Lanes: their tasks run one at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, change, change_to, check_equal, check_that, claim, lease, new,
    sentences, signal, sweep_at_once, to_message, write_at_last,
};
use reattempt_supervisor::store::{
    AdminCommand, Change, Claim, ClaimedTask, Filter, SignalResult, Store, Wake, Write, WriteResult,
};
use reattempt_supervisor::{Direction, NewTask, State, Time};

sentences! {
    "the tasks of a lane without a limit run one at a time, in their order, whatever their workflow and queue" => one_at_a_time,
    "the next task of a lane has its turn when the one before has ended, however it has ended" => passes_the_turn,
    "a task keeps its turn while it fails, waits or is parked" => keeps_the_turn,
    "a task that waits for its turn takes commands and signals" => takes_commands,
    "a task that continues after its end waits for its turn" => waits_again,
    "the delay of a task is over before it takes its place in the lane" => delays_first,
    "a task whose time is over before its turn does not wait" => is_late,
    "a lane with many tasks delays no other lane" => are_fair,
    "tasks that wait for their turn count for the bound of their queue" => count_for_the_bound,
    "two workers never hold tasks of one lane without a limit, however many submit, claim and end tasks at the same time" => never_two,
}

pub(crate) fn in_lane(lane: &str, key: &str) -> NewTask {
    NewTask {
        lane: Some(lane.to_owned()),
        ..new(key)
    }
}

pub(crate) fn submit(new: NewTask) -> Write {
    Write::Submit(Box::new(new))
}

/// Changes the state of a held task.
pub(crate) async fn set_state(bench: &Bench, held: &ClaimedTask, state: State) -> CheckResult {
    let written = bench.write_held(change(lease(held), change_to(state)));
    written.await.map(drop)
}

/// Claims tasks, and compares their keys.
pub(crate) async fn check_ready(bench: &Bench, what: &str, wanted: &[&str]) -> CheckResult {
    let claimed = bench.claim("a", 9).await?;
    let keys: Vec<_> = claimed.iter().map(|one| one.task.key.as_str()).collect();
    check_equal(what, &*keys, wanted)
}

/// Claims the only task that is ready, and compares its key.
pub(crate) async fn claim_this(bench: &Bench, key: &str) -> CheckResult<ClaimedTask> {
    let claimed = bench.claim_one("a").await?;
    check_equal("the key of the next task", claimed.task.key.as_str(), key)?;
    Ok(claimed)
}

async fn one_at_a_time(bench: &Bench) -> CheckResult {
    let all = Claim {
        queues: vec!["q".to_owned(), "r".to_owned()],
        workflows: vec![("w".to_owned(), 1), ("v".to_owned(), 2)],
        ..claim("a", 9)
    };
    let list = [
        in_lane("l", "first"),
        NewTask {
            priority: -1,
            queue: "r".to_owned(),
            ..in_lane("l", "second")
        },
        NewTask {
            workflow: "v".to_owned(),
            version: 2,
            ..in_lane("l", "third")
        },
    ];
    bench.write(list.map(submit)).await?;
    let fourth = bench.submit(in_lane("l", "fourth")).await?;
    for key in ["first", "second", "third"] {
        let claimed = bench.claim_with(all.clone()).await?;
        let [one] = &claimed[..] else {
            return Err(format!(
                "claimed when it was the turn of {key}: {claimed:?}"
            ));
        };
        check_equal("its key", one.task.key.as_str(), key)?;
        check_equal("its lane", one.task.lane.as_deref(), Some("l"))?;
        check_that("it has its turn", !one.task.waits_for_turn())?;
        let fourth = bench.task(fourth).await?;
        check_that("the last one waits for its turn", fourth.waits_for_turn())?;
        set_state(bench, one, State::Processed).await?;
    }
    let rest = claim_this(bench, "fourth").await?;
    set_state(bench, &rest, State::Processed).await?;
    // The lane is free again.
    bench.submit(in_lane("l", "fifth")).await?;
    claim_this(bench, "fifth").await.map(drop)
}

async fn passes_the_turn(bench: &Bench) -> CheckResult {
    for state in [
        State::Processed,
        State::Error,
        State::Compensated,
        State::Cancelled,
    ] {
        let lane = state.as_str();
        bench.submit(in_lane(lane, &format!("{lane} one"))).await?;
        bench.submit(in_lane(lane, &format!("{lane} two"))).await?;
        let first = bench.claim_one("a").await?;
        // In one list: the next one can be claimed in the transaction in which the first one ends.
        let both = [
            change(lease(&first), change_to(state)),
            Write::Claim(claim("a", 9)),
        ];
        let results = bench.write(both).await?;
        let WriteResult::Claimed(claimed, _) = &results[1] else {
            return Err(format!("{results:?}"));
        };
        let [second] = &claimed[..] else {
            return Err(format!("claimed after an end as {state}: {claimed:?}"));
        };
        set_state(bench, second, State::Processed).await?;
    }
    let first = bench.submit(in_lane("l", "cancelled")).await?;
    let second = bench.submit(in_lane("l", "given up")).await?;
    bench.submit(in_lane("l", "third")).await?;
    bench.command(first, AdminCommand::Cancel).await?;
    bench
        .command(second, AdminCommand::Park("why".to_owned()))
        .await?;
    check_ready(bench, "tasks behind a parked one", &[]).await?;
    bench.command(second, AdminCommand::GiveUp).await?;
    claim_this(bench, "third").await.map(drop)
}

async fn keeps_the_turn(bench: &Bench) -> CheckResult {
    let first = bench.submit(in_lane("l", "first")).await?;
    bench.submit(in_lane("l", "second")).await?;
    bench.heartbeat("a", LONG).await?;
    let held = claim_this(bench, "first").await?;
    let later = Change {
        wake: Wake::In(LONG),
        ..change_to(State::Pending)
    };
    bench.write_held(change(lease(&held), later)).await?;
    check_ready(bench, "tasks behind one that failed", &[]).await?;
    bench
        .command(first, AdminCommand::Park("why".to_owned()))
        .await?;
    check_ready(bench, "tasks behind a parked one", &[]).await?;
    bench.command(first, AdminCommand::Resubmit).await?;
    let held = claim_this(bench, "first").await?;
    let wait = Change {
        wake: Wake::At(Time::NEVER, 0),
        ..change_to(State::Waiting)
    };
    bench.write_held(change(lease(&held), wait)).await?;
    check_ready(bench, "tasks behind one that waits", &[]).await?;
    bench
        .send(signal(first, "go"), SignalResult::Accepted)
        .await?;
    let held = claim_this(bench, "first").await?;
    bench.write_one(Write::GiveBack(vec![lease(&held)])).await?;
    bench.claim_one("nobody").await?;
    bench
        .one
        .sweep(sweep_at_once(9))
        .await
        .map_err(to_message)?;
    let held = claim_this(bench, "first").await?;
    set_state(bench, &held, State::Processed).await?;
    claim_this(bench, "second").await.map(drop)
}

async fn takes_commands(bench: &Bench) -> CheckResult {
    bench.submit(in_lane("l", "first")).await?;
    let cancelled = bench.submit(in_lane("l", "cancelled")).await?;
    let parked = bench.submit(in_lane("l", "parked")).await?;
    let signaled = bench.submit(in_lane("l", "signaled")).await?;
    let first = claim_this(bench, "first").await?;
    bench.command(cancelled, AdminCommand::Cancel).await?;
    bench
        .command(parked, AdminCommand::Park("why".to_owned()))
        .await?;
    bench
        .send(signal(signaled, "early"), SignalResult::Accepted)
        .await?;
    let state = bench.task(cancelled).await?.state;
    check_equal("its state", state, State::Cancelled)?;
    check_ready(bench, "tasks behind the first", &[]).await?;
    set_state(bench, &first, State::Processed).await?;
    let signaled = claim_this(bench, "signaled").await?;
    check_that("it has signals", signaled.has_signals)?;
    bench.command(parked, AdminCommand::Resubmit).await?;
    check_ready(bench, "tasks behind it", &[]).await?;
    set_state(bench, &signaled, State::Processed).await?;
    claim_this(bench, "parked").await.map(drop)
}

async fn waits_again(bench: &Bench) -> CheckResult {
    bench.submit(in_lane("l", "first")).await?;
    bench.submit(in_lane("l", "second")).await?;
    let first = claim_this(bench, "first").await?;
    set_state(bench, &first, State::Error).await?;
    let second = claim_this(bench, "second").await?;
    let id = first.task.id;
    bench.command(id, AdminCommand::Resubmit).await?;
    let waits = bench.task(id).await?.waits_for_turn();
    check_that("it waits for its turn", waits)?;
    bench.command(id, AdminCommand::Cancel).await?;
    check_ready(bench, "tasks beside the second", &[]).await?;
    set_state(bench, &second, State::Processed).await?;
    let again = claim_this(bench, "first").await?;
    check_that("it is to be cancelled", again.task.cancel_requested)
}

async fn delays_first(bench: &Bench) -> CheckResult {
    let after = |delay, key: &str| NewTask {
        delay: Duration::from_secs(delay),
        ..in_lane("l", key)
    };
    bench.submit(after(2_000, "late")).await?;
    bench.submit(after(1_000, "later")).await?;
    bench.submit(after(0, "first")).await?;
    bench.submit(after(0, "second")).await?;
    for key in ["first", "second"] {
        let claimed = claim_this(bench, key).await?;
        set_state(bench, &claimed, State::Processed).await?;
    }
    check_ready(bench, "tasks that are not due", &[]).await?;
    let tasks = bench.one.list(Filter::default()).await;
    let tasks = tasks.map_err(to_message)?;
    let tasks: HashMap<_, _> = tasks.iter().map(|task| (task.key.as_str(), task)).collect();
    check_that("the last one waits", tasks["late"].waits_for_turn())?;
    let later = tasks["later"];
    let due = later.created_at.after(Duration::from_secs(1_000));
    check_equal("when the other one wakes up", later.wake_at, due)
}

async fn is_late(bench: &Bench) -> CheckResult {
    bench.heartbeat("a", LONG).await?;
    bench.submit(in_lane("l", "first")).await?;
    let late = NewTask {
        complete_by: Some(Duration::ZERO),
        ..in_lane("l", "late")
    };
    bench.submit(late).await?;
    bench.submit(in_lane("l", "third")).await?;
    let first = claim_this(bench, "first").await?;
    let start = bench.now().await?;
    bench.wait_until_past(start).await?;
    let reclaimed = bench.one.sweep(sweep_at_once(9)).await;
    let count = reclaimed.map_err(to_message)?.len();
    check_equal("the number of late tasks", count, 1)?;
    let late = claim_this(bench, "late").await?;
    check_equal("its direction", late.task.direction, Direction::Undoing)?;
    set_state(bench, &late, State::Error).await?;
    check_ready(bench, "tasks beside the first", &[]).await?;
    set_state(bench, &first, State::Processed).await?;
    claim_this(bench, "third").await.map(drop)
}

async fn are_fair(bench: &Bench) -> CheckResult {
    let many = (0..200).map(|nth| submit(in_lane("many", &nth.to_string())));
    bench.write(many.collect::<Vec<_>>()).await?;
    bench.submit(in_lane("few", "few")).await?;
    bench.submit(new("none")).await?;
    let first = bench.claim("a", 2).await?;
    let keys: Vec<_> = first.iter().map(|one| one.task.key.as_str()).collect();
    check_equal("a task of each lane", keys, vec!["0", "few"])?;
    let start = bench.now().await?;
    bench.wait_until_past(start).await?;
    set_state(bench, &first[0], State::Processed).await?;
    check_ready(bench, "whose turn it is", &["none", "1"]).await
}

async fn count_for_the_bound(bench: &Bench) -> CheckResult {
    for nth in 0..3 {
        bench.submit(in_lane("l", &nth.to_string())).await?;
    }
    claim_this(bench, "0").await?;
    let bounded = |key: &str| NewTask {
        max_pending: Some(3),
        ..new(key)
    };
    bench.submit(bounded("third")).await?;
    let full = bench.write_one(submit(bounded("fourth"))).await?;
    check_equal("a fourth task", full, WriteResult::QueueFull)
}

/// How many lanes several processes work on, and how many tasks each process submits to each.
const LANES: usize = 3;
const TASKS: usize = 20;

async fn never_two(bench: &Bench) -> CheckResult {
    let mut runs = run_lanes(bench).await?;
    runs.sort_unstable();
    for pair in runs.windows(2) {
        let [(lane, _, end), (other, start, _)] = pair else {
            continue;
        };
        check_that(
            "each begins after the one before",
            lane != other || end <= start,
        )?;
    }
    Ok(())
}

/// Submits, claims and ends tasks of several lanes in several processes.
pub(crate) async fn run_lanes(bench: &Bench) -> CheckResult<Vec<Run>> {
    let stores = || [&bench.one, &bench.other].map(Arc::clone).into_iter();
    let mut all = Vec::new();
    for (nth, store) in stores().enumerate() {
        all.push(tokio::spawn(submit_all(store, nth)));
    }
    for (nth, store) in stores().chain(stores()).enumerate() {
        all.push(tokio::spawn(run_all(store, nth)));
    }
    let mut runs = Vec::new();
    for one in all {
        runs.extend(one.await.map_err(|error| error.to_string())??);
    }
    check_equal("the number of runs", runs.len(), LANES * TASKS * 2)?;
    Ok(runs)
}

/// A lane, and when the store says that a task of it was claimed and ended.
pub(crate) type Run = (String, Time, Time);

/// Submits tasks to all lanes, in changing orders.
async fn submit_all(store: Arc<dyn Store>, submitter: usize) -> CheckResult<Vec<Run>> {
    for nth in 0..TASKS {
        let mut lanes: Vec<_> = (0..LANES).collect();
        lanes.rotate_left((nth + submitter) % LANES);
        let task = |lane: &usize| in_lane(&format!("{lane}"), &format!("{submitter} {lane} {nth}"));
        let list: Vec<_> = lanes.iter().map(task).map(submit).collect();
        write_at_last(&*store, list).await?;
    }
    Ok(Vec::new())
}

/// Claims tasks and ends them, both in one transaction.
async fn run_all(store: Arc<dyn Store>, worker: usize) -> CheckResult<Vec<Run>> {
    let mut runs = Vec::new();
    let mut held: Vec<ClaimedTask> = Vec::new();
    let mut idle = 0;
    while idle < 200 {
        let ends = held.iter();
        let ends = ends.map(|one| change(lease(one), change_to(State::Processed)));
        let claim = Write::Claim(claim(&worker.to_string(), 2));
        let list: Vec<_> = ends.chain([claim]).collect();
        let mut results = write_at_last(&*store, list).await?;
        let Some(WriteResult::Claimed(claimed, _)) = results.pop() else {
            return Err(format!("{results:?}"));
        };
        for (one, result) in held.iter().zip(results) {
            let WriteResult::Written(status) = result else {
                return Err(format!("the result of an end is {result:?}"));
            };
            let lane = one.task.lane.clone().unwrap_or_default();
            runs.push((lane, one.now, status.now));
        }
        held = claimed;
        idle = if held.is_empty() { idle + 1 } else { 0 };
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(runs)
}
