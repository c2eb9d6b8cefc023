//! The step of `pause_after` where somebody may be watching.

use core::time::Duration;

use super::{Beginnings, note_error};
use crate::events::{Came, Watch};
use crate::failure::Interrupted;
use crate::operation::Operation;
use crate::private::progress::{delay, or_end, watch};
use crate::private::{Limits, Pause, Progress, Question, Until, admit, pause};
use crate::timer::{Clock, Timer};
use crate::verdict::Verdict;

// The step after a failure where somebody may be watching, out of line as a whole; the error goes through it. What
// only a failure needs must not cost a success a register, however much there is to tell.
struct Step<'a, C, B> {
    operation: &'a Operation,
    until: Until,
    clock: &'a C,
    verdict: Verdict,
    watch: Watch,
    began: B,
}

type Stepped<P, Q, G, E> = Result<(P, <Q as Question>::Held, G), (E, Interrupted)>;

impl<C: Clock, B: Beginnings> Step<'_, C, B> {
    fn delay<E, P: Progress, Q: Question>(
        &self,
        error: &E,
        progress: &mut P,
        question: Q,
        words: impl FnOnce(&E) -> Option<String>,
    ) -> Result<(Duration, Q::Held), Interrupted> {
        let Self {
            operation,
            until,
            clock,
            watch,
            ..
        } = *self;
        note_error(progress.failures(), operation, self.began, error, words);
        let delay = admit(progress, operation, until, self.verdict)
            .and_then(|admitted| delay(progress, operation, until, clock, admitted, true))
            .and_then(|delay| {
                let held = or_end(*progress, question.afford(operation, clock))?;
                Ok((delay, held))
            });
        match delay {
            Ok((delay, _)) => watch.retries(operation, delay),
            Err(end) => watch.gives_up(operation, end.reason()),
        }
        delay
    }
}

// As `pause_after`.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a step, and what is told of it")]
pub fn pause_told<T: Timer, E, P: Progress>(
    error: E,
    progress: &mut P,
    operation: &Operation,
    until: Until,
    timer: &T,
    verdict: Verdict,
    limits: &mut impl Limits,
    began: impl Beginnings,
    words: impl FnOnce(&E) -> Option<String>,
) -> Result<Pause<T::Sleep>, (E, Interrupted)> {
    let came = Came::Failed(verdict);
    let watch = watch(progress, came);
    limits.failed(operation, came, timer);
    let step = Step {
        operation,
        until,
        clock: timer,
        verdict,
        watch,
        began,
    };
    let (kept, held, pause) = paused(error, *progress, &step, limits.question(came), words)?;
    *progress = kept;
    limits.take_back(held);
    Ok(pause)
}

#[cold]
#[inline(never)]
fn paused<E, P: Progress, T: Timer, Q: Question>(
    error: E,
    mut progress: P,
    step: &Step<'_, T, impl Beginnings>,
    question: Q,
    words: impl FnOnce(&E) -> Option<String>,
) -> Stepped<P, Q, Pause<T::Sleep>, E> {
    match step.delay(&error, &mut progress, question, words) {
        Ok((delay, held)) => Ok((progress, held, pause(delay, step.clock))),
        Err(end) => Err((error, end)),
    }
}
