use reattempt::{retry, retry_block};

#[derive(Debug)]
struct Busy;

#[retry(5 times, on(_))]
fn times() -> Result<(), Busy> {
    Err(Busy)
}

#[retry(on(_), attempts 5)]
fn attempts() -> Result<(), Busy> {
    Err(Busy)
}

#[retry(on(_), base = 100 ms)]
fn unit() -> Result<(), Busy> {
    Err(Busy)
}

#[retry(on(_), jitter = 20%)]
fn share() -> Result<(), Busy> {
    Err(Busy)
}

fn main() {
    let _ = (times(), attempts(), unit(), share());
    let _: Result<(), Busy> = retry_block!(5 times, on(_), { Err(Busy) });
}
