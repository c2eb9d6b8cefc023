//! Reads.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, check_equal, check_that, claim, lease, new, record, sentences,
    to_message,
};
use reattempt_supervisor::store::{AdminCommand, Claim, Filter, Write};
use reattempt_supervisor::{
    Fence, Lease, NewTask, Record, RecordKind, Signal, State, TaskId, Time,
};

sentences! {
    "the pages of a history are the history, and each has the fence of the task" => history_pages,
    "the pages of signals are the signals" => signals_pages,
    "a page has 1 MB, or a single larger record" => page_sizes,
    "a missing task is not found" => nothing,
    "tasks are listed with the newest first, at most `limit`, page by page" => pages,
    "tasks are listed by state, workflow and queue" => filters,
    "the counts are the numbers of tasks in each state" => counts,
    "workflows that are not known are found by queue and version, once their tasks have been ready for so long" => unknown,
    "two connections to one store have the same salt" => salt,
}

async fn unknown(bench: &Bench) -> CheckResult {
    let waited = Duration::from_millis(20);
    let find = async |known: &[(&str, i32)], waited| {
        let queues = ["q", "r"].map(str::to_owned).to_vec();
        let known = known
            .iter()
            .map(|(name, version)| ((*name).to_owned(), *version));
        let found = bench
            .other
            .unknown_workflows(queues, known.collect(), waited)
            .await;
        let found = found.map_err(to_message)?.into_iter();
        let found = found.map(|one| {
            check_that("they have waited for so long", one.waited >= waited)?;
            Ok((one.queue, one.workflow, one.version))
        });
        found.collect::<CheckResult<Vec<_>>>()
    };
    let group =
        |queue: &str, workflow: &str, version| (queue.to_owned(), workflow.to_owned(), version);
    let mut newest = Time::default();
    for (nth, (queue, workflow, version, priority, delay)) in [
        ("q", "w", 1, 0, Duration::ZERO),
        ("q", "w", 2, 5, LONG),
        ("q", "w", 2, 6, Duration::ZERO),
        ("q", "w", 2, -6, LONG),
        ("q", "sleeping", 1, 0, LONG),
        ("r", "v", 1, 1, Duration::ZERO),
        ("r", "v", 1, 1, Duration::ZERO),
        ("elsewhere", "w", 3, 0, Duration::ZERO),
    ]
    .into_iter()
    .enumerate()
    {
        let task = NewTask {
            queue: queue.to_owned(),
            workflow: workflow.to_owned(),
            version,
            priority,
            delay,
            ..new(&nth.to_string())
        };
        let id = bench.submit(task).await?;
        newest = bench.task(id).await?.created_at;
    }
    check_equal(
        "what has waited for an hour",
        find(&[], LONG).await?,
        Vec::new(),
    )?;
    bench.wait_until_past(newest.after(waited)).await?;
    let all = vec![group("q", "w", 1), group("q", "w", 2), group("r", "v", 1)];
    check_equal("all unknown workflows", find(&[], waited).await?, all)?;
    let known = [("w", 1), ("v", 2), ("v", 1)];
    check_equal(
        "the unknown version",
        find(&known, waited).await?,
        vec![group("q", "w", 2)],
    )?;
    let claim = Claim {
        workflows: vec![("w".to_owned(), 2)],
        ..claim("a", 9)
    };
    check_equal(
        "the number of claimed tasks",
        bench.claim_with(claim).await?.len(),
        1,
    )?;
    check_equal(
        "nothing after the claim",
        find(&known, waited).await?,
        Vec::new(),
    )
}

async fn nothing(bench: &Bench) -> CheckResult {
    let id = TaskId(1_000_000);
    check_equal(
        "a task",
        bench.one.task(id).await.map_err(to_message)?,
        None,
    )?;
    check_equal(
        "its history",
        bench.one.history(id).await.map_err(to_message)?,
        Vec::new(),
    )?;
    check_equal(
        "its signals",
        bench.one.signals(id).await.map_err(to_message)?,
        Vec::new(),
    )?;
    check_equal(
        "tasks",
        bench
            .one
            .list(Filter::default())
            .await
            .map_err(to_message)?,
        Vec::new(),
    )?;
    check_equal("an empty list", bench.write([]).await?, Vec::new())?;
    check_equal(
        "counts",
        bench.one.counts().await.map_err(to_message)?,
        Vec::new(),
    )
}

pub(crate) async fn list_ids(bench: &Bench, filter: Filter) -> CheckResult<Vec<TaskId>> {
    let tasks = bench.other.list(filter).await.map_err(to_message)?;
    Ok(tasks.into_iter().map(|task| task.id).collect())
}

