//! One budget, breaker or throttle for each host, made at its first use. `evict` decides which of
//! them are removed.
#![warn(clippy::arithmetic_side_effects)]

use core::borrow::Borrow;
use core::fmt;
use core::hash::Hash;
use core::time::Duration;
use std::borrow::ToOwned;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use papaya::HashMap;

use crate::sync::{AtomicU64, Ordering};
use reattempt_core::Timestamp;
use reattempt_core::process;

mod evict;
#[cfg(test)]
mod tests;

/// A value for each key: a [`Budget`](crate::Budget), a [`Throttle`](crate::Throttle) or the like for each
/// host, tenant or queue.
///
/// The first use of a key makes its value, once, even if many threads ask at that moment. Finding
/// an existing key takes no lock and no allocation.
///
/// There are never more than [`capacity`](Self::capacity) keys, so names that come from outside
/// cannot fill the memory. A new key removes the keys that were not used during
/// [`idle`](Self::idle), and if that is not enough, the least recently used ones. These go last:
///
/// * a key whose value a running call holds. The call keeps its value, but the next use of the key
///   makes a new one;
/// * a breaker that is not closed, a throttle that turns calls away or limits their rate, and what
///   [`keep_if`](Self::keep_if) names instead.
///
/// A value that goes is forgotten: an open breaker too, once it was not used during `idle` or where
/// all others are open as well. Set a `capacity` above the number of keys in regular use, and an
/// `idle` longer than the values remember.
///
/// # Examples
///
/// ```
/// use reattempt::{Keyed, Throttle, Verdict};
///
/// static HOSTS: Keyed<String, Throttle> = Keyed::new(|host: &String| {
///     Throttle::adaptive().factor(if host.ends_with(".internal") { 1.2 } else { 2.0 })
/// })
/// .capacity(100);
///
/// let host = HOSTS.get("api.example.com");
/// host.permit()?.failed(Verdict::Throttled(None));
/// assert_eq!(host.rejection_probability(), 0.5);
/// assert_eq!(HOSTS.get("www.example.com").rejection_probability(), 0.0);
/// assert_eq!(HOSTS.len(), 2);
/// # Ok::<(), reattempt::overload::throttle::Refused>(())
/// ```
pub struct Keyed<K, T, F = fn(&K) -> T> {
    make: F,
    is_kept: fn(&T) -> bool,
    capacity: usize,
    idle: Duration,
    slots: OnceLock<HashMap<K, Slot<T>>>,
    /// Held while keys come and go; when idle ones were looked for last.
    swept: Mutex<Timestamp>,
}

struct Slot<T> {
    /// Made outside of all locks: what makes it may be slow, or ask for other keys.
    value: OnceLock<Arc<T>>,
    /// When it was asked for last, in nanoseconds from the clock's origin.
    used: AtomicU64,
}

/// Whether this thread is in its last moments, when its variables are dropped: papaya knows threads by one of them.
/// Ours is dropped before that.
fn is_over() -> bool {
    struct Alive;

    impl Drop for Alive {
        fn drop(&mut self) {}
    }

    thread_local!(static ALIVE: Alive = {
        drop(HashMap::<(), ()>::new().pin());
        Alive
    });
    ALIVE.try_with(|_| ()).is_err()
}

impl<K, T: 'static> Keyed<K, T> {
    /// Returns an empty map whose values `make` makes from their keys.
    ///
    /// # Default
    ///
    /// At most 1000 keys; a key goes ten minutes after its last use.
    #[must_use = "it does nothing until it is asked for a key"]
    pub const fn new(make: fn(&K) -> T) -> Self {
        Self::made_by(make)
    }
}

impl<K, T: 'static, F> Keyed<K, T, F> {
    /// [`new`](Keyed::new) with a closure that captures something, such as settings.
    ///
    /// Where its type has to be written, as in a field, it is `Box<dyn Fn(&K) -> T + Send + Sync>`, or
    /// the parameter of a generic type.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Budget, Keyed};
    /// use std::sync::LazyLock;
    ///
    /// type Make = Box<dyn Fn(&String) -> Budget + Send + Sync>;
    ///
    /// static BUDGETS: LazyLock<Keyed<String, Budget, Make>> = LazyLock::new(|| {
    ///     let ratio = std::env::args().count() as f64 / 10.0; // read when the program starts
    ///     let make: Make = Box::new(move |_| Budget::per_success(ratio.min(1.0)).initial(7));
    ///     Keyed::made_by(make).capacity(100)
    /// });
    ///
    /// assert_eq!(BUDGETS.get("api.example.com").balance(), 7.0);
    /// ```
    #[must_use = "it does nothing until it is asked for a key"]
    pub const fn made_by(make: F) -> Self
    where
        F: Fn(&K) -> T,
    {
        Self {
            make,
            is_kept: evict::limits_calls,
            capacity: 1000,
            idle: Duration::from_secs(600),
            slots: OnceLock::new(),
            swept: Mutex::new(Timestamp::from_origin(Duration::ZERO)),
        }
    }

    /// Sets how many keys there are at most.
    ///
    /// # Units and ranges
    ///
    /// At least 1. Where the oldest keys have to go, an eighth of them goes at once.
    ///
    /// # Default
    ///
    /// 1000.
    ///
    /// # Panics
    ///
    /// If it is 0; in a `static` that is an error of the compiler.
    #[must_use = "it does nothing until it is asked for a key"]
    pub const fn capacity(mut self, keys: usize) -> Self {
        assert!(
            keys > 0,
            "`capacity` is the number of keys to keep, and must be at least 1, but is 0; write `capacity(1000)`"
        );
        self.capacity = keys;
        self
    }

    /// Sets which values go last where there is no room for a new key, such as those of a type of
    /// yours that has a breaker in it. `is_kept` runs while the map is locked for new keys, and must
    /// not use the map.
    ///
    /// # Default
    ///
    /// A [`Breaker`](crate::Breaker) that is not closed, and a [`Throttle`](crate::Throttle) that
    /// turns calls away or limits their rate.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::overload::breaker::State;
    /// use reattempt::{Breaker, Budget, Keyed};
    ///
    /// struct Host {
    ///     breaker: Breaker,
    ///     budget: Budget,
    /// }
    ///
    /// static HOSTS: Keyed<String, Host> = Keyed::new(|_: &String| Host {
    ///     breaker: Breaker::count_window(20),
    ///     budget: Budget::per_success(0.1),
    /// })
    /// .keep_if(|host| host.breaker.state() != State::Closed);
    ///
    /// HOSTS.get("api.example.com").breaker.force_open();
    /// for n in 0..10_000 {
    ///     HOSTS.get(&format!("{n}.example.com"));
    /// }
    /// assert_eq!(HOSTS.get("api.example.com").breaker.state(), State::ForcedOpen);
    /// ```
    #[must_use = "it does nothing until it is asked for a key"]
    pub const fn keep_if(mut self, is_kept: fn(&T) -> bool) -> Self {
        self.is_kept = is_kept;
        self
    }

    /// Sets how long an unused key is kept whose value no call holds.
    ///
    /// # Units and ranges
    ///
    /// Above 0; `Duration::MAX` keeps it as long as there is room. It goes when a key is added, at
    /// the latest a sixteenth of this time later.
    ///
    /// # Default
    ///
    /// Ten minutes.
    ///
    /// # Panics
    ///
    /// If it is 0; in a `static` that is an error of the compiler.
    #[must_use = "it does nothing until it is asked for a key"]
    pub const fn idle(mut self, idle: Duration) -> Self {
        assert!(
            !idle.is_zero(),
            "`idle` of 0 would forget every key at once; write `idle(Duration::from_secs(600))`"
        );
        self.idle = idle;
        self
    }
}

