//! Opening, waiting, closing, and by hand.

use std::sync::Mutex;

use super::*;

const START: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_nanos(1 << 62),
    // Just before the milliseconds wrap.
    Duration::from_millis((1 << 32) - 2500),
    Duration::from_nanos(u64::MAX - 200_000_000_000),
];

#[test]
fn opens_waits_and_closes_wherever_the_clock_starts() {
    for start in START {
        let (breaker, clock) = (Breaker::count_window(2), Hand::at(start));
        play(&breaker, &clock, "SF");
        assert_eq!(breaker.state_with_clock(&clock), State::Open, "{start:?}");
        let refused = breaker.permit_with_clock(&clock).err();
        assert_eq!(refused.and_then(|open| open.retry_after()), Some(ms(5000)));
        clock.pass(ms(4999));
        assert!(breaker.refuses_with_clock(&clock), "{start:?}");
        let refused = breaker.permit_with_clock(&clock).err();
        assert_eq!(refused.and_then(|open| open.retry_after()), Some(ms(1)));
        clock.pass(ms(1));
        assert!(!breaker.refuses_with_clock(&clock), "{start:?}");
        assert_eq!(
            breaker.state_with_clock(&clock),
            State::HalfOpen,
            "{start:?}"
        );
        play(&breaker, &clock, "S");
        assert_eq!(breaker.state_with_clock(&clock), State::Closed, "{start:?}");
    }
}

#[test]
fn a_window_is_empty_after_closing() {
    let (breaker, clock) = (Breaker::count_window(4).failure_ratio(0.5), Hand::new());
    play(&breaker, &clock, "SSFF");
    clock.pass(ms(5000));
    play(&breaker, &clock, "SFSS");
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
    play(&breaker, &clock, "F");
    assert_eq!(breaker.state_with_clock(&clock), State::Open);
}

#[test]
fn the_wait_doubles_up_to_the_cap_and_starts_again_after_closing() {
    let breaker = Breaker::count_window(1)
        .cooldown(ms(100))
        .cooldown_cap(ms(700));
    let clock = Hand::new();
    for _ in 0..2 {
        for wait in [100, 200, 400, 700, 700] {
            play(&breaker, &clock, "F");
            let open = breaker.permit_with_clock(&clock).err();
            assert_eq!(open.and_then(|open| open.retry_after()), Some(ms(wait)));
            clock.pass(ms(wait));
        }
        play(&breaker, &clock, "S");
    }
    // More openings than the word can count.
    for _ in 0..40 {
        play(&breaker, &clock, "F");
        clock.pass(ms(700));
    }
    play(&breaker, &clock, "F");
    let open = breaker.permit_with_clock(&clock).err();
    assert_eq!(open.and_then(|open| open.retry_after()), Some(ms(700)));
}

#[test]
fn the_wait_is_drawn_from_four_fifths_to_all() {
    let draw = |random: u64| {
        let (breaker, clock) = (Breaker::count_window(1).cooldown(ms(1000)), Hand::new());
        clock.random.set(random);
        play(&breaker, &clock, "F");
        breaker
            .permit_with_clock(&clock)
            .err()
            .and_then(|open| open.retry_after())
    };
    assert_eq!(draw(0), Some(ms(1000)));
    assert_eq!(draw(1 << 63), Some(ms(900)));
    assert_eq!(draw(u64::MAX), Some(ms(800)));
    // Uniform: a thousand draws, a fifth of them in each fifth.
    let mut fifths = [0_u32; 5];
    for step in 0..1000_u64 {
        let wait = draw(step * (u64::MAX / 1000)).unwrap_or_default();
        let fifth = (wait.as_millis() as usize - 800) / 40;
        fifths[fifth.min(4)] += 1;
    }
    assert!(
        fifths.iter().all(|&n| (190..=210).contains(&n)),
        "{fifths:?}"
    );
}

#[test]
fn a_clock_that_goes_back_leaves_nothing_stuck() {
    let (breaker, clock) = (
        Breaker::count_window(1),
        Hand::at(Duration::from_secs(86_400)),
    );
    play(&breaker, &clock, "F");
    // A caller that read the clock before the one that opened it.
    clock.back(ms(3));
    assert!(breaker.refuses_with_clock(&clock));
    clock.back(Duration::from_secs(3600));
    play(&breaker, &clock, "S");
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
}

#[test]
fn results_of_an_earlier_life_count_nothing() {
    let (breaker, clock) = (Breaker::count_window(1), Hand::new());
    let (early, other) = (permit(&breaker, &clock), permit(&breaker, &clock));
    play(&breaker, &clock, "F");
    early.failed_with_clock(Verdict::Transient, &clock);
    clock.pass(ms(5000));
    // Not a second opening: the first wait has passed.
    play(&breaker, &clock, "S");
    other.failed_with_clock(Verdict::Transient, &clock);
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
    let before = permit(&breaker, &clock);
    breaker.reset();
    before.failed_with_clock(Verdict::Transient, &clock);
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
}

