//! A service in a chain of services: it answers a request by calling the next one, and retries that call. It listens on a
//! free port of the loopback interface, which is the first line of its output.
//!
//! `chain http http://127.0.0.1:8081,grpc://127.0.0.1:8082 5` serves HTTP and makes up to 5 attempts at each of two callees.
//!
//! `chain grpc dead 21` is a last service: it fails 21 times. `chain http flaky 1` fails every second time. Both say how
//! often they were called: in the text of an answer.
//!
//! A fourth word changes what it does with the protocol: `deaf` ignores it, `forward` passes the header on in both
//! directions without a look at it, and `lossy` takes the header out of its answers.

mod callee;
mod grpc;
mod http;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::http::HeaderValue;
use callee::Callee;

/// What a service does with the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Polite,
    Deaf,
    Forward,
    Lossy,
}

/// What a service does with a request.
#[derive(Debug)]
enum Work {
    /// Calls the next ones, one after the other.
    Call(Vec<Callee>),
    /// Fails so many times.
    Dead(u32),
    /// Fails every second time.
    Flaky,
}

#[derive(Debug)]
struct Service {
    work: Work,
    calls: AtomicU32,
    mode: Mode,
}

impl Service {
    /// Handles a request. `forwarded` is the header of the request where the service passes it on, and then that of the
    /// answer. Returns a text for the answer.
    async fn handle(&self, forwarded: &mut Option<HeaderValue>) -> Result<String, String> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let is_up = match &self.work {
            Work::Dead(calls) => call > *calls,
            Work::Flaky => call.is_multiple_of(2),
            Work::Call(callees) => {
                for callee in callees {
                    callee.call(forwarded).await?;
                }
                true
            }
        };
        if is_up {
            Ok(format!("up, call {call}"))
        } else {
            Err(format!("down, call {call}"))
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [front, next, count, mode @ ..] = words.as_slice() else {
        return Err(
            "usage: chain http|grpc dead|flaky|URL,URL.. NUMBER [deaf|forward|lossy]".into(),
        );
    };
    let mode = match mode {
        [] => Mode::Polite,
        ["deaf"] => Mode::Deaf,
        ["forward"] => Mode::Forward,
        ["lossy"] => Mode::Lossy,
        _ => return Err("the fourth word is `deaf`, `forward` or `lossy`".into()),
    };
    let number: u32 = count.parse()?;
    let work = match *next {
        "dead" => Work::Dead(number),
        "flaky" => Work::Flaky,
        urls => {
            let callees = urls.split(',').map(|url| Callee::new(url, number, mode));
            Work::Call(callees.collect::<Result<_, _>>()?)
        }
    };
    let service = Arc::new(Service {
        work,
        calls: AtomicU32::new(0),
        mode,
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    match *front {
        "http" => http::serve(listener, service).await,
        "grpc" => grpc::serve(listener, service).await,
        _ => Err("the first word is `http` or `grpc`".into()),
    }
}
