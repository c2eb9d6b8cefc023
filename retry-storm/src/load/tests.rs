use retry_runtime::{Policy, Shape};

use super::*;

fn scene() -> Scene {
    Scene {
        calls: 280.0,
        arrivals: Arrivals::Poisson,
        capacity: 300.0,
        stale: Stale::Served,
        timeout: Duration::from_secs(1),
        outage: 5..8,
        end: 40,
        seed: 3,
    }
}

fn sum(record: &Record, which: impl Fn(&Second) -> u32) -> u32 {
    record.seconds.iter().map(which).sum()
}

#[test]
fn a_seed_has_one_run() {
    let seconds = |seed| {
        let policy = Policy::new().max(4);
        let clients = [Client::new(policy), Client::new(policy)];
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
    let calls = sum(&record, |it| it.calls);
    assert_eq!(sum(&record, |it| it.attempts), calls);
    let over = sum(&record, |it| it.succeeded) + sum(&record, |it| it.timed_out);
    assert!(calls > 10_000 && calls - over <= 1, "{calls} {over}");
    // Of three seconds, all but the last.
    let timed_out = sum(&record, |it| it.timed_out);
    assert!((500..620).contains(&timed_out), "{timed_out}");
}

#[test]
fn a_call_makes_the_attempts_of_its_policy() {
    let policy = Policy::new().max(3).backoff(Shape::None);
    let scene = Scene {
        outage: 0..40,
        ..scene()
    };
    let record = run(&scene, &[Client::new(policy)]);
    let (calls, attempts) = (sum(&record, |it| it.calls), sum(&record, |it| it.attempts));
    let last_three: u32 = record.seconds.iter().rev().take(3).map(|it| it.calls).sum();
    assert!(attempts <= 3 * calls && attempts >= 3 * (calls - last_three));
    assert_eq!(sum(&record, |it| it.succeeded), 0);
}
