//! Who receives an event: the observers of this crate, those of the process, and those of the
//! scope, in this order, on the thread of the call and before the delay.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use reattempt_core::watch;
use reattempt_policy::{Consequence, Violation};

use crate::event::Event;
use crate::observer::Observer;
use crate::scope;
use crate::shield::shielded;

type List = Arc<Vec<(u64, Arc<dyn Observer>)>>;

static OBSERVERS: RwLock<Option<List>> = RwLock::new(None);
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
    /// Removes the observer: from now on it receives nothing.
    pub fn remove(self) {
        change(|list| list.retain(|(number, _)| *number != self.number));
    }
}

fn change(change: impl FnOnce(&mut Vec<(u64, Arc<dyn Observer>)>)) {
    let _before = {
        let mut list = OBSERVERS.write().unwrap_or_else(PoisonError::into_inner);
        let mut observers = list.as_deref().cloned().unwrap_or_default();
        change(&mut observers);
        if observers.is_empty() {
            watch::clear(watch::OBSERVER);
        } else {
            watch::set(watch::OBSERVER);
        }
        // Dropped outside the lock: an observer that ends may make calls, or remove another.
        list.replace(Arc::new(observers))
    };
}

thread_local! {
    /// Whether an event is on its way to the observers of this thread.
    static REPORTING: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether anybody observes this thread.
pub(crate) fn is_anybody_there() -> bool {
    (has_sinks() || is_added()) && !is_reporting()
}

/// Returns whether anybody who observes this thread is shown when attempts begin: metrics and statistics are not.
pub(crate) fn wants_times() -> bool {
    #[cfg(feature = "tracing")]
    let is_read = crate::to_tracing::is_on();
    #[cfg(not(feature = "tracing"))]
    let is_read = false;
    (is_read || is_added()) && !is_reporting()
}

/// Returns whether there is an observer of the user's for this thread.
pub(crate) fn is_added() -> bool {
    has_observers() || scope::observes()
}

/// Returns whether the process has an observer.
fn has_observers() -> bool {
    watch::has_any(watch::OBSERVER)
}

/// Delivers an event to every observer.
pub(crate) fn deliver(event: &Event<'_>) {
    let Some(_reporting) = Reporting::begin() else {
        return;
    };
    deliver_to_sinks(event);
    if has_observers() {
        deliver_to_process(event);
    }
    // The last ones: what they panic with goes on to the call.
    scope::report(event);
}

/// Until this is dropped, also by a panic, nothing is reported: an observer that is retried itself does not
/// observe itself.
fn is_reporting() -> bool {
    REPORTING.try_with(Cell::get).unwrap_or(false)
}

struct Reporting;

impl Reporting {
    fn begin() -> Option<Self> {
        let before = REPORTING.try_with(|reporting| reporting.replace(true));
        // Made only where nothing is reported yet: one that is dropped ends what is.
        (!before.unwrap_or(false)).then(|| Self)
    }
}

impl Drop for Reporting {
    fn drop(&mut self) {
        let _ended = REPORTING.try_with(|reporting| reporting.set(false));
    }
}

/// Reports that the policy of an operation breaks a rule. Returns whether anybody reads that: metrics and statistics do not
/// show it.
pub(crate) fn invalid_policy(
    operation: &'static str,
    violation: &Violation,
    consequence: Consequence,
) -> bool {
    #[cfg(feature = "tracing")]
    let is_read = crate::to_tracing::reads_errors() || is_added();
    #[cfg(not(feature = "tracing"))]
    let is_read = is_added();
    if is_read {
        deliver(&Event::InvalidPolicy {
            operation,
            violation,
            consequence,
        });
    }
    is_read
}

/// Reports an event that is about no call.
pub fn report(event: &Event<'_>) {
    if is_anybody_there() {
        deliver(event);
    }
}

/// Returns whether an observer of this crate listens.
#[inline(always)]
pub fn has_sinks() -> bool {
    // Whether a recorder of metrics is installed cannot be asked; statistics always count.
    #[cfg(any(feature = "metrics", feature = "stats"))]
    return true;
    #[cfg(all(feature = "tracing", not(any(feature = "metrics", feature = "stats"))))]
    return crate::to_tracing::is_on();
    #[cfg(not(any(feature = "tracing", feature = "metrics", feature = "stats")))]
    return false;
}

/// Passes the event to the observers of the process.
fn deliver_to_process(event: &Event<'_>) {
    // A copy of the list, because observers may add and remove observers.
    let list = OBSERVERS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    for (_, observer) in list.iter().flat_map(|list| &**list) {
        shielded(|| observer.observe(event));
    }
}

/// Passes the event to the observers of this crate. A recorder of metrics, and a subscriber of `tracing`, are the code of others.
fn deliver_to_sinks(event: &Event<'_>) {
    #[cfg(feature = "stats")]
    crate::stats::report(event);
    #[cfg(feature = "metrics")]
    shielded(|| crate::to_metrics::report(event));
    #[cfg(feature = "tracing")]
    shielded(|| crate::to_tracing::report(event));
    let _ = event;
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};

    use reattempt_policy::{Consequence, RuleId, Text};

    use super::{add, invalid_policy, report};
    use crate::Event;

    /// Each that is added, until it is removed; one that panics takes nothing from the others.
    #[test]
    fn observers_of_the_process_see_all_threads() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = |number: u8| {
            let seen = Arc::clone(&seen);
            add(move |event: &Event<'_>| {
                if matches!(event, Event::TimeoutIgnored("of the process")) {
                    seen.lock().expect("no panic").push(number);
                }
            })
        };
        let panics = add(|event: &Event<'_>| {
            assert!(!matches!(event, Event::TimeoutIgnored("of the process")));
        });
        let (one, two) = (noted(1), noted(2));
        let tell = || report(&Event::TimeoutIgnored("of the process"));
        std::thread::spawn(tell).join().expect("it goes on");
        one.remove();
        tell();
        panics.remove();
        two.remove();
        tell();
        assert_eq!(*seen.lock().expect("no panic"), [1, 2, 2]);
    }

    #[test]
    fn a_rule_that_is_broken_is_told_once_for_each_operation() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&told);
        let observer = move |event: &Event<'_>| {
            if let Event::InvalidPolicy {
                operation,
                violation,
                ..
            } = event
            {
                kept.lock()
                    .expect("no panic")
                    .push((*operation, violation.rule()));
            }
        };
        crate::scope_blocking(Arc::new(observer), || {
            for (id, operation, rule) in [
                (1, "a", RuleId::X1),
                (1, "a", RuleId::X1),
                (1, "a", RuleId::R1),
                (2, "b", RuleId::X1),
            ] {
                let violation = Text::new().push("never").breaks(rule);
                crate::invalid_policy(id, || operation, &violation, Consequence::SingleAttempt);
            }
        });
        let expected = [("a", RuleId::X1), ("a", RuleId::R1), ("b", RuleId::X1)];
        assert_eq!(*told.lock().expect("no panic"), expected);
    }

    /// Also not after a report that comes without a question whether anybody is there.
    #[test]
    fn an_observer_does_not_observe_itself() {
        let seen = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&seen);
        let observer = move |_: &Event<'_>| {
            if count.fetch_add(1, Ordering::Relaxed) < 2 {
                let violation = Text::new().push("never").breaks(RuleId::X1);
                invalid_policy("inside", &violation, Consequence::SingleAttempt);
                report(&Event::TimeoutIgnored("inside"));
            }
        };
        crate::scope_blocking(Arc::new(observer), || {
            report(&Event::TimeoutIgnored("first"));
            report(&Event::TimeoutIgnored("second"));
        });
        assert_eq!(seen.load(Ordering::Relaxed), 2);
    }
}
