//! A service that is down for a while, with calls that go on: the budget bounds what is sent, the breaker
//! opens, the fallback answers, and when the service is back the breaker finds out.
//!
//! tokio's clock is paused: no wait takes time.
//!
//! `cargo run --example overload`

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::overload::breaker::State;
use reattempt::{Breaker, Budget, GiveUpReason, RetryError, retry};
use tokio::time::{Instant, sleep, sleep_until};

static BUDGET: Budget = Budget::per_success(0.1).floor(0.0).initial(3);

static BREAKER: Breaker = Breaker::time_window(Duration::from_secs(10))
    .min_calls(20)
    .cooldown(Duration::from_secs(1))
    .cooldown_cap(Duration::from_secs(4))
    .name("rates")
    .on_change(&|change| println!("{}: {} to {}", change.name(), change.from(), change.to()));

#[derive(Debug, PartialEq)]
enum Rate {
    Fresh,
    OfYesterday(GiveUpReason),
}

#[derive(Debug)]
struct Unavailable;

#[retry(
    max = 4,
    base = "100ms",
    budget = &BUDGET,
    breaker = &BREAKER,
    on(Unavailable),
    fallback = |failed: RetryError<Unavailable>| Rate::OfYesterday(failed.reason()),
)]
async fn rate(service: &Service) -> Result<Rate, RetryError<Unavailable>> {
    service.rate().await
}

/// A service in another place.
struct Service {
    down: std::ops::Range<u64>,
    start: Instant,
    requests: AtomicU32,
}

impl Service {
    async fn rate(&self) -> Result<Rate, Unavailable> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        sleep(Duration::from_millis(5)).await;
        if self.down.contains(&self.start.elapsed().as_secs()) {
            return Err(Unavailable);
        }
        Ok(Rate::Fresh)
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let service = Service {
        down: 10..30,
        start: Instant::now(),
        requests: AtomicU32::new(0),
    };
    let mut before = 0;
    let mut requests = Vec::new();
    for period in 1..=8 {
        let (mut fresh, mut refused) = (0, 0);
        for _ in 0..50 {
            match rate(&service).await {
                Ok(Rate::Fresh) => fresh += 1,
                Ok(Rate::OfYesterday(GiveUpReason::BreakerOpen)) => refused += 1,
                other => assert!(matches!(other, Ok(Rate::OfYesterday(_)))),
            }
            sleep(Duration::from_millis(95)).await;
        }
        let until_now = service.requests.load(Ordering::Relaxed);
        let sent = until_now - before;
        before = until_now;
        println!("5 s, 50 calls: {sent} requests, {fresh} fresh, {refused} refused at once");
        requests.push(sent);
        sleep_until(service.start + period * Duration::from_secs(5)).await;
    }

    let in_outage: u32 = requests.iter().skip(2).take(4).sum();
    println!("{in_outage} requests for the 200 calls of the outage");
    assert!(in_outage < 100); // without any of this, 800
    assert_eq!(
        (BREAKER.state(), requests.last()),
        (State::Closed, Some(&50))
    );
}
