//! Everything that the expansions of `#[step]` and `#[workflow]` use. Nothing here is part of the
//! public interface.

use std::borrow::Borrow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

pub use core;
pub use reattempt::{self, RetryError};
pub use std::boxed::Box;

pub use crate::context::{
    AgentError, AgentTimer, Committed, Compensation, CompensationFuture, Lost, LostByContent,
    LostByNothing, LostBySource, LostByVerdict, Step, StepArguments, StepError, StepFailure,
    StepSpec, UndoArguments, UndoFn, WorkflowContext, agent_attempt, agent_timer,
};
pub use crate::payload::{Codec, codec};
pub use crate::store::submission::Submission;
use crate::workflow::new_task;
pub use crate::workflow::{Workflow, WorkflowError, WorkflowFuture, WorkflowResult};
pub use serde_json::Result as JsonResult;

/// Runs a step, or returns its recorded result. The step takes its place in the order of the task's
/// steps when this is called, not when the future is polled first.
pub fn call<T: Send + Sync, F>(
    context: &WorkflowContext,
    spec: StepSpec,
    codec: Codec<T>,
    arguments: serde_json::Result<StepArguments>,
    body: impl FnOnce(Arc<Step>) -> Result<F, String> + Send,
    undo: Option<impl UndoFn<T>>,
) -> impl Future<Output = Result<T, StepError>> + Send
where
    F: Future<Output = Result<T, StepFailure>> + Send,
{
    crate::context::call(context, (spec, false), codec, arguments, body, undo)
}

/// Lets agents run a step, or returns its recorded result; see [`call`].
pub fn call_agent<T: Send + Sync, F>(
    context: &WorkflowContext,
    (spec, queue): (StepSpec, &'static str),
    codec: Codec<T>,
    arguments: serde_json::Result<StepArguments>,
    body: impl Fn(Arc<Step>) -> F + Send + Sync,
    undo: Option<impl UndoFn<T>>,
) -> impl Future<Output = Result<T, StepError>> + Send
where
    F: Future<Output = Result<T, StepFailure>> + Send,
{
    crate::context::call_agent(context, (spec, queue), codec, arguments, body, undo)
}

/// Runs a step in a transaction of the application, or returns its recorded result; see [`call`].
pub fn call_transaction<T: Send + Sync, C, F>(
    context: &WorkflowContext,
    spec: StepSpec,
    codec: Codec<T>,
    arguments: serde_json::Result<StepArguments>,
    body: impl FnOnce(Arc<Step>) -> Result<F, String> + Send,
    undo: Option<impl UndoFn<T>>,
) -> impl Future<Output = Result<T, StepError>> + Send
where
    C: IsCommitted<Value = T>,
    F: Future<Output = Result<C, StepFailure>> + Send,
{
    let body = |step| {
        let body = body(step)?;
        // Futures of drivers are large.
        Ok(Box::pin(async { body.await.map(C::into_value) }))
    };
    crate::context::call(context, (spec, true), codec, arguments, body, undo)
}

/// The value of a step with `transaction`.
#[diagnostic::on_unimplemented(
    message = "a step with `transaction` returns what `step.commit(transaction, value)` returns, and `{Self}` is something else; write `Result<Committed<T>, E>`",
    label = "expected `Committed<T>`",
    note = "rule D10: https://reattempt.github.io/reattempt/errors.html#d10"
)]
pub trait IsCommitted {
    /// The type of the value.
    type Value;

    /// Returns the value.
    fn into_value(self) -> Self::Value;
}

impl<T> IsCommitted for Committed<T> {
    type Value = T;

    fn into_value(self) -> T {
        Self::into_value(self)
    }
}

/// The type behind the first parameter of a step, under whatever name.
#[diagnostic::on_unimplemented(
    message = "the first parameter of a step is not `{Self}` but its task; write `step: &Step`",
    label = "expected `Step`",
    note = "rule D7: https://reattempt.github.io/reattempt/errors.html#d7"
)]
pub trait IsStep {
    /// Returns the step as the body sees it.
    fn of(step: &Arc<Step>) -> &Self;
}

