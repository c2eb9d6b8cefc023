//! What the sentences are tried with.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::{Jitter, Policy};

use crate::store::{
    Change, Claim, Claimed, Operation, Outcome, Standing, Steer, Store, StoreError, Sweep, Swept,
    Told, Wake,
};
use crate::task::{Direction, Fence, Hold, Kind, NewRun, Record, Run, RunId, State, WorkerId};
use crate::time::Time;

/// Nothing, or in words why not.
pub(super) type Checked<T = ()> = Result<T, String>;

/// A lease that nobody waits for.
pub(super) const LONG: Duration = Duration::from_secs(600);

/// So long on the clock of the store that it has passed soon.
pub(super) const SHORT: Duration = Duration::from_millis(3);

/// Two ways to one store.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) one: Arc<dyn Store>,
    pub(super) other: Arc<dyn Store>,
    keys: AtomicU32,
}

impl Bench {
    pub(super) fn new([one, other]: [Arc<dyn Store>; 2]) -> Self {
        Self {
            one,
            other,
            keys: AtomicU32::new(0),
        }
    }

    pub(super) async fn write(
        &self,
        operations: impl Into<Arc<[Operation]>>,
    ) -> Checked<Vec<Outcome>> {
        let operations = operations.into();
        let outcomes = self
            .one
            .write(Arc::clone(&operations))
            .await
            .map_err(said)?;
        same(
            "as many outcomes as operations",
            outcomes.len(),
            operations.len(),
        )?;
        Ok(outcomes)
    }

    /// One operation.
    pub(super) async fn act(&self, operation: Operation) -> Checked<Outcome> {
        let mut outcomes = self.write([operation]).await?;
        outcomes
            .pop()
            .ok_or_else(|| "there is no outcome".to_owned())
    }

    /// A new task.
    pub(super) async fn submit(&self, new: NewRun) -> Checked<RunId> {
        match self.act(Operation::Submit(Box::new(new))).await? {
            Outcome::Submitted { id, is_new: true } => Ok(id),
            outcome => Err(format!("a new task was answered with {outcome:?}")),
        }
    }

    pub(super) async fn claim(&self, worker: &str, limit: u32) -> Checked<Vec<Claimed>> {
        self.take(claim(worker, limit)).await
    }

    pub(super) async fn take(&self, claim: Claim) -> Checked<Vec<Claimed>> {
        match self.act(Operation::Claim(claim)).await? {
            Outcome::Claimed(claimed) => Ok(claimed),
            outcome => Err(format!("a claim was answered with {outcome:?}")),
        }
    }

    /// The only task that is ready.
    pub(super) async fn claim_one(&self, worker: &str) -> Checked<Claimed> {
        let mut claimed = self.claim(worker, 2).await?;
        same("tasks that are ready", claimed.len(), 1)?;
        claimed.pop().ok_or_else(|| "nothing is ready".to_owned())
    }

    /// A new task in the hands of `worker`, who lives.
    pub(super) async fn held_by(&self, worker: &str) -> Checked<Claimed> {
        self.beat(worker, LONG).await?;
        self.submit(new(&self.key())).await?;
        self.claim_one(worker).await
    }

    /// One that no task has.
    fn key(&self) -> String {
        format!("key {}", self.keys.fetch_add(1, Ordering::Relaxed))
    }

    /// The time of the store.
    pub(super) async fn now(&self) -> Checked<Time> {
        let new = NewRun {
            queue: "clock".to_owned(),
            ..new(&self.key())
        };
        let id = self.submit(new).await?;
        Ok(self.run(id).await?.created_at)
    }

    pub(super) async fn beat(&self, worker: &str, lease: Duration) -> Checked {
        match self
            .act(Operation::Beat(WorkerId(worker.to_owned()), lease))
            .await?
        {
            Outcome::Beaten(_) => Ok(()),
            outcome => Err(format!("a heartbeat was answered with {outcome:?}")),
        }
    }

    pub(super) async fn held(&self, operation: Operation) -> Checked<Standing> {
        let what = format!("{operation:?}");
        match self.act(operation).await? {
            Outcome::Held(standing) => Ok(standing),
            outcome => Err(format!(
                "{what} of the holder was answered with {outcome:?}"
            )),
        }
    }

