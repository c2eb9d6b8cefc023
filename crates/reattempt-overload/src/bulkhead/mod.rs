//! How many attempts run at the same time: a bulkhead refuses what would be one more.
//!
//! An attempt takes its slot before it waits for a throttle: so the wait is bounded, too, and no
//! call is refused after it. A permit knows how many slots it holds, because copies of a hedge run
//! beside their attempt and take one more each.
#![warn(clippy::arithmetic_side_effects)]

use core::fmt;

use reattempt_core::process::ProcessClock;
use reattempt_core::{Classify, Clock, Timestamp, Verdict, around};
use reattempt_policy::{RuleId, Text};

mod adaptive;
mod slots;
#[cfg(test)]
mod tests;

use adaptive::{Adaptive, Ended};
use slots::Slots;

/// Limits how many attempts run at the same time, and refuses the others at once.
///
/// A service that hangs ties up everything that calls it: tasks, connections, memory. A bulkhead keeps that to
/// a part of the program, as the walls inside a ship keep the water to a part of the ship. It has no queue: a
/// caller that has to wait is what it protects against.
///
/// Calls of one service share one, as a `static`, or one for each host with [`Keyed`](crate::Keyed). Each attempt
/// takes a [`Permit`], and frees its slot when that is dropped, also by a panic or when a future is dropped. It works
/// alone, too.
///
/// # Examples
///
/// ```
/// use reattempt::Bulkhead;
///
/// static REPORTS: Bulkhead = Bulkhead::new(2);
///
/// let first = REPORTS.permit()?;
/// let second = REPORTS.permit()?;
/// assert!(REPORTS.permit().is_err());
/// drop(first);
/// assert_eq!(REPORTS.running(), 1);
/// assert!(REPORTS.permit().is_ok());
/// # drop(second);
/// # Ok::<(), reattempt::overload::bulkhead::Full>(())
/// ```
///
/// A limit of 0 does not compile:
///
/// ```compile_fail
/// # use reattempt::Bulkhead;
/// static REPORTS: Bulkhead = Bulkhead::new(0);
/// ```
#[must_use = "a bulkhead does nothing unless calls ask it for a permit"]
pub struct Bulkhead {
    slots: Slots,
    size: Size,
}

enum Size {
    Fixed(u32),
    Adaptive(Adaptive),
}

impl Bulkhead {
    /// Lets at most `limit` attempts run at the same time.
    ///
    /// # Units and ranges
    ///
    /// From 1 to `u32::MAX`. About the calls of a second that the service answers, times the seconds that an answer
    /// may take.
    ///
    /// # Panics
    ///
    /// At 0; in a `static` that is an error of the compiler.
    #[track_caller]
    pub const fn new(limit: u32) -> Self {
        if limit == 0 {
            let text = Text::new().push(
                "the limit of a bulkhead must be at least 1, but is 0 (it is the number of attempts that may run at the same time); write `Bulkhead::new(16)`",
            );
            text.breaks(RuleId::R10).refuse();
        }
        Self {
            slots: Slots::new(),
            size: Size::Fixed(limit),
        }
    }

