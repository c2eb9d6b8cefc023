//! What a store on PostgreSQL costs beside many tasks of others, and how its tables follow the
//! tasks.
#![cfg(feature = "postgres")]

use std::sync::Arc;
use std::time::Duration;

use crate::kit;
use crate::servers::{self, Server};
use reattempt_supervisor::store::{
    Change, ClaimedTask, ErrorKind, Filter, Store as _, Write, WriteResult,
};
use reattempt_supervisor::{
    Client, Event, Lease, Memory, NewTask, Postgres, RunningStep, Scheduler, State, StepError,
    TaskId, Time, WorkerId, WorkflowContext, workflow,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// How long a test waits for what happens soon.
const BOUND: Duration = Duration::from_secs(60);

/// Adds tasks that a worker of `mine` does not take: 10,000 of another workflow, of another version
/// and asleep, in each of two priorities.
const CROWD: &str = "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, fence, failures,
        max_failures, cancel_asked, input, created_at, updated_at)
    SELECT workflow, version, 'default', nth % 2, concat_ws(' ', version, wake_at, nth), 0, 0, wake_at, 0, 0, 3, false, 'null', 0, 0
    FROM generate_series(1, 20000) AS nth,
        (VALUES ('other', 1, 0), ('mine', 2, 0), ('mine', 1, 9000000000000000)) AS kinds (workflow, version, wake_at)";

/// Adds a task that it takes, after all of them.
const MINE: &str = "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, fence, failures,
        max_failures, cancel_asked, input, created_at, updated_at)
    VALUES ('mine', 1, 'default', 2, 'mine', 0, 0, 0, 0, 0, 3, false, 'null', 0, 0)";

/// Asks again until the answer is `true`.
async fn wait_for(client: &tokio_postgres::Client, question: &str) {
    let asking = async {
        while !client
            .query_one(question, &[])
            .await
            .unwrap()
            .get::<_, bool>(0)
        {
            tokio::task::yield_now().await;
        }
    };
    let answer = tokio::time::timeout(BOUND, asking).await;
    answer.unwrap_or_else(|_| panic!("not within {BOUND:?}: {question}"));
}

#[tokio::test]
async fn a_claim_and_a_look_read_no_task_of_others() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let store = Postgres::connect(&server.url()).await.unwrap();
    admin.batch_execute(CROWD).await.unwrap();
    admin.batch_execute(MINE).await.unwrap();
    admin
        .batch_execute("ANALYZE retry_run, retry_ready; SELECT pg_stat_reset()")
        .await
        .unwrap();
    let known = vec![("mine".to_owned(), 1)];
    let claim = Write::Claim(kit::claim("one", "mine", 9));
    let results = store.write([claim].into()).await.unwrap();
    let [WriteResult::Claimed(claimed, _)] = &results[..] else {
        panic!("{results:?}");
    };
    assert_eq!(claimed.len(), 1);
    let unknown = store
        .unknown_workflows(vec!["default".to_owned()], known, Duration::ZERO)
        .await;
    let unknown = unknown.unwrap().into_iter();
    let unknown: Vec<_> = unknown.map(|one| (one.workflow, one.version)).collect();
    assert_eq!(unknown, [("mine".to_owned(), 2), ("other".to_owned(), 1)]);
    drop(store);
    assert_few_reads(&admin).await;
}

/// Fails if connections that end have read more than a few tasks since the last reset.
async fn assert_few_reads(admin: &tokio_postgres::Client) {
    // A connection says what it has read when it ends.
    wait_for(
        admin,
        "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'",
    )
    .await;
    let read = "SELECT (SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname IN ('retry_run', 'retry_ready')),
        (SELECT sum(seq_scan)::bigint FROM pg_stat_user_tables WHERE relname IN ('retry_run', 'retry_ready'))";
    let read = admin.query_one(read, &[]).await.unwrap();
    let (entries, scans) = (read.get::<_, i64>(0), read.get::<_, i64>(1));
    assert!(
        (1..40).contains(&entries),
        "{entries} entries of indexes were read"
    );
    assert_eq!(scans, 0);
}

