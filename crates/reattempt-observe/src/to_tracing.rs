//! Events as lines of `tracing`, at the levels of the policy, and the span of an attempt.

mod blocked;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tracing::field::Empty;
use tracing::level_filters::LevelFilter;

use super::event::{CallInfo, Event};
use super::{scope, time};
use crate::breaker::{Change, State};
use reattempt_core::{GiveUpReason, RetryCause, Timestamp, process};
use reattempt_policy::Level;

pub use blocked::warn_in_async;

/// Operations whose give-ups are limited each by itself; those that come later share one limit.
const OPERATIONS: usize = 1000;

/// Returns whether somebody reads errors.
pub(super) fn reads_errors() -> bool {
    is_read(Level::Error)
}

/// Whether somebody reads anything at all.
#[inline]
pub(super) fn is_on() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}

/// Writes that the budget which an operation has by default refuses retries.
#[cold]
pub fn default_budget_is_empty(operation: &'static str) {
    tracing::warn!(
        target: "reattempt",
        operation,
        "retries end early: nearly all of them fail, and the budget that the operation has by default is empty; \
         `budget = ...` sets another one, and `budget = \"none\"` ends it"
    );
}

/// Writes the line of an event.
pub(super) fn report(event: &Event<'_>) {
    match *event {
        Event::AttemptFailed(facts) => {
            // Logged where its retry would be.
            let level = level_of_retry(facts).min(Level::Trace);
            Line::new("attempt failed", level, facts).write();
        }
        Event::Retry(facts, delay) => {
            let mut line = Line::new("retry", level_of_retry(facts), facts);
            line.delay = Some(delay.as_secs_f64());
            line.write();
        }
        Event::GaveUp(facts, reason) => {
            let mut line = Line::new("gave up", level_of_give_up(facts, reason), facts);
            line.reason = Some(reason.as_str());
            line.is_limited = true;
            line.write();
        }
        Event::Recovered(facts) => {
            Line::new("recovered", facts.telemetry().recovery, facts).write();
        }
        Event::Dropped(facts) => {
            let level = facts.telemetry().give_up.min(Level::Info);
            let mut line = Line::new("dropped", level, facts);
            line.is_limited = true;
            line.write();
        }
        Event::CopyStarted(facts, copy) => {
            let mut line = Line::new("copy started", facts.telemetry().first_retry, facts);
            line.copy = Some(copy);
            line.write();
        }
        Event::HedgeWon(facts, copy) => {
            let mut line = Line::new("hedge won", facts.telemetry().first_retry, facts);
            line.copy = Some(copy);
            line.write();
        }
        Event::BreakerChanged(change) => tell_breaker(change),
        Event::TimeoutIgnored(operation) => tracing::warn!(
            target: "reattempt", operation, "the timeout of the policy is not applied: `cut_off = false`"
        ),
        Event::InvalidPolicy {
            operation,
            violation,
            consequence,
        } => tracing::error!(
            target: "reattempt",
            operation,
            rule = violation.rule().as_str(),
            key = violation.key().map(reattempt_policy::Key::as_str),
            fix = violation.message(),
            "the policy breaks a rule, and {consequence}"
        ),
        Event::Reloaded { from } => {
            let from = from.map(|path| path.display().to_string());
            tracing::info!(target: "reattempt", from, "the configuration was loaded");
        }
        Event::ReloadRefused(error) => tracing::error!(
            target: "reattempt", faults = %error, "the configuration was refused, what held before holds on"
        ),
        Event::RetriesSwitched { on: true } => {
            tracing::info!(target: "reattempt", "retries are on again");
        }
        Event::RetriesSwitched { on: false } => {
            tracing::warn!(target: "reattempt", "retries are switched off");
        }
    }
}

fn level_of_retry(facts: &CallInfo<'_>) -> Level {
    match facts.attempt {
        1 => facts.telemetry().first_retry,
        _ => facts.telemetry().later_retry,
    }
}

fn level_of_give_up(facts: &CallInfo<'_>, reason: GiveUpReason) -> Level {
    let level = facts.telemetry().give_up;
    match reason {
        // Nothing was given up: an error of this kind is an answer.
        GiveUpReason::Permanent if facts.attempt == 1 => level.min(Level::Debug),
        _ => level,
    }
}

/// One line about a call.
struct Line<'a> {
    message: &'static str,
    level: Level,
    facts: &'a CallInfo<'a>,
    delay: Option<f64>,
    /// Which copy of a hedge; 0 for the attempt itself.
    copy: Option<u32>,
    reason: Option<&'static str>,
    /// Whether it is left out where its operation has just written such a line.
    is_limited: bool,
}

