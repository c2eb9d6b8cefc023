//! What few calls remember besides the count of their failures. It lies in a table of the process,
//! so that a call is eight bytes in its future, where a count beside a box would be 16; without
//! `std` in the call itself. The table holds plain data, so that none of the user's code runs under
//! its locks.

/// What a call remembers.
#[derive(Debug, Clone, Copy)]
pub struct Rest {
    /// The delay before, in nanoseconds. Only decorrelated delays look at it.
    pub previous: u64,
    /// How many failures ask again for a value that is not final.
    pub polls: u32,
    /// How many other retries the default budget has not been paid for.
    pub free: u32,
    #[cfg(feature = "std")]
    pub marks: crate::marks::Marks,
}

impl Rest {
    const NOTHING: Self = Self {
        previous: 0,
        polls: 0,
        free: 0,
        #[cfg(feature = "std")]
        marks: crate::marks::Marks::NONE,
    };
}

#[cfg(feature = "std")]
pub use table::{Place, taken_places};

#[cfg(feature = "std")]
mod table {
    use core::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
    use std::thread;
    use std::vec::Vec;

    use crate::platform::process_id;

    use super::Rest;

    const SHARDS: u32 = 16;

    /// How often a thread looks for a lock before it asks whether this is a fork, where the lock is
    /// never given back.
    const LOOKS: u32 = 64;

    /// How many places an empty shard keeps for the calls to come.
    pub(super) const KEPT: usize = 1024;

    static TABLE: [Mutex<Shard>; SHARDS as usize] =
        [const { Mutex::new(Shard::EMPTY) }; SHARDS as usize];

    /// The shard of the next call, so that those of several threads seldom meet.
    static NEXT: AtomicU32 = AtomicU32::new(0);

    /// The process that filled the table first, from which a fork has a copy; 0 before.
    pub(super) static PROCESS: AtomicU32 = AtomicU32::new(0);

    /// The places of calls. Nothing but copies of plain data happens under its lock.
    pub(super) struct Shard {
        places: Vec<Rest>,
        free: Vec<u32>,
    }

    impl Shard {
        pub(super) const EMPTY: Self = Self {
            places: Vec::new(),
            free: Vec::new(),
        };

        /// Puts this in a free place. Returns its number.
        pub(super) fn take(&mut self, rest: Rest) -> u32 {
            let number = self.free.pop().unwrap_or_else(|| {
                self.places.push(rest);
                u32::try_from(self.places.len()).map_or(u32::MAX, |len| len.saturating_sub(1))
            });
            self.put(number, rest);
            number
        }

        fn put(&mut self, number: u32, rest: Rest) {
            if let Some(place) = self.places.get_mut(number as usize) {
                *place = rest;
            }
        }

        pub(super) fn get(&self, number: u32) -> Option<Rest> {
            self.places.get(number as usize).copied()
        }

        /// Takes a place back. Returns what is to be dropped when the lock is.
        pub(super) fn give_back(&mut self, number: u32) -> Self {
            self.free.push(number);
            // The memory of a burst goes with its last call; a small shard is kept for the next
            // one.
            let is_large = self.places.len() > KEPT;
            if is_large && self.free.len() == self.places.len() {
                core::mem::replace(self, Self::EMPTY)
            } else {
                Self::EMPTY
            }
        }
    }

    fn lock(shard: u32) -> Option<MutexGuard<'static, Shard>> {
        locked(TABLE.get(shard as usize)?, PROCESS.load(Ordering::Relaxed))
    }

    /// Locks a shard that was filled first by this process. The child of a fork has a copy of a lock that was held, but
    /// not the thread that held it: there this returns `None`, and the call goes on with what it has counted.
    pub(super) fn locked(shard: &Mutex<Shard>, filled_by: u32) -> Option<MutexGuard<'_, Shard>> {
        // `lock` would wait for ever in a fork. Asking for the number of the process is a system
        // call, which a few looks nearly always avoid.
        for _ in 0..LOOKS {
            match shard.try_lock() {
                Ok(shard) => return Some(shard),
                Err(TryLockError::Poisoned(shard)) => return Some(shard.into_inner()),
                Err(TryLockError::WouldBlock) => thread::yield_now(),
            }
        }
        let is_ours = filled_by == process_id();
        is_ours.then(|| shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The place of a call in the table: its number among those of its shard, and the shard; 0 where it has none.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Place(u32);

    impl Place {
        pub const NONE: Self = Self(0);

        #[inline(always)]
        pub const fn is_none(&self) -> bool {
            self.0 == 0
        }

        /// Returns 0 where it has none.
        #[inline(always)]
        pub const fn number(&self) -> u32 {
            self.0
        }

        fn with<R>(&self, f: impl FnOnce(&mut Shard, u32) -> R) -> Option<R> {
            // 0 means no place, so numbers start at 1.
            let key = self.0.checked_sub(1)?;
            let mut shard = lock(key % SHARDS)?;
            Some(f(&mut shard, key / SHARDS))
        }

        /// Returns what lies there.
        #[cold]
        pub fn get(&self) -> Rest {
            let rest = self.with(|shard, number| shard.get(number));
            rest.flatten().unwrap_or(Rest::NOTHING)
        }

        /// Takes a place, unless the call has one, and puts this there.
        #[cold]
        #[inline(never)]
        pub fn set(&mut self, rest: Rest) {
            if self.is_none() {
                *self = Self::taken(rest);
                return;
            }
            self.with(|shard, number| shard.put(number, rest));
        }

        fn taken(rest: Rest) -> Self {
            // Relaxed, and perhaps stored twice: every thread of a process writes the same number.
            if PROCESS.load(Ordering::Relaxed) == 0 {
                PROCESS.store(process_id(), Ordering::Relaxed);
            }
            let first = NEXT.fetch_add(1, Ordering::Relaxed);
            let mut shards = (0..SHARDS).map(|further| first.wrapping_add(further) % SHARDS);
            let taken = shards.find_map(|shard| Some((shard, lock(shard)?)));
            // All are locked, in a fork: the call goes on with its count alone.
            let Some((shard, mut places)) = taken else {
                return Self::NONE;
            };
            let key = places
                .take(rest)
                .saturating_mul(SHARDS)
                .saturating_add(shard);
            Self(key.saturating_add(1))
        }

        /// Gives the place back.
        #[cold]
        #[inline(never)]
        pub fn clear(&mut self) {
            let unused = self.with(Shard::give_back);
            // Not under the lock.
            drop(unused);
            *self = Self::NONE;
        }
    }

    /// Returns how many calls have a place.
    #[must_use]
    pub fn taken_places() -> usize {
        let taken = |shard| {
            lock(shard).map_or(0, |shard: MutexGuard<'_, Shard>| {
                shard.places.len().saturating_sub(shard.free.len())
            })
        };
        (0..SHARDS).map(taken).sum()
    }
}

