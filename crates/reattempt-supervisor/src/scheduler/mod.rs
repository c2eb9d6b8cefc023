//! A scheduler: takes tasks that are ready, runs them in this process, and lives on a lease.

mod drive;

use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reattempt::Policy;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

use crate::ends::End;
use crate::events::Event;
use crate::flow::Inner;
use crate::resources::Resources;
use crate::store::{Asked, Claim, Claimed, Operation, Outcome};
use crate::supervisor::{self, Supervisor};
use crate::task::{Direction, RunId, WorkerId};
use crate::tasks::Tasks;
use crate::workflow::{DEFAULT_QUEUE, Known, Starts, Workflow};
use crate::writer::{Room, Seat};

/// What a process runs: workflows, what their steps are given, and how much of it at once.
///
/// Several may run at once, in one process or many, on one store: each task is claimed by exactly one.
#[derive(Debug)]
#[must_use = "a scheduler does nothing before `start`"]
pub struct Scheduler {
    tasks: Tasks,
    known: Known,
    twice: Vec<String>,
    resources: Resources,
    queues: Vec<String>,
    at_once: u32,
    lease: Duration,
    poll: Duration,
    delays: Policy,
    supervisor: Option<Supervisor>,
}

impl Scheduler {
    /// A scheduler that knows no workflow yet.
    pub fn new(tasks: &Tasks) -> Self {
        Self {
            tasks: tasks.clone(),
            known: Known::default(),
            twice: Vec::new(),
            resources: Resources::default(),
            queues: vec![DEFAULT_QUEUE.to_owned()],
            at_once: 64,
            lease: Duration::from_secs(10),
            poll: Duration::from_millis(500),
            delays: supervisor::DELAYS,
            supervisor: Some(Supervisor::new(tasks)),
        }
    }

    /// Runs tasks of this workflow: the function with `#[workflow]`.
    pub fn register<W: Workflow, Arguments>(mut self, _: impl Starts<W, Arguments>) -> Self {
        if !self.known.insert::<W>() {
            self.twice
                .push(format!("`{}` version {}", W::NAME, W::VERSION));
        }
        self
    }

    /// What parameters of steps with `#[with]` of this type are given.
    pub fn with<T: Send + Sync + 'static>(mut self, resource: T) -> Self {
        self.resources.insert(resource);
        self
    }

    /// The queues it takes tasks from.
    ///
    /// # Default
    ///
    /// `["default"]`.
    pub fn queues(mut self, queues: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.queues = queues.into_iter().map(Into::into).collect();
        self
    }

    /// How many tasks it runs at once, those that wait for timers and signals left out.
    ///
    /// # Units and ranges
    ///
    /// 1 at least.
    ///
    /// # Default
    ///
    /// 64.
    pub fn at_once(mut self, tasks: u32) -> Self {
        self.at_once = tasks.max(1);
        self
    }

    /// How long it may be silent before others take its tasks over. It is heard three times in a lease.
    ///
    /// # Units and ranges
    ///
    /// 300 ms at least; shorter ones are taken for that.
    ///
    /// # Default
    ///
    /// 10 s.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.max(Duration::from_millis(300));
        self
    }

    /// How often it looks for tasks by itself, where nobody tells it of them: those of other processes, and timers.
    ///
    /// # Default
    ///
    /// 500 ms.
    pub fn poll(mut self, interval: Duration) -> Self {
        self.poll = interval.max(Duration::from_millis(1));
        self
    }

    /// How long a task waits after its failures: the delays of a policy.
    ///
    /// # Default
    ///
    /// Exponential from 1 s to 5 min, the upper half of it at random.
    pub fn delays(mut self, delays: Policy) -> Self {
        self.delays = delays;
        self.supervisor = self.supervisor.map(|supervisor| supervisor.delays(delays));
        self
    }

    /// Leaves it to others to look for tasks without an owner; see [`Supervisor`].
    pub fn unsupervised(mut self) -> Self {
        self.supervisor = None;
        self
    }

    /// Starts.
    ///
    /// # Errors
    ///
    /// No workflow, or two of the same name and version.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn start(self) -> Result<Running, SetupError> {
        if !self.twice.is_empty() {
            let twice = self.twice.join(", ");
            return Err(SetupError(format!(
                "there are two workflows {twice}; give one of them another `name` or `version`"
            )));
        }
        if self.known.names().is_empty() {
            return Err(SetupError(
                "the scheduler knows no workflow; add `.register(workflow)` for each".to_owned(),
            ));
        }
        let worker = WorkerId(name());
        let supervisor = self.supervisor.clone().map(Supervisor::start);
        let (stop, stopped) = watch::channel(None);
        let at_work = AtWork {
            worker: worker.clone(),
            held: Held::default(),
            tasks: self.tasks.clone(),
            resources: Arc::new(self.resources),
            known: self.known,
            queues: self.queues,
            room: Room::new(usize::try_from(self.at_once).unwrap_or(usize::MAX)),
            lease: self.lease,
            poll: self.poll,
            delays: self.delays,
        };
        let work = tokio::spawn(at_work.work(stopped));
        Ok(Running {
            worker,
            stop,
            work,
            supervisor,
        })
    }
}

