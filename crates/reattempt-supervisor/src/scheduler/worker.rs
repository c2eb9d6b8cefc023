//! The worker of a scheduler: it claims tasks, renews its lease, and passes requests on to its
//! tasks.

use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reattempt::Policy;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::drive::{self, Slot};
use super::history::Known;
use super::reports::Watch;
use crate::client::Client;
use crate::context::{Inner, Limits};
use crate::events::Event;
use crate::events::spans::TaskSpans;
use crate::identity::Identity;
use crate::resources::Resources;
use crate::running::RunningSteps;
use crate::store::next_state::SUSPECT_DEATHS;
use crate::store::{Claim, ClaimedTask, HeldTask, Write, WriteResult};
use crate::task::{Direction, Lease, TaskId, WorkerId};
use crate::workflow::WorkflowRegistry;
use crate::writer::{DELAYS, Reply, Seats};

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
    pub(super) steps: RunningSteps,
    pub(super) running: RunningTasks,
    pub(super) client: Client,
    pub(super) resources: Resources,
    pub(super) workflows: WorkflowRegistry,
    pub(super) queues: Vec<String>,
    pub(super) seats: Seats,
    pub(super) lease: Duration,
    pub(super) poll: Duration,
    pub(super) delays: Policy,
    pub(super) spans: TaskSpans,
    /// When the last heartbeat that the store has answered was sent.
    pub(super) renewed: watch::Sender<Instant>,
    pub(super) strangers: Mutex<Strangers>,
    /// Set when a task has left this worker, which may make room in a queue with a limit.
    pub(super) left: Notify,
    /// Since when a suspect runs here that may end this process.
    pub(super) trial: watch::Sender<Option<Instant>>,
}

/// When a worker claims again after the limit of a queue has held it back.
#[derive(Debug, Default)]
enum HeldBack {
    /// No limit has.
    #[default]
    No,
    /// When a task has left this worker.
    UntilTaskLeaves,
    /// The same, and at this time.
    Until(Instant),
}

impl HeldBack {
    /// Returns what a claim says.
    fn of(reply: &Reply) -> Self {
        match reply {
            Ok(WriteResult::Claimed(_, Some(again))) => match Instant::now().checked_add(*again) {
                Some(time) if *again < Duration::MAX => Self::Until(time),
                _ => Self::UntilTaskLeaves,
            },
            _ => Self::No,
        }
    }

    /// Waits until there may be room, once for each claim.
    async fn wait(&mut self, left: &Notify) {
        match self {
            Self::No => std::future::pending().await,
            Self::UntilTaskLeaves => left.notified().await,
            Self::Until(time) => {
                let _ = tokio::time::timeout_at(*time, left.notified()).await;
            }
        }
        if matches!(self, Self::Until(time) if *time <= Instant::now()) {
            *self = Self::UntilTaskLeaves;
        }
    }
}

/// What the store said last that this worker holds, and does not run here.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    leases: HashSet<Lease>,
    /// When the store listed all that it holds.
    listed: Option<Instant>,
}

/// How often the store lists all tasks that a worker holds. Otherwise it is asked for those that run here.
const LISTED: Duration = Duration::from_secs(60);

/// How many times its interval a worker waits at most if the store reports what others do.
const QUIET: u32 = 4;

/// How long a suspect runs alone at most, so that others do not wait for long.
const ALONE: Duration = Duration::from_secs(4);

/// How long tasks are ready before the worker reports that it does not have their workflow, and how
/// often it looks for them.
const UNTAKEN: Duration = Duration::from_secs(60);

/// How long steps may take to end when the scheduler stops; one that blocks its thread never does.
const DROPPED_WITHIN: Duration = Duration::from_millis(100);

