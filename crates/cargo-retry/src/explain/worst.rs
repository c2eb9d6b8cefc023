//! The most that a call can cost, in words, and what no figure can say.

use reattempt_policy::Values;
use reattempt_storm::client::Client;
use reattempt_storm::clock::Virtual;
use retry_runtime::Verdict;
use retry_runtime::duration::Human;
use serde::Serialize;

use super::schedule::optional;
use crate::policy::Given;

/// The most that one call can cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Worst {
    /// `None`: without limit.
    attempts: Option<u32>,
    /// Attempts of the median call that start before the deadline when each fails at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    typical_attempts: Option<u32>,
    /// Attempts for each call while every one fails, with the copies of a hedge: as many times the load of calls
    /// without retries. `None`: without limit, or the copies are not known.
    load: Option<u32>,
    #[serde(rename = "sleeping_ns", serialize_with = "optional")]
    sleeping: Option<std::time::Duration>,
    /// To the start of the last attempt.
    #[serde(rename = "wall_ns", serialize_with = "optional")]
    wall: Option<std::time::Duration>,
}

/// Calls whose median is taken.
const CALLS: u32 = 501;

/// More attempts than this are not played.
const PLAYED: u32 = 256;

/// How many attempts of the median call start before the deadline, by the machine that runs in production.
fn typical(given: &Given) -> Option<u32> {
    let deadline = given.policy.values().deadline;
    let attempts = given.policy.attempts()?;
    if deadline.is_none() || given.is_decided() || attempts > PLAYED {
        return None;
    }
    let mut all: Vec<u32> = (0..CALLS)
        .map(|seed| {
            let client = Client::new(given.policy);
            let clock = Virtual::new(u64::from(seed).wrapping_add(1));
            client.run(&clock, || Err(Verdict::Transient)).0
        })
        .collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied()
}

impl Worst {
    pub(super) fn of(given: &Given) -> Self {
        let worst = given.policy.worst_case();
        Self {
            attempts: worst.attempts(),
            typical_attempts: typical(given),
            load: worst
                .attempts()
                .zip(given.copies)
                .map(|(attempts, copies)| attempts.saturating_mul(copies)),
            sleeping: worst.total_delay(),
            wall: worst.total_time(),
        }
    }

    /// A heading and what is to be said under it.
    pub(super) fn words(self, given: &Given) -> Vec<(&'static str, String)> {
        let Values {
            deadline, timeout, ..
        } = *given.policy.values();
        let attempts = match self.attempts {
            Some(1) => "1, no retry".to_owned(),
            Some(attempts) => match self.typical_attempts.filter(|it| *it < attempts) {
                Some(typical) => format!(
                    "{attempts} for each call, if all of them fail, of which usually {typical} fit into the deadline"
                ),
                None => format!("{attempts} for each call, if all of them fail"),
            },
            None if given.is_decided() => "as many as its strategy says".to_owned(),
            None if deadline.is_some() => "as many as start before the deadline".to_owned(),
            None => "no limit of its own; its budget bounds them".to_owned(),
        };
        let mut load = match (self.load, self.attempts) {
            (Some(1), _) => "that of the calls, never more".to_owned(),
            (Some(load), attempts) if Some(load) == attempts => {
                format!("{load} times that of the calls, while every call fails")
            }
            (Some(load), _) => format!(
                "{load} times that of the calls, while every call fails slowly: its `hedge` makes a copy of each attempt"
            ),
            (None, Some(attempts)) => format!(
                "{attempts} times that of the calls, while every call fails, times the copies of its `hedge`, which only the program knows"
            ),
            (None, None) => "no limit for a single call".to_owned(),
        };
        if self.load != Some(1)
            && let Some(share) = given.share
        {
            let times = trimmed(1.0 + share);
            load = format!(
                "{load}; the budget holds all calls together to {times} times and 1 retry a second for each process (its `floor`), once its reserve is spent"
            );
        } else if self.load != Some(1) && given.policy.is_budgeted() {
            load += "; its budget bounds that of all calls together";
        } else if self.load != Some(1) && given.policy.has_default_budget() {
            load += "; the budget that its calls share by default ends the retries of an outage after a second";
        }
        let sleeping = match self.sleeping {
            Some(sleeping) => format!("{} at most", Human(sleeping)),
            None if given.is_decided() => "as long as its strategy says".to_owned(),
            None => "no limit".to_owned(),
        };
        // Where time-outs end it before the deadline does, that is the bound.
        let ended = self
            .wall
            .zip(timeout)
            .map(|(wall, timeout)| (wall, wall.saturating_add(timeout)));
        let ended = ended.filter(|(_, end)| deadline.is_none_or(|deadline| *end <= deadline));
        let clock = match (deadline, ended) {
            (_, Some((wall, end))) => format!(
                "{} at most: the last attempt starts {} after the call at the latest",
                Human(end),
                Human(wall)
            ),
            (Some(deadline), None) => format!(
                "{} at most in async functions, where the deadline cuts the last attempt off; in others no attempt starts later, and the last one ends when it ends",
                Human(deadline)
            ),
            _ => match self.sleeping {
                Some(sleeping) if !sleeping.is_zero() => format!(
                    "{} of delays and however long the attempts take",
                    Human(sleeping)
                ),
                _ if given.is_decided() => "delays and attempts, which nothing bounds".to_owned(),
                _ => "however long the attempts take".to_owned(),
            },
        };
        vec![
            ("attempts", attempts),
            ("load", load),
            ("sleeping", sleeping),
            ("wall clock", clock),
        ]
    }
}

