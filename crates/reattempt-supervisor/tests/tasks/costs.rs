//! What the statements of a store on PostgreSQL read beside few tasks and beside many: the same.
//!
//! `cargo test -p reattempt-supervisor --test tasks -- costs:: --ignored --nocapture` takes 200,000 and 1,000,000 tasks
//! that wait, beside a million that have ended, and prints a table.
#![cfg(feature = "postgres")]

use std::time::Duration;

use crate::kit;
use crate::servers::Server;
use reattempt_supervisor::store::{
    AdminCommand, Change, Claim, Filter, Fork, Missed, NextGeneration, Resolution, ScheduleState,
    ScheduleWrite, Store as _, StoredSchedule, Sweep, Verdict, Wake, Write, WriteResult,
};
use reattempt_supervisor::{
    Fence, Lease, NewTask, Origin, Postgres, Retention, RunningStep, State, TaskId, Time, WorkerId,
};

/// How many tasks have ended.
struct Size {
    ended: u32,
    /// How many wait in the smaller store, and in the larger one.
    pending: [u32; 2],
    /// How many changes in place are counted.
    changes: u32,
}

/// The columns of a task, and its values after `id`: workflow, key, state, wake-up time and owner.
const INSERT: &str = "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, fence, failures,
    max_failures, cancel_asked, input, created_at, updated_at, owner, error, headers)";

/// Adds tasks, in this order: some that have ended, some of each other state, those that wait, and older
/// ones that are kept for their keys.
fn load(ended: u32, pending: u32) -> String {
    let kept = INSERT.replacen('(', "(id, ", 1);
    format!(
        "{INSERT} SELECT 'plain', 1, 'default', nth % 3, 'ended ' || nth, 3, 0, 0, 2, 0, 3, false, '[]', nth, nth, NULL, NULL, '{{\"tenant\":7}}'
             FROM generate_series(1, {ended}) AS nth;
         {INSERT} SELECT 'plain', 1, 'default', 0, 'in ' || state || nth, state, 0, 0, 1, 0, 3, false, '[]', 1, 5000,
                 CASE state WHEN 1 THEN 'one' END, CASE WHEN state > 3 THEN 'it broke' END, '{{\"tenant\":7}}'
             FROM (VALUES (1), (2), (4), (5), (6), (7), (8)) AS states (state), generate_series(1, 20) AS nth ORDER BY state, nth;
         {INSERT} SELECT 'plain', 1, 'default', nth % 3, 'waits ' || nth, 0, 0, 0, 0, 0, 3, false, '[]', nth, nth, NULL, 'it broke', '{{\"tenant\":7}}'
             FROM generate_series(1, {pending}) AS nth;
         {kept} SELECT -nth, 'plain', 1, 'default', 0, 'pruned ' || nth, 8, 0, 0, 2, 0, 3, false, 'null', nth, 9000000000000000 + nth, NULL, NULL, NULL
             FROM generate_series(1, {ended} / 2) AS nth;
         INSERT INTO retry_step (run_id, seq, kind, ord, name, attempts, error, at, fence)
             SELECT id, 0, CASE state WHEN 7 THEN 0 ELSE 2 END, 0, 'one', 1, 'it broke', 0, 1 FROM retry_run WHERE state IN (4, 7);
         INSERT INTO retry_feed (run_id, workflow, queue, idem_key, state, at)
             SELECT id, workflow, queue, idem_key, state, updated_at FROM retry_run WHERE state BETWEEN 3 AND 7 ORDER BY updated_at;
         INSERT INTO retry_signal (run_id, name, payload) SELECT id, 'one', '1' FROM retry_run WHERE state = 2;
         INSERT INTO retry_worker VALUES ('one', 9000000000000000, 10000000)"
    )
}

/// What an operation has read.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Pages of tables and indexes.
    buffers: i64,
    /// Tables that were read from one end to the other.
    scans: i64,
}

/// `retry_worker` and `retry_writer` have a line for each process, `retry_feed_reader` for each reader, and are read from
/// one end.
const READ: &str = "SELECT sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0))::bigint, (
        SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables WHERE relname NOT IN ('retry_meta', 'retry_worker', 'retry_writer', 'retry_feed_reader')
    ) FROM pg_statio_user_tables WHERE relname <> 'retry_meta'";

