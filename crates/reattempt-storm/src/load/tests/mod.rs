use std::time::Duration;

use retry_runtime::{Backoff, Breaker, Budget, Jitter, Policy};

use super::*;
use crate::record::{Record, Second};
use crate::scene::Trigger;
use crate::server::Stale;

mod chain;
mod default_budget;
mod limits;
mod triggers;

const IMMEDIATE: Policy = Policy::new().max(4).backoff(Backoff::None);

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn scene() -> Scene {
    Scene {
        calls: 280.0,
        arrivals: Arrivals::Poisson,
        capacity: 300.0,
        stale: Stale::Served,
        timeout: secs(1),
        trigger: Trigger::outage(5..8),
        end: secs(40),
        seed: 3,
    }
}

/// Of these seconds.
fn sum(record: &Record, seconds: std::ops::Range<usize>, which: impl Fn(&Second) -> u32) -> u32 {
    record.seconds[seconds].iter().map(which).sum()
}

#[test]
fn a_seed_has_one_run() {
    let seconds = |seed| {
        let policy = Policy::new().max(4);
        let clients = [
            Client::new(policy.without_budget()),
            Client::new(policy.without_budget()),
        ];
        run(&Scene { seed, ..scene() }, &clients).seconds
    };
    assert_eq!(seconds(3), seconds(3));
    assert_ne!(seconds(3), seconds(4));
}

#[test]
fn every_attempt_succeeds_or_times_out() {
    let scene = Scene {
        // All calls of the outage time out: nothing is on its way at the end.
        capacity: 1e6,
        ..scene()
    };
    let record = run(&scene, &[Client::new(Policy::new().max(1))]);
    let calls = record.total(|it| it.calls);
    assert_eq!(record.total(|it| it.attempts), calls);
    let timed_out = record.total(|it| it.timed_out);
    let over = record.total(|it| it.succeeded) + timed_out;
    assert!(calls > 10_000 && calls - over <= 1, "{calls} {over}");
    assert_eq!(record.total(|it| it.failed), timed_out);
    assert_eq!(record.total(|it| it.wasted), timed_out);
    assert_eq!(record.times.len(), usize::try_from(over).expect("few"));
    // Of three seconds, all but the last.
    assert!((500..620).contains(&timed_out), "{timed_out}");
}

#[test]
fn a_call_makes_the_attempts_of_its_policy() {
    let policy = Policy::new().max(3).backoff(Backoff::None);
    let scene = Scene {
        trigger: Trigger::outage(0..40),
        ..scene()
    };
    let record = run(&scene, &[Client::new(policy.without_budget())]);
    let (calls, attempts) = (record.total(|it| it.calls), record.total(|it| it.attempts));
    let last_three = u64::from(sum(&record, 37..40, |it| it.calls));
    assert!(attempts <= 3 * calls && attempts >= 3 * (calls - last_three));
    assert_eq!(record.total(|it| it.succeeded), 0);
}

#[test]
fn who_watches_can_break_it_off() {
    let mut seen = Vec::new();
    let clients = [Client::new(IMMEDIATE.without_budget())];
    let record = run_watched(&scene(), &[Service::new(&clients)], |course| {
        seen.push(course);
        if course.attempts < 5_000 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let last = seen.last().expect("somebody watched");
    assert!((5_000..5_000 + u64::from(UNWATCHED)).contains(&last.attempts));
    assert!(seen.is_sorted_by_key(|it| (it.elapsed, it.attempts)));
    assert_eq!(record.ended, last.elapsed);
    assert!(record.ended < secs(40));
    assert!(record.total(|it| it.attempts) <= last.attempts);
}

#[test]
fn a_scene_of_nothing_ends() {
    for (calls, capacity) in [
        (0.0, 300.0),
        (-1.0, 300.0),
        (f64::NAN, 300.0),
        (280.0, 0.0),
        (280.0, f64::NAN),
    ] {
        let scene = Scene {
            calls,
            capacity,
            ..scene()
        };
        let record = run(&scene, &[Client::new(Policy::new().without_budget())]);
        assert_eq!(record.seconds.len(), 40);
        assert!(record.total(|it| it.succeeded) <= 1);
    }
    assert_eq!(run(&scene(), &[]).ended, Duration::ZERO);
}
