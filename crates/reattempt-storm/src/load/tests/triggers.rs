//! What each trigger does to load and goodput.

use super::*;

fn triggered(kind: Kind) -> Scene {
    Scene {
        arrivals: Arrivals::Regular,
        trigger: Trigger {
            kind,
            time: secs(10)..secs(15),
        },
        ..scene()
    }
}

fn no_retry() -> [Client; 1] {
    [Client::new(Policy::new().max(1))]
}

#[test]
fn in_an_outage_nothing_is_served() {
    let record = run(&triggered(Kind::Outage), &no_retry());
    // What was begun is done.
    assert!(sum(&record, 10..15, |it| it.succeeded + it.wasted) <= 1);
    assert_eq!(sum(&record, 10..15, |it| it.attempts), 5 * 280);
    // And then, without a pause, what is stale.
    let served = sum(&record, 15..16, |it| it.succeeded + it.wasted);
    assert!((299..=300).contains(&served), "{served}");
    assert_eq!(sum(&record, 15..16, |it| it.succeeded), 0);
}

#[test]
fn a_slowdown_leaves_a_part() {
    let record = run(&triggered(Kind::Slowdown(0.2)), &no_retry());
    assert_eq!(sum(&record, 9..10, |it| it.succeeded), 280);
    for second in 10..15 {
        let served = sum(&record, second..second + 1, |it| it.succeeded + it.wasted);
        assert!((59..=61).contains(&served), "{served}");
    }
    let served = sum(&record, 15..20, |it| it.succeeded + it.wasted);
    assert!((1490..=1500).contains(&served), "{served}");
}

#[test]
fn a_burst_brings_more_calls() {
    let record = run(&triggered(Kind::Burst(3.0)), &no_retry());
    assert_eq!(sum(&record, 9..10, |it| it.calls), 280);
    for second in 10..15 {
        let calls = sum(&record, second..second + 1, |it| it.calls);
        assert!((838..=841).contains(&calls), "{calls}");
    }
    assert_eq!(sum(&record, 16..17, |it| it.calls), 280);
    let served = sum(&record, 10..15, |it| it.succeeded + it.wasted);
    assert!((1498..=1501).contains(&served), "{served}");
}

#[test]
fn errors_come_at_once_and_leave_no_queue() {
    let record = run(&triggered(Kind::Errors), &no_retry());
    // What is in the queue is served.
    assert_eq!(sum(&record, 10..15, |it| it.attempts), 5 * 280);
    assert!((1399..=1400).contains(&sum(&record, 10..15, |it| it.failed)));
    assert!(sum(&record, 10..15, |it| it.succeeded) <= 1);
    assert!((279..=280).contains(&sum(&record, 15..16, |it| it.succeeded)));
    assert_eq!(
        (record.last_timeout, record.total(|it| it.wasted)),
        (None, 0)
    );
}

#[test]
fn attempts_count_for_the_seconds_of_their_calls() {
    let record = run(
        &triggered(Kind::Burst(3.0)),
        &[Client::new(IMMEDIATE.without_budget())],
    );
    let attempts = sum(&record, 15..18, |it| it.attempts);
    assert!(
        attempts > 4 * 3 * 280,
        "retries of more calls than there are"
    );
    for second in 12..30 {
        let second = record.seconds[second];
        assert_eq!(second.made, 4 * second.calls);
    }
    assert_eq!(record.total(|it| it.made), record.total(|it| it.attempts));
}

#[test]
fn of_no_length_it_is_none() {
    for kind in [Kind::Outage, Kind::Slowdown(0.1), Kind::Burst(9.0)] {
        let scene = Scene {
            trigger: Trigger {
                kind,
                time: secs(10)..secs(10),
            },
            ..triggered(kind)
        };
        let record = run(&scene, &no_retry());
        assert_eq!(record.last_timeout, None, "{kind:?}");
    }
}

/// Calls that succeed in the last ten seconds, of 2800.
fn at_the_end(scene: &Scene, client: Client) -> u32 {
    let record = run(scene, &[client]);
    let last = record.seconds.len();
    sum(&record, last - 10..last, |it| it.succeeded)
}

#[test]
fn immediate_retries_are_a_storm_and_a_budget_is_none() {
    for kind in [Kind::Outage, Kind::Slowdown(0.2), Kind::Burst(3.0)] {
        let scene = Scene {
            capacity: 350.0,
            end: secs(120),
            ..triggered(kind)
        };
        let stormy = at_the_end(&scene, Client::new(IMMEDIATE.without_budget()));
        assert!(stormy < 280, "{kind:?}: {stormy}");
        let budget = Client::new(IMMEDIATE.without_budget()).budget(Budget::per_success(0.1));
        assert!(at_the_end(&scene, budget) >= 2_790, "{kind:?}");
        let breaker = Client::new(IMMEDIATE.without_budget()).breaker(Breaker::count_window(20));
        assert!(at_the_end(&scene, breaker) >= 2_790, "{kind:?}");
        let never = Client::new(Policy::new().max(1));
        assert!(at_the_end(&scene, never) >= 2_790, "{kind:?}");
    }
}
