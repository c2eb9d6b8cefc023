//! Starts a task of an engine in this process.

use std::pin::Pin;
use std::sync::Arc;

use reattempt::Policy;

use crate::context::{Inner, Limits, WorkflowContext};
use crate::events::Observers;
use crate::identity::Identity;
use crate::resources::Resources;
use crate::running::RunningSteps;
use crate::task::{Record, Task, WorkerId};
use crate::time::Time;
use crate::workflow::{RunFn, WorkflowResult};
use crate::writer::{Jobs, Writer};

/// Prepares a task with its records, and returns the writes that the engine carries out.
pub(super) fn prepare_task(
    task: Task,
    history: Vec<Record>,
    (identity, now): (Identity, Time),
    resources: &Resources,
) -> (Arc<Inner>, Jobs) {
    let (writer, jobs) = Writer::to_engine();
    // The engine has limits of its own.
    let limits = Limits {
        max_payload: usize::MAX,
        step_complete_by: None,
        delays: Policy::new(),
    };
    let steps = RunningSteps::new(WorkerId(String::new()), Observers::default());
    let inner = Inner::new(
        (task, now),
        identity,
        writer,
        resources.clone(),
        limits,
        steps,
    );
    let inner = inner.for_engine();
    inner.journal().load(history);
    (Arc::new(inner), jobs)
}

/// Returns the future of the workflow.
pub(super) fn start_workflow(
    inner: &Arc<Inner>,
    run_fn: RunFn,
) -> Pin<Box<dyn Future<Output = WorkflowResult> + Send>> {
    let context = WorkflowContext::new(Arc::clone(inner));
    Box::pin(async move { run_fn(&context, &context.inner.task.input).await })
}
