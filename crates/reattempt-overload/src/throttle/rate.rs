//! A fixed rate: when the last attempts began, and which calls wait until the next one may.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::permit::Refused;
use super::{longest, nanos};
use reattempt_core::Timestamp;

#[derive(Debug)]
pub(super) struct Rate {
    calls: u32,
    per: Duration,
    pub(super) max_wait: Duration,
    held: Mutex<Held>,
}

/// Moments are nanoseconds from the clock's origin.
#[derive(Debug)]
struct Held {
    /// When the last attempts began, at most as many as may begin in one period. Attempts before them forbid nothing.
    begun: VecDeque<u64>,
    /// The calls that wait, in the order in which they asked.
    waiting: VecDeque<Waiting>,
    next_place: u64,
    /// The last moment at which anybody asked.
    asked: u64,
}

#[derive(Debug)]
struct Waiting {
    place: u64,
    /// When it looked last.
    looked: u64,
}

/// A call that waits looks every half second. One that has not looked for so long is not polled, and the others do not wait
/// for it; its place is its own again when it looks.
const SILENT: Duration = Duration::from_secs(1);

impl Rate {
    pub(super) const fn new(calls: u32, per: Duration) -> Self {
        Self {
            calls,
            per,
            max_wait: Duration::from_secs(60),
            held: Mutex::new(Held {
                begun: VecDeque::new(),
                waiting: VecDeque::new(),
                next_place: 1,
                asked: 0,
            }),
        }
    }

    // Nothing panics while it is held: a poisoned lock keeps nothing that is half done.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, now, and returns how long it is until its turn. Without a wait the attempt has begun.
    ///
    /// # Errors
    ///
    /// The turn is later than anybody waits.
    pub(super) fn take(
        &self,
        now: impl FnOnce() -> Timestamp,
    ) -> Result<(u64, Duration, Timestamp), Refused> {
        let mut held = self.lock();
        // Under the lock, so that moments are in order.
        let now = held.asks(now(), self.per);
        let place = held.next_place;
        let wait = self.turn(&held, held.waiting.len(), nanos(now));
        if wait.is_zero() {
            held.begin(self.calls, nanos(now));
        } else if wait > longest(self.max_wait) {
            return Err(Refused);
        } else {
            let looked = nanos(now);
            held.waiting.push_back(Waiting { place, looked });
        }
        held.next_place = place.saturating_add(1);
        Ok((place, wait, now))
    }

    /// Returns how long a call with this place still waits, and now. Without a wait the attempt has begun. A call whose
    /// turn had come at `turn`, and that has not begun, asks for a new one: begun later it would be one too many.
    #[expect(clippy::disallowed_methods, reason = "at most the length")]
    pub(super) fn wait(
        &self,
        place: u64,
        turn: Option<u64>,
        now: impl FnOnce() -> Timestamp,
    ) -> (Duration, Timestamp) {
        let mut held = self.lock();
        let now = held.asks(now(), self.per);
        held.forget_turn(turn);
        let looked = nanos(now);
        let found = held.place_of(place);
        let (Ok(ahead) | Err(ahead)) = found;
        let wait = self.turn(&held, ahead, looked);
        if wait.is_zero() {
            held.leave(place);
            held.begin(self.calls, looked);
        } else if let Some(waiting) = held.waiting.get_mut(ahead).filter(|_| found.is_ok()) {
            waiting.looked = looked;
        } else {
            held.waiting.insert(ahead, Waiting { place, looked });
        }
        (wait, now)
    }

    /// Returns how long it is until the turn of a call with so many in front of it: until an attempt that began `calls`
    /// attempts before it, those of the calls in front among them, is one period ago.
    fn turn(&self, held: &Held, ahead: usize, now: u64) -> Duration {
        let calls = self.calls as usize;
        let [rounds, ahead] = [ahead.checked_div(calls), ahead.checked_rem(calls)];
        let rounds = u32::try_from(rounds.unwrap_or(0)).unwrap_or(u32::MAX);
        let free = calls.saturating_sub(held.begun.len());
        let before = ahead
            .and_then(|ahead| ahead.checked_sub(free))
            .and_then(|at| held.begun.get(at));
        let past = before.map_or(self.per, |began| {
            Duration::from_nanos(now.saturating_sub(*began))
        });
        let wait = self.per.saturating_sub(past);
        wait.saturating_add(self.per.saturating_mul(rounds))
    }

    /// The attempt with this place begins before its turn: the others wait for it.
    pub(super) fn spend_early(&self, place: u64) {
        let mut held = self.lock();
        if held.leave(place) {
            let asked = held.asked;
            held.begin(self.calls, asked);
        }
    }

    /// The call with this place does not begin: it waited, or its turn had come at this moment.
    pub(super) fn give_back(&self, place: u64, turn: Option<u64>) {
        let mut held = self.lock();
        held.forget_turn(turn);
        held.leave(place);
    }

    /// Calls that wait may begin when they look again.
    pub(super) fn reset(&self) {
        let mut held = self.lock();
        held.begun.clear();
        held.waiting.clear();
    }

    pub(super) fn per_second(&self) -> f64 {
        f64::from(self.calls) / self.per.as_secs_f64()
    }

    /// Whether a throttle that is made anew would let more calls begin.
    #[cfg(feature = "keyed")]
    pub(super) fn limits_calls(&self, now: Timestamp) -> bool {
        let held = self.lock();
        held.begun
            .back()
            .is_some_and(|last| Duration::from_nanos(nanos(now).saturating_sub(*last)) < self.per)
    }
}

impl Held {
    /// Somebody asks now: returns that moment.
    ///
    /// Times of threads may be in another order than their looks, by little. A clock that is behind by a period, or by a
    /// second, is another one, and what began later by it is forgotten: else a clock that was set back would stop all calls.
    fn asks(&mut self, now: Timestamp, per: Duration) -> Timestamp {
        let asked = Timestamp::from_origin(Duration::from_nanos(self.asked));
        let is_late = now < asked && asked.since(now) < per.min(SILENT);
        let now = if is_late { asked } else { now };
        self.asked = nanos(now);
        while self.begun.back().is_some_and(|last| *last > self.asked) {
            self.begun.pop_back();
        }
        let silent = |waiting: &Waiting| {
            Duration::from_nanos(self.asked.saturating_sub(waiting.looked)) > SILENT
        };
        while self.waiting.front().is_some_and(silent) {
            self.waiting.pop_front();
        }
        now
    }

    /// Returns where the call with this place stands, or would stand.
    fn place_of(&self, place: u64) -> Result<usize, usize> {
        self.waiting
            .binary_search_by_key(&place, |waiting| waiting.place)
    }

    /// Forgets an attempt that was to begin then, if it still forbids anything.
    fn forget_turn(&mut self, turn: Option<u64>) {
        if let Some(at) = turn.and_then(|turn| self.begun.binary_search(&turn).ok()) {
            self.begun.remove(at);
        }
    }

    fn begin(&mut self, calls: u32, now: u64) {
        if self.begun.len() >= calls as usize {
            self.begun.pop_front();
        }
        self.begun.push_back(now);
    }

    /// Returns whether the call with this place waited.
    fn leave(&mut self, place: u64) -> bool {
        let at = self.place_of(place);
        at.is_ok_and(|at| self.waiting.remove(at).is_some())
    }
}
