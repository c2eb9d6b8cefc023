use std::sync::Barrier;
use std::thread;

use super::*;

#[test]
fn what_counts_as_accepted() {
    let after = Some(SECOND);
    for (verdict, accepted) in [
        (None, true),
        (Some(Verdict::Permanent), true),
        (Some(Verdict::Transient), false),
        (Some(Verdict::TransientAfter(SECOND)), false),
        (Some(Verdict::Throttled(after)), false),
        (Some(Verdict::Refused), false),
        (Some(Verdict::RetryForbidden), false),
    ] {
        let (throttle, clock) = (Throttle::adaptive(), Hand::new());
        assert!(call(&throttle, &clock, verdict));
        let expected = if accepted { 0.0 } else { 0.5 };
        assert_eq!(
            throttle.rejection_probability_with_clock(&clock),
            expected,
            "{verdict:?}"
        );
    }
}

#[test]
fn refuses_the_share_that_it_says() {
    let (throttle, clock) = (Throttle::adaptive().ceiling(1.0), Hand::new());
    for n in 0..200 {
        call(
            &throttle,
            &clock,
            (n >= 50).then_some(Verdict::Throttled(None)),
        );
    }
    // 200 requests, those that were refused too, and 50 accepts.
    let share = throttle.rejection_probability_with_clock(&clock);
    assert_eq!(share, 100.0 / 201.0);

    // While everything is refused or fails, nearly everything is refused.
    let passed = (0..10_000)
        .filter(|_| call(&throttle, &clock, Some(Verdict::Transient)))
        .count();
    // The sum of 101 / (n + 1) for n from 200 to 10200 is 397.
    assert!((350..450).contains(&passed), "{passed}");
    let hopeless = throttle.rejection_probability_with_clock(&clock);
    assert_eq!(hopeless, 10_100.0 / 10_201.0);
}

/// How many windows go by after an outage until less than a tenth of 100 calls a second is refused.
fn windows_to_come_back(throttle: &Throttle, window: Duration) -> u128 {
    let clock = Hand::new();
    for _ in 0..1000 {
        clock.pass(SECOND / 100);
        call(throttle, &clock, Some(Verdict::Transient));
    }
    let outage = clock.now.get();
    while throttle.rejection_probability_with_clock(&clock) > 0.1 {
        clock.pass(SECOND / 100);
        call(throttle, &clock, None);
    }
    clock.now.get().saturating_sub(outage).as_nanos() / window.as_nanos()
}

#[test]
fn comes_back_when_the_service_does() {
    let window = SECOND * 10;
    let without = windows_to_come_back(&Throttle::adaptive().window(window).ceiling(1.0), window);
    assert!((3..6).contains(&without), "{without}");
    let with = windows_to_come_back(&Throttle::adaptive().window(window), window);
    assert!(with < 2, "{with}");
}

#[test]
fn no_more_is_refused_than_the_ceiling_says() {
    let (throttle, clock) = (Throttle::adaptive().ceiling(0.75), Hand::new());
    let passed = (0..10_000)
        .filter(|_| call(&throttle, &clock, Some(Verdict::Transient)))
        .count();
    // The formula says what it says.
    assert_eq!(
        throttle.rejection_probability_with_clock(&clock),
        10_000.0 / 10_001.0
    );
    assert!((2450..2550).contains(&passed), "{passed}");

    let throttle = Throttle::adaptive();
    let passed = (0..10_000)
        .filter(|_| call(&throttle, &clock, Some(Verdict::Transient)))
        .count();
    assert!((1950..2050).contains(&passed), "{passed}");
}

/// After an outage of 5 minutes: the seconds until the share that is turned away is below one half, and until it
/// is 0.
fn seconds_to_come_back(throttle: &Throttle, a_second: u32, seed: u64) -> (u64, u64) {
    let clock = Hand::new();
    clock.random.set(seed);
    clock.pass(Duration::from_millis(seed * 1777));
    for _ in 0..a_second * 300 {
        clock.pass(SECOND / a_second);
        call(throttle, &clock, Some(Verdict::Transient));
    }
    let outage = clock.now.get();
    let below = |share: f64| {
        while throttle.rejection_probability_with_clock(&clock) > share {
            clock.pass(SECOND / a_second);
            call(throttle, &clock, None);
        }
        clock.now.get().saturating_sub(outage).as_secs()
    };
    (below(0.5), below(0.0))
}

/// The numbers of [`Throttle::ceiling`]'s documentation.
#[test]
fn comes_back_within_minutes() {
    for (a_second, seed) in [(1, 0), (10, 1), (100, 2)] {
        let (half, none) = seconds_to_come_back(&Throttle::adaptive(), a_second, seed);
        assert!((105..115).contains(&half), "{a_second} {half}");
        assert!((160..170).contains(&none), "{a_second} {none}");
    }
    let without = seconds_to_come_back(&Throttle::adaptive().ceiling(1.0), 10, 0);
    assert!(without.1 > 420, "{without:?}");
}

