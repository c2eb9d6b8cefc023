//! tonic against a scripted gRPC server.
//!
//! It speaks HTTP/2 by hand: a server of tonic resets no stream and leaves out no status.

mod server;

use std::cell::RefCell;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::time::Duration;

use h2::Reason;
use reattempt::timer::{Clock, Timer, Timestamp};
use reattempt::{Classify, GiveUpReason, RetryError, Verdict, retry};
use tokio::net::TcpSocket;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::{ErrorDetails, StatusExt};
use tower::ServiceExt as _;

use server::Answer::{Close, GoAway, Head, Late, LateReset, Plain, Reset, Serve, Stall, Trailers};
use server::{Answer, MINUTE, Server, channel};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn status(code: Code, pushback: Option<&'static str>, delay: Option<Duration>) -> Status {
    let mut status = match delay {
        Some(_) => Status::with_error_details(code, "no", ErrorDetails::with_retry_info(delay)),
        None => Status::new(code, "no"),
    };
    if let Some(pushback) = pushback {
        let name = "grpc-retry-pushback-ms";
        status
            .metadata_mut()
            .insert(name, pushback.parse().expect("ASCII"));
    }
    status
}

async fn ask(client: &HealthClient<Channel>) -> Result<ServingStatus, Status> {
    let mut request = Request::new(HealthCheckRequest::default());
    request.set_timeout(MINUTE);
    let answer = client.clone().check(request).await?;
    Ok(answer.into_inner().status())
}

#[tokio::test]
async fn what_an_answer_means() {
    use Verdict::{Permanent, Refused, RetryForbidden, Throttled, Transient, TransientAfter};
    let busy = Code::ResourceExhausted;
    let gone = Code::Unavailable;
    let (delay, second) = (Some(ms(3000)), Some("1000"));
    let table = [
        (Head(status(gone, None, None)), gone, Transient),
        (Trailers(status(gone, None, None)), gone, Transient),
        (Late(status(gone, None, None)), gone, Transient),
        (
            Head(status(gone, second, None)),
            gone,
            TransientAfter(ms(1000)),
        ),
        (
            Late(status(gone, None, delay)),
            gone,
            TransientAfter(ms(3000)),
        ),
        (Head(status(busy, None, None)), busy, Throttled(None)),
        (
            Head(status(busy, second, None)),
            busy,
            Throttled(Some(ms(1000))),
        ),
        (
            Trailers(status(busy, None, delay)),
            busy,
            Throttled(Some(ms(3000))),
        ),
        (
            Trailers(status(busy, second, delay)),
            busy,
            Throttled(Some(ms(1000))),
        ),
        (Head(status(busy, Some("-1"), delay)), busy, RetryForbidden),
        (
            Trailers(status(gone, Some("soon"), delay)),
            gone,
            RetryForbidden,
        ),
        (
            Head(status(Code::InvalidArgument, second, delay)),
            Code::InvalidArgument,
            Permanent,
        ),
        (
            Head(Status::cancelled("by the server")),
            Code::Cancelled,
            Permanent,
        ),
        // The same time-out, seen by the server first.
        (
            Head(Status::cancelled("Timeout expired")),
            Code::Cancelled,
            Transient,
        ),
        (Stall, Code::Cancelled, Transient),
        // From something that speaks no gRPC.
        (Plain(503), gone, Transient),
        (Plain(401), Code::Unauthenticated, Permanent),
        (Plain(200), Code::Unknown, Permanent),
        (Reset(Reason::REFUSED_STREAM), gone, Refused),
        (Reset(Reason::INTERNAL_ERROR), Code::Internal, Transient),
        (Reset(Reason::CANCEL), Code::Cancelled, Transient),
        (Reset(Reason::ENHANCE_YOUR_CALM), busy, Transient),
        (LateReset(Reason::INTERNAL_ERROR), Code::Internal, Transient),
        (GoAway(Reason::NO_ERROR), Code::Unknown, Transient),
        (GoAway(Reason::INTERNAL_ERROR), Code::Unknown, Transient),
        (Close, Code::Unknown, Transient),
    ];
    for (answer, code, verdict) in table {
        let name = format!("{answer:?}");
        let server = Server::start([answer]).await;
        let status = ask(&server.client()).await.expect_err(&name);
        assert_eq!(
            (status.code(), status.classify()),
            (code, verdict),
            "{name}: {status:?}"
        );
        assert_eq!(server.calls(), 1, "{name}");
    }
    let server = Server::start([Serve]).await;
    assert_eq!(
        ask(&server.client()).await.expect("served"),
        ServingStatus::Serving
    );
}

