//! What is refused, in which words, and the nearest that is accepted.

use std::panic::{UnwindSafe, catch_unwind};

use super::*;
use reattempt_policy::rules::breaker::window_below_timeout;

const DAY: Duration = Duration::from_secs(86_400);

fn refused(made: impl FnOnce() -> Breaker + UnwindSafe) -> String {
    let Err(panic) = catch_unwind(made) else {
        unreachable!("it was accepted");
    };
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn what_breaks_a_rule() {
    let one = || Breaker::count_window(20);
    let long = DAY + Duration::from_nanos(1);
    for (text, words) in [
        (
            refused(|| Breaker::count_window(0)),
            "from 1 to 1024, but is 0",
        ),
        (
            refused(|| Breaker::count_window(1025)),
            "from 1 to 1024, but is 1025",
        ),
        (
            refused(|| Breaker::time_window(Duration::from_micros(999))),
            "but is 999 us",
        ),
        (
            refused(move || Breaker::time_window(long)),
            "from 1 ms to 24 h, but is 24 h",
        ),
        (
            refused(move || one().failure_ratio(0.0)),
            "above 0.0 up to 1.0, but is 0;",
        ),
        (refused(move || one().failure_ratio(1.001)), "but is 1.001;"),
        (
            refused(move || one().failure_ratio(f64::NAN)),
            "but is NaN;",
        ),
        (
            refused(move || one().min_calls(0)),
            "`min_calls` must be at least 1",
        ),
        (
            refused(move || one().min_calls(21)),
            "`min_calls` of 21 is above its window of 20 calls",
        ),
        (
            refused(move || one().slow_calls(ms(1), 0.0)),
            "`slow_calls` ratio",
        ),
        (
            refused(move || one().slow_calls(ms(0), 0.5)),
            "`slow_calls` threshold of 0",
        ),
        (refused(move || one().cooldown(ms(0))), "`cooldown` of 0"),
        (refused(move || one().cooldown(long)), "`cooldown` of 24 h"),
        (
            refused(move || one().cooldown_cap(long)),
            "`cooldown_cap` of 24 h",
        ),
        (
            refused(move || one().cooldown_cap(ms(4999))),
            "`cooldown_cap` of 4.999 s is below its `cooldown` of 5 s",
        ),
        (
            refused(move || one().cooldown_cap(ms(6000)).cooldown(ms(6001))),
            "of 6 s is below its `cooldown` of 6.001 s",
        ),
        (refused(move || one().probes(0)), "but is 0;"),
        (
            refused(move || one().probes(256)),
            "from 1 to 255 calls, but is 256;",
        ),
    ] {
        assert!(text.contains(words), "{words:?} is not in {text:?}");
        assert!(!text.ends_with('.'), "{text}");
    }
}

#[test]
fn the_limits_are_accepted() {
    for breaker in [
        Breaker::count_window(1).min_calls(1).probes(255),
        Breaker::count_window(1024).min_calls(1024),
        Breaker::time_window(ms(1)).min_calls(u32::MAX),
        Breaker::time_window(DAY).cooldown(DAY).cooldown_cap(DAY),
        Breaker::count_window(1).failure_ratio(f64::MIN_POSITIVE),
        Breaker::count_window(1)
            .failure_ratio(1.0)
            .slow_calls(Duration::from_nanos(1), 1.0),
        Breaker::count_window(1).cooldown(Duration::from_nanos(1)),
        Breaker::count_window(1).cooldown(Duration::from_secs(61)),
    ] {
        assert_eq!(breaker.state(), State::Closed);
    }
    assert_eq!(Breaker::time_window(ms(1600)).window(), Some(ms(1600)));
    assert_eq!(Breaker::count_window(1).window(), None);
}

#[test]
fn a_window_and_a_timeout() {
    assert_eq!(window_below_timeout(ms(2000), ms(1000)), None);
    let text = window_below_timeout(ms(1999), ms(1000));
    let words = "the `breaker`'s window of 1.999 s is below twice the `timeout` of 1 s";
    assert!(text.is_some_and(|text| text.message().starts_with(words)));
}
