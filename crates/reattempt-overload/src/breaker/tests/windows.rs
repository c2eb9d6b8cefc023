//! What is counted, and when that is reason enough.

use core::num::NonZeroU64;

use super::*;

#[test]
fn the_last_n_calls_and_no_more() {
    for size in [1_u32, 3, 10, 63, 64, 65, 1000, 1024] {
        let (breaker, clock) = (Breaker::count_window(size).failure_ratio(1.0), Hand::new());
        // A success stays in the window for exactly `size` calls.
        for _ in 0..3 {
            play(&breaker, &clock, "S");
            for _ in 1..size {
                play(&breaker, &clock, "F");
            }
        }
        assert_eq!(breaker.state_with_clock(&clock), State::Closed, "{size}");
        play(&breaker, &clock, "F");
        assert_eq!(breaker.state_with_clock(&clock), State::Open, "{size}");
    }
}

/// By a list of the calls, for windows, ratios and results at random.
#[test]
fn as_a_list_would_count() {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    for round in 0..2000 {
        let size = 1 + random(70) as usize;
        let minimum = 1 + random(size as u64) as usize;
        let percent = 1 + random(100);
        let breaker = Breaker::count_window(size as u32)
            .min_calls(minimum as u32)
            .failure_ratio(percent as f64 / 100.0);
        let (clock, mut calls) = (Hand::new(), Vec::new());
        let share = random(100);
        for _ in 0..200 {
            let failed = random(100) < share;
            play(&breaker, &clock, if failed { "F" } else { "S" });
            calls.push(failed);
            let last = &calls[calls.len().saturating_sub(size)..];
            let failures = last.iter().filter(|&&failed| failed).count() as u64;
            let opens = failures > 0
                && last.len() >= minimum
                && failures * 100 >= percent * last.len() as u64;
            let opened = breaker.state_with_clock(&clock) == State::Open;
            assert_eq!(opened, opens, "round {round}: {percent} % of {last:?}");
            if opened {
                break;
            }
        }
    }
}

#[test]
fn ratios_are_exact() {
    for (ratio, opening, not) in [
        (0.3, "SSSSSSSFFF", "SSSSSSSSFF"),
        (0.6, "SSSSFFFFFF", "SSSSSFFFFF"),
        (0.7, "SSSFFFFFFF", "SSSSFFFFFF"),
        (1.0 / 3.0, "SSF", "SSS"),
        (2.0 / 3.0, "SFF", "SSF"),
        (1e-12, "SSF", "SSS"),
    ] {
        let size = opening.len() as u32;
        let (breaker, clock) = (
            Breaker::count_window(size).failure_ratio(ratio),
            Hand::new(),
        );
        play(&breaker, &clock, opening);
        assert_eq!(breaker.state_with_clock(&clock), State::Open, "{ratio}");
        let breaker = Breaker::count_window(size).failure_ratio(ratio);
        play(&breaker, &clock, not);
        assert_eq!(breaker.state_with_clock(&clock), State::Closed, "{ratio}");
    }
}

#[test]
fn ignored_results_are_not_in_the_window() {
    let (breaker, clock) = (Breaker::count_window(3), Hand::new());
    play(&breaker, &clock, "FPPPPPPF");
    drop(permit(&breaker, &clock));
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
    play(&breaker, &clock, "S");
    assert_eq!(breaker.state_with_clock(&clock), State::Open);
}

#[test]
fn every_verdict_worth_a_retry_is_a_failure() {
    for (verdict, state) in [
        (Verdict::Transient, State::Open),
        (Verdict::TransientAfter(ms(1)), State::Open),
        (Verdict::Throttled(None), State::Open),
        (Verdict::Refused, State::Open),
        (Verdict::Permanent, State::Closed),
        (Verdict::RetryForbidden, State::Closed),
    ] {
        let (breaker, clock) = (Breaker::count_window(1), Hand::new());
        permit(&breaker, &clock).failed_with_clock(verdict, &clock);
        assert_eq!(breaker.state_with_clock(&clock), state, "{verdict:?}");
    }
}

#[test]
fn a_minimum_is_waited_for() {
    for breaker in [
        Breaker::count_window(20).min_calls(5),
        Breaker::time_window(ms(1000)).min_calls(5),
    ] {
        let clock = Hand::new();
        play(&breaker, &clock, "FFFF");
        assert_eq!(breaker.state_with_clock(&clock), State::Closed);
        play(&breaker, &clock, "S");
        assert_eq!(breaker.state_with_clock(&clock), State::Open);
    }
    let (breaker, clock) = (Breaker::time_window(ms(1000)), Hand::new());
    play(&breaker, &clock, "FFFFFFFFF");
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
    play(&breaker, &clock, "F");
    assert_eq!(breaker.state_with_clock(&clock), State::Open);
}

#[test]
fn a_time_window_forgets() {
    for start in [0, 1 << 62, u64::MAX / 2] {
        let breaker = Breaker::time_window(ms(1600))
            .min_calls(4)
            .failure_ratio(1.0);
        let clock = Hand::at(Duration::from_nanos(start));
        play(&breaker, &clock, "FFF");
        // After all of it nothing is left; the failures here are no four.
        clock.pass(ms(1600));
        play(&breaker, &clock, "FFF");
        assert_eq!(breaker.state_with_clock(&clock), State::Closed);
        // Fifteen sixteenths are remembered.
        clock.pass(ms(1500));
        play(&breaker, &clock, "F");
        assert_eq!(breaker.state_with_clock(&clock), State::Open);
    }
}