impl IsStep for Step {
    fn of(step: &Arc<Step>) -> &Self {
        step
    }
}

/// For bodies that send their step to another thread.
impl IsStep for Arc<Step> {
    fn of(step: &Self) -> &Self {
        step
    }
}

/// The type behind the first parameter of a workflow, under whatever name.
#[diagnostic::on_unimplemented(
    message = "the first parameter of a workflow is not `{Self}` but its task; write `context: &WorkflowContext`",
    label = "expected `WorkflowContext`",
    note = "rule D7: https://reattempt.github.io/reattempt/errors.html#d7"
)]
pub trait IsContext {
    /// Returns the context as the body sees it.
    fn of(context: &WorkflowContext) -> &Self;
}

impl IsContext for WorkflowContext {
    fn of(context: &WorkflowContext) -> &Self {
        context
    }
}

/// The two types of a `Result`, also behind an alias.
#[diagnostic::on_unimplemented(
    message = "a step or a workflow returns a `Result`, and `{Self}` is not one",
    label = "expected `Result<T, E>`",
    note = "rule D10: https://reattempt.github.io/reattempt/errors.html#d10"
)]
pub trait AnyResult {
    /// The type of the value.
    type Value;
    /// The type of the error.
    type Error;
}

impl<T, E> AnyResult for Result<T, E> {
    type Value = T;
    type Error = E;
}

/// The value of `key` of a step.
#[diagnostic::on_unimplemented(
    message = "the key of a step is a text, and `{Self}` has none; use a number, a string, or another value with `Display`",
    label = "this value has no `Display`",
    note = "rule D11: https://reattempt.github.io/reattempt/errors.html#d11"
)]
pub trait StepKeyValue: fmt::Display {}

#[diagnostic::do_not_recommend]
impl<T: fmt::Display + ?Sized> StepKeyValue for T {}

/// Returns the text of the `key` of a step.
pub fn step_key<T: StepKeyValue + ?Sized>(value: &T) -> String {
    value.to_string()
}

/// Returns the arguments of a call that was given a key.
pub fn with_key(
    arguments: serde_json::Result<StepArguments>,
    key: String,
) -> serde_json::Result<StepArguments> {
    arguments.map(|arguments| arguments.with_key(key))
}

/// Counts an attempt of the step that runs.
pub fn count_attempt() {
    crate::context::count_attempt();
}

/// The `max` of a step with one attempt, whose errors are judged nevertheless.
pub const ONE_ATTEMPT: u32 = 1;

/// Converts the result of a step with retries.
pub fn retry_result<T, E: RecordedError>(
    result: Result<T, RetryError<E>>,
) -> Result<T, StepFailure> {
    result.map_err(|error| StepFailure::gave_up(&error))
}

/// Converts the result of a step without retries: every error is final.
pub fn single_attempt_result<T, E: RecordedError>(result: Result<T, E>) -> Result<T, StepFailure> {
    result.map_err(|error| StepFailure::last(&error))
}

/// Converts the result of a step with `transaction` and without retries: an error is final, unless the connection
/// was lost.
pub fn transaction_result<T, E: RecordedError>(
    result: Result<T, E>,
    is_lost: impl FnOnce(&E) -> bool,
) -> Result<T, StepFailure> {
    result.map_err(|error| {
        let failure = StepFailure::last(&error);
        if is_lost(&error) {
            failure.again()
        } else {
            failure
        }
    })
}

/// An error whose text goes into the record.
#[diagnostic::on_unimplemented(
    message = "the record keeps the text of an error of a durable task, and `{Self}` has none; implement `Display` for it",
    label = "this error has no `Display`",
    note = "rule D10: https://reattempt.github.io/reattempt/errors.html#d10"
)]
pub trait RecordedError: fmt::Display {}

#[diagnostic::do_not_recommend]
impl<E: fmt::Display> RecordedError for E {}

