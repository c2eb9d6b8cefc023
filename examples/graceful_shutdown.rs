//! A shutdown in the middle of a long delay: whoever drops the future of a retried
//! call ends the attempt or the wait at once. A `CancellationToken` tells everybody
//! who has to.
//!
//! `cargo run --example graceful_shutdown`

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::retry;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

#[derive(Debug, PartialEq)]
struct Unavailable;

/// Patient: an hour between two attempts.
#[retry(
    max = 20,
    backoff = "fixed",
    base = "1h",
    cap = "1h",
    jitter = "none",
    on(Unavailable)
)]
async fn deliver(mail: &str, attempts: &AtomicU32) -> Result<(), Unavailable> {
    let attempt = attempts.fetch_add(1, Ordering::Relaxed) + 1;
    println!("{mail}: attempt {attempt}");
    sleep(Duration::from_secs(1)).await;
    Err(Unavailable)
}

/// What is under way when the token is cancelled goes back to the queue.
async fn worker(shutdown: CancellationToken, queue: Vec<&'static str>) -> (u32, Vec<&'static str>) {
    let attempts = AtomicU32::new(0);
    let mut undelivered = Vec::new();
    for mail in queue {
        let delivered = shutdown.run_until_cancelled(deliver(mail, &attempts)).await;
        if delivered != Some(Ok(())) {
            undelivered.push(mail);
        }
    }
    (attempts.into_inner(), undelivered)
}

// With the clock paused, three hours are over in no time.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let shutdown = CancellationToken::new();
    let worker = tokio::spawn(worker(shutdown.clone(), vec!["one", "two"]));
    let start = Instant::now();

    sleep(Duration::from_secs(3 * 3600)).await;
    println!("shutting down");
    shutdown.cancel();
    let finished = worker.await;

    // Three attempts in three hours; the second mail was not begun any more.
    println!("left: {finished:?}");
    assert!(matches!(finished, Ok((3, left)) if left == ["one", "two"]));
    assert_eq!(start.elapsed(), Duration::from_secs(3 * 3600));
}
