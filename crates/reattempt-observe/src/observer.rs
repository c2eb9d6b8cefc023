//! Who is told: a global list, and those of a scope.

use core::fmt;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::event::Event;
use super::scope;

/// Is told of what happens to calls that do not succeed at once.
///
/// It is told on the thread of the call, before the delay: what takes long belongs elsewhere. What it
/// calls itself and what fails there is not told. A panic goes through the call.
///
/// # Examples
///
/// ```
/// # use retry_runtime as reattempt;
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

type List = Arc<Vec<(u64, Arc<dyn Observer>)>>;

static OBSERVERS: RwLock<Option<List>> = RwLock::new(None);
/// How many there are, so that nobody need take the lock to see that there is none.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Adds an observer of all calls of the process, until [`ObserverHandle::remove`].
pub fn add(observer: impl Observer + 'static) -> ObserverHandle {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let observer: Arc<dyn Observer> = Arc::new(observer);
    change(|list| list.push((number, observer)));
    ObserverHandle { number }
}

/// An observer that was added; dropping this leaves it there.
#[derive(Debug)]
pub struct ObserverHandle {
    number: u64,
}

impl ObserverHandle {
    /// Removes the observer: what happens from now on it is not told.
    pub fn remove(self) {
        change(|list| list.retain(|(number, _)| *number != self.number));
    }
}

fn change(change: impl FnOnce(&mut Vec<(u64, Arc<dyn Observer>)>)) {
    let _before = {
        let mut list = OBSERVERS.write().unwrap_or_else(PoisonError::into_inner);
        let mut observers = list.as_deref().cloned().unwrap_or_default();
        change(&mut observers);
        COUNT.store(observers.len(), Ordering::Relaxed);
        // Dropped outside the lock: an observer that ends may do what is told, or remove another.
        list.replace(Arc::new(observers))
    };
}

thread_local! {
    /// Whether an observer of this thread is being told something.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Whether anybody is to be told what happens on this thread.
pub(super) fn is_anybody_there() -> bool {
    !is_telling() && (super::has_sinks() || is_added())
}

/// Returns whether there is an observer of the user's for this thread.
pub(super) fn is_added() -> bool {
    COUNT.load(Ordering::Relaxed) > 0 || scope::observes()
}

/// Tells everybody.
pub(super) fn tell(event: &Event<'_>) {
    let Some(_telling) = Telling::begin() else {
        return;
    };
    super::tell_sinks(event);
    scope::tell(event);
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let list = OBSERVERS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    for (_, observer) in list.iter().flat_map(|list| &**list) {
        observer.observe(event);
    }
}

/// Until this is dropped, also by a panic, nothing is told: an observer that is retried itself does not
/// observe itself.
fn is_telling() -> bool {
    TELLING.try_with(Cell::get).unwrap_or(false)
}

struct Telling;

impl Telling {
    fn begin() -> Option<Self> {
        let before = TELLING.try_with(|telling| telling.replace(true));
        (!before.unwrap_or(false)).then_some(Self)
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        let _ended = TELLING.try_with(|telling| telling.set(false));
    }
}

impl fmt::Debug for dyn Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
