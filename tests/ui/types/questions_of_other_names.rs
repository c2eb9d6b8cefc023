use std::io;
use std::time::Duration;

use reattempt::{RetryError, retry};

#[retry(on_retry = |retry| println!("{}", retry.number()))]
fn number() -> io::Result<u32> {
    Ok(1)
}

#[retry(before_retry = async |retry| println!("{:?}", retry.next_delay()))]
async fn delay() -> io::Result<u32> {
    Ok(1)
}

#[retry(on_retry = |retry| if let Some(error) = retry.last_error() { println!("{error}") })]
fn error() -> io::Result<u32> {
    Ok(1)
}

#[retry(on_retry = |retry| assert!(retry.elapsed() > Duration::from_secs(1)))]
fn elapsed() -> io::Result<u32> {
    Ok(1)
}

#[retry(context = attempt)]
fn attempt() -> io::Result<u32> {
    Ok(attempt.attempt() + 1)
}

#[retry(context = attempt)]
fn last_error() -> io::Result<u32> {
    println!("{:?}", attempt.error());
    Ok(1)
}

#[retry(context = attempt)]
fn limit() -> io::Result<u32> {
    println!("{}", attempt.key());
    Ok(attempt.max())
}

fn late(error: RetryError<io::Error>) -> io::Result<u32> {
    if error.timed_out() || error.count() > 3 { Ok(1) } else { Err(error.into_inner()) }
}

fn main() {
    let _ = (number(), delay(), error(), elapsed(), attempt(), last_error(), limit(), late);
}
