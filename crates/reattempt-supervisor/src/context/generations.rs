//! Continuing as new: the end of a generation of the task.

use std::collections::HashMap;

use super::journal::{Continuation, Stop};
use super::workflow_context::{Inner, WorkflowContext};
use crate::payload::too_large;
use crate::store::{NextGeneration, StoreError};

impl WorkflowContext {
    /// Ends the generation once nothing of the task runs any more.
    pub(crate) async fn continue_with(
        &self,
        (name, version): (&str, i32),
        input: Result<String, StoreError>,
    ) -> ! {
        // A task that turns back has no next generation.
        if !self.is_undoing() {
            match self.continuation((name, version), input) {
                Ok(next) => self.inner.journal().continue_with(Some(next)),
                Err(message) => self.stop(Stop::Refused(message)).await,
            }
        }
        let _request = Request(&self.inner);
        std::future::pending().await
    }

    /// Returns what the next generation begins with.
    fn continuation(
        &self,
        (name, version): (&str, i32),
        input: Result<String, StoreError>,
    ) -> Result<Continuation, String> {
        let own = &self.inner.task.workflow;
        if self.inner.engine_calls().is_some() {
            let message = "`continue_as_new` needs a store of this crate; return, and let the caller start the workflow again";
            return Err(message.to_owned());
        }
        if name != own {
            return Err(format!(
                "a task of workflow `{own}` cannot continue as `{name}`: call `continue_as_new` with `{own}`, or start `{name}` as a child"
            ));
        }
        let input = input.map_err(|error| format!("`continue_as_new` failed: {error}"))?;
        let limit = self.inner.limits.max_payload;
        match too_large(
            "the argument list of `continue_as_new`",
            input.len(),
            limit,
            "",
        ) {
            Some(message) => Err(message),
            None => Ok(Continuation { version, input }),
        }
    }
}

/// A request to continue as new, until the workflow drops it.
struct Request<'f>(&'f Inner);

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.0.journal().continue_with(None);
    }
}

impl Inner {
    /// Returns the next generation, which the workflow has asked for.
    ///
    /// # Errors
    ///
    /// [`Stop::Refused`]: a part of this generation may have to be undone.
    pub(crate) fn next_generation(&self) -> Result<NextGeneration, Stop> {
        let mut journal = self.journal();
        if let Some(message) = journal.why_not_continue() {
            return Err(Stop::Refused(message));
        }
        let Some(Continuation { version, input }) = journal.take_continuation() else {
            return Err(Stop::Unavailable);
        };
        let mut left: HashMap<String, usize> = HashMap::new();
        let mut is_heard = |name: &str| {
            let received = || journal.count_received(&format!("signal {name}"));
            let left = left.entry(name.to_owned()).or_insert_with(received);
            let is_heard = *left > 0;
            *left = left.saturating_sub(1);
            is_heard
        };
        let signals = self.signals();
        let heard = signals.iter().filter(|signal| is_heard(&signal.name));
        Ok(NextGeneration {
            generation: self.task.generation.saturating_add(1),
            version,
            input,
            // The store keeps the random bits of these signals: a sender may not have heard that
            // its signal arrived, and repeats it.
            heard: heard.map(|signal| signal.id).collect(),
        })
    }
}
