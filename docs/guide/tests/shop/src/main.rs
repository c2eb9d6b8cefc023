//! What the guide shows `cargo retry` on.

use reattempt::retry;
use std::io::Error;

#[retry(max = 5, base = "200ms", deadline = "10s")]
fn price(book: &str) -> Result<u32, Error> {
    Ok(stock(book)? * 7)
}

#[retry(policy = "storage", name = "shop.stock", max = 4)]
fn stock(book: &str) -> Result<u32, Error> {
    std::fs::read_to_string(book)?.parse().map_err(Error::other)
}

fn main() {
    println!("{:?}", price("book"));
}