impl<K: Hash + Eq, T, F> Keyed<K, T, F> {
    /// Returns the value of a key, made now if there is none.
    ///
    /// In the last moments of a thread, when its variables are dropped, the map does not keep a new
    /// value.
    ///
    /// # Panics
    ///
    /// If the function that makes values panics; the next use of the key calls it again. The
    /// function must not use the key that it makes a value for, because it would wait for itself.
    pub fn get<Q>(&self, key: &Q) -> Arc<T>
    where
        F: Fn(&K) -> T,
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let slots = self.slots.get_or_init(HashMap::new);
        if is_over() {
            return self.get_at_the_end(slots, key);
        }
        let slots = slots.pin();
        let now = process::now();
        loop {
            if let Some((key, slot)) = slots.get_key_value(key) {
                // Relaxed: a hint for eviction. One that is a little wrong throws a younger key away.
                slot.used.store(now.as_nanos(), Ordering::Relaxed);
                let value = slot.value.get_or_init(|| Arc::new((self.make)(key)));
                return Arc::clone(value);
            }
            let key = key.to_owned();
            let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
            if !slots.contains_key(&key) {
                evict::make_room(self, &slots, &mut swept, now);
                slots.insert(key, Slot::new(now));
            }
        }
    }

    /// A key that is not there gets a value that is not kept: nothing can be written any more.
    #[cold]
    #[inline(never)]
    fn get_at_the_end<Q>(&self, slots: &HashMap<K, Slot<T>>, key: &Q) -> Arc<T>
    where
        F: Fn(&K) -> T,
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        match slots.pin_owned().get_key_value(key) {
            Some((key, slot)) => {
                let value = slot.value.get_or_init(|| Arc::new((self.make)(key)));
                Arc::clone(value)
            }
            None => Arc::new((self.make)(&key.to_owned())),
        }
    }

    /// Removes a key, and returns its value if there was one. A running call that holds the value
    /// keeps it.
    ///
    /// In the last moments of a thread, when its variables are dropped, nothing is forgotten.
    pub fn remove<Q>(&self, key: &Q) -> Option<Arc<T>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if is_over() {
            return None;
        }
        let slots = self.slots.get()?.pin();
        let _held = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        slots.remove(key)?.value.get().cloned()
    }

    /// Returns how many keys there are.
    pub fn len(&self) -> usize {
        self.slots.get().map_or(0, HashMap::len)
    }

    /// Returns whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shows every key with its value, in no order. That counts as no use of it.
    ///
    /// Keys that come or go meanwhile may be shown or not.
    pub fn for_each(&self, mut show: impl FnMut(&K, &Arc<T>)) {
        let Some(slots) = self.slots.get() else {
            return;
        };
        for (key, slot) in &slots.pin_owned() {
            if let Some(value) = slot.value.get() {
                show(key, value);
            }
        }
    }
}

impl<K, T, F> Keyed<K, T, F> {
    fn keeps(&self, slot: &Slot<T>) -> bool {
        slot.value.get().is_some_and(|value| (self.is_kept)(value))
    }
}

impl<K: Hash + Eq, T, F> fmt::Debug for Keyed<K, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed")
            .field("len", &self.len())
            .field("capacity", &self.capacity)
            .field("idle", &self.idle)
            .finish_non_exhaustive()
    }
}

impl<T> Slot<T> {
    const fn new(now: Timestamp) -> Self {
        Self {
            value: OnceLock::new(),
            used: AtomicU64::new(now.as_nanos()),
        }
    }

    fn used(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_nanos(self.used.load(Ordering::Relaxed)))
    }

    /// Whether a call holds the value, or is about to: it is being made.
    fn is_held(&self) -> bool {
        self.value
            .get()
            .is_none_or(|value| Arc::strong_count(value) > 1)
    }
}
