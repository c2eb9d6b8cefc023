//! The nearest policies that are still accepted, one beside each rule.

use std::time::Duration;

use reattempt::{strategy::Decision, strategy::FailedAttempt, GaveUp, Policy, RetryError, retry, retry_block, strategy};

type Answer = Result<u32, String>;

const ONE: u32 = 1;
const POLICY: Policy = Policy::new().max(5);

#[retry(max = 1)]
fn one_attempt() -> Answer {
    Ok(1)
}

#[retry(max = ONE, on(_))]
fn one_constant_attempt() -> Answer {
    Ok(1)
}

#[retry(max = 20, on(_))]
fn twenty_attempts() -> Answer {
    Ok(1)
}

#[retry(max = 21, deadline = "30s", on(_))]
fn more_with_a_deadline() -> Answer {
    Ok(1)
}

#[retry(max = "unlimited", deadline = "30s", on(_))]
fn unlimited_with_a_deadline() -> Answer {
    Ok(1)
}

#[retry(max = "unlimited", on(_))]
fn unlimited_with_delays_that_grow() -> Answer {
    Ok(1)
}

#[retry(max = 21, backoff = "fixed", base = "1s", jitter = "none", on(_))]
fn more_with_long_delays() -> Answer {
    Ok(1)
}

#[retry(max = 4, base = "1ms", on(_))]
fn four_with_the_shortest_delay() -> Answer {
    Ok(1)
}

#[retry(deadline = "100ms", on(_))]
fn deadline_of_the_first_delay_at_most() -> Answer {
    Ok(1)
}

#[retry(max = 3, factor = 3.0, fast_first, on(_))]
fn factor_of_the_second_retry() -> Answer {
    Ok(1)
}

#[retry(max = 3, backoff = "none", on(_))]
fn three_without_delay() -> Answer {
    Ok(1)
}

#[retry(base = "1ns", cap = "24h", max_retry_after = "24h", on(_))]
fn extreme_durations() -> Answer {
    Ok(1)
}

#[retry(base = "1s", cap = "1s", on(_))]
fn base_is_cap() -> Answer {
    Ok(1)
}

#[retry(base = "999ms", deadline = "1s", max = 2, on(_))]
fn base_just_below_deadline() -> Answer {
    Ok(1)
}

#[retry(max = 4, base = "1s", backoff = "fixed", jitter = "none", deadline = "3001ms", on(_))]
fn last_attempt_just_starts() -> Answer {
    Ok(1)
}

#[retry(factor = 1.0001, jitter = 1.0, on(_))]
fn slow_growth() -> Answer {
    Ok(1)
}

#[retry(factor = 2, jitter = 0, fast_first = false, on(_),)]
fn whole_numbers_and_a_comma_at_the_end() -> Answer {
    Ok(1)
}

#[retry(policy = POLICY, deadline = "101ms", on(_))]
fn overridden() -> Answer {
    Ok(1)
}

#[retry(policy = POLICY, max = 3, backoff = "none", on(_))]
fn replaced() -> Answer {
    Ok(1)
}

#[retry(name = "payments/charge-2.v1", on(_))]
fn named() -> Answer {
    Ok(1)
}

// A sync function is not cut off, so its error needs no `From<GaveUp>`.
#[retry(deadline = "3s", on(_))]
fn deadline() -> Answer {
    Ok(1)
}

#[retry(max = ONE, on(_), retry_after = || None::<Duration>)]
fn one_constant_attempt_and_a_delay() -> Answer {
    Ok(1)
}

// Its patience is that for the delay asked for.
#[retry(backoff = "none", max_retry_after = "5s", on(_), retry_after = |_| Some(Duration::ZERO))]
fn delay_of_the_error_alone() -> Answer {
    Ok(1)
}

#[retry(until = |value| *value > 0, retry_after = |_| Duration::ZERO)]
fn polled_with_an_error() -> Result<u32, GaveUp> {
    Ok(1)
}

#[retry(retry_after = |_| Duration::ZERO)]
fn option() -> Option<u32> {
    Some(1)
}

#[retry(max = 2, until = |value| *value > 0)]
fn polled() -> u32 {
    1
}

#[retry(max = 2, until = |()| true)]
fn nothing_polled() {}

#[retry]
fn by_default() -> Option<u32> {
    Some(1)
}

#[retry()]
fn with_parentheses() -> Option<u32> {
    Some(1)
}

#[retry(on(_), strategy = |_| Decision::Stop)]
fn decided() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), max = 21, deadline = "50ms", max_retry_after = "1s", nested = "multiply", strategy = strategy::from_fn(stop))]
async fn decided_later() -> Result<u32, RetryError<String>> {
    Ok(1)
}

fn stop(_: &FailedAttempt<'_, String>) -> Decision {
    Decision::Stop
}

fn main() {
    let _ = decided_later();
    for answer in [
        decided(),
        one_attempt(),
        one_constant_attempt(),
        twenty_attempts(),
        more_with_a_deadline(),
        unlimited_with_a_deadline(),
        unlimited_with_delays_that_grow(),
        more_with_long_delays(),
        four_with_the_shortest_delay(),
        deadline_of_the_first_delay_at_most(),
        factor_of_the_second_retry(),
        three_without_delay(),
        extreme_durations(),
        base_is_cap(),
        base_just_below_deadline(),
        last_attempt_just_starts(),
        slow_growth(),
        whole_numbers_and_a_comma_at_the_end(),
        overridden(),
        replaced(),
        named(),
        deadline(),
        one_constant_attempt_and_a_delay(),
        delay_of_the_error_alone(),
        polled_with_an_error().map_err(|_| String::new()),
        retry_block!({ Ok::<u32, std::io::Error>(1) }).map_err(|_| String::new()),
    ] {
        assert_eq!(answer, Ok(1));
    }
    assert_eq!(polled(), 1);
    nothing_polled();
    assert_eq!((by_default(), with_parentheses(), option()), (Some(1), Some(1), Some(1)));
}
