//! What `#[workflow]` makes of a function: a way to submit it, and a way to run it.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::flow::Flow;
use crate::store::StoreError;
use crate::task::NewRun;
use crate::time::Time;

/// A workflow's answer: as JSON, or why it failed.
pub type Ended = Result<String, Failure>;

/// Why a workflow failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It said so.
    Error(String),
    /// Its arguments are not what they were when it was submitted, or its answer is none.
    Form(String),
}

/// What can be written down as JSON, and read again by another process: all that is `Serialize`, `DeserializeOwned`, `Send`,
/// `Sync` and `'static`.
#[diagnostic::on_unimplemented(
    message = "what a durable task is given and answers is written down, and `{Self}` cannot be; add `#[derive(serde::Serialize, serde::Deserialize)]` to it",
    label = "expected a type that is `Serialize + DeserializeOwned + Send + Sync + 'static`",
    note = "rule D10: https://docs.rs/reattempt/latest/reattempt/errors/#d10"
)]
pub trait Written: Serialize + DeserializeOwned + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Written for T {}

/// A function with `#[workflow]`.
pub trait Workflow: Send + 'static {
    /// What it is called in the store.
    const NAME: &'static str;

    /// The version of its code.
    const VERSION: i32;

    /// How long a task may take in all.
    const COMPLETE_BY: Option<Duration>;

    /// How many failures are too many.
    const MAX_FAILURES: i32;

    /// What it answers.
    type Output: Written;

    /// Runs it with the arguments that were written down.
    fn run<'f>(flow: &'f Flow, input: &'f str) -> Pin<Box<dyn Future<Output = Ended> + Send + 'f>>;
}

/// A task that is not submitted yet: what the function of a workflow answers with.
#[must_use = "a submission does nothing before `Tasks::submit`"]
pub struct Submission<W> {
    new: Result<NewRun, serde_json::Error>,
    workflow: PhantomData<fn() -> W>,
}

impl<W: Workflow> Submission<W> {
    pub(crate) fn new(input: Result<String, serde_json::Error>) -> Self {
        let new = input.map(|input| NewRun {
            workflow: W::NAME.to_owned(),
            version: W::VERSION,
            queue: DEFAULT_QUEUE.to_owned(),
            priority: 0,
            key: String::new(),
            input,
            headers: None,
            delay: Duration::ZERO,
            complete_by: W::COMPLETE_BY,
            max_failures: W::MAX_FAILURES,
        });
        Self {
            new,
            workflow: PhantomData,
        }
    }

    /// What is to be stored, with a key of its own where none was given.
    pub(crate) fn into_new(self) -> Result<NewRun, StoreError> {
        let mut new = self.new.map_err(|error| {
            StoreError::lasting("the arguments cannot be written as JSON").because(error)
        })?;
        if new.key.is_empty() {
            new.key = key(Time::of_this_machine());
        }
        Ok(new)
    }

    fn with(mut self, change: impl FnOnce(&mut NewRun)) -> Self {
        if let Ok(new) = &mut self.new {
            change(new);
        }
        self
    }

    /// Makes it one of its kind: of all submissions of this workflow with the same key only the first makes a task, and the others
    /// find that one.
    ///
    /// # Default
    ///
    /// A random key: each submission makes a task.
    pub fn key(self, key: impl Into<String>) -> Self {
        self.with(|new| new.key = key.into())
    }

    /// The queue it waits in.
    ///
    /// # Default
    ///
    /// `"default"`.
    pub fn queue(self, queue: impl Into<String>) -> Self {
        self.with(|new| new.queue = queue.into())
    }

    /// What is lower goes first within a queue.
    ///
    /// # Default
    ///
    /// 0.
    pub fn priority(self, priority: i16) -> Self {
        self.with(|new| new.priority = priority)
    }

    /// Begins so much later.
    pub fn delay(self, delay: Duration) -> Self {
        self.with(|new| new.delay = delay)
    }

    /// Must be done so soon after it is submitted; a task that is not is undone. Takes the place of what the workflow says.
    pub fn complete_by(self, limit: Duration) -> Self {
        self.with(|new| new.complete_by = Some(limit))
    }

    /// What goes along, as a JSON object: trace ids, who asked.
    pub fn headers(self, json: impl Into<String>) -> Self {
        self.with(|new| new.headers = Some(json.into()))
    }
}

impl<W: Workflow> fmt::Debug for Submission<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Submission").field(&self.new).finish()
    }
}

/// A key of its own. New ones stand behind older ones in an index, so that a large store is written in one place.
fn key(now: Time) -> String {
    let (micros, random) = (now.as_micros(), rand::random::<u64>());
    format!("{micros:016x}{random:016x}")
}

/// The queue of tasks that name none.
pub(crate) const DEFAULT_QUEUE: &str = "default";

/// The function of a workflow, by the types of its arguments.
pub trait Starts<W, Arguments> {}

macro_rules! starts {
    ($($argument:ident)*) => {
        impl<Function, W, $($argument),*> Starts<W, ($($argument,)*)> for Function
        where
            Function: Fn($($argument),*) -> Submission<W>,
        {
        }
    };
}

starts!();
starts!(A);
starts!(A B);
starts!(A B C);
starts!(A B C D);
starts!(A B C D E);
starts!(A B C D E F);
starts!(A B C D E F G);
starts!(A B C D E F G H);

pub(crate) type Runs =
    for<'f> fn(&'f Flow, &'f str) -> Pin<Box<dyn Future<Output = Ended> + Send + 'f>>;

/// The workflows that a scheduler can run, by name and version.
#[derive(Default, Clone)]
pub(crate) struct Known(HashMap<(String, i32), Runs>);

impl Known {
    /// `false` if there is one of this name and version already.
    pub(crate) fn insert<W: Workflow>(&mut self) -> bool {
        let key = (W::NAME.to_owned(), W::VERSION);
        self.0.insert(key, W::run).is_none()
    }

    pub(crate) fn get(&self, name: &str, version: i32) -> Option<Runs> {
        self.0.get(&(name.to_owned(), version)).copied()
    }

    pub(crate) fn names(&self) -> Vec<(String, i32)> {
        let mut names: Vec<_> = self.0.keys().cloned().collect();
        names.sort();
        names
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
