//! A server of gRPC that answers by script, frame by frame.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use h2::server::{Connection, SendResponse};
use h2::{Reason, RecvStream};
use http::{HeaderMap, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::time;
use tonic::Status;
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::health_client::HealthClient;

pub(super) const MINUTE: Duration = Duration::from_secs(60);

/// A message that says `SERVING`, behind its length.
const SERVING: &[u8] = &[0, 0, 0, 0, 2, 8, 1];

/// What a call comes to.
#[derive(Debug)]
pub(super) enum Answer {
    /// The message, and that all is well.
    Serve,
    /// The status in the head, and nothing else.
    Head(Status),
    /// A head, and the status behind it.
    Trailers(Status),
    /// A head, the message, and the status behind it.
    Late(Status),
    /// A head of HTTP alone, and no status at all.
    Plain(u16),
    /// No head.
    Reset(Reason),
    /// After the head.
    LateReset(Reason),
    GoAway(Reason),
    /// The connection is closed.
    Close,
    /// Nothing for a minute, which is over at once.
    Stall,
}
use Answer::{Close, GoAway, Head, Late, LateReset, Plain, Reset, Serve, Stall, Trailers};

pub(super) struct Server {
    pub(super) address: SocketAddr,
    calls: Arc<AtomicU32>,
}

impl Server {
    /// Each call takes the next answer, whatever connection it comes by.
    pub(super) async fn start(script: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let server = Self {
            address: listener.local_addr().expect("it is bound"),
            calls: Arc::default(),
        };
        let calls = Arc::clone(&server.calls);
        let script = Arc::new(Mutex::new(script.into_iter().collect()));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(talk(socket, Arc::clone(&script), Arc::clone(&calls)));
            }
        });
        server
    }

    pub(super) fn calls(&self) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(super) fn client(&self) -> HealthClient<Channel> {
        HealthClient::new(channel(self.address))
    }
}

pub(super) fn channel(address: SocketAddr) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}"));
    endpoint.expect("an address").connect_lazy()
}

/// One connection.
async fn talk(socket: TcpStream, script: Arc<Mutex<VecDeque<Answer>>>, calls: Arc<AtomicU32>) {
    let handshake = h2::server::Builder::new().handshake(socket);
    let Ok(mut connection): Result<Connection<_, &'static [u8]>, _> = handshake.await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        calls.fetch_add(1, Ordering::Relaxed);
        let next = script.lock().expect("no test panics here").pop_front();
        match next.expect("the script is long enough") {
            Close => return,
            GoAway(reason) => connection.abrupt_shutdown(reason),
            answer => {
                // The connection goes on, or the request would never come to its end.
                tokio::spawn(reply(answer, request.into_body(), respond));
            }
        }
    }
}

async fn reply(answer: Answer, mut body: RecvStream, mut respond: SendResponse<&'static [u8]>) {
    while let Some(Ok(_)) = body.data().await {}
    let head = |status: u16| {
        let head = Response::builder().status(status);
        let head = head.header("content-type", "application/grpc");
        head.body(()).expect("it is valid")
    };
    let in_trailers = |status: &Status| {
        let mut trailers = HeaderMap::new();
        status.add_header(&mut trailers).expect("it is valid");
        trailers
    };
    let sent = match answer {
        Serve => respond
            .send_response(head(200), false)
            .and_then(|mut stream| {
                stream.send_data(SERVING, false)?;
                stream.send_trailers(in_trailers(&Status::ok("")))
            }),
        Head(status) => {
            let head = status.into_http::<()>();
            respond.send_response(head, true).map(drop)
        }
        Trailers(status) => respond
            .send_response(head(200), false)
            .and_then(|mut stream| stream.send_trailers(in_trailers(&status))),
        Late(status) => respond
            .send_response(head(200), false)
            .and_then(|mut stream| {
                stream.send_data(SERVING, false)?;
                stream.send_trailers(in_trailers(&status))
            }),
        Plain(status) => respond.send_response(head(status), true).map(drop),
        Reset(reason) => {
            respond.send_reset(reason);
            Ok(())
        }
        LateReset(reason) => {
            let stream = respond.send_response(head(200), false);
            // Else the reset would take the place of the head.
            tokio::task::yield_now().await;
            stream.map(|mut stream| stream.send_reset(reason))
        }
        Stall => {
            time::pause();
            time::advance(MINUTE).await;
            time::resume();
            std::future::pending().await
        }
        Close | GoAway(_) => unreachable!("that is for the connection"),
    };
    sent.expect("the client is there");
}
