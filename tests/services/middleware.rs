//! `RetryMiddleware` in a client of reqwest-middleware.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt::http::{IDEMPOTENCY_KEY, RetryMiddleware, Statuses};
use reattempt::policy::{Codes, OnCode};
use reattempt::{Budget, Classify as _, Retry, Verdict, deadline, testing};
use reqwest::{Body, StatusCode};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error, Middleware, Next};

use crate::script::{Act, BUSY, FINE, SLOW_DOWN, Script, nobody};
use crate::support::{POLICY, SECOND};

fn client(middleware: impl Middleware) -> ClientWithMiddleware {
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
    assert_eq!(error.classify(), Verdict::Transient);
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

const CODES: Codes = Codes::new(&[
    OnCode::transient("404"),
    OnCode::throttled("503"),
    OnCode::permanent("429"),
]);

#[tokio::test(start_paused = true)]
async fn a_table_of_the_policy() {
    let client = client(RetryMiddleware::new(POLICY.codes(CODES)));
    let missing = Act::Status("404 Not Found");
    let moved = Act::Status("303 See Other\r\nlocation: /elsewhere");
    for (acts, is_post, requests) in [
        (&[missing, FINE][..], false, 2),
        (&[SLOW_DOWN, FINE], false, 1),
        (&[missing, FINE], true, 1),
        // Its row says that nothing ran; behind a redirect something has.
        (&[BUSY, FINE], true, 2),
        (&[moved, BUSY, FINE], true, 2),
        (&[moved, BUSY, moved, FINE], false, 4),
    ] {
        let service = Script::start(acts).await;
        let request = if is_post {
            client.post(service.url()).body("7")
        } else {
            client.get(service.url())
        };
        request.send().await.unwrap();
        assert_eq!(service.requests().len(), requests, "{acts:?} {is_post}");
    }
    // A stream is sent once, whatever the table says.
    for act in [missing, BUSY] {
        let service = Script::start(&[act]).await;
        let body = Body::wrap(http_body_util::Empty::<hyper::body::Bytes>::new());
        client.put(service.url()).body(body).send().await.unwrap();
        assert_eq!(service.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_ends_an_attempt() {
    let client = client(RetryMiddleware::new(POLICY.timeout(SECOND)).name("slow"));
    // Nothing comes after the connection, and then an answer.
    let service = Script::start(&[Act::Stall(""), FINE]).await;
    let record = testing::record();
    let response = client.get(service.url()).send().await.unwrap();
    assert_eq!(response.text().await.unwrap(), "hello");
    assert_eq!(record.calls()[0].attempts().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_a_redirect_proves_nothing() {
    let moved = Act::Status("303 See Other\r\nlocation: /elsewhere");
    let client = client(RetryMiddleware::new(POLICY));
    // The post, and the request that reqwest sends after it.
    let service = Script::start(&[moved, SLOW_DOWN]).await;
    client.post(service.url()).body("7").send().await.unwrap();
    assert_eq!(service.requests().len(), 2);
    let service = Script::start(&[moved, SLOW_DOWN, moved, FINE]).await;
    client.get(service.url()).send().await.unwrap();
    assert_eq!(service.requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_behind_a_redirect_proves_nothing() {
    let moved = format!("303 See Other\r\nlocation: {}", nobody());
    let moved = Act::Status(moved.leak());
    let client = client(RetryMiddleware::new(POLICY));
    let service = Script::start(&[moved]).await;
    let post = client.post(service.url()).body("7").send();
    post.await.unwrap_err();
    assert_eq!(service.requests().len(), 1);
    client.get(service.url()).send().await.unwrap_err();
    assert_eq!(service.requests().len(), 4);
}

/// Whoever says that no redirect is followed has the proof back.
#[tokio::test(start_paused = true)]
async fn a_refused_connection_of_a_client_without_redirects_is_tried_again() {
    for (middleware, expected) in [
        (RetryMiddleware::new(POLICY), 1),
        (RetryMiddleware::new(POLICY).without_redirects(), 3),
    ] {
        let record = testing::record();
        let client = client(middleware.name("pay"));
        client.post(nobody()).body("7").send().await.unwrap_err();
        assert_eq!(record.calls()[0].attempts().len(), expected);
    }
}

/// Asks somebody else after each request.
struct Audit(String);

#[async_trait::async_trait]
impl Middleware for Audit {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        let response = next.run(request, extensions).await?;
        let asked = reqwest::get(&self.0).await;
        asked.map_err(|refused| Error::Middleware(refused.into()))?;
        Ok(response)
    }
}

#[tokio::test(start_paused = true)]
async fn what_befalls_other_middleware_proves_nothing() {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let client = ClientBuilder::new(client)
        .with(RetryMiddleware::new(POLICY))
        .with(Audit(nobody()))
        .build();
    let service = Script::start(&[FINE]).await;
    client
        .post(service.url())
        .body("7")
        .send()
        .await
        .unwrap_err();
    assert_eq!(service.requests().len(), 1);
    client.get(service.url()).send().await.unwrap_err();
    assert_eq!(service.requests().len(), 4);
}

/// Notes what an attempt sees.
#[derive(Clone, Default)]
struct Look(Arc<Mutex<Vec<Seen>>>);

/// The time that is left, and the attempt.
type Seen = (Option<Duration>, u32);

#[async_trait::async_trait]
impl Middleware for Look {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        let seen = (deadline::remaining(), deadline::attempt());
        self.0.lock().unwrap().push(seen);
        next.run(request, extensions).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_sees_where_it_is() {
    let look = Look::default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let client = ClientBuilder::new(client)
        .with(RetryMiddleware::new(POLICY.deadline(10 * SECOND)))
        .with(look.clone())
        .build();
    let service = Script::start(&[BUSY]).await;
    client.get(service.url()).send().await.unwrap();
    let seen = look.0.lock().unwrap().clone();
    assert_eq!(
        seen,
        [(10, 1), (9, 2), (7, 3)].map(|(left, n)| (Some(left * SECOND), n))
    );
}

#[tokio::test(start_paused = true)]
async fn a_policy_of_a_request_does_not_send_a_post_twice() {
    let client = client(RetryMiddleware::new(POLICY));
    for (policy, expected) in [(POLICY, 1), (POLICY.idempotent(true), 3)] {
        let service = Script::start(&[BUSY]).await;
        let request = client.post(service.url()).with_extension(policy);
        request.send().await.unwrap();
        assert_eq!(service.requests().len(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn retries_are_observed() {
    static RETRIES: AtomicU32 = AtomicU32::new(0);
    let observed = |retry: &Retry<'_, reqwest_middleware::Result<reqwest::Response>>| {
        assert!(matches!(retry.error(), Some(Ok(_))));
        RETRIES.fetch_add(retry.attempt(), Ordering::Relaxed);
    };
    let client = client(RetryMiddleware::new(POLICY).on_retry(observed));
    let service = Script::start(&[BUSY]).await;
    client.get(service.url()).send().await.unwrap();
    assert_eq!(
        (service.requests().len(), RETRIES.load(Ordering::Relaxed)),
        (3, 1 + 2)
    );
}

#[tokio::test(start_paused = true)]
async fn retries_are_paid() {
    static BUDGET: Budget = Budget::grpc(3, 0.5);
    let client = client(RetryMiddleware::new(POLICY).budget(&BUDGET));
    let balance = || format!("{:.1}", BUDGET.balance());
    // Two of three tokens are more than half, one is not.
    let service = Script::start(&[BUSY]).await;
    client.get(service.url()).send().await.unwrap();
    assert_eq!((service.requests().len(), balance()), (2, "1.0".to_owned()));
    let service = Script::start(&[FINE]).await;
    client.get(service.url()).send().await.unwrap();
    assert_eq!(balance(), "1.5");
}