#[test]
fn a_time_window_counts_through_its_steps() {
    let breaker = Breaker::time_window(ms(1600))
        .min_calls(16)
        .failure_ratio(0.25);
    let clock = Hand::at(ms(1_234_567));
    // A failure in five is too few, for as long as it takes.
    for _ in 0..200 {
        for call in ["S", "S", "F", "S", "S"] {
            play(&breaker, &clock, call);
            clock.pass(ms(37));
        }
    }
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
    play(&breaker, &clock, "FFFF");
    assert_eq!(breaker.state_with_clock(&clock), State::Open);
}

#[test]
fn a_time_window_by_a_clock_that_goes_back() {
    let breaker = Breaker::time_window(ms(1600)).min_calls(4);
    let clock = Hand::at(Duration::from_secs(86_400));
    play(&breaker, &clock, "SSS");
    clock.back(Duration::from_secs(3600));
    play(&breaker, &clock, "FFFF");
    assert_eq!(breaker.state_with_clock(&clock), State::Open);
}

#[test]
fn a_count_that_is_full_keeps_its_ratio() {
    let buckets = buckets::Buckets::new();
    let mut counts = buckets.sum(5);
    for call in 0..5_000_000 {
        counts = buckets.record(5, call % 4 == 0);
    }
    assert!(
        counts.calls < 1 << 22 && counts.calls >= 1 << 21,
        "{counts:?}"
    );
    let quarter = counts.calls / 4;
    assert!(counts.marked.abs_diff(quarter) <= 2, "{counts:?}");
}

/// What is not added up has no failure in it, whatever the steps of the clock.
#[test]
fn nothing_is_added_up_without_a_failure() {
    let (mut seed, mut now, mut skipped) = (7_u64, 0_u64, 0_u32);
    let buckets = buckets::Buckets::new();
    for _ in 0..20_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let drawn = seed >> 33;
        now = match drawn % 16 {
            0 => now.saturating_sub(3),
            1..4 => now.saturating_add(drawn % 40),
            _ => now,
        };
        let counted = buckets.record(now, drawn % 11 == 0);
        let sum = buckets.sum(now);
        if counted.marked == 0 {
            assert_eq!(sum.marked, 0);
            skipped = skipped.saturating_add(u32::from(counted.calls != sum.calls));
        } else {
            assert_eq!((counted.calls, counted.marked), (sum.calls, sum.marked));
        }
    }
    assert!(skipped > 100, "{skipped}");
}

#[test]
fn slow_calls_open_it_too() {
    for breaker in [
        Breaker::count_window(4).slow_calls(ms(100), 0.5),
        Breaker::time_window(ms(16_000))
            .min_calls(4)
            .slow_calls(ms(100), 0.5),
    ] {
        let clock = Hand::new();
        let call = |took: u64| {
            let permit = permit(&breaker, &clock);
            clock.pass(ms(took));
            permit.succeeded_with_clock(&clock);
        };
        call(101);
        call(100);
        call(0);
        call(100);
        assert_eq!(breaker.state_with_clock(&clock), State::Closed);
        call(101);
        assert_eq!(breaker.state_with_clock(&clock), State::Closed);
        call(101);
        // The last four: 0 ms has gone out of neither window, the first call only of that of calls.
        assert_eq!(breaker.state_with_clock(&clock), State::Open);
    }
}

/// A count window asks no clock until it opens.
#[test]
fn no_clock_while_nothing_fails() {
    struct None;
    impl Clock for None {
        fn now(&self) -> Timestamp {
            unreachable!("nobody needs the time")
        }
    }
    let breaker = Breaker::count_window(4);
    for _ in 0..10 {
        breaker
            .permit_with_clock(&None)
            .expect("closed")
            .succeeded_with_clock(&None);
    }
    breaker
        .permit_with_clock(&None)
        .expect("closed")
        .failed_with_clock(Verdict::Transient, &None);
    assert!(!breaker.refuses_with_clock(&None));
    assert_eq!(breaker.state_with_clock(&None), State::Closed);
}

#[test]
fn threads_leave_the_count_of_the_bits() {
    let ring = ring::Ring::new();
    let size = NonZeroU64::MIN.saturating_add(99);
    std::thread::scope(|scope| {
        for seed in 0..4_u64 {
            let ring = &ring;
            scope.spawn(move || {
                for call in 0..50_000_u64 {
                    let failed = (call.wrapping_mul(seed + 3) >> 2) % 3 == 0;
                    ring.record(size, failed, Some(!failed));
                    if call % 1000 == 0 {
                        ring.clear();
                    }
                }
            });
        }
    });
    let [failed, slow] = ring.marks();
    assert_eq!(failed.count(), failed.bits());
    assert_eq!(slow.count(), slow.bits());
}

/// A window that is empty again has no failure left: of the first two calls one may fail.
#[test]
fn what_failed_before_a_reset_is_forgotten() {
    for breaker in [
        Breaker::count_window(100).min_calls(2).failure_ratio(0.6),
        Breaker::time_window(ms(16_000))
            .min_calls(2)
            .failure_ratio(0.6),
    ] {
        let clock = Hand::new();
        play(&breaker, &clock, "SSSSSSFSSFSFSF");
        breaker.reset();
        play(&breaker, &clock, "SFSF");
        assert_eq!(breaker.state_with_clock(&clock), State::Closed);
        play(&breaker, &clock, "F");
        assert_eq!(breaker.state_with_clock(&clock), State::Open);
    }
}
