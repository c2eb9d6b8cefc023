//! What limits do that find their size, or are given one, where three times as many calls arrive as the server can serve.

use std::time::Duration;

use retry_runtime::{Bulkhead, Policy, Throttle};

use crate::client::Client;
use crate::figures::{Expected, Figure};
use crate::load;
use crate::record::Record;
use crate::scene::{Arrivals, Scene, Trigger};
use crate::server::Stale;

/// What the server can serve in a second.
const CAPACITY: u32 = 100;

/// The calls of two minutes; each is given up after a second, and served all the same.
fn run(client: Client, seed: u64) -> Record {
    let scene = Scene {
        calls: 3.0 * f64::from(CAPACITY),
        arrivals: Arrivals::Poisson,
        capacity: f64::from(CAPACITY),
        stale: Stale::Served,
        timeout: Duration::from_secs(1),
        trigger: Trigger::outage(0..0),
        end: Duration::from_secs(120),
        seed,
    };
    load::run(&scene, &[client])
}

fn client() -> Client {
    Client::new(Policy::new().max(1))
}

/// The successes of each second after the first twenty, as a share of what the server can serve.
fn goodput(record: &Record) -> f64 {
    let later = record.seconds.iter().skip(20);
    let most = f64::from(CAPACITY) * 100.0;
    later.map(|second| f64::from(second.succeeded)).sum::<f64>() / most
}

/// The attempts of the busiest second.
fn busiest(record: &Record) -> f64 {
    let attempts = record.seconds.iter().map(|second| second.attempts);
    attempts.max().map_or(0.0, f64::from)
}

fn of_seed(seed: u64) -> Vec<Figure> {
    let rate = Throttle::rate(CAPACITY, Duration::from_secs(1)).max_wait(Duration::from_secs(1));
    let rate = run(client().throttle(rate), seed);
    let adaptive = run(client().bulkhead(Bulkhead::adaptive()), seed);
    let none = run(client(), seed);
    let most = Expected::AtMost(f64::from(CAPACITY));
    let figure =
        |case: &str, expected, came_out| Figure::new("L1", case.to_owned(), expected, came_out);
    vec![
        figure(
            "no limit: share of what could be served",
            Expected::AtMost(0.05),
            goodput(&none),
        ),
        figure(
            "a rate of 100/s: most attempts in a second",
            most,
            busiest(&rate),
        ),
        figure(
            "a rate of 100/s: share of what could be served",
            Expected::AtLeast(0.95),
            goodput(&rate),
        ),
        figure(
            "an adaptive bulkhead: share of what could be served",
            Expected::AtLeast(0.95),
            goodput(&adaptive),
        ),
    ]
}

/// L1: three times as many calls as the server can serve.
pub fn figures() -> Vec<Figure> {
    of_seed(1)
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher as _, RandomState};

    use super::*;
    use crate::figures::assert_met;

    #[test]
    fn l1_three_times_the_load() {
        assert_met(&figures());
        for _ in 0..5 {
            let seed = RandomState::new().hash_one(0);
            println!("seed {seed:#x}");
            assert_met(&of_seed(seed));
        }
    }
}
