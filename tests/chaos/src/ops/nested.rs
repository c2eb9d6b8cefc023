//! Retries inside retries, in this process and in the server.

use reattempt::{RetryError, Verdict, deadline, observe, retry};
use reqwest::Method;

use super::http::{ask, attempt};
use super::{Answer, Op, SHORT};
use crate::calls::{Call, Wrong};
use crate::log::Id;
use crate::policies;
use crate::random::Random;

#[retry(policy = call.policy, context = number)]
pub(super) async fn outer(call: &Call) -> Result<(), RetryError<Wrong>> {
    let body = call.attempt(number.number());
    let below = call.below(Op::Inner, |_, policy| policy);
    let request = observe::request(below.id.to_string(), inner(&below));
    let answer = request.await;
    below.ended(&answer);
    body.end(answer.map_err(|failed| Wrong::of(&failed)))
}

#[retry(policy = call.policy, context = number)]
async fn inner(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::GET, "value", call, &number).await
}

/// The server makes calls below the deadline of this one.
#[retry(policy = call.policy, context = number)]
pub(super) async fn relay(call: &Call) -> Result<(), RetryError<Wrong>> {
    let body = call.attempt(number.number());
    let answer = ask(Method::GET, "relay", call, number.number()).await;
    body.end(answer.map(drop))
}

/// What the server does for `relay`: it has no deadline but that of the request.
pub(crate) async fn downstream(id: Id) -> Answer {
    let mut random = Random::of(id, &[8]);
    let (mut spec, policy) = policies::draw(&mut random, Op::RelayInner);
    spec.within = deadline::remaining();
    let call = Call::begin(id, spec, policy);
    let request = observe::request(call.id.to_string(), flaky(&call));
    let answer = request.await;
    call.ended(&answer);
    answer
}

#[retry(policy = call.policy, context = number)]
async fn flaky(call: &Call) -> Result<(), RetryError<Wrong>> {
    let body = call.attempt(number.number());
    let mut random = Random::of(call.id, &[9, u64::from(number.number())]);
    tokio::time::sleep(random.millis(1, 4) * 10 + SHORT).await;
    let wrong = random.chance(70);
    body.end(if wrong {
        Err(Wrong::new(Verdict::Transient, "flaky"))
    } else {
        Ok(())
    })
}
