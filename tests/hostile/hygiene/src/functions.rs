//! Sync functions, every key, every parameter named like something generated.

use ::core::prelude::v1::derive;
use ::core::time::Duration as Time;
use ::reattempt::retry as again;

use crate::traps::*;

type Answer<T> = ::core::result::Result<T, Fault>;

#[derive(
    ::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::cmp::PartialEq,
)]
pub enum Fault {
    Busy,
    Wrong,
    Over,
}

impl ::reattempt::Classify for Fault {
    fn classify(&self) -> ::reattempt::Verdict {
        match self {
            Self::Busy => ::reattempt::Verdict::Transient,
            _ => ::reattempt::Verdict::Permanent,
        }
    }
}

impl ::core::convert::From<::reattempt::GaveUp> for Fault {
    fn from(_: ::reattempt::GaveUp) -> Self {
        Self::Over
    }
}

// The answer is the sum of the parameters, after `calls` failures.
#[again(
    max = 4,
    backoff = "exp",
    base = "1ms",
    first = "2ms",
    factor = 1.5,
    cap = "5ms",
    jitter = "equal",
    fast_first,
    deadline = "30s",
    max_retry_after = "1s",
    on(Fault::Busy),
    except(Fault::Wrong),
    until = |value| *value > operation,
    fallback = |error| ::core::result::Result::Err(error),
    before_retry = |retry| before.set(before.get() + retry.attempt()),
    on_retry = |retry| seen.set(seen.get() + retry.attempt()),
    context = attempt,
    clone(text),
    name = "hygiene",
)]
pub fn every_key(
    call: &::core::cell::Cell<::core::primitive::u32>,
    seen: &::core::cell::Cell<::core::primitive::u32>,
    before: &::core::cell::Cell<::core::primitive::u32>,
    outcome: ::core::primitive::u32,
    cause: ::core::primitive::u32,
    until: ::core::primitive::u32,
    started: ::core::primitive::u32,
    operation: ::core::primitive::u32,
    text: ::std::string::String,
) -> ::core::result::Result<::core::primitive::u32, Fault> {
    let number = attempt.number();
    let end = ::std::string::String::into_bytes(text);
    call.set(call.get() + 1);
    if number < 3 {
        return ::core::result::Result::Err(Fault::Busy);
    }
    ::core::result::Result::Ok(
        outcome + cause + until + started + end.len() as ::core::primitive::u32 * 10,
    )
}

// The hooks see the parameters, not what the loop calls the same.
#[again(max = 3, backoff = "none", on = |e: &Fault| judged(*e, error, retry, outcome, call, cause, end), on_retry = |r| seen.set(r.attempt() + error + retry + outcome + call + cause + end))]
pub fn parameters_in_hooks(
    seen: &::core::cell::Cell<::core::primitive::u32>,
    error: ::core::primitive::u32,
    retry: ::core::primitive::u32,
    outcome: ::core::primitive::u32,
    call: ::core::primitive::u32,
    cause: ::core::primitive::u32,
    end: ::core::primitive::u32,
) -> Answer<()> {
    ::core::result::Result::Err(Fault::Busy)
}

fn judged(
    fault: Fault,
    error: ::core::primitive::u32,
    retry: ::core::primitive::u32,
    outcome: ::core::primitive::u32,
    call: ::core::primitive::u32,
    cause: ::core::primitive::u32,
    end: ::core::primitive::u32,
) -> ::core::primitive::bool {
    fault == Fault::Busy && error + retry + outcome + call + cause + end == 6
}

// The strategy sees the parameters, too.
#[again(on(_), strategy = decided(state + step))]
pub fn parameters_in_a_strategy(
    calls: &::core::cell::Cell<::core::primitive::u32>,
    state: ::core::primitive::u32,
    step: ::core::primitive::u32,
) -> Answer<()> {
    calls.set(calls.get() + state + step);
    ::core::result::Result::Err(Fault::Busy)
}

fn decided(most: ::core::primitive::u32) -> impl ::reattempt::Strategy<Fault> {
    ::reattempt::strategy::from_fn(
        move |failure: &::reattempt::strategy::FailedAttempt<'_, Fault>| {
            if failure.attempt() == most {
                ::reattempt::strategy::Decision::Stop
            } else {
                ::reattempt::strategy::Decision::Retry(Time::ZERO)
            }
        },
    )
}

#[again(max = 2, backoff = "none")]
pub fn classified(answer: ::core::primitive::u32) -> Answer<::core::primitive::u32> {
    if answer == 0 {
        ::core::result::Result::Err(Fault::Wrong)?;
    }
    ::core::result::Result::Ok(answer)
}