/// Nobody listens: the call says so, and so does the connection that is made in front of it.
#[tokio::test]
async fn connection_refused() {
    // Bound, so that nobody else listens there either.
    let socket = TcpSocket::new_v4().expect("a socket");
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    socket.bind(any).expect("a free port");
    let address = socket.local_addr().expect("it is bound");
    let status = ask(&HealthClient::new(channel(address)))
        .await
        .expect_err("refused");
    assert_eq!(
        (status.code(), status.classify()),
        (Code::Unavailable, Verdict::Refused)
    );

    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
    let error = endpoint.connect().await.expect_err("refused");
    assert_eq!(error.classify(), Verdict::Refused);
}

/// Below the clients that are generated there is no status yet.
#[tokio::test]
async fn a_channel_by_itself() {
    for (answer, expected) in [
        (Stall, Verdict::Transient),
        (Close, Verdict::Transient),
        (Reset(Reason::REFUSED_STREAM), Verdict::Refused),
    ] {
        let server = Server::start([answer]).await;
        let request = http::Request::post("/").header("grpc-timeout", "1M");
        let request = request
            .body(tonic::body::Body::empty())
            .expect("it is valid");
        let answer = channel(server.address).oneshot(request).await;
        assert_eq!(answer.expect_err("none of them").classify(), expected);
    }
}

/// An address that is none.
#[test]
fn nothing_to_connect_to() {
    let error = Endpoint::from_shared("http://a b").expect_err("a space");
    assert_eq!(error.classify(), Verdict::Permanent);
}

/// Whoever cancels a call does not want it again, and a request that cannot be written is never sent.
#[tokio::test]
async fn ended_by_the_client() {
    let server = Server::start([Stall]).await;
    let mut request = Request::new(HealthCheckRequest::default());
    request.cancellation_handle().cancel();
    let status = server.client().check(request).await.expect_err("cancelled");
    assert_eq!(
        (status.code(), status.classify()),
        (Code::Cancelled, Verdict::Permanent)
    );

    let server = Server::start([Stall]).await;
    let service = "long".to_owned();
    let mut client = server.client().max_encoding_message_size(1);
    let status = client
        .check(HealthCheckRequest { service })
        .await
        .expect_err("too long");
    assert_eq!(
        (status.code(), status.classify()),
        (Code::Internal, Verdict::Permanent),
        "{status:?}"
    );
}

/// Waits for nothing, and remembers how long it should have.
#[derive(Default)]
struct Recorder(RefCell<Vec<Duration>>);

impl Clock for Recorder {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.0.borrow().iter().sum())
    }
}

impl Timer for Recorder {
    type Sleep = Ready<()>;

    fn sleep(&self, duration: Duration) -> Ready<()> {
        self.0.borrow_mut().push(duration);
        ready(())
    }
}

#[retry(max = 6, base = "1s", jitter = "none", timer = timer)]
async fn check(
    client: &HealthClient<Channel>,
    timer: &Recorder,
) -> Result<ServingStatus, RetryError<Status>> {
    ask(client).await
}

