//! Sync operations: a thread that blocks, and asks how much time is left.

use std::io::{Error, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use reattempt::{RetryError, deadline, retry, retry_block};

use super::{Answer, Op, World};
use crate::calls::{Call, Wrong};
use crate::shared_budgets::BREAKERS;

pub(super) fn run(call: &Call) -> Answer {
    match call.spec.op {
        Op::Read => read(call),
        Op::Write => write(call),
        Op::ReadBlock => block(call),
        Op::ReadRunner => runner(call),
        Op::ReadGuarded => guarded(call),
        op => unreachable!("{op:?} is async"),
    }
}

#[retry(policy = call.policy, context = number)]
fn read(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt("GET", "value", call, number.number())
}

#[retry(policy = call.policy, context = number, before_retry = |_| std::thread::yield_now())]
fn write(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt("PUT", "put", call, number.number())
}

fn block(call: &Call) -> Answer {
    retry_block!(
        policy = call.policy,
        context = number,
        || -> Result<(), RetryError<Wrong>> { attempt("GET", "value", call, number.number()) }
    )
}

fn runner(call: &Call) -> Answer {
    let mut number = 0;
    call.policy.runner().name("sync_runner").try_run(|| {
        number += 1;
        attempt("GET", "value", call, number)
    })
}

#[retry(policy = call.policy, breaker = BREAKERS.get(&call.spec.key), context = number)]
fn guarded(call: &Call) -> Result<(), RetryError<Wrong>> {
    attempt("GET", "guard", call, number.number())
}

fn attempt(method: &str, path: &str, call: &Call, number: u32) -> Result<(), Wrong> {
    let body = call.attempt(number);
    body.end(exchange(method, path, call, number))
}

/// A request on a connection of its own.
fn exchange(method: &str, path: &str, call: &Call, number: u32) -> Result<(), Wrong> {
    let status = status(method, path, call, number).map_err(|error| Wrong::of(&error))?;
    match reattempt::http::Statuses::STANDARD.of(status) {
        _ if status == 200 => Ok(()),
        verdict => Err(Wrong::new(verdict, "a bad status")),
    }
}

fn status(method: &str, path: &str, call: &Call, number: u32) -> Result<u16, Error> {
    const MOST: Duration = Duration::from_millis(400);
    // A socket takes no limit of nothing.
    const LEAST: Duration = Duration::from_millis(1);
    let left = || deadline::remaining().unwrap_or(MOST).clamp(LEAST, MOST);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, World::get().port));
    let mut socket = TcpStream::connect_timeout(&address, left())?;
    socket.set_write_timeout(Some(left()))?;
    let (id, key) = (call.id, call.spec.key);
    let request = format!(
        "{method} /{path}/{id} HTTP/1.1\r\nhost: chaos\r\nx-attempt: {number}\r\nx-key: {key}\r\nconnection: close\r\n\r\n"
    );
    socket.write_all(request.as_bytes())?;
    let mut text = Vec::new();
    while !text.windows(4).any(|end| end == b"\r\n\r\n") {
        socket.set_read_timeout(Some(left()))?;
        let mut piece = [0; 512];
        match socket.read(&mut piece) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => text.extend_from_slice(&piece[..length]),
            // So a read says that it timed out.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err(ErrorKind::TimedOut.into());
            }
            Err(error) => return Err(error),
        }
    }
    let status = text
        .get(9..12)
        .and_then(|digits| std::str::from_utf8(digits).ok());
    let status = status.and_then(|digits| digits.parse().ok());
    status.ok_or_else(|| ErrorKind::InvalidData.into())
}