/// The type of the missing compensation of a step without `undo`.
pub type NoUndo<T> =
    fn(Option<T>, &mut UndoArguments<'_>) -> serde_json::Result<Option<Compensation>>;

/// Returns the value for a parameter with `#[with]`.
///
/// # Errors
///
/// Fails with a message if the scheduler has no value of this type.
pub fn resource<T: Resource>(context: &WorkflowContext, step: &str) -> Result<Arc<T>, String> {
    context.inner.resources.get().ok_or_else(|| {
        format!(
            "step `{step}` needs a `{}` and its scheduler has none; add `.with(...)` to the scheduler, then resubmit the task",
            std::any::type_name::<T>()
        )
    })
}

/// A value that a scheduler can share with steps.
#[diagnostic::on_unimplemented(
    message = "many steps share a parameter with `#[with]` at once, and `{Self}` cannot be shared; use a type that is `Sized + Send + Sync + 'static`",
    label = "expected a type that is `Sized + Send + Sync + 'static`",
    note = "rule D8: https://reattempt.github.io/reattempt/errors.html#d8"
)]
pub trait Resource: Sized + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> Resource for T {}

/// Returns the arguments of a call for the record. Where a step ignores their changes, there is
/// nothing to compare.
///
/// # Errors
///
/// Fails if an argument cannot be written as JSON.
pub fn step_arguments(
    is_compared: bool,
    arguments: impl IntoIterator<Item = serde_json::Result<String>>,
) -> serde_json::Result<StepArguments> {
    StepArguments::new(is_compared, arguments)
}

/// Returns an argument of a step as JSON.
///
/// # Errors
///
/// Fails if the argument cannot be written as JSON.
pub fn argument_json<T: StepArgument + ?Sized>(argument: &T) -> serde_json::Result<String> {
    serde_json::to_string(argument)
}

/// An argument of a step, which is recorded.
#[diagnostic::on_unimplemented(
    message = "the record keeps the arguments of a step, as a hash or as JSON, and `{Self}` cannot be written; add `#[derive(serde::Serialize)]` to it, `#[with]` to the parameter, or `args = \"ignore\"` to the step",
    label = "expected a type that is `Serialize`",
    note = "rule D11: https://reattempt.github.io/reattempt/errors.html#d11"
)]
pub trait StepArgument: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> StepArgument for T {}

/// Reads a recorded argument for the compensation.
///
/// # Errors
///
/// Fails if the recorded argument does not fit the type.
pub fn read_borrowed<T: UndoArgument<C> + ?Sized, C>(
    arguments: &mut UndoArguments<'_>,
) -> serde_json::Result<C> {
    T::read(arguments)
}

/// Reads a recorded optional argument for the compensation.
///
/// # Errors
///
/// Fails if the recorded argument does not fit the type.
pub fn read_optional<T: UndoArgument<C> + ?Sized, C>(
    arguments: &mut UndoArguments<'_>,
) -> serde_json::Result<Option<C>> {
    T::read_optional(arguments)
}

/// Reads a recorded argument by value for the compensation.
///
/// # Errors
///
/// Fails if the recorded argument does not fit the type.
pub fn read_owned<T: UndoArgument<C>, C>(
    arguments: &mut UndoArguments<'_>,
) -> serde_json::Result<C> {
    T::read(arguments)
}

/// Returns a reference to the copy of an argument.
pub fn borrow_copy<T: UndoArgument<C> + ?Sized, C>(copy: &C) -> &T {
    T::borrow(copy)
}

/// Returns a reference to the copy of an optional argument.
pub fn borrow_optional_copy<T: UndoArgument<C> + ?Sized, C>(copy: &Option<C>) -> Option<&T> {
    copy.as_ref().map(T::borrow)
}

