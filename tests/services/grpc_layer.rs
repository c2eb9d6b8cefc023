//! `RetryLayer::grpc` below a client of tonic.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use reattempt::tower::RetryLayer;
use reattempt::{Budget, Jitter, Policy};
use tokio::time::Instant;
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tower::filter::AsyncFilterLayer;
use tower::{ServiceBuilder, service_fn};

const SECOND: Duration = Duration::from_secs(1);
const POLICY: Policy = Policy::new()
    .max(4)
    .jitter(Jitter::None)
    .base(SECOND)
    .checked();

/// `SERVING` as a message of gRPC: no compression, two bytes.
const SERVING: &[u8] = &[0, 0, 0, 0, 2, 8, 1];

/// An answer that is nothing but a head.
fn head(code: Code, pushback: Option<&str>) -> Response<Body> {
    let mut response = Response::builder()
        .header("content-type", "application/grpc")
        .header("grpc-status", code as i32);
    if let Some(pushback) = pushback {
        response = response.header("grpc-retry-pushback-ms", pushback);
    }
    response.body(Body::empty()).unwrap()
}

fn serving() -> Response<Body> {
    let trailers = http::HeaderMap::from_iter([(
        http::HeaderName::from_static("grpc-status"),
        http::HeaderValue::from_static("0"),
    )]);
    let body = Full::new(Bytes::from_static(SERVING));
    let body = body.with_trailers(std::future::ready(Some(Ok::<_, Infallible>(trailers))));
    let response = Response::builder().header("content-type", "application/grpc");
    response.body(Body::new(body)).unwrap()
}

/// A message that never comes, and a status after the headers.
fn broken_off() -> Response<Body> {
    let trailers = http::HeaderMap::from_iter([(
        http::HeaderName::from_static("grpc-status"),
        http::HeaderValue::from_static("14"),
    )]);
    let body = Full::new(Bytes::new());
    let body = body.with_trailers(std::future::ready(Some(Ok::<_, Infallible>(trailers))));
    let response = Response::builder().header("content-type", "application/grpc");
    response.body(Body::new(body)).unwrap()
}

type Layer = RetryLayer<reattempt::tower::GrpcClassifier>;

/// The status of a call below the layer, and how many attempts the server saw.
async fn call(layer: Layer, answers: fn(u32) -> Response<Body>) -> (Result<i32, Code>, u32) {
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let server = service_fn(move |request: Request<Body>| {
        let call = count.fetch_add(1, Ordering::Relaxed);
        async move {
            // Every attempt sends the whole message.
            let body = request.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body.len(), 5 + 2 + "shop".len());
            Ok::<_, Infallible>(answers(call))
        }
    });
    let service = ServiceBuilder::new()
        .layer(AsyncFilterLayer::new(async |request: Request<Body>| {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok::<_, Status>(Request::from_parts(head, Full::new(body)))
        }))
        .layer(layer)
        .map_request(|request: Request<Full<Bytes>>| request.map(Body::new))
        .service(server);
    let request = HealthCheckRequest {
        service: "shop".to_owned(),
    };
    let answer = HealthClient::new(service).check(request).await;
    let answer = answer.map(|answer| answer.into_inner().status);
    (
        answer.map_err(|status| status.code()),
        calls.load(Ordering::Relaxed),
    )
}

#[tokio::test(start_paused = true)]
async fn heads_are_retried_and_pushback_is_kept() {
    let start = Instant::now();
    let answer = call(RetryLayer::grpc(POLICY), |call| match call {
        0 => head(Code::Unavailable, None),
        1 => head(Code::ResourceExhausted, Some("5000")),
        _ => serving(),
    });
    assert_eq!(answer.await, (Ok(1), 3));
    let waited = start.elapsed();
    assert!(
        waited >= 6 * SECOND && waited <= SECOND + SECOND.mul_f64(5.5),
        "{waited:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_final_or_forbidden_comes_at_once() {
    let answer = call(RetryLayer::grpc(POLICY), |_| head(Code::NotFound, None));
    assert_eq!(answer.await, (Err(Code::NotFound), 1));
    for pushback in ["-1", "soon"] {
        let layer = RetryLayer::grpc(POLICY);
        let answer = match pushback {
            "-1" => call(layer, |_| head(Code::Unavailable, Some("-1"))).await,
            _ => call(layer, |_| head(Code::Unavailable, Some("soon"))).await,
        };
        assert_eq!(answer, (Err(Code::Unavailable), 1), "{pushback}");
    }
    let answer = call(RetryLayer::grpc(POLICY), |_| head(Code::Unavailable, None));
    assert_eq!(answer.await, (Err(Code::Unavailable), 4));
}

#[tokio::test(start_paused = true)]
async fn after_the_headers_a_call_is_committed() {
    let answer = call(RetryLayer::grpc(POLICY), |_| broken_off());
    assert_eq!(answer.await, (Err(Code::Unavailable), 1));
}

/// An answer of something in front of the service that speaks no gRPC.
fn gateway(status: u16) -> Response<Body> {
    let response = Response::builder()
        .status(status)
        .header("retry-after", "5");
    response.body(Body::empty()).unwrap()
}

// As tonic, and gRPC, map them.
#[tokio::test(start_paused = true)]
async fn gateways_are_unavailable_or_final() {
    type Answers = fn(u32) -> Response<Body>;

    let table: [(Answers, u32); 8] = [
        (|_| gateway(429), 4),
        (|_| gateway(502), 4),
        (|_| gateway(503), 4),
        (|_| gateway(504), 4),
        (|_| gateway(408), 1),
        (|_| gateway(425), 1),
        (|_| gateway(500), 1),
        (|_| gateway(404), 1),
    ];
    for (answers, expected) in table {
        let start = Instant::now();
        assert_eq!(call(RetryLayer::grpc(POLICY), answers).await.1, expected);
        assert!(start.elapsed() >= 5 * SECOND * (expected - 1));
        // It may have been executed.
        let once = RetryLayer::grpc(POLICY.idempotent(false));
        assert_eq!(call(once, answers).await.1, 1);
    }
}

// V56 through the layer.
#[tokio::test(start_paused = true)]
async fn from_the_fifth_failure_on_nothing_is_retried() {
    static BUDGET: Budget = Budget::grpc(10, 0.1);
    let layer = || RetryLayer::grpc(POLICY).budget(&BUDGET);
    let balance = || format!("{:.3}", BUDGET.balance());
    let fails = |_| head(Code::Unavailable, None);
    assert_eq!(call(layer(), fails).await.1, 4);
    for _ in 0..3 {
        assert_eq!(call(layer(), fails).await.1, 1);
    }
    assert_eq!(balance(), "3.000");
    let final_one = call(layer(), |_| head(Code::NotFound, None));
    assert_eq!((final_one.await.1, balance()), (1, "3.000".to_owned()));
    let success = call(layer(), |_| serving());
    assert_eq!((success.await.0, balance()), (Ok(1), "3.100".to_owned()));
}
