//! The tasks that this process runs or waits for. A caller that waits for a task of its own process
//! does not ask the store.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::watch;

use crate::task::{State, TaskId};

/// The tasks that this process runs or waits for.
#[derive(Debug, Clone, Default)]
pub(crate) struct LocalTasks(Arc<Mutex<HashMap<TaskId, Weak<LocalTask>>>>);

/// How a task ended.
#[derive(Debug, Clone)]
pub(crate) struct LocalEnding {
    pub(crate) state: State,
    pub(crate) output: Option<String>,
    pub(crate) error: Option<String>,
}

/// One task. The last owner that drops it removes it from the map.
#[derive(Debug)]
pub(crate) struct LocalTask {
    id: TaskId,
    all: LocalTasks,
    is_running: AtomicBool,
    ending: watch::Sender<Option<LocalEnding>>,
}

impl LocalTasks {
    /// Returns the task with this number, one for all callers.
    pub(crate) fn get(&self, id: TaskId) -> Arc<LocalTask> {
        let mut tasks = self.lock();
        if let Some(task) = tasks.get(&id).and_then(Weak::upgrade) {
            return task;
        }
        let task = Arc::new(LocalTask {
            id,
            all: self.clone(),
            is_running: AtomicBool::new(false),
            ending: watch::Sender::new(None),
        });
        tasks.insert(id, Arc::downgrade(&task));
        task
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Weak<LocalTask>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LocalTask {
    /// Sets whether this process runs the task. If it does, it publishes the ending.
    pub(crate) fn set_running(&self, is_running: bool) {
        self.is_running.store(is_running, Ordering::Relaxed);
    }

    /// Returns whether this process runs the task.
    pub(crate) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Relaxed)
    }

    /// Hands the ending to every caller that waits for it.
    pub(crate) fn publish(&self, ending: LocalEnding) {
        self.ending.send_replace(Some(ending));
    }

    /// Returns the endings from now on; an earlier one may be outdated.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<LocalEnding>> {
        self.ending.subscribe()
    }
}

impl Drop for LocalTask {
    fn drop(&mut self) {
        let mut tasks = self.all.lock();
        // Another caller may have created it again in between.
        if tasks
            .get(&self.id)
            .is_some_and(|task| task.strong_count() == 0)
        {
            tasks.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_one_for_all_and_forgotten_with_the_last() {
        let tasks = LocalTasks::default();
        let (one, other) = (tasks.get(TaskId(1)), tasks.get(TaskId(1)));
        assert!(Arc::ptr_eq(&one, &other));
        drop(one);
        assert_eq!(tasks.lock().len(), 1);
        drop(other);
        assert_eq!(tasks.lock().len(), 0);
    }
}
