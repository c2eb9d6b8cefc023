//! `RetryMiddleware` in a client of reqwest-middleware.

use std::time::Duration;

use reattempt::http::{IDEMPOTENCY_KEY, RetryMiddleware, Statuses};
use reattempt::{Classify as _, Jitter, Policy, Verdict, deadline, testing};
use reqwest::{Body, StatusCode};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};

use crate::script::{Act, BUSY, FINE, SLOW_DOWN, Script, nobody};

const SECOND: Duration = Duration::from_secs(1);
const POLICY: Policy = Policy::new()
    .max(3)
    .jitter(Jitter::None)
    .base(SECOND)
    .checked();

fn client(middleware: RetryMiddleware) -> ClientWithMiddleware {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    ClientBuilder::new(client).with(middleware).build()
}

#[tokio::test(start_paused = true)]
async fn responses_and_errors_are_retried() {
    let service = Script::start(&[SLOW_DOWN, Act::Reset(""), FINE]).await;
    let client = client(RetryMiddleware::new(POLICY).name("pages"));
    let record = testing::record();
    let start = tokio::time::Instant::now();
    let response = client.get(service.url()).send().await.unwrap();
    assert_eq!(response.text().await.unwrap(), "hello");
    assert_eq!(service.requests().len(), 3);
    assert!(start.elapsed() >= 3 * SECOND);
    assert_eq!(record.calls()[0].operation(), "pages");

    let service = Script::start(&[BUSY]).await;
    let response = client.get(service.url()).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(service.requests().len(), 3);

    let error = client.get(nobody()).send().await.unwrap_err();
    assert_eq!(error.classify(), Verdict::Refused);
}

#[tokio::test(start_paused = true)]
async fn a_request_overrides_the_policy() {
    let client = client(RetryMiddleware::new(POLICY));
    let service = Script::start(&[BUSY]).await;
    let request = client.get(service.url()).with_extension(POLICY.max(5));
    request.send().await.unwrap();
    assert_eq!(service.requests().len(), 5);

    let limited = client
        .get(service.url())
        .with_extension(POLICY.deadline(2 * SECOND));
    let start = tokio::time::Instant::now();
    limited.send().await.unwrap();
    assert_eq!(service.requests().len(), 7);
    assert_eq!(start.elapsed(), SECOND);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_idempotent_is_not_sent_twice() {
    let client = client(RetryMiddleware::new(POLICY));
    for (act, keyed, expected) in [(BUSY, false, 1), (BUSY, true, 3), (SLOW_DOWN, false, 3)] {
        let service = Script::start(&[act]).await;
        let mut request = client.post(service.url()).body("7");
        if keyed {
            request = request.header(IDEMPOTENCY_KEY, "7");
        }
        request.send().await.unwrap();
        assert_eq!(service.requests().len(), expected, "{act:?} {keyed}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_sent_once() {
    let client = client(RetryMiddleware::new(POLICY));
    let service = Script::start(&[BUSY]).await;
    let body = Body::wrap(http_body_util::Empty::<hyper::body::Bytes>::new());
    let response = client.put(service.url()).body(body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(service.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_table_of_its_own_and_a_deadline_from_above() {
    let statuses = Statuses::NONE.transient(404);
    let client = client(RetryMiddleware::new(POLICY).statuses(statuses));
    let service = Script::start(&[Act::Status("404 Not Found"), BUSY]).await;
    let response = client.get(service.url()).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(service.requests().len(), 2);

    let service = Script::start(&[Act::Status("404 Not Found")]).await;
    let request = client.get(service.url()).send();
    deadline::within(2 * SECOND, request).await.unwrap();
    assert_eq!(service.requests().len(), 2);
}

#[test]
#[should_panic(expected = "give the client a time-out")]
fn a_timeout_is_refused() {
    let _ = RetryMiddleware::new(Policy::new().timeout(SECOND));
}
