//! The fixed rate: what begins in any period, who is next, and who is refused.

use super::*;

const MILLI: Duration = Duration::from_millis(1);

/// Asks until the attempt may begin; `None` where it is refused.
fn begin<'t>(throttle: &'t Throttle, clock: &Hand) -> Option<Permit<'t>> {
    let mut permit = throttle.permit_with_clock(clock).ok()?;
    loop {
        match permit.wait_with_clock(clock).ok()? {
            Duration::ZERO => break,
            wait => clock.pass(wait),
        }
    }
    permit.spend();
    Some(permit)
}

/// Returns how long one more call would wait.
fn wait(throttle: &Throttle, clock: &Hand) -> Duration {
    let permit = throttle.permit_with_clock(clock);
    permit.expect("it is allowed").wait()
}

#[test]
fn as_many_as_the_rate_begin_in_each_period() {
    let (throttle, clock) = (Throttle::rate(3, SECOND), Hand::new());
    let began: Vec<_> = (0..8)
        .map(|_| {
            begin(&throttle, &clock)
                .expect("it is allowed")
                .succeeded_with_clock(&clock);
            clock.now.get().as_secs()
        })
        .collect();
    assert_eq!(began, [0, 0, 0, 1, 1, 1, 2, 2]);
    assert_eq!(throttle.fill_rate(), Some(3.0));
    assert_eq!(Throttle::rate(3, SECOND / 2).fill_rate(), Some(6.0));
    assert_eq!(
        (throttle.measured_rate(), throttle.rejection_probability()),
        (None, 0.0)
    );
}

/// Calls of random times, some of which look late, leave, or are dropped when their turn has come.
#[test]
fn no_period_has_more() {
    let seed = ProcessClock.random();
    println!("seed {seed}");
    let clock = Hand::new();
    clock.random.set(seed);
    let draw = |below: u64| clock.random() % below;
    let mut sum = 0;
    for case in 0..300 {
        let calls = u32::try_from(1 + draw(6)).expect("it is allowed");
        let per = MILLI * u32::try_from(1 + draw(50)).expect("it is allowed");
        let throttle = Throttle::rate(calls, per).max_wait(Duration::from_secs(3600));
        let (mut waiting, mut began) = (Vec::new(), Vec::new());
        for _ in 0..200 {
            clock.pass(Duration::from_micros(draw(20_000)));
            if draw(3) > 0 {
                waiting.push(throttle.permit_with_clock(&clock).expect("it is allowed"));
            }
            // One of those that wait looks, or goes.
            if !waiting.is_empty() {
                let at = usize::try_from(draw(waiting.len() as u64)).expect("it is allowed");
                let mut permit = waiting.remove(at);
                match (
                    draw(8),
                    permit.wait_with_clock(&clock).expect("it is allowed"),
                ) {
                    (0, _) => drop(permit),
                    (_, Duration::ZERO) => {
                        permit.spend();
                        began.push(clock.now.get());
                    }
                    _ => waiting.insert(at, permit),
                }
            }
        }
        for (at, first) in began.iter().enumerate() {
            let inside = began[at..]
                .iter()
                .take_while(|moment| **moment < *first + per);
            assert!(
                inside.count() <= calls as usize,
                "case {case} of seed {seed}"
            );
        }
        sum += began.len();
    }
    assert!(sum > 5_000, "{sum} began, seed {seed}");
}

/// Nothing is lost: where calls always wait, the rate is used up.
#[test]
fn the_rate_is_used_up() {
    let (throttle, clock) = (Throttle::rate(7, SECOND), Hand::new());
    for _ in 0..700 {
        let _begun = begin(&throttle, &clock).expect("it is allowed");
    }
    assert_eq!(clock.now.get(), 99 * SECOND);
}

#[test]
fn first_asked_is_first_served_and_knows_its_turn() {
    let (throttle, clock) = (Throttle::rate(2, SECOND), Hand::new());
    let permits: Vec<_> = (0..7)
        .map(|_| throttle.permit_with_clock(&clock).expect("it is allowed"))
        .collect();
    let turns: Vec<_> = permits
        .iter()
        .map(|permit| permit.wait().as_secs())
        .collect();
    assert_eq!(turns, [0, 0, 1, 1, 2, 2, 3]);
    // Two that wait leave, and one whose turn had come: those behind move up.
    let mut permits: Vec<_> = permits.into_iter().map(Some).collect();
    for gone in [1, 2, 4] {
        permits[gone] = None;
    }
    let turns: Vec<_> = permits
        .iter_mut()
        .flatten()
        .map(|permit| permit.wait_with_clock(&clock).expect("it is allowed"))
        .collect();
    // Place 3 has the turn of place 1.
    assert_eq!(
        turns,
        [Duration::ZERO, Duration::ZERO, SECOND / 2, SECOND / 2]
    );
    let turns: Vec<_> = permits
        .iter()
        .flatten()
        .map(|permit| permit.wait().as_secs())
        .collect();
    assert_eq!(turns, [0, 0, 1, 1]);
}

