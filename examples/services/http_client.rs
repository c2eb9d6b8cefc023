//! A service that sheds load with 429 and `Retry-After`, answers 503 and resets connections: its
//! client says nothing about any of that. And a payment, which may not be made twice.
//!
//! `cargo run -p service-examples --example http_client`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use reattempt::http::{CheckStatus as _, IDEMPOTENCY_KEY};
use reattempt::{Retry, retry};
use reqwest::{Client, Response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// No response, or one of a bad status, which it keeps.
type Failure = reattempt::http::RequestError<reqwest::Error, Response>;

#[retry(max = 6, base = "50ms", on_retry = report)]
async fn fetch(client: &Client, url: &str) -> Result<String, Failure> {
    let response = client.get(url).send().await?.check_status()?;
    Ok(response.text().await?)
}

/// Retried only when it certainly was not executed.
#[retry(max = 6, base = "50ms", idempotent = false, on_retry = report)]
async fn pay(client: &Client, url: &str) -> Result<Response, Failure> {
    Ok(client.post(url).send().await?.check_status()?)
}

/// The service tells a second try by its key, so any failure may be retried.
#[retry(max = 6, base = "50ms", context = attempt, on_retry = report)]
async fn pay_by_key(client: &Client, url: &str) -> Result<Response, Failure> {
    let key = attempt.idempotency_key();
    let request = client.post(url).header(IDEMPOTENCY_KEY, key);
    Ok(request.send().await?.check_status()?)
}

fn report(retry: &Retry<'_, Failure>) {
    let Some(error) = retry.error() else { return };
    let mut root: &dyn Error = error;
    while let Some(source) = root.source() {
        root = source;
    }
    let (attempt, delay) = (retry.attempt(), retry.delay().as_millis());
    println!("  attempt {attempt}: {root}; the next in {delay} ms");
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::builder()
        .timeout(Duration::from_secs(2)) // of one attempt
        .build()?;
    let url = || async { Ok::<_, std::io::Error>(format!("http://{}/", start_service().await?)) };

    println!("fetch");
    let answer = fetch(&client, &url().await?).await?;
    println!("  {answer}");
    assert_eq!(answer, "hello");

    println!("pay");
    let Err(Failure::Status(bad)) = pay(&client, &url().await?).await else {
        return Err("a 503 may have been executed".into());
    };
    println!("  {bad}: perhaps it was executed, so it is not sent again");
    assert_eq!(bad.status(), 503);

    println!("pay, with a key");
    let response = pay_by_key(&client, &url().await?).await?;
    println!("  {}", response.status());
    assert!(response.status().is_success());
    Ok(())
}

/// Each connection gets the next of these answers; the empty one is a reset.
const ANSWERS: [&str; 4] = [
    "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
    "",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
];

async fn start_service() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        for answer in ANSWERS {
            let (mut socket, _) = listener.accept().await?;
            let _request = socket.read(&mut [0; 1024]).await?;
            socket.write_all(answer.as_bytes()).await?;
            if answer.is_empty() {
                socket.set_zero_linger()?;
            }
        }
        Ok::<(), std::io::Error>(())
    });
    Ok(address)
}
