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

/// What a breaker has counted, and its state, at one moment: made by `Breaker::stats`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerStats {
    #[doc(hidden)]
    pub name: Name,
    #[doc(hidden)]
    pub state: State,
    #[doc(hidden)]
    pub state_time: Option<Duration>,
    #[doc(hidden)]
    pub calls: u64,
    #[doc(hidden)]
    pub failures: u64,
    #[doc(hidden)]
    pub slow_calls: u64,
}

impl BreakerStats {
    /// Returns the name of the breaker.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Returns its state. One whose cool-down is over is half-open, also before a call has come to be the probe.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Returns how long ago the state changed last; `None` where it never did. The end of a cool-down is not a change.
    pub const fn state_time(&self) -> Option<Duration> {
        self.state_time
    }

    /// Returns how many calls its window holds: at most the calls of a count window, or those of the last while. An open
    /// breaker keeps those that have opened it.
    pub const fn calls(&self) -> u64 {
        self.calls
    }

    /// Returns how many of them failed.
    pub const fn failures(&self) -> u64 {
        self.failures
    }

    /// Returns how many of them were slow; 0 without `Breaker::slow_calls`.
    pub const fn slow_calls(&self) -> u64 {
        self.slow_calls
    }

    /// Returns the share of its calls that failed, from 0.0 to 1.0; `None` without a call.
    #[expect(clippy::cast_precision_loss, reason = "a share for people to read")]
    pub fn failure_ratio(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.failures as f64 / self.calls as f64)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_name() {
        for (state, name) in [
            (State::Closed, "closed"),
            (State::Open, "open"),
            (State::HalfOpen, "half_open"),
            (State::ForcedOpen, "forced_open"),
            (State::ForcedClosed, "forced_closed"),
        ] {
            assert_eq!((state.as_str(), state.to_string()), (name, name.to_owned()));
        }
    }

    #[test]
    fn a_breaker_is_what_it_was_made_of() {
        let (name, second) = (Name::Shared("pay".into()), Some(Duration::from_secs(1)));
        assert_eq!(name, Name::Static("pay"));
        assert_ne!(name, Name::Static("ship"));
        let change = Change::new(name.clone(), State::Closed, State::Open, second);
        assert_eq!((change.name(), change.cooldown()), ("pay", second));
        assert_eq!((change.from(), change.to()), (State::Closed, State::Open));
        let mut stats = BreakerStats {
            name,
            state: State::HalfOpen,
            state_time: second,
            calls: 8,
            failures: 6,
            slow_calls: 5,
        };
        assert_eq!(
            (stats.name(), stats.state(), stats.state_time()),
            ("pay", State::HalfOpen, second)
        );
        assert_eq!(
            (stats.calls(), stats.failures(), stats.slow_calls()),
            (8, 6, 5)
        );
        assert_eq!(stats.failure_ratio(), Some(0.75));
        stats.calls = 0;
        assert_eq!(stats.failure_ratio(), None);
    }
}