#[test]
fn a_turn_that_is_too_far_away_is_refused_at_once() {
    let throttle = Throttle::rate(1, SECOND).max_wait(2 * SECOND);
    let clock = Hand::new();
    let permits: Vec<_> = (0..3)
        .map(|_| throttle.permit_with_clock(&clock).expect("it is allowed"))
        .collect();
    assert!(throttle.permit_with_clock(&clock).is_err());
    assert_eq!(Refused.classify(), Verdict::Refused);
    drop(permits);
    assert!(wait(&throttle, &clock).is_zero());

    let never_waits = Throttle::rate(1, SECOND).max_wait(Duration::ZERO);
    assert!(call(&never_waits, &clock, None));
    assert!(!call(&never_waits, &clock, None));
    clock.pass(MILLI * 999);
    assert!(!call(&never_waits, &clock, None));
    clock.pass(MILLI);
    assert!(call(&never_waits, &clock, None));
}

/// A call that is in the line and is not polled: the others wait for it a second longer at most, and its place is its own
/// when it looks.
#[test]
fn a_call_that_is_not_polled_holds_nobody_up() {
    let (throttle, clock) = (Throttle::rate(1, SECOND), Hand::new());
    assert!(call(&throttle, &clock, None));
    let mut silent = throttle.permit_with_clock(&clock).expect("it waits");
    let mut begun = 0;
    while begun < 5 {
        let _begun = begin(&throttle, &clock).expect("it begins");
        begun += 1;
    }
    assert!(clock.now.get() <= 7 * SECOND, "{:?}", clock.now.get());
    let mut next = throttle.permit_with_clock(&clock).expect("it waits");
    assert_eq!(next.wait(), SECOND);
    // It stands in front of the one that asked later.
    assert!(
        silent
            .wait_with_clock(&clock)
            .is_ok_and(|wait| !wait.is_zero())
    );
    assert_eq!(silent.wait(), SECOND);
    let _slice = next.wait_with_clock(&clock);
    assert_eq!(next.wait(), 2 * SECOND);
}

/// A thread that has read the clock a little before another one asks after it.
#[test]
fn a_time_that_is_a_little_behind_frees_nothing() {
    let (throttle, clock) = (Throttle::rate(1, SECOND), Hand::new());
    clock.pass(SECOND);
    assert!(call(&throttle, &clock, None));
    clock.now.set(Duration::from_nanos(999_999_995));
    assert_eq!(wait(&throttle, &clock), SECOND);
}

/// What services say does not change it.
#[test]
fn results_change_nothing() {
    let (throttle, clock) = (Throttle::rate(1000, SECOND), Hand::new());
    for verdict in [
        Verdict::Throttled(None),
        Verdict::Transient,
        Verdict::Permanent,
    ] {
        assert!(call(&throttle, &clock, Some(verdict)));
    }
    assert_eq!(throttle.fill_rate(), Some(1000.0));
    assert!(wait(&throttle, &clock).is_zero());
}

/// An attempt that does not wait for its turn is counted, so the others wait for it.
#[test]
fn a_call_that_is_too_early_makes_the_others_wait() {
    let (throttle, clock) = (Throttle::rate(1, SECOND), Hand::new());
    assert!(call(&throttle, &clock, None));
    clock.pass(SECOND / 2);
    let mut early = throttle.permit_with_clock(&clock).expect("it is allowed");
    early.spend();
    assert_eq!(wait(&throttle, &clock), SECOND);
}

#[test]
fn a_reset_lets_everybody_begin() {
    let (throttle, clock) = (Throttle::rate(1, SECOND), Hand::new());
    assert!(call(&throttle, &clock, None));
    let mut waits = throttle.permit_with_clock(&clock).expect("it is allowed");
    throttle.reset();
    assert!(
        waits
            .wait_with_clock(&clock)
            .expect("it is allowed")
            .is_zero()
    );
    // It has begun, and counts.
    assert_eq!(wait(&throttle, &clock), SECOND);
}

#[test]
fn a_clock_that_is_set_back_stops_nothing() {
    let (throttle, clock) = (Throttle::rate(1, SECOND), Hand::new());
    clock.pass(3600 * SECOND);
    assert!(call(&throttle, &clock, None));
    clock.now.set(SECOND);
    assert!(wait(&throttle, &clock).is_zero());
}

/// Threads by the clock of the program: as many as may begin at once do, and no more.
#[test]
fn threads_have_one_rate_together() {
    let throttle = Throttle::rate(100, 3600 * SECOND).max_wait(Duration::ZERO);
    let count = || {
        (0..50)
            .filter(|_| {
                throttle.permit().is_ok_and(|mut it| {
                    it.spend();
                    true
                })
            })
            .count()
    };
    let sum: usize = std::thread::scope(|scope| {
        let threads = [(); 8].map(|()| scope.spawn(count));
        threads
            .map(|thread| thread.join().expect("it is allowed"))
            .iter()
            .sum()
    });
    assert_eq!(sum, 100);
}