#[cfg(not(feature = "std"))]
pub use inline::Place;

/// No table: the call keeps it.
#[cfg(not(feature = "std"))]
mod inline {
    use super::Rest;

    #[derive(Debug)]
    pub struct Place(Option<Rest>);

    impl Place {
        pub const NONE: Self = Self(None);

        pub const fn is_none(&self) -> bool {
            self.0.is_none()
        }

        pub const fn number(&self) -> u32 {
            self.0.is_some() as u32
        }

        pub fn get(&self) -> Rest {
            self.0.unwrap_or(Rest::NOTHING)
        }

        pub const fn set(&mut self, rest: Rest) {
            self.0 = Some(rest);
        }

        pub const fn clear(&mut self) {
            self.0 = None;
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use core::sync::atomic::Ordering;
    use std::sync::Mutex;

    use crate::platform::process_id;

    use super::Rest;
    use super::table::{KEPT, PROCESS, Place, Shard, locked, taken_places};

    #[test]
    fn a_call_finds_what_it_has_put_there() {
        let mut place = Place::NONE;
        let polls = |place: &Place| place.get().polls;
        assert_eq!(
            (place.is_none(), place.number(), polls(&place)),
            (true, 0, 0)
        );
        // In each of the shards, and in both places of one.
        let mut others: Vec<_> = (0..40).map(|_| Place::NONE).collect();
        for (place, polls) in others.iter_mut().zip(1..) {
            let rest = Rest {
                polls,
                ..Rest::NOTHING
            };
            place.set(rest);
            assert_eq!((place.is_none(), place.number() > 0), (false, true));
        }
        assert!(taken_places() >= 40);
        assert_eq!(PROCESS.load(Ordering::Relaxed), process_id());
        assert!(others.iter().map(polls).eq(1..=40));
        place.set(Rest::NOTHING);
        let number = place.number();
        place.set(Rest {
            polls: 99,
            ..Rest::NOTHING
        });
        assert_eq!((place.number(), polls(&place)), (number, 99));
        for place in others.iter_mut().chain([&mut place]) {
            place.clear();
            assert!(place.is_none());
        }
    }

    /// A fork has a copy of the locks that other threads of its parent held.
    #[test]
    fn a_lock_that_nobody_gives_back_stops_no_child_of_a_fork() {
        let shard = Mutex::new(Shard::EMPTY);
        let held = shard.lock();
        assert!(locked(&shard, process_id().wrapping_add(1)).is_none());
        drop(held);
        assert!(locked(&shard, process_id().wrapping_add(1)).is_some());
    }

    /// Its memory goes with the last call of many, and no sooner.
    #[test]
    fn a_shard_keeps_what_others_remember() {
        let mut shard = Shard::EMPTY;
        let rest = |previous: usize| Rest {
            previous: previous as u64,
            ..Rest::NOTHING
        };
        let mut taken: Vec<_> = (0..=KEPT).map(|call| shard.take(rest(call))).collect();
        while let Some(number) = taken.pop() {
            let dropped = shard.give_back(number);
            assert_eq!(dropped.get(0).is_some(), taken.is_empty());
            for (call, &number) in taken.iter().enumerate() {
                let kept = shard.get(number).map(|rest| rest.previous);
                assert_eq!(kept, Some(call as u64));
            }
        }
        assert!(shard.get(0).is_none());
    }
}