/// Waits until somebody says how long what is under way may take.
async fn stopped(stop: &mut watch::Receiver<Option<Duration>>) -> Duration {
    let grace = stop.wait_for(Option::is_some).await.map(|grace| *grace);
    match grace {
        Ok(grace) => grace.unwrap_or_default(),
        // Nobody can stop it any more.
        Err(_) => std::future::pending().await,
    }
}

/// The name of a worker: the process, and what makes it different from one that had its number before.
fn name() -> String {
    let random: u32 = rand::random();
    format!("{}-{random:08x}", std::process::id())
}

/// A scheduler cannot be started as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupError(String);

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}

/// A scheduler at work. Dropped, it works on until its runtime ends.
#[derive(Debug)]
pub struct Running {
    worker: WorkerId,
    stop: watch::Sender<Option<Duration>>,
    work: JoinHandle<()>,
    supervisor: Option<supervisor::Watching>,
}

impl Running {
    /// What it is called in the store.
    pub const fn worker(&self) -> &WorkerId {
        &self.worker
    }

    /// Takes no more tasks, lets those under way end for so long, and gives back the others: they go on elsewhere, from
    /// their last record, without having failed.
    pub async fn stop(self, grace: Duration) {
        self.stop.send_replace(Some(grace));
        if let Some(supervisor) = self.supervisor {
            supervisor.stop().await;
        }
        // It panicked only where it has nothing to give back.
        let _ = self.work.await;
    }
}

/// Tasks in the hands of this process.
#[derive(Debug, Clone, Default)]
struct Held(Arc<Mutex<HashMap<RunId, Arc<Inner>>>>);

impl Held {
    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Inner>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct AtWork {
    worker: WorkerId,
    held: Held,
    tasks: Tasks,
    resources: Arc<Resources>,
    known: Known,
    queues: Vec<String>,
    room: Room,
    lease: Duration,
    poll: Duration,
    delays: Policy,
}

impl AtWork {
    async fn work(self, mut stop: watch::Receiver<Option<Duration>>) {
        let this = Arc::new(self);
        // Nobody may think it dead before it holds its first task.
        this.beat().await;
        let beats = tokio::spawn(Arc::clone(&this).beats());
        let mut under_way = JoinSet::new();
        tokio::select! {
            biased;
            grace = stopped(&mut stop) => {
                let all = async { while under_way.join_next().await.is_some() {} };
                let _ = tokio::time::timeout(grace, all).await;
                under_way.shutdown().await;
                beats.abort();
                // What cannot be said now is said by the lease.
                let leave = this.send(Operation::Leave(this.worker.clone()));
                let _ = tokio::time::timeout(this.lease, leave).await;
            }
            () = this.take_all(&mut under_way) => {}
        }
    }

