//! An outage that outlives its cause.
//!
//! A server can serve 300 requests a second, one after the other, and 280 calls a second arrive. For 10 s it stands
//! still while they queue up. An attempt times out after 1 s; the server does not know, and serves what is stale.
//!
//! **Recovered** is who sees no time-out any more: the figure is the time from the end of the outage to the last one.
//!
//! # What has to come out
//!
//! When the outage ends, 10 s * 280/s = 2800 requests wait. Whoever waits behind more than 300 of them times out.
//! Without retries the queue shrinks by 300/s - 280/s, and only after (2800 - 300) / 20/s = 125 s does anybody get an
//! answer in time. As long as stale work is served, only what turns calls away is faster, as a breaker.
//!
//! * With one retry at once, and without a budget, 560/s arrive as long as everything times out: the queue grows for ever.
//! * With a budget of 10 % of the successes nothing is retried as long as nothing succeeds, so that it takes those
//!   125 s. That holds for a budget that knows the successes of its own time only: no reserve, no floor, and a `ttl`
//!   no longer than the time-out. What was earned before the outage or is always there is paid for: the
//!   defaults (10 s of deposits, 10 in reserve, 1/s) bring 280 + 10 + 9 more requests into the queue, which then
//!   shrinks by 19/s: (3099 - 300) / 19/s = 147 s.
//! * Where the server drops what it cannot answer in time, the queue is at most 1 s long, and the first answers come in time.
//!   With retries and without a budget that takes seconds, because 560/s arrive as long as everything times out: 13 s
//!   with even arrivals, 3 to 6 s with random ones.

use std::time::Duration;

use retry_runtime::{Backoff, Budget, Policy};

use crate::client::Client;
use crate::figures::{Expected, Figure};
use crate::load::run;
use crate::record::Record;
use crate::scene::{Arrivals, Scene, Trigger};
use crate::server::Stale;

/// The outage: after a minute in which all is well.
const OUTAGE: Trigger = Trigger::outage(60..70);

/// The scene of the figures.
pub const fn scene(stale: Stale, arrivals: Arrivals) -> Scene {
    Scene {
        calls: 280.0,
        arrivals,
        capacity: 300.0,
        stale,
        timeout: Duration::from_secs(1),
        trigger: OUTAGE,
        end: Duration::from_secs(300),
        seed: 1,
    }
}

/// One retry, at once.
pub const fn one_retry() -> Policy {
    Policy::new().max(2).backoff(Backoff::None)
}

/// 10 % of the successes of the last second, and nothing besides.
pub fn successes_only() -> Budget {
    Budget::per_success(0.1)
        .ttl(Duration::from_secs(1))
        .floor(0.0)
        .initial(0)
}

/// Seconds from the end of the outage to the last time-out; `None` if there were some to the end of the run.
pub fn recovery(scene: &Scene, record: &Record) -> Option<f64> {
    let last = record.last_timeout.unwrap_or_default();
    let outage = scene.trigger.time.end;
    let quiet = scene.end.saturating_sub(last) >= scene.timeout.saturating_mul(10);
    quiet.then(|| last.saturating_sub(outage).as_secs_f64())
}

/// Q9.
pub fn figures() -> Vec<Figure> {
    let regular = |stale| scene(stale, Arrivals::Regular);
    let figure = |case: &str, expected, scene: &Scene, budget: Option<Budget>| Figure {
        id: "Q9",
        case: format!("outage of 10 s, one retry, {case}: s"),
        expected,
        came_out: recovery(scene, &run(scene, &[client(budget)])),
    };
    let about = |value| Expected::Near { value, share: 0.1 };
    let long = Scene {
        end: Duration::from_secs(1_000),
        ..regular(Stale::Served)
    };
    let served = regular(Stale::Served);
    let dropped = regular(Stale::Dropped);
    let default = Budget::per_success(0.1);
    vec![
        figure("no budget", Expected::Never, &long, None),
        figure("budget 0.1", about(124.0), &served, Some(successes_only())),
        Figure::new(
            "Q9",
            "the same with random arrivals, mean of 10 runs: s".to_owned(),
            about(124.0),
            mean(10).unwrap_or(f64::NAN),
        ),
        figure("budget 0.1, default", about(147.0), &served, Some(default)),
        figure(
            "budget 0.1, stale dropped",
            Expected::AtMost(1.0),
            &dropped,
            Some(successes_only()),
        ),
    ]
}

/// One retry, under this budget.
pub fn client(budget: Option<Budget>) -> Client {
    let client = Client::new(one_retry().without_budget());
    match budget {
        Some(budget) => client.budget(budget),
        None => client,
    }
}

/// The mean of so many runs in which calls arrive at random; `None` if one did not recover.
fn mean(runs: u32) -> Option<f64> {
    let mut sum = 0.0;
    for seed in 1..=runs {
        let scene = Scene {
            seed: seed.into(),
            ..scene(Stale::Served, Arrivals::Poisson)
        };
        sum += recovery(&scene, &run(&scene, &[client(Some(successes_only()))]))?;
    }
    Some(sum / f64::from(runs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::assert_met;

    #[test]
    fn q9_metastable_failure() {
        assert_met(&figures());
    }

    #[test]
    fn without_an_outage_nothing_times_out() {
        let scene = Scene {
            trigger: Trigger::outage(0..0),
            ..scene(Stale::Served, Arrivals::Regular)
        };
        let record = run(&scene, &[Client::new(one_retry().without_budget())]);
        assert_eq!(record.last_timeout, None);
        assert_eq!(recovery(&scene, &record), Some(0.0));
    }

    /// At twice its load, after an outage of 5 s: a server that serves what nobody waits for any more does nothing else.
    #[test]
    fn a_server_that_refuses_what_has_expired_answers_calls() {
        for arrivals in [Arrivals::Regular, Arrivals::Poisson] {
            for seed in 1..=5 {
                let answered = |stale| {
                    let scene = Scene {
                        calls: 600.0,
                        trigger: Trigger::outage(60..65),
                        end: Duration::from_secs(125),
                        seed,
                        ..scene(stale, arrivals)
                    };
                    let clients = [const { Client::new(Policy::new().max(5)) }; 10];
                    let record = run(&scene, &clients);
                    let after = record.seconds.iter().skip(65);
                    after.map(|second| second.succeeded).sum::<u32>()
                };
                let (served, refused) = (answered(Stale::Served), answered(Stale::Dropped));
                println!("{arrivals:?}, seed {seed}: {served} calls are answered, or {refused}");
                assert!(refused >= 3 * served.max(1000), "{served} {refused}");
            }
        }
    }

    #[test]
    fn what_never_recovers_gets_worse() {
        let scene = scene(Stale::Served, Arrivals::Regular);
        let record = run(&scene, &[Client::new(one_retry().without_budget())]);
        let last = record.seconds.last().copied().unwrap_or_default();
        assert_eq!((last.calls, last.attempts, last.succeeded), (280, 560, 0));
    }
}
