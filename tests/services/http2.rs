//! hyper over HTTP/2, whose errors prove more than those of HTTP/1: frames written by hand.

use http_body_util::Empty;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use reattempt::{Classify as _, Verdict};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GO_AWAY: u8 = 7;
const HEADERS: u8 = 1;

/// A frame without flags.
fn frame(kind: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    let mut frame = vec![0, 0, length, kind, 0, 0, 0, 0, stream];
    frame.extend_from_slice(payload);
    frame
}

/// Waits for the head of the first request, which is stream 1.
async fn request(socket: &mut TcpStream) {
    let mut preface = [0; 24];
    socket.read_exact(&mut preface).await.unwrap();
    socket.write_all(&frame(SETTINGS, 0, &[])).await.unwrap();
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        socket.read_exact(&mut payload).await.unwrap();
        if head[3] == HEADERS {
            return;
        }
    }
}

/// The verdict on a request that is answered so; by nothing at all, the connection is reset.
async fn verdict(answer: Vec<u8>) -> Verdict {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        request(&mut socket).await;
        socket.write_all(&answer).await.unwrap();
        match answer.get(3) {
            Some(&RST_STREAM) => drop(socket.read(&mut [0; 64]).await),
            Some(_) => {}
            None => socket.set_zero_linger().unwrap(),
        }
    });
    let mut client = Client::builder(TokioExecutor::new());
    let client = client.http2_only(true).build_http::<Empty<Bytes>>();
    client
        .get(url.parse().unwrap())
        .await
        .unwrap_err()
        .classify()
}

#[tokio::test]
async fn what_proves_that_nothing_was_executed() {
    let table = [
        // REFUSED_STREAM, INTERNAL_ERROR, CANCEL, ENHANCE_YOUR_CALM, HTTP_1_1_REQUIRED
        (frame(RST_STREAM, 1, &[0, 0, 0, 7]), Verdict::Refused),
        (frame(RST_STREAM, 1, &[0, 0, 0, 2]), Verdict::Transient),
        (frame(RST_STREAM, 1, &[0, 0, 0, 8]), Verdict::Transient),
        (frame(RST_STREAM, 1, &[0, 0, 0, 11]), Verdict::Transient),
        (frame(RST_STREAM, 1, &[0, 0, 0, 13]), Verdict::Permanent),
        (Vec::new(), Verdict::Transient),
        // The last stream that the server has taken up: none, and this one.
        (
            frame(GO_AWAY, 0, &[0, 0, 0, 0, 0, 0, 0, 0]),
            Verdict::Refused,
        ),
        (
            frame(GO_AWAY, 0, &[0, 0, 0, 1, 0, 0, 0, 0]),
            Verdict::Transient,
        ),
    ];
    for (answer, expected) in table {
        assert_eq!(verdict(answer.clone()).await, expected, "{answer:?}");
    }
}
