//! Errors of the store as events. All parts of a process see the same outage, and all of them try
//! again and again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::{Event, Observers};
use crate::store::StoreError;

/// How long the same message is not repeated.
const QUIET: Duration = Duration::from_secs(10);

/// How many messages are remembered.
const REMEMBERED: usize = 16;

/// Emits each message at most once in ten seconds.
#[derive(Debug)]
pub(crate) struct StoreErrors {
    observers: Observers,
    /// The last messages, the newest last.
    emitted: Mutex<VecDeque<(String, Instant)>>,
}

impl StoreErrors {
    pub(crate) const fn new(observers: Observers) -> Self {
        Self {
            observers,
            emitted: Mutex::new(VecDeque::new()),
        }
    }

    /// Emits an error, unless its message was emitted less than ten seconds ago.
    pub(crate) fn emit(&self, error: &StoreError) {
        let message = error.to_string();
        let now = Instant::now();
        {
            let mut emitted = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
            emitted.retain(|(_, at)| now.saturating_duration_since(*at) < QUIET);
            if emitted.iter().any(|(old, _)| *old == message) {
                return;
            }
            if emitted.len() >= REMEMBERED {
                emitted.pop_front();
            }
            emitted.push_back((message.clone(), now));
        }
        self.observers.emit(&Event::StoreError {
            error: message,
            kind: error.kind(),
            task: error.task(),
            table: error.table().map(str::to_owned),
        });
    }

    /// Returns the newest message of the last ten seconds.
    pub(crate) fn last(&self) -> Option<String> {
        let emitted = self.emitted.lock().unwrap_or_else(PoisonError::into_inner);
        emitted.back().map(|(message, _)| message.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_message_is_not_repeated_for_ten_seconds() {
        let count = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&count);
        let mut observers = Observers::default();
        observers.add(Arc::new(move |_| {
            seen.fetch_add(1, Ordering::SeqCst);
        }));
        let errors = StoreErrors::new(observers);
        for _ in 0..100 {
            errors.emit(&StoreError::passing("gone"));
            tokio::time::advance(Duration::from_millis(99)).await;
        }
        assert_eq!(count.load(Ordering::SeqCst), 1);
        errors.emit(&StoreError::passing("the disk is full"));
        assert_eq!(count.load(Ordering::SeqCst), 2);
        tokio::time::advance(Duration::from_millis(101)).await;
        errors.emit(&StoreError::passing("gone"));
        assert_eq!(count.load(Ordering::SeqCst), 3);
        assert_eq!(errors.last().as_deref(), Some("gone"));
    }
}
