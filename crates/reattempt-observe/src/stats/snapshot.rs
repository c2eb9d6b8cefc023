//! The numbers of a moment, and questions about them.

use std::time::{Duration, SystemTime};

use reattempt_core::{GiveUpReason, RetryCause};

use crate::breaker::BreakerStats;

/// What was retried since the start, for each operation: made by [`stats`](crate::stats()).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    pub(super) at: SystemTime,
    pub(super) operations: Vec<OperationStats>,
    pub(super) breakers: Vec<BreakerStats>,
}

/// The numbers of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationStats {
    pub(super) name: &'static str,
    pub(super) failed_attempts: u64,
    pub(super) retries: u64,
    /// In the order of the words for them.
    pub(super) causes: Vec<(RetryCause, u64)>,
    pub(super) recoveries: u64,
    pub(super) dropped: u64,
    pub(super) copies: u64,
    pub(super) copies_won: u64,
    /// In the order of the words for them.
    pub(super) give_ups: Vec<(GiveUpReason, u64)>,
    pub(super) delay: Duration,
    pub(super) last_error: Option<LastError>,
}

/// The error of the last attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastError {
    pub(super) kind: &'static str,
    pub(super) message: Option<String>,
    pub(super) at: SystemTime,
}

impl Stats {
    /// When this was taken, by the wall clock.
    pub const fn at(&self) -> SystemTime {
        self.at
    }

    /// Returns the operations that failed or were hedged at least once, in the order of their names.
    pub fn operations(&self) -> &[OperationStats] {
        &self.operations
    }

    /// Returns the operation of this name; `None` when it has never failed.
    pub fn operation(&self, name: &str) -> Option<&OperationStats> {
        let mut operations = self.operations.iter();
        operations.find(|operation| operation.name == name)
    }

    /// Returns the breakers that [`add_breakers`](super::add_breakers) shows, in the order in which they were added.
    pub fn breakers(&self) -> &[BreakerStats] {
        &self.breakers
    }

    /// Returns whether nothing has failed.
    pub const fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Returns statistics of nothing.
    #[doc(hidden)]
    pub const fn empty(at: SystemTime) -> Self {
        Self {
            at,
            operations: Vec::new(),
            breakers: Vec::new(),
        }
    }

    /// Returns the sum over all operations.
    #[doc(hidden)]
    pub fn sum(&self, count: impl Fn(&OperationStats) -> u64) -> u64 {
        self.operations
            .iter()
            .map(count)
            .fold(0, u64::saturating_add)
    }
}

impl OperationStats {
    pub(super) const fn new(name: &'static str) -> Self {
        Self {
            name,
            failed_attempts: 0,
            retries: 0,
            causes: Vec::new(),
            recoveries: 0,
            dropped: 0,
            copies: 0,
            copies_won: 0,
            give_ups: Vec::new(),
            delay: Duration::ZERO,
            last_error: None,
        }
    }

    /// Returns the name of the operation; `(others)` for those beyond the first 1000.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the calls that ended after a failure: those that recovered, those that gave up and those
    /// that were dropped. Calls that are under way are not among them.
    pub fn calls(&self) -> u64 {
        let ended = self.recoveries.saturating_add(self.gave_up());
        ended.saturating_add(self.dropped)
    }

    /// Returns the attempts that failed.
    pub const fn failed_attempts(&self) -> u64 {
        self.failed_attempts
    }

    /// Returns the retries that were decided on.
    pub const fn retries(&self) -> u64 {
        self.retries
    }

    /// Returns the same by cause, each that occurred.
    pub fn causes(&self) -> &[(RetryCause, u64)] {
        &self.causes
    }

    /// Returns the calls that succeeded after a failure.
    pub const fn recoveries(&self) -> u64 {
        self.recoveries
    }

    /// Returns the calls that were dropped after a failure, before their next answer.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns how many copies of attempts hedges have started.
    pub const fn copies(&self) -> u64 {
        self.copies
    }

    /// Returns how many attempts were answered by a copy first.
    pub const fn copies_won(&self) -> u64 {
        self.copies_won
    }

    /// Returns the calls that ended without success.
    pub fn gave_up(&self) -> u64 {
        let counts = self.give_ups.iter().map(|(_, count)| *count);
        counts.fold(0, u64::saturating_add)
    }

    /// Returns the same by reason, each that occurred.
    pub fn give_ups(&self) -> &[(GiveUpReason, u64)] {
        &self.give_ups
    }

    /// Returns the all delays before retries together.
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns the error of the last attempt that failed.
    pub const fn last_error(&self) -> Option<&LastError> {
        self.last_error.as_ref()
    }
}

impl LastError {
    /// Its type, as [`CallInfo::error_type`](crate::CallInfo::error_type) has it.
    pub const fn error_type(&self) -> &'static str {
        self.kind
    }

    /// In words: the first 500 characters.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// When the attempt ended, by the wall clock.
    pub const fn at(&self) -> SystemTime {
        self.at
    }
}
