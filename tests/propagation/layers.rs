//! The layers, on a clock that stands still.

use std::cell::Cell;
use std::convert::Infallible;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::{Request, Response, StatusCode, Version};
use reattempt::protocol::RETRY_CONTEXT;
use reattempt::tower::{ClientProtocol, ServerProtocol};
use reattempt::{deadline, retry};
use tokio::time::advance;
use tower::{Layer as _, Service, ServiceExt as _, service_fn};

type Seen = Response<Option<Duration>>;

const HALF_A_MINUTE: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);

/// Answers with the time that is left.
async fn left(_: Request<()>) -> Result<Seen, Infallible> {
    Ok(Response::new(deadline::remaining()))
}

fn request(context: &str) -> Request<()> {
    let request = Request::builder().header(RETRY_CONTEXT, context);
    request.body(()).unwrap()
}

/// How many of so many requests are refused.
async fn refused<S>(service: &S, requests: u32, context: &str) -> u32
where
    S: Service<Request<()>, Response = Seen, Error = Infallible> + Clone,
{
    let mut refused = 0;
    for _ in 0..requests {
        let response = service.clone().oneshot(request(context)).await.unwrap();
        refused += u32::from(response.status() == StatusCode::GATEWAY_TIMEOUT);
    }
    refused
}

#[tokio::test(start_paused = true)]
async fn the_deadline_holds_in_the_call_and_in_its_future() {
    let service = service_fn(|_: Request<()>| {
        let in_call = deadline::remaining();
        async move {
            advance(SECOND).await;
            Ok::<_, Infallible>(Response::new((in_call, deadline::remaining())))
        }
    });
    let service = ServerProtocol::new().layer(service);
    let response = service.oneshot(request("left=30000")).await.unwrap();
    let expected = (Some(HALF_A_MINUTE), Some(Duration::from_secs(29)));
    assert_eq!(response.into_body(), expected);
    assert_eq!(deadline::remaining(), None, "it ends with the request");
}

#[tokio::test(start_paused = true)]
async fn without_a_deadline_nothing_changes() {
    let service = ServerProtocol::new().layer(service_fn(left));
    for context in ["left=soon", "left=-1", "left", "left=1,"] {
        let response = service.clone().oneshot(request(context)).await.unwrap();
        assert_eq!(response.into_body(), None, "{context}");
    }
    let response = service.oneshot(Request::new(())).await.unwrap();
    assert_eq!(response.into_body(), None);
}

/// A limit of the server itself is not made longer by a request.
#[tokio::test(start_paused = true)]
async fn the_earlier_deadline_holds() {
    let service = ServerProtocol::new().layer(service_fn(left));
    let response = deadline::within(SECOND, service.oneshot(request("left=30000"))).await;
    assert_eq!(response.unwrap().into_body(), Some(SECOND));
}

#[tokio::test(start_paused = true)]
async fn what_is_over_is_refused() {
    let calls = Cell::new(0);
    let service = service_fn(|_: Request<()>| {
        calls.set(calls.get() + 1);
        std::future::ready(Ok::<_, Infallible>(Response::new("served".to_owned())))
    });
    let service = ServerProtocol::new().layer(service);
    let response = service.oneshot(request("left=0")).await.unwrap();
    assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!((response.into_body().as_str(), calls.get()), ("", 0));
}

/// Those that are over and not refused are served without a deadline.
#[tokio::test(start_paused = true)]
async fn at_most_a_share_is_refused() {
    let service = ServerProtocol::new()
        .refuse_at_most(0.2)
        .layer(service_fn(left));
    for tenth in 1..=100 {
        assert_eq!(refused(&service, 10, "left=0").await, 2, "{tenth}");
    }
    let response = service.oneshot(request("left=0")).await.unwrap();
    assert_eq!(
        (response.status(), response.into_body()),
        (StatusCode::OK, None)
    );
}