/// What stands in for values that are not known.
pub(super) fn stand_ins(given: &Given) -> Vec<String> {
    let unknown = given.unknown.iter();
    unknown
        .map(|(key, written)| match key.as_str() {
            "policy" if written.starts_with('"') => format!(
                "`policy = {written}` names a policy of a configuration: its keys hold over these. `--config FILE` explains it"
            ),
            "policy" => format!("`policy = {written}`: what it gives, the defaults stand in for here"),
            "strategy" => format!("`strategy = {written}`: it says how often and after which delays"),
            _ => format!(
                "`{key} = {written}`: only the compiler knows its value, here is the default{}",
                quoted(key, written)
            ),
        })
        .collect()
}

/// For words of ours that stand there without quotes.
fn quoted(key: &str, written: &str) -> String {
    let has_words = [
        "backoff",
        "jitter",
        "nested",
        "priority",
        "telemetry",
        "max",
    ]
    .contains(&key);
    if has_words && written.chars().all(char::is_lowercase) {
        format!("; if a word is meant, write `{key} = \"{written}\"`")
    } else {
        String::new()
    }
}

/// What nobody can know from the keys.
pub(super) fn not_known(given: &Given) -> Vec<String> {
    let Values {
        deadline,
        timeout,
        max_retry_after,
        ..
    } = *given.policy.values();
    let mut lines = Vec::new();
    if timeout.is_none() {
        lines.push(if deadline.is_none() {
            "how long an attempt takes: without `timeout` and `deadline` nothing bounds it, and each start is that much later".to_owned()
        } else {
            "how long an attempt takes: without `timeout` one may use up all that the deadline leaves".to_owned()
        });
    }
    if given.policy.attempts() == Some(1) {
        return lines;
    }
    lines.push(format!(
        "a delay that an error asks for: it takes the place of the one here, up to {} (`max_retry_after`) and 10 % more",
        Human(max_retry_after)
    ));
    for key in &given.beside {
        let effect = match *key {
            "breaker" => "it turns calls away while too many fail, and ends retries",
            "bulkhead" => "it turns attempts away while too many run",
            "throttle" => "it makes attempts wait, or turns them away",
            "hedge" => "how many attempts are slow enough for a copy, which adds to the load",
            _ => "the delays that it asks for",
        };
        lines.push(format!("`{key}`: {effect}"));
    }
    lines
}

/// A number without zeros at its end.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
