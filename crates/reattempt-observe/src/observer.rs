//! What an observer is.

use core::fmt;

use super::event::Event;

/// Receives the events of calls that do not succeed at once.
///
/// The thread of the call runs it, before the delay, so it should be fast. Calls that the observer
/// makes are not reported.
///
/// # Panics
///
/// A panic of an observer of the process ([`add`](crate::add)) ends there: the panic hook reports it, and the call and the
/// other observers go on. One of a [`scope`](crate::scope) propagates through the call, as one of its hooks does.
///
/// # Examples
///
/// ```
/// use reattempt::{Policy, observe::{self, Event}};
/// use std::io::{Error, ErrorKind};
/// use std::sync::{Arc, Mutex};
/// use std::time::Duration;
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let log = Arc::clone(&seen);
/// let added = observe::add(move |event: &Event<'_>| log.lock().unwrap().push(event.name()));
///
/// let mut answers = [Err(ErrorKind::TimedOut), Ok(7)].into_iter();
/// let policy = Policy::new().base(Duration::from_nanos(1));
/// let answer = policy.run(|| answers.next().unwrap().map_err(Error::from));
/// assert_eq!(answer?, 7);
/// assert_eq!(*seen.lock().unwrap(), ["attempt_failed", "retry", "recovered"]);
/// added.remove();
/// # Ok::<(), Error>(())
/// ```
pub trait Observer: Send + Sync {
    /// Something happened.
    fn observe(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync> Observer for F {
    fn observe(&self, event: &Event<'_>) {
        self(event);
    }
}

impl fmt::Debug for dyn Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
