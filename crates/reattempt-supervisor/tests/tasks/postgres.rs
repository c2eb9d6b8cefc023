//! Tasks on PostgreSQL, with two schedulers that share only the server.
#![cfg(feature = "postgres")]

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::kit;
use crate::servers::{self, Server};
use reattempt::Policy;
use reattempt_supervisor::store::{
    Change, ClaimedTask, ErrorKind, Filter, Store as _, StoreError, Wake, Write, WriteResult,
};
use reattempt_supervisor::{
    Client, Lease, Postgres, RecordKind, Scheduler, SchedulerHandle, State, Step, StepError,
    SubmitError, Supervisor, Task, Time, WorkflowContext, step, workflow,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// The number of times of each effect.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<BTreeMap<String, u32>>>, Arc<Notify>);

impl Log {
    fn add(&self, line: String) {
        *self.0.lock().unwrap().entry(line).or_default() += 1;
        self.1.notify_one();
    }

    fn count(&self, line: &str) -> u32 {
        self.0.lock().unwrap().get(line).copied().unwrap_or(0)
    }

    /// Waits until there are so many effects.
    async fn reaches(&self, effects: u32) {
        let waiting = async {
            while self.all() < effects {
                self.1.notified().await;
            }
        };
        let bound = Duration::from_secs(60);
        tokio::time::timeout(bound, waiting).await.unwrap();
    }

    fn all(&self) -> u32 {
        self.0.lock().unwrap().values().sum()
    }
}

/// How often something fails before it succeeds.
#[derive(Clone, Default)]
struct Faults(Arc<AtomicU32>);

impl Faults {
    fn are_left(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        let order = Ordering::SeqCst;
        self.0.fetch_update(order, order, one_less).is_ok()
    }
}

#[step(complete_by = "10s")]
async fn reserve(_step: &Step, #[with] log: &Log, what: &str) -> Result<u32, String> {
    log.add(format!("reserve {what}"));
    Ok(7)
}

#[step(retry(max = 2, base = "1ms", on(_)), complete_by = "30s", undo = refund)]
async fn pay(
    _step: &Step,
    #[with] log: &Log,
    #[with] faults: &Faults,
    what: &str,
    amount: u32,
) -> Result<String, String> {
    if faults.are_left() {
        log.add("pay fails".to_owned());
        return Err("no connection".to_owned());
    }
    log.add(format!("pay {amount} for {what}"));
    Ok(format!("receipt for {what}"))
}

#[step]
async fn refund(
    _step: &Step,
    #[with] log: &Log,
    what: &str,
    amount: u32,
    receipt: &String,
) -> Result<(), String> {
    log.add(format!("refund {amount} for {what}: {receipt}"));
    Ok(())
}

#[step]
async fn ship(_step: &Step, #[with] log: &Log, what: &str) -> Result<(), String> {
    log.add(format!("ship {what}"));
    if what.starts_with("nothing") {
        return Err("there is nothing to ship".to_owned());
    }
    Ok(())
}

#[workflow(max_failures = 2, complete_by = "1h")]
async fn order(context: &WorkflowContext, what: String) -> Result<String, StepError> {
    let amount = reserve(context, &what).await?;
    let receipt = pay(context, &what, amount).await?;
    ship(context, &what).await?;
    Ok(receipt)
}

#[workflow]
async fn patient(context: &WorkflowContext) -> Result<String, StepError> {
    reserve(context, "time").await?;
    context.sleep(Duration::from_millis(1_200)).await;
    let word: Option<String> = context
        .signal("word", Some(Duration::from_secs(3_600)))
        .await
        .unwrap();
    Ok(word.unwrap_or_else(|| "nothing was said".to_owned()))
}

#[step]
async fn work(_step: &Step, #[with] log: &Log, task: u32, nth: u32) -> Result<u32, String> {
    tokio::task::yield_now().await;
    log.add(format!("{task} {nth}"));
    Ok(nth)
}

#[workflow]
async fn long(context: &WorkflowContext, task: u32) -> Result<u32, StepError> {
    let mut sum = 0;
    for nth in 0..20 {
        sum += work(context, task, nth).await?;
    }
    Ok(sum)
}

/// Two schedulers as in two processes.
struct World {
    server: Server,
    client: [Client; 2],
    log: Log,
    faults: Faults,
}

impl World {
    /// Returns `None` if PostgreSQL is not installed.
    async fn new() -> Option<Self> {
        let server = Server::postgres()?;
        let url = server.url();
        let (one, other) = tokio::join!(Postgres::connect(&url), Postgres::connect(&url));
        Some(Self {
            server,
            client: [Client::new(one.unwrap()), Client::new(other.unwrap())],
            log: Log::default(),
            faults: Faults::default(),
        })
    }

    fn start(&self) -> [SchedulerHandle; 2] {
        self.client.each_ref().map(|client| {
            Scheduler::new(client)
                .register(order)
                .register(patient)
                .register(long)
                .with(self.log.clone())
                .with(self.faults.clone())
                .at_once(16)
                .delays(Policy::new().unlimited().base(Duration::from_millis(5)))
                .start()
                .unwrap()
        })
    }
}

async fn stop(running: [SchedulerHandle; 2]) {
    for running in running {
        running.stop(Duration::from_secs(1)).await;
    }
}

/// Passes a connection on, unless it has settings.
async fn pass_on(mut client: TcpStream, server: u16, refused: Arc<AtomicU32>) {
    let length = client.read_u32().await.unwrap();
    let mut parameters = vec![0; usize::try_from(length).unwrap() - 4];
    client.read_exact(&mut parameters).await.unwrap();
    if parameters.windows(8).any(|text| text == b"options\0") {
        refused.fetch_add(1, Ordering::SeqCst);
        let error = b"SFATAL\0C08P01\0Munsupported startup parameter: options\0\0";
        client.write_u8(b'E').await.unwrap();
        let length = u32::try_from(error.len() + 4).unwrap();
        client.write_u32(length).await.unwrap();
        client.write_all(error).await.unwrap();
        return;
    }
    let mut server = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
    server.write_u32(length).await.unwrap();
    server.write_all(&parameters).await.unwrap();
    // Either may be gone first.
    let _ = copy_bidirectional(&mut client, &mut server).await;
}

/// Stands before a server like a pool that others use, too: it refuses settings of a session. Returns
/// its port, and how often it has refused.
async fn start_pool(server: u16) -> (u16, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let refused = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&refused);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(pass_on(client, server, Arc::clone(&count)));
        }
    });
    (port, refused)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_that_refuses_settings_of_a_session_gets_them_with_each_transaction() {
    let Some(world) = World::new().await else {
        return;
    };
    let (port, refused) = start_pool(world.server.port).await;
    let url = servers::postgres_url(port);
    let client = Client::new(Postgres::connect(&url).await.unwrap());
    let world = World {
        client: [client.clone(), client],
        ..world
    };
    let running = world.start();
    let [one, _] = &world.client;
    let good = one.submit(order("book".to_owned())).await.unwrap();
    let bad = one.submit(order("nothing".to_owned())).await.unwrap();
    assert_eq!(good.wait().await.unwrap(), "receipt for book");
    assert!(bad.wait().await.is_err());
    let refund = "refund 7 for nothing: receipt for nothing";
    assert_eq!(world.log.count(refund), 1);
    assert!(refused.load(Ordering::SeqCst) > 0);
    stop(running).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_are_done_undone_and_cancelled() {
    let Some(world) = World::new().await else {
        return;
    };
    let running = world.start();
    let [one, other] = &world.client;
    let good = one.submit(order("book".to_owned()).key("k")).await.unwrap();
    let bad = other.submit(order("nothing".to_owned())).await.unwrap();
    let waiting = one.submit(patient()).await.unwrap();
    let cancelled = other.submit(patient()).await.unwrap();
    assert_eq!(good.wait().await.unwrap(), "receipt for book");
    let again = other.submit(order("book".to_owned()).key("k")).await;
    assert_eq!(again.unwrap().id(), good.id());
    let Err(SubmitError::Ended(_, State::Compensated, why)) = bad.wait().await else {
        panic!("it did not fail");
    };
    assert_eq!(why, "step `ship` failed: there is nothing to ship");
    let refund = "refund 7 for nothing: receipt for nothing";
    assert_eq!(world.log.count(refund), 1);
    other.signal(waiting.id(), "word", &"now").await.unwrap();
    one.cancel(cancelled.id()).await.unwrap();
    assert_eq!(waiting.wait().await.unwrap(), "now");
    let Err(SubmitError::Ended(_, State::Cancelled, _)) = cancelled.wait().await else {
        panic!("it was not cancelled");
    };
    // A step that gave up runs again with its task, and finished steps do not.
    world.faults.0.store(3, Ordering::SeqCst);
    let retried = one.submit(order("pen".to_owned())).await.unwrap();
    assert_eq!(retried.wait().await.unwrap(), "receipt for pen");
    for (line, times) in [
        ("reserve pen", 1),
        ("pay fails", 3),
        ("pay 7 for pen", 1),
        ("ship pen", 1),
    ] {
        assert_eq!(world.log.count(line), times, "{line}");
    }
    stop(running).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_of_one_process_starts_at_once_in_another() {
    let Some(world) = World::new().await else {
        return;
    };
    let [one, other] = &world.client;
    let hour = Duration::from_secs(3_600);
    let scheduler = Scheduler::new(other).register(order).poll(hour);
    let scheduler = scheduler.with(world.log.clone()).with(world.faults.clone());
    let running = scheduler.unsupervised().start().unwrap();
    for nth in 0..3 {
        let task = one.submit(order(format!("book {nth}"))).await.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(60), task.wait()).await;
        assert_eq!(ended.unwrap().unwrap(), format!("receipt for book {nth}"));
    }
    running.stop(Duration::from_secs(1)).await;
}

#[workflow]
async fn heeds(context: &WorkflowContext) -> Result<u32, StepError> {
    let word: Option<u32> = context.signal("word", None).await.unwrap();
    Ok(word.unwrap_or_default())
}

/// D8: a caller that waits in another process looks every five seconds, and is notified of the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_task_is_reported_to_another_process() {
    let Some(world) = World::new().await else {
        return;
    };
    let [one, other] = &world.client;
    let running = Scheduler::new(one).register(heeds).start().unwrap();
    for nth in 0..3 {
        let task = one.submit(heeds()).await.unwrap();
        while task.progress().await.unwrap().task.state != State::Waiting {
            tokio::task::yield_now().await;
        }
        let elsewhere = other.task::<u32>(task.id());
        let send = async {
            // Its answer comes after that of the first look.
            other.list(Filter::default()).await.unwrap();
            one.signal(task.id(), "word", &nth).await.unwrap();
        };
        let limit = Duration::from_secs(4);
        let (result, ()) = tokio::join!(tokio::time::timeout(limit, elsewhere.wait()), send);
        assert_eq!(result.unwrap().unwrap(), nth);
    }
    running.stop(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_crashes_and_nothing_is_lost_or_done_twice() {
    let Some(mut world) = World::new().await else {
        return;
    };
    let running = world.start();
    let mut waiting = Vec::new();
    for nth in 0..60 {
        let client = &world.client[nth % 2];
        let task = u32::try_from(nth).unwrap();
        waiting.push(client.submit(long(task)).await.unwrap());
    }
    for steps in [100, 500, 900] {
        world.log.reaches(steps).await;
        world = tokio::task::spawn_blocking(move || {
            world.server.restart_postgres();
            world
        })
        .await
        .unwrap();
    }
    for task in &waiting {
        let ended = tokio::time::timeout(Duration::from_secs(60), task.wait()).await;
        assert_eq!(ended.unwrap().unwrap(), 190);
        let progress = task.progress().await.unwrap();
        let done = progress.history.iter();
        let done = done.filter(|record| record.kind == RecordKind::Done);
        let seqs: HashSet<_> = done.map(|record| record.seq).collect();
        assert_eq!(seqs.len(), 20);
        assert_eq!(progress.history.len(), 20);
    }
    let log = world.log.0.lock().unwrap().clone();
    let twice: Vec<_> = log.iter().filter(|(_, times)| **times != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert_eq!(log.len(), 60 * 20);
    let filter = Filter {
        state: Some(State::Processed),
        ..Filter::default()
    };
    assert_eq!(world.client[0].list(filter).await.unwrap().len(), 60);
    stop(running).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_submitted_in_the_callers_transaction() {
    let Some(world) = World::new().await else {
        return;
    };
    let url = world.server.url();
    let mut client = kit::session(&url).await;
    let submission = || order("book".to_owned()).key("k");
    let tasks = &world.client[0];
    let mut transaction = client.transaction().await.unwrap();
    tasks.check_database(&mut transaction).await.unwrap();
    let given_up = tasks
        .submit_in(&mut transaction, submission())
        .await
        .unwrap();
    transaction.rollback().await.unwrap();
    let mut transaction = client.transaction().await.unwrap();
    let id = tasks
        .submit_in(&mut transaction, submission())
        .await
        .unwrap();
    let again = tasks
        .submit_in(&mut transaction, submission())
        .await
        .unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(
        (given_up.is_new, id.is_new, again.is_new),
        (true, true, false)
    );
    assert_eq!(again.same_arguments, Some(true));
    let id = id.id;
    assert_eq!(again.id, id);
    let [one, _] = &world.client;
    let Err(SubmitError::UnknownTask(_)) = one.task::<String>(given_up.id).progress().await else {
        panic!("it is there, although its transaction was rolled back");
    };
    let running = world.start();
    assert_eq!(
        one.task::<String>(id).wait().await.unwrap(),
        "receipt for book"
    );
    stop(running).await;
}

/// Returns a store, and tasks in it that a worker holds.
async fn claim_leases(server: &Server, count: u32) -> (Arc<Postgres>, Vec<Lease>) {
    let store = Arc::new(Postgres::connect(&server.url()).await.unwrap());
    let mut first: Vec<Write> = (0..count)
        .map(|nth| Write::Submit(Box::new(kit::plain(&nth.to_string()))))
        .collect();
    first.push(Write::Claim(kit::claim("one", "plain", count)));
    let results = store.write(first.into()).await.unwrap();
    let Some(WriteResult::Claimed(claimed, _)) = results.last() else {
        panic!("{results:?}")
    };
    let lease = |task: &Task| Lease {
        task: task.id,
        fence: task.fence,
    };
    let holds = claimed.iter().map(|claimed| lease(&claimed.task)).collect();
    (store, holds)
}

type Writing = tokio::task::JoinHandle<Result<Vec<WriteResult>, StoreError>>;

/// Begins to write, and returns when that waits for a lock. A store waits for some seconds, which a busy machine may need to
/// look: then it begins again.
async fn waiting(
    store: &Arc<Postgres>,
    writes: &Arc<[Write]>,
    transaction: &tokio_postgres::Transaction<'_>,
) -> Writing {
    let waits = "SELECT 1 FROM pg_locks WHERE NOT granted";
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        let (store, writes) = (Arc::clone(store), Arc::clone(writes));
        let writing = tokio::spawn(async move { store.write(writes).await });
        while !writing.is_finished() {
            if !transaction.query(waits, &[]).await.unwrap().is_empty() {
                return writing;
            }
            tokio::task::yield_now().await;
        }
        let error = writing.await.unwrap().expect_err("nobody waits for a lock");
        let is_late = error.kind() == ErrorKind::Locked && Instant::now() < patience;
        assert!(is_late, "{error}");
    }
}

const LOCK: &str = "SELECT 1 FROM retry_run WHERE id = $1 FOR NO KEY UPDATE NOWAIT";

/// A list of writes locks its tasks in the order of their numbers, so two such transactions cannot
/// deadlock.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_locked_in_their_order() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (store, holds) = claim_leases(&server, 3).await;
    let mut other = kit::session(&server.url()).await;
    // The store may stop waiting while a busy machine looks.
    let patience = Instant::now() + Duration::from_secs(60);
    let results = loop {
        let transaction = other.transaction().await.unwrap();
        transaction.query(LOCK, &[&holds[1].task.0]).await.unwrap();
        let records = holds.iter().rev().map(|lease| kit::done(*lease, 0, None));
        let records: Arc<[Write]> = records.collect();
        let writing = waiting(&store, &records, &transaction).await;
        // It has locked the first, waits for the second, has not locked the third, and has written
        // nothing.
        let records = transaction.query("SELECT 1 FROM retry_step", &[]).await;
        assert!(records.unwrap().is_empty());
        transaction.query(LOCK, &[&holds[2].task.0]).await.unwrap();
        transaction.commit().await.unwrap();
        match writing.await.unwrap() {
            Ok(results) => break results,
            Err(error) if error.kind() == ErrorKind::Locked && Instant::now() < patience => {}
            Err(error) => panic!("{error}"),
        }
    };
    let mut results = results.iter();
    assert!(results.all(|result| matches!(result, WriteResult::Written(_))));
}

#[derive(Clone)]
struct Gate(Arc<tokio::sync::Barrier>);

/// Waits until all tasks are here.
#[step]
async fn pass(_step: &Step, #[with] gate: &Gate) -> Result<(), String> {
    gate.0.wait().await;
    Ok(())
}

#[workflow]
async fn passes(context: &WorkflowContext) -> Result<(), StepError> {
    pass(context).await?;
    context.signal::<()>("never", None).await.map(drop)?;
    Ok(())
}

/// A step in a transaction of the application locks its task until that is committed. The records of
/// other tasks come at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_task_delays_no_other() {
    const TASKS: usize = 8;
    let Some(server) = Server::postgres() else {
        return;
    };
    let gate = Gate(Arc::new(tokio::sync::Barrier::new(TASKS + 1)));
    let client = Client::new(Postgres::connect(&server.url()).await.unwrap());
    let mut tasks = Vec::new();
    for _ in 0..TASKS {
        tasks.push(client.submit(passes()).await.unwrap().id());
    }
    let scheduler = Scheduler::new(&client)
        .register(passes)
        .with(gate.clone())
        .start()
        .unwrap();
    let store = client.store();
    let is_recorded = async |id| !store.history(id).await.unwrap().is_empty();
    let held = || Filter {
        state: Some(State::Processing),
        ..Filter::default()
    };
    while store.list(held()).await.unwrap().len() < TASKS {
        tokio::task::yield_now().await;
    }
    let mut other = kit::session(&server.url()).await;
    let transaction = other.transaction().await.unwrap();
    transaction.query(LOCK, &[&tasks[3].0]).await.unwrap();
    gate.0.wait().await;
    let began = Instant::now();
    // The lock stays until they are there, so the bound is only for a failure.
    let others = async {
        for id in tasks.iter().filter(|id| **id != tasks[3]) {
            while !is_recorded(*id).await {
                tokio::task::yield_now().await;
            }
        }
    };
    let bound = Duration::from_secs(60);
    let recorded = tokio::time::timeout(bound, others).await;
    recorded.expect("the records of other tasks wait for the lock");
    println!("the others were recorded after {:?}", began.elapsed());
    assert!(!is_recorded(tasks[3]).await);
    transaction.commit().await.unwrap();
    while !is_recorded(tasks[3]).await {
        tokio::task::yield_now().await;
    }
    scheduler.stop(Duration::ZERO).await;
}

/// A task that is set aside while a signal is being committed gets the signal.
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_is_seen_by_who_waits_for_its_transaction() {
    let Some(server) = Server::postgres() else {
        return;
    };
    // The store may stop waiting while a busy machine looks: then the next task is one.
    let (store, holds) = claim_leases(&server, 10).await;
    let mut holds = holds.into_iter();
    let mut other = kit::session(&server.url()).await;
    let task = loop {
        let lease = holds.next().expect("no task is set aside in time");
        let transaction = other.transaction().await.unwrap();
        transaction.query(LOCK, &[&lease.task.0]).await.unwrap();
        let signal = "INSERT INTO retry_signal (run_id, name, payload) VALUES ($1, 'go', '1')";
        transaction.execute(signal, &[&lease.task.0]).await.unwrap();
        let change = Change {
            wake: Wake::At(Time::NEVER, 0),
            ..kit::change_to(State::Waiting)
        };
        let put_away: Arc<[Write]> = Arc::new([Write::Change(lease, Box::new(change))]);
        let writing = waiting(&store, &put_away, &transaction).await;
        transaction.commit().await.unwrap();
        match writing.await.unwrap() {
            Ok(_) => break store.task(lease.task).await.unwrap().unwrap(),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Locked, "{error}"),
        }
    };
    assert!(task.wake_at < Time::NEVER, "nobody wakes it: {task:?}");
}