/// An argument that a compensation can read from the record.
#[diagnostic::on_unimplemented(
    message = "the compensation gets each argument as it was recorded, and `{Self}` cannot be read back; implement `Clone` and `serde::Deserialize` for it",
    label = "expected a type that is `Clone + DeserializeOwned`",
    note = "rule D4: https://reattempt.github.io/reattempt/errors.html#d4"
)]
pub trait UndoArgument<C> {
    /// Reads the owned form of the argument.
    fn read(arguments: &mut UndoArguments<'_>) -> serde_json::Result<C>;

    /// Reads the same where there may be none.
    fn read_optional(arguments: &mut UndoArguments<'_>) -> serde_json::Result<Option<C>>;

    /// Returns a reference to it.
    fn borrow(copy: &C) -> &Self;
}

#[diagnostic::do_not_recommend]
impl<T, C> UndoArgument<C> for T
where
    T: ToOwned<Owned = C> + ?Sized,
    C: Borrow<T> + DeserializeOwned + Send + 'static,
{
    fn read(arguments: &mut UndoArguments<'_>) -> serde_json::Result<C> {
        arguments.read()
    }

    fn read_optional(arguments: &mut UndoArguments<'_>) -> serde_json::Result<Option<C>> {
        arguments.read()
    }

    fn borrow(copy: &C) -> &T {
        copy.borrow()
    }
}

/// Returns whether the task is collecting compensations now.
pub fn is_undoing(context: &WorkflowContext) -> bool {
    context.is_undoing()
}

/// Drops the value of a compensation: the task has no use for it.
pub fn without_value<T>(result: Result<T, StepError>) -> Result<(), StepError> {
    result.map(drop)
}

/// Makes a submission of arguments that are JSON already.
pub fn submission<W: Workflow>(
    arguments: impl IntoIterator<Item = serde_json::Result<String>>,
) -> Submission<W> {
    let arguments: serde_json::Result<Vec<_>> = arguments.into_iter().collect();
    Submission::new(arguments.map(|arguments| {
        let input = format!("[{}]", arguments.join(","));
        new_task::<W>(String::new(), input)
    }))
}

/// The stored arguments of a workflow.
#[derive(Debug)]
pub struct Arguments<'a> {
    workflow: &'static str,
    texts: std::vec::IntoIter<&'a RawValue>,
}

impl<'a> Arguments<'a> {
    /// Splits a JSON array into `count` arguments.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a JSON array of this length.
    pub fn of<W: Workflow>(input: &'a str, count: usize) -> Result<Self, WorkflowError> {
        let texts = serde_json::from_str::<Vec<&RawValue>>(input);
        let texts = texts.map_err(|error| unfit_arguments(W::NAME, error))?;
        if texts.len() != count {
            let error = format!("there are {}, and the code has {count}", texts.len());
            return Err(unfit_arguments(W::NAME, error));
        }
        Ok(Self {
            workflow: W::NAME,
            texts: texts.into_iter(),
        })
    }

    /// Reads the next argument.
    ///
    /// # Errors
    ///
    /// Fails if the stored argument does not fit the type.
    pub fn read<T>(&mut self, codec: Codec<T>) -> Result<T, WorkflowError> {
        let text = self.texts.next().map_or("", RawValue::get);
        let value = codec.read(text);
        value.map_err(|error| unfit_arguments(self.workflow, error))
    }
}

/// Returns the error for stored arguments that do not fit the code.
fn unfit_arguments(name: &str, error: impl fmt::Display) -> WorkflowError {
    WorkflowError::Json(format!(
        "the stored arguments do not fit workflow `{name}`, which takes a JSON array ({error}); if its code has changed since, \
         raise its `version` and let tasks of the old version finish with the old code"
    ))
}

/// Converts the result of a workflow into JSON.
pub fn workflow_result<W: Workflow, E: RecordedError>(
    result: Result<W::Output, E>,
) -> WorkflowResult {
    match result {
        Ok(value) => serde_json::to_string(&value).map_err(|error| {
            WorkflowError::Json(format!(
                "the result of the workflow cannot be written as JSON ({error})"
            ))
        }),
        Err(error) => Err(WorkflowError::Returned(error.to_string())),
    }
}
