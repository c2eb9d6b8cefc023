use std::sync::Barrier;
use std::thread;

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
    let Ok(mut permit) = throttle.permit_with_clock(clock) else {
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
    let before = throttle.permit_with_clock(&clock);
    call(&throttle, &clock, Some(Verdict::Throttled(None)));
    drop(before);
    assert_eq!(wait(&throttle, &clock), SECOND * 2);
    assert_eq!(throttle.rejection_probability_with_clock(&clock), 0.0);
}

#[test]
fn a_dropped_permit_gives_its_token_back_until_it_is_spent() {
    let clock = Hand::new();
    let throttle = limited(&clock);
    for _ in 0..3 {
        let permit = throttle.permit_with_clock(&clock);
        assert_eq!(permit.map(|permit| permit.wait()), Ok(SECOND * 2));
    }
    assert_eq!(wait(&throttle, &clock), SECOND * 2); // spent
    assert_eq!(wait(&throttle, &clock), SECOND * 4);
}

/// Asks for one permit after the other, and takes each of them when its time has come: the moments at which they
/// begin. What begins is answered at once.
fn serve(waiting: Vec<Permit<'_>>, clock: &Hand) -> Vec<(usize, Duration)> {
    let mut waiting: Vec<_> = waiting
        .into_iter()
        .enumerate()
        .map(|(n, permit)| (clock.now.get(), n, permit))
        .collect();
    let mut served = Vec::new();
    while let Some(next) = (0..waiting.len()).min_by_key(|at| (waiting[*at].0, waiting[*at].1)) {
        let (at, n, mut permit) = waiting.swap_remove(next);
        clock.now.set(at);
        let Ok(wait) = permit.wait_with_clock(clock) else {
            panic!("it waits for less than `max_wait`");
        };
        assert!(wait <= SECOND / 2);
        assert_eq!(wait.is_zero(), permit.wait().is_zero());
        if wait.is_zero() {
            permit.spend();
            permit.succeeded_with_clock(clock);
            served.push((n, at));
        } else {
            waiting.push((at + wait, n, permit));
        }
    }
    served
}

fn permits<'t>(throttle: &'t Throttle, clock: &Hand, count: usize) -> Vec<Permit<'t>> {
    (0..count)
        .filter_map(|_| throttle.permit_with_clock(clock).ok())
        .collect()
}

#[test]
fn a_hundred_who_wait_are_served_as_the_rate_goes_up() {
    let clock = Hand::new();
    let throttle = limited(&clock);
    let waiting = permits(&throttle, &clock, 100);
    assert_eq!(waiting[99].wait(), SECOND * 200);
    let served = serve(waiting, &clock);
    assert!(served.is_sorted());
    let times: Vec<_> = served.iter().map(|(_, at)| at.as_millis()).collect();
    assert_eq!(times.len(), 100);
    assert_eq!(times[..2], [2000, 2625]);
    assert!((6000..7500).contains(&times[99]), "{times:?}");
}

#[test]
fn who_goes_away_leaves_its_place_to_those_behind() {
    let clock = Hand::new();
    let throttle = limited(&clock);
    let mut waiting = permits(&throttle, &clock, 4);
    drop(waiting.remove(1));
    drop(waiting.remove(0));
    assert_eq!(waiting[0].wait_with_clock(&clock), Ok(SECOND / 2));
    let waits: Vec<_> = waiting.iter().map(Permit::wait).collect();
    assert_eq!(waits, [SECOND * 2, SECOND * 8]); // the other one has not looked again
    let _ = waiting[1].wait_with_clock(&clock);
    assert_eq!(waiting[1].wait(), SECOND * 4);
    // No two get the same moment, and a new call gets none of before.
    assert_eq!(permits(&throttle, &clock, 1)[0].wait(), SECOND * 6);
    clock.pass(SECOND * 2);
    let late = permits(&throttle, &clock, 1);
    assert_eq!(waiting[1].wait_with_clock(&clock), Ok(SECOND / 2));
    assert_eq!(waiting[0].wait_with_clock(&clock), Ok(Duration::ZERO));
    // A token that was not spent goes to the next.
    drop(waiting.remove(0));
    assert_eq!(waiting[0].wait_with_clock(&clock), Ok(Duration::ZERO));
    assert_eq!(late[0].wait(), SECOND * 4);
}

#[test]
fn threads_lose_no_token() {
    let throttle = limited(&Hand::new());
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for n in 0..4 {
            let (throttle, barrier) = (&throttle, &barrier);
            scope.spawn(move || {
                let clock = Hand::new();
                barrier.wait();
                for round in 0..1000 {
                    let mut held = permits(throttle, &clock, 3);
                    drop(held.remove(round % 3));
                    let _ = held[0].wait_with_clock(&clock);
                    if n == 0 && round < 5 {
                        held[0].spend();
                    }
                }
            });
        }
    });
    // Five are spent, and no call waits.
    assert_eq!(wait(&throttle, &Hand::new()), SECOND * 12);
}

