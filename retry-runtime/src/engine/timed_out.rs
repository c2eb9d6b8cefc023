//! Attempts that time ended: what is left of them, and whether the call ends too.

use core::convert::Infallible;

use super::{Gate, IntoContext, LiveCall, Place};
use crate::call::GiveUpReason;
use crate::failure::GaveUp;
use crate::timer::Clock;

/// An attempt that was cut off, or that came too late to be started.
#[derive(Debug, Clone, Copy)]
pub struct TimedOut {
    /// It was begun.
    pub started: bool,
    /// An inherited deadline ended it, not a limit that the loop knows.
    pub is_inherited: bool,
    /// How many operations had been marked on this thread. An attempt marks more when it is dropped.
    pub(crate) marks: u32,
}

/// What is left of an attempt without an outcome: the proof that it was cut off, or that it never is.
pub trait Lost {
    /// Returns it, if there is any.
    fn timed_out(&self) -> TimedOut;
}

impl Lost for TimedOut {
    fn timed_out(&self) -> TimedOut {
        *self
    }
}

impl Lost for Infallible {
    fn timed_out(&self) -> TimedOut {
        match *self {}
    }
}

impl<P: Place> LiveCall<P> {
    /// Takes the outcome of an attempt that may have been cut off. Past the deadline the call ends, too.
    ///
    /// # Errors
    ///
    /// What is left of the attempt, and how the call ended.
    #[inline(always)]
    pub fn in_time<'c, R, L: Lost, T: Clock + 'c>(
        &mut self,
        outcome: Result<R, L>,
        context: impl IntoContext<'c, T>,
        gates: &mut impl Gate,
    ) -> Result<Result<R, L>, (L, GaveUp)> {
        let Err(lost) = outcome else {
            return Ok(outcome);
        };
        let context = context.into_context();
        let TimedOut {
            started,
            is_inherited,
            marks,
        } = lost.timed_out();
        // The attempt is gone by now, and its operations marked themselves when it was dropped.
        self.progress.call.take_marks(marks);
        if !started && context.is_over() {
            // No attempt was made.
            let end = self.ended(context, GiveUpReason::Deadline);
            return Err((lost, end));
        }
        // After an inherited deadline nothing is left to do for the caller, whatever the call's own
        // limits are.
        if started && (is_inherited || context.is_over()) {
            let end = self.cut_off(context, gates, !is_inherited);
            return Err((lost, end));
        }
        // Its own time-out has passed, which ends the attempt alone.
        Ok(Err(lost))
    }
}