impl Worker {
    /// Works until `stop` has a grace period, and then until that is over.
    pub(super) async fn work(self, mut stop: watch::Receiver<Option<Duration>>) {
        let this = Arc::new(self);
        // Its lease must be there before its first task.
        tokio::select! {
            biased;
            _ = grace_period(&mut stop) => return,
            _ = this.heartbeat(false) => {}
        }
        let heartbeats = tokio::spawn(Arc::clone(&this).send_heartbeats());
        let watch = Watch::start(&this.client, &this.steps, this.lease);
        let reports = tokio::spawn(watch.tick());
        let mut running = JoinSet::new();
        tokio::select! {
            biased;
            grace = grace_period(&mut stop) => {
                join_all(&mut running, grace).await;
                running.abort_all();
                // Others may take over at once what runs no step.
                let give_back = this.send(Write::GiveBack(this.without_step()));
                let dropped = join_all(&mut running, DROPPED_WITHIN);
                let _ = tokio::join!(tokio::time::timeout(this.lease, give_back), dropped);
                heartbeats.abort();
                reports.abort();
                // If the store does not take it now, the lease runs out.
                let leave = this.send(Write::Leave(this.id.clone()));
                let _ = tokio::time::timeout(this.lease, leave).await;
            }
            () = this.take_all(&mut running) => {}
            () = this.look_for_unknown() => {}
        }
    }

    /// Claims and starts tasks; never returns.
    async fn take_all(self: &Arc<Self>, running: &mut JoinSet<()>) {
        let store = self.client.shared().store();
        let writer = self.client.shared().writer();
        let mut new_work = store.wait_for_work();
        let standing = self.claim(None);
        let mut claims = writer.offer(standing.clone(), self.seats.clone());
        let mut suspects_at = Instant::now();
        let mut held_back = HeldBack::default();
        loop {
            self.wait_for_lease().await;
            self.leave_suspect_alone().await;
            if self.seats.open() {
                writer.look();
            }
            let reply = loop {
                tokio::select! {
                    reply = claims.recv() => break reply,
                    // From here on it notices whatever others store.
                    () = &mut new_work => new_work = store.wait_for_work(),
                    () = tokio::time::sleep_until(self.next_look(&standing)) => {}
                    () = held_back.wait(&self.left) => {}
                }
                writer.look();
            };
            let Some(reply) = reply else {
                // The runtime of the writer has ended.
                return std::future::pending().await;
            };
            while running.try_join_next().is_some() {}
            held_back = HeldBack::of(&reply);
            if self.run_claimed(reply, running).is_some() {
                // Other tasks come first, every time.
                if Instant::now() < suspects_at {
                    continue;
                }
                suspects_at = Instant::now().checked_add(self.poll).unwrap_or(suspects_at);
                let Some(claim) = self.claim_suspect() else {
                    continue;
                };
                self.seats.close();
                let reply = writer.offer(claim, self.seats.clone()).recv().await;
                // What was claimed before it runs, too.
                let mut is_known = true;
                while let Ok(reply) = claims.try_recv() {
                    held_back = HeldBack::of(&reply);
                    is_known &= self.run_claimed(reply, running).is_some();
                }
                let count = match reply {
                    Some(reply) => self.run_claimed(reply, running),
                    // It was full, and nothing was claimed.
                    None => Some(0),
                };
                if let Some(count) = count
                    && is_known
                {
                    if count > 0 {
                        // There may be more of them. Other tasks come first, and at once.
                        suspects_at = Instant::now();
                    }
                    continue;
                }
            }
            // Whether the claim took place is unknown: give back the tasks that do not run here. The seats are
            // closed, so no claim is under way.
            while !self.heartbeat(true).await {
                tokio::time::sleep(self.poll).await;
            }
        }
    }

    /// Returns when the worker looks by itself: at its intervals, or when the next task wakes up that it knows of, if
    /// the store reports all others.
    fn next_look(&self, claim: &Claim) -> Instant {
        let quiet = self.client.shared().store().quiet_until(claim);
        look_after(Instant::now(), self.poll, quiet)
    }

    /// Announces workflows whose tasks no worker takes; never returns.
    async fn look_for_unknown(&self) {
        let shared = self.client.shared();
        loop {
            tokio::time::sleep(UNTAKEN).await;
            let (queues, known) = (self.queues.clone(), self.workflows.names());
            match shared
                .store()
                .unknown_workflows(queues, known, UNTAKEN)
                .await
            {
                Ok(unknown) => {
                    for workflow in unknown {
                        shared.emit(&Event::UnknownWorkflow(workflow));
                    }
                }
                Err(error) => shared.emit_store_error(&error),
            }
        }
    }

