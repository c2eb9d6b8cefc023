//! How long tasks and keys stay in a store.

use std::time::Duration;

use super::key::is_random_key;
use crate::time::Time;

/// How long tasks and their keys stay in a store after the tasks have ended: see
/// [`Client::prune`](crate::Client::prune).
///
/// As long as the key of a task is taken, a submission with this key stores no other task. Where a producer may
/// repeat a submission after months, its key has to stay longer than the data of the task.
///
/// Then the key is free: the next submission with it stores another task, whose steps have other keys, because
/// a line of the first one is left. Once services have forgotten the keys of the first, the line goes, and keys begin
/// anew. Both times are those of the prune that has deleted the task.
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
///     keys: 365 * DAY,
///     ..Retention::from(30 * DAY)
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
    /// How long a key is taken at least after its task was deleted: as long as the replica to which the database
    /// may fail over can be behind. Otherwise a failover could lose that the key had become free, after another task
    /// had got it. The default is an hour.
    pub lag: Duration,
    /// How long the line of a free key stays: longer than services remember the keys of steps. The default is 30
    /// days.
    pub forget_keys: Duration,
    /// How long the lines of the feed of [ends](crate::Client::ends) stay: longer than a reader is ever away.
    pub ends: Duration,
}

impl From<Duration> for Retention {
    /// Returns a retention in which keys, and the lines of the feed of ends, go with their tasks.
    fn from(tasks: Duration) -> Self {
        Self {
            tasks,
            keys: tasks,
            lag: Duration::from_secs(3_600),
            forget_keys: Duration::from_secs(30 * 86_400),
            ends: tasks,
        }
    }
}

impl Retention {
    /// Returns until when the key of a task that ended then is taken; `None` if it goes with the task.
    pub(crate) fn key_until(
        self,
        ended: Time,
        key: &str,
        is_child: bool,
        now: Time,
    ) -> Option<Time> {
        // Not before the lag is over, even without `keys`: a replica that is behind must know that
        // the task was pruned before another task takes its key.
        let until = ended.after(self.keys).max(now.after(self.lag));
        // The library never submits these keys again, so their lines would guard nothing.
        (!is_child && !is_random_key(key)).then_some(until)
    }
}
