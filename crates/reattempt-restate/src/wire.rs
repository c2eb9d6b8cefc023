//! The names that clients and handlers share.

/// The handler that runs a task.
pub(crate) const RUN: &str = "run";
/// The handler that sends a signal to a task.
pub(crate) const SIGNAL: &str = "signal";
/// The header with the `complete_by` of a task, in milliseconds.
pub(crate) const COMPLETE_BY: &str = "reattempt-complete-by";
/// The header with the headers of a task.
pub(crate) const HEADERS: &str = "reattempt-headers";