#[retry(max = 6, base = "1s", jitter = "none", idempotent = false, timer = timer)]
async fn check_once(
    client: &HealthClient<Channel>,
    timer: &Recorder,
) -> Result<ServingStatus, RetryError<Status>> {
    ask(client).await
}

/// What came of a script: the delays as the service asked for them, why it ended, and the attempts.
async fn run(script: Vec<Answer>, idempotent: bool) -> (Vec<Duration>, Option<GiveUpReason>, u32) {
    let server = Server::start(script).await;
    let (client, timer) = (server.client(), Recorder::default());
    let answer = if idempotent {
        check(&client, &timer).await
    } else {
        check_once(&client, &timer).await
    };
    let reason = match answer {
        Ok(status) => {
            assert_eq!(status, ServingStatus::Serving);
            None
        }
        Err(failed) => {
            assert_eq!(failed.attempts(), server.calls());
            Some(failed.reason())
        }
    };
    (timer.0.into_inner(), reason, server.calls())
}

#[tokio::test]
async fn retried_through_a_script() {
    let gone = || Head(status(Code::Unavailable, None, None));
    let busy = |pushback, delay| Trailers(status(Code::ResourceExhausted, pushback, delay));
    let hour = Some(MINUTE * 60);

    // A pushback of 0 leaves the computed delay.
    let script = vec![gone(), busy(Some("0"), hour), Serve];
    let (delays, reason, calls) = run(script, true).await;
    assert_eq!((delays, reason, calls), (vec![ms(1000), ms(2000)], None, 3));

    // One that is asked for is never shortened, and at most a tenth longer.
    let script = vec![
        Stall,
        busy(Some("250"), hour),
        Reset(Reason::REFUSED_STREAM),
        busy(None, Some(ms(3000))),
        Serve,
    ];
    let (delays, reason, calls) = run(script, true).await;
    assert_eq!(
        (delays[0], delays[2], reason, calls),
        (ms(1000), ms(4000), None, 5)
    );
    assert!(ms(250) <= delays[1] && delays[1] <= ms(275), "{delays:?}");
    assert!(ms(3000) <= delays[3] && delays[3] <= ms(3300), "{delays:?}");

    for pushback in ["-1", "soon", "", "1.5", "99999999999"] {
        let (delays, reason, calls) = run(vec![busy(Some(pushback), hour), Serve], true).await;
        assert_eq!(
            (delays, reason, calls),
            (vec![], Some(GiveUpReason::RetryForbidden), 1),
            "{pushback}"
        );
    }

    // Longer than `max_retry_after`.
    let (delays, reason, calls) = run(vec![busy(None, hour), Serve], true).await;
    assert_eq!(
        (delays, reason, calls),
        (vec![], Some(GiveUpReason::RetryAfterTooLong), 1)
    );

    // Final by its code.
    let script = vec![gone(), Head(Status::not_found("nobody")), Serve];
    let (delays, reason, calls) = run(script, true).await;
    assert_eq!(
        (delays, reason, calls),
        (vec![ms(1000)], Some(GiveUpReason::Permanent), 2)
    );

    let script = (0..6).map(|_| gone()).chain([Serve]).collect();
    let (delays, reason, calls) = run(script, true).await;
    assert_eq!(
        (delays.len(), reason, calls),
        (5, Some(GiveUpReason::Attempts), 6)
    );
}

/// What may not be executed twice is retried until nobody knows whether it was.
#[tokio::test]
async fn not_idempotent() {
    let busy = || Head(status(Code::ResourceExhausted, None, None));
    for last in [
        Head(status(Code::Unavailable, Some("1"), None)),
        Reset(Reason::INTERNAL_ERROR),
        Stall,
        Close,
    ] {
        let script = vec![Reset(Reason::REFUSED_STREAM), busy(), last, Serve];
        let (delays, reason, calls) = run(script, false).await;
        assert_eq!(
            (delays.len(), reason, calls),
            (2, Some(GiveUpReason::NotIdempotent), 3)
        );
    }
}
