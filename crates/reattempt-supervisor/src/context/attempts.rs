//! How many attempts a step has made.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts the attempts of a step. Its transaction may ask on any thread.
#[derive(Debug, Default)]
pub(super) struct Attempts(AtomicU32);

impl Attempts {
    /// Returns the number of attempts, at least 1: a step without retries does not count.
    pub(super) fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed).max(1)
    }
}

tokio::task_local! {
    /// The attempts of the step that runs.
    pub(super) static ATTEMPTS: Arc<Attempts>;
}

/// Counts an attempt of the step that runs: the body of a step with retries calls this.
pub(crate) fn count_attempt() {
    // A body that runs outside of a step has no count to add to.
    let _ = ATTEMPTS.try_with(|attempts| attempts.0.fetch_add(1, Ordering::Relaxed));
}
