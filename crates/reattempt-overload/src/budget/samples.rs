//! How many deposits there were some time ago, from a few samples of their number.
#![warn(clippy::arithmetic_side_effects)]

use crate::sync::{AtomicU32, AtomicU64, Ordering, constant};

/// The life of a deposit in ticks: fifteen slots.
pub(crate) const LIFE: u32 = 15 * SLOT;

/// A slot is a power of two, so that slots meet where the count of ticks wraps.
const SLOT: u32 = 256;

/// The bits of a deposit's number that are 0 when it looks at the clock, after so many deposits in a slot: all
/// look while they are few, later one in a 64th part of them, and where they are very many one of 256.
///
/// So the deposits without a date are at most that part of a slot, whatever comes next: see `hidden`.
const fn due(deposits: u32) -> u32 {
    match deposits / 64 {
        0 | 1 => 0,
        2..256 => (1_u32 << (deposits / 64).ilog2()).saturating_sub(1),
        _ => 255,
    }
}

/// For each of the last sixteen slots the first moment in it at which a call looked, and the number of
/// deposits before that: the ticks in the upper half, one more than the number in the lower, both cut off.
///
/// Deposits between two samples are dated by the first: none lives longer than it should, some up to a
/// fifteenth shorter; but for the few that were `unseen` when traffic paused for a whole life. Ticks are cut off to 32 bits: after 12 days without a call (a `ttl` of one second),
/// samples may come to look young again.
#[derive(Debug)]
pub(crate) struct Samples {
    slots: [AtomicU64; 16],
    /// As `due` says.
    due: AtomicU32,
    /// The slot of the oldest young sample, as the last search found it: see `Found`.
    found: AtomicU64,
}

impl Samples {
    constant! {
        pub(crate) fn new() -> Self {
            Self {
                slots: [
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                    AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0),
                ],
                due: AtomicU32::new(0),
                found: AtomicU64::new(Found::NOTHING.0),
            }
        }
    }

    /// Whether the deposit with `before` others before it looks at the clock.
    #[inline]
    pub(crate) fn is_due(&self, before: u64) -> bool {
        before & u64::from(self.due.load(Ordering::Relaxed)) == 0
    }

    /// Notes that there were `before` deposits before `tick`, unless the slot knows; answers whether it was news.
    // Release, and acquire where samples are read: a thread that sees a sample sees the deposits it speaks of.
    // The exchange fails where another noted the same slot: either sample will do.
    pub(crate) fn note(&self, tick: u32, before: u64) -> bool {
        let Some(slot) = self.slots.get(index(tick)) else {
            return false;
        };
        let seen = slot.load(Ordering::Acquire);
        if is_of_slot(seen, tick) {
            self.set_due(
                self.due
                    .load(Ordering::Relaxed)
                    .max(due(since(seen, before))),
            );
            return false;
        }
        let tick_before = tick.wrapping_sub(SLOT);
        let in_slot_before = self.slots.get(index(tick_before)).map_or(0, |sample| {
            let sample = sample.load(Ordering::Acquire);
            if is_of_slot(sample, tick_before) {
                since(sample, before)
            } else {
                0
            }
        });
        let before = before.wrapping_sub(self.hidden(tick, before));
        self.set_due(due(in_slot_before));
        let sample = pack(tick, before);
        let is_news = slot
            .compare_exchange(seen, sample, Ordering::Release, Ordering::Relaxed)
            .is_ok();
        if is_news {
            self.forget();
        }
        is_news
    }

    /// Forgets which sample is the oldest: there is another one.
    fn forget(&self) {
        let forgotten = |found| Some(Found(found).forgotten().0);
        let _ = (self.found).fetch_update(Ordering::AcqRel, Ordering::Acquire, forgotten);
    }

    fn set_due(&self, due: u32) {
        // Not written when it is right: all deposits read it.
        if self.due.load(Ordering::Relaxed) != due {
            self.due.store(due, Ordering::Relaxed);
        }
    }

    /// The number of deposits that are too old at `tick`, where this slot has its sample and
    /// a search has found the oldest one; `deposits` tells how many there are.
    #[inline(always)]
    pub(crate) fn known_expired(&self, tick: u32, deposits: impl FnOnce() -> u64) -> Option<u64> {
        let before = self.known(tick)?;
        // After the sample, so that it is not ahead of it.
        Some(expired(deposits(), before))
    }

    /// The number of deposits that are too old at `tick`; `deposits` tells how many there are.
    pub(crate) fn expired(&self, tick: u32, deposits: impl Fn() -> u64) -> u64 {
        // Where no sample is young enough, these are too old; of one that comes in the meantime it is unknown.
        let all = deposits();
        match self.oldest(tick) {
            // After the samples, so that none of them is ahead of it.
            Some(before) => expired(deposits(), before),
            None => all.wrapping_sub(self.unseen(all)),
        }
    }

    /// Forgets all: the next deposits look at the clock.
    pub(crate) fn clear(&self) {
        for slot in &self.slots {
            slot.store(NOTHING, Ordering::Release);
        }
        self.set_due(0);
    }

    /// The number in the oldest sample that is young enough. By a clock that went back, or was read earlier, it may lie
    /// ahead.
    fn oldest(&self, tick: u32) -> Option<u32> {
        self.known(tick).or_else(|| self.search(tick))
    }

    /// The same where a search has found it in this slot, and the slot has its own sample.
    #[inline(always)]
    fn known(&self, tick: u32) -> Option<u32> {
        let found = Found(self.found.load(Ordering::Acquire));
        let sample = self.slots.get(found.slot())?.load(Ordering::Acquire);
        let (at, before) = unpack(sample);
        // A call that reads the clock later finds the same one until it is too old. One that reads
        // it earlier may find one that is older still.
        let is_later = tick / SLOT == found.tick() / SLOT && tick >= found.tick();
        (is_later && sample != NOTHING && tick.wrapping_sub(at) < LIFE).then_some(before)
    }

    /// Looks at the samples, and remembers where the oldest one is.
    fn search(&self, tick: u32) -> Option<u32> {
        let found = self.found.load(Ordering::Acquire);
        let Some((slot, before)) = self.first(tick.wrapping_sub(LIFE).wrapping_add(1)) else {
            return self.first(tick.wrapping_add(1)).map(|(_, before)| before);
        };
        let own = self.slots.get(index(tick))?;
        if is_of_slot(own.load(Ordering::Acquire), tick) {
            // The exchange fails where a sample was noted meanwhile, which may be older.
            let next = Found(found).at(tick, slot).0;
            let _ = (self.found).compare_exchange(found, next, Ordering::AcqRel, Ordering::Relaxed);
        }
        Some(before)
    }

    /// The first sample of the life that begins at `tick`: its slot, and the number in it. The slots are looked at in
    /// the order of time: in steady traffic that is one of the first two.
    fn first(&self, tick: u32) -> Option<(usize, u32)> {
        let start = index(tick);
        (start..16).chain(0..start).find_map(|slot| {
            let sample = self.slots.get(slot)?.load(Ordering::Acquire);
            let (at, before) = unpack(sample);
            (sample != NOTHING && at.wrapping_sub(tick) < LIFE).then_some((slot, before))
        })
    }

    /// Of the first `before` deposits those that may be of now, after a pause in which nothing was sampled.
    fn hidden(&self, tick: u32, before: u64) -> u64 {
        match self.oldest(tick) {
            Some(_) => 0,
            None => self.unseen(before),
        }
    }

    /// Of the first `before` deposits the last ones, which did not look at the clock. Whether they
    /// came before a pause or after it is not known. They count as of now: they are few beside the
    /// deposits that were seen.
    fn unseen(&self, before: u64) -> u64 {
        let due = u64::from(self.due.load(Ordering::Relaxed));
        let sampled = self.slots.iter().map(|slot| {
            let sample = slot.load(Ordering::Acquire);
            u64::from(since(sample, before))
        });
        // No more than there are since the last sample.
        sampled.fold(before.wrapping_sub(1) & due, u64::min)
    }
}

