//! The feed of ends.

use std::time::Duration;

use super::bench::{
    Bench, CheckResult, LONG, change, change_to, check_equal, check_that, lease, new, record,
    sentences, sweep_at_once, to_message,
};
use reattempt_supervisor::store::{
    AdminCommand, Change, Ending, FeedCursor, FeedPage, Write, WriteResult,
};
use reattempt_supervisor::{NewTask, RecordKind, Retention, State, Task, TaskId};

sentences! {
    "each end writes a line of the feed, which says what the task was then" => writes_a_line,
    "ends by operators, by parents and by supervisors write lines, too" => whoever_ends_it,
    "a task that ends again has another line, and nothing else writes one" => again,
    "a reader gets the same lines until it is moved, and at most `limit`" => until_it_moves,
    "readers do not affect each other" => several_readers,
    "a reader that was moved since a page was read does not move to it" => moved_since,
    "old lines are deleted, at most `limit`, and a reader that has not got them learns how many" => prunes,
    "a new reader begins with the oldest line that is left" => begins,
}

const READER: &str = "billing's";

impl Bench {
    /// Returns the next lines of a reader, on the other connection.
    async fn page(&self, reader: &str, limit: u32) -> CheckResult<FeedPage> {
        let page = self.other.read_feed(reader.to_owned(), limit, true).await;
        page.map_err(to_message)
    }

    /// Returns the tasks of the next lines of a reader, and their states.
    async fn lines(&self, reader: &str) -> CheckResult<Vec<(TaskId, State)>> {
        let page = self.page(reader, 1_000).await?;
        let lines = page.endings.iter();
        Ok(lines.map(|line| (line.task, line.state)).collect())
    }

    async fn move_to(&self, reader: &str, to: &FeedCursor, reported: u64) -> CheckResult<bool> {
        let moved = self
            .one
            .move_reader(reader.to_owned(), to.clone(), reported);
        moved.await.map_err(to_message)
    }

    /// Moves a reader past all lines.
    async fn pass(&self, reader: &str) -> CheckResult {
        let next = self.page(reader, 1_000).await?.next;
        check_that("the reader moves", self.move_to(reader, &next, 0).await?)
    }

    /// Claims a new task, and ends it in this state.
    async fn end(&self, state: State) -> CheckResult<TaskId> {
        let held = self.claim_new("a").await?;
        self.give_state(&held, state).await?;
        Ok(held.task.id)
    }

    async fn prune_feed(&self, age: Duration, limit: u32, wanted: u64) -> CheckResult {
        let pruned = self.write_one(Write::PruneFeed(age, limit)).await?;
        check_equal("the deleted lines", pruned, WriteResult::Pruned(wanted))
    }
}

/// Returns the line of a task that has ended.
fn line_of(number: i64, task: Task) -> Ending {
    Ending {
        number,
        task: task.id,
        workflow: task.workflow,
        queue: task.queue,
        key: task.key,
        state: task.state,
        error: task.error,
        headers: task.headers,
        at: task.updated_at,
    }
}

