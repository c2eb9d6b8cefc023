//! reqwest and hyper against a server that answers by script: the verdict on everything that
//! can go wrong.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::client::conn::http1;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioIo};
use reattempt::http::{BadStatus, CheckStatus as _, FollowsRedirects as _, RequestError};
use reattempt::{Classify, Verdict};
use tokio::net::TcpStream;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::script::{Act, FINE, Script, nobody};

const PATIENCE: Duration = Duration::from_millis(150);
const SECOND: Duration = Duration::from_secs(1);

const BODY: &str = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n0123456789";

const FINAL: Option<Verdict> = Some(Verdict::Permanent);
const TRANSIENT: Option<Verdict> = Some(Verdict::Transient);
const REFUSED: Option<Verdict> = Some(Verdict::Refused);
const FORBIDDEN: Option<Verdict> = Some(Verdict::RetryForbidden);

macro_rules! chunks {
    ($chunks:literal) => {
        Act::Answer(concat!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            $chunks
        ))
    };
}

/// What the server does, and what it means; `None` is a success.
const TABLE: &[(&str, Act, Option<Verdict>)] = &[
    ("200", FINE, None),
    ("204", Act::Status("204 No Content"), None),
    ("304", Act::Status("304 Not Modified"), None),
    ("400", Act::Status("400 Bad Request"), FINAL),
    ("401", Act::Status("401 Unauthorized"), FINAL),
    ("403", Act::Status("403 Forbidden"), FINAL),
    ("404", Act::Status("404 Not Found"), FINAL),
    ("408", Act::Status("408 Request Timeout"), TRANSIENT),
    ("425", Act::Status("425 Too Early"), REFUSED),
    (
        "429",
        Act::Status("429 Too Many Requests"),
        Some(Verdict::Throttled(None)),
    ),
    ("500", Act::Status("500 Internal Server Error"), TRANSIENT),
    ("501", Act::Status("501 Not Implemented"), FINAL),
    ("502", Act::Status("502 Bad Gateway"), TRANSIENT),
    ("503", Act::Status("503 Service Unavailable"), TRANSIENT),
    ("504", Act::Status("504 Gateway Timeout"), TRANSIENT),
    (
        "429, in a second",
        Act::Status("429 Too Many Requests\r\nretry-after: 1"),
        Some(Verdict::Throttled(Some(SECOND))),
    ),
    (
        "503, at a time",
        Act::Status(
            "503 Service Unavailable\r\n\
             date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
             retry-after: Sun, 06 Nov 1994 08:49:38 GMT",
        ),
        Some(Verdict::TransientAfter(SECOND)),
    ),
    (
        "503, at a time in the past",
        Act::Status("503 Service Unavailable\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT"),
        TRANSIENT,
    ),
    (
        "503, never",
        Act::Status("503 Service Unavailable\r\nretry-after: -1"),
        FORBIDDEN,
    ),
    (
        "404, in a second",
        Act::Status("404 Not Found\r\nretry-after: 1"),
        FINAL,
    ),
    ("reset before the head", Act::Reset(""), TRANSIENT),
    ("closed before the head", Act::Answer(""), TRANSIENT),
    ("reset in the head", Act::Reset("HTTP/1.1 20"), TRANSIENT),
    (
        "closed in the head",
        Act::Answer("HTTP/1.1 200 OK\r\nda"),
        TRANSIENT,
    ),
    ("reset in the body", Act::Reset(BODY), TRANSIENT),
    ("closed in the body", Act::Answer(BODY), TRANSIENT),
    ("half a chunk", chunks!("a\r\n01234"), TRANSIENT),
    (
        "half the size of a chunk",
        chunks!("5\r\nhello\r\n1"),
        TRANSIENT,
    ),
    ("no last chunk", chunks!("5\r\nhello\r\n"), TRANSIENT),
    ("garbage for a chunk", chunks!("what?\r\n"), FINAL),
    (
        "garbage for a head",
        Act::Answer("220 smtp.example ESMTP\r\n\r\n"),
        FINAL,
    ),
    (
        "garbage for a header",
        Act::Status("200 OK\r\nno colon"),
        FINAL,
    ),
    ("stalled before the head", Act::Stall(""), TRANSIENT),
    ("stalled in the body", Act::Stall(BODY), TRANSIENT),
];

