//! The statistics as the service serves them, and what changed since they were read before.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use serde::Deserialize;

use super::http::Address;

/// Of one process, since its start.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Stats {
    /// As in RFC 3339.
    pub(super) at: String,
    pub(super) operations: Vec<Operation>,
    #[serde(default)]
    pub(super) breakers: Vec<Breaker>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Operation {
    #[serde(rename = "operation")]
    pub(super) name: String,
    /// That did not succeed at once.
    pub(super) calls: u64,
    pub(super) failed_attempts: u64,
    pub(super) retries: u64,
    #[serde(default)]
    pub(super) causes: BTreeMap<String, u64>,
    pub(super) recovered: u64,
    pub(super) gave_up: u64,
    #[serde(default)]
    pub(super) dropped: u64,
    #[serde(default)]
    pub(super) give_ups: BTreeMap<String, u64>,
    #[serde(default)]
    pub(super) last_error: Option<LastError>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct LastError {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) message: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Breaker {
    #[serde(rename = "breaker")]
    pub(super) name: String,
    pub(super) state: String,
    /// In seconds.
    #[serde(default)]
    pub(super) state_time: Option<f64>,
    pub(super) calls: u64,
    pub(super) failures: u64,
    #[serde(default)]
    pub(super) slow_calls: u64,
}

impl Stats {
    pub(super) fn read(body: &[u8], address: &Address) -> Result<Self, Box<dyn Error>> {
        serde_json::from_slice(body).map_err(|fault| {
            let what = if body.trim_ascii_start().starts_with(b"<") {
                "serves a page, not the JSON of the statistics".to_owned()
            } else {
                format!("does not serve the statistics as JSON ({fault})")
            };
            format!(
                "{address} {what}; serve `serde_json::to_string(&reattempt::observe::stats())` at a path of its own, and give that path"
            )
            .into()
        })
    }

    /// An operation of that name.
    pub(super) fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations.iter().find(|it| it.name == name)
    }
}

/// What happened to an operation since the statistics before, for each second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Rates {
    pub(super) retries: f64,
    pub(super) gave_up: f64,
}

impl Rates {
    pub(super) fn of(now: &Operation, before: &Stats, time: Duration) -> Self {
        let before = before.operation(&now.name);
        let rate = |count: fn(&Operation) -> u64| {
            let (now, before) = (count(now), before.map_or(0, count));
            // A process that started again counts from 0.
            let new = now.checked_sub(before).unwrap_or(now);
            #[expect(clippy::cast_precision_loss, reason = "a rate is shown with a decimal")]
            let new = new as f64;
            new / time.as_secs_f64().max(1e-3)
        };
        Self {
            retries: rate(|it| it.retries),
            gave_up: rate(|it| it.gave_up),
        }
    }
}