/// A failure is much of what a client knows that makes few calls.
#[test]
fn few_calls_are_not_turned_away() {
    for (throttle, minimum) in [
        (Throttle::adaptive(), 10),
        (Throttle::adaptive().min_requests(1), 1),
        (Throttle::adaptive().min_requests(50), 50),
    ] {
        let clock = Hand::new();
        for round in 0..3 {
            for n in 0..minimum {
                clock.random.set(0); // turns away whatever may be
                let passes = call(&throttle, &clock, Some(Verdict::Transient));
                assert!(passes, "{round}: {n} of {minimum}");
            }
            clock.random.set(0);
            assert!(!call(&throttle, &clock, None), "{round}: {minimum}");
            clock.pass(SECOND * 200); // nothing is left in the window
        }
    }
}

#[test]
fn as_new_after_a_reset() {
    let (throttle, clock) = (
        Throttle::adaptive().min_requests(1).factor(1.0),
        Hand::new(),
    );
    for _ in 0..50 {
        clock.pass(SECOND);
        call(&throttle, &clock, Some(Verdict::Transient));
    }
    assert!(throttle.rejection_probability_with_clock(&clock) > 0.9);
    throttle.reset();
    assert_eq!(throttle.rejection_probability_with_clock(&clock), 0.0);
    // The settings stay.
    call(&throttle, &clock, None);
    call(&throttle, &clock, Some(Verdict::Transient));
    assert_eq!(throttle.rejection_probability_with_clock(&clock), 1.0 / 3.0);
}

#[test]
fn a_call_is_forgotten_with_its_window() {
    let window = SECOND * 16;
    for start in [0, 5, u64::MAX / 3_000_000_000] {
        let (throttle, clock) = (Throttle::adaptive().window(window), Hand::new());
        clock.now.set(Duration::from_secs(start));
        call(&throttle, &clock, Some(Verdict::Transient));
        clock.pass(SECOND * 15);
        assert_eq!(
            throttle.rejection_probability_with_clock(&clock),
            0.5,
            "{start}"
        );
        clock.pass(SECOND);
        assert_eq!(
            throttle.rejection_probability_with_clock(&clock),
            0.0,
            "{start}"
        );
        // In the place of the one that is forgotten.
        call(&throttle, &clock, Some(Verdict::Transient));
        assert_eq!(
            throttle.rejection_probability_with_clock(&clock),
            0.5,
            "{start}"
        );
        clock.pass(SECOND * 1000);
        assert_eq!(
            throttle.rejection_probability_with_clock(&clock),
            0.0,
            "{start}"
        );
    }
}

#[test]
fn the_factor_says_how_much_is_too_much() {
    for (factor, expected) in [(1.0, 50.0 / 101.0), (1.5, 25.0 / 101.0), (2.0, 0.0)] {
        let (throttle, clock) = (Throttle::adaptive().factor(factor), Hand::new());
        for n in 0..100 {
            let verdict = (n >= 50).then_some(Verdict::Transient);
            call(&throttle, &clock, verdict);
        }
        assert_eq!(
            throttle.rejection_probability_with_clock(&clock),
            expected,
            "{factor}"
        );
    }
}

#[test]
fn a_permit_without_a_result_says_nothing() {
    let (throttle, clock) = (Throttle::adaptive(), Hand::new());
    for _ in 0..100 {
        drop(throttle.permit_with_clock(&clock));
    }
    assert_eq!(throttle.rejection_probability_with_clock(&clock), 0.0);
    let Ok(permit) = throttle.permit_with_clock(&clock) else {
        panic!("nothing speaks against it");
    };
    assert_eq!(permit.wait(), Duration::ZERO);
}

#[test]
fn threads_lose_no_call() {
    static SHARED: Throttle = Throttle::adaptive().ceiling(0.5);
    const CALLS: usize = 20_000;
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for n in 0..4 {
            let barrier = &barrier;
            scope.spawn(move || {
                let clock = Hand::new();
                barrier.wait();
                for _ in 0..CALLS {
                    // One thread of four is answered; a call that is refused counts, too.
                    let verdict = (n > 0).then_some(Verdict::Transient);
                    call(&SHARED, &clock, verdict);
                }
            });
        }
    });
    let Kind::Adaptive(adaptive) = &SHARED.kind else {
        panic!("it is adaptive");
    };
    let (requests, accepts) = adaptive.counts(Timestamp::from_origin(Duration::ZERO));
    assert_eq!(requests, 4 * CALLS as u64);
    assert!(0 < accepts && accepts <= CALLS as u64, "{accepts}");
}
