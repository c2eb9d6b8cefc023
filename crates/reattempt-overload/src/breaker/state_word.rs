//! The state of a breaker in one word, and its changes: plain numbers in and out, so that the models of
//! `tests/loom` can go through every order of them.
#![warn(clippy::arithmetic_side_effects)]

use crate::sync::{AtomicU64, Ordering, constant};

/// What a breaker does with calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Closed,
    Open,
    HalfOpen,
    ForcedOpen,
    ForcedClosed,
}

/// The settings of a breaker for probes and waiting; times in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The probes that have to succeed.
    pub(crate) probes: u8,
    /// The first cool-down.
    pub(crate) cooldown: u32,
    /// The longest one.
    pub(crate) cap: u32,
}

impl Limits {
    /// The cool-down after so many openings in a row; it doubles.
    const fn after(self, openings: u32) -> u32 {
        let cooldown = self.cooldown as u64;
        let grown = cooldown << (openings.saturating_sub(1) & 31);
        if grown < self.cap as u64 {
            #[expect(clippy::cast_possible_truncation, reason = "below the cap")]
            return grown as u32;
        }
        self.cap
    }

    /// A cool-down from four fifths of the longest for this opening up to all of it, so that a
    /// fleet does not probe in step.
    const fn draw(self, openings: u32, random: u64) -> u32 {
        let longest = self.after(openings);
        let range = (longest / 5) as u128;
        #[expect(clippy::cast_possible_truncation, reason = "at most the range")]
        let less = ((random as u128).saturating_mul(range.saturating_add(1)) >> 64) as u32;
        longest.saturating_sub(less)
    }
}

/// The word as one caller saw it:
/// kind (3 bits), openings since it was closed (5), life (8), until (32), issued (8), succeeded (8).
///
/// `until` is the end of the cool-down while it is open, and while it is half-open the end of the
/// patience with the probes under way. Milliseconds that wrap after 49 days: only differences
/// count, and none is above two days. `issued` are the probes under way and those that have
/// succeeded. A probe that has not ended within a cool-down makes room for another, so an attempt
/// that hangs blocks nothing. A life ends where what was begun in it must no longer count: 256 of
/// them have to go by before a probe that old is taken for one of now. While it is closed, or
/// forced, the lower 48 bits only tell lives apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen(u64);

const KIND: u32 = 61;
const OPENINGS: u32 = 56;
const LIFE: u32 = 48;
const UNTIL: u32 = 16;
const ISSUED: u32 = 8;
const LOWER: u64 = (1 << LIFE) - 1;
const MOST_OPENINGS: u32 = 31;

impl Seen {
    /// Belongs to no state there is: what it permits counts nothing.
    pub(crate) const NOTHING: Self = Self(u64::MAX);

    #[inline(always)]
    pub(crate) const fn is_closed(self) -> bool {
        self.0 < 1 << KIND
    }

    pub(crate) const fn kind(self) -> Kind {
        match self.0 >> KIND {
            0 => Kind::Closed,
            1 => Kind::Open,
            2 => Kind::HalfOpen,
            3 => Kind::ForcedOpen,
            _ => Kind::ForcedClosed,
        }
    }

    /// Whether this is the permit of a probe.
    #[inline(always)]
    pub(crate) const fn is_probe(self) -> bool {
        self.0 >> KIND == Kind::HalfOpen as u64
    }

    const fn openings(self) -> u32 {
        ((self.0 >> OPENINGS) & 31) as u32
    }

    #[expect(clippy::cast_possible_truncation, reason = "32 bits on purpose")]
    const fn until(self) -> u32 {
        (self.0 >> UNTIL) as u32
    }

    #[expect(clippy::cast_possible_truncation, reason = "8 bits on purpose")]
    const fn issued(self) -> u8 {
        (self.0 >> ISSUED) as u8
    }

    #[expect(clippy::cast_possible_truncation, reason = "8 bits on purpose")]
    const fn succeeded(self) -> u8 {
        self.0 as u8
    }

