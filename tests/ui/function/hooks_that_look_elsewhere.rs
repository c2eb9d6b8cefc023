use std::io;
use std::time::Duration;

use reattempt::retry;

#[derive(Debug)]
enum Fault {
    Busy,
}

#[retry(on = |result: &Result<u8, Fault>| result.is_err())]
fn on_a_result() -> Result<u8, Fault> {
    Err(Fault::Busy)
}

#[retry(until = |result: &io::Result<bool>| matches!(result, Ok(true)))]
fn until_a_result() -> io::Result<bool> {
    Ok(true)
}

#[retry(until = |result| result.is_ok())]
fn until_a_success() -> io::Result<u8> {
    Ok(1)
}

#[retry(until = Result::is_ok)]
fn until_a_function_of_a_result() -> io::Result<u8> {
    Ok(1)
}

#[retry(until = |number: &u32| *number > 3)]
fn until_what_is_inside() -> Option<u32> {
    Some(7)
}

async fn refresh(url: &str) -> usize {
    url.len()
}

struct Client {
    step: Duration,
}

impl Client {
    async fn refresh(&mut self) {}

    #[retry(before_retry = |_| async move { self.refresh().await })]
    async fn block_moves_self(&mut self) -> io::Result<u8> {
        Ok(1)
    }

    #[retry(backoff = |n| self.step * n)]
    fn backoff_of_self(&self) -> io::Result<u8> {
        Ok(1)
    }
}

#[retry(before_retry = async move |_| refresh(&url).await)]
async fn closure_moves_a_parameter(url: String) -> io::Result<u8> {
    Ok(1)
}

#[retry(on_retry = move |_| println!("{url}"))]
fn closure_moves_what_it_prints(url: String) -> io::Result<usize> {
    Ok(url.len())
}

#[retry(max = 5, backoff = |n| step * n)]
fn backoff_of_a_parameter(step: Duration) -> io::Result<u8> {
    Ok(1)
}

#[retry(fallback = default)]
fn fallback_of_a_parameter(default: u8) -> io::Result<u8> {
    Ok(1)
}

fn main() {}
