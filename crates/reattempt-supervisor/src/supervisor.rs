//! A supervisor reclaims tasks whose worker or whose time is gone, submits the tasks of schedules, and
//! reports what the queues have to do. It does not know what the tasks do.

use std::collections::BTreeSet;
use std::time::Duration;

use reattempt::{Jitter, Policy};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::client::{Client, SubmitError};
use crate::events::Event;
use crate::store::{QueueStatus, Retention, StoreError, Sweep};

/// The pauses between two looks: between half and one and a half of the interval.
const PAUSES: Policy = Policy::new().jitter(Jitter::Ratio(0.5));

/// How often a supervisor counts the tasks of the queues.
const COUNTED_EVERY: Duration = Duration::from_secs(15);

/// How often a supervisor looks for tasks to delete, and how many it deletes at a time: so few that nobody waits for them.
const PRUNED_EVERY: Duration = Duration::from_secs(60);
const PRUNED_TOGETHER: u32 = 500;

/// How long a task waits after its failures.
pub(crate) const DELAYS: Policy = Policy::new()
    .unlimited()
    .base(Duration::from_secs(1))
    .cap(Duration::from_secs(300))
    .jitter(Jitter::Equal);

/// Reclaims tasks whose worker or whose time is gone, submits the tasks of schedules, and reports what
/// the queues have to do ([`Event::Queue`]).
///
/// Any number of supervisors may look at the same store. They have no leader, and each task is
/// reclaimed once. On PostgreSQL one of them looks in each interval. A scheduler starts one, unless it is
/// [`unsupervised`](crate::Scheduler::unsupervised).
#[derive(Debug, Clone)]
#[must_use = "a supervisor does nothing before `start`"]
pub struct Supervisor {
    client: Client,
    interval: Duration,
    limit: u32,
    delays: Policy,
    retention: Option<Retention>,
}

impl Supervisor {
    /// Creates a supervisor of the tasks of this client's store.
    pub fn new(client: &Client) -> Self {
        Self {
            client: client.clone(),
            interval: Duration::from_secs(1),
            limit: 256,
            delays: DELAYS,
            retention: None,
        }
    }

    /// Sets the average interval between two looks. Each pause is between half and one and a half
    /// of it.
    ///
    /// # Default
    ///
    /// 1 s.
    pub fn every(mut self, interval: Duration) -> Self {
        self.interval = interval.max(Duration::from_millis(1));
        self
    }

    /// Sets how many tasks one look reclaims at most.
    ///
    /// # Default
    ///
    /// 256.
    pub fn limit(mut self, tasks: u32) -> Self {
        self.limit = tasks.max(1);
        self
    }

    /// Sets how long a task waits after its failures: the delays of a policy.
    ///
    /// # Default
    ///
    /// Exponential from 1 s to 5 min; the upper half of each delay is random.
    pub fn delays(mut self, delays: Policy) -> Self {
        self.delays = delays;
        self
    }

    /// Deletes tasks so long after their end, and keys whose time is over, as [`Client::prune`] does. A [`Duration`] says how
    /// long tasks and their keys stay; a [`Retention`] says more.
    ///
    /// The supervisor looks about once a minute. It deletes 500 tasks at a time, and then does nothing for as long as that
    /// took. Lines of the feed of [ends](Client::ends) go in portions of 500, too, one after the other. Of several supervisors it is enough that one does it; if more do, each looks, and none waits for another.
    ///
    /// # Default
    ///
    /// Nothing is deleted.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use reattempt_supervisor::{Client, Memory, Supervisor};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// const DAY: Duration = Duration::from_secs(86_400);
    ///
    /// let client = Client::new(Memory::new());
    /// let supervisor = Supervisor::new(&client).keep(30 * DAY).start();
    /// # supervisor.stop().await;
    /// # }
    /// ```
    pub fn keep(mut self, retention: impl Into<Retention>) -> Self {
        self.retention = Some(retention.into());
        self
    }

