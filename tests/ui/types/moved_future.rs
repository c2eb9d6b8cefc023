use std::future::Future;
use std::io;
use std::pin::Pin;

use reattempt::retry;

#[retry]
async fn send(answer: impl Future<Output = io::Result<u32>>) -> io::Result<u32> {
    answer.await
}

#[retry]
async fn ask<F: Future<Output = io::Result<u32>>>(answer: F) -> io::Result<u32> {
    answer.await
}

#[retry]
async fn read(answer: Box<dyn Future<Output = io::Result<u32>> + Unpin>) -> io::Result<u32> {
    answer.await
}

#[retry]
async fn load(answer: Pin<Box<dyn Future<Output = io::Result<u32>>>>) -> io::Result<u32> {
    answer.await
}

fn main() {
    drop((send(async { Ok(1) }), ask(async { Ok(1) })));
}
