//! The settings of a breaker.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use super::observers::BreakerObservers;
use super::ring::Counts;
use super::state_word::{Limits, Word};
use super::window::Window;
use super::{Breaker, OnChange};
use crate::sync::AtomicU64;
use reattempt_policy::Violation;

use reattempt_core::{Clock, Timestamp};
use reattempt_policy::rules::breaker as rules;

/// The name of a breaker that has none.
const UNNAMED: &str = "unnamed";

#[derive(Clone, Copy)]
pub(super) struct Settings {
    failures: u64,
    minimum: u64,
    pub(super) slow: Option<Slow>,
    pub(super) limits: Limits,
    cooldown: Duration,
    cap: Option<Duration>,
    pub(super) name: &'static str,
    pub(super) on_change: Option<&'static OnChange>,
}

#[derive(Clone, Copy)]
pub(super) struct Slow {
    threshold: Duration,
    ratio: u64,
}

/// Ratios are numbers of billionths.
const BILLION: u64 = 1_000_000_000;
const COOLDOWN: Duration = Duration::from_secs(5);
const CAP: Duration = Duration::from_secs(60);

impl Settings {
    const fn new(minimum: u32) -> Self {
        Self {
            failures: BILLION / 2,
            minimum: minimum as u64,
            slow: None,
            limits: Limits {
                probes: 1,
                cooldown: millis(COOLDOWN),
                cap: millis(CAP),
            },
            cooldown: COOLDOWN,
            cap: None,
            name: UNNAMED,
            on_change: None,
        }
    }

    /// Whether these counts are reason enough.
    pub(super) fn opens(&self, failed: Counts, slow: Counts) -> bool {
        self.opens_by_failures(failed)
            || self
                .slow
                .is_some_and(|limit| self.reaches(slow, limit.ratio))
    }

    /// The same where no call is slow.
    pub(super) fn opens_by_failures(&self, failed: Counts) -> bool {
        self.reaches(failed, self.failures)
    }

    /// In integers: exact for every ratio of nine decimals.
    fn reaches(&self, counts: Counts, ratio: u64) -> bool {
        counts.marked > 0
            && counts.calls >= self.minimum
            && counts.marked.saturating_mul(BILLION) >= counts.calls.saturating_mul(ratio)
    }

    /// Whether a call took too long; reads the clock only where that matters.
    pub(super) fn is_slow(&self, started: Timestamp, clock: &impl Clock) -> Option<bool> {
        let slow = self.slow?;
        Some(clock.shared().since(started) > slow.threshold)
    }

    /// Both cool-downs in milliseconds.
    const fn cooled(mut self) -> Self {
        let cap = match self.cap {
            Some(cap) => cap,
            None if reattempt_policy::duration::is_shorter(CAP, self.cooldown) => self.cooldown,
            None => CAP,
        };
        refuse(rules::cooldown_cap(cap, self.cooldown).as_ref());
        self.limits.cooldown = millis(self.cooldown);
        self.limits.cap = millis(cap);
        self
    }
}

impl Breaker {
    /// Counts the last `calls` calls.
    ///
    /// # Units and ranges
    ///
    /// From 1 to 1024.
    ///
    /// # Panics
    ///
    /// Outside this range; in a `static` that is an error of the compiler.
    #[track_caller]
    pub const fn count_window(calls: u32) -> Self {
        refuse(rules::count_window(calls).as_ref());
        Self::of_window(Window::count(calls), calls)
    }

    /// Counts the calls of the last `window`. The clock is read for every result.
    ///
    /// # Units and ranges
    ///
    /// From 1 ms to 24 h, in sixteen steps: a call is forgotten after at least 15/16 of the window and at
    /// most all of it.
    ///
    /// # Panics
    ///
    /// Outside this range; in a `static` that is an error of the compiler.
    #[track_caller]
    pub const fn time_window(window: Duration) -> Self {
        refuse(rules::time_window(window).as_ref());
        Self::of_window(Window::time(window), 10)
    }

    // Not `new`: the compiler would suggest that to users who look for one.
    const fn of_window(window: Window, minimum: u32) -> Self {
        Self {
            word: Word::new(),
            window,
            settings: Settings::new(minimum),
            observers: BreakerObservers::NOTHING,
            changed: AtomicU64::new(0),
        }
    }

    /// Sets the share of calls in the window that have to fail for it to open: this much or more.
    /// It is looked at after every call that counts, those that succeed too.
    ///
    /// # Units and ranges
    ///
    /// Above 0.0, up to 1.0; nine decimals count, the others are cut off.
    ///
    /// # Default
    ///
    /// 0.5
    ///
    /// # Panics
    ///
    /// Outside this range; in a `static` that is an error of the compiler.
    #[track_caller]
    pub const fn failure_ratio(mut self, ratio: f64) -> Self {
        refuse(rules::failure_ratio(ratio).as_ref());
        self.settings.failures = billionths(ratio);
        self
    }

    /// Sets the calls that have to be in the window before it opens.
    ///
    /// # Default
    ///
    /// All calls of a count window; 10 in a time window.
    ///
    /// # Panics
    ///
    /// At 0 and above a count window; in a `static` that is an error of the compiler.
    #[track_caller]
    pub const fn min_calls(mut self, calls: u32) -> Self {
        refuse(rules::min_calls(calls, self.window.size()).as_ref());
        self.settings.minimum = calls as u64;
        self
    }

