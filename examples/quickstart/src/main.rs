//! One attribute against a service with every kind of bad day. It is busy twice, resets a connection and stalls, and only
//! then answers.
//!
//! `cargo run -p quickstart`

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use reattempt::{Retry, retry};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Asks the service at `address`. An `io::Error` says by its kind whether another attempt is worth it.
#[retry(max = 6, base = "50ms", timeout = "500ms", on_retry = report)]
async fn fetch(address: SocketAddr) -> io::Result<String> {
    let mut answer = String::new();
    let mut service = TcpStream::connect(address).await?;
    service.write_all(b"hello?\n").await?;
    service.read_to_string(&mut answer).await?;
    match answer.trim() {
        "busy" => Err(ErrorKind::ResourceBusy.into()),
        answer => Ok(answer.to_owned()),
    }
}

fn report(retry: &Retry<'_, io::Error>) {
    let (attempt, delay) = (retry.attempt(), retry.delay().as_millis());
    match retry.error() {
        Some(error) => println!("attempt {attempt}: {error}; the next in {delay} ms"),
        None => println!("attempt {attempt}: timed out; the next in {delay} ms"),
    }
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(serve(listener));

    let answer = fetch(address).await?;

    println!("attempt 5: {answer}");
    Ok(())
}

/// The service: what it does with each connection, one after the other.
async fn serve(listener: TcpListener) -> io::Result<()> {
    for connection in 1.. {
        let (mut client, _) = listener.accept().await?;
        // Once the question is there: a socket that is dropped with it unread sends a reset.
        client.peek(&mut [0]).await?;
        match connection {
            3 => continue,
            4 => {
                tokio::spawn(async move {
                    let _open = client;
                    std::future::pending::<()>().await;
                });
                continue;
            }
            _ => {}
        }
        client.read_exact(&mut [0; 7]).await?;
        let answer = if connection < 3 { "busy" } else { "hello" };
        client.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}