#[tokio::test(start_paused = true)]
async fn requests_count_for_ten_seconds() {
    let service = ServerProtocol::new()
        .refuse_at_most(0.2)
        .layer(service_fn(left));
    assert_eq!(refused(&service, 400, "left=1000").await, 0);
    advance(9 * SECOND).await;
    assert_eq!(refused(&service, 1, "left=0").await, 1);
    advance(11 * SECOND).await;
    assert_eq!(refused(&service, 4, "left=0").await, 0);
    assert_eq!(refused(&service, 1, "left=0").await, 1);
}

#[tokio::test(start_paused = true)]
async fn clones_count_together() {
    let layer = ServerProtocol::new().refuse_at_most(0.2);
    let (one, other) = (
        layer.layer(service_fn(left)),
        layer.clone().layer(service_fn(left)),
    );
    assert_eq!(refused(&one, 40, "left=1000").await, 0);
    assert_eq!(refused(&other, 10, "left=0").await, 10);
    assert_eq!(refused(&one, 1, "left=0").await, 0);
}

#[test]
#[should_panic(expected = "takes a share from 0.0 to 1.0, not 20.0; 0.2 is 20 %")]
fn a_share_is_no_percentage() {
    let _ = ServerProtocol::new().refuse_at_most(20.0);
}

#[test]
#[should_panic(expected = "not NaN")]
fn a_share_is_a_number() {
    let _ = ServerProtocol::new().refuse_at_most(f64::NAN);
}

/// Each hop takes a second.
#[tokio::test(start_paused = true)]
async fn from_hop_to_hop() {
    let last = ServerProtocol::new().layer(service_fn(left));
    let middle = service_fn(move |_: Request<()>| {
        let next = ClientProtocol::to("next").layer(last.clone());
        async move {
            advance(SECOND).await;
            next.oneshot(Request::new(())).await
        }
    });
    let first = ClientProtocol::to("next").layer(ServerProtocol::new().layer(middle));
    let response = deadline::within(HALF_A_MINUTE, first.oneshot(Request::new(()))).await;
    assert_eq!(response.unwrap().into_body(), Some(Duration::from_secs(29)));
}

/// Answers with the header of the protocol.
fn shown() -> impl Service<Request<()>, Response = Response<String>, Error = Infallible> + Clone {
    let network = service_fn(move |request: Request<()>| {
        let value = request.headers().get(RETRY_CONTEXT);
        let value = value.map_or("none", |value| value.to_str().unwrap());
        std::future::ready(Ok(Response::new(value.to_owned())))
    });
    ClientProtocol::to("next").layer(network)
}

async fn sent() -> String {
    let answer = shown().oneshot(Request::new(())).await;
    answer.unwrap().into_body()
}

#[tokio::test(start_paused = true)]
async fn a_client_sends_what_is_left() {
    let within = async |limit| deadline::within(limit, sent()).await;
    assert_eq!(within(HALF_A_MINUTE).await, "left=30000");
    assert_eq!(within(Duration::from_nanos(1_234_567)).await, "left=1.234");
    assert_eq!(within(Duration::ZERO).await, "left=0");
    assert_eq!(sent().await, "attempt=1");
}

