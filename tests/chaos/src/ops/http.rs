//! Requests through reqwest under `#[retry]` and `retry_block!`.

use std::time::Duration;

use reattempt::http::{CheckStatus as _, IDEMPOTENCY_KEY};
use reattempt::protocol::{self, Edge};
use reattempt::{Attempt, Retry, RetryError, Verified, observe, retry, retry_block};
use reqwest::{Method, RequestBuilder, Response};
use tokio::time::timeout;

use super::{Answer, World};
use crate::calls::{Call, Wrong};
use crate::log::Hook;
use crate::ops::Op;

type Failure = reattempt::http::RequestError<reqwest::Error, Response>;

/// A request of an attempt, with its deadline in the headers.
pub(super) async fn request(
    method: Method,
    path: &str,
    call: &Call,
    attempt: u32,
) -> RequestBuilder {
    let world = World::get();
    let client = world.client.lock().await.clone().unwrap();
    let url = format!("http://127.0.0.1:{}/{path}/{}", world.port, call.id);
    let request = client
        .request(method, url)
        .headers(Edge::new("chaos").headers());
    request
        .header("x-attempt", attempt)
        .header("x-key", call.spec.key)
}

pub(super) async fn send(request: RequestBuilder) -> Result<String, Wrong> {
    let text = async {
        let response = request.send().await?.check_status()?;
        Ok::<_, Failure>(response.text().await?)
    };
    text.await.map_err(|error| Wrong::of(&error))
}

pub(super) async fn ask(
    method: Method,
    path: &str,
    call: &Call,
    number: u32,
) -> Result<String, Wrong> {
    send(request(method, path, call, number).await).await
}

/// The same as an attempt of the call.
pub(super) async fn attempt(
    method: Method,
    path: &str,
    call: &Call,
    attempt: &Attempt<'_>,
) -> Result<(), Wrong> {
    let body = call.attempt(attempt.number());
    let answer = ask(method, path, call, attempt.number()).await;
    body.end(answer.map(drop))
}

#[retry(policy = call.policy, context = number, on_retry = seen)]
pub(super) async fn fetch(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::GET, "value", call, &number).await
}

fn seen(retry: &Retry<'_, Wrong>) {
    // What a hook sees agrees with itself.
    assert!(retry.attempt() >= 1 && retry.max().is_none_or(|max| retry.attempt() < max));
}

#[retry(policy = call.policy, context = number)]
pub(super) async fn put(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::PUT, "put", call, &number).await
}

#[retry(policy = call.policy, context = number, idempotent = true)]
pub(super) async fn keyed(call: &Call) -> Result<(), RetryError<Wrong>> {
    let body = call.attempt(number.number());
    let request = request(Method::POST, "keyed", call, number.number()).await;
    let request = request.header(IDEMPOTENCY_KEY, number.idempotency_key());
    body.end(send(request).await.map(drop))
}

#[retry(
    policy = call.policy,
    idempotent = false,
    timeout = "200ms",
    context = number,
    verify = async |_| fenced(call).await
)]
pub(super) async fn order(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::POST, "order", call, &number).await
}

/// Whether an attempt was executed; if it was not, it never will be.
async fn fenced(call: &Call) -> Verified<()> {
    let _hook = call.hook(Hook::Verify);
    let fence = call.below(Op::Fence, |_, policy| policy);
    let asked = observe::request(fence.id.to_string(), fence_off(&fence, call));
    let answer = asked.await;
    fence.ended(&answer);
    match answer.as_deref() {
        Ok("done") => Verified::Done(()),
        Ok("not done") => Verified::NotDone,
        _ => Verified::Unknown,
    }
}

#[retry(policy = fence.policy, timeout = "150ms", context = number)]
async fn fence_off(fence: &Call, call: &Call) -> Result<String, RetryError<Wrong>> {
    let body = fence.attempt(number.number());
    body.end(ask(Method::POST, "fence", call, call.begun()).await)
}

#[retry(policy = call.policy, idempotent = false, context = number)]
pub(super) async fn order_once(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::POST, "order", call, &number).await
}

pub(super) async fn poll(call: &Call) -> Answer {
    polled(call).await.map(drop)
}

#[retry(policy = call.policy, context = number, until = |done| *done)]
async fn polled(call: &Call) -> Result<bool, RetryError<Wrong>> {
    let body = call.attempt(number.number());
    let answer = ask(Method::GET, "job", call, number.number()).await;
    body.asked(answer.map(|text| text == "done"))
}

#[retry(policy = call.policy, context = number, before_retry = async |_| refreshed(call).await)]
pub(super) async fn hooked(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::PUT, "put", call, &number).await
}

/// Longer than a connection stays frozen.
const LONGEST: Duration = Duration::from_secs(3);

async fn refreshed(call: &Call) {
    let _hook = call.hook(Hook::BeforeRetry);
    // Nobody limits a hook where the call has no deadline.
    let _ = timeout(LONGEST, ask(Method::GET, "value", call, 0)).await;
}

pub(super) async fn block(call: &Call) -> Answer {
    retry_block!(
        policy = call.policy,
        context = number,
        async || -> Result<(), RetryError<Wrong>> {
            attempt(Method::GET, "value", call, &number).await
        }
    )
    .await
}

#[retry(policy = "chaos", name = "chaos.named", context = number, max = 3, base = "5ms", cap = "50ms", deadline = "900ms")]
pub(super) async fn named(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt(Method::GET, "value", call, &number).await
}

/// There is no time left when the server hears of it.
#[retry(policy = call.policy, context = number)]
pub(super) async fn late(call: &Call) -> Result<(), RetryError<Wrong>> {
    let body = call.attempt(number.number());
    let mut request = request(Method::POST, "late", call, number.number()).await;
    request = request.headers(
        [(protocol::RETRY_CONTEXT, "left=0".parse().unwrap())]
            .into_iter()
            .collect(),
    );
    body.end(send(request).await.map(drop))
}
