//! Workflows that go on for ever, with a history that stays short.

use crate::context::WorkflowContext;
use crate::store::submission::Submission;
use crate::workflow::Workflow;

impl WorkflowContext {
    /// Ends this generation of the task and begins the next one with new arguments: the workflow starts from its
    /// beginning, without a history. So a workflow that goes on for ever is not read from its first step at each
    /// wake. Call it where the workflow would return, with the function of the workflow itself:
    ///
    /// ```
    /// use std::time::Duration;
    /// use reattempt_supervisor::{Step, StepError, WorkflowContext, step, workflow};
    ///
    /// #[step]
    /// async fn import(_step: &Step, from: u64) -> Result<u64, String> {
    ///     Ok(from + 100)
    /// }
    ///
    /// #[workflow]
    /// async fn importing(context: &WorkflowContext, from: u64) -> Result<(), StepError> {
    ///     let next = import(context, from).await?;
    ///     context.sleep(Duration::from_secs(60)).await;
    ///     context.continue_as_new(importing(next)).await
    /// }
    /// ```
    ///
    /// One transaction replaces the arguments and deletes the records of this generation and the signals that the
    /// workflow has got. Signals that it has not got stay, in their order. The task keeps its number, its key,
    /// its headers, its lane and its limits: `complete_by` counts from the submission. A caller that waits for
    /// the task waits for its last generation. The steps of each generation have keys of their own, and
    /// [`now`](Self::now) and [`random`](Self::random) differ.
    ///
    /// Steps that run beside this call end first, timers and waits do not. A function of the same workflow
    /// with another `version` continues with its code.
    ///
    /// # Errors
    ///
    /// The task is parked
    ///
    /// * if a step of this generation has an `undo` or may have been cut off, or a child is not
    ///   [`detached`](Submission::detached): the next generation could not undo them. Put what has to be undone
    ///   into a detached child.
    /// * if the submission is one of another workflow, or has a key, a queue or another setting: the task keeps
    ///   its own.
    /// * if the arguments cannot be written as JSON or are too large, or if an engine runs the task.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the generation goes on.
    // It returns `!`, so it stands where a workflow returns, and it takes a submission, so that the
    // compiler checks the arguments.
    pub async fn continue_as_new<W: Workflow>(&self, next: Submission<W>) -> ! {
        let input = next.into_arguments();
        self.continue_with((W::NAME, W::VERSION), input).await
    }
}
