//! The budgets of deposits: credit that gets too old, and a reserve that fills by itself.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use super::credit::{Credit, TOKEN};
use super::reserve::Reserve;
use super::samples::{LIFE, Samples};
use super::share::Share;
use reattempt_core::Clock;

#[derive(Debug)]
pub(super) struct Deposits {
    credit: Credit,
    samples: Samples,
    reserve: Reserve,
    /// Nanoseconds.
    tick: u64,
    initial: u32,
    /// Nanoseconds from one token of the reserve to the next; 0 for none.
    period: u64,
}

/// From where a token came, and where it goes when it is given back.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Credit,
    Reserve,
}

/// Deposits that come between the number of one and its look at the clock. If more did, its thread was
/// stopped there, and when the others came is not known.
const AT_ONCE: u64 = 16;

impl Deposits {
    pub(super) const fn new(ratio: f64) -> Self {
        Self {
            credit: Credit::new(units(ratio)),
            samples: Samples::new(),
            reserve: Reserve::new(10, TOKEN),
            tick: ticks(Duration::from_secs(10)),
            initial: 10,
            period: TOKEN,
        }
    }

    /// The same settings, and nothing deposited yet.
    pub(super) const fn another(&self) -> Self {
        Self {
            credit: Credit::new(self.credit.unit()),
            samples: Samples::new(),
            reserve: Reserve::new(self.initial as u64, self.period),
            tick: self.tick,
            initial: self.initial,
            period: self.period,
        }
    }

    pub(super) const fn set_ttl(&mut self, ttl: Duration) {
        self.tick = ticks(ttl);
    }

    pub(super) const fn set_floor(&mut self, per_second: f64) {
        self.period = period(per_second);
        self.reserve = Reserve::new(self.initial as u64, self.period);
    }

    pub(super) const fn set_initial(&mut self, tokens: u32) {
        self.initial = tokens;
        self.reserve = Reserve::new(tokens as u64, self.period);
    }

    /// Counts the deposit of a call that begins, and looks at the clock if it should. Out of line, because it is one
    /// kind of several.
    #[inline(never)]
    pub(super) fn requested(&self, clock: &impl Clock) {
        if self.deposit() {
            self.look(clock);
        }
    }

    /// Counts a deposit; answers whether the clock should be read.
    #[inline(always)]
    pub(super) fn deposit(&self) -> bool {
        self.samples.is_due(self.credit.deposit())
    }

    // A withdrawal that comes between the deposit and its sample, after nothing was sampled for a whole
    // `ttl`, does not know yet that the deposit is young, and may drop it: lost, never invented.
    pub(super) fn look(&self, clock: &impl Clock) {
        // Its own deposit is young, and so is what others bring meanwhile.
        let before = self.credit.deposits().wrapping_sub(1);
        let tick = self.tick_at(clock.shared().as_nanos());
        let deposits = self.credit.deposits();
        let before = if deposits.wrapping_sub(before) > AT_ONCE {
            deposits
        } else {
            before
        };
        if self.samples.note(tick, before) {
            self.credit.expire(self.expired(tick));
        }
    }

