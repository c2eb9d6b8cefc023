//! The helpers that check the sentences.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::{Jitter, Policy};

use reattempt_supervisor::store::{
    AdminCommand, Change, Claim, ClaimedTask, Counts, LeaseStatus, Reclaimed, SignalResult, Store,
    StoreError, Submitted, Sweep, Wake, Write, WriteResult,
};
use reattempt_supervisor::{
    Direction, FailingStep, Fence, Lease, NewTask, Record, RecordKind, RunningStep, State, Task,
    TaskId, Time, WorkerId,
};

/// Success, or a message with the difference.
pub(crate) type CheckResult<T = ()> = Result<T, String>;

/// Checks a sentence.
type Check = for<'a> fn(&'a Bench) -> Pin<Box<dyn Future<Output = CheckResult> + Send + 'a>>;

/// A sentence of the contract, and the function that checks it.
pub(crate) type Sentence = (&'static str, Check);

/// Declares the sentences of a file and the functions that check them.
macro_rules! sentences {
    ($($sentence:literal => $check:ident,)*) => {
        pub(crate) const SENTENCES: &[$crate::bench::Sentence] = &[$(($sentence, |bench| Box::pin($check(bench)))),*];
    };
}
pub(crate) use sentences;

/// A lease that does not run out during the test.
pub(crate) const LONG: Duration = Duration::from_secs(600);

/// A short time on the clock of the store.
pub(crate) const SHORT: Duration = Duration::from_millis(3);

/// Two connections to one store.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) one: Arc<dyn Store>,
    pub(crate) other: Arc<dyn Store>,
    keys: AtomicU32,
}

impl Bench {
    pub(crate) fn new([one, other]: [Arc<dyn Store>; 2]) -> Self {
        Self {
            one,
            other,
            keys: AtomicU32::new(0),
        }
    }

    pub(crate) async fn write(
        &self,
        writes: impl Into<Arc<[Write]>>,
    ) -> CheckResult<Vec<WriteResult>> {
        let writes = writes.into();
        let results = self
            .one
            .write(Arc::clone(&writes))
            .await
            .map_err(to_message)?;
        check_equal("the number of results", results.len(), writes.len())?;
        Ok(results)
    }

    /// Carries out one write.
    pub(crate) async fn write_one(&self, write: Write) -> CheckResult<WriteResult> {
        let mut results = self.write([write]).await?;
        results.pop().ok_or_else(|| "there is no result".to_owned())
    }

    /// Submits a new task.
    pub(crate) async fn submit(&self, new: NewTask) -> CheckResult<TaskId> {
        match self.write_one(Write::Submit(Box::new(new))).await? {
            WriteResult::Submitted(Submitted {
                id, is_new: true, ..
            }) => Ok(id),
            result => Err(format!("the result of a new task is {result:?}")),
        }
    }

    pub(crate) async fn claim(&self, worker: &str, limit: u32) -> CheckResult<Vec<ClaimedTask>> {
        self.claim_with(claim(worker, limit)).await
    }

    pub(crate) async fn claim_with(&self, claim: Claim) -> CheckResult<Vec<ClaimedTask>> {
        match self.write_one(Write::Claim(claim)).await? {
            WriteResult::Claimed(claimed, _) => Ok(claimed),
            result => Err(format!("the result of a claim is {result:?}")),
        }
    }

    /// Claims the only task that is ready.
    pub(crate) async fn claim_one(&self, worker: &str) -> CheckResult<ClaimedTask> {
        let mut claimed = self.claim(worker, 2).await?;
        check_equal("tasks that are ready", claimed.len(), 1)?;
        claimed.pop().ok_or_else(|| "nothing is ready".to_owned())
    }

    /// Claims the only task that is ready, even if it is a suspect.
    pub(crate) async fn claim_any(&self, worker: &str) -> CheckResult<ClaimedTask> {
        let mut claimed = self.claim(worker, 2).await?;
        let suspects = Claim {
            suspects: Some(Duration::ZERO),
            ..claim(worker, 2)
        };
        claimed.extend(self.claim_with(suspects).await?);
        check_equal("tasks that are ready", claimed.len(), 1)?;
        claimed.pop().ok_or_else(|| "nothing is ready".to_owned())
    }

    /// Claims a new task for a live worker.
    pub(crate) async fn claim_new(&self, worker: &str) -> CheckResult<ClaimedTask> {
        self.heartbeat(worker, LONG).await?;
        self.submit(new(&self.key())).await?;
        self.claim_one(worker).await
    }

