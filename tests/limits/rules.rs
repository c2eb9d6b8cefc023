//! R10 to R12, X10 and X12 at run time: what is refused, in which words, and the nearest value that is accepted.
//! `tests/ui/rules` has the same for literals and constants.

use std::panic::catch_unwind;
use std::time::Duration;

use reattempt::policy::rules::{
    Violation, breaker_window, budget_share, hedge_beyond_deadline, hedge_copies, hedge_delay,
    hedge_quantile,
};
use reattempt::{Breaker, Budget, Hedge, Policy};

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// Something that is made of values that are refused, and of the nearest that are not.
struct Case {
    id: &'static str,
    refused: fn(),
    message: &'static str,
    accepted: fn(),
}

macro_rules! case {
    ($id:literal, $refused:expr, $message:literal, $accepted:expr) => {
        Case {
            id: $id,
            refused: || {
                let _ = $refused;
            },
            message: $message,
            accepted: || {
                let _ = $accepted;
            },
        }
    };
}

const CASES: &[Case] = &[
    case!(
        "R10",
        Breaker::count_window(0),
        "a breaker's `count_window` must be a number of calls from 1 to 1024, but is 0; write `count_window(20)`",
        Breaker::count_window(1)
    ),
    case!(
        "R10",
        Breaker::count_window(1025),
        "a breaker's `count_window` must be a number of calls from 1 to 1024, but is 1025; write `count_window(20)`",
        Breaker::count_window(1024)
    ),
    case!(
        "R10",
        Breaker::time_window(Duration::ZERO),
        "a breaker's `time_window` must be from 1 ms to 24 h, but is 0 s; write `time_window(Duration::from_secs(10))`",
        Breaker::time_window(MS)
    ),
    case!(
        "R10",
        Breaker::count_window(9).failure_ratio(0.0),
        "a breaker's `failure_ratio` must be a share of the calls above 0.0 up to 1.0, but is 0; write `failure_ratio(0.5)` to open when half of them fail",
        Breaker::count_window(9).failure_ratio(f64::MIN_POSITIVE)
    ),
    case!(
        "R10",
        Breaker::count_window(9).failure_ratio(1.01),
        "a breaker's `failure_ratio` must be a share of the calls above 0.0 up to 1.0, but is 1.01; write `failure_ratio(0.5)` to open when half of them fail",
        Breaker::count_window(9).failure_ratio(1.0)
    ),
    case!(
        "R10",
        Breaker::count_window(9).min_calls(0),
        "a breaker's `min_calls` must be at least 1, but is 0; write `min_calls(10)`",
        Breaker::count_window(9).min_calls(1)
    ),
    case!(
        "R10",
        Breaker::count_window(9).cooldown(Duration::ZERO),
        "a breaker's `cooldown` of 0 would never keep it open; write `cooldown(Duration::from_secs(5))`",
        Breaker::count_window(9).cooldown(MS)
    ),
    case!(
        "R10",
        Breaker::count_window(9).probes(0),
        "a breaker's `probes` must be from 1 to 255 calls, but is 0; write `probes(1)` to close after one call that succeeds",
        Breaker::count_window(9).probes(1)
    ),
    case!(
        "X10",
        Breaker::count_window(9).min_calls(10),
        "a breaker's `min_calls` of 10 is above its window of 9 calls, so it would never open; lower it to 9 or less",
        Breaker::count_window(9).min_calls(9)
    ),
    case!(
        "R11",
        Budget::per_success(0.0),
        "`budget` must be a share of the successful calls above 0.0 up to 1.0, but is 0; write `budget = 0.1` for one retry per ten successes",
        Budget::per_success(0.001)
    ),
    case!(
        "R11",
        Budget::per_request(1.01),
        "`budget` must be a share of the successful calls above 0.0 up to 1.0, but is 1.01; write `budget = 0.1` for one retry per ten successes",
        Budget::per_request(1.0)
    ),
    case!(
        "R11",
        Budget::per_success(0.1).ttl(999 * MS),
        "`ttl` of 999ms is below 1s, so hardly any success would count; leave it out for the default of 10s",
        Budget::per_success(0.1).ttl(SECOND)
    ),
    case!(
        "R11",
        Budget::per_success(0.1).ttl(61 * SECOND),
        "`ttl` of 1m 1s is above 60s, and successes long past would pay for the retries of an outage; leave it out for the default of 10s",
        Budget::per_success(0.1).ttl(60 * SECOND)
    ),
    case!(
        "R11",
        Budget::per_success(0.1).floor(f64::INFINITY),
        "`floor` must be a finite number of retries per second, at least 0.0, but is infinity; write `floor(1.0)`, or `floor(0.0)` for none without a success",
        Budget::per_success(0.1).floor(0.0)
    ),
    case!(
        "R12",
        Hedge::after(Duration::ZERO),
        "`hedge` of 0 would start every copy at once; write `hedge = \"50ms\"`, about the time in which 95 of 100 calls are answered",
        Hedge::after(MS)
    ),
    case!(
        "R12",
        Hedge::after(MS).max(11),
        "`max` of a hedge counts the copies beyond the first and must be from 1 to 10, but is 11; lower it to 10, or leave it out for the default of 1",
        Hedge::after(MS).max(10)
    ),
    case!(
        "R12",
        Hedge::quantile(1.0),
        "the quantile of a hedge must be between 0 and 1, but is 1; write `quantile(0.95)` for the delay in which 95 of 100 calls are answered",
        Hedge::quantile(0.99)
    ),
];

#[test]
fn refused_and_nearest_accepted() {
    for case in CASES {
        let refused = catch_unwind(case.refused).expect_err(case.id);
        let message = refused
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| refused.downcast_ref().copied());
        let (id, anchor) = (case.id, case.id.to_lowercase());
        let address = format!("https://reattempt.github.io/reattempt/errors.html#{anchor}");
        let expected = format!("{}\nrule {id}: {address}", case.message);
        assert_eq!(message, Some(&*expected), "{id}");
        (case.accepted)();
    }
}

/// The same without a panic, for values that come from outside.
#[test]
fn asked_before() {
    let said = |refusal: Option<Violation>| refusal.map(|refusal| refusal.to_string());
    assert_eq!(budget_share(0.1), None);
    assert!(said(budget_share(f64::NAN)).is_some_and(|said| said.contains("a share")));
    assert_eq!(hedge_delay(MS), None);
    assert!(hedge_delay(Duration::ZERO).is_some());
    assert_eq!((hedge_copies(10), hedge_quantile(0.5)), (None, None));
    assert!(hedge_copies(11).is_some() && hedge_quantile(0.0).is_some());
    assert_eq!(breaker_window(2 * SECOND, SECOND), None);
    assert!(breaker_window(1999 * MS, SECOND).is_some());
    assert_eq!(hedge_beyond_deadline(2, SECOND, 2 * SECOND), None);
    let late = said(hedge_beyond_deadline(3, SECOND, 2 * SECOND));
    assert_eq!(
        late.as_deref(),
        Some(
            "`deadline` of 2s is over before hedge 3 of 3 can start, at 3s; raise `deadline` or lower `hedge` or its `max` (rule X12: https://reattempt.github.io/reattempt/errors.html#x12)"
        )
    );
    let policy = Policy::new().deadline(2 * SECOND);
    assert!(Hedge::after(SECOND).max(3).violation(&policy).is_some());
    assert_eq!(Hedge::after(SECOND).max(2).violation(&policy), None);
}
