//! The tests of the standard retry strategy of smithy-rs, `strategy/standard.rs` and `token_bucket.rs`: delays, and
//! what is left in the bucket. `README.md` beside this file lists what is different here.

use std::cell::RefCell;
use std::time::Duration;

use reattempt::{Budget, Jitter, Policy, RetryError, Verdict, retry, testing};

/// What the attempts of one call answer. One more would be a failure of the test.
type Script = &'static [Answer];

#[derive(Debug, Clone, Copy)]
enum Answer {
    Fail,
    Throttle,
    /// A failure with a delay that the service asks for, in milliseconds.
    Ask(u64),
    Succeed,
}
use Answer::{Ask, Fail, Succeed, Throttle};

impl Answer {
    const fn verdict(self) -> Result<(), Verdict> {
        Err(match self {
            Fail => Verdict::Transient,
            Throttle => Verdict::Throttled(None),
            Ask(delay) => Verdict::TransientAfter(millis(delay)),
            Succeed => return Ok(()),
        })
    }
}

struct Case {
    /// Its names there.
    tests: &'static [&'static str],
    policy: Policy,
    budget: fn() -> Budget,
    /// For each call what it answers, its delays in milliseconds, and the tokens that are left at the start of each retry and
    /// after the call.
    calls: &'static [(Script, &'static [u64], &'static [u32])],
}

const fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The defaults of version 2.0, with a static base instead of a random one.
const fn standard(max: u32) -> Policy {
    Policy::new()
        .max(max)
        .base(millis(1000))
        .cap(millis(20_000))
        .jitter(Jitter::None)
}

/// Those of version 2.1.
const fn standard_2_1(max: u32) -> Policy {
    standard(max).base(millis(50))
}