const TRIES: ::core::primitive::u32 = 2;
const SHORT: Time = Time::from_micros(1);
const SHARED: ::reattempt::Policy = ::reattempt::Policy::new().max(TRIES).base(SHORT);

#[again(max = TRIES, base = SHORT, cap = SHORT, jitter = ::reattempt::Jitter::None, on(_))]
pub fn constants(value: ::core::primitive::u32) -> Answer<::core::primitive::u32> {
    ::core::result::Result::Ok(value)
}

#[again(policy = SHARED, max = 3, on(_))]
pub fn shared(policy: ::core::primitive::u32) -> Answer<::core::primitive::u32> {
    ::core::result::Result::Ok(policy)
}

#[again(policy = *policy, on(_))]
pub fn at_run_time(
    policy: &::reattempt::Policy,
    operation: &::core::cell::Cell<::core::primitive::u32>,
) -> Answer<::core::primitive::u32> {
    operation.set(operation.get() + 1);
    ::core::result::Result::Err(Fault::Busy)
}

#[again(max = 2, backoff = "none", on(_), map_err = |end: ::reattempt::RetryError<Fault>| (form, end.attempts()))]
pub fn mapped(
    form: ::core::primitive::u32,
) -> ::core::result::Result<(), (::core::primitive::u32, ::core::primitive::u32)> {
    ::core::result::Result::Err(Fault::Wrong)
}

#[again(max = 2, backoff = |retry| SHORT.saturating_mul(retry), on(_))]
pub fn own_backoff() -> ::core::option::Option<()> {
    ::core::option::Option::None
}

#[again(max = 2, backoff = "none", until = |value| *value == error)]
pub fn polled(
    error: ::core::primitive::u32,
    value: ::core::primitive::u32,
) -> ::core::primitive::u32 {
    error + value
}

#[again(max = 2, backoff = "none", on(_))]
pub fn failed(
    end: ::core::primitive::u32,
) -> ::core::result::Result<::core::primitive::u32, ::reattempt::RetryError<Fault>> {
    if end == 0 {
        return ::core::result::Result::Err(Fault::Busy);
    }
    ::core::result::Result::Ok(end)
}

#[again(max = 2, backoff = "none", on(_), timer = timer)]
pub fn own_timer<R: ::reattempt::timer::BlockingTimer>(timer: R) -> Answer<()> {
    ::core::result::Result::Ok(())
}

// Generic parameters with the names that generic code likes.
#[again(max = 2, backoff = "none", on(_))]
pub fn generic<'a, R, F, E, S, const N: ::core::primitive::usize>(
    value: &'a [R; N],
    error: F,
    state: &S,
) -> ::core::result::Result<&'a R, E>
where
    F: ::core::ops::Fn(&S) -> E,
{
    match value.first() {
        ::core::option::Option::Some(first) => ::core::result::Result::Ok(first),
        ::core::option::Option::None => ::core::result::Result::Err(error(state)),
    }
}

static BREAKER: ::reattempt::Breaker = ::reattempt::Breaker::count_window(20);
static THROTTLE: ::reattempt::Throttle = ::reattempt::Throttle::cubic();

// The limits, and parameters of the names that they have in the loop.
#[again(max = 4, base = "1us", budget = 0.5, breaker = &BREAKER, throttle = &THROTTLE, on(_), on_retry = |_| limits.set(limits.get() + breaker + throttle + budget))]
pub fn limited(
    limits: &::core::cell::Cell<::core::primitive::u32>,
    breaker: ::core::primitive::u32,
    throttle: ::core::primitive::u32,
    budget: ::core::primitive::u32,
    wait: ::core::primitive::u32,
) -> Answer<::core::primitive::u32> {
    if limits.get() < 20 {
        return ::core::result::Result::Err(Fault::Busy);
    }
    ::core::result::Result::Ok(breaker + throttle + budget + wait)
}

// The same, borrowed by expressions that name the parameters.
#[again(max = 4, base = "1us", budget = own(limits), breaker = turns(breaker), hedge = "10ms", on(_))]
pub async fn borrowed(
    limits: &::reattempt::Budget,
    breaker: &::reattempt::Breaker,
    make: ::core::primitive::u32,
    first: ::core::primitive::u32,
) -> Answer<::core::primitive::u32> {
    ::core::result::Result::Ok(make + first)
}

fn own(budget: &::reattempt::Budget) -> &::reattempt::Budget {
    budget
}

fn turns(breaker: &::reattempt::Breaker) -> &::reattempt::Breaker {
    breaker
}
