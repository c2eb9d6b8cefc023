//! Budgets: what others specify, and the traps that others fell into.

use std::cell::Cell;
use std::time::Duration;

use reattempt::overload::budget::{Account, FailureClass};
use reattempt::timer::{Clock, Timestamp};
use reattempt::{Budget, Verdict};

/// A clock that is set by hand.
#[derive(Default)]
struct Hand(Cell<Duration>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.0.get())
    }
}

/// What happens to a call, and the balance after it.
#[derive(Clone, Copy)]
enum Event {
    /// A failure, and whether there is enough for a retry.
    Fail(FailureClass, bool),
    Succeed,
    /// Another call begins.
    Begin,
}
use Event::{Begin, Fail, Succeed};

const FAILED: FailureClass = FailureClass::Failed;
const TIMED_OUT: FailureClass = FailureClass::TimedOut;

struct Tokens {
    id: &'static str,
    budget: fn() -> Budget,
    events: &'static [(Event, u32)],
}

const TOKENS: &[Tokens] = &[
    Tokens {
        id: "V1 AWS standard mode",
        budget: || Budget::tokens(500),
        events: &[
            (Fail(FAILED, true), 495),
            (Fail(FAILED, true), 490),
            (Succeed, 495),
        ],
    },
    // The third failure ends it: no attempt is left, nobody asks for the price of one.
    Tokens {
        id: "V2 AWS",
        budget: || Budget::tokens(500),
        events: &[
            (Fail(FAILED, true), 495),
            (Fail(FAILED, true), 490),
            (Begin, 490),
        ],
    },
    Tokens {
        id: "V3 AWS",
        budget: || Budget::tokens(5),
        events: &[(Fail(FAILED, true), 0), (Fail(FAILED, false), 0)],
    },
    Tokens {
        id: "V4 AWS",
        budget: || Budget::tokens(100),
        events: &[
            (Fail(TIMED_OUT, true), 90),
            (Fail(TIMED_OUT, true), 80),
            (Succeed, 90),
        ],
    },
    Tokens {
        id: "V5 AWS",
        budget: || Budget::tokens(5).cost(2),
        events: &[
            (Fail(FAILED, true), 3),
            (Fail(FAILED, true), 1),
            (Fail(FAILED, false), 1),
            (Begin, 1),
            (Succeed, 2),
            (Begin, 2),
            (Succeed, 3),
            (Begin, 3),
            (Succeed, 4),
            (Begin, 4),
            (Succeed, 5),
            (Begin, 5),
            (Succeed, 5),
        ],
    },
    Tokens {
        id: "V6 AWS",
        budget: || Budget::tokens(500),
        events: &[
            (Fail(FAILED, true), 495),
            (Fail(FAILED, true), 490),
            (Fail(FAILED, true), 485),
            (Fail(FAILED, true), 480),
        ],
    },
    Tokens {
        id: "V20 AWS",
        budget: || Budget::tokens(50).cost(49),
        events: &[(Fail(FAILED, true), 1), (Fail(TIMED_OUT, false), 1)],
    },
];

#[test]
fn tokens() {
    let clock = Hand::default();
    for row in TOKENS {
        let budget = (row.budget)();
        let mut call = budget.account_with_clock(&clock);
        for (step, (event, balance)) in row.events.iter().enumerate() {
            let name = format!("{} step {step}", row.id);
            match event {
                Fail(class, expected) => {
                    call.failed(Verdict::Transient);
                    assert_eq!(
                        call.withdraw_with_clock(*class, &clock),
                        *expected,
                        "{name}"
                    );
                    call.spend();
                }
                Succeed => {
                    core::mem::replace(&mut call, budget.account_with_clock(&clock))
                        .succeeded_with_clock(&clock);
                }
                Begin => call = budget.account_with_clock(&clock),
            }
            assert_eq!(
                budget.balance_with_clock(&clock).to_string(),
                balance.to_string(),
                "{name}"
            );
        }
    }
}

/// Retries that are granted, one after the other in no time.
fn drain(call: &mut Account<'_>, clock: &Hand) -> u32 {
    let mut granted = 0;
    while call.withdraw_with_clock(FAILED, clock) {
        call.spend();
        granted += 1;
    }
    granted
}

struct Row {
    id: &'static str,
    ratio: f64,
    /// Of 10,000 deposits, and of 100,000.
    retries: [u32; 2],
}

const fn ratio(id: &'static str, ratio: f64, retries: [u32; 2]) -> Row {
    Row { id, ratio, retries }
}

