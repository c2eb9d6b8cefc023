//! Limits of queues.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::bench::{
    Bench, CheckResult, LONG, change, change_to, check_equal, check_that, claim, lease, new,
    sentences, sweep_at_once, to_message, write_at_last,
};
use reattempt_supervisor::store::{Change, Claim, ClaimedTask, Store, Wake, Write, WriteResult};
use reattempt_supervisor::{NewTask, State, TaskLimit, Time, WorkerId};

sentences! {
    "workers hold no more tasks of a queue than its limit allows, whatever their priorities and workflows" => at_once,
    "a worker that has not sent a heartbeat since a limit was set keeps it" => unheard,
    "a task that ends, waits or is given back makes room in its queue" => makes_room,
    "the task of a worker that has died takes its room until it is reclaimed" => reclaimed,
    "suspects take room like other tasks" => suspects,
    "a limit of a queue does not hold back other queues" => other_queues,
    "no more tasks of a queue are claimed in any period than its rate allows, and nearly as many" => rate,
    "a claim says when the limit of a queue allows more" => says_when,
    "a limit holds from the next claim on, counts the tasks that are held, and can be removed" => set_later,
    "queues show their limits" => shown,
    "two workers never hold more tasks of a queue than its limit allows, however many claim and end tasks at the same time" => never_more,
}

/// The period of rates: a short time, and long for what a claim takes.
const PERIOD: Duration = Duration::from_millis(200);

async fn limit(bench: &Bench, queue: &str, limit: TaskLimit) -> CheckResult {
    let result = bench.write_one(Write::LimitQueue(queue.to_owned(), limit));
    check_equal("the result of a limit", result.await?, WriteResult::Done)
}

async fn submit(bench: &Bench, keys: impl IntoIterator<Item = u32>) -> CheckResult {
    let tasks = keys.into_iter().map(|key| new(&key.to_string()));
    let writes: Vec<_> = tasks.map(|task| Write::Submit(Box::new(task))).collect();
    bench.write(writes).await.map(drop)
}

/// Claims tasks, and returns also after how long there may be more. A store may learn with heartbeats that
/// there are limits.
async fn claim_limited(
    bench: &Bench,
    claim: Claim,
) -> CheckResult<(Vec<ClaimedTask>, Option<Duration>)> {
    match bench.write_one(Write::Claim(claim)).await? {
        WriteResult::Claimed(claimed, again) => Ok((claimed, again)),
        result => Err(format!("the result of a claim is {result:?}")),
    }
}

async fn claim_some(bench: &Bench, most: u32) -> CheckResult<Vec<ClaimedTask>> {
    let (claimed, _) = claim_limited(bench, claim("a", most)).await?;
    Ok(claimed)
}

async fn check_claimed(bench: &Bench, what: &str, wanted: usize) -> CheckResult {
    check_equal(what, claim_some(bench, 9).await?.len(), wanted)
}

async fn set_state(bench: &Bench, held: &ClaimedTask, change_to: Change) -> CheckResult {
    let written = bench.write_held(change(lease(held), change_to));
    written.await.map(drop)
}

async fn at_once(bench: &Bench) -> CheckResult {
    limit(bench, "q", TaskLimit::new().concurrency(3)).await?;
    for (key, priority, workflow) in [("1", 1, "w"), ("2", 0, "v"), ("3", 2, "w"), ("4", 0, "w")] {
        let task = NewTask {
            priority,
            workflow: workflow.to_owned(),
            ..new(key)
        };
        bench.submit(task).await?;
    }
    let both = Claim {
        workflows: vec![("w".to_owned(), 1), ("v".to_owned(), 1)],
        queues: vec!["q".to_owned(), "q".to_owned()],
        ..claim("a", 2)
    };
    let (first, again) = claim_limited(bench, both.clone()).await?;
    let keys: Vec<_> = first.iter().map(|one| one.task.key.as_str()).collect();
    check_equal("the first tasks", &keys[..], &["2", "4"])?;
    check_equal("it has room for more", again, None)?;
    let other = Claim {
        worker: WorkerId("b".to_owned()),
        limit: 9,
        ..both
    };
    let (rest, again) = claim_limited(bench, other).await?;
    let keys: Vec<_> = rest.iter().map(|one| one.task.key.as_str()).collect();
    check_equal("the rest for which there is room", &keys[..], &["1"])?;
    check_equal("only an end makes room", again, Some(Duration::MAX))?;
    limit(bench, "q", TaskLimit::new().concurrency(0)).await?;
    check_claimed(bench, "tasks of a stopped queue", 0).await
}

