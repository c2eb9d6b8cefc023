//! A thread that looks after waits which nothing else may end, and wakes those that are late. It is
//! there while there are some, and ten seconds longer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

/// How long the thread sleeps. A wait is late that has not ended for so long; it ends at most twice this after its time.
const TURN: Duration = Duration::from_millis(250);
/// How many turns the thread stays without a wait: to start it costs more than a turn.
const IDLE: u32 = 40;

static WAITS: Mutex<Waits> = Mutex::new(Waits {
    by_place: HashMap::with_hasher(BuildHasherDefault::new()),
    have_a_thread: false,
});

struct Waits {
    by_place: HashMap<usize, Wait, BuildHasherDefault<Address>>,
    have_a_thread: bool,
}

struct Wait {
    ends: Instant,
    waker: Waker,
    is_late: bool,
}

impl Waits {
    /// Returns what wakes those that had to end by then, each once.
    fn late(&mut self, by: Option<Instant>) -> Vec<Waker> {
        let waits = self.by_place.values_mut();
        let late = waits.filter(|wait| Some(wait.ends) <= by && !wait.is_late);
        late.map(|wait| {
            wait.is_late = true;
            wait.waker.clone()
        })
        .collect()
    }
}

fn waits() -> MutexGuard<'static, Waits> {
    WAITS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks after the wait at this place until [`remove`]. Returns whether it was woken, because it is late. Where the system
/// has no thread left, it is not woken.
pub(super) fn add(place: usize, ends: Instant, waker: &Waker) -> bool {
    let mut waits = waits();
    let mut before = None;
    let is_late = match waits.by_place.entry(place) {
        Entry::Occupied(mut known) => {
            let known = known.get_mut();
            if !known.waker.will_wake(waker) {
                before = Some(core::mem::replace(&mut known.waker, waker.clone()));
            }
            core::mem::take(&mut known.is_late)
        }
        Entry::Vacant(place) => {
            place.insert(Wait {
                ends,
                waker: waker.clone(),
                is_late: false,
            });
            false
        }
    };
    if !waits.have_a_thread {
        let builder = thread::Builder::new().name("reattempt-late".into());
        waits.have_a_thread = builder.spawn(look).is_ok();
    }
    drop(waits);
    // Not under the lock: it is the executor's code.
    drop(before);
    is_late
}

/// Looks after the wait at this place no more.
pub(super) fn remove(place: usize) {
    let wait = waits().by_place.remove(&place);
    // Not under the lock: it is the executor's code.
    drop(wait);
}

fn look() {
    let mut idle = 0_u32;
    loop {
        thread::sleep(TURN);
        let mut waits = waits();
        if waits.by_place.is_empty() {
            idle = idle.saturating_add(1);
            if idle >= IDLE {
                waits.have_a_thread = false;
                return;
            }
            continue;
        }
        idle = 0;
        let late = waits.late(Instant::now().checked_sub(TURN));
        drop(waits);
        for waker in late {
            // Another executor's panic is not the end of all waits.
            let _panicked = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }
}

/// Spreads addresses, which are multiples of what they are aligned to.
#[derive(Default)]
struct Address(u64);

impl Hasher for Address {
    // An address comes as one number.
    fn write(&mut self, _: &[u8]) {}

    fn write_usize(&mut self, number: usize) {
        // 2^64 by the golden ratio; the middle bits depend on all below them.
        self.0 = (number as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
pub(super) fn has(place: usize) -> bool {
    waits().by_place.contains_key(&place)
}

/// Does as if it were late.
#[cfg(test)]
pub(super) fn wake(place: usize) {
    if let Some(wait) = waits().by_place.get_mut(&place) {
        wait.is_late = true;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::BuildHasher as _;

    use super::*;

    #[test]
    fn what_is_late_is_woken_once() {
        let now = Instant::now();
        let mut waits = Waits {
            by_place: HashMap::default(),
            have_a_thread: false,
        };
        let mut late = |ends, by| {
            let waker = Waker::noop().clone();
            let is_late = false;
            waits.by_place.entry(1).or_insert(Wait {
                ends,
                waker,
                is_late,
            });
            waits.late(by).len()
        };
        assert_eq!(late(now, None), 0);
        assert_eq!(late(now, now.checked_sub(Duration::from_nanos(1))), 0);
        assert_eq!(late(now, Some(now)), 1);
        assert_eq!(late(now, Some(now)), 0);
    }

    /// A map looks at the lowest bits for the place, and at the highest seven.
    #[test]
    fn addresses_are_spread() {
        let hasher = BuildHasherDefault::<Address>::default();
        let all = (0..64_usize).map(|place| hasher.hash_one(0x7f00_0000_1000 + place * 256));
        let (low, high): (BTreeSet<_>, BTreeSet<_>) =
            all.map(|hash| (hash & 0x3f, hash >> 57)).unzip();
        assert!(low.len() > 24 && high.len() > 24, "{low:?} {high:?}");
    }
}