/// A server whose operations are measured.
struct Measured {
    server: Server,
    admin: tokio_postgres::Client,
    costs: Vec<(&'static str, Cost)>,
}

impl Measured {
    async fn new(ended: u32, pending: u32) -> Option<Self> {
        let server = Server::postgres_with(&["-c", "autovacuum=off", "-c", "max_wal_size=4GB"])?;
        drop(Postgres::connect(&server.url()).await.unwrap());
        let loader = kit::session(&server.url()).await;
        loader.batch_execute(&load(ended, pending)).await.unwrap();
        loader.batch_execute("VACUUM ANALYZE").await.unwrap();
        drop(loader);
        let admin = kit::session(&server.url()).await;
        let this = Self {
            server,
            admin,
            costs: Vec::new(),
        };
        this.wait_for_others().await;
        Some(this)
    }

    /// Waits until all other connections have ended: then they say what they have read.
    async fn wait_for_others(&self) {
        let alone =
            "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'";
        let waiting = async {
            while !self
                .admin
                .query_one(alone, &[])
                .await
                .unwrap()
                .get::<_, bool>(0)
            {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), waiting)
            .await
            .expect("connections end");
    }

    async fn read(&self) -> Cost {
        let row = self.admin.query_one(READ, &[]).await.unwrap();
        Cost {
            buffers: row.get(0),
            scans: row.get(1),
        }
    }

    /// Measures an operation on a new connection.
    async fn of(&mut self, name: &'static str, operation: impl AsyncFnOnce(&Postgres)) {
        let before = self.read().await;
        let store = Postgres::connect(&self.server.url()).await.unwrap();
        operation(&store).await;
        drop(store);
        self.wait_for_others().await;
        let after = self.read().await;
        let cost = Cost {
            buffers: after.buffers - before.buffers,
            scans: after.scans - before.scans,
        };
        self.costs.push((name, cost));
    }

    /// Measures writes of one transaction.
    async fn write(&mut self, name: &'static str, writes: Vec<Write>) {
        self.of(name, async |store| {
            let results = store.write(writes.into()).await.unwrap();
            assert!(!results.contains(&WriteResult::Lost), "{name}: {results:?}");
        })
        .await;
    }

    /// Measures a list that has tasks.
    async fn list(&mut self, name: &'static str, filter: Filter) {
        self.of(name, async |store| {
            let found = store.list(filter).await.unwrap();
            assert!(!found.is_empty(), "{name}");
        })
        .await;
    }
}

/// The tasks of [`load`] in each state, by their numbers.
struct Tasks(i64);

impl Tasks {
    /// Returns task `nth` of the 20 in a state.
    fn of(&self, state: State, nth: i64) -> TaskId {
        let states = [
            State::Processing,
            State::Waiting,
            State::Error,
            State::Compensated,
            State::Cancelled,
            State::Parked,
        ];
        let block = states.iter().position(|one| *one == state).unwrap();
        TaskId(self.0 + 1 + 20 * i64::try_from(block).unwrap() + nth)
    }

