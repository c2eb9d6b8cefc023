//! Events go to the log, to counters, and to observers.

mod event;
pub(crate) mod spans;
mod store_errors;
#[cfg(feature = "metrics")]
mod to_metrics;
#[cfg(feature = "tracing")]
mod to_tracing;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

pub use event::{Event, StepEnding};
pub(crate) use store_errors::StoreErrors;

/// A function that gets every event. It runs where tasks run, so it must return at once.
pub(crate) type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// All observers.
#[derive(Clone, Default)]
pub(crate) struct Observers(Vec<Observer>);

impl Observers {
    pub(crate) fn add(&mut self, observer: Observer) {
        self.0.push(observer);
    }

    /// Returns whether an observer or a metric reads the numbers of an event: the log does not.
    pub(crate) const fn have_readers(&self) -> bool {
        cfg!(feature = "metrics") || !self.0.is_empty()
    }

    /// Makes and sends an event, if it has a receiver.
    pub(crate) fn emit_with(&self, event: impl FnOnce() -> Event) {
        if cfg!(feature = "tracing") || self.have_readers() {
            self.emit(&event());
        }
    }

    /// Sends an event to the log, the counters and the observers. An observer that panics loses the event:
    /// the caller holds tasks, or writes for all of them.
    pub(crate) fn emit(&self, event: &Event) {
        #[cfg(feature = "tracing")]
        to_tracing::log_event(event);
        #[cfg(feature = "metrics")]
        to_metrics::count_event(event);
        for observer in &self.0 {
            let _ = catch_unwind(AssertUnwindSafe(|| observer(event)));
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} observers", self.0.len())
    }
}