#[tokio::test(start_paused = true)]
async fn a_client_sends_the_number_of_the_attempt() {
    #[retry(max = 3, on(_))]
    async fn call(seen: &mut Vec<String>) -> Result<(), &'static str> {
        seen.push(sent().await);
        Err("again")
    }
    let mut seen = Vec::new();
    assert_eq!(call(&mut seen).await, Err("again"));
    assert_eq!(seen, ["attempt=1", "attempt=2", "attempt=3"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_sends_a_low_priority() {
    #[retry(priority = "low", on(_))]
    async fn call() -> Result<String, &'static str> {
        Ok(sent().await)
    }
    assert_eq!(call().await.as_deref(), Ok("priority=low"));
}

/// A low priority holds where a request is served, and goes on from there.
#[tokio::test(start_paused = true)]
async fn a_low_priority_goes_from_hop_to_hop() {
    let service = ServerProtocol::new().layer(service_fn(async |_: Request<()>| {
        Ok::<_, Infallible>(Response::new(sent().await))
    }));
    let answer = service.clone().oneshot(request("priority=low")).await;
    assert_eq!(answer.unwrap().into_body(), "priority=low");
    let answer = service.oneshot(request("priority=high")).await;
    assert_eq!(answer.unwrap().into_body(), "attempt=1");
}

/// A request to a host that is not the own system's carries no field.
#[tokio::test(start_paused = true)]
async fn foreign_hosts_are_left_alone() {
    let network = service_fn(async |request: Request<()>| {
        let has_field = request.headers().contains_key(RETRY_CONTEXT);
        Ok::<_, Infallible>(Response::new(has_field))
    });
    let client = ClientProtocol::new().layer(network);
    for (uri, expected) in [
        ("http://orders.internal/", true),
        ("http://127.0.0.1:80/", true),
        ("http://example.com/", false),
        ("/", false),
    ] {
        // Also where a proxy passes it on.
        let request = Request::builder().uri(uri).header(RETRY_CONTEXT, "left=5");
        let request = request.body(()).unwrap();
        let answer = client.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.into_body(), expected, "{uri}");
    }
}

/// Of two times of a request of gRPC the shorter one holds.
#[tokio::test(start_paused = true)]
async fn the_shorter_of_two_times() {
    let service = ServerProtocol::new().layer(service_fn(left));
    for (field, grpc) in [
        ("left=1000", "30S"),
        ("left=30000", "1S"),
        ("attempt=1", "1S"),
    ] {
        let request = Request::post("/").version(Version::HTTP_2);
        let request = request
            .header(RETRY_CONTEXT, field)
            .header("grpc-timeout", grpc);
        let answer = service.clone().oneshot(request.body(()).unwrap()).await;
        assert_eq!(answer.unwrap().into_body(), Some(SECOND), "{field} {grpc}");
    }
}

/// Another request may have a header of that name.
#[tokio::test(start_paused = true)]
async fn the_time_of_grpc_is_that_of_a_post_over_http_2() {
    let service = ServerProtocol::new().layer(service_fn(left));
    for (request, holds) in [
        (Request::post("/").version(Version::HTTP_2), true),
        (Request::post("/").version(Version::HTTP_11), false),
        (Request::get("/").version(Version::HTTP_2), false),
    ] {
        let request = request.header("grpc-timeout", "1S").body(()).unwrap();
        let answer = service.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.into_body(), holds.then_some(SECOND));
    }
}

/// gRPC has its status in a header.
#[tokio::test(start_paused = true)]
async fn a_refusal_of_grpc() {
    let service = ServerProtocol::new().layer(service_fn(left));
    for (header, value) in [("grpc-timeout", "0n"), ("retry-context", "left=0")] {
        let request = Request::post("/")
            .version(Version::HTTP_2)
            .header("content-type", "application/grpc+proto")
            .header(header, value);
        let answer = service.clone().oneshot(request.body(()).unwrap()).await;
        let answer = answer.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()["grpc-status"], "4");
        assert_eq!(answer.headers()["content-type"], "application/grpc+proto");
        let said = answer.headers().get(RETRY_CONTEXT);
        let expected = (header == "retry-context").then_some("expired");
        assert_eq!(said.map(|value| value.to_str().unwrap()), expected);
    }
}

/// A service that is never ready, and says why.
struct Closed;

impl Service<Request<()>> for Closed {
    type Response = Seen;
    type Error = &'static str;
    type Future = std::future::Ready<Result<Seen, &'static str>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        Poll::Ready(Err("closed"))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        unreachable!("it is not ready")
    }
}

#[tokio::test(start_paused = true)]
async fn readiness_passes_through() {
    let both = ClientProtocol::to("next").layer(ServerProtocol::new().layer(Closed));
    assert_eq!(
        both.oneshot(request("left=30000")).await.unwrap_err(),
        "closed"
    );
}