/// F7: a history of a gigabyte held up all claims of its queue.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_reads_no_history() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (store, leases) = claim_leases(&server, 2).await;
    let records = leases.iter().map(|lease| kit::done(*lease, 0, None));
    store.write(records.collect()).await.unwrap();
    store.write([Write::GiveBack(leases)].into()).await.unwrap();
    let mut other = kit::session(&server.url()).await;
    let transaction = other.transaction().await.unwrap();
    let lock = "LOCK TABLE retry_step IN ACCESS EXCLUSIVE MODE";
    transaction.batch_execute(lock).await.unwrap();
    let claim = Write::Claim(kit::claim("again", "plain", 9));
    let claimed = store.write([claim].into()).await.unwrap();
    let [WriteResult::Claimed(claimed, _)] = &claimed[..] else {
        panic!("{claimed:?}");
    };
    assert_eq!(claimed.len(), 2);
    assert!(claimed.iter().all(ClaimedTask::may_have_records));
}

#[workflow]
async fn nothing(_context: &WorkflowContext) -> Result<u8, StepError> {
    Ok(7)
}

/// The notification of its end came before.
#[tokio::test]
async fn whoever_has_submitted_a_task_hears_that_it_has_ended_elsewhere() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let (one, other) = (
        Client::new(Postgres::connect(&server.url()).await.unwrap()),
        Client::new(Postgres::connect(&server.url()).await.unwrap()),
    );
    let submitted = one.submit(nothing()).await.unwrap();
    let many = one.submit_many([nothing()]).await.unwrap();
    let handles = many.into_iter().map(Result::unwrap).chain([submitted]);
    let handles: Vec<_> = handles.collect();
    let scheduler = Scheduler::new(&other).register(nothing).start().unwrap();
    for handle in &handles {
        let there = other.task::<u8>(handle.id());
        assert_eq!(there.wait().await.unwrap(), 7);
    }
    for handle in handles {
        let waiting = tokio::time::timeout(Duration::from_secs(2), handle.wait());
        assert_eq!(waiting.await.expect("a look in the store").unwrap(), 7);
    }
    scheduler.stop(Duration::ZERO).await;
}

