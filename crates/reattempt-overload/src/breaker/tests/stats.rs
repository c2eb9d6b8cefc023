//! What a breaker says that it has counted.

use super::*;

fn counts(breaker: &Breaker, clock: &Hand) -> (State, u64, u64, u64) {
    let stats = breaker.stats_with_clock(clock);
    let counted = (stats.calls(), stats.failures(), stats.slow_calls());
    (stats.state(), counted.0, counted.1, counted.2)
}

#[test]
fn the_last_calls() {
    let (breaker, clock) = (Breaker::count_window(4).name("shop"), Hand::new());
    let stats = breaker.stats_with_clock(&clock);
    assert_eq!((stats.name(), stats.state_time()), ("shop", None));
    assert_eq!(stats.failure_ratio(), None);
    play(&breaker, &clock, "SFP");
    assert_eq!(counts(&breaker, &clock), (State::Closed, 2, 1, 0));
    // The failure is the fifth last, and no longer in the window.
    play(&breaker, &clock, "SSSS");
    assert_eq!(counts(&breaker, &clock), (State::Closed, 4, 0, 0));
    play(&breaker, &clock, "F");
    let stats = breaker.stats_with_clock(&clock);
    assert_eq!(stats.failure_ratio(), Some(0.25));
}

#[test]
fn the_calls_of_the_last_while() {
    let breaker = Breaker::time_window(ms(16_000)).slow_calls(ms(100), 1.0);
    let clock = Hand::at(ms(1_000_000));
    play(&breaker, &clock, "SF");
    let slow = permit(&breaker, &clock);
    clock.pass(ms(101));
    slow.succeeded_with_clock(&clock);
    assert_eq!(counts(&breaker, &clock), (State::Closed, 3, 1, 1));
    clock.pass(ms(8_000));
    play(&breaker, &clock, "S");
    assert_eq!(counts(&breaker, &clock), (State::Closed, 4, 1, 1));
    clock.pass(ms(8_000));
    assert_eq!(counts(&breaker, &clock), (State::Closed, 1, 0, 0));
}

#[test]
fn the_state_and_since_when() {
    let (breaker, clock) = (Breaker::count_window(2), Hand::at(ms(5_000)));
    let since = || breaker.stats_with_clock(&clock).state_time();
    play(&breaker, &clock, "FF");
    clock.pass(ms(1_000));
    // What has opened it stays to be looked at.
    assert_eq!(counts(&breaker, &clock), (State::Open, 2, 2, 0));
    assert_eq!(since(), Some(ms(1_000)));
    clock.pass(ms(4_000));
    assert_eq!(breaker.stats_with_clock(&clock).state(), State::HalfOpen);
    assert_eq!(since(), Some(ms(5_000)));
    let probe = permit(&breaker, &clock);
    clock.pass(ms(10));
    assert_eq!(since(), Some(ms(10)));
    probe.succeeded_with_clock(&clock);
    clock.pass(ms(3));
    assert_eq!(counts(&breaker, &clock), (State::Closed, 0, 0, 0));
    assert_eq!(since(), Some(ms(3)));
}

#[test]
fn looking_changes_nothing() {
    let (breaker, clock) = (Breaker::count_window(2), Hand::new());
    play(&breaker, &clock, "FF");
    clock.pass(ms(60_000));
    let before = format!("{:?}", breaker.word);
    for _ in 0..3 {
        assert_eq!(breaker.stats_with_clock(&clock).state(), State::HalfOpen);
    }
    assert_eq!(format!("{:?}", breaker.word), before);
}