#[tokio::test]
async fn a_list_of_tasks_that_go_on_reads_no_task_that_has_ended() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let store = Postgres::connect(&server.url()).await.unwrap();
    let tasks = "INSERT INTO retry_run (workflow, version, queue, priority, idem_key, state, direction, wake_at, fence, failures,
            max_failures, cancel_asked, input, created_at, updated_at)
        SELECT 'mine', 1, 'default', 0, nth::text, least(nth, 3), 0, 0, 0, 0, 3, false, 'null', 0, 0 FROM generate_series(0, 20000) AS nth";
    admin.batch_execute(tasks).await.unwrap();
    admin
        .batch_execute("ANALYZE retry_run, retry_ready; SELECT pg_stat_reset()")
        .await
        .unwrap();
    for state in [State::Pending, State::Processing, State::Waiting] {
        let filter = Filter {
            state: Some(state),
            workflow: Some("mine".to_owned()),
            ..Filter::default()
        };
        let found = store.list(filter).await.unwrap();
        let found: Vec<_> = found.iter().map(|task| task.state).collect();
        assert_eq!(found, [state]);
    }
    drop(store);
    assert_few_reads(&admin).await;
}

#[tokio::test]
async fn a_list_that_takes_long_delays_no_other_read() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let store = Postgres::connect(&server.url()).await.unwrap();
    store.history(TaskId(1)).await.unwrap();
    let lock = "BEGIN; LOCK TABLE retry_ended IN ACCESS EXCLUSIVE MODE";
    admin.batch_execute(lock).await.unwrap();
    let failed = Filter {
        state: Some(State::Error),
        ..Filter::default()
    };
    let mut list = store.list(failed);
    let waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'retry_ended'::regclass AND NOT granted)";
    tokio::select! {
        list = &mut list => panic!("{list:?}"),
        () = wait_for(&admin, waits) => {}
    }
    tokio::select! {
        biased;
        list = &mut list => panic!("{list:?}"),
        read = store.history(TaskId(1)) => drop(read.unwrap()),
    }
    admin.batch_execute("COMMIT").await.unwrap();
    assert_eq!(list.await.unwrap(), []);
}

/// Submits and claims a task.
async fn claim_one(store: &Postgres) -> Lease {
    let submit = Write::Submit(Box::new(kit::plain("one")));
    let claim = Write::Claim(kit::claim("one", "plain", 1));
    let results = store.write([submit, claim].into()).await.unwrap();
    let [_, WriteResult::Claimed(claimed, _)] = &results[..] else {
        panic!("{results:?}");
    };
    lease_of(&claimed[0])
}

#[tokio::test]
async fn a_step_that_has_ended_is_not_forgotten_behind_a_lock() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let store = Postgres::connect(&server.url()).await.unwrap();
    let lease = claim_one(&store).await;
    let step = |seq| RunningStep {
        task: lease.task,
        seq,
        fence: lease.fence,
        worker: WorkerId("one".to_owned()),
        name: "one".to_owned(),
        since: Time::default(),
        due: None,
    };
    let started = Write::Running {
        started: vec![step(0), step(1)],
        ended: Vec::new(),
    };
    store.write([started].into()).await.unwrap();
    let lock = "BEGIN; SELECT FROM retry_running WHERE seq = 0 FOR UPDATE";
    admin.batch_execute(lock).await.unwrap();
    // A heartbeat of the same connection would wait, too.
    let ended = Write::Running {
        started: Vec::new(),
        ended: vec![(lease, 0), (lease, 1)],
    };
    store.write([ended].into()).await.unwrap();
    let left = store.running(lease.task).await.unwrap();
    let left: Vec<_> = left.iter().map(|step| step.seq).collect();
    assert_eq!(left, [0]);
    admin.batch_execute("COMMIT").await.unwrap();
}