    /// Returns a key that no task has.
    fn key(&self) -> String {
        format!("key {}", self.keys.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the time of the store.
    pub(crate) async fn now(&self) -> CheckResult<Time> {
        let new = NewTask {
            queue: "clock".to_owned(),
            ..new(&self.key())
        };
        let id = self.submit(new).await?;
        Ok(self.task(id).await?.created_at)
    }

    /// Waits until the clock of the store is past `time`. Only its own clock says so.
    pub(crate) async fn wait_until_past(&self, time: Time) -> CheckResult {
        for _ in 0..5_000 {
            if self.now().await? > time {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Err(format!("it is not past {time:?} after 5 s"))
    }

    pub(crate) async fn heartbeat(&self, worker: &str, lease: Duration) -> CheckResult {
        let worker = WorkerId(worker.to_owned());
        let held = self.one.heartbeat(worker, lease, None).await;
        held.map(drop).map_err(to_message)
    }

    /// Carries out a write of the owner.
    pub(crate) async fn write_held(&self, write: Write) -> CheckResult<LeaseStatus> {
        let what = format!("{write:?}");
        match self.write_one(write).await? {
            WriteResult::Written(status) => Ok(status),
            result => Err(format!("the result of {what} by the owner is {result:?}")),
        }
    }

    /// Gives a task that a worker holds this state, in which it sleeps for long.
    pub(crate) async fn give_state(&self, held: &ClaimedTask, state: State) -> CheckResult {
        let change = Change {
            wake: Wake::In(LONG),
            ..change_to(state)
        };
        let write = Write::Change(lease(held), Box::new(change));
        self.write_held(write).await.map(drop)
    }

    /// Carries out a write of a worker that has lost its task.
    pub(crate) async fn write_lost(&self, write: Write) -> CheckResult {
        let what = format!("{write:?}");
        check_equal(&what, self.write_one(write).await?, WriteResult::Lost)
    }

    /// Sends a signal or a command, and checks its result.
    pub(crate) async fn send(&self, write: Write, wanted: SignalResult) -> CheckResult {
        let what = format!("{write:?}");
        check_equal(
            &what,
            self.write_one(write).await?,
            WriteResult::Signaled(wanted),
        )
    }

    /// Sends a command that is accepted, and checks that the task has changed by then.
    pub(crate) async fn command(&self, task: TaskId, command: AdminCommand) -> CheckResult {
        let before = self.task(task).await?.updated_at;
        self.wait_until_past(before).await?;
        let what = format!("{command:?} is a change of the task");
        self.send(Write::Admin(task, command), SignalResult::Accepted)
            .await?;
        check_that(&what, self.task(task).await?.updated_at > before)
    }

    pub(crate) async fn task(&self, id: TaskId) -> CheckResult<Task> {
        let task = self.other.task(id).await.map_err(to_message)?;
        task.ok_or_else(|| format!("task {id} is not there"))
    }

    pub(crate) async fn history(&self, id: TaskId) -> CheckResult<Vec<Record>> {
        self.other.history(id).await.map_err(to_message)
    }

    pub(crate) async fn failures(&self, id: TaskId) -> CheckResult<Vec<FailingStep>> {
        self.other.failures(id).await.map_err(to_message)
    }

    pub(crate) async fn running(&self, id: TaskId) -> CheckResult<Vec<RunningStep>> {
        self.other.running(id).await.map_err(to_message)
    }

    /// Reports steps that run.
    pub(crate) async fn report(
        &self,
        started: impl IntoIterator<Item = RunningStep>,
    ) -> CheckResult {
        let result = self.write_one(report(started)).await?;
        check_equal("the result of a report", result, WriteResult::Done)
    }

    pub(crate) async fn sweep(&self, limit: u32) -> CheckResult<Vec<Reclaimed>> {
        self.one.sweep(sweep(limit)).await.map_err(to_message)
    }

    /// Sweeps until it finds something: a lease runs out on the clock of the store.
    pub(crate) async fn sweep_until_found(&self) -> CheckResult<Vec<Reclaimed>> {
        for _ in 0..5_000 {
            let reclaimed = self.sweep(100).await?;
            if !reclaimed.is_empty() {
                return Ok(reclaimed);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Err("nothing was found for 5 s".to_owned())
    }

    /// Claims until there is a task.
    pub(crate) async fn claim_until_ready(&self, worker: &str) -> CheckResult<ClaimedTask> {
        for _ in 0..5_000 {
            if let Some(claimed) = self.claim(worker, 1).await?.pop() {
                return Ok(claimed);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Err("nothing was ready for 5 s".to_owned())
    }
}

/// How often a write may find the store busy. A store waits for some time by itself.
const BUSY: u32 = 100;

/// Carries out writes; repeats them as long as another connection holds the lock of the store.
pub(crate) async fn write_at_last(
    store: &dyn Store,
    writes: impl Into<Arc<[Write]>>,
) -> CheckResult<Vec<WriteResult>> {
    let writes = writes.into();
    for _ in 0..BUSY {
        if let Some(results) = unless_busy(store.write(Arc::clone(&writes)).await)? {
            return Ok(results);
        }
    }
    Err(format!("the store was busy {BUSY} times in a row"))
}

/// Returns `None` where others have held the lock of the store for longer than it waits.
pub(crate) fn unless_busy<T>(result: Result<T, StoreError>) -> CheckResult<Option<T>> {
    match result {
        Err(error) if error.is_passing() => Ok(None),
        result => result.map(Some).map_err(to_message),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn to_message(error: StoreError) -> String {
    error.to_string()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "callers create the values for the comparison"
)]
pub(crate) fn check_equal<T: PartialEq + Debug>(what: &str, found: T, wanted: T) -> CheckResult {
    if found == wanted {
        return Ok(());
    }
    Err(format!("{what}: {found:?} instead of {wanted:?}"))
}

pub(crate) fn check_that(what: &str, is_so: bool) -> CheckResult {
    if is_so {
        Ok(())
    } else {
        Err(format!("not true: {what}"))
    }
}

/// Returns a task of the workflow `w` for the queue `q`.
pub(crate) fn new(key: &str) -> NewTask {
    NewTask {
        queue: "q".to_owned(),
        max_failures: 3,
        ..NewTask::new("w", key, "{}")
    }
}

pub(crate) fn claim(worker: &str, limit: u32) -> Claim {
    Claim {
        worker: WorkerId(worker.to_owned()),
        queues: vec!["q".to_owned()],
        workflows: vec![("w".to_owned(), 1)],
        limit,
        suspects: None,
    }
}

pub(crate) const fn lease(claimed: &ClaimedTask) -> Lease {
    Lease {
        task: claimed.task.id,
        fence: claimed.task.fence,
    }
}

pub(crate) fn record(lease: Lease, seq: i32, kind: RecordKind) -> Write {
    let record = Record {
        seq,
        kind,
        ord: seq,
        name: format!("step {seq}"),
        attempts: 2,
        result: Some("{\"a\":\"\\u00e4 \\\"quoted\\\"\"}".to_owned()),
        error: None,
        due_at: None,
        at: Time::default(),
        fence: Fence::default(),
        args_hash: None,
        args: None,
        undo: None,
    };
    Write::Record(lease, Box::new(record))
}

/// Returns the counts of a task that has failed so often.
pub(crate) const fn counts(failures: i32) -> Counts {
    Counts {
        failures,
        ..Counts::NONE
    }
}

/// Returns a change to a state, without a failure.
pub(crate) const fn change_to(state: State) -> Change {
    Change {
        state,
        direction: Direction::Forward,
        counts: Counts::NONE,
        failing_step: None,
        wake: Wake::In(Duration::ZERO),
        output: None,
        error: None,
        failed_seq: None,
    }
}

/// Returns a report of a step that runs.
pub(crate) fn running(lease: Lease, seq: i32, due: Option<Time>) -> RunningStep {
    RunningStep {
        task: lease.task,
        seq,
        fence: lease.fence,
        worker: WorkerId("a".to_owned()),
        name: format!("step \"{seq}\""),
        since: Time::from_micros(5),
        due,
    }
}

/// Returns a report of steps that run.
pub(crate) fn report(started: impl IntoIterator<Item = RunningStep>) -> Write {
    Write::Running {
        started: started.into_iter().collect(),
        ended: Vec::new(),
    }
}

pub(crate) fn change(lease: Lease, change: Change) -> Write {
    Write::Change(lease, Box::new(change))
}

pub(crate) fn signal(task: TaskId, name: &str) -> Write {
    Write::Signal {
        task,
        name: name.to_owned(),
        payload: format!("\"{name}\""),
        nonce: rand::random(),
    }
}

/// Returns a sweep after which a task can be claimed at once.
pub(crate) const fn sweep_at_once(limit: u32) -> Sweep {
    let delays = Policy::new()
        .unlimited()
        .base(Duration::ZERO)
        .jitter(Jitter::None);
    Sweep {
        limit,
        every: LONG,
        delays,
        in_turn: false,
    }
}

pub(crate) const fn sweep(limit: u32) -> Sweep {
    let delays = Policy::new()
        .base(Duration::from_secs(100))
        .cap(Duration::from_secs(300))
        .jitter(Jitter::None);
    Sweep {
        limit,
        every: LONG,
        delays,
        in_turn: false,
    }
}
