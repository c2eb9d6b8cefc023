#![expect(
    clippy::arithmetic_side_effects,
    clippy::float_cmp,
    reason = "numbers that are exact; tests that panic have failed"
)]

use std::cell::Cell;
use std::sync::Barrier;
use std::thread;

use super::*;
use crate::verdict::{Classify as _, Verdict};

/// A clock that is set by hand, and random numbers that run through their range evenly.
struct Hand {
    now: Cell<Duration>,
    random: Cell<u64>,
}

impl Hand {
    fn new() -> Self {
        Self {
            now: Cell::new(Duration::ZERO),
            random: Cell::new(0),
        }
    }

    fn pass(&self, duration: Duration) {
        self.now.set(self.now.get() + duration);
    }
}

impl Clock for Hand {
    fn now(&self) -> Moment {
        Moment::from_origin(self.now.get())
    }

    fn random(&self) -> u64 {
        let next = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.replace(next)
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn call(throttle: &Throttle, clock: &Hand, verdict: Option<Verdict>) -> bool {
    let Ok(permit) = throttle.permit_by(clock) else {
        return false;
    };
    match verdict {
        None => permit.answered_by(clock),
        Some(verdict) => permit.failed_by(verdict, clock),
    }
    true
}

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
        (Some(Verdict::Forbidden), false),
    ] {
        let (throttle, clock) = (Throttle::adaptive(), Hand::new());
        assert!(call(&throttle, &clock, verdict));
        let expected = if accepted { 0.0 } else { 0.5 };
        assert_eq!(throttle.rejection_by(&clock), expected, "{verdict:?}");
    }
}

#[test]
fn refuses_the_share_that_it_says() {
    let (throttle, clock) = (Throttle::adaptive(), Hand::new());
    for n in 0..200 {
        call(
            &throttle,
            &clock,
            (n >= 50).then_some(Verdict::Throttled(None)),
        );
    }
    // 200 requests, those that were refused too, and 50 accepts.
    let share = throttle.rejection_by(&clock);
    assert_eq!(share, 100.0 / 201.0);

    // While everything is refused or fails, nearly everything is refused.
    let passed = (0..10_000)
        .filter(|_| call(&throttle, &clock, Some(Verdict::Transient)))
        .count();
    // The sum of 101 / (n + 1) for n from 200 to 10200 is 397.
    assert!((350..450).contains(&passed), "{passed}");
    let hopeless = throttle.rejection_by(&clock);
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
    while throttle.rejection_by(&clock) > 0.1 {
        clock.pass(SECOND / 100);
        call(throttle, &clock, None);
    }
    clock.now.get().saturating_sub(outage).as_nanos() / window.as_nanos()
}

#[test]
fn comes_back_when_the_service_does() {
    let window = SECOND * 10;
    let without = windows_to_come_back(&Throttle::adaptive().window(window), window);
    assert!((3..6).contains(&without), "{without}");
    let with = windows_to_come_back(&Throttle::adaptive().window(window).ceiling(0.8), window);
    assert!(with < 2, "{with}");
}

#[test]
fn no_more_is_refused_than_the_ceiling_says() {
    let (throttle, clock) = (Throttle::adaptive().ceiling(0.75), Hand::new());
    let passed = (0..10_000)
        .filter(|_| call(&throttle, &clock, Some(Verdict::Transient)))
        .count();
    assert_eq!(throttle.rejection_by(&clock), 0.75);
    assert!((2450..2550).contains(&passed), "{passed}");
}

#[test]
fn a_call_is_forgotten_with_its_window() {
    let window = SECOND * 16;
    for start in [0, 5, u64::MAX / 3_000_000_000] {
        let (throttle, clock) = (Throttle::adaptive().window(window), Hand::new());
        clock.now.set(Duration::from_secs(start));
        call(&throttle, &clock, Some(Verdict::Transient));
        clock.pass(SECOND * 15);
        assert_eq!(throttle.rejection_by(&clock), 0.5, "{start}");
        clock.pass(SECOND);
        assert_eq!(throttle.rejection_by(&clock), 0.0, "{start}");
        // In the place of the one that is forgotten.
        call(&throttle, &clock, Some(Verdict::Transient));
        assert_eq!(throttle.rejection_by(&clock), 0.5, "{start}");
        clock.pass(SECOND * 1000);
        assert_eq!(throttle.rejection_by(&clock), 0.0, "{start}");
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
        assert_eq!(throttle.rejection_by(&clock), expected, "{factor}");
    }
}