const CASES: &[Case] = &[
    Case {
        tests: &["eventual_success"],
        policy: standard(5),
        budget: || Budget::tokens(500),
        calls: &[(&[Fail, Fail, Succeed], &[1000, 2000], &[495, 490, 495])],
    },
    Case {
        tests: &["no_more_attempts"],
        policy: standard(3),
        budget: || Budget::tokens(500),
        calls: &[(&[Fail, Fail, Fail], &[1000, 2000], &[495, 490, 490])],
    },
    Case {
        tests: &[
            "should_retry_transient_error_result_after_2s",
            "should_retry_client_error_result_after_2s",
            "should_retry_server_error_result_after_2s",
            "dont_retry_when_out_of_attempts",
        ],
        policy: standard(4),
        budget: || Budget::tokens(500),
        calls: &[(
            &[Fail, Fail, Fail, Fail],
            &[1000, 2000, 4000],
            &[495, 490, 485, 485],
        )],
    },
    Case {
        tests: &["should_retry_throttling_error_result_after_2s"],
        policy: standard(4),
        budget: || Budget::tokens(500),
        calls: &[(
            &[Throttle, Throttle, Throttle, Throttle],
            &[1000, 2000, 4000],
            &[495, 490, 485, 485],
        )],
    },
    Case {
        tests: &["no_quota"],
        policy: standard(5),
        budget: || Budget::tokens(5),
        calls: &[(&[Fail, Fail], &[1000], &[0, 0])],
    },
    Case {
        tests: &["quota_replenishes_on_success"],
        policy: standard(5),
        budget: || Budget::tokens(100).cost(10),
        calls: &[(&[Fail, Ask(1000), Succeed], &[1000, 1000], &[90, 80, 90])],
    },
    Case {
        tests: &["backoff_timing"],
        policy: standard(5),
        budget: || Budget::tokens(500),
        calls: &[(
            &[Fail; 5],
            &[1000, 2000, 4000, 8000],
            &[495, 490, 485, 480, 480],
        )],
    },
    Case {
        tests: &["max_backoff_time"],
        policy: standard(5).cap(millis(3000)),
        budget: || Budget::tokens(500),
        calls: &[(
            &[Fail; 5],
            &[1000, 2000, 3000, 3000],
            &[495, 490, 485, 480, 480],
        )],
    },
    Case {
        tests: &["v2_1_non_throttling_uses_50ms_backoff"],
        policy: standard_2_1(3),
        budget: || Budget::tokens(500),
        calls: &[(&[Fail, Succeed], &[50], &[495, 500])],
    },
    Case {
        tests: &[
            "v2_1_throttling_uses_1s_backoff",
            "v2_0_non_throttling_uses_1s_backoff",
        ],
        policy: standard(3),
        budget: || Budget::tokens(500),
        calls: &[(&[Throttle, Succeed], &[1000], &[495, 500])],
    },
    Case {
        tests: &["v2_1_retry_after_bounded_between_t_i_and_t_i_plus_5s"],
        policy: standard_2_1(3),
        budget: || Budget::tokens(500),
        calls: &[(&[Ask(3000), Succeed], &[3000], &[495, 500])],
    },
    // There: the computed delay, 50 ms.
    Case {
        tests: &["v2_1_retry_after_below_t_i_uses_t_i"],
        policy: standard_2_1(3),
        budget: || Budget::tokens(500),
        calls: &[(&[Ask(10), Succeed], &[10], &[495, 500])],
    },
    // There: 5 s more than the computed delay, 5.05 s.
    Case {
        tests: &["v2_1_retry_after_above_t_i_plus_5s_capped"],
        policy: standard_2_1(3),
        budget: || Budget::tokens(500),
        calls: &[(&[Ask(10_000), Succeed], &[10_000], &[495, 500])],
    },
    // There: the longest computed delay, 20 s.
    Case {
        tests: &["v2_0_retry_after_capped_at_max_backoff"],
        policy: standard(3),
        budget: || Budget::tokens(500),
        calls: &[(&[Ask(30_000), Succeed], &[30_000], &[495, 500])],
    },
    Case {
        tests: &["retry_eventually_succeeds"],
        policy: standard_2_1(3),
        budget: || Budget::tokens(500).cost(14),
        calls: &[(&[Fail, Fail, Succeed], &[50, 100], &[486, 472, 486])],
    },
    Case {
        tests: &["fail_due_to_max_attempts_reached"],
        policy: standard_2_1(3),
        budget: || Budget::tokens(500).cost(14),
        calls: &[(&[Fail, Fail, Fail], &[50, 100], &[486, 472, 472])],
    },
    Case {
        tests: &["retry_quota_reached_after_single_retry"],
        policy: standard_2_1(5),
        budget: || Budget::tokens(14).cost(14),
        calls: &[(&[Fail, Fail], &[50], &[0, 0])],
    },
    Case {
        tests: &["retry_stops_after_retry_quota_exhaustion"],
        policy: standard_2_1(5),
        budget: || Budget::tokens(20).cost(14),
        calls: &[(&[Fail, Fail], &[50], &[6, 6])],
    },
    Case {
        tests: &["retry_quota_recovery_after_successful_responses"],
        policy: standard_2_1(5),
        budget: || Budget::tokens(30).cost(14),
        calls: &[
            (&[Fail, Fail, Succeed], &[50, 100], &[16, 2, 16]),
            (&[Fail, Succeed], &[50], &[2, 16]),
        ],
    },
    Case {
        tests: &["throttling_error_token_bucket_drain_and_backoff"],
        policy: standard(3),
        budget: || Budget::tokens(500).cost(14).throttled_cost(5),
        calls: &[(&[Throttle, Succeed], &[1000], &[495, 500])],
    },
    Case {
        tests: &["verify_max_backoff_time"],
        policy: standard_2_1(5).cap(millis(200)),
        budget: || Budget::tokens(500).cost(14),
        calls: &[(&[Fail; 5], &[50, 100, 200, 200], &[486, 472, 458, 444, 444])],
    },
    // `no_retries_if_retry_quota_is_zero` with what is left of five, since a budget of 0 is refused when it is made.
    Case {
        tests: &[
            "no_retries_if_retry_quota_is_zero",
            "non_long_polling_no_backoff_when_token_bucket_empty",
            "test_bounded_permits_exhaustion",
        ],
        policy: standard(4),
        budget: || Budget::tokens(10),
        calls: &[
            (&[Fail, Fail, Fail], &[1000, 2000], &[5, 0, 0]),
            (&[Fail], &[], &[0]),
        ],
    },
];

