//! Limits of lanes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, check_equal, check_that, claim, sentences, to_message,
};
use super::lanes::{check_ready, claim_this, in_lane, run_lanes, set_state, submit};
use reattempt_supervisor::store::{AdminCommand, Claim, ClaimedTask, Write, WriteResult};
use reattempt_supervisor::{NewTask, State, TaskLimit, Time, WorkerId};

sentences! {
    "as many tasks of a lane run at once as its limit allows, in their order, whatever their workflow and queue" => at_once,
    "a task of a lane with a limit keeps its turn while it fails, waits or is parked" => keeps_its_turn,
    "the limit of a name goes before one of a pattern, and that of a longer pattern before a shorter one" => by_name,
    "a limit of lanes holds from the next turn on, and gives the turns that it allows" => set_later,
    "a lane that is stopped lets no task begin" => stopped,
    "no more tasks of a lane begin in any period than its rate allows, and as many, however long they run" => rate,
    "a task that is taken again counts once for the rate of its lane" => counts_once,
    "a task that ends before it has begun does not count for the rate of its lane" => never_begun,
    "a task that sleeps lets others pass in a lane with a limit" => lets_pass,
    "a task that may not begin yet by the rate of its lane lets no later one pass" => keeps_order,
    "limits of lanes can be read and removed" => shown,
    "workers never hold more tasks of a lane than its limit allows, and no more begin than its rate, however many submit, claim and end tasks at the same time" => never_more,
}

/// The period of rates: a short time, and long for what a claim takes.
const PERIOD: Duration = Duration::from_millis(200);

async fn limit(bench: &Bench, lanes: &str, limit: TaskLimit) -> CheckResult {
    // As a worker hears of the limits.
    let result = bench.write_one(Write::LimitLanes(lanes.to_owned(), limit));
    check_equal("the result of a limit", result.await?, WriteResult::Done)?;
    bench.heartbeat("a", LONG).await
}

async fn submit_all(bench: &Bench, lane: &str, keys: &[&str]) -> CheckResult {
    let tasks = keys.iter().map(|key| submit(in_lane(lane, key)));
    bench.write(tasks.collect::<Vec<_>>()).await.map(drop)
}

fn keys(claimed: &[ClaimedTask]) -> Vec<&str> {
    claimed.iter().map(|one| one.task.key.as_str()).collect()
}