    fn claim(&self, suspects: Option<Duration>) -> Claim {
        Claim {
            worker: self.id.clone(),
            queues: self.queues.clone(),
            workflows: self.workflows.names(),
            limit: 0,
            suspects,
        }
    }

    /// Returns the claim of one suspect, if the worker may take one now. It takes one at a time, if
    /// it holds nothing else. Where workers always hold something, a suspect does not wait for ever.
    fn claim_suspect(&self) -> Option<Claim> {
        let may_find = self.client.shared().store().may_have_suspects();
        if !may_find || self.trial.borrow().is_some() || self.seats.is_full() {
            return None;
        }
        let is_idle = self.running.lock().is_empty();
        let waited = if is_idle { Duration::ZERO } else { self.solo() };
        Some(self.claim(Some(waited)))
    }

    /// Returns how long a suspect must run before it is none any more.
    fn solo(&self) -> Duration {
        self.lease.saturating_mul(2)
    }

    /// Waits as long as a suspect must run alone.
    async fn leave_suspect_alone(&self) {
        let mut trial = self.trial.subscribe();
        let began = *trial.borrow_and_update();
        let end = began.and_then(|began| began.checked_add(ALONE.min(self.solo())));
        if let Some(end) = end {
            let _ = tokio::time::timeout_at(end, trial.wait_for(Option::is_none)).await;
        }
    }

    /// Waits until a suspect has made progress, or has run for long enough.
    async fn end_trial(&self, inner: &Inner) {
        tokio::select! {
            () = inner.progressed() => {}
            () = tokio::time::sleep(self.solo()) => {
                inner.clear_deaths();
                // If the store cannot keep it now, the task stays a suspect for other workers.
                let _ = self.send(Write::ClearDeaths(inner.lease)).await;
            }
        }
    }

    /// Starts the tasks of a claim. Returns their number, or `None` if it is unknown whether the
    /// claim took place.
    fn run_claimed(self: &Arc<Self>, reply: Reply, running: &mut JoinSet<()>) -> Option<usize> {
        let Ok(WriteResult::Claimed(claimed, _)) = reply else {
            return None;
        };
        let count = claimed.len();
        for task in claimed {
            self.run(task, running);
        }
        Some(count)
    }

    /// Returns the tasks that run no step now.
    fn without_step(&self) -> Vec<Lease> {
        let with_step = self.steps.tasks();
        let running = self.running.lock();
        let leases = running.values().map(|inner| inner.lease);
        leases.filter(|lease| !with_step.contains(lease)).collect()
    }

    /// Starts a claimed task.
    fn run(self: &Arc<Self>, claimed: ClaimedTask, running: &mut JoinSet<()>) {
        let seat = self.seats.seat();
        let task = &claimed.task;
        let Some(workflow) = self.workflows.get(&task.workflow, task.version) else {
            return;
        };
        let shared = self.client.shared();
        shared.emit(&Event::Claimed {
            task: task.id,
            workflow: task.workflow.clone(),
            waited: claimed.now.since(task.wake_at),
        });
        let id = task.id;
        let known = Known::of(&claimed);
        let identity = Identity::of(task, shared.store().salt());
        let inner = Inner::new(
            (claimed.task, claimed.now),
            identity,
            shared.writer().clone(),
            self.resources.clone(),
            Limits {
                max_payload: shared.max_payload(),
                step_complete_by: Some(workflow.step_complete_by),
                delays: self.delays,
            },
            self.steps.clone(),
        );
        let inner = Arc::new(inner.with_store(shared.store()));
        if let Some(old) = self.running.lock().insert(id, Arc::clone(&inner)) {
            old.lose();
        }
        let slot = Slot {
            seat,
            local: shared.local_task(id),
        };
        slot.local.set_running(true);
        let is_suspect = inner.task.deaths >= SUSPECT_DEATHS;
        let trial = is_suspect.then(|| Trial::begin(&self.trial));
        let this = Arc::clone(self);
        running.spawn(async move {
            let _entry = RunningEntry {
                running: this.running.clone(),
                inner: Arc::clone(&inner),
            };
            let shared = this.client.shared();
            let drive = drive::drive(
                Arc::clone(&inner),
                known,
                workflow.run,
                shared,
                &this.delays,
                slot,
            );
            let span = this.spans.span(&inner.task);
            let mut drive = pin!(span.instrument(drive));
            let mut has_ended = false;
            if let Some(trial) = trial {
                tokio::select! {
                    biased;
                    () = &mut drive => has_ended = true,
                    () = this.end_trial(&inner) => drop(trial),
                }
            }
            if !has_ended {
                drive.await;
            }
            this.left.notify_one();
            if inner.task.lane.is_some() {
                // The next task of the lane may have its turn.
                shared.writer().look();
            }
        });
    }

