//! Statistics for machines. The keys are part of the interface.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::snapshot::{LastError, OperationStats, Stats};
use crate::breaker::BreakerStats;
use crate::time::rfc3339;
use reattempt_core::{GiveUpReason, RetryCause};

/// `{"at": ..., "operations": [...], "breakers": [...]}`; times are texts as in RFC 3339, durations numbers of seconds.
impl Serialize for Stats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut stats = serializer.serialize_struct("Stats", 3)?;
        stats.serialize_field("at", &rfc3339(self.at))?;
        stats.serialize_field("operations", &self.operations)?;
        stats.serialize_field("breakers", &Breakers(&self.breakers))?;
        stats.end()
    }
}

/// `{"operation": "payments.charge", "calls": 3, "failed_attempts": 5, "retries": 4, "causes": {"throttled": 3, "transient": 1}, "recovered": 2, "gave_up": 1, "dropped": 0,
/// "copies": 0, "copies_won": 0,
/// "give_ups": {"deadline": 1}, "delay": 0.75, "last_error": {...} or null}`.
impl Serialize for OperationStats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut operation = serializer.serialize_struct("OperationStats", 13)?;
        operation.serialize_field("operation", self.name)?;
        operation.serialize_field("calls", &self.calls())?;
        operation.serialize_field("failed_attempts", &self.failed_attempts)?;
        operation.serialize_field("retries", &self.retries)?;
        operation.serialize_field("causes", &ByWord(&self.causes, RetryCause::as_str))?;
        operation.serialize_field("recovered", &self.recoveries)?;
        operation.serialize_field("gave_up", &self.gave_up())?;
        operation.serialize_field("dropped", &self.dropped)?;
        operation.serialize_field("copies", &self.copies)?;
        operation.serialize_field("copies_won", &self.copies_won)?;
        operation.serialize_field("give_ups", &ByWord(&self.give_ups, GiveUpReason::as_str))?;
        operation.serialize_field("delay", &self.delay.as_secs_f64())?;
        operation.serialize_field("last_error", &self.last_error)?;
        operation.end()
    }
}

/// Each as `{"breaker": "payments", "state": "open", "state_time": 2.5 or null, "calls": 20, "failures": 12,
/// "slow_calls": 0}`.
struct Breakers<'a>(&'a [BreakerStats]);

impl Serialize for Breakers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(OneBreaker))
    }
}

struct OneBreaker<'a>(&'a BreakerStats);

impl Serialize for OneBreaker<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(stats) = self;
        let time = stats.state_time().map(|time| time.as_secs_f64());
        let mut breaker = serializer.serialize_struct("BreakerStats", 6)?;
        breaker.serialize_field("breaker", stats.name())?;
        breaker.serialize_field("state", stats.state().as_str())?;
        breaker.serialize_field("state_time", &time)?;
        breaker.serialize_field("calls", &stats.calls())?;
        breaker.serialize_field("failures", &stats.failures())?;
        breaker.serialize_field("slow_calls", &stats.slow_calls())?;
        breaker.end()
    }
}

/// Counts by the word of what is counted.
struct ByWord<'a, K>(&'a [(K, u64)], fn(K) -> &'static str);

impl<K: Copy> Serialize for ByWord<'_, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(counts, word) = self;
        serializer.collect_map(counts.iter().map(|(kind, count)| (word(*kind), count)))
    }
}

/// `{"type": "shop::Error", "message": "503" or null, "at": ...}`.
impl Serialize for LastError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut error = serializer.serialize_struct("LastError", 3)?;
        error.serialize_field("type", self.kind)?;
        error.serialize_field("message", &self.message)?;
        error.serialize_field("at", &rfc3339(self.at))?;
        error.end()
    }
}
