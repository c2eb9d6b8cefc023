//! Which events of the calls of a policy are logged, and at which level. Plain data: part of a policy, and read only where an
//! event is reported.

use core::time::Duration;

use crate::words::words;

/// How loud an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Nothing is logged.
    Off,
    /// For debugging.
    Trace,
    /// For developers.
    Debug,
    /// For operators.
    Info,
    /// Worth a look.
    Warn,
    /// Needs action.
    Error,
}

words! {
    #[doc(hidden)]
    Level { Off "off", Trace "trace", Debug "debug", Info "info", Warn "warn", Error "error" }
}

/// Which events of a policy's calls are reported: their levels in `tracing`, whether each attempt
/// is timed, and whether each has a span.
///
/// Without a feature that reports events it has no effect. Observers, metrics and statistics receive
/// everything, whatever the levels.
///
/// # Default
///
/// The first retry of a call is [`Level::Debug`], later ones are [`Level::Info`], a give-up is [`Level::Warn`], a
/// recovery (success after a retry) [`Level::Info`]. No clock is read before something fails, and attempts have no spans.
///
/// # Examples
///
/// ```
/// use reattempt::{observe::Level, Policy, Telemetry};
///
/// const STORAGE: Policy = Policy::new()
///     .telemetry(Telemetry::new().give_up(Level::Error).timings());
/// # let _ = STORAGE;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "it does nothing until it is part of a policy"]
#[non_exhaustive]
pub struct Telemetry {
    #[doc(hidden)]
    pub first_retry: Level,
    #[doc(hidden)]
    pub later_retry: Level,
    #[doc(hidden)]
    pub give_up: Level,
    #[doc(hidden)]
    pub recovery: Level,
    timings: bool,
    spans: bool,
    #[doc(hidden)]
    pub give_up_interval: Duration,
}

impl Telemetry {
    /// Returns the default.
    pub const fn new() -> Self {
        Self {
            first_retry: Level::Debug,
            later_retry: Level::Info,
            give_up: Level::Warn,
            recovery: Level::Info,
            timings: false,
            spans: false,
            give_up_interval: Duration::from_secs(10),
        }
    }

    /// No line of `tracing` at all.
    pub const fn quiet() -> Self {
        Self {
            first_retry: Level::Off,
            later_retry: Level::Off,
            give_up: Level::Off,
            recovery: Level::Off,
            ..Self::new()
        }
    }

    /// Sets the level of every retry, the first one of a call too.
    pub const fn retry(mut self, level: Level) -> Self {
        self.first_retry = level;
        self.later_retry = level;
        self
    }

    /// Sets the level of the first retry of a call, which often helps.
    pub const fn first_retry(mut self, level: Level) -> Self {
        self.first_retry = level;
        self
    }

    /// Sets the level of a call that ends without success. The level is at most [`Level::Debug`] if
    /// the first attempt fails with a final error, which is an ordinary answer.
    pub const fn give_up(mut self, level: Level) -> Self {
        self.give_up = level;
        self
    }

    /// Sets the level of a success after a retry.
    pub const fn recovery(mut self, level: Level) -> Self {
        self.recovery = level;
        self
    }

    /// Times every attempt: the clock is read when a call begins.
    ///
    /// Without it the first attempt of a call has no start and no duration in its events, unless the policy has a
    /// `deadline`, which reads the clock anyway; later attempts are always timed.
    pub const fn timings(mut self) -> Self {
        self.timings = true;
        self
    }

    /// Adds a span of `tracing` around each attempt, below the span of the caller; each is
    /// timed, too.
    pub const fn spans(mut self) -> Self {
        self.spans = true;
        self.timings()
    }

    /// At most one line of `tracing` in this time about give-ups of one operation; the next line has
    /// the number of those that were left out.
    ///
    /// # Units and ranges
    ///
    /// 0 means a line for each.
    ///
    /// # Default
    ///
    /// 10 s.
    pub const fn give_up_interval(mut self, interval: Duration) -> Self {
        self.give_up_interval = interval;
        self
    }
}

#[doc(hidden)]
impl Telemetry {
    /// Returns whether every attempt is timed.
    pub const fn has_timings(&self) -> bool {
        self.timings
    }

    /// Returns whether every attempt has a span.
    pub const fn has_spans(&self) -> bool {
        self.spans
    }
}

impl Default for Telemetry {
    fn default() -> Self {
        Self::new()
    }
}