    /// Finds out how many attempts may run at the same time: about as many as the service works on at once, and a few more
    /// that wait there.
    ///
    /// It compares how long answers take with the best times that it has seen. While they take hardly longer, it lets more
    /// attempts run; where they wait for each other it lets fewer run, and where clearly more than a tenth of them is
    /// throttled ([`Verdict::Throttled`]) or ended by the call's own `timeout` or `deadline`, it takes three of ten slots
    /// away. An error that the client reports, its own time-out too, says nothing, nor does an attempt that an inherited
    /// deadline ends. While it refuses calls, it halves the slots now and then for some windows, to measure the best time
    /// anew: a service may become slower for good.
    ///
    /// It learns from the attempts of `#[retry(bulkhead = &..)]` and of a `Runner`. If you take a
    /// [`permit`](Self::permit) yourself, report how the attempt ended: [`Permit::succeeded`], [`Permit::failed`],
    /// [`Permit::timed_out`].
    ///
    /// # Units and ranges
    ///
    /// From 2 to 1000 attempts ([`bounds`](Self::bounds)), 20 to begin with. It looks at 50 answers together, and at least
    /// at as many as there are slots. It is too coarse for services that work on one or two calls at once: with 3 slots in
    /// place of 2 an answer takes half as long again.
    ///
    /// # Source
    ///
    /// The gradient of Netflix's [concurrency-limits](https://github.com/Netflix/concurrency-limits), which follows TCP
    /// Vegas; the reaction to overload is AIMD, the congestion control of TCP.
    ///
    /// # Examples
    ///
    /// ```
    /// use reattempt::{Bulkhead, RetryError, retry};
    /// use std::io::Error;
    ///
    /// static SEARCH: Bulkhead = Bulkhead::adaptive().bounds(4, 200);
    ///
    /// #[retry(bulkhead = &SEARCH)]
    /// fn search() -> Result<u32, RetryError<Error>> {
    ///     Ok(7)
    /// }
    ///
    /// assert_eq!(search()?, 7);
    /// assert_eq!(SEARCH.limit(), 20);
    /// # Ok::<(), RetryError<Error>>(())
    /// ```
    pub const fn adaptive() -> Self {
        Self {
            slots: Slots::new(),
            size: Size::Adaptive(Adaptive::new(2, 1000)),
        }
    }

    /// Sets between which sizes [`adaptive`](Self::adaptive) looks for the right one.
    ///
    /// # Units and ranges
    ///
    /// At least 1, at most 1,000,000; the first at most the second.
    ///
    /// # Default
    ///
    /// From 2 to 1000.
    ///
    /// # Panics
    ///
    /// Outside this range, and on [`new`](Self::new); in a `static` that is an error of the compiler.
    #[track_caller]
    pub const fn bounds(mut self, least: u32, most: u32) -> Self {
        let text = if least == 0 || least > most || most > 1_000_000 {
            let text = Text::new()
                .push("the bounds of a bulkhead must be from 1 to 1,000,000, the smaller one first, but are ")
                .number(least as u64);
            text.push(" and ")
                .number(most as u64)
                .push("; write `bounds(2, 1000)`")
        } else if let Size::Adaptive(adaptive) = &mut self.size {
            *adaptive = Adaptive::new(least, most);
            return self;
        } else {
            Text::new().push(
                "`bounds` is for `Bulkhead::adaptive()`, and the size of `Bulkhead::new()` is fixed; drop one of the two",
            )
        };
        text.breaks(RuleId::R10).refuse()
    }

    /// Takes a slot for one attempt, which the permit frees when it is dropped.
    ///
    /// # Errors
    ///
    /// [`Full`] while as many attempts run as may.
    #[inline]
    pub fn permit(&self) -> Result<Permit<'_>, Full> {
        self.permit_with_clock(&ProcessClock)
    }

    /// [`permit`](Self::permit) with a clock.
    ///
    /// # Errors
    ///
    /// [`Full`] while as many attempts run as may.
    #[inline]
    pub fn permit_with_clock(&self, clock: &impl Clock) -> Result<Permit<'_>, Full> {
        let mut permit = Permit {
            bulkhead: self,
            slots: 0,
            began: Timestamp::ENDLESS,
        };
        if !permit.take() {
            // One of a low priority does not ask for more slots.
            if let Size::Adaptive(adaptive) = &self.size
                && !around::is_low()
            {
                adaptive.refused();
            }
            return Err(Full);
        }
        permit.begins(clock);
        Ok(permit)
    }

    /// Returns how many attempts may run at the same time.
    pub fn limit(&self) -> u32 {
        match &self.size {
            Size::Fixed(limit) => *limit,
            Size::Adaptive(adaptive) => adaptive.limit(),
        }
    }

    /// Returns how many attempts run now, from 0 to [`limit`](Self::limit); more where the limit of
    /// [`adaptive`](Self::adaptive) has just become smaller.
    #[expect(clippy::cast_possible_truncation, reason = "at most the largest limit")]
    pub fn running(&self) -> u32 {
        self.slots.taken() as u32
    }
}