    /// The milliseconds that are left of the wait it tells of. A caller that read the clock a
    /// little earlier than the one that set `until` waits with the others. A clock that fell far
    /// back ends the wait, which nothing else might end.
    const fn left(self, now: u32, limits: Limits) -> u32 {
        const LATE_READER: u32 = 1000;
        let longest = limits.after(self.openings());
        let left = self.until().wrapping_sub(now);
        if left > longest.saturating_mul(2).saturating_add(LATE_READER) {
            0
        } else {
            left
        }
    }

    /// A word of the next life.
    const fn next(self, kind: Kind, openings: u32, lower: u64) -> Self {
        let life = (self.0 >> LIFE).wrapping_add(1) & 0xff;
        Self((kind as u64) << KIND | (openings as u64) << OPENINGS | life << LIFE | lower & LOWER)
    }

    /// Half-open, with one probe more than have succeeded.
    const fn probing(self, now: u32, succeeded: u8, limits: Limits) -> Self {
        let openings = self.openings();
        let issued = succeeded.saturating_add(1);
        let until = now.wrapping_add(limits.after(openings));
        self.next(Kind::HalfOpen, openings, lower(until, issued, succeeded))
    }

    /// Whether what was permitted by `permit` still counts.
    #[inline(always)]
    const fn is_life_of(self, permit: Self) -> bool {
        if permit.is_closed() {
            self.0 == permit.0
        } else {
            permit.is_probe() && self.0 >> LIFE == permit.0 >> LIFE
        }
    }

    /// The milliseconds that are left where one look tells that a call gets no permit: it is open, and no more is left
    /// than of the first cool-down, the shortest there is.
    #[inline(always)]
    pub(crate) const fn open_for(self, now: u32, limits: Limits) -> Option<u32> {
        let left = self.until().wrapping_sub(now);
        if self.0 >> KIND == Kind::Open as u64 && left.wrapping_sub(1) < limits.cooldown {
            return Some(left);
        }
        None
    }

    /// Why a call would get no permit now.
    pub(crate) const fn refusal(self, now: u32, limits: Limits) -> Option<Refusal> {
        match self.kind() {
            Kind::Closed | Kind::ForcedClosed => None,
            Kind::ForcedOpen => Some(Refusal { left: None }),
            Kind::HalfOpen if self.issued() < limits.probes => None,
            Kind::Open | Kind::HalfOpen => match (self.left(now, limits), self.kind()) {
                (0, _) => None,
                (left, Kind::Open) => Some(Refusal { left: Some(left) }),
                _ => Some(Refusal { left: None }),
            },
        }
    }

    /// Whether it is open and the cool-down is over: the next call will be a probe.
    pub(crate) const fn is_cooled(self, now: u32, limits: Limits) -> bool {
        matches!(self.kind(), Kind::Open) && self.left(now, limits) == 0
    }
}

const fn lower(until: u32, issued: u8, succeeded: u8) -> u64 {
    (until as u64) << UNTIL | (issued as u64) << ISSUED | succeeded as u64
}

/// No permit, and the milliseconds until there may be one, where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) left: Option<u32>,
}

/// A permit for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Admitted {
    pub(crate) permit: Seen,
    /// This call made it half-open.
    pub(crate) half_opened: bool,
}

/// The word.
// All changes are compare-and-swaps of the one word: each is made by exactly one caller, the one whose exchange
// succeeds, and that one reports it. Acquire and release, because of the window: it is emptied before the word says
// `Closed`, and a caller that reads that word has to count in the empty one.
#[derive(Debug)]
pub(crate) struct Word(AtomicU64);

impl Word {
    constant! {
        /// Closed.
        pub(crate) fn new() -> Self {
            Self(AtomicU64::new(0))
        }
    }

    #[inline(always)]
    pub(crate) fn seen(&self) -> Seen {
        Seen(self.0.load(Ordering::Acquire))
    }

