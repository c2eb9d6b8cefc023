//! Hedges, breakers and throttles as keys.

use std::time::Duration;

use reattempt::{Hedge, RetryError, retry, strategy::Decision};
use reqwest::Method;

use super::Answer;
use super::http::attempt;
use crate::calls::{Call, Wrong};
use crate::log::{self, Hook, What};
use crate::shared_budgets::{ADAPTIVE, BREAKERS, CUBIC};

pub(crate) const COPY_AFTER: Duration = Duration::from_millis(30);
pub(crate) const COPIES: u32 = 2;
const HEDGE: Hedge = Hedge::after(COPY_AFTER).max(COPIES);

#[retry(policy = call.policy, hedge = HEDGE, context = number)]
pub(super) async fn search(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::GET, "search", call, &number).await
}

#[retry(policy = call.policy, breaker = BREAKERS.get(&call.spec.key), context = number)]
pub(super) async fn guarded(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::GET, "guard", call, &number).await
}

#[retry(
    policy = call.policy,
    breaker = BREAKERS.get(&call.spec.key),
    context = number,
    fallback = async |failed| answered(call, failed).await
)]
pub(super) async fn guarded_fallback(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::GET, "guard", call, &number).await
}

/// Half of the calls have another answer, the others fail as they did.
async fn answered(call: &Call, failed: RetryError<Wrong>) -> Answer {
    let _hook = call.hook(Hook::Fallback);
    tokio::time::sleep(Duration::from_millis(2)).await;
    if (call.id >> 16).is_multiple_of(2) {
        Ok(())
    } else {
        Err(failed)
    }
}

#[retry(policy = call.policy, throttle = &ADAPTIVE, context = number)]
pub(super) async fn adaptive(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::GET, "limited", call, &number).await
}

#[retry(policy = call.policy, throttle = &CUBIC, context = number)]
pub(super) async fn cubic(call: &Call) -> Result<(), RetryError<Wrong>> {
    log::note(0, What::Rate(CUBIC.fill_rate()));
    let answer = attempt(Method::GET, "quota", call, &number).await;
    log::note(0, What::Rate(CUBIC.fill_rate()));
    answer
}

/// All of it at once.
#[retry(
    policy = call.policy,
    breaker = BREAKERS.get(&call.spec.key),
    throttle = &ADAPTIVE,
    hedge = HEDGE,
    context = number,
    on_retry = |_| (),
    before_retry = async |_| drop(call.hook(Hook::BeforeRetry)),
    fallback = async |failed| answered(call, failed).await
)]
pub(super) async fn everything(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::GET, "guard", call, &number).await
}

/// Every third failure is the last.
#[retry(
    strategy = |failure| match failure.attempt() {
        3 => Decision::Stop,
        _ => Decision::Retry(DECIDED),
    },
    max = 6,
    deadline = "800ms",
    context = number
)]
pub(super) async fn decided(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::GET, "value", call, &number).await
}

pub(crate) const DECIDED: Duration = Duration::from_millis(8);
