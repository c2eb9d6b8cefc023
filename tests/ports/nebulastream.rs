//! A worker of `NebulaStream` connects to its coordinator until it works: `Retry::spawn` of tokio-retry2 without `take`.

use std::time::Duration;

use reattempt::retry;
use tokio::time::{Instant, sleep};

/// A network in which the coordinator comes up late, and drops each session after a while.
struct Network {
    /// When it comes up.
    up: Instant,
    lost: u32,
    attempts: u32,
    sessions: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionError {
    Refused,
    Lost,
    /// The coordinator does not know this worker: no retry helps.
    Rejected,
}

impl Network {
    fn up_after(outage: Duration) -> Self {
        Self {
            up: Instant::now() + outage,
            lost: 0,
            attempts: 0,
            sessions: 0,
        }
    }

    fn dial(&mut self) -> Result<Session, ConnectionError> {
        self.attempts += 1;
        if Instant::now() < self.up {
            return Err(ConnectionError::Refused);
        }
        Ok(Session)
    }
}

struct Session;

impl Session {
    /// Serves for an hour, and is lost; the last one learns that the worker is no longer wanted.
    async fn serve(self, network: &mut Network) -> Result<(), ConnectionError> {
        network.sessions += 1;
        sleep(Duration::from_secs(3600)).await;
        network.lost += 1;
        if network.lost == 50 {
            return Err(ConnectionError::Rejected);
        }
        // The coordinator is away for a minute each time.
        network.up = Instant::now() + Duration::from_secs(60);
        Err(ConnectionError::Lost)
    }
}

#[retry(
    max = "unlimited",
    base = "100ms",
    cap = "10s",
    on(ConnectionError::Refused | ConnectionError::Lost)
)]
async fn connect(network: &mut Network) -> Result<Session, ConnectionError> {
    network.dial()
}

/// The count and the delays start anew after each session; thirty failures in a row are the end.
#[retry(
    max = 30,
    base = "100ms",
    cap = "10s",
    reset_after = "1m",
    on(ConnectionError::Refused | ConnectionError::Lost)
)]
async fn work(network: &mut Network) -> Result<(), ConnectionError> {
    network.dial()?.serve(network).await
}

#[tokio::test(start_paused = true)]
async fn it_connects_however_long_it_takes() {
    let week = Duration::from_secs(7 * 24 * 3600);
    let mut network = Network::up_after(week);
    connect(&mut network).await.unwrap();
    assert!(network.attempts > 60_000, "{}", network.attempts);
}

#[tokio::test(start_paused = true)]
async fn it_works_through_many_outages() {
    let mut network = Network::up_after(Duration::from_secs(60));
    let end = work(&mut network).await;
    assert_eq!(end, Err(ConnectionError::Rejected));
    assert_eq!(network.sessions, 50);
    assert!(network.attempts > 500, "{}", network.attempts);
}