    /// Whether a call that was permitted while it was closed still counts.
    #[inline(always)]
    pub(crate) fn is_still(&self, permit: Seen) -> bool {
        self.seen() == permit
    }

    /// A permit in any state. Probes that have not ended within a cool-down of the last permit are given up on:
    /// the successes stay, a new life makes what comes late count nothing.
    pub(crate) fn admit(&self, now: u32, limits: Limits) -> Result<Admitted, Refusal> {
        loop {
            let seen = self.seen();
            if let Some(refusal) = seen.refusal(now, limits) {
                return Err(refusal);
            }
            let half_opened = matches!(seen.kind(), Kind::Open);
            let permit = match seen.kind() {
                Kind::Open => seen.probing(now, 0, limits),
                Kind::HalfOpen if seen.issued() < limits.probes => {
                    let until = now.wrapping_add(limits.after(seen.openings()));
                    let issued = seen.issued().saturating_add(1);
                    seen.with_lower(lower(until, issued, seen.succeeded()))
                }
                Kind::HalfOpen => seen.probing(now, seen.succeeded(), limits),
                Kind::Closed | Kind::ForcedOpen | Kind::ForcedClosed => seen,
            };
            if permit == seen || self.exchange(seen, permit) {
                return Ok(Admitted {
                    permit,
                    half_opened,
                });
            }
        }
    }

    /// A probe succeeded; answers whether that closed it. `empty` empties the window before.
    pub(crate) fn succeeded(&self, permit: Seen, limits: Limits, empty: impl Fn()) -> bool {
        loop {
            let seen = self.seen();
            if !(permit.is_probe() && seen.is_life_of(permit)) {
                return false;
            }
            let succeeded = seen.succeeded().saturating_add(1);
            let closes = succeeded >= limits.probes;
            let next = if closes {
                empty();
                seen.next(Kind::Closed, 0, seen.0)
            } else {
                seen.with_lower(lower(seen.until(), seen.issued(), succeeded))
            };
            if self.exchange(seen, next) {
                return closes;
            }
        }
    }

    /// Opens it, after too many failures or that of a probe, unless the permit has become stale; answers with the
    /// cool-down that was drawn.
    pub(crate) fn open(&self, permit: Seen, now: u32, limits: Limits, random: u64) -> Option<u32> {
        loop {
            let seen = self.seen();
            if !seen.is_life_of(permit) {
                return None;
            }
            let openings = seen.openings().saturating_add(1);
            let openings = openings.min(MOST_OPENINGS);
            let drawn = limits.draw(openings, random);
            let until = now.wrapping_add(drawn);
            if self.exchange(seen, seen.next(Kind::Open, openings, lower(until, 0, 0))) {
                return Some(drawn);
            }
        }
    }

    /// A probe came to nothing: another call may be one.
    pub(crate) fn give_back(&self, permit: Seen) {
        loop {
            let seen = self.seen();
            if !(permit.is_probe() && seen.is_life_of(permit)) {
                return;
            }
            let issued = seen.issued().saturating_sub(1);
            let next = seen.with_lower(lower(seen.until(), issued, seen.succeeded()));
            if self.exchange(seen, next) {
                return;
            }
        }
    }

    /// Closed or forced, by hand; answers with what it was. `empty` empties the window before.
    pub(crate) fn set(&self, kind: Kind, empty: impl Fn()) -> Kind {
        loop {
            let seen = self.seen();
            empty();
            if self.exchange(seen, seen.next(kind, 0, seen.0.wrapping_add(1))) {
                return seen.kind();
            }
        }
    }

    fn exchange(&self, seen: Seen, next: Seen) -> bool {
        let exchanged =
            self.0
                .compare_exchange(seen.0, next.0, Ordering::AcqRel, Ordering::Acquire);
        exchanged.is_ok()
    }
}

impl Seen {
    /// The same life with another lower half.
    const fn with_lower(self, lower: u64) -> Self {
        Self(self.0 & !LOWER | lower)
    }
}