async fn unheard(bench: &Bench) -> CheckResult {
    submit(bench, 0..9).await?;
    let first = [Write::Claim(claim("b", 2))];
    bench
        .other
        .write(Arc::new(first))
        .await
        .map_err(to_message)?;
    limit(bench, "q", TaskLimit::new().concurrency(3)).await?;
    let second = [Write::Claim(claim("b", 9))];
    let results = bench.other.write(Arc::new(second)).await;
    match &results.map_err(to_message)?[..] {
        [WriteResult::Claimed(claimed, _)] => {
            let most = "there is room for one more at most";
            check_that(most, claimed.len() <= 1)
        }
        results => Err(format!("the results of a claim are {results:?}")),
    }
}

async fn makes_room(bench: &Bench) -> CheckResult {
    limit(bench, "q", TaskLimit::new().concurrency(1)).await?;
    submit(bench, 0..9).await?;
    let later = |state| Change {
        wake: Wake::In(LONG),
        ..change_to(state)
    };
    for state in [
        State::Processed,
        State::Error,
        State::Parked,
        State::Waiting,
        State::Pending,
    ] {
        let claimed = claim_some(bench, 9).await?;
        let [held] = &claimed[..] else {
            return Err(format!("claimed before an end as {state}: {claimed:?}"));
        };
        check_claimed(bench, "tasks beside it", 0).await?;
        set_state(bench, held, later(state)).await?;
    }
    let held = claim_some(bench, 9).await?;
    bench
        .write([Write::GiveBack(held.iter().map(lease).collect())])
        .await?;
    check_claimed(bench, "tasks after one was given back", 1).await?;
    bench
        .write([Write::Leave(WorkerId("a".to_owned()))])
        .await?;
    check_claimed(bench, "tasks after the worker has left", 1).await
}