    /// Takes a token: what was deposited first, so that the reserve is there when nothing else is.
    // What is rare is out of line, and at the end: no register is saved for it.
    pub(super) fn withdraw(&self, now: u64) -> Option<Source> {
        let tick = self.tick_at(now);
        match self.samples.known_expired(tick, || self.credit.deposits()) {
            Some(expired) => self.take(expired, now),
            None => self.look_and_take(tick, now),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_and_take(&self, tick: u32, now: u64) -> Option<Source> {
        self.samples.note(tick, self.credit.deposits());
        self.take(self.expired(tick), now)
    }

    #[inline(always)]
    fn take(&self, expired: u64, now: u64) -> Option<Source> {
        if self.credit.withdraw(expired) {
            return Some(Source::Credit);
        }
        self.take_from_reserve(now)
    }

    #[inline(never)]
    fn take_from_reserve(&self, now: u64) -> Option<Source> {
        self.reserve.withdraw(now).then_some(Source::Reserve)
    }

    /// The same where the reserve is shared. What this process has deposited is its own.
    pub(super) fn withdraw_share(&self, now: u64, share: Share) -> Option<Source> {
        let tick = self.tick_at(now);
        self.samples.note(tick, self.credit.deposits());
        if self.credit.withdraw(self.expired(tick)) {
            return Some(Source::Credit);
        }
        let is_taken = self.reserve.withdraw_share(now, share);
        is_taken.then_some(Source::Reserve)
    }

    /// Gives a token back that was taken where so many processes share the reserve.
    pub(super) fn give_back(&self, source: Source, processes: u32) {
        match source {
            Source::Credit => self.credit.give_back(),
            Source::Reserve => self.reserve.give_back(processes),
        }
    }

    /// As new. Whatever numbers the deposits have, these are gone; later ones go on from there, so that none
    /// that comes meanwhile gets a wrong date.
    pub(super) fn reset(&self) {
        self.samples.clear();
        self.credit.expire(self.credit.deposits());
        self.reserve.reset();
    }

    /// Returns whether another retry would leave less than half of what the deposits have brought and of the reserve.
    #[expect(clippy::cast_precision_loss, reason = "as far as it counts")]
    pub(super) fn is_half_spent(&self, clock: &impl Clock, processes: f64) -> bool {
        let expired = self.expired(self.tick_at(clock.shared().as_nanos()));
        let earned = self.credit.earned(expired) as f64 / TOKEN as f64;
        let all = earned + self.reserve.all() as f64 / processes;
        self.balance(clock, processes) < all / 2.0 + 1.0
    }

    #[expect(clippy::cast_precision_loss, reason = "a number to look at")]
    pub(super) fn balance(&self, clock: &impl Clock, processes: f64) -> f64 {
        let now = clock.shared().as_nanos();
        let credit = self.credit.left(self.expired(self.tick_at(now)));
        credit as f64 / TOKEN as f64 + self.reserve.left(now, processes)
    }

    fn expired(&self, tick: u32) -> u64 {
        self.samples.expired(tick, || self.credit.deposits())
    }

    #[expect(clippy::cast_possible_truncation, reason = "ticks wrap")]
    fn tick_at(&self, now: u64) -> u32 {
        now.checked_div(self.tick).unwrap_or(0) as u32
    }
}

/// Cut off: no deposit lives longer than its `ttl`.
#[expect(clippy::cast_possible_truncation, reason = "a minute at most")]
const fn ticks(ttl: Duration) -> u64 {
    const LIFE_128: u128 = LIFE as u128;
    (ttl.as_nanos() / LIFE_128) as u64
}

/// What a deposit is worth; the smallest ratio there is, a little.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "above 0 and at most a token, by the rules"
)]
const fn units(ratio: f64) -> u64 {
    let units = (ratio * TOKEN as f64 + 0.5) as u64;
    if units == 0 { 1 } else { units }
}

/// Nanoseconds from token to token, rounded up; 0 for none at all.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "`as` saturates, and what takes that long never comes"
)]
const fn period(per_second: f64) -> u64 {
    if per_second <= 0.0 {
        return 0;
    }
    let exact = TOKEN as f64 / per_second;
    let whole = exact as u64;
    if (whole as f64) < exact {
        whole.saturating_add(1)
    } else {
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_as_soon_as_they_may_and_never_sooner() {
        for per_second in [1_u32, 2, 3, 7, 1000] {
            let exact = TOKEN.div_ceil(u64::from(per_second));
            assert_eq!(period(f64::from(per_second)), exact, "{per_second}");
        }
        assert_eq!((period(0.0), period(-1.0)), (0, 0));
        assert_eq!(period(f64::MIN_POSITIVE), u64::MAX);
    }
}
