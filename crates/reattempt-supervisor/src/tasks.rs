//! The submitter's side: tasks are submitted, followed, told something, cancelled.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ends::{End, Ending, Ends};
use crate::events::{Event, Observers};
use crate::store::{Answer, Filter, Operation, Outcome, Steer, Store, StoreError, Told};
use crate::task::{Record, Run, RunId, State};
use crate::workflow::{Submission, Workflow};
use crate::writer::{Writer, Written};

/// How long a submitter waits for a store in trouble.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it looks at a task that runs elsewhere: soon at first.
const LOOKS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// The tasks of a store: one for each process and store, cheap to clone.
#[derive(Clone)]
pub struct Tasks(Arc<Shared>);

pub(crate) struct Shared {
    store: Arc<dyn Store>,
    writer: Writer,
    observers: Observers,
    /// What the store said when it could not write.
    last_trouble: Arc<Mutex<String>>,
    ends: Ends,
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tasks").field(&self.0.store).finish()
    }
}

impl Tasks {
    /// The tasks of `store`.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn new(store: impl Store) -> Self {
        Self::observed(store, [])
    }

    /// The same, with observers who are told what happens in this process. They are called where tasks run, so they should
    /// answer at once.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn observed(
        store: impl Store,
        observers: impl IntoIterator<Item = Box<dyn Fn(&Event) + Send + Sync>>,
    ) -> Self {
        let mut all = Observers::default();
        for observer in observers {
            all.add(Arc::from(observer));
        }
        let store: Arc<dyn Store> = Arc::new(store);
        let told = all.clone();
        let last_trouble = Arc::<Mutex<String>>::default();
        let last = Arc::clone(&last_trouble);
        let trouble = move |error: &StoreError| {
            let error = error.to_string();
            last.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone_from(&error);
            told.tell(&Event::Trouble(error));
        };
        let writer = Writer::spawn(Arc::clone(&store), trouble);
        Self(Arc::new(Shared {
            store,
            writer,
            observers: all,
            last_trouble,
            ends: Ends::default(),
        }))
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// Where they are kept.
    pub fn store(&self) -> &dyn Store {
        &*self.0.store
    }

    /// Stores a task. When this returns the task is on disk, and it will end, whatever becomes of this process.
    ///
    /// # Errors
    ///
    /// Arguments that cannot be written as JSON; a store that is in trouble for longer than 30 seconds, or for good.
    ///
    /// # Cancel safety
    ///
    /// When it is dropped the task may have been stored or not; with a [`key`](Submission::key) it can be submitted again.
    pub async fn submit<W: Workflow>(
        &self,
        submission: Submission<W>,
    ) -> Result<Task<W::Output>, SubmitError> {
        let new = submission.into_new().map_err(Arc::new)?;
        let written = self.write(Operation::Submit(Box::new(new))).await;
        match written? {
            Outcome::Submitted { id, is_new } => Ok(Task {
                end: is_new.then(|| self.0.end_of(id)),
                ..self.task(id)
            }),
            outcome => Err(unexpected(&outcome).into()),
        }
    }

    /// A task that was submitted before, by its number.
    pub fn task<T>(&self, id: RunId) -> Task<T> {
        Task {
            id,
            end: None,
            tasks: self.clone(),
            output: PhantomData,
        }
    }

    /// Tells a task something that it waits for by `name`.
    ///
    /// # Errors
    ///
    /// No such task, or one that has ended; a store in trouble.
    pub async fn signal(
        &self,
        run: RunId,
        name: &str,
        payload: &(impl Serialize + Sync),
    ) -> Result<(), SubmitError> {
        let payload = serde_json::to_string(payload).map_err(SubmitError::Form)?;
        let name = name.to_owned();
        self.told(run, Operation::Signal { run, name, payload })
            .await
    }

    /// Ends a task and undoes what it did.
    ///
    /// # Errors
    ///
    /// No such task, or one that has ended; a store in trouble.
    pub async fn cancel(&self, run: RunId) -> Result<(), SubmitError> {
        self.told(run, Operation::Steer(run, Steer::Cancel)).await
    }

    /// Takes a task out of the way until it is resubmitted.
    ///
    /// # Errors
    ///
    /// No such task, or one that has ended; a store in trouble.
    pub async fn park(&self, run: RunId, why: &str) -> Result<(), SubmitError> {
        self.told(run, Operation::Steer(run, Steer::Park(why.to_owned())))
            .await
    }

    /// Has a parked or failed task go on from its last record, as if it had not failed.
    ///
    /// # Errors
    ///
    /// No such task, or one that has not failed; a store in trouble.
    pub async fn resubmit(&self, run: RunId) -> Result<(), SubmitError> {
        self.told(run, Operation::Steer(run, Steer::Resubmit)).await
    }

    /// Deletes tasks that ended at least `age` ago, at most `limit`, and says how many. Parked ones stay.
    ///
    /// # Errors
    ///
    /// A store in trouble.
    pub async fn prune(&self, age: Duration, limit: u32) -> Result<u64, SubmitError> {
        match self.write(Operation::Prune(age, limit)).await? {
            Outcome::Pruned(count) => Ok(count),
            outcome => Err(unexpected(&outcome).into()),
        }
    }

    /// Tasks, the newest first.
    ///
    /// # Errors
    ///
    /// A store in trouble.
    pub async fn list(&self, filter: Filter) -> Result<Vec<Run>, Arc<StoreError>> {
        self.read(|store| store.list(filter.clone())).await
    }

    async fn told(&self, run: RunId, operation: Operation) -> Result<(), SubmitError> {
        match self.write(operation).await? {
            Outcome::Told(Told::Yes) => Ok(()),
            Outcome::Told(Told::Unknown) => Err(SubmitError::Unknown(run)),
            Outcome::Told(Told::Not(state)) => Err(SubmitError::Not(run, state)),
            outcome => Err(unexpected(&outcome).into()),
        }
    }

    /// What is read in vain while the store has passing trouble is read again.
    async fn read<T>(
        &self,
        ask: impl for<'a> Fn(&'a dyn Store) -> Answer<'a, T>,
    ) -> Result<T, Arc<StoreError>> {
        let began = tokio::time::Instant::now();
        let mut pause = LOOKS.0;
        loop {
            match ask(self.store()).await {
                Err(error) if error.is_passing() && began.elapsed() < PATIENCE => {}
                answer => return answer.map_err(Arc::new),
            }
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2).min(LOOKS.1);
        }
    }

    async fn write(&self, operation: Operation) -> Written {
        let written = tokio::time::timeout(PATIENCE, self.0.writer.send(operation)).await;
        written.unwrap_or_else(|_| {
            let trouble = &self.0.last_trouble;
            let trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner);
            let silent = format!("the store has not answered for {PATIENCE:?}");
            Err(Arc::new(match &**trouble {
                "" => StoreError::passing(silent),
                trouble => StoreError::passing(format!("{silent}; {trouble}")),
            }))
        })
    }
}

