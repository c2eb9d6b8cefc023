//! All that the expansions of `#[step]` and `#[workflow]` may name. Nothing here is part of the public interface.

use std::borrow::Borrow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::value::RawValue;

pub use core;
pub use reattempt::{self, RetryError};
pub use std::boxed::Box;

pub use crate::flow::{Fault, Flow, Spec, Step, StepError};
pub use crate::workflow::{Ended, Failure, Submission, Workflow, Written};

// What a compensation is, as a future that somebody else polls.
pub type Undoing = Pin<Box<dyn Future<Output = Result<(), StepError>> + Send>>;

// Runs a step, or tells what it came to before.
pub fn call<T: Send + Sync, F>(
    flow: &Flow,
    spec: Spec,
    form: Form<T>,
    body: impl FnOnce(Arc<Step>) -> Result<F, String> + Send,
    undo: Option<impl FnOnce(T) -> Box<dyn FnOnce(Flow) -> Undoing + Send> + Send>,
) -> impl Future<Output = Result<T, StepError>> + Send
where
    F: Future<Output = Result<T, Fault>> + Send,
{
    crate::flow::call(flow, spec, form, body, undo)
}

// The first parameter of a step, under whatever name.
#[diagnostic::on_unimplemented(
    message = "the first parameter of a step is its task, and `{Self}` is none; write `step: &Step`",
    label = "expected `Step`",
    note = "rule D7: https://docs.rs/reattempt/latest/reattempt/errors/#d7"
)]
pub trait IsStep {
    fn of(step: &Arc<Step>) -> &Self;
}

impl IsStep for Step {
    fn of(step: &Arc<Step>) -> &Self {
        step
    }
}

// The first parameter of a workflow, under whatever name.
#[diagnostic::on_unimplemented(
    message = "the first parameter of a workflow is its task, and `{Self}` is none; write `flow: &Flow`",
    label = "expected `Flow`",
    note = "rule D7: https://docs.rs/reattempt/latest/reattempt/errors/#d7"
)]
pub trait IsFlow {
    fn of(flow: &Flow) -> &Self;
}

impl IsFlow for Flow {
    fn of(flow: &Flow) -> &Self {
        flow
    }
}

// The two types of a `Result`, also behind an alias.
#[diagnostic::on_unimplemented(
    message = "a step or a workflow answers with a `Result`, and `{Self}` is none",
    label = "expected `Result<T, E>`",
    note = "rule D10: https://docs.rs/reattempt/latest/reattempt/errors/#d10"
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
pub fn gave_up<T, E: Said>(outcome: Result<T, RetryError<E>>) -> Result<T, Fault> {
    outcome.map_err(|failed| Fault::gave_up(&failed))
}

// Of a step without retries every error is final.
pub fn final_error<T, E: Said>(outcome: Result<T, E>) -> Result<T, Fault> {
    outcome.map_err(|error| Fault::last(&error))
}

// An error, of which the record has what it says.
#[diagnostic::on_unimplemented(
    message = "an error of a durable task is recorded in its own words, and `{Self}` has none; implement `Display` for it",
    label = "this error has no `Display`",
    note = "rule D10: https://docs.rs/reattempt/latest/reattempt/errors/#d10"
)]
pub trait Said: fmt::Display {}

#[diagnostic::do_not_recommend]
impl<E: fmt::Display> Said for E {}

// A workflow that is run.
pub type Running<'f> = Pin<Box<dyn Future<Output = Ended> + Send + 'f>>;

// A step without `undo`.
pub type NoUndo<T> = fn(T) -> Box<dyn FnOnce(Flow) -> Undoing + Send>;

// `#[with]`.
pub fn resource<T: Lent>(flow: &Flow, step: &str) -> Result<Arc<T>, String> {
    flow.inner.resources.get().ok_or_else(|| {
        format!(
            "step `{step}` wants a `{}` and its scheduler has none; add `.with(...)` to the scheduler, then resubmit the task",
            std::any::type_name::<T>()
        )
    })
}

// What a scheduler can lend to steps.
#[diagnostic::on_unimplemented(
    message = "what a scheduler lends is used by many steps at once, and `{Self}` cannot be; take a type that is `Sized + Send + Sync + 'static`",
    label = "expected a type that is `Sized + Send + Sync + 'static`",
    note = "rule D8: https://docs.rs/reattempt/latest/reattempt/errors/#d8"
)]
pub trait Lent: Sized + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> Lent for T {}

