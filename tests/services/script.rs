//! A server that answers by script: one act for each connection, the last one again and again.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What happens to a request, and to its connection.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    /// A response of this status and these headers, without a body.
    Status(&'static str),
    /// These bytes, then the end of the connection.
    Answer(&'static str),
    /// These bytes, then a reset.
    Reset(&'static str),
    /// These bytes, and then nothing for as long as the client waits.
    Stall(&'static str),
}

pub(crate) const FINE: Act = Act::Answer("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
pub(crate) const BUSY: Act = Act::Status("503 Service Unavailable");
pub(crate) const SLOW_DOWN: Act = Act::Answer(
    "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 9\r\n\r\nslow down",
);

/// The server; it ends with the runtime of its test.
pub(crate) struct Script {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Script {
    pub(crate) async fn start(acts: &[Act]) -> Self {
        let acts = acts.to_vec();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut acts = acts.into_iter();
            let mut act = acts.next().unwrap();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let seen = Arc::clone(&seen);
                tokio::spawn(serve(socket, act, seen));
                act = acts.next().unwrap_or(act);
            }
        });
        Self { address, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The heads of the requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// An address that refuses connections.
pub(crate) fn nobody() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/", listener.local_addr().unwrap())
}

async fn serve(mut socket: TcpStream, act: Act, seen: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        match socket.read_u8().await {
            Ok(byte) => request.push(byte),
            Err(_) => return,
        }
    }
    seen.lock()
        .unwrap()
        .push(String::from_utf8(request).unwrap());
    let bytes = match act {
        Act::Status(head) => format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\n\r\n"),
        Act::Answer(bytes) | Act::Reset(bytes) | Act::Stall(bytes) => bytes.to_owned(),
    };
    socket.write_all(bytes.as_bytes()).await.unwrap();
    match act {
        Act::Status(_) | Act::Answer(_) => socket.shutdown().await.unwrap(),
        // Dropped so, the socket sends a reset.
        Act::Reset(_) => return socket.set_zero_linger().unwrap(),
        Act::Stall(_) => {}
    }
    // Until the client goes away.
    let _ = socket.read(&mut [0; 64]).await;
}