#[tokio::test]
async fn a_task_that_has_ended_again_is_not_pruned() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let store = Arc::new(Postgres::connect(&server.url()).await.unwrap());
    let lease = claim_one(&store).await;
    store.write([end(lease)].into()).await.unwrap();
    // A statement that reads what has ended waits for this lock, with the snapshot from before.
    let view = "ALTER TABLE retry_ended RENAME TO ended;
        CREATE VIEW retry_ended AS SELECT *, ctid FROM ended WHERE pg_advisory_xact_lock_shared(1) IS NOT NULL";
    admin.batch_execute(view).await.unwrap();
    let waits = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    let again = "UPDATE retry_run SET updated_at = (extract(epoch FROM now()) * 1000000)::bigint;
        SELECT pg_advisory_unlock(1)";
    // The store may stop waiting while a busy machine looks: then the task ends long ago once more.
    for _ in 0..20 {
        let pause = "SELECT pg_advisory_lock(1); UPDATE retry_run SET updated_at = 1";
        admin.batch_execute(pause).await.unwrap();
        let store = Arc::clone(&store);
        let day = Duration::from_secs(24 * 60 * 60);
        let prune = [Write::Prune(day.into(), 9)].into();
        let prune = tokio::spawn(async move { store.write(prune).await });
        while !prune.is_finished() && admin.query(waits, &[]).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        admin.batch_execute(again).await.unwrap();
        match prune.await.unwrap() {
            Ok(pruned) => return assert_eq!(pruned, [WriteResult::Pruned(0)]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Locked, "{error}"),
        }
    }
    panic!("no task is pruned in time");
}

/// Starts a pool that ignores by which setting a connection marks its server process.
async fn start_pool(server: &Server) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, server) = (listener.local_addr().unwrap().port(), server.port);
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
            tokio::spawn(async move {
                let length = client.read_u32().await.unwrap();
                let rest = usize::try_from(length).unwrap().checked_sub(4).unwrap();
                let mut first = vec![0; rest];
                client.read_exact(&mut first).await.unwrap();
                let mark = first.windows(10).position(|name| name == b"reattempt.");
                first[mark.unwrap()] = b'x';
                server.write_u32(length).await.unwrap();
                server.write_all(&first).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    port
}

#[tokio::test]
async fn processes_create_the_tables_at_the_same_time() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let isolation = "ALTER ROLE postgres SET default_transaction_isolation = 'repeatable read'";
    admin.batch_execute(isolation).await.unwrap();
    let port = start_pool(&server).await;
    let connect = async || Postgres::connect(&servers::postgres_url(port)).await;
    let (one, two, three) = tokio::join!(connect(), connect(), connect());
    let salts = [one, two, three].map(|store| store.unwrap().salt());
    assert!(salts.iter().all(|salt| *salt == salts[0]), "{salts:?}");
    for change in [
        "UPDATE retry_meta SET value = 1000 WHERE key = 'version'",
        "UPDATE retry_meta SET value = 1 WHERE key = 'version'; INSERT INTO retry_meta VALUES ('revision', 9)",
        "DELETE FROM retry_meta WHERE key IN ('revision', 'store')",
    ] {
        admin.batch_execute(change).await.unwrap();
        let error = connect().await.unwrap_err().to_string();
        let wanted = [
            "update this program",
            "use a new database, or drop the tables",
        ];
        let is_new = change.contains("1000");
        assert!(
            error.contains(wanted[usize::from(!is_new)]),
            "{change}: {error}"
        );
    }
}

#[tokio::test]
async fn small_tables_follow_whoever_changes_tasks() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    drop(Postgres::connect(&server.url()).await.unwrap());
    for change in [
        CROWD,
        "UPDATE retry_run SET state = 3 WHERE id % 7 = 0",
        "DELETE FROM retry_run WHERE id % 11 = 0",
        "UPDATE retry_run SET complete_by = 5, deaths = 2 WHERE id % 13 = 0",
        "UPDATE retry_run SET state = 1, owner = 'one' WHERE id % 17 = 0",
        "TRUNCATE retry_run",
    ] {
        admin.batch_execute(change).await.unwrap();
        let fit = admin.query_one(kit::SMALL_TABLES_FIT, &[]).await.unwrap();
        assert!(fit.get::<_, bool>(0), "{change}");
    }
}

