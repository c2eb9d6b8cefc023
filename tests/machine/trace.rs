//! What a driver did with a case.

use std::fmt;
use std::time::Duration;

use crate::names::{Reason, Story};
use crate::world::{Fault, ScriptResult};

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Trace {
    pub(crate) calls: Vec<Call>,
    /// Whether an attempt was dropped before its end.
    pub(crate) has_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Call {
    pub(crate) attempts: Vec<Attempt>,
    /// From the last attempt to the end of the call.
    pub(crate) rest: Duration,
    pub(crate) ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Attempt {
    /// The delay before it.
    pub(crate) wait: Duration,
    /// Its number, and the time that is left, as `deadline` says.
    pub(crate) view: (u32, Option<Duration>),
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Ending {
    Value,
    Panic,
    /// It would have waited for ever.
    #[default]
    Stuck,
    GaveUp(Reason, u32),
    /// It gave up, and the answer does not say why.
    Failed,
}

impl From<ScriptResult> for Ending {
    fn from(answer: ScriptResult) -> Self {
        match answer {
            Ok(_) => Self::Value,
            Err(Fault::Judged(_)) => Self::Failed,
            Err(Fault::Cut(reason, attempts)) => Self::GaveUp(reason, attempts),
        }
    }
}

impl From<Result<u32, Story<Fault>>> for Ending {
    fn from(answer: Result<u32, Story<Fault>>) -> Self {
        match answer {
            Ok(_) => Self::Value,
            Err(story) => Self::GaveUp(story.reason(), story.attempts()),
        }
    }
}

/// Of what was driven.
impl<A: Into<Self>> From<Option<A>> for Ending {
    fn from(answer: Option<A>) -> Self {
        answer.map_or(Self::Stuck, Into::into)
    }
}

impl Trace {
    pub(crate) fn forget_views(&mut self) {
        for attempt in self.calls.iter_mut().flat_map(|call| &mut call.attempts) {
            attempt.view = (1, None);
        }
    }
}

/// Each call as `0,1500+70>deadline!3`: the delays before the attempts and at the end, in microseconds, how it ended,
/// and how many attempts it speaks of, where these are not those that were made.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls: Vec<_> = self.calls.iter().map(Call::to_string).collect();
        f.write_str(&calls.join(";"))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |attempt: &Attempt| attempt.wait.as_micros().to_string();
        let waits: Vec<_> = self.attempts.iter().map(micros).collect();
        f.write_str(&waits.join(","))?;
        if !self.rest.is_zero() {
            write!(f, "+{}", self.rest.as_micros())?;
        }
        match self.ending {
            Ending::Value => f.write_str(">value"),
            Ending::Panic => f.write_str(">panic"),
            Ending::Stuck => f.write_str(">stuck"),
            Ending::Failed => f.write_str(">failed"),
            Ending::GaveUp(reason, attempts) if attempts as usize == waits.len() => {
                write!(f, ">{}", reason.as_str())
            }
            Ending::GaveUp(reason, attempts) => write!(f, ">{}!{attempts}", reason.as_str()),
        }
    }
}
