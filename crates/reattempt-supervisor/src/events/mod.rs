//! What operators are told.

#[cfg(feature = "metrics")]
mod to_metrics;
#[cfg(feature = "tracing")]
mod to_tracing;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::store::Swept;
use crate::task::{RunId, State};

/// Something that happened to a task, or to a store.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A worker took it.
    Claimed {
        /// The task.
        run: RunId,
        /// The name of its workflow.
        workflow: String,
        /// How long it had been ready.
        waited: Duration,
    },
    /// It came to an end.
    Ended {
        /// The task.
        run: RunId,
        /// The name of its workflow.
        workflow: String,
        /// How.
        state: State,
        /// Why, unless it was processed.
        error: Option<String>,
    },
    /// It failed and will be tried again.
    Failed {
        /// The task.
        run: RunId,
        /// The name of its workflow.
        workflow: String,
        /// How often.
        failures: i32,
        /// When it is tried again, from now.
        delay: Duration,
        /// Why.
        error: String,
    },
    /// It failed or was cancelled, and what it did is undone.
    TurnedBack {
        /// The task.
        run: RunId,
        /// The name of its workflow.
        workflow: String,
        /// Why.
        error: String,
    },
    /// A supervisor found it without an owner, or without time.
    Swept(Swept),
    /// Another worker holds what this one was doing; nothing of it was written.
    Lost {
        /// The task.
        run: RunId,
        /// The name of its workflow.
        workflow: String,
    },
    /// The store cannot write now.
    Trouble(String),
}

impl Event {
    /// Whether somebody should look: a task that ended in [`State::Error`] or [`State::Parked`], or a store in trouble.
    pub const fn is_alert(&self) -> bool {
        matches!(
            self,
            Self::Trouble(_)
                | Self::Ended {
                    state: State::Error | State::Parked,
                    ..
                }
                | Self::Swept(Swept {
                    state: State::Parked,
                    ..
                })
        )
    }
}

/// Who is told. Answers at once: it is called where tasks run.
pub(crate) type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// Everybody who is told.
#[derive(Clone, Default)]
pub(crate) struct Observers(Vec<Observer>);

impl Observers {
    pub(crate) fn add(&mut self, observer: Observer) {
        self.0.push(observer);
    }

    pub(crate) fn tell(&self, event: &Event) {
        #[cfg(feature = "tracing")]
        to_tracing::tell(event);
        #[cfg(feature = "metrics")]
        to_metrics::tell(event);
        for observer in &self.0 {
            observer(event);
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} observers", self.0.len())
    }
}
