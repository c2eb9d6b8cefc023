//! What is known of a step before it runs.

use std::time::Duration;

/// What `#[step]` knows about its function. Only expansions create it.
#[derive(Debug, Clone, Copy)]
pub struct StepSpec {
    /// The name of the step.
    pub name: &'static str,
    /// How long the step may take in all.
    pub complete_by: Option<Duration>,
    /// Whether the step may run twice.
    pub idempotent: bool,
    /// The name of the step that undoes this one.
    pub undo: Option<&'static str>,
    /// The name of the step that undoes this one if its outcome is unknown.
    pub undo_unknown: Option<&'static str>,
}

impl StepSpec {
    /// Returns whether the start of the step is recorded before its body runs.
    pub(super) const fn records_start(&self) -> bool {
        // A step may run twice, so its start is not worth a write. These must be known to have
        // begun: an operator decides about the first, and the second is undone without an outcome.
        !self.idempotent || self.undo_unknown.is_some()
    }
}
