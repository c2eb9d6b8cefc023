//! Circuit breakers: a breaker counts the results of calls, refuses calls while too many fail, and
//! later lets a few calls through as probes. It takes no lock and does not allocate.
//
// The state is one word (`word`), the window of calls a ring or buckets (`ring`, `buckets`).
#![warn(clippy::arithmetic_side_effects)]

mod buckets;
mod call;
mod observers;
mod permit;
mod ring;
mod settings;
mod state_word;
#[cfg(test)]
mod tests;
mod window;

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

pub use call::{Open, Rejected};
#[doc(hidden)]
pub use permit::Pass;
pub use permit::Permit;
pub use reattempt_observe::breaker::{BreakerStats, Change, State};

use core::time::Duration;

use crate::sync::{AtomicU64, Ordering};
use observers::BreakerObservers;
use reattempt_core::Verdict;
use reattempt_core::process::ProcessClock;
use reattempt_core::{Clock, Timestamp};
use settings::Settings;
use state_word::{Kind, Refusal, Seen, Word};
use window::Window;

/// An observer of the state.
type OnChange = dyn Fn(&Change) + Send + Sync;

/// Refuses calls while too many of them fail.
///
/// *Closed* it lets every call through and counts how the last ones ended: the last n of [`count_window`](Self::count_window), or
/// those of the last while of [`time_window`](Self::time_window). When at least [`min_calls`](Self::min_calls) are in the window and
/// [`failure_ratio`](Self::failure_ratio) of them failed, or were [`slow_calls`](Self::slow_calls), it *opens*: calls are refused
/// at once for a [`cooldown`](Self::cooldown). After that it is *half-open*: as many calls as
/// [`probes`](Self::probes) get through. If all of them succeed it closes, with an empty window; one that fails opens
/// it again, for twice as long.
///
/// The [`Verdict`] on an error decides: an error worth another attempt is a failure of the service.
/// `Permanent` is the answer of a service that works: such a probe succeeds, and the window of a
/// closed breaker leaves the call out. `RetryForbidden` says nothing about the health of the
/// service and does not count.
///
/// A call that began before a [`reset`](Self::reset), or before the breaker opened, counts nothing after it.
///
/// Calls of one service share one breaker, as a `static`. It works alone, by [`call`](Self::call) or
/// [`permit`](Self::permit).
///
/// # Default
///
/// `failure_ratio(0.5)`; `min_calls` all calls of a count window, 10 in a time window; no `slow_calls`; `cooldown` 5 s, growing
/// up to 1 min; `probes(1)`.
///
/// # Examples
///
/// ```
/// use reattempt::overload::breaker::{Breaker, Rejected};
/// use std::io::{Error, ErrorKind};
///
/// static PAYMENTS: Breaker = Breaker::count_window(4).failure_ratio(0.75);
///
/// for _ in 0..4 {
///     let answer = PAYMENTS.call(|| Err::<(), _>(Error::from(ErrorKind::TimedOut)));
///     assert!(matches!(answer, Err(Rejected::Inner(_))));
/// }
/// let answer = PAYMENTS.call(|| Ok::<_, Error>(()));
/// assert!(matches!(answer, Err(Rejected::Open(_))));
/// ```
///
/// Bad settings do not compile:
///
/// ```compile_fail
/// # use reattempt::Breaker;
/// static BREAKER: Breaker = Breaker::count_window(20).min_calls(21);
/// ```
#[must_use = "a breaker does nothing unless calls ask it"]
pub struct Breaker {
    word: Word,
    window: Window,
    settings: Settings,
    observers: BreakerObservers,
    /// When the state changed last, in nanoseconds from the clock's origin; 0 where it never did.
    changed: AtomicU64,
}

impl Breaker {
    /// Returns the state now.
    ///
    /// One whose cool-down is over shows as half-open, also before a call has come to be the probe.
    pub fn state(&self) -> State {
        self.state_with_clock(&ProcessClock)
    }

    /// Returns the same by a clock of your own, the one that the calls are counted by.
    pub fn state_with_clock(&self, clock: &impl Clock) -> State {
        let seen = self.word.seen();
        match seen.kind() {
            Kind::Open if seen.is_cooled(tick(clock.shared()), self.settings.limits) => {
                State::HalfOpen
            }
            kind => kind.into(),
        }
    }

