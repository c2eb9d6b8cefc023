//! A recorded call: its attempts, the delays between them and the end.

use core::fmt;
use core::time::Duration;

use reattempt_core::{GiveUpReason, Verdict};
use reattempt_policy::{Text, duration};
use retry_runtime::slots::{AttemptResult, CallEvent, CallStep, Ending};

/// A call of which a record has at least one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCall {
    operation: &'static str,
    attempts: Vec<RecordedAttempt>,
    hedges: Vec<RecordedHedge>,
    end: CallEnd,
}

/// The copies of an attempt of a recorded call, where a hedge started any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedHedge {
    attempt: u32,
    copies: u32,
    winner: Option<u32>,
    is_success: bool,
}

/// An attempt of a recorded call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedAttempt {
    number: u32,
    end: AttemptEnd,
    delay: Option<Duration>,
}

/// The end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttemptEnd {
    /// It ended the call with success.
    Succeeded,
    /// It failed with an error of this verdict.
    Failed(Verdict),
    /// It succeeded with a value that `until` does not accept.
    NotFinal,
    /// It took longer than `timeout`.
    TimedOut,
    /// The deadline cancelled it.
    CutOff,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallEnd {
    /// It succeeded.
    Succeeded,
    /// It ended without success.
    GaveUp(GiveUpReason),
    /// No end was recorded: it was dropped, it panicked, or it is still running.
    Open,
}

impl RecordedCall {
    pub(super) const fn new(operation: &'static str) -> Self {
        Self {
            operation,
            attempts: Vec::new(),
            hedges: Vec::new(),
            end: CallEnd::Open,
        }
    }

    /// Returns the name of the operation.
    pub const fn operation(&self) -> &'static str {
        self.operation
    }

    /// Returns the attempts that have ended, in their order.
    pub fn attempts(&self) -> &[RecordedAttempt] {
        &self.attempts
    }

    /// Returns the attempts that got copies, in their order.
    pub fn hedges(&self) -> &[RecordedHedge] {
        &self.hedges
    }

    /// Returns the end of the call.
    pub const fn end(&self) -> CallEnd {
        self.end
    }

    /// Returns the delays between the attempts: the exact schedule.
    pub fn delays(&self) -> Vec<Duration> {
        self.attempts.iter().filter_map(|a| a.delay).collect()
    }

    /// Returns whether `event` is the next event of this call; a success has no name.
    pub(super) fn goes_on_with(&self, event: &CallEvent) -> bool {
        let last = self.attempts.last().map_or(0, RecordedAttempt::number);
        if let Some(hedge) = self.hedges.last().filter(|hedge| hedge.attempt > last) {
            match event.step {
                CallStep::CopyStarted(copy) if copy != hedge.copies.saturating_add(1) => {
                    return false;
                }
                CallStep::CopyStarted(_) | CallStep::CopyWon(..) if hedge.winner.is_some() => {
                    return false;
                }
                // It has succeeded at once, unless its value was not final.
                CallStep::Retry(result, _) | CallStep::GaveUp(Ending::Attempt(result), _)
                    if hedge.is_success && result != AttemptResult::NotFinal =>
                {
                    return false;
                }
                _ => {}
            }
        }
        let is_open = self.end == CallEnd::Open || self.has_succeeded_at_once();
        is_open
            && (event.operation.is_empty() || self.operation == event.operation)
            && (event.before == last || was_last(last, event))
    }

    /// Returns whether an answer of its first attempt is all that the record knows of it.
    fn has_succeeded_at_once(&self) -> bool {
        self.attempts.is_empty() && self.end == CallEnd::Succeeded
    }

    pub(super) fn add(&mut self, event: &CallEvent) {
        if self.has_succeeded_at_once() {
            self.end = CallEnd::Open;
        }
        let (end, delay) = match event.step {
            CallStep::CopyStarted(copies) => {
                return match self.hedges.last_mut() {
                    Some(hedge) if hedge.attempt == event.attempt => hedge.copies = copies,
                    _ => self.hedges.push(RecordedHedge {
                        attempt: event.attempt,
                        copies,
                        winner: None,
                        is_success: false,
                    }),
                };
            }
            CallStep::CopyWon(copy, is_success) => {
                if let Some(hedge) = self.hedges.last_mut() {
                    (hedge.winner, hedge.is_success) = (Some(copy), is_success);
                }
                if is_success && self.attempts.is_empty() {
                    self.end = CallEnd::Succeeded;
                }
                return;
            }
            CallStep::Retry(result, delay) => (result.into(), Some(delay)),
            CallStep::GaveUp(ending, reason) => {
                self.end = CallEnd::GaveUp(reason);
                match ending {
                    Ending::Attempt(result) => (result.into(), None),
                    Ending::BetweenAttempts => (AttemptEnd::CutOff, None),
                }
            }
            CallStep::Succeeded => {
                self.end = CallEnd::Succeeded;
                (AttemptEnd::Succeeded, None)
            }
        };
        let last = self.attempts.last().map_or(0, RecordedAttempt::number);
        if was_last(last, event) {
            return; // no attempt was started
        }
        self.attempts.push(RecordedAttempt {
            number: event.attempt,
            end,
            delay,
        });
    }
}

