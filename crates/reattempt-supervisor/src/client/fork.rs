//! Forks: tasks that go on from a step of another one.

use std::sync::Arc;

use super::{Client, Progress, SubmitError, TaskHandle, unexpected_result};
use crate::identity::Identity;
use crate::store::submission::check_names;
use crate::store::{Filter, Fork, Submitted, Write, WriteResult};
use crate::task::{OperatorNote, Origin, State, TaskId};

impl Client {
    /// Stores a fork of a task that has ended: another task with the same workflow, version, arguments, headers and
    /// settings, and with a key of its own. It begins with what the original had got before the outcome of the step
    /// with this number, in the order of [`Progress::history`], and runs that step and what follows anew. Use it
    /// after a step has done the wrong thing or has failed for good, and its code or its surroundings have changed.
    ///
    /// * A step that was given up, or that ran when the task ended, may have no record: it is the step after the last one.
    /// * The steps that it runs have keys of its own, so services do not take them for repetitions.
    /// * It undoes only what it has done itself. What the original has done is the original's to undo; an operator
    ///   who undoes that while the fork needs it takes it away.
    /// * It gets the signals that are sent to its own number. A wait for a signal that it runs anew does not get
    ///   those of the original.
    /// * Children that the original has started before stay children of the original. The fork can wait for one that
    ///   has ended, as long as `prune` leaves it there.
    /// * A `complete_by` lasts as long as that of the original, from now on.
    /// * A task that has continued as new has the records of its last generation.
    /// * The lane counts; [`max_pending`](Self::max_pending) does not.
    ///
    /// A fork needs nothing of its original later. A second call with the same arguments returns the same task.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task or step, if the task goes on, is parked or pruned, if it has undone an earlier
    /// step, if another task of the workflow has the key, if the key is empty, too long or one of the store, or if the
    /// store has an error.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the fork may be stored or not. Call it again with the same key.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt_supervisor::{Client, Memory, Scheduler, Step, StepError, WorkflowContext, step, workflow};
    /// # use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// # static IS_FIXED: AtomicBool = AtomicBool::new(false);
    /// #[step]
    /// async fn pick(_step: &Step) -> Result<u32, String> {
    ///     Ok(7)
    /// }
    ///
    /// #[step]
    /// async fn pack(_step: &Step, item: u32) -> Result<String, String> {
    /// #   if IS_FIXED.load(Ordering::SeqCst) { return Ok(format!("item {item}")); }
    ///     Err(format!("no box for {item}"))
    /// }
    ///
    /// #[workflow]
    /// async fn order(context: &WorkflowContext) -> Result<String, StepError> {
    ///     let item = pick(context).await?;
    ///     pack(context, item).await
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Client::new(Memory::new());
    /// let scheduler = Scheduler::new(&client).register(order).start()?;
    /// let task = client.submit(order().key("order 17")).await?;
    /// assert!(task.wait().await.is_err());
    ///
    /// // When there are boxes, `pack` is step 1.
    /// # IS_FIXED.store(true, Ordering::SeqCst);
    /// let again = client.fork::<String>(task.id(), 1, "order 17, packed again").await?;
    /// assert_eq!(again.wait().await?, "item 7");
    /// # scheduler.stop(std::time::Duration::from_secs(1)).await;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn fork<T>(
        &self,
        task: TaskId,
        step: i32,
        key: impl Into<String>,
    ) -> Result<TaskHandle<T>, SubmitError> {
        self.fork_with_note(task, (step, key.into()), None).await
    }

    /// Stores a fork, with a note of an operator.
    pub(crate) async fn fork_with_note<T>(
        &self,
        original: TaskId,
        (seq, key): (i32, String),
        note: Option<OperatorNote>,
    ) -> Result<TaskHandle<T>, SubmitError> {
        if key.is_empty() {
            let message = "a fork needs a key of its own".to_owned();
            return Err(SubmitError::Fork(message));
        }
        let Progress {
            task,
            history,
            failures,
            ..
        } = self.task::<T>(original).progress().await?;
        // Whatever has become of the original since it was forked.
        let filter = Filter {
            workflow: Some(task.workflow.clone()),
            key: Some(key.clone()),
            limit: 1,
            ..Filter::default()
        };
        let is_same = |origin: &Origin| origin.is_of(original, seq);
        if let Some(fork) = self.list(filter).await?.pop()
            && fork.state != State::Pruned
            && fork.origin.as_ref().is_some_and(is_same)
        {
            let there = WriteResult::Submitted(Submitted::same(fork.id));
            return self.handle(&there, false, (fork.queue, None));
        }
        if !task.state.can_be_forked() {
            return Err(SubmitError::NotAllowed(original, task.state));
        }
        let seed = Identity::of(&task, self.store().salt()).seed();
        let fork = Fork::of(&task, (&history, &failures), (seq, key), seed);
        let fork = fork.map_err(SubmitError::Fork)?;
        check_names(&fork.new).map_err(Arc::new)?;
        let key = fork.new.key.clone();
        let fork = Write::Fork(Box::new(Fork { note, ..fork }));
        match self.write(fork).await? {
            result @ WriteResult::Submitted(_) => self.handle(&result, false, (task.queue, None)),
            WriteResult::KeyTaken(other) => Err(SubmitError::Fork(format!(
                "task {other} has the key `{key}` and is not this fork; use another key"
            ))),
            WriteResult::Lost => Err(SubmitError::Fork(format!(
                "task {original} has changed since it was read; fork it again"
            ))),
            result => Err(unexpected_result(&result).into()),
        }
    }
}