    /// Returns what it has counted: the calls in its window, how many of them failed or were slow, its state, and how
    /// long that has lasted.
    ///
    /// It reads a few atomics and changes nothing; calls that are being counted meanwhile may be in it or not.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Breaker, Verdict};
    ///
    /// static PAYMENTS: Breaker = Breaker::count_window(20).name("payments");
    ///
    /// PAYMENTS.permit()?.succeeded();
    /// PAYMENTS.permit()?.failed(Verdict::Transient);
    /// let stats = PAYMENTS.stats();
    /// assert_eq!((stats.calls(), stats.failures()), (2, 1));
    /// assert_eq!(stats.failure_ratio(), Some(0.5));
    /// # Ok::<(), reattempt::overload::breaker::Open>(())
    /// ```
    pub fn stats(&self) -> BreakerStats {
        self.stats_with_clock(&ProcessClock)
    }

    /// The same by a clock of your own, the one that the calls are counted by.
    pub fn stats_with_clock(&self, clock: &impl Clock) -> BreakerStats {
        let [failed, slow] = self.window.counts(clock);
        let changed = self.changed.load(Ordering::Relaxed);
        let changed = (changed > 0).then(|| Timestamp::from_origin(Duration::from_nanos(changed)));
        BreakerStats {
            name: self.observers.name(self.settings.name),
            state: self.state_with_clock(clock),
            state_time: changed.map(|changed| clock.shared().since(changed)),
            calls: failed.calls,
            failures: failed.marked,
            slow_calls: slow.marked,
        }
    }

    /// Returns whether a call would be refused now, by a clock of your own; nothing is changed.
    pub fn refuses_with_clock(&self, clock: &impl Clock) -> bool {
        self.refusal_with_clock(clock).is_some()
    }

    /// Returns with what a call would be refused now, by a clock of your own; nothing is changed.
    #[doc(hidden)]
    pub fn refusal_with_clock(&self, clock: &impl Clock) -> Option<Open> {
        let seen = self.word.seen();
        if seen.is_closed() {
            return None;
        }
        let refusal = seen.refusal(tick(clock.shared()), self.settings.limits)?;
        Some(Open::after(refusal.left))
    }

    /// Refuses every call until [`reset`](Self::reset).
    pub fn force_open(&self) {
        self.set(Kind::ForcedOpen, || ());
    }

    /// Lets every call through and counts none, until [`reset`](Self::reset).
    pub fn force_closed(&self) {
        self.set(Kind::ForcedClosed, || ());
    }

    /// Closes it, with an empty window; results of calls that began before count nothing.
    pub fn reset(&self) {
        self.set(Kind::Closed, || self.window.clear());
    }

    fn set(&self, kind: Kind, empty: impl Fn()) {
        let before = self.word.set(kind, empty);
        self.report(before, kind, None, ProcessClock.shared());
    }

    /// Returns a permit for a call, in two words: what settles it is
    /// [`settle_success`](Self::settle_success),
    /// [`settle_error`](Self::settle_error) or [`give_back`](Self::give_back), once.
    #[inline]
    #[doc(hidden)]
    pub fn admit(&self, clock: &impl Clock) -> Result<Pass, Open> {
        let seen = self.word.seen();
        let permit = if seen.is_closed() {
            seen
        } else {
            self.admit_probe(seen, clock)?
        };
        let started = match self.settings.slow {
            None => ORIGIN,
            Some(_) => clock.shared(),
        };
        Ok(Pass { permit, started })
    }

    #[cold]
    #[inline(never)]
    fn admit_probe(&self, seen: Seen, clock: &impl Clock) -> Result<Seen, Open> {
        let (now, limits) = (clock.shared(), self.settings.limits);
        if let Some(left) = seen.open_for(tick(now), limits) {
            return Err(Open::after(Some(left)));
        }
        self.admit_now(now)
    }

    #[inline(never)]
    fn admit_now(&self, now: Timestamp) -> Result<Seen, Open> {
        match self.word.admit(tick(now), self.settings.limits) {
            Ok(admitted) => {
                if admitted.half_opened {
                    self.report(Kind::Open, Kind::HalfOpen, None, now);
                }
                Ok(admitted.permit)
            }
            Err(Refusal { left }) => Err(Open::after(left)),
        }
    }

    /// Tells it of a success, as far as a healthy service needs: with a count window, while no call in it has
    /// failed. Answers whether there is more to do about it, which is for [`settle_success`](Self::settle_success)
    /// and rarer: a loop hands its answer through that, so that nothing need be kept for it.
    #[inline(always)]
    #[doc(hidden)]
    pub fn succeeded(&self, pass: Pass) -> bool {
        let (Window::Count { ring, .. }, None) = (&self.window, self.settings.slow) else {
            return true;
        };
        if !pass.permit.is_closed() || !ring.is_well() {
            return true;
        }
        if self.word.is_still(pass.permit) {
            ring.count_well();
        }
        false
    }