impl Shared {
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.writer
    }

    pub(crate) fn tell(&self, event: &Event) {
        self.observers.tell(event);
    }

    pub(crate) fn end_of(&self, run: RunId) -> Arc<End> {
        self.ends.of(run)
    }
}

fn unexpected(outcome: &Outcome) -> Arc<StoreError> {
    Arc::new(StoreError::lasting(format!(
        "the store answered with {outcome:?}"
    )))
}

/// A task that was submitted, and the type of its answer.
pub struct Task<T> {
    id: RunId,
    /// Of a task that was submitted here, which had not ended then.
    end: Option<Arc<End>>,
    tasks: Tasks,
    output: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Task").field(&self.id).finish()
    }
}

/// How far a task is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// The task as it is stored.
    pub run: Run,
    /// What happened in it so far.
    pub history: Vec<Record>,
}

impl<T> Task<T> {
    /// Its number, by which it is found again.
    pub const fn id(&self) -> RunId {
        self.id
    }

    /// How far it is.
    ///
    /// # Errors
    ///
    /// No such task; a store in trouble.
    pub async fn progress(&self) -> Result<Progress, SubmitError> {
        let run = self.tasks.read(|store| store.run(self.id)).await?;
        let run = run.ok_or(SubmitError::Unknown(self.id))?;
        let history = self.tasks.read(|store| store.history(self.id)).await?;
        Ok(Progress { run, history })
    }

