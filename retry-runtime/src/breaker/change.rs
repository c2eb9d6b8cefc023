//! The states of a breaker, and what observers are told.

use core::fmt;
use core::time::Duration;

use super::told::Name;
use super::word::Kind;

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
    /// Refuses them, by [`force_open`](super::Breaker::force_open).
    ForcedOpen,
    /// Lets them through and counts none, by [`force_closed`](super::Breaker::force_closed).
    ForcedClosed,
}

impl State {
    /// The state in lower case, as telemetry names it: `half_open`.
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
    pub(super) fn new(name: Name, from: Kind, to: Kind, cooldown: Option<u32>) -> Self {
        Self {
            name,
            from: from.into(),
            to: to.into(),
            cooldown: cooldown.map(|millis| Duration::from_millis(millis.into())),
        }
    }

    /// The name of the breaker.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// The state before.
    pub const fn from(&self) -> State {
        self.from
    }

    /// The state now.
    pub const fn to(&self) -> State {
        self.to
    }

    /// How long it stays open, where it has opened and not by hand.
    pub const fn cooldown(&self) -> Option<Duration> {
        self.cooldown
    }
}