/// A call that began before a reset, or before the breaker opened, is none of the new window: neither its failure nor
/// that it was made.
#[test]
fn results_of_an_earlier_life_are_not_in_the_new_window() {
    type End = fn(Permit<'_>, &Hand);
    type Renew = fn(&Breaker, &Hand);
    let ends: [(&str, End); 2] = [
        ("failed", |call, clock| {
            call.failed_with_clock(Verdict::Transient, clock);
        }),
        ("succeeded", |call, clock| call.succeeded_with_clock(clock)),
    ];
    let renewals: [(&str, Renew); 2] = [
        ("reset", |breaker, _| breaker.reset()),
        ("opened and closed", |breaker, clock| {
            play(breaker, clock, "FF");
            clock.pass(ms(5000));
            play(breaker, clock, "S");
        }),
    ];
    let windows: [fn() -> Breaker; 2] = [
        || Breaker::count_window(2),
        || Breaker::time_window(Duration::from_secs(60)).min_calls(2),
    ];
    for window in windows {
        for (ended, end) in ends {
            for (renewed, renew) in renewals {
                let (breaker, clock) = (window(), Hand::new());
                let early = permit(&breaker, &clock);
                renew(&breaker, &clock);
                end(early, &clock);
                play(&breaker, &clock, "F");
                let state = breaker.state_with_clock(&clock);
                assert_eq!(state, State::Closed, "{renewed}, {ended}");
                play(&breaker, &clock, "F");
                assert_eq!(breaker.state_with_clock(&clock), State::Open);
            }
        }
    }
}

#[test]
fn forced_states_stay_until_reset() {
    let (breaker, clock) = (Breaker::count_window(2), Hand::new());
    breaker.force_open();
    clock.pass(Duration::from_secs(86_400));
    let refused = breaker.permit_with_clock(&clock).err();
    assert_eq!(refused.map(|open| open.retry_after()), Some(None));
    assert!(breaker.refuses_with_clock(&clock));
    assert_eq!(breaker.state_with_clock(&clock), State::ForcedOpen);
    breaker.force_closed();
    play(&breaker, &clock, "FFFFFF");
    assert_eq!(breaker.state_with_clock(&clock), State::ForcedClosed);
    let begun = permit(&breaker, &clock);
    breaker.reset();
    begun.failed_with_clock(Verdict::Transient, &clock);
    play(&breaker, &clock, "F");
    assert_eq!(breaker.state_with_clock(&clock), State::Closed);
    play(&breaker, &clock, "F");
    assert_eq!(breaker.state_with_clock(&clock), State::Open);
    breaker.reset();
    play(&breaker, &clock, "SF");
    assert_eq!(breaker.state_with_clock(&clock), State::Open);
}

#[test]
fn observers_see_each_change_once() {
    static SEEN: Mutex<Vec<Change>> = Mutex::new(Vec::new());
    static BREAKER: Breaker = Breaker::count_window(1)
        .name("payments")
        .cooldown(ms(100))
        .on_change(&|change| {
            if let Ok(mut seen) = SEEN.lock() {
                seen.push(change.clone());
            }
        });
    let clock = Hand::new();
    play(&BREAKER, &clock, "SF");
    assert!(BREAKER.refuses_with_clock(&clock));
    clock.pass(ms(100));
    assert_eq!(BREAKER.state_with_clock(&clock), State::HalfOpen);
    play(&BREAKER, &clock, "F");
    clock.pass(ms(200));
    play(&BREAKER, &clock, "S");
    BREAKER.reset();
    BREAKER.force_open();
    BREAKER.force_open();
    BREAKER.force_closed();
    BREAKER.reset();
    let seen = SEEN.lock().map(|seen| seen.clone()).unwrap_or_default();
    let changes: Vec<_> = seen
        .iter()
        .map(|change| (change.from(), change.to(), change.cooldown()))
        .collect();
    assert_eq!(
        changes,
        [
            (State::Closed, State::Open, Some(ms(100))),
            (State::Open, State::HalfOpen, None),
            (State::HalfOpen, State::Open, Some(ms(200))),
            (State::Open, State::HalfOpen, None),
            (State::HalfOpen, State::Closed, None),
            (State::Closed, State::ForcedOpen, None),
            (State::ForcedOpen, State::ForcedClosed, None),
            (State::ForcedClosed, State::Closed, None),
        ]
    );
    assert!(seen.iter().all(|change| change.name() == "payments"));
}

/// Made at run time, as those of many keys are: each says its own name.
#[test]
fn observers_made_at_run_time() {
    let (sender, seen) = std::sync::mpsc::channel();
    let breaker = |key: u32| {
        let sender = sender.clone();
        Breaker::count_window(1)
            .name("common")
            .on_change(&|_| unreachable!("another has its place"))
            .named(format!("host {key}"))
            .observed(move |change| {
                let _ = sender.send(change.clone());
            })
            .cooldown(ms(100))
    };
    let (one, two, clock) = (breaker(1), breaker(2), Hand::new());
    play(&one, &clock, "F");
    play(&two, &clock, "S");
    two.force_open();
    let reported: Vec<_> = seen
        .try_iter()
        .map(|change| (change.name().to_owned(), change.to()))
        .collect();
    let expected = [("host 1", State::Open), ("host 2", State::ForcedOpen)];
    assert_eq!(reported, expected.map(|(name, to)| (name.to_owned(), to)));
    assert!(format!("{one:?}").contains("host 1"), "{one:?}");
}

/// As `state` says it.
#[test]
fn what_is_printed() {
    let time = crate::virtual_time::virtual_time();
    let breaker = Breaker::count_window(1).name("payments");
    let shown = || format!("{breaker:?}");
    assert_eq!(shown(), "Breaker { name: \"payments\", state: Closed, .. }");
    let permit = breaker.permit().expect("it is closed");
    permit.failed(Verdict::Transient);
    assert!(shown().contains("Open"), "{}", shown());
    assert!(!shown().contains("Half"), "{}", shown());
    time.advance(Duration::from_secs(5));
    assert!(shown().contains("HalfOpen"), "{}", shown());
}
