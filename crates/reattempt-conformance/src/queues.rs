//! What the queues have to do.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, SHORT, change, change_to, check_equal, check_that, lease, new,
    sentences, to_message,
};
use reattempt_supervisor::store::{Change, QueueStatus, Wake};
use reattempt_supervisor::{NewTask, State};

sentences! {
    "queues have the tasks that could run, run, and are parked, and how long the oldest has waited" => queues,
}

/// Returns the numbers of all queues, without times.
async fn numbers(bench: &Bench) -> CheckResult<Vec<(String, [u64; 3])>> {
    let found = bench.other.queues().await.map_err(to_message)?.into_iter();
    let numbers = found.map(|status| {
        let QueueStatus {
            queue,
            pending,
            in_flight,
            parked,
            ..
        } = status;
        (queue, [pending, in_flight, parked])
    });
    Ok(numbers.collect())
}

async fn queues(bench: &Bench) -> CheckResult {
    check_equal("queues of an empty store", numbers(bench).await?, vec![])?;
    // Claims take tasks of the queue `q`.
    for (state, wake) in [
        (State::Parked, Wake::In(Duration::ZERO)),
        (State::Processed, Wake::In(Duration::ZERO)),
        (State::Waiting, Wake::In(LONG)),
        (State::Pending, Wake::In(LONG)),
    ] {
        let held = bench.claim_new("a").await?;
        let change_to = Change {
            wake,
            ..change_to(state)
        };
        bench.write_held(change(lease(&held), change_to)).await?;
    }
    bench.claim_new("a").await?;
    for (key, queue, workflow, priority, delay) in [
        ("1", "q", "w", 0, Duration::ZERO),
        ("2", "q", "v", 0, Duration::ZERO),
        ("3", "q", "w", 1, Duration::ZERO),
        ("4", "q", "w", 0, LONG),
        ("5", "r", "w", 0, Duration::ZERO),
        ("6", "sleeping", "w", 0, LONG),
    ] {
        let task = NewTask {
            queue: queue.to_owned(),
            workflow: workflow.to_owned(),
            priority,
            delay,
            ..new(key)
        };
        bench.submit(task).await?;
    }
    let last = bench.submit(new("7")).await?;
    let submitted = bench.task(last).await?.created_at;
    let wanted = [("q", [4, 1, 1]), ("r", [1, 0, 0])];
    let wanted = wanted.map(|(queue, numbers)| (queue.to_owned(), numbers));
    check_equal("queues", numbers(bench).await?, wanted.to_vec())?;
    bench.wait_until_past(submitted.after(SHORT)).await?;
    let found = bench.other.queues().await.map_err(to_message)?;
    // The clock is a queue of new tasks.
    for status in found.iter().filter(|status| status.queue != "clock") {
        let is_new = !(SHORT..LONG).contains(&status.oldest);
        check_that("the oldest has waited for a moment", !is_new)?;
    }
    Ok(())
}