/// Kills the worker of a held task.
async fn kill(bench: &Bench) -> CheckResult {
    bench.heartbeat("a", Duration::from_millis(1)).await?;
    for _ in 0..5_000 {
        let reclaimed = bench
            .one
            .sweep(sweep_at_once(9))
            .await
            .map_err(to_message)?;
        if !reclaimed.is_empty() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Err("the task of a dead worker was not reclaimed for 5 s".to_owned())
}

async fn reclaimed(bench: &Bench) -> CheckResult {
    limit(bench, "q", TaskLimit::new().concurrency(1)).await?;
    submit(bench, 0..2).await?;
    check_claimed(bench, "tasks of the worker that dies", 1).await?;
    bench.heartbeat("a", Duration::from_millis(1)).await?;
    bench
        .wait_until_past(bench.now().await?.after(Duration::from_millis(2)))
        .await?;
    check_claimed(bench, "tasks before it is reclaimed", 0).await?;
    kill(bench).await?;
    check_claimed(bench, "tasks afterwards", 1).await
}

async fn suspects(bench: &Bench) -> CheckResult {
    bench.submit(new("suspect")).await?;
    for _ in 0..2 {
        check_claimed(bench, "the task", 1).await?;
        kill(bench).await?;
    }
    limit(bench, "q", TaskLimit::new().concurrency(1)).await?;
    submit(bench, 0..1).await?;
    let of_suspects = || Claim {
        suspects: Some(Duration::ZERO),
        ..claim("a", 9)
    };
    let held = claim_some(bench, 9).await?;
    let (beside, _) = claim_limited(bench, of_suspects()).await?;
    check_equal("suspects beside another task", beside.len(), 0)?;
    set_state(bench, &held[0], change_to(State::Processed)).await?;
    let (suspects, again) = claim_limited(bench, of_suspects()).await?;
    check_equal("suspects afterwards", suspects.len(), 1)?;
    check_equal("only an end makes room", again, Some(Duration::MAX))?;
    submit(bench, 1..2).await?;
    check_claimed(bench, "tasks beside the suspect", 0).await
}

async fn other_queues(bench: &Bench) -> CheckResult {
    let limits = TaskLimit::new().concurrency(1).rate(2, LONG);
    limit(bench, "q", limits).await?;
    let tasks = (0..12).map(|nth| NewTask {
        queue: if nth % 2 == 0 { "q" } else { "r" }.to_owned(),
        ..new(&nth.to_string())
    });
    let writes: Vec<_> = tasks.map(|task| Write::Submit(Box::new(task))).collect();
    bench.write(writes).await?;
    let both = Claim {
        queues: vec!["q".to_owned(), "r".to_owned()],
        ..claim("a", 4)
    };
    let (first, _) = claim_limited(bench, both.clone()).await?;
    let keys = |claimed: &[ClaimedTask]| {
        let keys = claimed.iter().map(|one| one.task.key.clone());
        keys.collect::<Vec<_>>().join(" ")
    };
    check_equal("the first tasks", keys(&first), "0 1 3 5".to_owned())?;
    let (second, _) = claim_limited(bench, both).await?;
    check_equal("the next tasks", keys(&second), "7 9 11".to_owned())
}

/// Returns the largest number of times in a period.
fn most_in(period: Duration, times: &[Time]) -> usize {
    let within = |first: &Time| {
        let end = first.after(period);
        times
            .iter()
            .filter(|time| *time >= first && **time < end)
            .count()
    };
    times.iter().map(within).max().unwrap_or_default()
}

async fn rate(bench: &Bench) -> CheckResult {
    limit(bench, "q", TaskLimit::new().rate(4, PERIOD)).await?;
    submit(bench, 0..60).await?;
    let mut times: Vec<Time> = Vec::new();
    // Several at once, one after the other, and what comes back after a failure.
    for most in (1..=5).cycle().take(5_000) {
        let now = bench.now().await?;
        let sent = Instant::now();
        let claimed = claim_some(bench, most).await?;
        let counts = |at: &&Time| now.since(**at) < PERIOD * 21 / 20;
        let room = 4_usize.saturating_sub(times.iter().filter(counts).count());
        let wanted = room.min(usize::try_from(most).unwrap_or_default());
        // A claim that takes long gives way to others.
        if sent.elapsed() < PERIOD / 2 {
            let what = format!("{} instead of {wanted} tasks", claimed.len());
            check_that(&what, claimed.len() >= wanted)?;
        }
        times.extend(claimed.iter().map(|one| one.now));
        for one in &claimed {
            let state = if one.task.id.0 % 2 == 0 {
                State::Processed
            } else {
                State::Pending
            };
            set_state(bench, one, change_to(state)).await?;
        }
        if times.len() >= 16 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    check_that("four periods were used", times.len() >= 16)?;
    check_equal("the most in a period", most_in(PERIOD, &times), 4)
}

async fn says_when(bench: &Bench) -> CheckResult {
    limit(bench, "q", TaskLimit::new().rate(1, PERIOD)).await?;
    submit(bench, 0..9).await?;
    let mut times = Vec::new();
    while times.len() < 4 {
        let (claimed, again) = claim_limited(bench, claim("a", 9)).await?;
        check_equal("tasks when it was time", claimed.len(), 1)?;
        times.extend(claimed.iter().map(|one| one.now));
        let again = again.ok_or("there may be more later")?;
        let now = bench.now().await?;
        check_that(
            "it is later",
            again > Duration::ZERO && again <= PERIOD * 21 / 20,
        )?;
        bench.wait_until_past(now.after(again)).await?;
    }
    check_equal("the most in a period", most_in(PERIOD, &times), 1)
}

async fn set_later(bench: &Bench) -> CheckResult {
    submit(bench, 0..20).await?;
    let held = claim_some(bench, 4).await?;
    limit(bench, "q", TaskLimit::new().concurrency(5)).await?;
    check_claimed(bench, "tasks beside four", 1).await?;
    limit(bench, "q", TaskLimit::new().concurrency(2)).await?;
    for one in &held[..3] {
        check_claimed(bench, "tasks beside more than two", 0).await?;
        set_state(bench, one, change_to(State::Processed)).await?;
    }
    check_claimed(bench, "tasks beside two", 0).await?;
    set_state(bench, &held[3], change_to(State::Processed)).await?;
    check_claimed(bench, "tasks beside one", 1).await?;
    limit(bench, "q", TaskLimit::new().concurrency(9).rate(3, LONG)).await?;
    check_claimed(bench, "tasks of a rate", 3).await?;
    limit(bench, "q", TaskLimit::new().concurrency(9).rate(4, LONG)).await?;
    check_claimed(bench, "tasks of a higher rate", 1).await?;
    limit(bench, "q", TaskLimit::new()).await?;
    check_claimed(bench, "tasks without limits", 9).await
}

async fn shown(bench: &Bench) -> CheckResult {
    let one = TaskLimit::new().concurrency(7);
    let both = one.rate(50, Duration::from_secs(1));
    limit(bench, "r", one).await?;
    limit(bench, "q", one).await?;
    limit(bench, "q", both).await?;
    bench.submit(new("1")).await?;
    let shown = async || {
        let queues = bench.other.queues().await.map_err(to_message)?.into_iter();
        let queues = queues.map(|status| (status.queue, status.pending, status.limit));
        Ok::<Vec<_>, String>(queues.collect())
    };
    let wanted = [("q".to_owned(), 1, both), ("r".to_owned(), 0, one)];
    check_equal("queues", shown().await?, wanted.to_vec())?;
    limit(bench, "q", TaskLimit::new()).await?;
    limit(bench, "r", TaskLimit::new()).await?;
    let wanted = [("q".to_owned(), 1, TaskLimit::new())];
    check_equal("queues without limits", shown().await?, wanted.to_vec())
}

/// Claims and ends tasks until there are no more, and returns when each was held.
async fn work(
    store: Arc<dyn Store>,
    worker: &'static str,
    left: Arc<AtomicU32>,
) -> CheckResult<Vec<(Time, Time)>> {
    let mut held = Vec::new();
    while left.load(Ordering::Relaxed) > 0 {
        let mut results = write_at_last(&*store, [Write::Claim(claim(worker, 4))]).await?;
        let Some(WriteResult::Claimed(claimed, _)) = results.pop() else {
            return Err(format!("the results of a claim are {results:?}"));
        };
        tokio::time::sleep(Duration::from_millis(1)).await;
        for one in claimed {
            let end = [change(lease(&one), change_to(State::Processed))];
            let mut results = write_at_last(&*store, end).await?;
            match results.pop() {
                Some(WriteResult::Written(status)) => held.push((one.now, status.now)),
                result => return Err(format!("the result of an end is {result:?}")),
            }
            left.fetch_sub(1, Ordering::Relaxed);
        }
    }
    Ok(held)
}

async fn never_more(bench: &Bench) -> CheckResult {
    let limits = TaskLimit::new().concurrency(3).rate(12, PERIOD);
    limit(bench, "q", limits).await?;
    submit(bench, 0..40).await?;
    let workers = [(&bench.one, "a"), (&bench.other, "b"), (&bench.one, "c")];
    let left = Arc::new(AtomicU32::new(40));
    // One after the other: later each may find the store busy.
    for (store, name) in workers {
        let id = WorkerId(name.to_owned());
        store.heartbeat(id, LONG, None).await.map_err(to_message)?;
    }
    let workers = workers.map(|(store, name)| {
        let working = work(Arc::clone(store), name, Arc::clone(&left));
        tokio::spawn(tokio::time::timeout(LONG / 10, working))
    });
    let mut held = Vec::new();
    for worker in workers {
        let worked = worker.await.map_err(|error| error.to_string())?;
        held.extend(worked.map_err(|_| "tasks are left after a minute".to_owned())??);
    }
    check_equal("tasks that have ended", held.len(), 40)?;
    let times: Vec<_> = held.iter().map(|(from, _)| *from).collect();
    let most = most_in(PERIOD, &times);
    check_that(&format!("the most in a period: {most}"), most <= 12)?;
    // An end comes before what it makes room for.
    let ends = held.iter().map(|(_, until)| (*until, -1));
    let mut changes: BTreeMap<Time, i32> = BTreeMap::new();
    for (time, change) in times.iter().map(|from| (*from, 1)).chain(ends) {
        *changes.entry(time).or_default() += change;
    }
    let sums = changes.values().scan(0, |sum, change| {
        *sum += change;
        Some(*sum)
    });
    let most = sums.max().unwrap_or_default();
    check_that(&format!("the most at once: {most}"), most <= 3)
}