/// What an error means, and its code if it is no answer.
type Said = (Verdict, Option<&'static str>);

fn said(error: &impl Classify) -> Said {
    let mut codes = ["connection", "timeout"].into_iter();
    (error.classify(), codes.find(|code| error.has_code(code)))
}

/// A status is an answer, and so is what is not HTTP.
fn expected(act: &str, verdict: Option<Verdict>) -> Option<Said> {
    let code = match verdict? {
        Verdict::Transient if act.starts_with("stalled") => Some("timeout"),
        Verdict::Transient if act.starts_with(char::is_alphabetic) => Some("connection"),
        _ => None,
    };
    Some((verdict?, code))
}

#[tokio::test]
async fn each_act_has_its_verdict_with_reqwest() {
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE);
    let client = client.build().unwrap();
    let mut wrong = Vec::new();
    for (act, answer, verdict) in TABLE {
        let service = Script::start(&[*answer]).await;
        let said = by_reqwest(&client, &service.url()).await;
        if said != expected(act, *verdict) {
            wrong.push((act, said));
        }
        assert_eq!(service.requests().len(), 1, "{act}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // It may be the address of a redirect.
    let lost = Some((Verdict::Transient, Some("connection")));
    assert_eq!(by_reqwest(&client, &nobody()).await, lost);
    let refused = client.get(nobody()).send().await.unwrap_err();
    assert_eq!(refused.classify_unredirected(), Verdict::Refused);
    let never = Some((Verdict::Permanent, None));
    assert_eq!(by_reqwest(&client, "http://no such host/").await, never);
    assert_eq!(by_reqwest(&client, "ftp://127.0.0.1/").await, never);
}

async fn by_reqwest(client: &reqwest::Client, url: &str) -> Option<Said> {
    type Problem = RequestError<reqwest::Error, reqwest::Response>;

    let answer: Result<String, Problem> = async {
        let response = client.get(url).send().await?.check_status()?;
        Ok(response.text().await?)
    }
    .await;
    answer.err().map(|error| said(&error))
}

#[derive(Debug, Classify)]
#[retry(default = inherit)]
enum Problem {
    Client(legacy::Error),
    Body(hyper::Error),
    Status(BadStatus<http::Response<Incoming>>),
    Late(Elapsed),
}

type Hyper = Client<legacy::connect::HttpConnector, Empty<Bytes>>;

#[tokio::test]
async fn each_act_has_its_verdict_with_hyper() {
    let client: Hyper = Client::builder(TokioExecutor::new()).build_http();
    let mut wrong = Vec::new();
    for (act, answer, verdict) in TABLE {
        let service = Script::start(&[*answer]).await;
        let said = by_hyper(&client, &service.url()).await;
        if said != expected(act, *verdict) {
            wrong.push((act, said));
        }
        assert_eq!(service.requests().len(), 1, "{act}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let (verdict, _) = by_hyper(&client, &nobody()).await.unwrap();
    assert_eq!(verdict, Verdict::Refused);
}

async fn by_hyper(client: &Hyper, url: &str) -> Option<Said> {
    let uri = url.parse().unwrap();
    let answer = async {
        let response = client.get(uri).await.map_err(Problem::Client)?;
        let response = response.check_status().map_err(Problem::Status)?;
        let body = response.into_body().collect().await;
        body.map_err(Problem::Body)
    };
    let answer = timeout(PATIENCE, answer).await.map_err(Problem::Late);
    answer
        .and_then(|answer| answer)
        .err()
        .map(|error| said(&error))
}

/// A connection of hyper by itself, to a server that does this.
async fn connection<B>(answer: Act) -> (http1::SendRequest<B>, Script)
where
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let service = Script::start(&[answer]).await;
    let url = service.url();
    let address = url
        .strip_prefix("http://")
        .and_then(|rest| rest.strip_suffix('/'));
    let socket = TcpStream::connect(address.unwrap()).await.unwrap();
    let (sender, connection) = http1::handshake(TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    (sender, service)
}

fn request<B>(body: B) -> Request<B> {
    let request = Request::post("/").header("host", "shop");
    request.body(body).unwrap()
}

#[tokio::test]
async fn what_hyper_has_not_sent_was_not_executed() {
    let (mut sender, service) = connection(Act::Answer("")).await;
    let empty = Empty::<Bytes>::new;
    let broken = sender.send_request(request(empty())).await.unwrap_err();
    assert_eq!(broken.classify(), Verdict::Transient);

    let unsent = sender.send_request(request(empty())).await.unwrap_err();
    assert!(unsent.is_canceled(), "{unsent:?}");
    assert_eq!(unsent.classify(), Verdict::Refused);
    let closed = sender.ready().await.unwrap_err();
    assert!(closed.is_closed(), "{closed:?}");
    assert_eq!(closed.classify(), Verdict::Refused);
    assert_eq!(service.requests().len(), 1);
}

/// A body that is never done.
struct Endless;

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

#[tokio::test]
async fn an_upgrade_was_executed() {
    let head = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: bank\r\n\r\n";
    let (mut sender, _service) = connection(Act::Reset(head)).await;
    let response = sender.send_request(request(Endless)).await.unwrap();
    assert_eq!(response.status(), 101);
    let broken = hyper::upgrade::on(response).await.unwrap_err();
    assert!(broken.is_canceled(), "{broken:?}");
    assert_eq!(broken.classify(), Verdict::Transient);
}