#[test]
fn a_permit_without_a_result_says_nothing() {
    let (throttle, clock) = (Throttle::adaptive(), Hand::new());
    for _ in 0..100 {
        drop(throttle.permit_by(&clock));
    }
    assert_eq!(throttle.rejection_by(&clock), 0.0);
    let Ok(permit) = throttle.permit_by(&clock) else {
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
                    // One thread of four is answered; who is refused counts, too.
                    let verdict = (n > 0).then_some(Verdict::Transient);
                    call(&SHARED, &clock, verdict);
                }
            });
        }
    });
    let Kind::Adaptive(adaptive) = &SHARED.kind else {
        panic!("it is adaptive");
    };
    let (requests, accepts) = adaptive.counts(Moment::from_origin(Duration::ZERO));
    assert_eq!(requests, 4 * CALLS as u64);
    assert!(0 < accepts && accepts <= CALLS as u64, "{accepts}");
}

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

#[test]
fn the_clock_of_the_program() {
    static SHOP: Throttle = Throttle::cubic();
    for _ in 0..3 {
        assert_eq!(SHOP.permit().map(Permit::answered), Ok(()));
    }
    let failed = SHOP
        .permit()
        .map(|permit| permit.failed(Verdict::Throttled(None)));
    assert_eq!(failed, Ok(()));
    assert!(SHOP.permit().is_ok_and(|permit| permit.wait() > SECOND));
    let adaptive = Throttle::adaptive();
    assert_eq!(
        (adaptive.fill_rate(), adaptive.measured_rate()),
        (None, None)
    );
}

#[test]
fn a_refusal_proves_that_nothing_was_executed() {
    assert_eq!(Refused.classify(), Verdict::Refused);
    assert_eq!(Refused.to_string(), "the throttle refused the call");
}

#[test]
fn a_permit_is_small() {
    assert!(size_of::<Permit<'_>>() <= 32);
}

fn message(text: Option<&crate::text::Text>) -> String {
    text.map_or(String::new(), |text| text.as_str().to_owned())
}

#[test]
fn settings_that_make_no_sense() {
    for factor in [0.99, 0.0, -2.0, f64::NAN, f64::INFINITY] {
        let text = message(checks::factor(factor).as_ref());
        assert!(text.ends_with("; write `factor(2.0)`"), "{factor} {text}");
    }
    assert_eq!(
        message(checks::window(Duration::from_millis(999)).as_ref()),
        "`window` is from 1s to 24h, and this is 999ms; write `window(Duration::from_secs(120))`"
    );
    assert_ne!(message(checks::window(SECOND * 86_401).as_ref()), "");
    for ceiling in [0.0, 1.01, f64::NAN] {
        let text = message(checks::ceiling(ceiling).as_ref());
        assert!(text.ends_with("; write `ceiling(0.9)`"), "{ceiling} {text}");
    }
    assert_eq!(message(checks::ceiling(1.0).as_ref()), "");
    for fine in [1.0, 2.0, 1e300] {
        assert_eq!(message(checks::factor(fine).as_ref()), "");
    }
    for fine in [SECOND, SECOND * 86_400] {
        assert_eq!(message(checks::window(fine).as_ref()), "");
    }
}

#[test]
#[should_panic(expected = "`factor` is for `Throttle::adaptive()`")]
fn cubic_has_no_factor() {
    let _ = Throttle::cubic().factor(2.0);
}

#[test]
#[should_panic(expected = "`window` is from 1s to 24h, and this is 0s")]
fn no_window() {
    let _ = Throttle::adaptive().window(Duration::ZERO);
}
