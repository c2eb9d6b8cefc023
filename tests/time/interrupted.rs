//! Cancelled from outside: `select!`, `abort`, a token, while time is paused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reattempt::retry;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::support::{assert_nothing_is_left, ms};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Default, Clone)]
struct Service {
    calls: Arc<AtomicU32>,
    alive: Arc<()>,
}

impl Service {
    #[retry(max = 5, base = "1h", cap = "2h", jitter = "none", on(_))]
    async fn fetch(&self) -> Result<u32, &'static str> {
        let _alive = Arc::clone(&self.alive);
        self.calls.fetch_add(1, Ordering::Relaxed);
        sleep(SECOND).await;
        Err("busy")
    }

    #[track_caller]
    fn assert_given_up_after(&self, calls: u32) {
        assert_eq!(self.calls.load(Ordering::Relaxed), calls);
        assert_eq!(Arc::strong_count(&self.alive), 1);
        assert_nothing_is_left();
    }
}

#[tokio::test(start_paused = true)]
async fn select() {
    let (service, start) = (Service::default(), Instant::now());
    let cases = [(ms(500), 1), (60 * SECOND, 2), (3602 * SECOND, 4)];
    for (after, calls) in cases {
        tokio::select! {
            _ = service.fetch() => panic!("it takes hours"),
            () = sleep(after) => {}
        }
        service.assert_given_up_after(calls);
    }
    assert_eq!(start.elapsed(), ms(500) + 3662 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn abort() {
    let service = Service::default();
    let spawned = service.clone();
    let task = tokio::spawn(async move { spawned.fetch().await });
    sleep(3602 * SECOND).await;
    task.abort();
    assert!(task.await.expect_err("aborted").is_cancelled());
    service.assert_given_up_after(2);
}

#[tokio::test(start_paused = true)]
async fn token() {
    let (service, token, start) = (Service::default(), CancellationToken::new(), Instant::now());
    let cancel = async {
        sleep(100 * SECOND).await;
        token.cancel();
    };
    let (answer, ()) = tokio::join!(token.run_until_cancelled(service.fetch()), cancel);
    assert_eq!(answer, None);
    // In the middle of the first hour of waiting.
    assert_eq!(start.elapsed(), 100 * SECOND);
    service.assert_given_up_after(1);
}

#[tokio::test(start_paused = true)]
async fn a_time_out_of_tokio() {
    let service = Service::default();
    assert!(
        tokio::time::timeout(2 * SECOND, service.fetch())
            .await
            .is_err()
    );
    service.assert_given_up_after(1);
}
