//! A sync function, with nothing but `std`: the service starts late. No `on`,
//! because `std::io::Error` says by its kind what is worth another attempt.
//!
//! `cargo run --example blocking`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use std::{io, thread};

use reattempt::retry;

/// The delays of 50, 100, 150, ... ms are spread by 20 %.
#[retry(max = 8, backoff = "linear", base = "50ms", jitter = 0.2, on_retry = |retry| {
    println!("attempt {}: {}", retry.attempt(), retry.cause());
})]
fn greeting(address: SocketAddr) -> io::Result<String> {
    let mut text = String::new();
    TcpStream::connect(address)?.read_to_string(&mut text)?;
    Ok(text)
}

fn main() -> io::Result<()> {
    // Bound once to find a free port; closed until the service starts.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let service = thread::spawn(move || -> io::Result<()> {
        thread::sleep(Duration::from_millis(120));
        let (mut client, _) = TcpListener::bind(address)?.accept()?;
        client.write_all(b"hello")
    });

    let text = greeting(address)?;

    println!("{text}");
    assert_eq!(text, "hello");
    assert!(matches!(service.join(), Ok(Ok(()))));
    Ok(())
}