    pub(super) async fn lost(&self, operation: Operation) -> Checked {
        let what = format!("{operation:?}");
        same(&what, self.act(operation).await?, Outcome::Lost)
    }

    pub(super) async fn told(&self, operation: Operation, wanted: Told) -> Checked {
        let what = format!("{operation:?}");
        same(&what, self.act(operation).await?, Outcome::Told(wanted))
    }

    pub(super) async fn steer(&self, run: RunId, steer: Steer) -> Checked {
        self.told(Operation::Steer(run, steer), Told::Yes).await
    }

    pub(super) async fn run(&self, id: RunId) -> Checked<Run> {
        let run = self.other.run(id).await.map_err(said)?;
        run.ok_or_else(|| format!("task {id} is not there"))
    }

    pub(super) async fn history(&self, id: RunId) -> Checked<Vec<Record>> {
        self.other.history(id).await.map_err(said)
    }

    pub(super) async fn sweep(&self, limit: u32) -> Checked<Vec<Swept>> {
        self.one.sweep(sweep(limit)).await.map_err(said)
    }

    /// Sweeps until something is found: a lease runs out on the clock of the store.
    pub(super) async fn sweep_until_found(&self) -> Checked<Vec<Swept>> {
        for _ in 0..5_000 {
            let swept = self.sweep(100).await?;
            if !swept.is_empty() {
                return Ok(swept);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Err("nothing was found for 5 s".to_owned())
    }

    /// Claims until there is a task.
    pub(super) async fn claim_until_ready(&self, worker: &str) -> Checked<Claimed> {
        for _ in 0..5_000 {
            if let Some(claimed) = self.claim(worker, 1).await?.pop() {
                return Ok(claimed);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Err("nothing was ready for 5 s".to_owned())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
pub(super) fn said(error: StoreError) -> String {
    error.to_string()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "what is compared is made for it"
)]
pub(super) fn same<T: PartialEq + Debug>(what: &str, found: T, wanted: T) -> Checked {
    if found == wanted {
        return Ok(());
    }
    Err(format!("{what}: {found:?} instead of {wanted:?}"))
}

pub(super) fn holds(what: &str, is_so: bool) -> Checked {
    if is_so {
        Ok(())
    } else {
        Err(format!("not so: {what}"))
    }
}

/// A task of the workflow `w` in the queue `q`.
pub(super) fn new(key: &str) -> NewRun {
    NewRun {
        workflow: "w".to_owned(),
        version: 1,
        queue: "q".to_owned(),
        priority: 0,
        key: key.to_owned(),
        input: "{}".to_owned(),
        headers: None,
        delay: Duration::ZERO,
        complete_by: None,
        max_failures: 3,
    }
}

pub(super) fn claim(worker: &str, limit: u32) -> Claim {
    Claim {
        worker: WorkerId(worker.to_owned()),
        queues: vec!["q".to_owned()],
        workflows: vec![("w".to_owned(), 1)],
        limit,
    }
}

pub(super) const fn hold(claimed: &Claimed) -> Hold {
    Hold {
        run: claimed.run.id,
        fence: claimed.run.fence,
    }
}

pub(super) fn record(hold: Hold, seq: i32, kind: Kind) -> Operation {
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
    };
    Operation::Record(hold, Box::new(record))
}

/// How a task stands that was given up without having failed.
pub(super) const fn standing(state: State) -> Change {
    Change {
        state,
        direction: Direction::Forward,
        failures: 0,
        wake: Wake::In(Duration::ZERO),
        output: None,
        error: None,
    }
}

pub(super) fn change(hold: Hold, change: Change) -> Operation {
    Operation::Change(hold, Box::new(change))
}

pub(super) fn signal(run: RunId, name: &str) -> Operation {
    Operation::Signal {
        run,
        name: name.to_owned(),
        payload: format!("\"{name}\""),
    }
}

pub(super) const fn sweep(limit: u32) -> Sweep {
    let delays = Policy::new()
        .base(Duration::from_secs(100))
        .cap(Duration::from_secs(300))
        .jitter(Jitter::None);
    Sweep { limit, delays }
}