const RATIOS: &[Row] = &[
    ratio("V66 Finagle", 0.0001, [1, 10]),
    ratio("V66 Finagle", 0.001, [10, 100]),
    ratio("V66 Finagle", 0.01, [100, 1_000]),
    ratio("V66 Finagle", 0.1, [1_000, 10_000]),
    ratio("V66 Finagle", 0.25, [2_500, 25_000]),
    ratio("V66 Finagle", 0.5, [5_000, 50_000]),
    ratio("V66 Finagle", 0.75, [7_500, 75_000]),
    ratio("V66 Finagle", 0.99, [9_900, 99_000]),
    ratio("V66 Finagle", 0.999, [9_990, 99_900]),
    ratio("V66 Finagle", 0.9999, [9_999, 99_990]),
    ratio("V67 tower's trap", 0.3, [3_000, 30_000]),
    ratio("V67 tower's trap", 0.6, [6_000, 60_000]),
    ratio("V67 tower's trap", 0.75, [7_500, 75_000]),
    ratio("ours: all", 1.0, [10_000, 100_000]),
    ratio("ours: a third, cut off", 1.0 / 3.0, [3_333, 33_333]),
];

#[test]
fn ratios() {
    let clock = Hand::default();
    for row in RATIOS {
        for (deposits, retries) in [10_000_usize, 100_000].into_iter().zip(row.retries) {
            // Nothing beside the deposits, then with a reserve.
            for reserve in [0, 10] {
                let make = [Budget::per_success, Budget::per_request];
                for (way, make) in make.into_iter().enumerate() {
                    let budget = make(row.ratio).floor(0.0).initial(reserve);
                    // The call that withdraws is one of them; it begins and does not succeed.
                    for _ in way..deposits {
                        budget
                            .account_with_clock(&clock)
                            .succeeded_with_clock(&clock);
                    }
                    let granted = drain(&mut budget.account_with_clock(&clock), &clock);
                    assert_eq!(granted, retries + reserve, "{} {} {way}", row.id, row.ratio);
                }
            }
        }
    }
}

/// Withdrawals between the deposits come to the same.
#[test]
fn ratios_step_by_step() {
    let clock = Hand::default();
    for row in RATIOS {
        let budget = Budget::per_success(row.ratio).floor(0.0).initial(0);
        let mut granted = 0;
        for deposits in 1..=10_000_u32 {
            budget
                .account_with_clock(&clock)
                .succeeded_with_clock(&clock);
            granted += drain(&mut budget.account_with_clock(&clock), &clock);
            let exact = f64::from(deposits) * row.ratio;
            assert!(
                f64::from(granted) <= exact + 1e-6 && f64::from(granted) > exact - 1.001,
                "{} {}: {granted} of {deposits}",
                row.id,
                row.ratio
            );
        }
        assert_eq!(granted, row.retries[0], "{} {}", row.id, row.ratio);
    }
}

/// Q1 and Q2: a total outage of any number of calls, with as many retries as there may be.
#[test]
fn outages() {
    let clock = Hand::default();
    for calls in [10, 1_000, 100_000] {
        for (budget, share) in [
            (Budget::per_request(0.1), calls / 10),
            (Budget::per_success(0.1), 0),
            (Budget::per_success(0.1).initial(100), 90),
        ] {
            let mut retries = 0;
            for _ in 0..calls {
                let mut call = budget.account_with_clock(&clock);
                for _ in 0..4 {
                    call.failed(Verdict::Transient);
                    retries += u32::from(call.withdraw_with_clock(FAILED, &clock));
                    call.spend();
                }
            }
            let most = (share + 10).min(calls * 4);
            assert!(
                retries <= most && retries + 1 >= most,
                "Q1, Q2: {retries} of {calls}"
            );
        }
    }
}

/// Fast traffic, a pause in which its deposits get too old, then a few calls: those count.
#[test]
fn after_a_pause() {
    let clock = Hand::default();
    let budget = Budget::per_success(1.0).initial(0).floor(0.0);
    let succeed = |times| {
        (0..times).for_each(|_| {
            budget
                .account_with_clock(&clock)
                .succeeded_with_clock(&clock);
        });
    };
    for slot in 0..4 {
        clock.0.set(Duration::from_secs(10) * slot / 15);
        succeed(1600);
    }
    succeed(1);
    clock.0.set(Duration::from_secs(14));
    succeed(60);
    let granted = drain(&mut budget.account_with_clock(&clock), &clock);
    assert!((60..=60 + 1600 / 64).contains(&granted), "{granted}");
}
