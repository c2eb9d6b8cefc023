//! What the message about a moved future names.

use std::io;

use reattempt::retry;

#[retry]
async fn send(mut answer: impl AsyncFnMut() -> io::Result<u32>) -> io::Result<u32> {
    answer().await
}

#[retry]
async fn ask<F: AsyncFnMut() -> io::Result<u32>>(mut answer: F) -> io::Result<u32> {
    answer().await
}

fn main() {
    let mut calls = 0;
    drop(send(async || Ok(1)));
    drop(ask(async || {
        calls += 1;
        Ok(calls)
    }));
}
