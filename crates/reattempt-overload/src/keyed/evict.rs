//! Which keys go: idle ones, and the oldest where there are too many, those that refuse calls last:
//! else many names that are used once would close the breaker of a service that is down.
#![warn(clippy::arithmetic_side_effects)]

use core::any::Any;
use core::hash::Hash;

use papaya::{HashMapRef, LocalGuard};

use super::{Keyed, Slot};
use crate::breaker::State;
use crate::{Breaker, Throttle};
use reattempt_core::Timestamp;

type Slots<'m, 'g, K, T> = HashMapRef<'m, K, Slot<T>, std::hash::RandomState, LocalGuard<'g>>;

/// Makes room for one key more. The caller holds the lock, so nothing is added meanwhile.
pub(super) fn make_room<K: Hash + Eq, T, F>(
    keyed: &Keyed<K, T, F>,
    slots: &Slots<'_, '_, K, T>,
    swept: &mut Timestamp,
    now: Timestamp,
) {
    let full = slots.len() >= keyed.capacity;
    // Not at every new key: looking at all of them costs too much for that. A clock that was set
    // back begins anew.
    let due = now.since(*swept) >= keyed.idle.checked_div(16).unwrap_or_default() || now < *swept;
    if !full && !due {
        return;
    }
    *swept = now;
    slots.retain(|_, slot| slot.is_held() || now.since(slot.used()) <= keyed.idle);
    if slots.len() >= keyed.capacity {
        drop_oldest(keyed, slots);
    }
}

/// Whether a value that is made anew would let calls through which this one refuses, or may refuse.
pub(super) fn limits_calls<T: 'static>(value: &T) -> bool {
    let value: &dyn Any = value;
    if let Some(breaker) = value.downcast_ref::<Breaker>() {
        return breaker.state() != State::Closed;
    }
    let throttle = value.downcast_ref::<Throttle>();
    throttle.is_some_and(Throttle::limits_calls)
}

/// An eighth of the keys, so that the next ones find room without a search.
#[expect(clippy::disallowed_methods, reason = "below the number of keys")]
fn drop_oldest<K: Hash + Eq, T, F>(keyed: &Keyed<K, T, F>, slots: &Slots<'_, '_, K, T>) {
    let mut oldest: Vec<_> = slots
        .iter()
        .map(|(key, slot)| (slot.is_held() || keyed.keeps(slot), slot.used(), key))
        .collect();
    let kept = keyed.capacity.saturating_sub(keyed.capacity.div_ceil(8));
    let surplus = oldest.len().saturating_sub(kept);
    let age = |slot: &(bool, Timestamp, &K)| (slot.0, slot.1);
    if let Some(last) = surplus.checked_sub(1) {
        oldest.select_nth_unstable_by_key(last, age);
    }
    for (_, _, key) in oldest.into_iter().take(surplus) {
        slots.remove(key);
    }
}