impl fmt::Debug for Bulkhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bulkhead")
            .field("running", &self.running())
            .field("limit", &self.limit())
            .finish_non_exhaustive()
    }
}

/// A slot of a [`Bulkhead`], free again when this is dropped.
#[must_use = "dropped at once it frees its slot; hold it until the attempt has ended"]
#[derive(Debug)]
pub struct Permit<'b> {
    bulkhead: &'b Bulkhead,
    slots: u32,
    /// When the attempt began, where the bulkhead learns from it.
    began: Timestamp,
}

impl Permit<'_> {
    /// The attempt begins now, after it has waited for something else.
    #[inline]
    #[doc(hidden)]
    pub fn begins(&mut self, clock: &impl Clock) {
        if let Size::Adaptive(_) = self.bulkhead.size {
            self.began = clock.shared();
        }
    }

    /// The attempt succeeded: a bulkhead that is [`adaptive`](Bulkhead::adaptive) learns how long it took.
    pub fn succeeded(self) {
        self.succeeded_with_clock(&ProcessClock);
    }

    /// [`succeeded`](Self::succeeded) with a clock.
    #[inline]
    pub fn succeeded_with_clock(self, clock: &impl Clock) {
        self.ended(|began| Ended::Answered(clock.shared().since(began)));
    }

    /// The attempt failed. [`Verdict::Permanent`] is an answer, and [`Verdict::Throttled`] says that there are too many;
    /// other verdicts say nothing about the size.
    pub fn failed(self, verdict: Verdict) {
        self.failed_with_clock(verdict, &ProcessClock);
    }

    /// [`failed`](Self::failed) with a clock.
    pub fn failed_with_clock(self, verdict: Verdict, clock: &impl Clock) {
        match verdict {
            Verdict::Permanent => self.succeeded_with_clock(clock),
            Verdict::Throttled(_) => self.ended(|_| Ended::Throttled),
            _ => {}
        }
    }

    /// The service did not answer in time.
    pub fn timed_out(self) {
        self.timed_out_with_clock(&ProcessClock);
    }

    /// [`timed_out`](Self::timed_out) with a clock.
    pub fn timed_out_with_clock(self, clock: &impl Clock) {
        self.ended(|began| Ended::TimedOut(clock.shared().since(began)));
    }

    /// A fixed size learns nothing, and no clock is read for it.
    #[inline]
    fn ended(self, ended: impl FnOnce(Timestamp) -> Ended) {
        if let Size::Adaptive(adaptive) = &self.bulkhead.size {
            adaptive.learn(ended(self.began), self.bulkhead.running());
        }
    }

    /// Takes one more slot. Returns whether one was free.
    #[inline]
    #[doc(hidden)]
    pub fn take(&mut self) -> bool {
        let limit = self.bulkhead.limit();
        // Rounded up: of one slot none is closed.
        let open = if around::is_low() {
            limit.div_ceil(2)
        } else {
            limit
        };
        let is_taken = self.bulkhead.slots.take(open.into());
        self.slots = self.slots.saturating_add(u32::from(is_taken));
        is_taken
    }

    /// Frees one slot again.
    #[doc(hidden)]
    pub fn free_one(&mut self) {
        if let Some(left) = self.slots.checked_sub(1) {
            self.slots = left;
            self.bulkhead.slots.free(1);
        }
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.slots > 0 {
            self.bulkhead.slots.free(self.slots.into());
        }
    }
}

/// A [`Bulkhead`] refused a call: as many attempts run as may.
///
/// Its verdict is [`Verdict::Refused`]: nothing was executed, and a later attempt may find a free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bulkhead is full")
    }
}

impl std::error::Error for Full {}

#[diagnostic::do_not_recommend]
impl Classify for Full {
    fn classify(&self) -> Verdict {
        Verdict::Refused
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(self)
    }
}