    /// Counts calls that take longer than `threshold` as slow, and opens also when `ratio` of
    /// the calls in the window are. A probe that is slow has not succeeded. Only with this the
    /// clock is read around every call.
    ///
    /// An attempt that an inherited deadline cancels counts if it ran longer than `threshold`, as a slow one. So
    /// a service that hangs opens the breaker, however short the deadlines of its callers are above that; without this
    /// setting such attempts count nothing.
    ///
    /// # Units and ranges
    ///
    /// `threshold` above 0; `ratio` above 0.0, up to 1.0.
    ///
    /// # Default
    ///
    /// No call is slow.
    ///
    /// # Panics
    ///
    /// Outside these ranges; in a `static` that is an error of the compiler.
    #[track_caller]
    pub const fn slow_calls(mut self, threshold: Duration, ratio: f64) -> Self {
        refuse(rules::slow_calls(threshold, ratio).as_ref());
        self.settings.slow = Some(Slow {
            threshold,
            ratio: billionths(ratio),
        });
        self
    }

    /// Sets how long the breaker stays open the first time. The time doubles each time that the
    /// breaker opens again before it has closed, up to [`cooldown_cap`](Self::cooldown_cap). Each
    /// wait is drawn from 80 % to 100 % of it, so that clients of one service do not all probe it
    /// at once.
    ///
    /// # Units and ranges
    ///
    /// Above 0, up to 24 h, in whole milliseconds, cut off; below 1 ms it is 1 ms.
    ///
    /// # Default
    ///
    /// 5 s
    ///
    /// # Panics
    ///
    /// Outside this range, and above a cap that was given before; in a `static` that is an error of the compiler.
    #[track_caller]
    pub const fn cooldown(mut self, cooldown: Duration) -> Self {
        refuse(rules::cooldown(cooldown).as_ref());
        self.settings.cooldown = cooldown;
        self.settings = self.settings.cooled();
        self
    }

    /// Sets the longest time that it stays open.
    ///
    /// # Default
    ///
    /// 1 min, or the cool-down where that is longer.
    ///
    /// # Panics
    ///
    /// Below the cool-down and above 24 h; in a `static` that is an error of the compiler.
    #[track_caller]
    pub const fn cooldown_cap(mut self, cap: Duration) -> Self {
        self.settings.cap = Some(cap);
        self.settings = self.settings.cooled();
        self
    }

    /// Sets how many calls a half-open breaker lets through; it closes if all of them succeed. A
    /// probe without a result, dropped or with an error that says nothing, makes room for another
    /// one. So does a probe that has not ended within a cool-down; its result no longer counts.
    ///
    /// # Units and ranges
    ///
    /// From 1 to 255.
    ///
    /// # Default
    ///
    /// 1
    ///
    /// # Panics
    ///
    /// Outside this range; in a `static` that is an error of the compiler.
    #[track_caller]
    pub const fn probes(mut self, probes: u32) -> Self {
        refuse(rules::probes(probes).as_ref());
        #[expect(clippy::cast_possible_truncation, reason = "at most 255")]
        let probes = probes as u8;
        self.settings.limits.probes = probes;
        self
    }

    /// Sets the name in events; [`named`](Self::named) takes one that is made at run time.
    ///
    /// # Default
    ///
    /// `unnamed`
    pub const fn name(mut self, name: &'static str) -> Self {
        self.settings.name = name;
        self
    }

    /// Returns a function that is called at each change of the state, once, on the thread of the
    /// call that caused it;
    /// [`observed`](Self::observed) takes a closure that is made at run time. If it panics, the call goes on.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::overload::breaker::{Breaker, State};
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// static OPENED: AtomicU32 = AtomicU32::new(0);
    /// static PAYMENTS: Breaker = Breaker::count_window(20).name("payments").on_change(&|change| {
    ///     if change.to() == State::ForcedOpen {
    ///         OPENED.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// });
    ///
    /// PAYMENTS.force_open();
    /// assert_eq!(OPENED.load(Ordering::Relaxed), 1);
    /// ```
    pub const fn on_change(mut self, on_change: &'static OnChange) -> Self {
        self.settings.on_change = Some(on_change);
        self
    }

    /// Returns the violation of X10 by this breaker under attempts with this `timeout`: its window of time is below twice the
    /// time-out.
    ///
    /// `#[retry]` asks this of constants when the program compiles; of any other breaker or policy a call reports it once, after
    /// a failure, as the event `invalid_policy`.
    pub const fn violation_under(&self, timeout: Option<Duration>) -> Option<Violation> {
        match (self.window(), timeout) {
            (Some(window), Some(timeout)) => rules::window_below_timeout(window, timeout),
            _ => None,
        }
    }

    /// Returns the window of [`time_window`](Self::time_window), in whole steps; `None` for
    /// [`count_window`](Self::count_window).
    pub const fn window(&self) -> Option<Duration> {
        self.window.duration()
    }
}

#[track_caller]
const fn refuse(broken: Option<&Violation>) {
    if let Some(refusal) = broken {
        refusal.refuse();
    }
}

/// Cut off, so that 2 of 3 are two thirds, but never 0: without a failure it does not open.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cut off on purpose; the ratio is from 0 to 1"
)]
const fn billionths(ratio: f64) -> u64 {
    let cut = (ratio * 1e9) as u64;
    if cut == 0 { 1 } else { cut }
}

/// Cut off, at least 1.
#[expect(clippy::cast_possible_truncation, reason = "at most a day")]
const fn millis(duration: Duration) -> u32 {
    let millis = duration.as_millis() as u32;
    if millis == 0 { 1 } else { millis }
}
