//! The worker of a scheduler: it claims tasks, renews its lease, and passes requests on to its
//! tasks.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reattempt::Policy;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::drive::{self, Slot};
use crate::client::Client;
use crate::context::Inner;
use crate::events::Event;
use crate::resources::Resources;
use crate::store::{Claim, ClaimedTask, PendingRequest, Write, WriteResult};
use crate::task::{Direction, TaskId, WorkerId};
use crate::workflow::WorkflowRegistry;
use crate::writer::{Reply, Room};

/// The tasks that this worker runs.
#[derive(Debug, Clone, Default)]
pub(super) struct RunningTasks(Arc<Mutex<HashMap<TaskId, Arc<Inner>>>>);

impl RunningTasks {
    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<Inner>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Claims tasks and runs them.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) id: WorkerId,
    pub(super) running: RunningTasks,
    pub(super) client: Client,
    pub(super) resources: Resources,
    pub(super) workflows: WorkflowRegistry,
    pub(super) queues: Vec<String>,
    pub(super) room: Room,
    pub(super) lease: Duration,
    pub(super) poll: Duration,
    pub(super) delays: Policy,
}

impl Worker {
    /// Works until `stop` has a grace period, and then until that is over.
    pub(super) async fn work(self, mut stop: watch::Receiver<Option<Duration>>) {
        let this = Arc::new(self);
        // Its lease must be there before its first task.
        this.heartbeat().await;
        let heartbeats = tokio::spawn(Arc::clone(&this).send_heartbeats());
        let mut running = JoinSet::new();
        tokio::select! {
            biased;
            grace = grace_period(&mut stop) => {
                let all = async { while running.join_next().await.is_some() {} };
                let _ = tokio::time::timeout(grace, all).await;
                running.shutdown().await;
                heartbeats.abort();
                // If the store does not take it now, the lease runs out.
                let leave = this.send(Write::Leave(this.id.clone()));
                let _ = tokio::time::timeout(this.lease, leave).await;
            }
            () = this.take_all(&mut running) => {}
        }
    }

    /// Claims and starts tasks; never returns.
    async fn take_all(self: &Arc<Self>, running: &mut JoinSet<()>) {
        let store = self.client.shared().store();
        let writer = self.client.shared().writer();
        let mut polls = tokio::time::interval(self.poll);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut new_work = store.wait_for_work();
        let mut may_be_more = true;
        loop {
            let offer = writer.offer(self.claim(), self.room.clone(), may_be_more);
            let mut offer = pin!(offer);
            let reply = loop {
                tokio::select! {
                    reply = &mut offer => break reply,
                    // From here on it notices whatever others store.
                    () = &mut new_work => new_work = store.wait_for_work(),
                    _ = polls.tick() => {}
                }
                writer.look();
            };
            while running.try_join_next().is_some() {}
            if let Ok(WriteResult::Claimed(claimed)) = reply {
                may_be_more = self.room.was_filled(claimed.len());
                for task in claimed {
                    self.run(task, running);
                }
                continue;
            }
            // Nobody knows whether the claim took place: give back the tasks that do not run here.
            while !self.release_others().await {
                tokio::time::sleep(self.poll).await;
            }
            may_be_more = true;
        }
    }

    fn claim(&self) -> Claim {
        Claim {
            worker: self.id.clone(),
            queues: self.queues.clone(),
            workflows: self.workflows.names(),
            limit: 0,
        }
    }

    /// Gives back the tasks that the store assigns to this worker and that do not run here. Returns
    /// whether the store did it.
    async fn release_others(&self) -> bool {
        let running = self.running.lock().keys().copied().collect();
        let release = Write::Release(self.id.clone(), running);
        self.send(release).await.is_ok()
    }

    /// Starts a claimed task.
    fn run(self: &Arc<Self>, claimed: ClaimedTask, running: &mut JoinSet<()>) {
        let task = &claimed.task;
        let Some(run_fn) = self.workflows.get(&task.workflow, task.version) else {
            return;
        };
        let shared = self.client.shared();
        shared.emit(&Event::Claimed {
            task: task.id,
            workflow: task.workflow.clone(),
            waited: claimed.now.since(task.wake_at),
        });
        let id = task.id;
        let inner = Arc::new(Inner::new(
            claimed,
            shared.store().salt(),
            shared.writer().clone(),
            self.resources.clone(),
        ));
        self.running.lock().insert(id, Arc::clone(&inner));
        let slot = Slot {
            seat: self.room.take(),
            local: shared.local_task(id),
        };
        slot.local.set_running(true);
        let this = Arc::clone(self);
        running.spawn(async move {
            let _entry = RunningEntry {
                running: this.running.clone(),
                inner: Arc::clone(&inner),
            };
            drive::drive(inner, run_fn, this.client.shared(), &this.delays, slot).await;
        });
    }

    /// Renews the lease until it is aborted.
    async fn send_heartbeats(self: Arc<Self>) {
        loop {
            tokio::time::sleep(self.lease.checked_div(3).unwrap_or_default()).await;
            self.heartbeat().await;
        }
    }

    /// Renews the lease, and passes on the requests that come back.
    async fn heartbeat(&self) {
        let heartbeat = Write::Heartbeat(self.id.clone(), self.lease);
        if let Ok(WriteResult::Requests(requests)) = self.send(heartbeat).await {
            for request in requests {
                self.pass_on(request).await;
            }
        }
    }

    /// Passes a request on to its task.
    async fn pass_on(&self, request: PendingRequest) {
        let Some(inner) = self.running.lock().get(&request.task).cloned() else {
            return;
        };
        if request.cancel && inner.task.direction == Direction::Forward {
            inner.cancel();
        }
        if request.signal > inner.newest_signal()
            && let Ok(signals) = self.client.shared().store().signals(request.task).await
        {
            inner.set_signals(signals);
        }
    }

    fn send(&self, write: Write) -> impl Future<Output = Reply> + use<> {
        self.client.shared().writer().send(write)
    }
}

/// Waits until the scheduler is stopped. Returns how long running tasks may take to end.
async fn grace_period(stop: &mut watch::Receiver<Option<Duration>>) -> Duration {
    let grace = stop.wait_for(Option::is_some).await.map(|grace| *grace);
    match grace {
        Ok(grace) => grace.unwrap_or_default(),
        // Nobody can stop it any more.
        Err(_) => std::future::pending().await,
    }
}

/// The entry of a running task; dropping it removes the entry.
struct RunningEntry {
    running: RunningTasks,
    inner: Arc<Inner>,
}

impl Drop for RunningEntry {
    fn drop(&mut self) {
        let mut running = self.running.lock();
        let id = self.inner.task.id;
        // The worker may have lost the task and claimed it again meanwhile.
        if running
            .get(&id)
            .is_some_and(|inner| Arc::ptr_eq(inner, &self.inner))
        {
            running.remove(&id);
        }
    }
}