/// A place for each level, which `tracing` wants to know when it compiles.
macro_rules! at {
    ($level:expr, $($line:tt)*) => {
        match $level {
            Level::Off => {}
            Level::Trace => tracing::event!(target: "reattempt", tracing::Level::TRACE, $($line)*),
            Level::Debug => tracing::event!(target: "reattempt", tracing::Level::DEBUG, $($line)*),
            Level::Info => tracing::event!(target: "reattempt", tracing::Level::INFO, $($line)*),
            Level::Warn => tracing::event!(target: "reattempt", tracing::Level::WARN, $($line)*),
            Level::Error => tracing::event!(target: "reattempt", tracing::Level::ERROR, $($line)*),
        }
    };
}

impl<'a> Line<'a> {
    const fn new(message: &'static str, level: Level, facts: &'a CallInfo<'a>) -> Self {
        Self {
            message,
            level,
            facts,
            delay: None,
            copy: None,
            reason: None,
            is_limited: false,
        }
    }

    fn write(&self) {
        if !is_read(self.level) {
            return;
        }
        let facts = self.facts;
        let mut left_out = None;
        if self.is_limited {
            match may_report(facts.operation, facts.telemetry.give_up_interval) {
                Some(count) => left_out = (count > 0).then_some(count),
                None => return,
            }
        }
        let (message, delay, copy, reason) = (self.message, self.delay, self.copy, self.reason);
        // Of a call that has ended.
        let call_elapsed = facts.call_elapsed.filter(|_| delay.is_none());
        let call_elapsed = call_elapsed.map(|elapsed| elapsed.as_secs_f64());
        let started_at = facts.started_at().map(time::rfc3339);
        let ended_at = time::rfc3339(facts.ended_at);
        at!(
            self.level,
            {
                operation = facts.operation,
                request_id = facts.request_id,
                detail = facts.detail(),
                policy = facts.policy,
                attempt = facts.attempt,
                max = facts.max,
                delay,
                copy,
                started_at = started_at.as_deref(),
                ended_at = ended_at.as_str(),
                elapsed = facts.elapsed.map(|elapsed| elapsed.as_secs_f64()),
                call_elapsed,
                cause = facts.cause.map(RetryCause::as_str),
                "error.type" = facts.error_type(),
                "error.message" = facts.error_message(),
                reason,
                left_out,
            },
            "{message}"
        );
    }
}

/// Whether somebody reads lines of this level, before any is put together.
fn is_read(level: Level) -> bool {
    let level = match level {
        Level::Off => return false,
        Level::Trace => tracing::Level::TRACE,
        Level::Debug => tracing::Level::DEBUG,
        Level::Info => tracing::Level::INFO,
        Level::Warn => tracing::Level::WARN,
        Level::Error => tracing::Level::ERROR,
    };
    level <= LevelFilter::current()
}

fn tell_breaker(change: &Change) {
    let (message, level) = match change.to() {
        State::Open | State::ForcedOpen => ("breaker is open", Level::Warn),
        State::Closed | State::ForcedClosed => ("breaker is closed", Level::Info),
        State::HalfOpen => ("breaker is half open", Level::Info),
    };
    at!(
        level,
        {
            breaker = change.name(),
            from = change.from().as_str(),
            to = change.to().as_str(),
            cooldown = change.cooldown().map(|cooldown| cooldown.as_secs_f64()),
        },
        "{message}"
    );
}

/// Whether a give-up may be logged, by the clock by which deadlines travel; then how many were not since the last
/// one that was.
fn may_report(operation: &'static str, every: Duration) -> Option<u64> {
    static LINES: Mutex<Lines> = Mutex::new(Lines(BTreeMap::new()));

    // The lock goes first, so that the time of others is no later than the one read here.
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    lines.may_report(operation, every, process::now())
}

/// The last line of each operation, and how many were left out since.
struct Lines(BTreeMap<&'static str, (Timestamp, u64)>);

impl Lines {
    fn may_report(
        &mut self,
        operation: &'static str,
        every: Duration,
        now: Timestamp,
    ) -> Option<u64> {
        let is_known = self.0.contains_key(operation) || self.0.len() < OPERATIONS;
        let name = if is_known { operation } else { "" };
        let Some((last, left_out)) = self.0.get_mut(name) else {
            self.0.insert(name, (now, 0));
            return Some(0);
        };
        // A time before the last line is that of another clock.
        if *last <= now && now.since(*last) < every {
            *left_out = left_out.saturating_add(1);
            return None;
        }
        *last = now;
        Some(core::mem::take(left_out))
    }
}

/// Returns a span around an attempt, below the span of the caller.
pub(crate) fn attempt_span(
    operation: &'static str,
    attempt: u32,
    max: Option<u32>,
) -> tracing::Span {
    let span = tracing::info_span!(
        target: "reattempt",
        "attempt",
        operation,
        attempt = i64::from(attempt),
        max = max.map(i64::from),
        request_id = Empty,
        "http.request.resend_count" = Empty,
    );
    if !span.is_disabled() {
        span.record("request_id", scope::request_id().as_deref());
    }
    span
}

#[cfg(test)]
mod tests;
