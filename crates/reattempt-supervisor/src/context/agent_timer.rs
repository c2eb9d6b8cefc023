//! What the policy of a step says of an answer of its agent. The policy is the ordinary loop of retries around a body that
//! repeats what agents have said, and its timer tells which delay it asks for in the end.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use reattempt::timer::{Clock, Timer, Timestamp};
use reattempt::{Classify, Verdict};

use crate::store::AgentFailure;

/// The error of an attempt of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentError {
    message: String,
    verdict: Verdict,
}

impl Classify for AgentError {
    fn classify(&self) -> Verdict {
        self.verdict
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AgentError {}

impl AgentError {
    /// Returns what the agent has said.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// What agents have said.
#[derive(Debug)]
pub(super) struct Answer {
    error: AgentError,
    place: Mutex<Place>,
}

/// How far the policy has got with an answer.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// It has still to hear of so many earlier attempts.
    Before(u32),
    /// It has heard of all.
    Heard,
    /// It asks for another one after this delay.
    Asks(Duration),
}

impl Answer {
    pub(super) fn new(failure: &AgentFailure, earlier: u32) -> Arc<Self> {
        let verdict = match failure.verdict.as_str() {
            "permanent" => Verdict::Permanent,
            "retry_forbidden" => Verdict::RetryForbidden,
            "throttled" => Verdict::Throttled(None),
            "refused" => Verdict::Refused,
            _ => Verdict::Transient,
        };
        let error = AgentError {
            message: failure.error.clone(),
            verdict: verdict.after(failure.delay),
        };
        Arc::new(Self {
            error,
            place: Mutex::new(Place::Before(earlier)),
        })
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the delay after which the policy asks for another attempt; `None` if it has given up.
    pub(super) fn delay(&self) -> Option<Duration> {
        match *self.place() {
            Place::Asks(delay) => Some(delay),
            Place::Before(_) | Place::Heard => None,
        }
    }

    /// Takes the error of the next attempt; `None` if agents have still to make that attempt.
    pub(super) fn next_error(&self) -> Option<AgentError> {
        let mut place = self.place();
        match *place {
            Place::Before(0) => {
                *place = Place::Heard;
                Some(self.error.clone())
            }
            // It was worth another attempt, whatever it was.
            Place::Before(earlier) => {
                *place = Place::Before(earlier.saturating_sub(1));
                Some(AgentError {
                    verdict: Verdict::Refused,
                    ..self.error.clone()
                })
            }
            Place::Heard => {
                *place = Place::Asks(Duration::ZERO);
                None
            }
            Place::Asks(_) => None,
        }
    }

    /// Returns whether the policy need not wait for this delay now.
    fn is_past(&self, delay: Duration) -> bool {
        let mut place = self.place();
        if matches!(*place, Place::Heard) {
            *place = Place::Asks(delay);
        }
        matches!(*place, Place::Before(_))
    }
}

/// The timer of a policy that decides.
#[derive(Debug, Clone)]
pub struct AgentTimer(pub(super) Option<Arc<Answer>>);

impl Clock for AgentTimer {
    fn now(&self) -> Timestamp {
        // Agents have limits of their own, so no time passes here.
        Timestamp::from_nanos(0)
    }
}

impl Timer for AgentTimer {
    type Sleep = AgentSleep;

    fn sleep(&self, duration: Duration) -> AgentSleep {
        AgentSleep(self.0.clone(), duration)
    }
}

/// The wait before the next attempt: over at once, unless agents have still to make that attempt.
#[derive(Debug)]
pub struct AgentSleep(Option<Arc<Answer>>, Duration);

impl Future for AgentSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let is_past = (self.0.as_ref()).is_some_and(|answer| answer.is_past(self.1));
        if is_past {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