    async fn take_all(self: &Arc<Self>, under_way: &mut JoinSet<()>) {
        let store = self.tasks.shared().store();
        let writer = self.tasks.shared().writer();
        let mut polls = tokio::time::interval(self.poll);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut elsewhere = store.woken();
        let mut may_be_more = true;
        loop {
            let offer = writer.offer(self.claim(), self.room.clone(), may_be_more);
            let mut claimed = pin!(offer);
            let claimed = loop {
                tokio::select! {
                    claimed = &mut claimed => break claimed,
                    // Whoever stores something from here on is heard.
                    () = &mut elsewhere => elsewhere = store.woken(),
                    _ = polls.tick() => {}
                }
                writer.look();
            };
            while under_way.try_join_next().is_some() {}
            if let Ok(Outcome::Claimed(claimed)) = claimed {
                may_be_more = self.room.was_filled(claimed.len());
                for claimed in claimed {
                    self.take(claimed, under_way);
                }
                continue;
            }
            // Nobody knows whether it took place: what is not held here is given back.
            while !self.disown().await {
                tokio::time::sleep(self.poll).await;
            }
            may_be_more = true;
        }
    }

    fn claim(&self) -> Claim {
        Claim {
            worker: self.worker.clone(),
            queues: self.queues.clone(),
            workflows: self.known.names(),
            limit: 0,
        }
    }

    async fn disown(&self) -> bool {
        let held = self.held.lock().keys().copied().collect();
        let disown = Operation::Disown(self.worker.clone(), held);
        self.send(disown).await.is_ok()
    }

    fn take(self: &Arc<Self>, claimed: Claimed, under_way: &mut JoinSet<()>) {
        let run = &claimed.run;
        let Some(runs) = self.known.get(&run.workflow, run.version) else {
            return;
        };
        let shared = self.tasks.shared();
        shared.tell(&Event::Claimed {
            run: run.id,
            workflow: run.workflow.clone(),
            waited: claimed.now.since(run.wake_at),
        });
        let id = run.id;
        let inner = Arc::new(Inner::new(
            claimed,
            shared.store().salt(),
            shared.writer().clone(),
            Arc::clone(&self.resources),
        ));
        self.held.lock().insert(id, Arc::clone(&inner));
        let here = Here {
            seat: self.room.take(),
            end: shared.end_of(id),
        };
        here.end.is_here();
        let this = Arc::clone(self);
        under_way.spawn(async move {
            let _held = Holding {
                held: this.held.clone(),
                inner: Arc::clone(&inner),
            };
            drive::drive(inner, runs, this.tasks.shared(), &this.delays, here).await;
        });
    }

    async fn beats(self: Arc<Self>) {
        loop {
            tokio::time::sleep(self.lease.checked_div(3).unwrap_or_default()).await;
            self.beat().await;
        }
    }

    async fn beat(&self) {
        let beat = Operation::Beat(self.worker.clone(), self.lease);
        if let Ok(Outcome::Beaten(asked)) = self.send(beat).await {
            for asked in asked {
                self.tell(asked).await;
            }
        }
    }

    /// Tells a task what is wanted of it.
    async fn tell(&self, asked: Asked) {
        let Some(inner) = self.held.lock().get(&asked.run).cloned() else {
            return;
        };
        if asked.cancel && inner.run.direction == Direction::Forward {
            inner.cancel();
        }
        let newest = inner.signals().last().map_or(0, |signal| signal.id);
        if asked.signal > newest
            && let Ok(signals) = self.tasks.shared().store().signals(asked.run).await
        {
            inner.tell(signals);
        }
    }

    fn send(&self, operation: Operation) -> impl Future<Output = crate::writer::Written> + use<> {
        self.tasks.shared().writer().send(operation)
    }
}

/// What a task has of this process: a place to run, and somebody who may wait for its end.
struct Here {
    seat: Seat,
    end: Arc<End>,
}

/// A task is in the hands of this process while this lives.
struct Holding {
    held: Held,
    inner: Arc<Inner>,
}

impl Drop for Holding {
    fn drop(&mut self) {
        let mut held = self.held.lock();
        let id = self.inner.run.id;
        // It may have been lost and claimed again meanwhile.
        if held
            .get(&id)
            .is_some_and(|inner| Arc::ptr_eq(inner, &self.inner))
        {
            held.remove(&id);
        }
    }
}