    /// Starts the supervisor.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub fn start(self) -> SupervisorHandle {
        let (stop, stopped) = watch::channel(false);
        let work = tokio::spawn(self.watch(stopped));
        SupervisorHandle { stop, work }
    }

    /// Looks once, and returns how many tasks it has reclaimed. It also submits the tasks of schedules
    /// (feature `cron`).
    ///
    /// # Errors
    ///
    /// Fails if the store has an error.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        let count = self.reclaim(false).await?;
        self.submit_scheduled().await?;
        Ok(count)
    }

    /// Reclaims tasks once, and returns how many; `in_turn` leaves it to another supervisor that has just done it.
    async fn reclaim(&self, in_turn: bool) -> Result<usize, StoreError> {
        let shared = self.client.shared();
        let sweep = Sweep {
            limit: self.limit,
            every: self.interval,
            delays: self.delays,
            in_turn,
        };
        let all = shared.store().sweep(sweep).await?;
        let count = all.len();
        for reclaimed in all {
            shared.emit(&Event::Reclaimed(reclaimed));
        }
        if count > 0 {
            shared.writer().look();
        }
        Ok(count)
    }

    /// Submits the tasks of schedules whose time has come.
    #[cfg_attr(
        not(feature = "cron"),
        expect(
            clippy::unused_async,
            reason = "without schedules it waits for nothing"
        )
    )]
    async fn submit_scheduled(&self) -> Result<(), StoreError> {
        #[cfg(feature = "cron")]
        crate::schedule::submit_due(&self.client, self.interval).await?;
        Ok(())
    }

    /// Looks until it is stopped. Writes of schedules may wait, and reclaiming does not wait for them.
    async fn watch(self, mut stop: watch::Receiver<bool>) {
        let due = Notify::new();
        let looks = async {
            tokio::join!(
                self.reclaim_all(&due),
                self.submit_all(&due),
                self.report_queues(),
                self.prune_all(),
            );
        };
        tokio::select! {
            biased;
            // If the handle is dropped, the supervisor goes on.
            Ok(_) = stop.wait_for(|stop| *stop) => {}
            () = looks => {}
        }
    }

    /// Reports what the queues have to do, and what holds the database back, again and again, if an observer reads
    /// it.
    async fn report_queues(&self) {
        let shared = self.client.shared();
        let mut reported = BTreeSet::new();
        while shared.observers().have_readers() {
            pause(COUNTED_EVERY).await;
            match shared.store().queues().await {
                Ok(queues) => {
                    let names = queues.iter().map(|status| status.queue.clone()).collect();
                    let gone = std::mem::replace(&mut reported, names);
                    let gone = gone.difference(&reported).cloned();
                    for status in gone.map(QueueStatus::empty).chain(queues) {
                        shared.emit(&Event::Queue(status));
                    }
                }
                Err(error) => shared.emit_store_error(&error),
            }
            match shared.store().oldest_snapshot().await {
                Ok(Some(age)) => shared.emit(&Event::OldestSnapshot(age)),
                Ok(None) => {}
                Err(error) => shared.emit_store_error(&error),
            }
        }
    }

    /// Reclaims tasks again and again: at once if there are more, and not only in its turn then. Sets `due` if a
    /// schedule may be.
    async fn reclaim_all(&self, due: &Notify) {
        let shared = self.client.shared();
        let full = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let mut has_more = false;
        loop {
            has_more = match self.reclaim(!has_more).await {
                Ok(count) => count >= full,
                Err(error) => {
                    shared.emit_store_error(&error);
                    false
                }
            };
            if shared.store().may_have_due_schedules() {
                due.notify_one();
            }
            if !has_more {
                pause(self.interval).await;
            }
        }
    }

    /// Deletes what has ended long ago, again and again, if it is asked to.
    async fn prune_all(&self) {
        let Some(retention) = self.retention else {
            return;
        };
        loop {
            pause(PRUNED_EVERY).await;
            loop {
                let begun = Instant::now();
                match self.client.prune(retention, PRUNED_TOGETHER).await {
                    Ok(count) if count >= u64::from(PRUNED_TOGETHER) => {}
                    Ok(_) => break,
                    Err(error) => {
                        if let SubmitError::Store(error) = error {
                            self.client.shared().emit_store_error(&error);
                        }
                        break;
                    }
                }
                tokio::time::sleep(begun.elapsed()).await;
            }
        }
    }

    /// Submits the tasks of schedules whenever one may be due.
    async fn submit_all(&self, due: &Notify) {
        loop {
            due.notified().await;
            if let Err(error) = self.submit_scheduled().await {
                self.client.shared().emit_store_error(&error);
            }
        }
    }
}

/// Waits for half to one and a half of an interval.
async fn pause(interval: Duration) {
    let pause = PAUSES.base(interval).cap(interval.saturating_mul(2));
    tokio::time::sleep(pause.sample_delay(0, None, rand::random)).await;
}

/// A handle to a running supervisor. If it is dropped, the supervisor runs until its runtime ends.
#[derive(Debug)]
pub struct SupervisorHandle {
    stop: watch::Sender<bool>,
    work: JoinHandle<()>,
}

impl SupervisorHandle {
    /// Stops the supervisor.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.work.await;
    }
}
