//! What the messages about a moved future, and about an async closure that changes a variable, name.

use std::io;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reattempt::{Policy, retry, retry_block};
use tracing::Instrument as _;

#[retry]
async fn send(mut answer: impl AsyncFnMut() -> io::Result<u32>) -> io::Result<u32> {
    answer().await
}

#[retry]
async fn ask<F: AsyncFnMut() -> io::Result<u32>>(mut answer: F) -> io::Result<u32> {
    answer().await
}

#[retry(max = 3, on(_))]
async fn first(mut stopped: impl AsyncFnMut() -> u32) -> Result<u32, String> {
    tokio::select! {
        number = stopped() => Err(number.to_string()),
        number = count(3) => number.map_err(|error| error.to_string()),
    }
}

#[retry(max = 3, on(_))]
async fn both(mut other: impl AsyncFnMut() -> u32) -> io::Result<u32> {
    let (number, other) = tokio::join!(count(3), other());
    Ok(number? + other)
}

#[retry(max = 3, on(_))]
fn refuse() -> impl Future<Output = Result<u32, String>> {
    let (size, sizes) = (3, [1, 2]);
    async move {
        let error = size.to_string();
        f(size, sizes);
        Err(error)
    }
}

fn f(_: u32, _: [u32; 2]) {}

#[retry(max = 3, on(_))]
fn with_a_name<'a>(calls: &'a mut u32) -> BoxFuture<'a, io::Result<u32>> {
    let changed = async move { change(calls).await };
    #[cfg(all())]
    let changed = changed.instrument(tracing::Span::none());
    changed.boxed()
}

#[retry(max = 3, on(_))]
fn in_a_span<'a>(calls: &'a mut u32) -> BoxFuture<'a, io::Result<u32>> {
    let span = tracing::debug_span!("change", calls = *calls);
    let changed = async move { change(calls).await };
    let changed = changed.instrument(span);
    changed.boxed()
}

#[retry(max = 3, on(_))]
fn boxed<'a>(calls: &'a mut u32) -> BoxFuture<'a, io::Result<u32>> {
    async move { change(calls).await }.boxed()
}

#[retry(max = 3, on(_))]
fn pinned<'a>(calls: &'a mut u32) -> BoxFuture<'a, io::Result<u32>> {
    let more = 1;
    let changed = async move { change(calls).await.map(|calls| calls + more) };
    Box::pin(changed)
}

#[retry(max = 3, on(_))]
fn bare(calls: &mut u32) -> impl Future<Output = io::Result<u32>> {
    let changed = async { change(calls).await };
    changed
}

#[retry(max = 3, on(_))]
fn elsewhere(calls: &mut u32) -> impl Future<Output = io::Result<u32>> {
    change(calls)
}

fn run_with<T>(mut run: impl FnMut() -> T) -> io::Result<T> {
    Ok(run())
}

#[retry(max = 3, on(_))]
fn passed_on(mut run: impl FnMut() -> u32) -> io::Result<u32> {
    run_with(&mut run)
}

async fn count(calls: u32) -> io::Result<u32> {
    Ok(calls)
}

async fn change(calls: &mut u32) -> io::Result<u32> {
    *calls += 1;
    Ok(*calls)
}

async fn counted() -> io::Result<u32> {
    let mut calls = 0;
    let mut more = || {
        calls += 1;
        count(calls)
    };
    Policy::new().run_async(&mut more).await?;
    Policy::new()
        .runner()
        .try_run_async(more)
        .await
        .map_err(|error| error.into_last().unwrap())
}

async fn changed(calls: &mut u32) -> io::Result<u32> {
    retry_block!(async || -> io::Result<u32> { change(calls).await }).await
}

struct Named<'a> {
    name: &'static str,
    body: &'a [u8],
}

async fn post(named: Named<'_>) -> io::Result<usize> {
    Ok(named.name.len() + named.body.len())
}

// What stands in front of the block takes the parameter, whose name the block has for something else.
#[retry]
fn with_a_field(name: String) -> impl Future<Output = io::Result<usize>> {
    let bytes = name.into_bytes();
    async move { post(Named { name: "x", body: &bytes }).await }
}

#[retry]
fn with_a_variable(name: String) -> impl Future<Output = io::Result<usize>> {
    let bytes = name.into_bytes();
    async move {
        let name = bytes.len();
        post(Named { name: "x", body: &bytes }).await.map(|it| it + name)
    }
}

struct Store;

impl Store {
    async fn words(&self) -> io::Result<&'static str> {
        Ok("x")
    }

    // What a future answers says nothing of what it borrows.
    #[retry]
    fn constant(&self) -> impl Future<Output = io::Result<&'static str>> {
        self.words()
    }
}

trait Ask {
    fn ask(&self) -> impl Future<Output = io::Result<&'static str>>;
}

impl Ask for Store {
    #[retry]
    fn ask(&self) -> impl Future<Output = io::Result<&'static str>> {
        self.words()
    }
}

fn main() {
    let mut calls = 0;
    drop(send(async || Ok(1)));
    drop(ask(async || {
        calls += 1;
        Ok(calls)
    }));
    drop((counted(), changed(&mut 0), refuse()));
    drop((
        with_a_name(&mut 0),
        in_a_span(&mut 0),
        elsewhere(&mut 0),
        boxed(&mut 0),
        pinned(&mut 0),
        bare(&mut 0),
    ));
    drop(passed_on(|| 3));
    drop((first(async || 1), both(async || 2)));
}
