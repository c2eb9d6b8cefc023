//! How long tasks and keys stay in a store.

use std::time::Duration;

use super::submission::is_random_key;
use crate::time::Time;

/// How long tasks and their keys stay in a store after the tasks have ended: see
/// [`Client::prune`](crate::Client::prune).
///
/// As long as the key of a task is there, a submission with this key stores no other task. Where a producer may
/// repeat a submission after months, its key has to stay longer than the data of the task.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use reattempt_supervisor::Retention;
///
/// const DAY: Duration = Duration::from_secs(86_400);
///
/// let retention = Retention {
///     tasks: 30 * DAY,
///     keys: 365 * DAY,
/// };
/// assert_eq!(Retention::from(30 * DAY).keys, 30 * DAY);
/// # drop(retention);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How long a task stays, with its history.
    pub tasks: Duration,
    /// How long its key stays; a key stays at least as long as its task. Random keys, which tasks without a
    /// [`key`](crate::Submission::key) have (`~` and 32 hexadecimal digits), go with them, and so do the keys of
    /// children.
    pub keys: Duration,
}

impl From<Duration> for Retention {
    /// Returns a retention in which keys go with their tasks.
    fn from(tasks: Duration) -> Self {
        Self { tasks, keys: tasks }
    }
}

impl Retention {
    /// Returns until when the key of a task that ended then stays; `None` if it goes with the task.
    pub(crate) fn key_until(
        self,
        ended: Time,
        key: &str,
        is_child: bool,
        now: Time,
    ) -> Option<Time> {
        let until = ended.after(self.keys);
        (until > now && !is_child && !is_random_key(key)).then_some(until)
    }
}
