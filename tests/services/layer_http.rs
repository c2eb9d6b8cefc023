//! `RetryLayer` around clients and servers of HTTP: hyper, reqwest, axum.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::routing::get;
use http::{Request, Response, StatusCode};
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use reattempt::http::{IDEMPOTENCY_KEY, Statuses};
use reattempt::policy::{Codes, OnCode};
use reattempt::tower::RetryLayer;
use reattempt::{Budget, Policy, Verdict, testing};
use tower::{Layer as _, ServiceExt as _};

use crate::script::{Act, BUSY, FINE, SLOW_DOWN, Script, nobody};
use crate::support::{POLICY, SECOND};

fn hyper() -> Client<hyper_util::client::legacy::connect::HttpConnector, Empty<Bytes>> {
    Client::builder(TokioExecutor::new()).build_http()
}

fn request(method: &str, url: &str) -> Request<Empty<Bytes>> {
    let request = Request::builder().method(method).uri(url);
    request.body(Empty::new()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn hyper_by_status() {
    let service = Script::start(&[SLOW_DOWN, BUSY, Act::Reset(""), FINE]).await;
    let client = RetryLayer::http(POLICY.max(5)).layer(hyper());
    let start = tokio::time::Instant::now();
    let response = client
        .clone()
        .oneshot(request("GET", &service.url()))
        .await
        .unwrap();
    assert_eq!(
        (response.status(), service.requests().len()),
        (StatusCode::OK, 4)
    );
    assert!(start.elapsed() >= 7 * SECOND, "{:?}", start.elapsed());

    // The last response, as it is.
    let service = Script::start(&[SLOW_DOWN]).await;
    let response = client
        .clone()
        .oneshot(request("GET", &service.url()))
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        (&response.headers()["retry-after"], service.requests().len()),
        (&"1".parse().unwrap(), 5)
    );

    assert!(
        client
            .oneshot(request("GET", &nobody()))
            .await
            .unwrap_err()
            .is_connect()
    );
}

const CODES: Codes = Codes::new(&[
    OnCode::transient("404"),
    OnCode::throttled("502").base(Duration::from_secs(3)),
    OnCode::permanent("503"),
]);

/// What the layer calls a failure has the verdict and the base of its row; what is an answer by its status stays one.
#[tokio::test(start_paused = true)]
async fn by_a_table_of_the_policy() {
    for (act, method, status, requests, waited) in [
        (Act::Status("502 Bad Gateway"), "GET", 200, 2, 3 * SECOND),
        (Act::Status("502 Bad Gateway"), "POST", 200, 2, 3 * SECOND),
        (BUSY, "GET", 503, 1, Duration::ZERO),
        (Act::Status("404 Not Found"), "GET", 404, 1, Duration::ZERO),
    ] {
        let service = Script::start(&[act, FINE]).await;
        let client = RetryLayer::http(POLICY.codes(CODES)).layer(hyper());
        let start = tokio::time::Instant::now();
        let response = client.oneshot(request(method, &service.url())).await;
        assert_eq!(response.unwrap().status().as_u16(), status, "{act:?}");
        assert_eq!(service.requests().len(), requests, "{act:?}");
        assert!(start.elapsed() >= waited, "{act:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_post_is_not_sent_twice() {
    let attempts = async |policy: Policy, act: Act, request: fn(&str) -> Request<Empty<Bytes>>| {
        let service = Script::start(&[act]).await;
        let client = RetryLayer::http(policy).layer(hyper());
        let _ = client.oneshot(request(&service.url())).await;
        service.requests().len()
    };
    let post: fn(&str) -> _ = |url| request("POST", url);
    let keyed: fn(&str) -> _ = |url| {
        let mut request = request("POST", url);
        request.headers_mut().insert(IDEMPOTENCY_KEY, 7.into());
        request
    };
    assert_eq!(attempts(POLICY, BUSY, post).await, 1);
    assert_eq!(attempts(POLICY, Act::Reset(""), post).await, 1);
    assert_eq!(attempts(POLICY, SLOW_DOWN, post).await, 3);
    assert_eq!(attempts(POLICY, BUSY, keyed).await, 3);
    assert_eq!(attempts(POLICY.idempotent(true), BUSY, post).await, 3);
    assert_eq!(attempts(POLICY.idempotent(false), BUSY, keyed).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_function_of_ones_own_does_not_send_a_post_twice() {
    type Answered = Result<Response<hyper::body::Incoming>, tower::BoxError>;

    let layer = RetryLayer::http(POLICY).on_answer(|answer: &Answered| match answer {
        Ok(response) => Statuses::STANDARD.verdict(response.status(), response.headers()),
        Err(_) => Verdict::Transient,
    });
    for (act, method, expected) in [
        (BUSY, "POST", 1),
        (BUSY, "GET", 3),
        (SLOW_DOWN, "POST", 3),
        (Act::Reset(""), "POST", 1),
    ] {
        let service = Script::start(&[act]).await;
        let client = hyper().map_err(tower::BoxError::from);
        let _ = layer
            .layer(client)
            .oneshot(request(method, &service.url()))
            .await;
        assert_eq!(service.requests().len(), expected, "{act:?} {method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_that_forbids_it_is_a_failure() {
    static BUDGET: Budget = Budget::grpc(10, 0.5);
    let forbids = Act::Status("503 Service Unavailable\r\nretry-after: -1");
    let service = Script::start(&[forbids]).await;
    let client = RetryLayer::http(POLICY).budget(&BUDGET).layer(hyper());
    let record = testing::record();
    let response = client
        .oneshot(request("GET", &service.url()))
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        record.calls()[0].end().to_string(),
        "gave up (retry_forbidden)"
    );
    assert_eq!(format!("{:.1}", BUDGET.balance()), "9.0");
}

#[tokio::test(start_paused = true)]
async fn a_table_of_its_own() {
    let service = Script::start(&[Act::Status("404 Not Found"), BUSY]).await;
    let layer = RetryLayer::http(POLICY).statuses(Statuses::NONE.transient(404));
    let client = layer.layer(hyper());
    let response = client
        .oneshot(request("GET", &service.url()))
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(service.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn reqwest_is_a_service_too() {
    let service = Script::start(&[BUSY, FINE]).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let client = RetryLayer::http(POLICY)
        .clone_request(reqwest::Request::try_clone)
        .layer(client);
    let request = reqwest::Request::new(reqwest::Method::GET, service.url().parse().unwrap());
    let response = client.oneshot(request).await.unwrap();
    assert_eq!(
        (response.status(), service.requests().len()),
        (StatusCode::OK, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn axum_has_it_inside() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let flaky = get(async || match CALLS.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    });
    let layer = RetryLayer::http(POLICY).clone_request(|request: &Request<Body>| {
        let (parts, ()) = Request::new(()).into_parts();
        let mut copy = Request::from_parts(parts, Body::empty());
        *copy.uri_mut() = request.uri().clone();
        Some(copy)
    });
    let router: axum::Router = axum::Router::new().route("/", flaky).layer(layer);
    let answer: Result<Response<_>, Infallible> = router.oneshot(Request::new(Body::empty())).await;
    assert_eq!(answer.unwrap().status(), StatusCode::OK);
    assert_eq!(CALLS.load(Ordering::Relaxed), 3);
}