#[test]
fn as_new_after_a_reset() {
    let clock = Hand::new();
    let throttle = limited(&clock);
    let mut waiting = permits(&throttle, &clock, 3);
    clock.pass(SECOND);
    throttle.reset();
    assert_eq!(
        (throttle.fill_rate(), throttle.measured_rate()),
        (None, Some(0.0))
    );
    assert_eq!(waiting[2].wait_with_clock(&clock), Ok(Duration::ZERO));
    assert_eq!(wait(&throttle, &clock), Duration::ZERO);

    // What is left of the time before means nothing to the new limit.
    call(&throttle, &clock, Some(Verdict::Throttled(None)));
    let mut new = permits(&throttle, &clock, 2);
    assert_eq!(waiting[1].wait_with_clock(&clock), Ok(Duration::ZERO));
    waiting[0].spend();
    drop(waiting);
    let waits = [0, 1].map(|n| {
        let _ = new[n].wait_with_clock(&clock);
        new[n].wait()
    });
    assert_eq!(waits, [SECOND * 2, SECOND * 4]);
}

#[test]
fn only_answers_raise_the_rate() {
    let clock = Hand::new();
    for (verdict, raises) in [
        (None, true),
        (Some(Verdict::Permanent), true),
        (Some(Verdict::Transient), false),
        (Some(Verdict::Refused), false),
        (Some(Verdict::RetryForbidden), false),
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

#[test]
fn what_has_begun_waits_for_nothing() {
    let clock = Hand::new();
    let throttle = limited(&clock);
    let Ok(mut permit) = throttle.permit_with_clock(&clock) else {
        panic!("it refuses nothing");
    };
    assert_ne!(permit.wait_with_clock(&clock), Ok(Duration::ZERO));
    permit.spend();
    // A call that asks until it is 0 would ask for ever.
    assert_eq!(permit.wait_with_clock(&clock), Ok(Duration::ZERO));
}

/// Calls without a pause, of a service that takes 10 a second.
#[test]
fn settles_near_what_the_service_takes() {
    let (throttle, clock) = (Throttle::cubic(), Hand::new());
    let (mut second, mut in_it, mut refused, mut accepted) = (0, 0, 0, 0);
    while clock.now.get() < SECOND * 100 {
        let Ok(mut permit) = throttle.permit_with_clock(&clock) else {
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
            permit.failed_with_clock(Verdict::Throttled(None), &clock);
        } else {
            accepted += 1;
            permit.succeeded_with_clock(&clock);
        }
    }
    // Without a limit 9000 of 10000 calls would be refused.
    assert!(accepted > 500, "{accepted} {refused}");
    assert!(refused * 3 < accepted, "{accepted} {refused}");
}

/// The service takes less than what comes: no call waits for ever, and one that goes away moves the others up.
#[test]
fn who_has_waited_for_too_long_is_refused() {
    let clock = Hand::new();
    let throttle = Throttle::cubic().max_wait(SECOND * 10);
    call(&throttle, &clock, Some(Verdict::Throttled(None)));
    let mut waiting = permits(&throttle, &clock, 8);
    clock.pass(Duration::from_nanos(9_999_999_999));
    let wait = waiting[7].wait_with_clock(&clock);
    assert_eq!(wait, Ok(SECOND / 2));
    let mut late = permits(&throttle, &clock, 1);
    clock.pass(Duration::from_nanos(1));
    // Five were served, and their turn has come however late they look.
    assert_eq!(waiting[4].wait_with_clock(&clock), Ok(Duration::ZERO));
    for _ in 0..2 {
        assert_eq!(waiting[7].wait_with_clock(&clock), Err(Refused));
    }
    drop(waiting.split_off(5));
    assert_eq!(late[0].wait_with_clock(&clock), Ok(SECOND / 2));
    assert_eq!(late[0].wait(), SECOND * 2);

    // By itself a minute.
    let throttle = limited(&clock);
    let mut waiting = permits(&throttle, &clock, 40);
    clock.pass(SECOND * 59);
    assert_eq!(waiting[39].wait_with_clock(&clock), Ok(SECOND / 2));
    clock.pass(SECOND);
    assert_eq!(waiting[39].wait_with_clock(&clock), Err(Refused));
}

/// All that was sent is measured, whatever became of it.
#[test]
fn a_failure_is_measured_as_a_success_is() {
    let rates = [None, Some(Verdict::Transient), Some(Verdict::Permanent)].map(|verdict| {
        let (throttle, clock) = (Throttle::cubic(), Hand::new());
        for _ in 0..20 {
            clock.pass(SECOND / 5);
            assert!(call(&throttle, &clock, verdict));
        }
        throttle.measured_rate()
    });
    assert!(
        rates.iter().flatten().all(|rate| (rate - 5.0).abs() < 1.0),
        "{rates:?}"
    );
}