impl RecordedHedge {
    /// Returns the number of the attempt, from 1.
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns how many copies were started beside it.
    pub const fn copies(&self) -> u32 {
        self.copies
    }

    /// Returns whose answer is that of the attempt: its own (0), or that of the copy with this number;
    /// `None` where all of them failed, or the attempt was cut off.
    pub const fn winner(&self) -> Option<u32> {
        self.winner
    }
}

impl RecordedAttempt {
    /// Returns the number of the attempt, from 1.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Returns the end of the attempt.
    pub const fn end(&self) -> AttemptEnd {
        self.end
    }

    /// Returns the delay after the attempt; `None` when no other attempt was to follow.
    pub const fn delay(&self) -> Option<Duration> {
        self.delay
    }
}

/// Returns whether the deadline was over after this attempt, before the next one started.
fn was_last(attempt: u32, event: &CallEvent) -> bool {
    event.attempt == attempt && matches!(event.step, CallStep::GaveUp(Ending::BetweenAttempts, _))
}

impl From<AttemptResult> for AttemptEnd {
    fn from(result: AttemptResult) -> Self {
        match result {
            AttemptResult::Failed(verdict) => Self::Failed(verdict),
            AttemptResult::NotFinal => Self::NotFinal,
            AttemptResult::TimedOut => Self::TimedOut,
            AttemptResult::CutOff => Self::CutOff,
        }
    }
}

/// Writes the name, then one line for each attempt that got copies, and one for each attempt.
impl fmt::Display for RecordedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.operation)?;
        for hedge in &self.hedges {
            writeln!(f, "  {hedge}")?;
        }
        let ended_in_attempt = match self.attempts.split_last() {
            None => false,
            Some((last, before)) => {
                for attempt in before {
                    writeln!(f, "  {attempt}")?;
                }
                write!(f, "  {last}")?;
                last.delay.is_none()
            }
        };
        match self.end {
            CallEnd::Succeeded if self.attempts.is_empty() => writeln!(f, "  1. succeeded"),
            CallEnd::Succeeded => writeln!(f),
            CallEnd::GaveUp(reason) if ended_in_attempt => {
                writeln!(f, ", gave up ({})", reason.as_str())
            }
            end => {
                if !self.attempts.is_empty() {
                    writeln!(f)?;
                }
                writeln!(f, "  {end}")
            }
        }
    }
}

impl fmt::Display for RecordedHedge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let copies = if self.copies == 1 { "copy" } else { "copies" };
        write!(f, "{}. {} {copies}, ", self.attempt, self.copies)?;
        match self.winner {
            None => f.write_str("none answered"),
            Some(0) => f.write_str("the first answered"),
            Some(copy) => write!(f, "copy {copy} answered"),
        }
    }
}

impl fmt::Display for RecordedAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.number, self.end)?;
        match self.delay {
            None => Ok(()),
            Some(Duration::ZERO) => f.write_str(", retry at once"),
            Some(delay) => write!(f, ", retry in {}", Exact(delay)),
        }
    }
}

impl fmt::Display for AttemptEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Succeeded => "succeeded",
            Self::NotFinal => "not final",
            Self::TimedOut => "timed out",
            Self::CutOff => "cut off",
            Self::Failed(Verdict::Transient) => "failed (transient)",
            Self::Failed(Verdict::Refused) => "failed (refused)",
            Self::Failed(Verdict::Permanent) => "failed (permanent)",
            Self::Failed(Verdict::RetryForbidden) => "failed (retry_forbidden)",
            Self::Failed(Verdict::Throttled(None)) => "failed (throttled)",
            Self::Failed(Verdict::TransientAfter(asked)) => {
                return write!(f, "failed (transient, asks for {})", Exact(*asked));
            }
            Self::Failed(Verdict::Throttled(Some(asked))) => {
                return write!(f, "failed (throttled, asks for {})", Exact(*asked));
            }
            Self::Failed(_) => "failed",
        })
    }
}

impl fmt::Display for CallEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Succeeded => f.write_str("succeeded"),
            Self::GaveUp(reason) => write!(f, "gave up ({})", reason.as_str()),
            Self::Open => f.write_str("did not end"),
        }
    }
}

/// A duration as a policy writes it where that is exact: `6m 40s`, but `1.234567891s`.
struct Exact(Duration);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Text::new().duration(self.0, "");
        if duration::parse(text.as_str()) == Ok(self.0) {
            f.write_str(text.as_str())
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}
