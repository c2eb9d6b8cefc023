//! One deadline for everything below a request: each function sees what is left,
//! shrinks it for what it calls, and none begins what cannot end in time.
//!
//! `cargo run --example deadline`

use std::future::pending;
use std::time::Duration;

use reattempt::{GiveUpReason, RetryError, deadline, retry};
use tokio::time::{Instant, sleep};

const SECOND: Duration = Duration::from_secs(1);

/// What is left here, in seconds.
fn left(name: &str) -> f64 {
    let left = deadline::remaining().map_or(f64::INFINITY, |left| left.as_secs_f64());
    println!("{name}: {left} s left");
    left
}

/// Has all the time of the request, and takes one second of it.
async fn authorize() -> f64 {
    sleep(SECOND).await;
    left("authorize")
}

/// Has 3 seconds at most: its own deadline is seen below like any other.
#[retry(deadline = "3s")]
async fn load() -> Result<f64, RetryError<std::io::Error>> {
    sleep(SECOND / 2).await;
    Ok(cached())
}

/// Knows of no deadline, and of no async function above it.
fn cached() -> f64 {
    left("cached, below load")
}

/// Wants 2 seconds for an attempt; the last one gets less.
#[retry(max = 9, base = "1s", jitter = "none", timeout = "2s", on(_), context = attempt)]
async fn render() -> Result<(), RetryError<&'static str>> {
    let left = left("render");
    match attempt.number() {
        1 => assert_near(left, 2.0),
        number => assert!(number == 2 && left < 1.0),
    }
    pending().await
}

async fn request() -> GiveUpReason {
    assert_near(authorize().await, 4.2);
    let seen = load().await.ok();
    assert_near(seen.unwrap_or_default(), 2.5);
    match render().await {
        Ok(()) => unreachable!("it hangs"),
        Err(failed) => {
            println!("render: {failed}");
            assert!(failed.is_timeout());
            failed.reason()
        }
    }
}

fn assert_near(seen: f64, expected: f64) {
    assert!((seen - expected).abs() < 0.01, "{seen} s, not {expected} s");
}

// With the clock paused, the seconds are over in no time.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let start = Instant::now();
    let limit = Duration::from_millis(5_200);
    let reason = deadline::within(limit, request()).await;
    assert_eq!(reason, GiveUpReason::Deadline);
    assert_eq!(start.elapsed(), limit);
    assert_eq!(deadline::remaining(), None);
}
