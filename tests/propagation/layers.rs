//! The layers, on a clock that stands still.

use std::cell::Cell;
use std::convert::Infallible;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::{Request, Response, StatusCode};
use reattempt::deadline;
use reattempt::retry;
use reattempt::tower::{ClientDeadline, ServerDeadline};
use tokio::time::advance;
use tower::{Layer as _, Service, ServiceExt as _, service_fn};

type Seen = Response<Option<Duration>>;

const HALF_A_MINUTE: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);

/// Answers with the time that is left.
async fn left(_: Request<()>) -> Result<Seen, Infallible> {
    Ok(Response::new(deadline::remaining()))
}

fn request(timeout: &str) -> Request<()> {
    let request = Request::builder().header(deadline::REQUEST_TIMEOUT, timeout);
    request.body(()).unwrap()
}

/// How many of so many requests are refused.
async fn refused<S>(service: &S, requests: u32, timeout: &str) -> u32
where
    S: Service<Request<()>, Response = Seen, Error = Infallible> + Clone,
{
    let mut refused = 0;
    for _ in 0..requests {
        let response = service.clone().oneshot(request(timeout)).await.unwrap();
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
    let service = ServerDeadline::new().layer(service);
    let response = service.oneshot(request("30S")).await.unwrap();
    let expected = (Some(HALF_A_MINUTE), Some(Duration::from_secs(29)));
    assert_eq!(response.into_body(), expected);
    assert_eq!(deadline::remaining(), None, "it ends with the request");
}

#[tokio::test(start_paused = true)]
async fn without_a_deadline_nothing_changes() {
    let service = ServerDeadline::new().layer(service_fn(left));
    for timeout in ["soon", "-1S", "0"] {
        let response = service.clone().oneshot(request(timeout)).await.unwrap();
        assert_eq!(response.into_body(), None, "{timeout}");
    }
    let response = service.oneshot(Request::new(())).await.unwrap();
    assert_eq!(response.into_body(), None);
}

/// A limit of the server itself is not made longer by a request.
#[tokio::test(start_paused = true)]
async fn the_earlier_deadline_holds() {
    let service = ServerDeadline::new().layer(service_fn(left));
    let response = deadline::within(SECOND, service.oneshot(request("30S"))).await;
    assert_eq!(response.unwrap().into_body(), Some(SECOND));
}

#[tokio::test(start_paused = true)]
async fn what_is_over_is_refused() {
    let calls = Cell::new(0);
    let service = service_fn(|_: Request<()>| {
        calls.set(calls.get() + 1);
        std::future::ready(Ok::<_, Infallible>(Response::new("served".to_owned())))
    });
    let service = ServerDeadline::new().refuse_at_most(1.0).layer(service);
    let response = service.oneshot(request("0n")).await.unwrap();
    assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!((response.into_body().as_str(), calls.get()), ("", 0));
}

/// Those that are over and not refused are served without a deadline.
#[tokio::test(start_paused = true)]
async fn at_most_a_fifth_is_refused() {
    let service = ServerDeadline::new().layer(service_fn(left));
    for tenth in 1..=100 {
        assert_eq!(refused(&service, 10, "0n").await, 2, "{tenth}");
    }
    let response = service.oneshot(request("0n")).await.unwrap();
    assert_eq!(
        (response.status(), response.into_body()),
        (StatusCode::OK, None)
    );
}

#[tokio::test(start_paused = true)]
async fn requests_count_for_ten_seconds() {
    let service = ServerDeadline::new().layer(service_fn(left));
    assert_eq!(refused(&service, 400, "1S").await, 0);
    advance(9 * SECOND).await;
    assert_eq!(refused(&service, 1, "0n").await, 1);
    advance(11 * SECOND).await;
    assert_eq!(refused(&service, 4, "0n").await, 0);
    assert_eq!(refused(&service, 1, "0n").await, 1);
}

#[tokio::test(start_paused = true)]
async fn clones_count_together() {
    let layer = ServerDeadline::new();
    let (one, other) = (
        layer.layer(service_fn(left)),
        layer.clone().layer(service_fn(left)),
    );
    assert_eq!(refused(&one, 40, "1S").await, 0);
    assert_eq!(refused(&other, 10, "0n").await, 10);
    assert_eq!(refused(&one, 1, "0n").await, 0);
}

#[test]
#[should_panic(expected = "takes a share from 0.0 to 1.0, not 20.0; 0.2 is 20 %")]
fn a_share_is_no_percentage() {
    let _ = ServerDeadline::new().refuse_at_most(20.0);
}

#[test]
#[should_panic(expected = "not NaN")]
fn a_share_is_a_number() {
    let _ = ServerDeadline::new().refuse_at_most(f64::NAN);
}

/// Each hop takes a second.
#[tokio::test(start_paused = true)]
async fn from_hop_to_hop() {
    let last = ServerDeadline::new().layer(service_fn(left));
    let middle = service_fn(move |_: Request<()>| {
        let next = ClientDeadline::new().layer(last.clone());
        async move {
            advance(SECOND).await;
            next.oneshot(Request::new(())).await
        }
    });
    let first = ClientDeadline::new().layer(ServerDeadline::new().layer(middle));
    let response = deadline::within(HALF_A_MINUTE, first.oneshot(Request::new(()))).await;
    assert_eq!(response.unwrap().into_body(), Some(Duration::from_secs(29)));
}

/// Answers with a header of the request.
fn telling(
    name: &'static str,
) -> impl Service<Request<()>, Response = String, Error = Infallible> + Clone {
    let network = service_fn(move |request: Request<()>| {
        let value = request.headers().get(name);
        let value = value.map_or("none", |value| value.to_str().unwrap());
        std::future::ready(Ok(value.to_owned()))
    });
    ClientDeadline::new().layer(network)
}

#[tokio::test(start_paused = true)]
async fn a_client_sends_what_is_left() {
    let client = telling("request-timeout");
    let sent = async |limit| {
        let call = client.clone().oneshot(Request::new(()));
        deadline::within(limit, call).await.unwrap()
    };
    assert_eq!(sent(HALF_A_MINUTE).await, "30000000u");
    assert_eq!(sent(Duration::ZERO).await, "0n");
    let unlimited = client.clone().oneshot(Request::new(())).await;
    assert_eq!(unlimited.unwrap(), "none");
}

#[tokio::test(start_paused = true)]
async fn a_client_sends_the_number_of_the_attempt() {
    #[retry(max = 3, on(_))]
    async fn call(sent: &mut Vec<String>) -> Result<(), &'static str> {
        let answer = telling("request-attempt").oneshot(Request::new(())).await;
        sent.push(answer.unwrap());
        Err("again")
    }
    let mut sent = Vec::new();
    assert_eq!(call(&mut sent).await, Err("again"));
    assert_eq!(sent, ["none", "2", "3"]);
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
    let both = ClientDeadline::new().layer(ServerDeadline::new().layer(Closed));
    assert_eq!(both.oneshot(request("30S")).await.unwrap_err(), "closed");
}