async fn writes_a_line(bench: &Bench) -> CheckResult {
    bench.heartbeat("a", LONG).await?;
    let ends = State::ALL.into_iter().filter(|state| state.is_end());
    for state in ends {
        let task = NewTask {
            headers: Some(r#"{"tenant":"it's 7","n":7}"#.to_owned()),
            ..new(state.as_str())
        };
        bench.submit(task).await?;
        let held = bench.claim_one("a").await?;
        let end = Change {
            error: (state != State::Processed).then(|| "it 'broke': \u{e4}".to_owned()),
            ..change_to(state)
        };
        bench.write_held(change(lease(&held), end)).await?;
        let page = bench.page(READER, 9).await?;
        let [line] = &*page.endings else {
            return Err(format!("the lines are {:?}", page.endings));
        };
        let wanted = line_of(line.number, bench.task(held.task.id).await?);
        check_equal("the line", line, &wanted)?;
        check_equal(
            "its headers",
            ["tenant", "n", "m"].map(|name| line.header(name)),
            [Some("it's 7".to_owned()), Some("7".to_owned()), None],
        )?;
        check_that("numbers rise", line.number > page.cursor.number)?;
        bench.pass(READER).await?;
    }
    Ok(())
}

async fn whoever_ends_it(bench: &Bench) -> CheckResult {
    let mut wanted = Vec::new();
    bench.page(READER, 1).await?;
    // A supervisor. No worker has a lease yet, for which it would wait.
    let deadly = bench.submit(new("deadly")).await?;
    for _ in 1..=21 {
        bench.claim_any("nobody").await?;
        let reclaimed = bench.one.sweep(sweep_at_once(9)).await;
        check_equal("reclaimed tasks", reclaimed.map_err(to_message)?.len(), 1)?;
    }
    wanted.push((deadly, State::Parked));
    // Operators.
    let parked = bench.submit(new("parked")).await?;
    let park = AdminCommand::Park("it 'must' wait".to_owned());
    bench.command(parked, park).await?;
    wanted.push((parked, State::Parked));
    let give_up = AdminCommand::Signed {
        command: Box::new(AdminCommand::GiveUp),
        by: "Ada".to_owned(),
        why: String::new(),
    };
    bench.command(parked, give_up).await?;
    wanted.push((parked, State::Cancelled));
    let cancelled = bench.submit(new("cancelled")).await?;
    bench.command(cancelled, AdminCommand::Cancel).await?;
    wanted.push((cancelled, State::Cancelled));
    // A parent.
    let parent = bench.claim_new("a").await?;
    let Write::Record(held, start) = record(lease(&parent), 1, RecordKind::Done) else {
        return Err("a record".to_owned());
    };
    let start = Write::Start(held, start, Box::new(new("child")));
    let WriteResult::Started(_, child) = bench.write_one(start).await? else {
        return Err("the child has not started".to_owned());
    };
    let end = Write::EndChildren {
        lease: lease(&parent),
        children: vec![child],
        undo: false,
    };
    bench.write_one(end).await?;
    wanted.push((child, State::Cancelled));
    check_equal("the lines", bench.lines(READER).await?, wanted)
}

async fn again(bench: &Bench) -> CheckResult {
    let held = bench.claim_new("a").await?;
    let id = held.task.id;
    bench.page(READER, 1).await?;
    let end = change(lease(&held), change_to(State::Error));
    for _ in 0..2 {
        bench.write_held(end.clone()).await?;
    }
    bench.command(id, AdminCommand::Resubmit).await?;
    let held = bench.claim_one("a").await?;
    bench
        .write_held(record(lease(&held), 0, RecordKind::Done))
        .await?;
    let wait = change(lease(&held), change_to(State::Pending));
    bench.write_held(wait).await?;
    let held = bench.claim_one("a").await?;
    let end = change(lease(&held), change_to(State::Error));
    bench.write_held(end).await?;
    // Refused.
    bench
        .write_one(Write::Admin(id, AdminCommand::Cancel))
        .await?;
    let keeps = Retention {
        keys: LONG,
        ..Retention::from(Duration::ZERO)
    };
    for wanted in [1, 0] {
        let pruned = bench.write_one(Write::Prune(keeps, 9)).await?;
        check_equal("the pruned tasks", pruned, WriteResult::Pruned(wanted))?;
    }
    check_equal(
        "the lines",
        bench.lines(READER).await?,
        vec![(id, State::Error); 2],
    )
}

async fn until_it_moves(bench: &Bench) -> CheckResult {
    let mut ids = Vec::new();
    bench.page(READER, 1).await?;
    for _ in 0..5 {
        ids.push(bench.end(State::Processed).await?);
    }
    let mut got = Vec::new();
    for wanted in [2, 2, 1, 0] {
        let page = bench.page(READER, 2).await?;
        check_equal("the same page", &bench.page(READER, 2).await?, &page)?;
        check_equal("the lines", page.endings.len(), wanted)?;
        check_equal("what it has missed", page.missed, 0)?;
        got.extend(page.endings.iter().map(|line| line.task));
        let has_moved = bench.move_to(READER, &page.next, 0).await?;
        check_that("the reader moves", has_moved)?;
    }
    check_equal("the tasks", got, ids)
}

async fn several_readers(bench: &Bench) -> CheckResult {
    for reader in ["one", "two"] {
        bench.page(reader, 1).await?;
    }
    let first = bench.end(State::Processed).await?;
    bench.pass("one").await?;
    let second = bench.end(State::Error).await?;
    let (first, second) = ((first, State::Processed), (second, State::Error));
    check_equal("the first", bench.lines("one").await?, vec![second])?;
    check_equal("the second", bench.lines("two").await?, vec![first, second])
}

async fn moved_since(bench: &Bench) -> CheckResult {
    bench.page(READER, 1).await?;
    let first = bench.end(State::Processed).await?;
    let early = bench.page(READER, 9).await?;
    let second = bench.end(State::Processed).await?;
    let late = bench.page(READER, 9).await?;
    let wanted = vec![first, second];
    let tasks: Vec<_> = late.endings.iter().map(|line| line.task).collect();
    check_equal("the tasks", tasks, wanted)?;
    for (page, wanted) in [(&late, true), (&early, false), (&late, false)] {
        let moved = bench.move_to(READER, &page.next, 0).await?;
        check_equal("whether it moves", moved, wanted)?;
    }
    check_equal("the lines", bench.lines(READER).await?, Vec::new())?;
    let moved = bench.move_to("nobody", &early.next, 0).await?;
    check_that("nobody does not move", !moved)
}

async fn prunes(bench: &Bench) -> CheckResult {
    for reader in ["ahead", "behind"] {
        bench.page(reader, 1).await?;
    }
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(bench.end(State::Processed).await?);
    }
    let behind = bench.page("behind", 1).await?;
    let has_moved = bench.move_to("behind", &behind.next, 0).await?;
    check_that("the reader moves", has_moved)?;
    bench.pass("ahead").await?;
    for (age, limit, wanted) in [
        (LONG, 9, 0),
        (Duration::MAX, 9, 0),
        (Duration::ZERO, 3, 3),
        (Duration::ZERO, 1, 1),
    ] {
        bench.prune_feed(age, limit, wanted).await?;
    }
    let page = bench.page("behind", 9).await?;
    check_equal("what it has missed", page.missed, 3)?;
    let tasks: Vec<_> = page.endings.iter().map(|line| line.task).collect();
    check_equal("what is left", tasks, vec![ids[4]])?;
    check_equal("the reader ahead", bench.page("ahead", 9).await?.missed, 0)?;
    // Two are reported, and it stays.
    let has_moved = bench.move_to("behind", &page.cursor, 2).await?;
    check_that("the reader moves", has_moved)?;
    bench.prune_feed(Duration::ZERO, 9, 1).await?;
    bench.prune_feed(Duration::ZERO, 9, 0).await?;
    let page = bench.page("behind", 9).await?;
    check_equal("what it has missed", page.missed, 2)?;
    check_equal("what is left", page.endings, Vec::new())?;
    let task = bench.end(State::Processed).await?;
    let line = vec![(task, State::Processed)];
    check_equal("a later line", bench.lines("behind").await?, line)
}

async fn begins(bench: &Bench) -> CheckResult {
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push((bench.end(State::Processed).await?, State::Processed));
    }
    check_equal("all", bench.lines("early").await?, ids.clone())?;
    bench.prune_feed(Duration::ZERO, 2, 2).await?;
    let page = bench.page("late", 9).await?;
    check_equal("what it has missed", page.missed, 0)?;
    check_equal("its gaps", page.next.gaps, Vec::new())?;
    check_equal(
        "what is left",
        bench.lines("late").await?,
        ids[2..].to_vec(),
    )
}
