//! What `#[workflow]` makes of a function: code that submits a task, and code that runs it.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use crate::context::WorkflowContext;
use crate::payload::Payload;
use crate::store::submission::Submission;
use crate::task::{NewTask, OnFailure};

/// The result of a workflow as JSON, or why it failed.
pub type WorkflowResult = Result<String, WorkflowError>;

/// Why a workflow failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkflowError {
    /// The workflow returned this error.
    Returned(String),
    /// The stored arguments do not fit the code, or the result cannot be written as JSON.
    Json(String),
}

/// The future of a workflow that runs.
pub type WorkflowFuture<'f> = Pin<Box<dyn Future<Output = WorkflowResult> + Send + 'f>>;

/// A function with `#[workflow]`.
pub trait Workflow: Send + 'static {
    /// The name of the workflow in the store.
    const NAME: &'static str;

    /// The version of its code.
    const VERSION: i32;

    /// How long a task may take in all.
    const COMPLETE_BY: Option<Duration>;

    /// How long a step without a `complete_by` of its own may take: a day, unless the workflow says
    /// otherwise. A step that takes longer has failed, and runs again.
    const STEP_COMPLETE_BY: Duration = Duration::from_secs(86_400);

    /// How many failures a task may have before it has failed for good.
    const MAX_FAILURES: i32;

    /// What happens to a task that has failed for good.
    const ON_FAILURE: OnFailure;

    /// The type of its result.
    type Output: Payload;

    /// Runs the workflow with the stored arguments, a JSON array.
    fn run<'f>(context: &'f WorkflowContext, input: &'f str) -> WorkflowFuture<'f>;
}

/// Returns a task of a workflow.
pub(crate) fn new_task<W: Workflow>(key: String, input: String) -> NewTask {
    NewTask {
        version: W::VERSION,
        complete_by: W::COMPLETE_BY,
        max_failures: W::MAX_FAILURES,
        on_failure: W::ON_FAILURE,
        ..NewTask::new(W::NAME, key, input)
    }
}

/// The function of a workflow with arguments of these types; it returns a [`Submission`].
#[diagnostic::on_unimplemented(
    message = "`register` takes the function of a workflow itself, and `{Self}` is something else; write `.register(order)` for `#[workflow] async fn order(..)`",
    label = "expected a function with `#[workflow]`, without its arguments",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait WorkflowFn<W, Arguments> {}

macro_rules! workflow_fn {
    ($($argument:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<Function, W, $($argument),*> WorkflowFn<W, ($($argument,)*)> for Function
        where
            Function: Fn($($argument),*) -> Submission<W>,
        {
        }
    };
}

workflow_fn!();
workflow_fn!(A);
workflow_fn!(A B);
workflow_fn!(A B C);
workflow_fn!(A B C D);
workflow_fn!(A B C D E);
workflow_fn!(A B C D E F);
workflow_fn!(A B C D E F G);
workflow_fn!(A B C D E F G H);

/// Runs a task of one workflow.
pub(crate) type RunFn = for<'f> fn(&'f WorkflowContext, &'f str) -> WorkflowFuture<'f>;

/// The workflows that a scheduler can run, by name and version.
#[derive(Default, Clone)]
pub(crate) struct WorkflowRegistry(HashMap<(String, i32), Registered>);

/// What a scheduler knows about a workflow.
#[derive(Clone, Copy)]
pub(crate) struct Registered {
    pub(crate) run: RunFn,
    /// How long a step without a `complete_by` may take.
    pub(crate) step_complete_by: Duration,
}

impl WorkflowRegistry {
    /// Adds a workflow. Returns `false` if there is one of this name and version already.
    pub(crate) fn insert<W: Workflow>(&mut self) -> bool {
        let key = (W::NAME.to_owned(), W::VERSION);
        let registered = Registered {
            run: W::run,
            step_complete_by: W::STEP_COMPLETE_BY,
        };
        self.0.insert(key, registered).is_none()
    }

    /// Returns this version of a workflow.
    pub(crate) fn get(&self, name: &str, version: i32) -> Option<Registered> {
        self.0.get(&(name.to_owned(), version)).copied()
    }

    /// Returns the names and versions, sorted.
    pub(crate) fn names(&self) -> Vec<(String, i32)> {
        let mut names: Vec<_> = self.0.keys().cloned().collect();
        names.sort();
        names
    }
}

impl fmt::Debug for WorkflowRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
