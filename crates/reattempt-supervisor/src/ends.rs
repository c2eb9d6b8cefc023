//! Who waits for the end of a task, and who runs it, where both are in this process: then nobody has to ask the store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::watch;

use crate::task::{RunId, State};

/// The tasks that somebody in this process has to do with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ends(Arc<Mutex<HashMap<RunId, Weak<End>>>>);

/// How a task ended.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    pub(crate) state: State,
    pub(crate) output: Option<String>,
    pub(crate) error: Option<String>,
}

/// The end of one task; forgotten when nobody has to do with it any more.
#[derive(Debug)]
pub(crate) struct End {
    run: RunId,
    ends: Ends,
    is_here: AtomicBool,
    told: watch::Sender<Option<Ending>>,
}

impl Ends {
    pub(crate) fn of(&self, run: RunId) -> Arc<End> {
        let mut ends = self.lock();
        if let Some(end) = ends.get(&run).and_then(Weak::upgrade) {
            return end;
        }
        let end = Arc::new(End {
            run,
            ends: self.clone(),
            is_here: AtomicBool::new(false),
            told: watch::Sender::new(None),
        });
        ends.insert(run, Arc::downgrade(&end));
        end
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Weak<End>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl End {
    /// Whoever runs it tells of its end.
    pub(crate) fn is_here(&self) {
        self.is_here.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_gone(&self) {
        self.is_here.store(false, Ordering::Relaxed);
    }

    /// Whether it runs in this process.
    pub(crate) fn runs_here(&self) -> bool {
        self.is_here.load(Ordering::Relaxed)
    }

    pub(crate) fn tell(&self, ending: Ending) {
        self.told.send_replace(Some(ending));
    }

    /// From here on; what was told before may be outdated.
    pub(crate) fn heard(&self) -> watch::Receiver<Option<Ending>> {
        self.told.subscribe()
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let mut ends = self.ends.lock();
        // Somebody may have begun anew in between.
        if ends
            .get(&self.run)
            .is_some_and(|end| end.strong_count() == 0)
        {
            ends.remove(&self.run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_one_for_all_and_forgotten_with_the_last() {
        let ends = Ends::default();
        let (one, other) = (ends.of(RunId(1)), ends.of(RunId(1)));
        assert!(Arc::ptr_eq(&one, &other));
        drop(one);
        assert_eq!(ends.lock().len(), 1);
        drop(other);
        assert_eq!(ends.lock().len(), 0);
    }
}
