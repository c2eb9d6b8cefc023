//! Every shape of function that can be a step or a workflow, run on a store in memory.
#![allow(
    clippy::many_single_char_names,
    clippy::needless_lifetimes,
    clippy::similar_names,
    clippy::too_many_arguments,
    reason = "shapes that somebody may write"
)]

mod arguments;
mod attributes;
mod errors;
mod names;
mod undone;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt_supervisor::{Client, Memory, Scheduler, Submission, SubmitError, Workflow};

/// The log of the steps, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Runs a task with a store and a scheduler of its own.
async fn task_result<W: Workflow>(
    submission: Submission<W>,
    known: impl FnOnce(Scheduler) -> Scheduler,
) -> Result<W::Output, SubmitError> {
    let client = Client::new(Memory::new());
    let running = known(Scheduler::new(&client)).start().unwrap();
    let result = client.submit(submission).await.unwrap().wait().await;
    running.stop(Duration::from_secs(1)).await;
    result
}
