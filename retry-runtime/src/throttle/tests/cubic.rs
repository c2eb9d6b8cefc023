use super::*;

/// A call each fifth of a second: the half seconds that are measured, and the rates that follow.
/// Until the first throttled one there is no limit.
#[test]
fn the_rate_follows_the_service() {
    const THROTTLED: Option<Verdict> = Some(Verdict::Throttled(None));
    let steps: &[(Option<Verdict>, f64, Option<f64>)] = &[
        (None, 0.0, None), // 0.2 s
        (None, 0.0, None),
        (None, 4.8, None),
        (None, 4.8, None),
        (None, 4.16, None), // 1 s
        (None, 4.16, None),
        (None, 4.16, None),
        (None, 5.632, None),
        (None, 5.632, None),
        (THROTTLED, 4.3264, Some(3.028_480)), // 2 s
        (None, 4.3264, Some(3.486_639)),
        (None, 4.3264, Some(3.821_874)),
        (None, 5.665_28, Some(4.053_386)),
        (None, 5.665_28, Some(4.200_373)),
        (None, 4.333_056, Some(4.282_037)), // 3 s
        (THROTTLED, 4.333_056, Some(2.997_426)),
        (None, 4.333_056, Some(3.452_226)),
    ];
    let (throttle, clock) = (Throttle::cubic(), Hand::new());
    for (verdict, measured, fill) in steps {
        clock.pass(SECOND / 5);
        let at = clock.now.get();
        assert!(call(&throttle, &clock, *verdict), "{at:?}");
        let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-6,
            (a, b) => a == b,
        };
        let rates = (throttle.measured_rate(), throttle.fill_rate());
        assert!(close(rates.0, Some(*measured)), "{at:?} {rates:?}");
        assert!(close(rates.1, *fill), "{at:?} {rates:?}");
    }
}

fn limited(clock: &Hand) -> Throttle {
    let throttle = Throttle::cubic();
    call(&throttle, clock, Some(Verdict::Throttled(None)));
    assert_eq!(throttle.fill_rate(), Some(0.5));
    throttle
}

fn wait(throttle: &Throttle, clock: &Hand) -> Duration {
    let Ok(mut permit) = throttle.permit_by(clock) else {
        panic!("it refuses nothing");
    };
    permit.spend();
    permit.wait()
}

#[test]
fn nobody_waits_before_the_service_throttles() {
    let (throttle, clock) = (Throttle::cubic(), Hand::new());
    for verdict in [
        None,
        Some(Verdict::Transient),
        Some(Verdict::Refused),
        Some(Verdict::Permanent),
    ] {
        call(&throttle, &clock, verdict);
        assert_eq!(wait(&throttle, &clock), Duration::ZERO);
        assert_eq!(throttle.fill_rate(), None);
    }
    // A permit of the time before owes nothing.
    let before = throttle.permit_by(&clock);
    call(&throttle, &clock, Some(Verdict::Throttled(None)));
    drop(before);
    assert_eq!(wait(&throttle, &clock), SECOND * 2);
    assert_eq!(throttle.rejection_by(&clock), 0.0);
}

#[test]
fn a_dropped_permit_gives_its_token_back_until_it_is_spent() {
    let clock = Hand::new();
    let throttle = limited(&clock);
    for _ in 0..3 {
        let permit = throttle.permit_by(&clock);
        assert_eq!(permit.map(|permit| permit.wait()), Ok(SECOND * 2));
    }
    assert_eq!(wait(&throttle, &clock), SECOND * 2); // spent
    assert_eq!(wait(&throttle, &clock), SECOND * 4);
}

#[test]
fn only_answers_raise_the_rate() {
    let clock = Hand::new();
    for (verdict, raises) in [
        (None, true),
        (Some(Verdict::Permanent), true),
        (Some(Verdict::Transient), false),
        (Some(Verdict::Refused), false),
        (Some(Verdict::Forbidden), false),
    ] {
        let throttle = limited(&clock);
        for _ in 0..50 {
            clock.pass(SECOND / 10);
            call(&throttle, &clock, verdict);
        }
        let rate = throttle.fill_rate();
        assert_eq!(rate > Some(0.5), raises, "{verdict:?} {rate:?}");
    }
}

/// Calls without a pause, of a service that takes 10 a second.
#[test]
fn settles_near_what_the_service_takes() {
    let (throttle, clock) = (Throttle::cubic(), Hand::new());
    let (mut second, mut in_it, mut refused, mut accepted) = (0, 0, 0, 0);
    while clock.now.get() < SECOND * 100 {
        let Ok(mut permit) = throttle.permit_by(&clock) else {
            panic!("it refuses nothing");
        };
        permit.spend();
        clock.pass(permit.wait() + SECOND / 100);
        if clock.now.get().as_secs() != second {
            (second, in_it) = (clock.now.get().as_secs(), 0);
        }
        in_it += 1;
        if in_it > 10 {
            refused += 1;
            permit.failed_by(Verdict::Throttled(None), &clock);
        } else {
            accepted += 1;
            permit.answered_by(&clock);
        }
    }
    // Without a limit 9000 of 10000 calls would be refused.
    assert!(accepted > 500, "{accepted} {refused}");
    assert!(refused * 3 < accepted, "{accepted} {refused}");
}
