//! Children: tasks that a workflow starts, and whose results it waits for.

use std::fmt;
use std::marker::PhantomData;

use crate::context::{Outcome, WorkflowContext};
use crate::payload::{Payload, codec};
use crate::store::submission::Submission;
use crate::task::{State, TaskId};
use crate::workflow::Workflow;

/// A task that a workflow has started, whose result is a `T`.
#[must_use = "`WorkflowContext::result` waits for the end of the child"]
pub struct Child<T> {
    id: TaskId,
    output: PhantomData<fn() -> T>,
}

impl<T> Child<T> {
    /// Returns the number of the child.
    pub const fn id(&self) -> TaskId {
        self.id
    }
}

impl<T> fmt::Debug for Child<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Child").field(&self.id).finish()
    }
}

/// A child that has ended without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildError {
    task: TaskId,
    state: State,
    message: Option<String>,
    text: String,
}

impl ChildError {
    /// Returns the number of the child.
    pub const fn task(&self) -> TaskId {
        self.task
    }

    /// Returns how it has ended: [`State::Error`], [`State::Compensated`] or [`State::Cancelled`].
    /// [`State::Processed`] if its result is not of the type that the code has now.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Returns its last error.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }
}

impl fmt::Display for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ChildError {}

impl WorkflowContext {
    /// Starts a task of another workflow, or of the same one, as a child of this task. The store keeps
    /// the child and the record of its start in one transaction, so there is one child however often
    /// the workflow runs again. Call [`result`](Self::result) or [`gather`](Self::gather) to wait for its
    /// end: the task waits without a worker. A child goes on by itself if the workflow does not
    /// wait for it.
    ///
    /// If this task turns back, because it fails for good or is cancelled, its children turn back with it.
    /// Those that run are cancelled at once. Those that were processed are undone where the parent comes to
    /// their start, as it undoes its own steps, the last first; children that were started one after the
    /// other are undone together. They end as cancelled, and so do their own children. The parent waits
    /// for them without a worker; a parked child keeps it waiting until an operator has decided. A child
    /// that has failed, and has been undone, stays as it is. One that was kept
    /// ([`OnFailure::Keep`](crate::OnFailure::Keep)) is undone. With
    /// [`detached`](Submission::detached) a child stays out of all this.
    ///
    /// [`Client::prune`](crate::Client::prune) keeps a child as long as its parent is there and has not continued
    /// as new.
    ///
    /// # Errors
    ///
    /// The task is parked if the submission has a [`key`](Submission::key), because a child has a key of
    /// its own, if its arguments cannot be written as JSON or are too large, if its headers are not a
    /// JSON object, or if an engine runs the task.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the child may have started or not.
    pub fn start<W: Workflow>(
        &self,
        submission: Submission<W>,
    ) -> impl Future<Output = Child<W::Output>> + Send {
        let is_detached = submission.is_detached();
        let start = self.start_child(W::NAME, is_detached, |key| submission.into_child(key));
        async move {
            Child {
                id: start.await,
                output: PhantomData,
            }
        }
    }

    /// Waits until a child has ended, and returns its result. A parked child has not ended: an operator
    /// decides about it.
    ///
    /// # Errors
    ///
    /// Fails if the child has ended without a result. If this error ends the task, you can resubmit the
    /// child and then the task, which looks at the child again.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, you can wait for the child again.
    pub fn result<T: Payload>(
        &self,
        child: &Child<T>,
    ) -> impl Future<Output = Result<T, ChildError>> + Send + use<'_, T> {
        let outcomes = self.gather_outcomes(vec![child.id]);
        async move {
            match outcomes.await.pop() {
                Some(outcome) => result_of(&outcome),
                None => std::future::pending().await,
            }
        }
    }

    /// Waits until all of these children have ended, and returns their results in the same order. The
    /// task goes on once, when the last child has ended. One record has up to 100 results.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, you can wait for the children again.
    pub fn gather<T: Payload>(
        &self,
        children: &[Child<T>],
    ) -> impl Future<Output = Vec<Result<T, ChildError>>> + Send + use<'_, T> {
        let outcomes = self.gather_outcomes(children.iter().map(Child::id).collect());
        async move { outcomes.await.iter().map(result_of).collect() }
    }
}

/// Returns the result of a child.
fn result_of<T: Payload>(outcome: &Outcome) -> Result<T, ChildError> {
    let failure = outcome.failure();
    let error = |text| ChildError {
        task: outcome.task,
        state: outcome.state,
        message: outcome.error.clone(),
        text,
    };
    if let Some(text) = failure {
        return Err(error(text));
    }
    let json = outcome.output.as_deref().unwrap_or("null");
    codec::<T>().read(json).map_err(|why| {
        let Outcome { task, workflow, .. } = outcome;
        error(format!(
            "the result of task {task} `{workflow}` cannot be read: {why}"
        ))
    })
}