#[tokio::test]
async fn the_tables_may_be_published() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let store = Postgres::connect(&server.url()).await.unwrap();
    let publish = "CREATE PUBLICATION everything FOR ALL TABLES";
    admin.batch_execute(publish).await.unwrap();
    let limited = NewTask {
        complete_by: Some(BOUND),
        ..kit::plain("one")
    };
    let submit = Write::Submit(Box::new(limited));
    let claim = Write::Claim(kit::claim("one", "plain", 1));
    let results = store.write([submit, claim].into()).await.unwrap();
    let [_, WriteResult::Claimed(claimed, _)] = &results[..] else {
        panic!("{results:?}");
    };
    store
        .write([end(lease_of(&claimed[0]))].into())
        .await
        .unwrap();
    let results = store
        .write([Write::Prune(Duration::ZERO.into(), 1)].into())
        .await;
    assert_eq!(results.unwrap(), [WriteResult::Pruned(1)]);
}

fn lease_of(claimed: &ClaimedTask) -> Lease {
    Lease {
        task: claimed.task.id,
        fence: claimed.task.fence,
    }
}

/// Returns the change of a task whose workflow has returned.
fn end(lease: Lease) -> Write {
    let change = Change {
        output: Some("null".to_owned()),
        ..kit::change_to(State::Processed)
    };
    Write::Change(lease, Box::new(change))
}

#[tokio::test]
async fn a_change_of_a_task_writes_no_index_of_the_tasks() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let admin = kit::session(&server.url()).await;
    let store = Postgres::connect(&server.url()).await.unwrap();
    for group in 0..10 {
        let submit = |nth| Write::Submit(Box::new(kit::plain(&format!("{group} {nth}"))));
        let mut writes: Vec<_> = (0..50).map(submit).collect();
        writes.push(Write::Claim(kit::claim("one", "plain", 50)));
        let results = store.write(writes.into()).await.unwrap();
        let Some(WriteResult::Claimed(claimed, _)) = results.last() else {
            panic!("{results:?}");
        };
        assert_eq!(claimed.len(), 50);
        let end = claimed.iter().map(|one| end(lease_of(one)));
        store.write(end.collect()).await.unwrap();
    }
    drop(store);
    let counted = "SELECT n_tup_upd = 1000 FROM pg_stat_user_tables WHERE relname = 'retry_run'";
    wait_for(&admin, counted).await;
    let updates = "SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'retry_run'";
    let in_place: i64 = admin.query_one(updates, &[]).await.unwrap().get(0);
    assert!(in_place >= 900, "{in_place} of 1000");
}

#[workflow]
async fn mine(_context: &WorkflowContext) -> Result<(), StepError> {
    Ok(())
}

#[workflow]
async fn other(_context: &WorkflowContext) -> Result<(), StepError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_workflow_that_nobody_takes_is_announced() {
    let (announce, mut announced) = tokio::sync::mpsc::unbounded_channel();
    let observer: Box<dyn Fn(&Event) + Send + Sync> = Box::new(move |event| {
        if let Event::UnknownWorkflow(unknown) = event {
            assert!(event.is_alert());
            announce.send(unknown.clone()).unwrap();
        }
    });
    let client = Client::with_observers(Memory::new(), [observer]);
    client.submit(other()).await.unwrap();
    client.submit(mine().delay(2 * BOUND)).await.unwrap();
    let scheduler = Scheduler::new(&client).register(mine).start().unwrap();
    let unknown = tokio::time::timeout(3 * BOUND, announced.recv()).await;
    let unknown = unknown.unwrap().unwrap();
    assert_eq!(
        (&*unknown.queue, &*unknown.workflow, unknown.version),
        ("default", "other", 1)
    );
    assert!(unknown.waited >= Duration::from_secs(60), "{unknown:?}");
    scheduler.stop(Duration::ZERO).await;
}
