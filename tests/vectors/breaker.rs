//! When a breaker opens, by the tests of other libraries.

use std::io::{Error, ErrorKind};
use std::time::Duration;

use reattempt::Verdict;
use reattempt::overload::breaker::{Breaker, Rejected, State};
use reattempt::timer::{Clock, Timestamp};

/// Calls in one window of ten seconds.
struct Polly {
    calls: u32,
    minimum: u32,
    /// Of the calls, the first ones.
    failures: u32,
    threshold: f64,
    opens: bool,
}

/// V35
const POLLY: &[Polly] = &[
    polly(10, 10, 0, 0.1, false),
    polly(10, 10, 1, 0.1, true),
    polly(10, 10, 2, 0.1, true),
    polly(9, 10, 1, 0.1, false),
];

const fn polly(calls: u32, minimum: u32, failures: u32, threshold: f64, opens: bool) -> Polly {
    Polly {
        calls,
        minimum,
        failures,
        threshold,
        opens,
    }
}

/// It stands still.
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(1))
    }
}

#[test]
fn opens_at_the_threshold() {
    for (row, vector) in POLLY.iter().enumerate() {
        let windows = [
            Breaker::count_window(10),
            Breaker::count_window(1000),
            Breaker::time_window(Duration::from_secs(10)),
        ];
        for breaker in windows {
            let breaker = breaker
                .min_calls(vector.minimum)
                .failure_ratio(vector.threshold);
            for call in 0..vector.calls {
                let permit = breaker
                    .permit_with_clock(&Still)
                    .expect("closed until the last");
                if call < vector.failures {
                    permit.failed_with_clock(Verdict::Transient, &Still);
                } else {
                    permit.succeeded_with_clock(&Still);
                }
            }
            let opened = breaker.state_with_clock(&Still) == State::Open;
            assert_eq!(opened, vector.opens, "V35 row {row}");
            assert_eq!(
                breaker.permit_with_clock(&Still).is_err(),
                opened,
                "V35 row {row}"
            );
        }
    }
}

struct MicroProfile {
    id: &'static str,
    ratio: f64,
    calls: &'static str,
}

/// Windows of four calls; the fifth is refused.
const MICRO_PROFILE: &[MicroProfile] = &[
    MicroProfile {
        id: "V51",
        ratio: 0.75,
        calls: "FFFF",
    },
    // It is looked at after a success too.
    MicroProfile {
        id: "V51b",
        ratio: 0.5,
        calls: "SFFS",
    },
];

#[test]
fn refuses_the_fifth_call() {
    for vector in MICRO_PROFILE {
        let breaker = Breaker::count_window(4).failure_ratio(vector.ratio);
        for (number, call) in vector.calls.chars().enumerate() {
            let answer = breaker.call(|| match call {
                'S' => Ok(()),
                _ => Err(Error::from(ErrorKind::TimedOut)),
            });
            let was_made = !matches!(answer, Err(Rejected::Open(_)));
            assert!(was_made, "{} call {number}", vector.id);
        }
        let fifth = breaker.call(|| -> Result<(), Error> { unreachable!("the fifth call") });
        assert!(matches!(fifth, Err(Rejected::Open(_))), "{}", vector.id);
    }
}