async fn pages(bench: &Bench) -> CheckResult {
    let mut ids = Vec::new();
    for nth in 0..105 {
        ids.push(bench.submit(new(&nth.to_string())).await?);
    }
    ids.reverse();
    let first: Vec<_> = ids.iter().copied().take(100).collect();
    check_equal("a list", list_ids(bench, Filter::default()).await?, first)?;
    let mut found = Vec::new();
    loop {
        let before = found.last().copied();
        let page = list_ids(
            bench,
            Filter {
                before,
                limit: 20,
                ..Filter::default()
            },
        )
        .await?;
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    check_equal("all pages", found, ids)
}

async fn filters(bench: &Bench) -> CheckResult {
    for state in State::ALL {
        let held = bench.claim_new("a").await?;
        bench.give_state(&held, state).await?;
        let found = list_ids(
            bench,
            Filter {
                state: Some(state),
                ..Filter::default()
            },
        )
        .await?;
        check_equal(state.as_str(), found, vec![held.task.id])?;
    }
    let other = NewTask {
        workflow: "other".to_owned(),
        queue: "r".to_owned(),
        ..new("other")
    };
    let other = bench.submit(other).await?;
    let workflow = Some("other".to_owned());
    check_equal(
        "by workflow",
        list_ids(
            bench,
            Filter {
                workflow: workflow.clone(),
                ..Filter::default()
            },
        )
        .await?,
        vec![other],
    )?;
    let queue = Some("r".to_owned());
    check_equal(
        "by queue",
        list_ids(
            bench,
            Filter {
                queue: queue.clone(),
                ..Filter::default()
            },
        )
        .await?,
        vec![other],
    )?;
    let both = Filter {
        state: Some(State::Error),
        workflow,
        queue,
        ..Filter::default()
    };
    check_equal("by all three", list_ids(bench, both).await?, Vec::new())
}

async fn counts(bench: &Bench) -> CheckResult {
    let mut wanted = Vec::new();
    for (nth, state) in (1..).zip(State::ALL) {
        for _ in 0..nth {
            let held = bench.claim_new("a").await?;
            bench.give_state(&held, state).await?;
        }
        wanted.push((state, nth));
    }
    let mut found = bench.other.counts().await.map_err(to_message)?;
    found.retain(|(_, count)| *count > 0);
    found.sort_by_key(|(state, _)| *state);
    check_equal("the counts", found, wanted)
}

async fn salt(bench: &Bench) -> CheckResult {
    bench.submit(new("a")).await?;
    check_equal("the number", bench.one.salt(), bench.other.salt())
}

/// Reads all pages after a claim. Returns the number of records of each page, and the records.
async fn read_pages(bench: &Bench, held: Lease) -> CheckResult<(Vec<usize>, Vec<Record>)> {
    let mut sizes = Vec::new();
    let mut records: Vec<Record> = Vec::new();
    loop {
        let after = records.last().map(|record| (record.seq, record.kind));
        let page = bench.other.history_page(held.task, after).await;
        let page = page.map_err(to_message)?.ok_or("the task is not there")?;
        check_equal("the fence of a page", page.fence, held.fence)?;
        sizes.push(page.items.len());
        records.extend(page.items);
        if page.is_last {
            return Ok((sizes, records));
        }
        check_that("a page has a record", sizes.last() != Some(&0))?;
    }
}

async fn history_pages(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let own = lease(&held);
    let (sizes, records) = read_pages(bench, own).await?;
    check_equal("nothing", (sizes, records), (vec![0], Vec::new()))?;
    let mut writes = Vec::new();
    for seq in 0..50 {
        for kind in [RecordKind::Begun, RecordKind::Done, RecordKind::Undone] {
            let Write::Record(_, mut line) = record(own, seq, kind) else {
                continue;
            };
            // The order of events is not that of the calls.
            line.ord = 1_000 * (2 - i32::from(kind.number()).min(2)) + (100 - seq);
            writes.push(Write::Record(own, line));
        }
    }
    bench.write(writes).await?;
    let (_, mut records) = read_pages(bench, own).await?;
    check_that(
        "the records are in the order of their calls",
        records.is_sorted_by_key(|record| (record.seq, record.kind)),
    )?;
    records.sort_by_key(|record| record.ord);
    check_equal("the records", records, bench.history(own.task).await?)?;
    bench
        .command(own.task, AdminCommand::Park("wait".to_owned()))
        .await?;
    let page = bench.one.history_page(own.task, None).await;
    let fence = page.map_err(to_message)?.map(|page| page.fence);
    check_equal("the fence after it was parked", fence, Some(Fence(2)))?;
    let nobody = bench.one.history_page(TaskId(1_000_000), None).await;
    check_equal(
        "a task that is not there",
        nobody.map_err(to_message)?,
        None,
    )
}

async fn signals_pages(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    let empty = bench.one.signals_page(id, 0).await.map_err(to_message)?;
    let empty = empty.map(|page| (page.items.len(), page.is_last, page.fence));
    check_equal("no signals", empty, Some((0, true, held.task.fence)))?;
    for nth in 0..5 {
        let large = Write::Signal {
            task: id,
            name: format!("s{nth}"),
            payload: format!("\"{}\"", "x".repeat(700_000)),
            nonce: rand::random(),
        };
        bench.write_one(large).await?;
    }
    let mut signals: Vec<Signal> = Vec::new();
    loop {
        let after = signals.last().map_or(0, |signal| signal.id);
        let page = bench.one.signals_page(id, after).await;
        let page = page.map_err(to_message)?.ok_or("the task is not there")?;
        check_equal("the signals of a page", page.items.len(), 1)?;
        signals.extend(page.items);
        if page.is_last {
            break;
        }
    }
    let all = bench.other.signals(id).await.map_err(to_message)?;
    check_equal("the signals", signals, all)
}

async fn page_sizes(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let own = lease(&held);
    // The sizes in kB.
    for (seq, size) in (0..).zip([400, 400, 400, 3_000, 1, 1, 900]) {
        let Write::Record(_, mut line) = record(own, seq, RecordKind::Done) else {
            continue;
        };
        line.result = Some(format!("\"{}\"", "x".repeat(size * 1_000)));
        bench.write_held(Write::Record(own, line)).await?;
    }
    let (sizes, records) = read_pages(bench, own).await?;
    check_equal("the records", records, bench.history(own.task).await?)?;
    check_equal("records in each page", sizes, vec![2, 1, 1, 3])
}