    /// The rest of a success.
    #[inline(never)]
    #[doc(hidden)]
    pub fn settle_success(&self, pass: Pass, clock: &impl Clock) {
        if pass.permit.is_closed() {
            self.record(pass, false, clock);
        } else {
            self.settle_probe(pass, clock);
        }
    }

    /// Tells it of a failure that is worth another attempt.
    fn settle_failure(&self, pass: Pass, clock: &impl Clock) {
        if pass.permit.is_closed() {
            self.record(pass, true, clock);
        } else {
            self.open(pass.permit, clock);
        }
    }

    /// Tells it of an error. One that is `Permanent` is the answer of a service that works: a probe
    /// with it has succeeded, and in the closed state it counts nothing, or the mistake of one
    /// client, a 404, would open it for all. `RetryForbidden` says nothing either way.
    #[doc(hidden)]
    pub fn settle_error(&self, pass: Pass, verdict: Verdict, clock: &impl Clock) {
        if verdict.is_retryable() {
            self.settle_failure(pass, clock);
        } else if verdict == Verdict::Permanent {
            self.settle_probe(pass, clock);
        } else if pass.is_probe() {
            self.give_back(pass);
        }
    }

    /// Records a call that a caller in a hurry cut off: it counts if it was slow until then.
    #[doc(hidden)]
    pub fn settle_cut_off(&self, pass: Pass, clock: &impl Clock) {
        if self.settings.is_slow(pass.started, clock) == Some(true) {
            self.settle_success(pass, clock);
        } else if pass.is_probe() {
            self.give_back(pass);
        }
    }

    #[doc(hidden)]
    pub fn give_back(&self, pass: Pass) {
        self.word.give_back(pass.permit);
    }

    /// A probe that was slow has not succeeded.
    #[cold]
    #[inline(never)]
    fn settle_probe(&self, pass: Pass, clock: &impl Clock) {
        if !pass.permit.is_probe() {
            return;
        }
        if self.settings.is_slow(pass.started, clock) == Some(true) {
            self.open(pass.permit, clock);
            return;
        }
        let limits = self.settings.limits;
        let empty = || self.window.clear();
        if self.word.succeeded(pass.permit, limits, empty) {
            self.report(Kind::HalfOpen, Kind::Closed, None, clock.shared());
        }
    }

    /// A result in the closed state. Between the look at the word and the count the state may change: such a result
    /// may be the first of a new window.
    #[inline(never)]
    fn record(&self, pass: Pass, failed: bool, clock: &impl Clock) {
        if !self.word.is_still(pass.permit) {
            return;
        }
        let slow = self.settings.is_slow(pass.started, clock);
        let [failed, slow] = self.window.record(failed, slow, clock);
        if self.settings.opens(failed, slow) {
            self.open(pass.permit, clock);
        }
    }

    #[cold]
    #[inline(never)]
    fn open(&self, permit: Seen, clock: &impl Clock) {
        let now = clock.shared();
        let limits = self.settings.limits;
        if let Some(cooldown) = (self.word).open(permit, tick(now), limits, clock.random()) {
            self.report(permit.kind(), Kind::Open, Some(cooldown), now);
        }
    }

    /// Notes when the state changed, and tells the observer; nothing is held meanwhile.
    fn report(&self, from: Kind, to: Kind, cooldown: Option<u32>, now: Timestamp) {
        if from == to {
            return;
        }
        self.changed.store(now.as_nanos().max(1), Ordering::Relaxed);
        let change = || {
            let cooldown = cooldown.map(|millis| Duration::from_millis(millis.into()));
            Change::new(
                self.observers.name(self.settings.name),
                from.into(),
                to.into(),
                cooldown,
            )
        };
        #[cfg(feature = "observe")]
        reattempt_observe::breaker_changed(&change);
        if let Some(on_change) = self.observers.on_change(self.settings.on_change) {
            reattempt_observe::shielded(|| on_change(&change()));
        }
    }
}

impl From<Kind> for State {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Closed => Self::Closed,
            Kind::Open => Self::Open,
            Kind::HalfOpen => Self::HalfOpen,
            Kind::ForcedOpen => Self::ForcedOpen,
            Kind::ForcedClosed => Self::ForcedClosed,
        }
    }
}

const ORIGIN: Timestamp = Timestamp::from_origin(Duration::ZERO);

/// Milliseconds since the clock's origin, which wrap.
#[expect(clippy::cast_possible_truncation, reason = "only differences count")]
fn tick(moment: Timestamp) -> u32 {
    (moment.as_nanos() / 1_000_000) as u32
}

/// An observer that panics leaves nothing half done: the change is complete when observers are called.
impl RefUnwindSafe for Breaker {}
impl UnwindSafe for Breaker {}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("name", &self.observers.name(self.settings.name).as_str())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