    /// Renews the lease until it is aborted. Once the lease is over, other workers may claim and run
    /// the tasks. So nothing of them goes on here, although no heartbeat has said that they are lost.
    async fn send_heartbeats(self: Arc<Self>) {
        let interval = self.lease.checked_div(3).unwrap_or_default();
        let mut pause = interval;
        loop {
            tokio::time::sleep(pause).await;
            let mut heartbeat = pin!(self.heartbeat(false));
            let is_answered = tokio::select! {
                biased;
                is_answered = &mut heartbeat => is_answered,
                () = tokio::time::sleep_until(self.lease_end()) => {
                    for inner in self.running.lock().values() {
                        inner.lose();
                    }
                    heartbeat.await
                }
            };
            // A late answer renews a lease that may be over again.
            let is_over = Instant::now() >= self.lease_end();
            pause = if is_answered && is_over {
                Duration::ZERO
            } else {
                interval
            };
        }
    }

    /// Returns when the lease is over, on the clock of this process.
    fn lease_end(&self) -> Instant {
        let renewed = *self.renewed.borrow();
        renewed.checked_add(self.lease).unwrap_or(renewed)
    }

    /// Waits until the worker has a lease: others would take over what it claims without one.
    async fn wait_for_lease(&self) {
        let mut renewed = self.renewed.subscribe();
        while Instant::now() >= self.lease_end() {
            self.seats.close();
            // The sender is in `self`.
            let _ = renewed.changed().await;
        }
    }

    /// Renews the lease, and compares what the store and this process think the worker holds.
    /// Returns whether the store has answered. `no_claim` says that no claim is under way.
    async fn heartbeat(&self, no_claim: bool) -> bool {
        let shared = self.client.shared();
        let store = shared.store();
        let mut failures = 0;
        let (sent, known, held) = loop {
            let sent = Instant::now();
            let known = self.known(sent, no_claim);
            let asked = store.heartbeat(self.id.clone(), self.lease, known.clone());
            match asked.await {
                Ok(held) => break (sent, known, held),
                Err(error) => {
                    shared.emit_store_error(&error);
                    if !error.is_passing() {
                        return false;
                    }
                }
            }
            tokio::time::sleep(DELAYS.sample_delay(failures, None, rand::random)).await;
            failures = failures.saturating_add(1);
        };
        self.renewed.send_replace(sent);
        let leases: HashSet<Lease> = held.iter().map(|held| held.lease).collect();
        self.drop_lost(&leases, known.as_deref(), sent);
        for held in held {
            self.pass_on(held).await;
        }
        if known.is_none() {
            self.strangers().listed = Some(sent);
        }
        self.give_back_strangers(leases, no_claim).await
    }

    fn strangers(&self) -> MutexGuard<'_, Strangers> {
        self.strangers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tasks that a heartbeat asks for. It asks for all that the store assigns to this worker if it is
    /// unknown whether a claim took place, if there were others than these, and once in a while.
    fn known(&self, now: Instant, no_claim: bool) -> Option<Vec<TaskId>> {
        let strangers = self.strangers();
        let is_new = |listed: Instant| now.saturating_duration_since(listed) < LISTED;
        if no_claim || !strangers.leases.is_empty() || !strangers.listed.is_some_and(is_new) {
            return None;
        }
        drop(strangers);
        Some(self.running.lock().keys().copied().collect())
    }