/// Where the oldest young sample is: the tick of the search that found it (32 bits), the number of
/// samples that had been noted by then (27), and its slot (5).
///
/// The number tells a search that missed a sample from one that saw all.
#[derive(Clone, Copy)]
struct Found(u64);

impl Found {
    /// There is no slot 16.
    const NOTHING: Self = Self(16);

    const fn tick(self) -> u32 {
        low(self.0 >> 32)
    }

    const fn slot(self) -> usize {
        (self.0 & 31) as usize
    }

    const fn at(self, tick: u32, slot: usize) -> Self {
        Self((tick as u64) << 32 | (low(self.0) & !31) as u64 | slot as u64)
    }

    /// Nothing, and one sample more.
    const fn forgotten(self) -> Self {
        let samples = low(self.0).wrapping_add(32) & !31;
        Self(samples as u64 | Self::NOTHING.0)
    }
}

/// A slot in which no call has looked yet.
const NOTHING: u64 = 0;

/// Of so many deposits those that came before the oldest young sample, which has this number.
const fn expired(deposits: u64, before: u32) -> u64 {
    deposits.wrapping_sub(low(deposits).wrapping_sub(before) as u64)
}

const fn index(tick: u32) -> usize {
    (tick / SLOT % 16) as usize
}

const fn is_of_slot(sample: u64, tick: u32) -> bool {
    sample != NOTHING && unpack(sample).0 / SLOT == tick / SLOT
}

/// The deposits between a sample and now.
const fn since(sample: u64, now: u64) -> u32 {
    let since = low(now).wrapping_sub(unpack(sample).1);
    // A sample of a thread that was faster.
    if since > u32::MAX / 2 { 0 } else { since }
}

const fn pack(tick: u32, before: u64) -> u64 {
    (tick as u64) << 32 | low(before).wrapping_add(1) as u64
}

const fn unpack(sample: u64) -> (u32, u32) {
    (low(sample >> 32), low(sample).wrapping_sub(1))
}

#[expect(clippy::cast_possible_truncation, reason = "cut off on purpose")]
const fn low(value: u64) -> u32 {
    value as u32
}
