//! All that the expansions of `#[step]` and `#[workflow]` may name. Nothing here is part of the public interface.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use core;
pub use reattempt::{self, Failed};
pub use std::borrow::ToOwned;
pub use std::boxed::Box;

pub use crate::flow::{Fault, Flow, Spec, Step, StepError};
pub use crate::workflow::{Ended, Failure, Submission, Workflow};

// What a compensation is, as a future that somebody else polls.
pub type Undoing = Pin<Box<dyn Future<Output = Result<(), StepError>> + Send>>;

// Runs a step, or tells what it came to before.
pub fn call<'f, T, F>(
    flow: &'f Flow,
    spec: Spec,
    body: impl FnOnce(Arc<Step>) -> Result<F, String> + Send + 'f,
    undo: Option<impl FnOnce(T) -> Box<dyn FnOnce(Flow) -> Undoing + Send> + Send + 'f>,
) -> impl Future<Output = Result<T, StepError>> + Send + 'f
where
    T: Serialize + DeserializeOwned + Send + Sync + 'f,
    F: Future<Output = Result<T, Fault>> + Send + 'f,
{
    crate::flow::call(flow, spec, body, undo)
}

// The two types of a `Result`, also behind an alias.
#[diagnostic::on_unimplemented(
    message = "a step or a workflow answers with a `Result`, and `{Self}` is none",
    label = "expected `Result<T, E>`"
)]
pub trait AnyResult {
    type Value;
    type Error;
}

impl<T, E> AnyResult for Result<T, E> {
    type Value = T;
    type Error = E;
}

// Why the attempts of a step ended.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` calls")]
pub fn gave_up<E: fmt::Display>(failed: Failed<E>) -> Fault {
    Fault::gave_up(&failed)
}

// Of a step without retries every error is final.
pub fn final_error<E: fmt::Display>(error: E) -> Fault {
    Fault::last(&error)
}

// A workflow that is run.
pub type Running<'f> = Pin<Box<dyn Future<Output = Ended> + Send + 'f>>;

// A step without `undo`.
pub type NoUndo<T> = fn(T) -> Box<dyn FnOnce(Flow) -> Undoing + Send>;

// `#[with]`.
pub fn resource<T: Send + Sync + 'static>(flow: &Flow, step: &str) -> Result<Arc<T>, String> {
    flow.inner.resources.get().ok_or_else(|| {
        format!(
            "step `{step}` wants a `{}` and its scheduler has none; add `.with(...)` to the scheduler, then resubmit the task",
            std::any::type_name::<T>()
        )
    })
}

// Whether compensations are asked for now.
pub fn goes_back(flow: &Flow) -> bool {
    flow.goes_back()
}

// The answer of a compensation is of no use.
pub async fn undone<T>(
    undo: impl Future<Output = Result<T, StepError>> + Send,
) -> Result<(), StepError> {
    undo.await.map(drop)
}

// A task that is not submitted yet.
pub fn submission<W: Workflow>(arguments: &impl Serialize) -> Submission<W> {
    Submission::new(serde_json::to_string(arguments))
}

// The arguments of a workflow as they were written down.
pub fn arguments<A: DeserializeOwned>(input: &str, name: &str) -> Result<A, Failure> {
    serde_json::from_str(input).map_err(|error| {
        Failure::Form(format!(
            "the arguments of workflow `{name}` were written down in another form ({error}); raise its `version`, and let tasks of the old \
             one end with the old code"
        ))
    })
}

// What a workflow came to, as it is written down.
pub fn ended<T: Serialize, E: fmt::Display>(outcome: Result<T, E>) -> Ended {
    match outcome {
        Ok(value) => serde_json::to_string(&value).map_err(|error| {
            Failure::Form(format!(
                "the answer of the workflow cannot be written as JSON ({error})"
            ))
        }),
        Err(error) => Err(Failure::Error(error.to_string())),
    }
}
