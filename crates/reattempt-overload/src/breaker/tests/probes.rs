//! Half-open: permits, and what becomes of them.

use super::*;

/// Half-open, by a breaker with a cool-down of 100 ms.
fn half_open(probes: u32) -> (Breaker, Hand) {
    let breaker = Breaker::count_window(1).cooldown(ms(100)).probes(probes);
    let clock = Hand::new();
    play(&breaker, &clock, "F");
    clock.pass(ms(100));
    (breaker, clock)
}

#[test]
fn one_probe_at_a_time() {
    let (breaker, clock) = half_open(1);
    let probe = permit(&breaker, &clock);
    let refused = breaker.permit_with_clock(&clock).err();
    assert_eq!(refused.map(|open| open.retry_after()), Some(None));
    assert!(breaker.refuses_with_clock(&clock));
    probe.succeeded_with_clock(&clock);
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
}

#[test]
fn all_of_three_have_to_succeed() {
    let (breaker, clock) = half_open(3);
    let probes = [(); 3].map(|()| permit(&breaker, &clock));
    assert!(breaker.permit_with_clock(&clock).is_err());
    for (ended, probe) in probes.into_iter().enumerate() {
        assert_eq!(breaker.state_with_clock(&clock), State::HalfOpen, "{ended}");
        probe.succeeded_with_clock(&clock);
        assert_eq!(breaker.refuses_with_clock(&clock), ended < 2, "{ended}");
    }
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
}

#[test]
fn one_that_fails_opens_it_again() {
    let (breaker, clock) = half_open(3);
    let [first, second, third] = [(); 3].map(|()| permit(&breaker, &clock));
    first.succeeded_with_clock(&clock);
    second.failed_with_clock(Verdict::Transient, &clock);
    let open = breaker.permit_with_clock(&clock).err();
    assert_eq!(open.and_then(|open| open.retry_after()), Some(ms(200)));
    // The third is late: it neither closes nor opens.
    third.failed_with_clock(Verdict::Transient, &clock);
    let open = breaker.permit_with_clock(&clock).err();
    assert_eq!(open.and_then(|open| open.retry_after()), Some(ms(200)));
    // All three again.
    clock.pass(ms(200));
    play(&breaker, &clock, "SS");
    assert_eq!(breaker.state_with_clock(&clock), State::HalfOpen);
    play(&breaker, &clock, "S");
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
}

#[test]
fn a_permit_that_comes_to_nothing_goes_back() {
    for probes in [1, 3] {
        let (breaker, clock) = half_open(probes);
        for _ in 0..10 {
            drop(permit(&breaker, &clock));
            permit(&breaker, &clock).failed_with_clock(Verdict::RetryForbidden, &clock);
        }
        assert_eq!(breaker.state_with_clock(&clock), State::HalfOpen);
        for _ in 0..probes {
            play(&breaker, &clock, "S");
        }
        assert_eq!(breaker.state_with_clock(&clock), State::Closed, "{probes}");
    }
}

/// A service that answers 404 is well.
#[test]
fn a_permanent_answer_is_that_of_a_healthy_service() {
    for probes in [1, 3] {
        let (breaker, clock) = half_open(probes);
        for _ in 1..probes {
            play(&breaker, &clock, "P");
            assert_eq!(
                breaker.state_with_clock(&clock),
                State::HalfOpen,
                "{probes}"
            );
        }
        play(&breaker, &clock, "P");
        assert_eq!(breaker.state_with_clock(&clock), State::Closed, "{probes}");
        // Closed it counts as little as before.
        play(&breaker, &clock, "PF");
        assert_eq!(breaker.state_with_clock(&clock), State::Open, "{probes}");
    }
}

#[test]
fn a_permanent_answer_that_was_slow_opens_it() {
    let breaker = Breaker::count_window(1)
        .cooldown(ms(100))
        .slow_calls(ms(10), 0.5);
    let clock = Hand::new();
    play(&breaker, &clock, "F");
    clock.pass(ms(100));
    let probe = permit(&breaker, &clock);
    clock.pass(ms(11));
    probe.failed_with_clock(Verdict::Permanent, &clock);
    assert_eq!(breaker.state_with_clock(&clock), State::Open);
}

#[test]
fn a_probe_that_hangs_is_given_up_on() {
    let (breaker, clock) = half_open(1);
    let hung = permit(&breaker, &clock);
    clock.pass(ms(99));
    assert!(breaker.permit_with_clock(&clock).is_err());
    clock.pass(ms(1));
    let probe = permit(&breaker, &clock);
    assert!(breaker.permit_with_clock(&clock).is_err());
    // Too late for both: neither a result nor a place.
    drop(hung);
    assert!(breaker.permit_with_clock(&clock).is_err());
    clock.pass(ms(100));
    let second = permit(&breaker, &clock);
    probe.failed_with_clock(Verdict::Transient, &clock);
    assert_eq!(breaker.state_with_clock(&clock), State::HalfOpen);
    second.succeeded_with_clock(&clock);
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
}

#[test]
fn successes_beside_a_probe_that_hangs_are_kept() {
    let (breaker, clock) = half_open(3);
    let _hung = permit(&breaker, &clock);
    clock.pass(ms(60));
    play(&breaker, &clock, "SS");
    clock.pass(ms(60));
    // It has hung for longer than a cool-down, but the last permit is younger.
    assert!(breaker.permit_with_clock(&clock).is_err());
    clock.pass(ms(40));
    play(&breaker, &clock, "S");
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
}

#[test]
fn a_slow_probe_has_not_succeeded() {
    let breaker = Breaker::count_window(1)
        .cooldown(ms(100))
        .slow_calls(ms(10), 1.0);
    let clock = Hand::new();
    play(&breaker, &clock, "F");
    clock.pass(ms(100));
    let probe = permit(&breaker, &clock);
    clock.pass(ms(11));
    probe.succeeded_with_clock(&clock);
    assert_eq!(breaker.state_with_clock(&clock), State::Open);
    clock.pass(ms(200));
    let probe = permit(&breaker, &clock);
    clock.pass(ms(10));
    probe.succeeded_with_clock(&clock);
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
}

#[test]
fn a_permit_is_small() {
    assert!(size_of::<Permit<'_>>() <= 24);
    assert!(size_of::<Pass>() <= 16);
}

/// Two have to succeed, of which one that began before it opened anew is none.
#[test]
fn a_probe_of_an_earlier_time_helps_no_later_one() {
    let (breaker, clock) = half_open(2);
    let [failed, late] = [(); 2].map(|()| permit(&breaker, &clock));
    failed.failed_with_clock(Verdict::Transient, &clock);
    clock.pass(ms(200));
    let first = permit(&breaker, &clock);
    late.succeeded_with_clock(&clock);
    first.succeeded_with_clock(&clock);
    assert_eq!(breaker.state_with_clock(&clock), State::HalfOpen);
    permit(&breaker, &clock).succeeded_with_clock(&clock);
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
}