// An argument of a step that has an `undo`, for the compensation.
pub fn keep<T: Kept + ?Sized>(argument: &T) -> T::Copy {
    argument.copied()
}

pub fn keep_some<T: Kept + ?Sized>(argument: Option<&T>) -> Option<T::Copy> {
    argument.map(Kept::copied)
}

pub fn keep_owned<T: Kept<Copy = T>>(argument: &T) -> T {
    argument.copied()
}

pub fn lend<T: Kept + ?Sized>(kept: &T::Copy) -> &T {
    kept.borrow()
}

pub fn lend_some<T: Kept + ?Sized>(kept: &Option<T::Copy>) -> Option<&T> {
    kept.as_ref().map(Borrow::borrow)
}

// What can be kept for a compensation.
#[diagnostic::on_unimplemented(
    message = "the compensation gets a copy of each argument, and of `{Self}` there can be none; implement `Clone` for it",
    label = "this argument has no `Clone`",
    note = "rule D4: https://docs.rs/reattempt/latest/reattempt/errors/#d4"
)]
pub trait Kept {
    type Copy: Borrow<Self> + Send + 'static;

    fn copied(&self) -> Self::Copy;
}

#[diagnostic::do_not_recommend]
impl<T: ToOwned<Owned: Send + 'static> + ?Sized> Kept for T {
    type Copy = T::Owned;

    fn copied(&self) -> Self::Copy {
        self.to_owned()
    }
}

// Whether compensations are asked for now.
pub fn goes_back(flow: &Flow) -> bool {
    flow.goes_back()
}

// The answer of a compensation is of no use.
pub fn undone<T>(outcome: Result<T, StepError>) -> Result<(), StepError> {
    outcome.map(drop)
}

// A task that is not submitted yet.
pub fn submission<W: Workflow>(
    arguments: impl IntoIterator<Item = serde_json::Result<String>>,
) -> Submission<W> {
    let written: serde_json::Result<Vec<_>> = arguments.into_iter().collect();
    Submission::new(written.map(|written| format!("[{}]", written.join(","))))
}

// How what is given or answered is written down. Only here its type must be one that can be, so that the compiler says so once.
pub fn form<T: Written>() -> Form<T> {
    Form {
        write: |value| serde_json::to_string(value),
        read: |text| serde_json::from_str(text),
    }
}

#[derive(Debug)]
pub struct Form<T> {
    pub(crate) write: fn(&T) -> serde_json::Result<String>,
    pub(crate) read: fn(&str) -> serde_json::Result<T>,
}

impl<T> Clone for Form<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Form<T> {}

impl<T> Form<T> {
    pub fn write(self, value: &T) -> serde_json::Result<String> {
        (self.write)(value)
    }

    pub fn read(self, input: &mut Arguments<'_>) -> Result<T, Failure> {
        let text = input.texts.next().map_or("", RawValue::get);
        (self.read)(text).map_err(|error| other_form(input.workflow, error))
    }
}

// The arguments of a workflow as they were written down.
#[derive(Debug)]
pub struct Arguments<'a> {
    workflow: &'static str,
    texts: std::vec::IntoIter<&'a RawValue>,
}

impl<'a> Arguments<'a> {
    pub fn of<W: Workflow>(input: &'a str, count: usize) -> Result<Self, Failure> {
        let texts = serde_json::from_str::<Vec<&RawValue>>(input);
        let texts = texts.map_err(|error| other_form(W::NAME, error))?;
        if texts.len() != count {
            let error = format!("{} of them, and the code has {count}", texts.len());
            return Err(other_form(W::NAME, error));
        }
        Ok(Self {
            workflow: W::NAME,
            texts: texts.into_iter(),
        })
    }
}

fn other_form(name: &str, error: impl fmt::Display) -> Failure {
    Failure::Form(format!(
        "the arguments are not those of workflow `{name}`, a JSON array ({error}); if its code has changed since, raise its `version` and let tasks \
         of the old one end with the old code"
    ))
}

// What a workflow came to, as it is written down.
pub fn ended<W: Workflow, E: Said>(outcome: Result<W::Output, E>) -> Ended {
    match outcome {
        Ok(value) => serde_json::to_string(&value).map_err(|error| {
            Failure::Form(format!(
                "the answer of the workflow cannot be written as JSON ({error})"
            ))
        }),
        Err(error) => Err(Failure::Error(error.to_string())),
    }
}
