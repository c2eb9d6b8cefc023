//! What a replay has found.

use std::fmt;

use super::history::History;
use crate::task::TaskId;

/// A task that the code of today cannot continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The task.
    pub task: TaskId,
    /// The name of its workflow.
    pub workflow: String,
    /// Its version.
    pub version: i32,
    /// Where and how the code differs from the record: it names the step.
    pub message: String,
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    tasks: usize,
    diverged: Vec<Divergence>,
}

impl Report {
    pub(super) fn add(&mut self, history: &History, message: Option<String>) {
        self.tasks = self.tasks.saturating_add(1);
        self.diverged.extend(message.map(|message| Divergence {
            task: history.task(),
            workflow: history.workflow().to_owned(),
            version: history.version(),
            message,
        }));
    }

    /// Returns the number of histories.
    pub const fn tasks(&self) -> usize {
        self.tasks
    }

    /// Returns the tasks that diverge, in the order of the histories.
    pub fn diverged(&self) -> &[Divergence] {
        &self.diverged
    }

    /// For tests: passes if no task diverges.
    ///
    /// # Panics
    ///
    /// Panics with the tasks that diverge.
    #[track_caller]
    pub fn assert_unchanged(&self) {
        assert!(self.diverged.is_empty(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} tasks diverge", self.diverged.len(), self.tasks)?;
        for Divergence {
            task,
            workflow,
            version,
            message,
        } in &self.diverged
        {
            write!(
                f,
                "\ntask {task} (`{workflow}` version {version}): {message}"
            )?;
        }
        Ok(())
    }
}
