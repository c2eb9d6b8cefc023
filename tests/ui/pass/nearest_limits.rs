//! The nearest limits of one attempt, and calls inside calls, that are accepted.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use reattempt::{GaveUp, policy::Nested, Policy, RetryError, retry, retry_block};

type Answer = Result<u32, RetryError<String>>;

const POLICY: Policy = Policy::new().timeout(Duration::from_secs(1));
const WITHOUT: Policy = Policy::new();
const NESTED: Nested = Nested::Multiply;

#[derive(Debug)]
struct Own;

impl From<GaveUp> for Own {
    fn from(_: GaveUp) -> Self {
        Self
    }
}

#[retry(timeout = "1ms", on(_))]
async fn shortest() -> Answer {
    Ok(1)
}

#[retry(timeout = "999ms", deadline = "1s", on(_))]
async fn just_below_deadline() -> Answer {
    Ok(1)
}

#[retry(max = 1, timeout = "1s", deadline = "1s")]
async fn all_the_time_for_one_attempt() -> Answer {
    Ok(1)
}

#[retry(timeout = "24h", on(_))]
async fn longest() -> Answer {
    Ok(1)
}

#[retry(policy = POLICY, on(_))]
async fn inherited() -> Answer {
    Ok(1)
}

#[retry(policy = POLICY, max = 2)]
async fn inherited_by_an_option() -> Option<u32> {
    Some(1)
}

#[retry(policy = POLICY, on(_))]
async fn inherited_by_an_own_error() -> Result<u32, Own> {
    Ok(1)
}

// Without a limit nothing has to be said.
#[retry(policy = WITHOUT, on(_))]
async fn inherited_without_a_limit() -> Result<u32, String> {
    Ok(1)
}

#[retry(policy = WITHOUT, on(_))]
async fn inherited_by_a_generic_error<E>(value: u32, _: fn(E)) -> Result<u32, E> {
    Ok(value)
}

#[retry(policy = POLICY, on(_))]
async fn inherited_by_a_bounded_error<E: From<GaveUp>>(
    value: u32,
    _: fn(E),
) -> Result<u32, E> {
    Ok(value)
}

async fn inherited_by_a_block() -> Answer {
    retry_block!(policy = POLICY, on(_), async || -> Answer { Ok(1) }).await
}

#[retry(timeout = "1s", until = |value| value.is_some())]
async fn polled() -> Option<u32> {
    Some(1)
}

#[retry(timeout = "1s", idempotent = false, verify = async |_| None, on(_))]
async fn verified() -> Result<u32, Own> {
    Ok(1)
}

#[retry(nested = "collapse", on(_))]
fn collapsed() -> Answer {
    Ok(1)
}

#[retry(max = 2, nested = NESTED, on(_))]
fn multiplied() -> Answer {
    Ok(1)
}

/// What a future answers that never waits.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}

fn main() {
    for answer in [
        at_once(shortest()),
        at_once(just_below_deadline()),
        at_once(all_the_time_for_one_attempt()),
        at_once(longest()),
        at_once(inherited()),
        at_once(inherited_by_a_block()),
        Some(collapsed()),
        Some(multiplied()),
    ] {
        assert!(matches!(answer, Some(Ok(1))));
    }
    assert_eq!(at_once(inherited_by_an_option()), Some(Some(1)));
    assert_eq!(at_once(polled()), Some(Some(1)));
    assert!(matches!(at_once(inherited_by_an_own_error()), Some(Ok(1))));
    assert!(matches!(at_once(verified()), Some(Ok(1))));
    assert_eq!(at_once(inherited_without_a_limit()), Some(Ok(1)));
    let bounded = inherited_by_a_bounded_error(1, |_: Own| ());
    assert!(matches!(at_once(bounded), Some(Ok(1))));
    let generic = inherited_by_a_generic_error(1, |_: u8| ());
    assert_eq!(at_once(generic), Some(Ok(1)));
}