    /// Waits for what it has to tell: `tell` is called with its progress whenever there is something new, and for the last time
    /// when it has ended.
    ///
    /// # Errors
    ///
    /// No such task; a store in trouble.
    ///
    /// # Cancel safety
    ///
    /// The task goes on when this is dropped.
    pub async fn follow(&self, mut tell: impl FnMut(&Progress)) -> Result<Run, SubmitError> {
        let mut last = None;
        let mut look = LOOKS.0;
        let end = self.tasks.0.end_of(self.id);
        let mut heard = end.heard();
        loop {
            heard.mark_unchanged();
            let progress = self.progress().await?;
            let is_final = progress.run.state.is_final();
            let now = (
                progress.run.state,
                progress.run.fence,
                progress.history.len(),
            );
            if last != Some(now) {
                tell(&progress);
                last = Some(now);
                look = LOOKS.0;
            }
            if is_final {
                return Ok(progress.run);
            }
            let _ = tokio::time::timeout(look, heard.changed()).await;
            look = look.saturating_mul(2).min(LOOKS.1);
        }
    }
}

impl<T: DeserializeOwned> Task<T> {
    /// Waits until it has ended, for what it answered.
    ///
    /// # Errors
    ///
    /// It ended otherwise; it is unknown; a store in trouble.
    ///
    /// # Cancel safety
    ///
    /// The task goes on when this is dropped.
    pub async fn wait(&self) -> Result<T, SubmitError> {
        let Ending {
            state,
            output,
            error,
        } = self.ending().await?;
        if state != State::Processed {
            let why = error.unwrap_or_default();
            return Err(SubmitError::Ended(self.id, state, why));
        }
        serde_json::from_str(output.as_deref().unwrap_or("null")).map_err(SubmitError::Form)
    }

    async fn ending(&self) -> Result<Ending, SubmitError> {
        let end = self.tasks.0.end_of(self.id);
        let mut heard = end.heard();
        // One that has ended may have been resubmitted: the store knows.
        let mut must_look = self.end.is_none() || heard.borrow_and_update().is_some();
        let mut look = LOOKS.0;
        loop {
            if must_look {
                let run = self.tasks.read(|store| store.run(self.id)).await?;
                let run = run.ok_or(SubmitError::Unknown(self.id))?;
                if run.state.is_final() {
                    return Ok(Ending {
                        state: run.state,
                        output: run.output,
                        error: run.error,
                    });
                }
            }
            let pause = if end.runs_here() { LOOKS.1 } else { look };
            if let Ok(Ok(())) = tokio::time::timeout(pause, heard.changed()).await
                && let Some(ending) = heard.borrow_and_update().clone()
            {
                return Ok(ending);
            }
            // Whoever has begun it here meanwhile tells of its end.
            must_look = pause == LOOKS.1 || !end.runs_here();
            look = look.saturating_mul(2).min(LOOKS.1);
        }
    }
}

/// A task could not be submitted, told something, or did not end well.
#[derive(Debug)]
#[non_exhaustive]
pub enum SubmitError {
    /// The store is in trouble.
    Store(Arc<StoreError>),
    /// Something cannot be written as JSON, or read back.
    Form(serde_json::Error),
    /// No task has this number.
    Unknown(RunId),
    /// The task's state does not allow it.
    Not(RunId, State),
    /// It ended like this, and why.
    Ended(RunId, State, String),
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Form(error) => write!(f, "not the JSON that is wanted here: {error}"),
            Self::Unknown(run) => write!(f, "there is no task {run}"),
            Self::Not(run, state) => {
                let hint = match state {
                    State::Parked => "resubmit it first",
                    state if state.is_final() => "it has ended",
                    _ => "it is under way",
                };
                write!(
                    f,
                    "task {run} is {state}, where this cannot be done: {hint}"
                )
            }
            Self::Ended(run, state, why) => write!(f, "task {run} ended as {state}: {why}"),
        }
    }
}

impl std::error::Error for SubmitError {}

impl From<Arc<StoreError>> for SubmitError {
    fn from(error: Arc<StoreError>) -> Self {
        Self::Store(error)
    }
}
