//! Who loses when a service has too much to do: calls of a low priority before others.

use std::time::Duration;

use retry_runtime::{Budget, Bulkhead, Policy, Throttle};

use crate::client::Client;
use crate::figures::{Expected, Figure};
use crate::load;
use crate::scene::{Arrivals, Kind, Scene, Trigger};
use crate::server::Stale;

/// What is asked, and the client that asks it.
type Limit = (&'static str, fn() -> Client);

const LIMITS: [Limit; 3] = [
    ("a budget of tokens", || {
        let policy = Policy::new().max(4).timeout(Duration::from_millis(500));
        Client::new(policy).budget(Budget::tokens(500))
    }),
    ("a bulkhead of 16", || {
        let policy = Policy::new().max(1).timeout(Duration::from_secs(2));
        Client::new(policy).bulkhead(Bulkhead::new(16))
    }),
    ("an adaptive throttle", || {
        let policy = Policy::new().max(1).timeout(Duration::from_millis(500));
        Client::new(policy).throttle(Throttle::adaptive())
    }),
];

/// Two processes, half of whose calls have a low priority, before a service that has a part of its capacity for a while.
fn shares(client: fn() -> Client, seed: u64) -> (f64, f64) {
    let scene = Scene {
        calls: 200.0,
        arrivals: Arrivals::Poisson,
        capacity: 300.0,
        stale: Stale::Dropped,
        timeout: Duration::from_secs(1),
        trigger: Trigger {
            kind: Kind::Slowdown(0.5),
            time: Duration::from_secs(10)..Duration::from_secs(100),
        },
        end: Duration::from_secs(120),
        seed,
    };
    let clients = [client().low(0.5), client().low(0.5)];
    let record = load::run(&scene, &clients);
    (record.low.share(), record.normal.share())
}

/// P1: what calls of a low priority lose, for each that others lose.
pub fn figures() -> Vec<Figure> {
    let figures = LIMITS.map(|(name, client)| {
        let (low, normal) = shares(client, 1);
        let times = (1.0 - low) / (1.0 - normal);
        let case = format!("{name}: low calls lost for each normal one");
        Figure::new("P1", case, Expected::AtLeast(1.2), times)
    });
    figures.to_vec()
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher as _, RandomState};

    use super::*;
    use crate::figures::assert_met;

    #[test]
    fn p1_low_calls_lose_first() {
        assert_met(&figures());
    }

    #[test]
    fn low_calls_lose_before_high_ones() {
        for _ in 0..5 {
            let seed = RandomState::new().hash_one(0);
            for (name, client) in LIMITS {
                let (low, normal) = shares(client, seed);
                println!(
                    "seed {seed:#x}: of {name} {low:.3} of the low calls succeed, {normal:.3} of the others"
                );
                assert!(low < normal, "seed {seed:#x}, {name}: {low} and {normal}");
            }
        }
    }
}