#[workflow]
async fn asks(context: &WorkflowContext) -> Result<u8, StepError> {
    let child = context.start(nothing()).await;
    Ok(context.result(&child).await.unwrap())
}

/// No worker looks at intervals: the store reports the end of the child, in its process and
/// elsewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parent_goes_on_at_once_when_its_child_ends_here_or_elsewhere() {
    let Some(world) = World::new().await else {
        return;
    };
    let hour = Duration::from_secs(3_600);
    let [one, other] = &world.client;
    let scheduler = |client| Scheduler::new(client).poll(hour).unsupervised();
    for is_here in [true, false] {
        let mut running = if is_here {
            vec![scheduler(one).register(asks).register(nothing)]
        } else {
            vec![
                scheduler(one).register(asks),
                scheduler(other).register(nothing),
            ]
        };
        let running: Vec<_> = running.drain(..).map(|one| one.start().unwrap()).collect();
        for _ in 0..3 {
            let task = one.submit(asks()).await.unwrap();
            let ended = tokio::time::timeout(Duration::from_secs(60), task.wait()).await;
            assert_eq!(ended.expect("it goes on").unwrap(), 7, "here: {is_here}");
        }
        for running in running {
            running.stop(Duration::from_secs(1)).await;
        }
    }
}

/// Others were claimed meanwhile that were stored later, and no worker looks at intervals.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_application_commits_late_is_found_by_a_supervisor() {
    let Some(world) = World::new().await else {
        return;
    };
    let hour = Duration::from_secs(3_600);
    let [one, other] = &world.client;
    let scheduler = Scheduler::new(one)
        .register(nothing)
        .poll(hour)
        .unsupervised();
    let scheduler = scheduler.start().unwrap();
    let supervisor = Supervisor::new(other).start();
    let mut application = kit::session(&world.server.url()).await;
    let mut transaction = application.transaction().await.unwrap();
    let late = other.submit_in(&mut transaction, nothing()).await.unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1_500) {
        one.submit(nothing()).await.unwrap().wait().await.unwrap();
    }
    transaction.commit().await.unwrap();
    let ended = async {
        while one.task::<u8>(late.id).progress().await.unwrap().task.state != State::Processed {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(60), ended).await;
    ended.expect("a supervisor finds it");
    supervisor.stop().await;
    scheduler.stop(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn an_old_transaction_is_reported() {
    let Some(server) = Server::postgres_with(&["-c", "max_prepared_transactions=1"]) else {
        return;
    };
    let store = Postgres::connect(&server.url()).await.unwrap();
    let age = async || store.oldest_snapshot().await.unwrap().unwrap();
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1";
    let prepare = "BEGIN; CREATE TABLE other (); PREPARE TRANSACTION 'other'";
    for (begin, end) in [(begin, "ROLLBACK"), (prepare, "ROLLBACK PREPARED 'other'")] {
        let session = kit::session(&server.url()).await;
        session.batch_execute(begin).await.unwrap();
        let before = age().await;
        assert!(before > Duration::ZERO && age().await > before);
        session.batch_execute(end).await.unwrap();
        while age().await > before {
            tokio::task::yield_now().await;
        }
    }
}

/// An operator restores it, or puts another one in its place. A name that was never there is wrong.
#[tokio::test]
async fn a_database_that_was_there_before_is_away_for_a_while() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let url = server.url();
    let mut own = kit::session(&url).await;
    own.batch_execute("CREATE DATABASE tasks").await.unwrap();
    let (address, _) = url.rsplit_once('/').unwrap();
    let tasks = format!("{address}/tasks");
    let store = Postgres::connect(&tasks).await.unwrap();
    let move_to = async |own: &mut tokio_postgres::Client, from: &str, to: &str| {
        let end = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{from}'"
        );
        let rename = format!("ALTER DATABASE {from} RENAME TO {to}");
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            own.batch_execute(&end).await.unwrap();
            match own.batch_execute(&rename).await {
                Ok(()) => return,
                // The store has connected again.
                Err(error) => assert!(Instant::now() < patience, "{error}"),
            }
        }
    };
    move_to(&mut own, "tasks", "moved").await;
    let wrong = Postgres::connect(&tasks).await.unwrap_err();
    assert!(!wrong.is_passing(), "{wrong}");
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        let error = store.counts().await.unwrap_err();
        assert!(error.is_passing(), "{error}");
        if error.to_string().contains("the database is away") {
            break;
        }
        assert!(Instant::now() < patience, "{error}");
    }
    let client = Client::new(store);
    let submission = tokio::spawn(async move { client.submit(nothing()).await.map(drop) });
    move_to(&mut own, "moved", "tasks").await;
    submission.await.unwrap().unwrap();
}