/// Claims tasks until there are so many, and returns them in the order of their times.
async fn claim_many(bench: &Bench, count: usize) -> CheckResult<Vec<ClaimedTask>> {
    let mut claimed = Vec::new();
    for _ in 0..20_000 {
        claimed.extend(bench.claim("a", 9).await?);
        if claimed.len() >= count {
            return Ok(claimed);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Err(format!("{} of {count} tasks were claimed", claimed.len()))
}

/// Fails if more tasks began in any period than a rate allows.
fn check_rate(begun: &[Time], tasks: usize, period: Duration) -> CheckResult {
    for (first, next) in begun.iter().zip(begun.iter().skip(tasks)) {
        let apart = next.since(*first);
        let what = format!("task {tasks} behind another one begins {apart:?} after it");
        check_that(&what, apart >= period)?;
    }
    Ok(())
}

async fn at_once(bench: &Bench) -> CheckResult {
    limit(bench, "l", TaskLimit::new().concurrency(2)).await?;
    let both = Claim {
        queues: vec!["q".to_owned(), "r".to_owned()],
        workflows: vec![("w".to_owned(), 1), ("v".to_owned(), 2)],
        ..claim("a", 9)
    };
    let second = NewTask {
        queue: "r".to_owned(),
        ..in_lane("l", "second")
    };
    let third = NewTask {
        workflow: "v".to_owned(),
        version: 2,
        ..in_lane("l", "third")
    };
    for one in [in_lane("l", "first"), second, third, in_lane("l", "fourth")] {
        bench.submit(one).await?;
    }
    let held = bench.claim_with(both.clone()).await?;
    check_equal("the first tasks", &*keys(&held), &["first", "second"])?;
    for (held, next) in held.iter().zip(["third", "fourth"]) {
        let beside = bench.claim_with(both.clone()).await?;
        check_equal("tasks beside them", &*keys(&beside), &[])?;
        set_state(bench, held, State::Processed).await?;
        let claimed = bench.claim_with(both.clone()).await?;
        check_equal("the next one", &*keys(&claimed), &[next])?;
    }
    Ok(())
}

async fn keeps_its_turn(bench: &Bench) -> CheckResult {
    limit(bench, "l", TaskLimit::new().concurrency(2)).await?;
    submit_all(bench, "l", &["1", "2", "3"]).await?;
    let held = bench.claim("a", 9).await?;
    bench.give_state(&held[0], State::Pending).await?;
    bench.give_state(&held[1], State::Waiting).await?;
    check_ready(bench, "tasks behind those that wait", &[]).await?;
    let parked = held[0].task.id;
    let command = AdminCommand::Park("why".to_owned());
    bench.command(parked, command).await?;
    check_ready(bench, "tasks behind a parked one", &[]).await?;
    bench.command(parked, AdminCommand::GiveUp).await?;
    claim_this(bench, "3").await.map(drop)
}

async fn by_name(bench: &Bench) -> CheckResult {
    for (lanes, tasks) in [("*", 2), ("customer-*", 3), ("customer-7", 1)] {
        limit(bench, lanes, TaskLimit::new().concurrency(tasks)).await?;
    }
    for (lane, wanted) in [("other", 2), ("customer-70", 3), ("customer-7", 1)] {
        let all = ["1", "2", "3", "4"].map(|nth| format!("{lane} {nth}"));
        submit_all(bench, lane, &all.each_ref().map(String::as_str)).await?;
        let claimed = bench.claim("a", 9).await?;
        check_equal(&format!("tasks of {lane}"), claimed.len(), wanted)?;
    }
    Ok(())
}

async fn set_later(bench: &Bench) -> CheckResult {
    submit_all(bench, "l", &["1", "2", "3", "4", "5"]).await?;
    submit_all(bench, "other", &["6", "7"]).await?;
    check_ready(bench, "one of each lane", &["1", "6"]).await?;
    limit(bench, "l", TaskLimit::new().concurrency(3)).await?;
    let held = bench.claim("a", 9).await?;
    check_equal("those that may run, too", &*keys(&held), &["2", "3"])?;
    limit(bench, "l", TaskLimit::new().concurrency(2)).await?;
    set_state(bench, &held[0], State::Processed).await?;
    check_ready(bench, "tasks of a lane that is still full", &[]).await?;
    set_state(bench, &held[1], State::Processed).await?;
    claim_this(bench, "4").await.map(drop)
}

async fn stopped(bench: &Bench) -> CheckResult {
    limit(bench, "l*", TaskLimit::new().concurrency(0)).await?;
    submit_all(bench, "l", &["1", "2"]).await?;
    submit_all(bench, "lane", &["3"]).await?;
    check_ready(bench, "tasks of stopped lanes", &[]).await?;
    limit(bench, "l*", TaskLimit::new().concurrency(5)).await?;
    check_ready(bench, "tasks of the lanes", &["1", "2", "3"]).await
}

async fn rate(bench: &Bench) -> CheckResult {
    let two = TaskLimit::new().concurrency(100).rate(2, PERIOD);
    limit(bench, "l", two).await?;
    submit_all(bench, "l", &["1", "2", "3", "4", "5", "6", "7"]).await?;
    check_ready(bench, "as many as begin at once", &["1", "2"]).await?;
    // None of them ends.
    let claimed = claim_many(bench, 5).await?;
    check_equal("their order", &*keys(&claimed), &["3", "4", "5", "6", "7"])?;
    let begun: Vec<_> = claimed.iter().map(|one| one.now).collect();
    check_rate(&begun, 2, PERIOD)
}

async fn counts_once(bench: &Bench) -> CheckResult {
    limit(bench, "l", TaskLimit::new().concurrency(9).rate(1, LONG)).await?;
    submit_all(bench, "l", &["1"]).await?;
    let second = bench.submit(in_lane("l", "2")).await?;
    let first = claim_this(bench, "1").await?;
    set_state(bench, &first, State::Pending).await?;
    let again = claim_this(bench, "1").await?;
    set_state(bench, &again, State::Processed).await?;
    check_ready(bench, "tasks in the same period", &[]).await?;
    let wakes = bench.task(second).await?.wake_at;
    check_equal("when the next one may begin", wakes, first.now.after(LONG))
}

async fn never_begun(bench: &Bench) -> CheckResult {
    limit(bench, "l", TaskLimit::new().concurrency(9).rate(1, LONG)).await?;
    let first = bench.submit(in_lane("l", "1")).await?;
    submit_all(bench, "l", &["2"]).await?;
    let third = bench.submit(in_lane("l", "3")).await?;
    let waits = bench.task(third).await?.waits_for_turn();
    check_that("only as many have the turn as may begin", waits)?;
    bench.command(first, AdminCommand::Cancel).await?;
    let second = claim_this(bench, "2").await?;
    let wakes = bench.task(third).await?.wake_at;
    check_equal("when the next one may begin", wakes, second.now.after(LONG))
}

async fn lets_pass(bench: &Bench) -> CheckResult {
    limit(bench, "l", TaskLimit::new().concurrency(2)).await?;
    limit(bench, "r", TaskLimit::new().concurrency(9).rate(1, LONG)).await?;
    let later = |lane: &str, key: &str| NewTask {
        delay: LONG,
        ..in_lane(lane, key)
    };
    for key in ["later", "last"] {
        bench.submit(later("l", key)).await?;
    }
    bench.submit(later("r", "never")).await?;
    submit_all(bench, "l", &["1", "2"]).await?;
    submit_all(bench, "r", &["3"]).await?;
    check_ready(bench, "those that are due", &["1", "2", "3"]).await
}

async fn keeps_order(bench: &Bench) -> CheckResult {
    limit(bench, "l", TaskLimit::new().concurrency(9).rate(1, LONG)).await?;
    submit_all(bench, "l", &["1"]).await?;
    claim_this(bench, "1").await?;
    let second = bench.submit(in_lane("l", "2")).await?;
    let third = bench.submit(in_lane("l", "3")).await?;
    for (task, waits) in [(second, false), (third, true)] {
        let found = bench.task(task).await?.waits_for_turn();
        check_equal("whether it waits for its turn", found, waits)?;
    }
    Ok(())
}

async fn shown(bench: &Bench) -> CheckResult {
    let both = TaskLimit::new().concurrency(5).rate(50, PERIOD);
    let rate = TaskLimit::new().rate(1, LONG);
    limit(bench, "l", both).await?;
    limit(bench, "m*", rate).await?;
    limit(bench, "m*", rate.concurrency(1)).await?;
    limit(bench, "l", TaskLimit::new()).await?;
    let found = bench.other.lane_limits().await.map_err(to_message)?;
    let wanted = BTreeMap::from([("m*".to_owned(), rate.concurrency(1))]);
    check_equal("the limits", found, wanted)?;
    submit_all(bench, "l", &["1", "2"]).await?;
    check_ready(bench, "tasks of a lane without a limit", &["1"]).await
}

async fn never_more(bench: &Bench) -> CheckResult {
    let period = PERIOD / 2;
    let (at_once, tasks) = (2, 10);
    let both = TaskLimit::new().concurrency(2).rate(10, period);
    limit(bench, "*", both).await?;
    for store in [&bench.one, &bench.other] {
        // As each worker hears of the limits.
        let worker = WorkerId("b".to_owned());
        let beat = store.heartbeat(worker, LONG, None).await;
        beat.map_err(to_message)?;
    }
    let mut runs = run_lanes(bench).await?;
    runs.sort_unstable();
    for lane in runs.chunk_by(|one, other| one.0 == other.0) {
        let begun: Vec<_> = lane.iter().map(|(_, begun, _)| *begun).collect();
        check_rate(&begun, tasks, period)?;
        for begun in &begun {
            let beside = lane.iter();
            let beside = beside.filter(|(_, start, end)| start <= begun && begun < end);
            check_that("as many as the limit allows", beside.count() <= at_once)?;
        }
    }
    Ok(())
}
