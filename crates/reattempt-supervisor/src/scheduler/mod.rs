//! A scheduler claims tasks that are ready and runs them in this process, under a lease.

mod changes;
mod drive;
mod history;
mod reports;
mod undo;
mod worker;

use std::fmt;
#[cfg(feature = "tracing")]
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use reattempt::Policy;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::client::Client;
use crate::events::spans::TaskSpans;
use crate::resources::Resources;
use crate::running::RunningSteps;
use crate::store::Retention;
use crate::supervisor::{self, Supervisor, SupervisorHandle};
#[cfg(feature = "tracing")]
use crate::task::Task;
use crate::task::{DEFAULT_QUEUE, SHORTEST_LEASE, WorkerId};
use crate::workflow::{Workflow, WorkflowFn, WorkflowRegistry};
use crate::writer::Seats;
use worker::{RunningTasks, Worker};

/// The longest lease and the longest interval between two looks: times far in the future have no number.
const DAY: Duration = Duration::from_secs(86_400);

/// Runs tasks: which workflows, with which resources, and how many at once.
///
/// Several schedulers may run at once, in one process or in many, on one store. Each task is
/// claimed by exactly one of them.
#[derive(Debug)]
#[must_use = "a scheduler does nothing before `start`"]
pub struct Scheduler {
    client: Client,
    workflows: WorkflowRegistry,
    duplicates: Vec<String>,
    resources: Resources,
    queues: Vec<String>,
    at_once: u32,
    lease: Duration,
    poll: Duration,
    delays: Policy,
    supervisor: Option<Supervisor>,
    spans: TaskSpans,
}

impl Scheduler {
    /// Creates a scheduler without workflows, on the store of this client.
    pub fn new(client: &Client) -> Self {
        Self {
            client: client.clone(),
            workflows: WorkflowRegistry::default(),
            duplicates: Vec::new(),
            resources: Resources::default(),
            queues: vec![DEFAULT_QUEUE.to_owned()],
            at_once: 64,
            lease: Duration::from_secs(10),
            poll: Duration::from_millis(500),
            delays: supervisor::DELAYS,
            supervisor: Some(Supervisor::new(client)),
            spans: TaskSpans::default(),
        }
    }

    /// Adds a workflow: the function with `#[workflow]`.
    pub fn register<W: Workflow, Arguments>(mut self, _: impl WorkflowFn<W, Arguments>) -> Self {
        if !self.workflows.insert::<W>() {
            self.duplicates
                .push(format!("`{}` version {}", W::NAME, W::VERSION));
        }
        self
    }