    fn held(&self, nth: i64) -> Lease {
        Lease {
            task: self.of(State::Processing, nth),
            fence: Fence(1),
        }
    }
}

fn change(lease: Lease, state: State, wake: Wake) -> Write {
    let change = Change {
        wake,
        ..kit::change_to(state)
    };
    Write::Change(lease, Box::new(change))
}

fn submit(key: &str) -> Write {
    let new = NewTask {
        complete_by: Some(Duration::from_secs(3_600)),
        ..kit::plain(key)
    };
    Write::Submit(Box::new(new))
}

fn running(lease: Lease) -> RunningStep {
    RunningStep {
        task: lease.task,
        seq: 7,
        fence: lease.fence,
        worker: WorkerId("one".to_owned()),
        name: "one".to_owned(),
        since: Time::default(),
        due: Some(Time::NEVER),
    }
}

/// Measures what workers write.
async fn workers(measured: &mut Measured, tasks: &Tasks) {
    let now = Wake::In(Duration::ZERO);
    let claim = |limit| Write::Claim(kit::claim("two", "plain", limit));
    let group = |writes: fn(i64) -> Write| (0..10).map(writes).collect::<Vec<_>>();
    measured.write("submit", vec![submit("new")]).await;
    measured.write("submit again", vec![submit("new")]).await;
    measured
        .write("submit 10", group(|nth| submit(&format!("new {nth}"))))
        .await;
    measured.write("claim", vec![claim(1)]).await;
    measured.write("claim 10", vec![claim(10)]).await;
    let suspects = Claim {
        suspects: Some(Duration::ZERO),
        ..kit::claim("two", "plain", 1)
    };
    measured
        .write("claim a suspect", vec![Write::Claim(suspects)])
        .await;
    measured
        .write("record", vec![kit::done(tasks.held(0), 0, None)])
        .await;
    let records = (1..11)
        .map(|nth| kit::done(tasks.held(nth), 0, None))
        .collect();
    measured.write("record 10", records).await;
    let started = Write::Running {
        started: vec![running(tasks.held(0)), running(tasks.held(1))],
        ended: Vec::new(),
    };
    measured.write("report steps", vec![started]).await;
    let ended = Write::Running {
        started: Vec::new(),
        ended: vec![(tasks.held(0), 7)],
    };
    measured.write("steps that have ended", vec![ended]).await;
    measured
        .write("clear deaths", vec![Write::ClearDeaths(tasks.held(2))])
        .await;
    measured
        .of("heartbeat", async |store| {
            let held = store
                .heartbeat(WorkerId("one".to_owned()), Duration::from_secs(10), None)
                .await;
            assert_eq!(held.unwrap().len(), 20);
        })
        .await;
    measured
        .write("end", vec![change(tasks.held(3), State::Processed, now)])
        .await;
    let ends = (4..9)
        .map(|nth| change(tasks.held(nth), State::Processed, now))
        .collect();
    measured.write("end 5", ends).await;
    let wait = Wake::At(Time::NEVER, 0);
    measured
        .write("wait", vec![change(tasks.held(9), State::Waiting, wait)])
        .await;
    let next = NextGeneration {
        generation: 1,
        version: 1,
        input: "[]".to_owned(),
        heard: vec![1],
    };
    let next = Write::Continue(tasks.held(11), Box::new(next));
    measured.write("continue as new", vec![next]).await;
    measured
        .write("give back", vec![Write::GiveBack(vec![tasks.held(10)])])
        .await;
    measured
        .write("leave", vec![Write::Leave(WorkerId("two".to_owned()))])
        .await;
    measured
        .of("sweep", async |store| {
            let sweep = Sweep {
                limit: 256,
                every: Duration::from_secs(1),
                delays: reattempt::Policy::new(),
                in_turn: false,
            };
            store.sweep(sweep).await.unwrap();
        })
        .await;
}

/// Measures what submitters and operators write.
async fn operators(measured: &mut Measured, tasks: &Tasks) {
    let signal = Write::Signal {
        task: tasks.of(State::Waiting, 0),
        name: "two".to_owned(),
        payload: "1".to_owned(),
        nonce: 7,
    };
    measured.write("signal", vec![signal]).await;
    let park = AdminCommand::Park("wait".to_owned());
    let resolution = Resolution {
        seq: 0,
        verdict: Verdict::NotDone,
        by: "Ada".to_owned(),
        why: String::new(),
    };
    let signed = AdminCommand::Signed {
        command: Box::new(AdminCommand::Cancel),
        by: "Ada".to_owned(),
        why: String::new(),
    };
    for (name, state, nth, command) in [
        ("cancel", State::Waiting, 1, AdminCommand::Cancel),
        ("park", State::Waiting, 2, park),
        ("resubmit", State::Error, 0, AdminCommand::Resubmit),
        ("undo", State::Error, 1, AdminCommand::Undo),
        ("give up", State::Parked, 0, AdminCommand::GiveUp),
        (
            "resolve",
            State::Parked,
            1,
            AdminCommand::Resolve(resolution),
        ),
        ("cancel with a name", State::Waiting, 3, signed),
    ] {
        measured
            .write(name, vec![Write::Admin(tasks.of(state, nth), command)])
            .await;
    }
    let fork = Fork {
        new: kit::plain("fork"),
        origin: Origin {
            task: tasks.of(State::Error, 2),
            seq: 1,
            ord: 0,
            began: Time::default(),
            seeds: Vec::new(),
        },
        fence: Fence(1),
        note: None,
    };
    measured
        .write("fork", vec![Write::Fork(Box::new(fork))])
        .await;
    let schedule = ScheduleWrite {
        schedule: StoredSchedule {
            name: "nightly".to_owned(),
            version: 0,
            revision: 1,
            cron: "30 2 * * * UTC".to_owned(),
            missed: Missed::Run,
            task: "{}".to_owned(),
            state: ScheduleState::Active,
            next_at: Time::default(),
            last_at: None,
            by: String::new(),
            why: String::new(),
        },
        tasks: vec![kit::plain("cron/nightly/1")],
    };
    measured
        .write("schedule", vec![Write::Schedule(Box::new(schedule))])
        .await;
    measured
        .write("prune 10", vec![Write::Prune(Duration::ZERO.into(), 10)])
        .await;
    let with_keys = Retention {
        keys: Duration::MAX,
        ..Retention::from(Duration::ZERO)
    };
    measured
        .write("prune 10, and keep keys", vec![Write::Prune(with_keys, 10)])
        .await;
    measured
        .write("submit a kept key", vec![submit("pruned 7")])
        .await;
}

/// Measures what workers and operators read.
async fn reads(measured: &mut Measured, tasks: &Tasks) {
    let task = tasks.of(State::Parked, 2);
    measured
        .of("show", async |store| {
            assert!(store.task(task).await.unwrap().is_some());
            assert_eq!(store.history(task).await.unwrap().len(), 1);
            store.failures(task).await.unwrap();
            store.running(task).await.unwrap();
            store.notes(task).await.unwrap();
        })
        .await;
    let task = tasks.of(State::Waiting, 4);
    measured
        .of("history and signals", async |store| {
            store.history_page(task, None).await.unwrap().unwrap();
            let signals = store.signals_page(task, 0).await.unwrap().unwrap();
            assert_eq!(signals.items.len(), 1);
            assert_eq!(store.signals(task).await.unwrap(), signals.items);
        })
        .await;
    measured
        .of("schedules", async |store| {
            assert_eq!(store.schedules(None).await.unwrap().all.len(), 1);
            store.schedules(Some(9)).await.unwrap();
        })
        .await;
    measured
        .of("unknown workflows", async |store| {
            let queues = vec!["default".to_owned()];
            let unknown = store
                .unknown_workflows(queues, Vec::new(), Duration::ZERO)
                .await;
            assert_eq!(unknown.unwrap().len(), 1);
        })
        .await;
    measured
        .of("counts", async |store| {
            let counts = store.counts().await.unwrap();
            assert_eq!(counts.len(), State::ALL.len());
            // An estimate, beside numbers that are exact.
            let (state, processed) = counts[3];
            let ended = tasks.0.unsigned_abs();
            assert_eq!((state, counts[7]), (State::Processed, (State::Parked, 19)));
            let is_near = (ended - ended / 20..=ended + ended / 20).contains(&processed);
            assert!(is_near, "{processed} of {ended}");
        })
        .await;
    measured
        .of("queues", async |store| {
            let queues = store.queues().await.unwrap();
            assert_eq!((queues.len(), queues[0].pending), (1, 10_000));
        })
        .await;
}

/// Measures the feed of ends.
async fn feed(measured: &mut Measured) {
    let read = async |store: &Postgres, limit| {
        let page = store.read_feed("billing".to_owned(), limit, true).await;
        page.unwrap()
    };
    measured
        .of("read the feed first", async |store| {
            assert_eq!(read(store, 100).await.endings.len(), 100);
        })
        .await;
    measured
        .of("read the feed, and move", async |store| {
            let next = read(store, 10_000).await.next;
            let moved = store.move_reader("billing".to_owned(), next, 0).await;
            assert!(moved.unwrap());
        })
        .await;
    measured
        .of("read the feed", async |store| {
            assert_eq!(read(store, 100).await.endings.len(), 100);
        })
        .await;
    let prune = Write::PruneFeed(Duration::ZERO, 100);
    measured.write("prune the feed", vec![prune]).await;
}

/// Measures the searches of operators.
async fn searches(measured: &mut Measured) {
    let all = Filter::default();
    measured.list("list", all.clone()).await;
    for (name, state) in [
        ("list pending", State::Pending),
        ("list processing", State::Processing),
        ("list waiting", State::Waiting),
        ("list processed", State::Processed),
        ("list error", State::Error),
        ("list compensated", State::Compensated),
        ("list cancelled", State::Cancelled),
        ("list parked", State::Parked),
        ("list pruned", State::Pruned),
    ] {
        let filter = Filter {
            state: Some(state),
            ..all.clone()
        };
        measured.list(name, filter).await;
    }
    let key = Some("in 75".to_owned());
    let text = |text: &str| Some(text.to_owned());
    for (name, filter) in [
        (
            "list by key",
            Filter {
                key: key.clone(),
                ..all.clone()
            },
        ),
        (
            "list parked by key",
            Filter {
                key,
                state: Some(State::Parked),
                ..all.clone()
            },
        ),
        (
            "list by workflow",
            Filter {
                workflow: text("plain"),
                ..all.clone()
            },
        ),
        (
            "list by queue",
            Filter {
                queue: text("default"),
                ..all.clone()
            },
        ),
        (
            "list pending by queue",
            Filter {
                queue: text("default"),
                state: Some(State::Pending),
                ..all.clone()
            },
        ),
        (
            "list by header",
            Filter {
                header: text("tenant").zip(text("7")),
                ..all.clone()
            },
        ),
        (
            "list by error",
            Filter {
                error: text("broke"),
                ..all.clone()
            },
        ),
        (
            "list by time",
            Filter {
                since: Some(Time::default()),
                until: Some(Time::NEVER),
                ..all.clone()
            },
        ),
        (
            "list by the time of the end",
            Filter {
                ended_since: Some(Time::from_micros(5_000)),
                ended_until: Some(Time::from_micros(5_001)),
                ..all
            },
        ),
    ] {
        measured.list(name, filter).await;
    }
}

/// Claims and ends tasks, and returns how many of their updates stayed on their pages, in percent.
async fn in_place(measured: &Measured, tasks: u32) -> i64 {
    let updates =
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'retry_run'";
    let before = measured.admin.query_one(updates, &[]).await.unwrap();
    let store = Postgres::connect(&measured.server.url()).await.unwrap();
    for group in 0..tasks.div_ceil(100) {
        let submits = (0..100).map(|nth| submit(&format!("hot {group} {nth}")));
        let claim = Write::Claim(kit::claim("hot", "plain", 50));
        let results = store.write(submits.chain([claim]).collect()).await.unwrap();
        let Some(WriteResult::Claimed(claimed, _)) = results.last() else {
            panic!("{results:?}");
        };
        assert_eq!(claimed.len(), 50);
        let lease = |task: &reattempt_supervisor::Task| Lease {
            task: task.id,
            fence: task.fence,
        };
        let ends = claimed
            .iter()
            .map(|one| change(lease(&one.task), State::Processed, Wake::In(Duration::ZERO)));
        store.write(ends.collect()).await.unwrap();
    }
    drop(store);
    measured.wait_for_others().await;
    let after = measured.admin.query_one(updates, &[]).await.unwrap();
    let [all, hot] =
        [0, 1].map(|column| after.get::<_, i64>(column) - before.get::<_, i64>(column));
    hot * 100 / all
}

async fn measure(
    ended: u32,
    pending: u32,
    changes: u32,
) -> Option<(Vec<(&'static str, Cost)>, i64)> {
    let mut measured = Measured::new(ended, pending).await?;
    let tasks = Tasks(i64::from(ended));
    workers(&mut measured, &tasks).await;
    operators(&mut measured, &tasks).await;
    reads(&mut measured, &tasks).await;
    feed(&mut measured).await;
    searches(&mut measured).await;
    let in_place = in_place(&measured, changes).await;
    Some((measured.costs, in_place))
}

/// Compares two stores, and prints a table.
async fn compare(size: Size) {
    let [few, many] = size.pending;
    let Some(small) = measure(size.ended, few, size.changes).await else {
        return;
    };
    let large = measure(size.ended, many, size.changes).await.unwrap();
    println!("| operation | pages beside {few} | beside {many} | tables read from one end |");
    println!("|---|---|---|---|");
    let mut wrong = Vec::new();
    for ((name, small), (_, large)) in small.0.iter().zip(&large.0) {
        let scans = small.scans + large.scans;
        println!(
            "| {name} | {} | {} | {scans} |",
            small.buffers, large.buffers
        );
        // A page more or less is one of an index that has grown, or a list of free pages.
        let is_equal = (large.buffers - small.buffers).abs() * 5 <= small.buffers + 10;
        if scans > 0 || !is_equal {
            wrong.push(*name);
        }
    }
    println!("updates in place: {} % and {} %", small.1, large.1);
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(small.1 >= 90 && large.1 >= 90);
}

#[tokio::test]
async fn no_statement_reads_more_beside_more_tasks() {
    compare(Size {
        ended: 20_000,
        pending: [40_000, 80_000],
        changes: 200,
    })
    .await;
}

#[tokio::test]
#[ignore = "takes minutes"]
async fn no_statement_reads_more_beside_a_million_tasks() {
    compare(Size {
        ended: 1_000_000,
        pending: [200_000, 1_000_000],
        changes: 2_000,
    })
    .await;
}