    /// Drops the tasks that ran here when a heartbeat asked for them, and that the store does not assign to
    /// this worker any more.
    fn drop_lost(&self, held: &HashSet<Lease>, known: Option<&[TaskId]>, sent: Instant) {
        let known = known.map(|known| known.iter().collect::<HashSet<_>>());
        for inner in self.running.lock().values() {
            let is_asked = known
                .as_ref()
                .is_none_or(|known| known.contains(&inner.lease.task));
            if is_asked && inner.claimed_at() < sent && !held.contains(&inner.lease) {
                inner.lose();
            }
        }
    }

    /// Gives back the tasks that the store assigns to this worker and that do not run here: a claim
    /// whose answer was lost, or that was carried out late. As long as claims may be under way, only
    /// those that were strangers at the last heartbeat, too.
    async fn give_back_strangers(&self, held: HashSet<Lease>, no_claim: bool) -> bool {
        let here: HashSet<Lease> = {
            let running = self.running.lock();
            running.values().map(|inner| inner.lease).collect()
        };
        let strange: HashSet<Lease> = held.difference(&here).copied().collect();
        let known = {
            let mut strangers = self.strangers();
            std::mem::replace(&mut strangers.leases, strange.clone())
        };
        let given: Vec<Lease> = strange
            .into_iter()
            .filter(|lease| no_claim || known.contains(lease))
            .collect();
        given.is_empty() || self.send(Write::GiveBack(given)).await.is_ok()
    }

    /// Passes the requests for a task on to it.
    async fn pass_on(&self, held: HeldTask) {
        let Some(inner) = self.running.lock().get(&held.lease.task).cloned() else {
            return;
        };
        if held.cancel && inner.task.direction == Direction::Forward {
            inner.cancel();
        }
        while held.signal > inner.newest_signal() {
            let store = self.client.shared().store();
            let page = store.signals_page(held.lease.task, inner.newest_signal());
            // The next heartbeat reports them again.
            let Ok(Some(page)) = page.await else { break };
            inner.add_signals(page.items);
            if page.is_last {
                break;
            }
        }
    }

    fn send(&self, write: Write) -> impl Future<Output = Reply> + use<> {
        self.client.shared().writer().send(write)
    }
}

/// Returns when a worker looks next that looks at these intervals, if nothing happens until `quiet`.
fn look_after(now: Instant, poll: Duration, quiet: Option<Instant>) -> Instant {
    let after = |time: Duration| now.checked_add(time).unwrap_or(now);
    let last = after(poll.saturating_mul(QUIET));
    quiet.map_or(now, |until| until.min(last)).max(after(poll))
}

/// Waits until all have ended, at most so long.
async fn join_all(running: &mut JoinSet<()>, limit: Duration) {
    let all = async { while running.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(limit, all).await;
}

/// Waits until the scheduler is stopped. Returns how long running tasks may take to end.
async fn grace_period(stop: &mut watch::Receiver<Option<Duration>>) -> Duration {
    let grace = stop.wait_for(Option::is_some).await.map(|grace| *grace);
    match grace {
        Ok(grace) => grace.unwrap_or_default(),
        // The handle is gone, so nothing can stop the scheduler any more.
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

/// The trial of a suspect; dropping it ends the trial.
struct Trial(watch::Sender<Option<Instant>>);

impl Trial {
    fn begin(trial: &watch::Sender<Option<Instant>>) -> Self {
        trial.send_replace(Some(Instant::now()));
        Self(trial.clone())
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.0.send_replace(None);
    }
}

#[cfg(test)]
mod tests {
    use super::super::DAY;
    use super::*;

    #[test]
    fn a_worker_that_hears_of_others_looks_when_a_task_wakes_up() {
        let (now, poll) = (Instant::now(), Duration::from_secs(2));
        let pause =
            |quiet: Option<Duration>| look_after(now, poll, quiet.map(|quiet| now + quiet)) - now;
        assert_eq!(pause(None), poll);
        assert_eq!(pause(Some(Duration::from_secs(5))), Duration::from_secs(5));
        assert_eq!(pause(Some(Duration::from_secs(1))), poll);
        assert_eq!(pause(Some(DAY)), poll * 4);
    }
}
