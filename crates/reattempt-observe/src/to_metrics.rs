//! Events as counters, through the facade `metrics`.

use std::sync::Once;

use metrics::{Unit, counter, gauge, histogram};

use super::event::{CallInfo, Event};
use crate::breaker::State;

/// Describes the metrics to the recorder that is installed: their units, and a sentence about each.
///
/// The first event does that by itself. Call it for a recorder that is installed after something has failed.
pub fn describe_metrics() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};

    describe_counter!(
        "retry_calls_total",
        Unit::Count,
        "Calls that were retried or gave up, by how they ended; what succeeds at once is not counted"
    );
    describe_counter!(
        "retry_attempts_total",
        Unit::Count,
        "Attempts that failed, and those that succeeded after a failure"
    );
    describe_counter!(
        "retry_give_ups_total",
        Unit::Count,
        "Calls that ended without success, by the reason"
    );
    describe_counter!(
        "retry_failures_total",
        Unit::Count,
        "Failed attempts that are worth another one, by the cause: what they say about the service"
    );
    describe_counter!(
        "retry_copies_total",
        Unit::Count,
        "Copies of attempts that hedges have started"
    );
    describe_counter!(
        "retry_hedge_wins_total",
        Unit::Count,
        "Attempts with copies that have an answer, by whose it is: that of the attempt itself or of a copy"
    );
    describe_histogram!(
        "retry_delay_seconds",
        Unit::Seconds,
        "Delays before retries"
    );
    describe_gauge!(
        "retry_budget_balance",
        Unit::Count,
        "Tokens that are left in the budget of the operation, when it was last asked"
    );
    describe_gauge!(
        "retry_enabled",
        "Whether retries are on: 0 since they were switched off, 1 since they were switched on again"
    );
    describe_counter!(
        "retry_reloads_total",
        "Configurations that were loaded, and those that were refused"
    );
    describe_gauge!(
        "retry_breaker_state",
        "State of a circuit breaker: 0 closed, 1 half open, 2 open"
    );
}

/// Counts an event.
pub(super) fn report(event: &Event<'_>) {
    static DESCRIBED: Once = Once::new();
    // A recorder that panicked is asked again.
    DESCRIBED.call_once_force(|_| describe_metrics());

    match *event {
        Event::AttemptFailed(facts) => {
            count_attempt(facts);
            count_failure(facts);
        }
        Event::Retry(facts, delay) => {
            histogram!("retry_delay_seconds", "operation" => facts.operation).record(delay);
            show_budget(facts);
        }
        Event::GaveUp(facts, reason) => {
            count_call(facts, "gave_up");
            counter!(
                "retry_give_ups_total",
                "operation" => facts.operation, "reason" => reason.as_str()
            )
            .increment(1);
            show_budget(facts);
        }
        Event::Recovered(facts) => {
            count_attempt(facts);
            count_call(facts, "recovered");
        }
        Event::Dropped(facts) => count_call(facts, "dropped"),
        Event::CopyStarted(facts, _) => {
            counter!("retry_copies_total", "operation" => facts.operation).increment(1);
        }
        Event::HedgeWon(facts, copy) => {
            let winner = if copy == 0 { "attempt" } else { "copy" };
            counter!(
                "retry_hedge_wins_total",
                "operation" => facts.operation, "winner" => winner
            )
            .increment(1);
        }
        Event::BreakerChanged(change) => {
            gauge!("retry_breaker_state", "breaker" => change.name().to_owned())
                .set(number(change.to()));
        }
        // Reported once, so a number says nothing.
        Event::TimeoutIgnored(_) | Event::InvalidPolicy { .. } => {}
        Event::Reloaded { .. } => count_reload("loaded"),
        Event::ReloadRefused(_) => count_reload("refused"),
        Event::RetriesSwitched { on } => gauge!("retry_enabled").set(if on { 1.0 } else { 0.0 }),
    }
}

fn count_reload(result: &'static str) {
    counter!("retry_reloads_total", "result" => result).increment(1);
}

fn count_attempt(facts: &CallInfo<'_>) {
    counter!("retry_attempts_total", "operation" => facts.operation).increment(1);
}

fn count_failure(facts: &CallInfo<'_>) {
    // A budget or a breaker may leave no retry to count it by.
    if let Some(cause) = facts.cause {
        counter!("retry_failures_total", "operation" => facts.operation, "cause" => cause.as_str())
            .increment(1);
    }
}

fn count_call(facts: &CallInfo<'_>, result: &'static str) {
    counter!("retry_calls_total", "operation" => facts.operation, "result" => result).increment(1);
}

fn show_budget(facts: &CallInfo<'_>) {
    if let Some(balance) = facts.budget_balance {
        gauge!("retry_budget_balance", "operation" => facts.operation).set(balance);
    }
}

/// What it does with calls, whoever has decided it.
const fn number(state: State) -> f64 {
    match state {
        State::Closed | State::ForcedClosed => 0.0,
        State::HalfOpen => 1.0,
        State::Open | State::ForcedOpen => 2.0,
    }
}

#[cfg(test)]
mod tests;
