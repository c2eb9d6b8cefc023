#![expect(
    clippy::arithmetic_side_effects,
    clippy::float_cmp,
    reason = "numbers that are exact; tests that panic have failed"
)]

mod adaptive;
mod cubic;
mod rate;
mod words;

use std::cell::Cell;

use super::*;
use reattempt_core::{Classify as _, Verdict};

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
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.now.get())
    }

    fn random(&self) -> u64 {
        let next = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.replace(next)
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn call(throttle: &Throttle, clock: &Hand, verdict: Option<Verdict>) -> bool {
    let Ok(permit) = throttle.permit_with_clock(clock) else {
        return false;
    };
    match verdict {
        None => permit.succeeded_with_clock(clock),
        Some(verdict) => permit.failed_with_clock(verdict, clock),
    }
    true
}

#[test]
fn the_clock_of_the_program() {
    static SHOP: Throttle = Throttle::cubic();
    for _ in 0..3 {
        assert_eq!(SHOP.permit().map(Permit::succeeded), Ok(()));
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

fn message(text: Option<&reattempt_policy::Text>) -> String {
    text.map_or(String::new(), |text| text.as_str().to_owned())
}

#[test]
fn settings_that_make_no_sense() {
    for factor in [0.99, 0.0, -2.0, f64::NAN, f64::INFINITY] {
        let text = message(rules::factor(factor).as_ref());
        assert!(text.ends_with("; write `factor(2.0)`"), "{factor} {text}");
    }
    assert_eq!(
        message(rules::window(Duration::from_millis(999)).as_ref()),
        "`window` must be from 1s to 24h, but is 999ms; write `window(Duration::from_secs(120))`"
    );
    assert_ne!(message(rules::window(SECOND * 86_401).as_ref()), "");
    assert_eq!(
        message(rules::max_wait(Duration::from_millis(499), SECOND / 2).as_ref()),
        "`max_wait` must be from 500ms to 24h, but is 499ms; write `max_wait(Duration::from_secs(60))`"
    );
    assert_ne!(
        message(rules::max_wait(SECOND * 86_401, SECOND / 2).as_ref()),
        ""
    );
    assert_eq!(
        message(rules::max_wait(SECOND / 2, SECOND / 2).as_ref()),
        ""
    );
    for ceiling in [0.0, 1.01, f64::NAN] {
        let text = message(rules::ceiling(ceiling).as_ref());
        assert!(text.ends_with("; write `ceiling(0.8)`"), "{ceiling} {text}");
    }
    assert_eq!(message(rules::ceiling(1.0).as_ref()), "");
    assert_eq!(
        message(rules::min_requests(0).as_ref()),
        "`min_requests` must be at least 1, but is 0 (below that many requests the throttle refuses none); write `min_requests(10)`"
    );
    assert_eq!(message(rules::min_requests(1).as_ref()), "");
    for (calls, per, said) in [
        (0, SECOND, "its number is 0;"),
        (100_001, SECOND, "its number is 100001;"),
        (50, Duration::from_micros(999), "but is 999us;"),
        (50, SECOND * 86_401, "but is 24h 1s;"),
    ] {
        let text = message(rules::rate(calls, per).as_ref());
        assert!(
            text.contains(said) && text.ends_with("; write `rate(50, Duration::from_secs(1))`"),
            "{text}"
        );
    }
    for (calls, per) in [(1, Duration::from_millis(1)), (100_000, SECOND * 86_400)] {
        assert_eq!(message(rules::rate(calls, per).as_ref()), "");
    }
    for fine in [1.0, 2.0, 1e300] {
        assert_eq!(message(rules::factor(fine).as_ref()), "");
    }
    for fine in [SECOND, SECOND * 86_400] {
        assert_eq!(message(rules::window(fine).as_ref()), "");
    }
}

#[test]
fn shows_what_it_does() {
    let throttle = Throttle::adaptive();
    let shown = format!("{throttle:?}");
    assert_eq!(shown, "Throttle { rejection: 0.0, .. }");
    let (throttle, clock) = (Throttle::cubic(), Hand::new());
    call(&throttle, &clock, Some(Verdict::Throttled(None)));
    let shown = format!("{throttle:?}");
    assert_eq!(shown, "Throttle { fill_rate: Some(0.5), .. }");
}

#[test]
#[should_panic(expected = "`min_requests` is for `Throttle::adaptive()`")]
fn cubic_has_no_minimum() {
    let _ = Throttle::cubic().min_requests(2);
}

#[test]
#[should_panic(expected = "`factor` is for `Throttle::adaptive()`")]
fn cubic_has_no_factor() {
    let _ = Throttle::cubic().factor(2.0);
}

#[test]
#[should_panic(expected = "`max_wait` is for `Throttle::cubic()`")]
fn adaptive_has_no_wait() {
    let _ = Throttle::adaptive().max_wait(SECOND);
}

#[test]
#[should_panic(expected = "`window` must be from 1s to 24h, but is 0s")]
fn no_window() {
    let _ = Throttle::adaptive().window(Duration::ZERO);
}

#[test]
fn a_refusal_says_what_it_shows() {
    let refused = Refused;
    assert_eq!(refused.classify(), Verdict::Refused);
    let message = refused.message().map(ToString::to_string);
    assert_eq!(message, Some(refused.to_string()));
}