    /// Adds the value for parameters `#[with] name: &T` of steps.
    pub fn with<T: Send + Sync + 'static>(mut self, resource: T) -> Self {
        self.resources.insert(resource);
        self
    }

    /// Sets the queues from which it takes tasks. If tasks also wait in the queue `default`, name it, too.
    ///
    /// # Default
    ///
    /// `["default"]`.
    pub fn queues(mut self, queues: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.queues = queues.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how many tasks it runs at once. Tasks that wait for timers and signals do not count.
    ///
    /// # Units and ranges
    ///
    /// At least 1; 0 counts as 1.
    ///
    /// # Default
    ///
    /// 64.
    pub fn at_once(mut self, tasks: u32) -> Self {
        self.at_once = tasks.max(1);
        self
    }

    /// Sets how long the scheduler may be silent before others take over its tasks. It renews its
    /// lease three times as often.
    ///
    /// # Units and ranges
    ///
    /// 300 ms to a day; others count as the nearest of these.
    ///
    /// # Default
    ///
    /// 10 s.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.max(SHORTEST_LEASE).min(DAY);
        self
    }

    /// Sets how often it looks for tasks that are not reported to it: those of other processes, and those whose timer
    /// is due. On PostgreSQL, as long as notifications arrive, it looks when the next timer that it knows is due, at
    /// most so often, and at least a quarter as often.
    ///
    /// # Units and ranges
    ///
    /// 1 ms to a day; others count as the nearest of these.
    ///
    /// # Default
    ///
    /// 500 ms.
    pub fn poll(mut self, interval: Duration) -> Self {
        self.poll = interval.max(Duration::from_millis(1)).min(DAY);
        self
    }

    /// Sets how long a task waits after its failures: the delays of a policy.
    ///
    /// # Default
    ///
    /// Exponential from 1 s to 5 min; the upper half of each delay is random.
    pub fn delays(mut self, delays: Policy) -> Self {
        self.delays = delays;
        self.supervisor = self.supervisor.map(|supervisor| supervisor.delays(delays));
        self
    }

    /// Deletes tasks so long after their end: [`Supervisor::keep`] of the supervisor that this scheduler starts.
    /// Without effect on an [`unsupervised`](Self::unsupervised) one.
    ///
    /// # Default
    ///
    /// Nothing is deleted.
    pub fn keep(mut self, retention: impl Into<Retention>) -> Self {
        self.supervisor = self.supervisor.map(|supervisor| supervisor.keep(retention));
        self
    }

    /// Makes the spans of tasks with `span`: each lasts from the claim of a task until this scheduler sets the
    /// task aside, and the spans of its steps are below it. With the headers of the task it can continue the
    /// trace of the submitter, as the example `traces` does with OpenTelemetry.
    ///
    /// # Default
    ///
    /// A span `task` of level `INFO` without a parent, with the fields `task`, `workflow` and, if the
    /// headers have it, `traceparent`.
    #[cfg(feature = "tracing")]
    pub fn task_span(
        mut self,
        span: impl Fn(&Task) -> tracing::Span + Send + Sync + 'static,
    ) -> Self {
        self.spans.make = Some(Arc::new(span));
        self
    }

    /// Starts no [`Supervisor`]: other processes reclaim tasks whose worker or time is gone.
    pub fn unsupervised(mut self) -> Self {
        self.supervisor = None;
        self
    }

    /// Starts the scheduler.
    ///
    /// # Errors
    ///
    /// Fails if there is no workflow, or if two have the same name and version.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub fn start(self) -> Result<SchedulerHandle, SetupError> {
        if !self.duplicates.is_empty() {
            let duplicates = self.duplicates.join(", ");
            return Err(SetupError(format!(
                "there are two workflows {duplicates}; give one of them another `name` or `version`"
            )));
        }
        if self.workflows.names().is_empty() {
            return Err(SetupError(
                "the scheduler has no workflow; add `.register(workflow)` for each".to_owned(),
            ));
        }
        let id = WorkerId(worker_name());
        let supervisor = self.supervisor.clone().map(Supervisor::start);
        let (stop, stopped) = watch::channel(None);
        let worker = Worker {
            id: id.clone(),
            steps: RunningSteps::new(id.clone(), self.client.shared().observers().clone()),
            running: RunningTasks::default(),
            client: self.client.clone(),
            resources: self.resources,
            workflows: self.workflows,
            queues: self.queues,
            seats: Seats::new(usize::try_from(self.at_once).unwrap_or(usize::MAX)),
            lease: self.lease,
            poll: self.poll,
            delays: self.delays,
            spans: self.spans,
            renewed: watch::Sender::new(Instant::now()),
            strangers: Mutex::default(),
            left: Notify::new(),
            trial: watch::Sender::new(None),
        };
        let work = tokio::spawn(worker.work(stopped));
        Ok(SchedulerHandle {
            worker: id,
            stop,
            work,
            supervisor,
        })
    }
}

/// Returns a name for a worker: the number of the process, and a random number, because processes
/// reuse numbers.
fn worker_name() -> String {
    let random: u32 = rand::random();
    format!("{}-{random:08x}", std::process::id())
}

/// A scheduler cannot start with these settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupError(String);

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}

/// A handle to a running scheduler. If it is dropped, the scheduler runs until its runtime ends.
#[derive(Debug)]
pub struct SchedulerHandle {
    worker: WorkerId,
    stop: watch::Sender<Option<Duration>>,
    work: JoinHandle<()>,
    supervisor: Option<SupervisorHandle>,
}

impl SchedulerHandle {
    /// Returns the name of the scheduler in the store.
    pub const fn worker(&self) -> &WorkerId {
        &self.worker
    }

    /// Stops the scheduler. It takes no more tasks, lets running tasks end for `grace`, and gives
    /// back the others: they go on elsewhere, after their last record, and do not count this as a
    /// failure.
    pub async fn stop(self, grace: Duration) {
        self.stop.send_replace(Some(grace));
        if let Some(supervisor) = self.supervisor {
            supervisor.stop().await;
        }
        // If it has panicked, it has nothing to give back.
        let _ = self.work.await;
    }
}
