//! One attribute against a service with every kind of bad day: it answers 503
//! twice, resets a connection, stalls until the client's own time-out, and only
//! then answers.
//!
//! `cargo run --example quickstart`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::{Router, http::StatusCode, routing::get, serve::Listener};
use reattempt::{Retry, retry};
use reqwest::Client;
use tokio::net::{TcpListener, TcpStream};

#[retry(max = 6, base = "50ms", on = is_transient, on_retry = report)]
async fn fetch(client: &Client, url: &str) -> reqwest::Result<String> {
    let response = client.get(url).send().await?;
    response.error_for_status()?.text().await
}

fn is_transient(error: &reqwest::Error) -> bool {
    match error.status() {
        Some(status) => matches!(status.as_u16(), 429 | 500 | 502..=504),
        None => error.is_timeout() || error.is_request(),
    }
}

fn report(retry: &Retry<'_, reqwest::Error>) {
    let Some(error) = retry.error() else { return };
    let mut root: &dyn Error = error;
    while let Some(source) = root.source() {
        root = source;
    }
    let (attempt, delay) = (retry.attempt(), retry.delay().as_millis());
    println!("attempt {attempt}: {root}; the next in {delay} ms");
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let connections = Arc::new(AtomicU32::new(0));
    let address = start_service(Arc::clone(&connections)).await?;
    let client = Client::builder()
        .timeout(Duration::from_millis(500)) // of one attempt
        .pool_max_idle_per_host(0) // a connection for each, so that one can be reset
        .build()?;

    let answer = fetch(&client, &format!("http://{address}/")).await?;

    let attempts = connections.load(Ordering::Relaxed);
    println!("attempt {attempts}: {answer}");
    assert_eq!((answer.as_str(), attempts), ("hello", 5));
    Ok(())
}

async fn start_service(connections: Arc<AtomicU32>) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let count = Arc::clone(&connections);
    let answer = async move || match count.load(Ordering::Relaxed) {
        1 | 2 => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
        4 => std::future::pending().await,
        _ => (StatusCode::OK, "hello"),
    };
    let service = Router::new().route("/", get(answer));
    tokio::spawn(async {
        let listener = ResetsTheThird(listener, connections);
        axum::serve(listener, service).await
    });
    Ok(address)
}

struct ResetsTheThird(TcpListener, Arc<AtomicU32>);

impl Listener for ResetsTheThird {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            let (socket, peer) = Listener::accept(&mut self.0).await;
            if self.1.fetch_add(1, Ordering::Relaxed) + 1 != 3 {
                return (socket, peer);
            }
            // Once the request is there: dropped so, the socket sends a reset.
            let _ = socket.peek(&mut [0]).await;
            let _ = socket.set_zero_linger();
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