#[test]
fn standard_strategy() {
    for case in CASES {
        let name = case.tests.join(", ");
        let budget = (case.budget)();
        for (call, (script, delays, left)) in case.calls.iter().enumerate() {
            let name = format!("{name}, call {call}");
            let time = testing::virtual_time();
            let starts = RefCell::new(Vec::new());
            let end = case
                .policy
                .on(|verdict: &Verdict| *verdict)
                .budget(&budget)
                .run(|| {
                    let mut starts = starts.borrow_mut();
                    let answer = script.get(starts.len());
                    starts.push((time.elapsed(), budget.balance().to_string()));
                    answer
                        .unwrap_or_else(|| panic!("{name}: one more"))
                        .verdict()
                });
            let starts = starts.into_inner();
            assert_eq!(starts.len(), script.len(), "{name}: attempts");
            assert_eq!(
                end.is_ok(),
                matches!(script.last(), Some(Succeed)),
                "{name}"
            );
            let slept = starts.windows(2).map(|pair| match pair {
                [(before, _), (after, _)] => after.saturating_sub(*before),
                _ => unreachable!("windows of two"),
            });
            for ((delay, answer), slept) in delays.iter().zip(*script).zip(slept) {
                // What the service asks for is spread by up to a tenth.
                let more = if matches!(answer, Ask(_)) {
                    delay / 10
                } else {
                    0
                };
                let bounds = millis(*delay)..=millis(delay + more);
                assert!(bounds.contains(&slept), "{name}: {starts:?}");
            }
            let found = starts.iter().skip(1).map(|(_, left)| left.clone());
            let found: Vec<_> = found.chain([budget.balance().to_string()]).collect();
            let wanted: Vec<_> = left.iter().map(u32::to_string).collect();
            assert_eq!(found, wanted, "{name}: tokens");
        }
    }
}

/// `quota_replenishes_on_first_try_success`: a token for each call that needs no retry.
#[test]
fn quota_replenishes_on_first_try_success() {
    let budget = Budget::tokens(20).cost(10);
    let _time = testing::virtual_time();
    let call = |answer: Result<(), &'static str>| {
        standard(9)
            .on(|_: &&str| true)
            .budget(&budget)
            .run(|| answer)
    };
    call(Err("timed out")).unwrap_err();
    for left in 0..20 {
        assert_eq!(budget.balance().to_string(), left.to_string());
        call(Ok(())).unwrap();
    }
    call(Ok(())).unwrap();
    assert_eq!(budget.balance().to_string(), "20");
}

/// `calculate_exponential_backoff_where_initial_backoff_is_...`, and what comes after far too many attempts.
#[test]
fn exponential_backoff() {
    for (base, delays) in [
        (1000, [1000, 2000, 4000]),
        (3000, [3000, 6000, 12_000]),
        (30, [30, 60, 120]),
    ] {
        let policy = standard(4).base(millis(base));
        for (retry, delay) in (0..).zip(delays) {
            assert_eq!(policy.delay(retry), millis(delay), "{base} {retry}");
        }
    }
    for retry in [32, 33, 100_000, u32::MAX] {
        let delay = standard(100).base(millis(10_000)).delay(retry);
        assert_eq!(delay, millis(20_000), "retry {retry}");
    }
}

/// `successful_request_and_deser_should_be_retryable`. There an answer that is not final takes tokens like a failure; here it
/// costs nothing, since the service is well.
#[test]
fn an_answer_that_is_not_final_is_retried() {
    static BUDGET: Budget = Budget::tokens(5);
    #[retry(max = 5, base = "1s", jitter = "none", budget = &BUDGET, until = |done: &bool| *done, on(_))]
    fn poll(answers: &mut Vec<bool>) -> Result<bool, RetryError<&'static str>> {
        Ok(answers.remove(0))
    }
    let time = testing::virtual_time();
    assert!(poll(&mut vec![false, true]).unwrap());
    assert_eq!(time.elapsed(), millis(1000));
    assert_eq!(BUDGET.balance().to_string(), "5");
}
