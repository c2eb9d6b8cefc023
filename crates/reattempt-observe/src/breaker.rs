//! The states of a circuit breaker, and how it reports a change.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

/// What a breaker does with calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Lets them through and counts them.
    Closed,
    /// Refuses them.
    Open,
    /// Lets a few through as probes.
    HalfOpen,
    /// Refuses them, by `Breaker::force_open`.
    ForcedOpen,
    /// Lets them through and counts none, by `Breaker::force_closed`.
    ForcedClosed,
}

impl State {
    /// Returns the state in lower case, as telemetry names it: `half_open`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
            Self::ForcedOpen => "forced_open",
            Self::ForcedClosed => "forced_closed",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A breaker has changed its state.
///
/// It becomes half-open with the first call after the cool-down, not by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    name: Name,
    from: State,
    to: State,
    cooldown: Option<Duration>,
}

impl Change {
    /// Returns a change of the breaker with this name.
    #[doc(hidden)]
    pub const fn new(name: Name, from: State, to: State, cooldown: Option<Duration>) -> Self {
        Self {
            name,
            from,
            to,
            cooldown,
        }
    }

    /// Returns the name of the breaker.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Returns the state before.
    pub const fn from(&self) -> State {
        self.from
    }

    /// Returns the state now.
    pub const fn to(&self) -> State {
        self.to
    }

    /// Returns how long it stays open, where it has opened and not by hand.
    pub const fn cooldown(&self) -> Option<Duration> {
        self.cooldown
    }
}

/// The name of a breaker.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub enum Name {
    /// One that the code has.
    Static(&'static str),
    /// One that the running program has made.
    Shared(Arc<str>),
}

impl Name {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Static(name) => name,
            Self::Shared(name) => name,
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Name {}
