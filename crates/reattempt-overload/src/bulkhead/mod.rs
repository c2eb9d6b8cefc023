//! How many attempts run at the same time: a bulkhead refuses what would be one more.
#![warn(clippy::arithmetic_side_effects)]

use core::fmt;

use reattempt_core::{Classify, Verdict};
use reattempt_policy::{RuleId, Text};

mod slots;
#[cfg(test)]
mod tests;

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
    limit: u32,
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
            limit,
        }
    }

    /// Takes a slot for one attempt, which the permit frees when it is dropped.
    ///
    /// # Errors
    ///
    /// [`Full`] while as many attempts run as may.
    #[inline]
    pub fn permit(&self) -> Result<Permit<'_>, Full> {
        let mut permit = Permit {
            bulkhead: self,
            slots: 0,
        };
        if permit.take() { Ok(permit) } else { Err(Full) }
    }

    /// Returns how many attempts may run at the same time.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns how many attempts run now, from 0 to [`limit`](Self::limit).
    #[expect(clippy::cast_possible_truncation, reason = "at most the limit")]
    pub fn running(&self) -> u32 {
        self.slots.taken() as u32
    }
}

impl fmt::Debug for Bulkhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bulkhead")
            .field("running", &self.running())
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// A slot of a [`Bulkhead`], free again when this is dropped.
#[must_use = "dropped at once it frees its slot; hold it until the attempt has ended"]
#[derive(Debug)]
pub struct Permit<'b> {
    bulkhead: &'b Bulkhead,
    slots: u32,
}

impl Permit<'_> {
    /// Takes one more slot. Returns whether one was free.
    #[inline]
    #[doc(hidden)]
    pub fn take(&mut self) -> bool {
        let is_taken = self.bulkhead.slots.take(self.bulkhead.limit.into());
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
