//! gRPC's retry design (A6): the throttling of retries, the pushback of a server, and what each code means.

use std::collections::HashSet;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use reattempt::overload::budget::FailureClass;
use reattempt::{Budget, Classify, Verdict};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// What happens to a budget.
#[derive(Clone, Copy)]
enum Event {
    /// A failure, and whether it may be retried.
    Fail(bool),
    Succeed,
}
use Event::{Fail, Succeed};

struct Throttle {
    id: &'static str,
    max_tokens: u32,
    token_ratio: f64,
    /// The balances are thousandths of a token.
    events: &'static [(Event, u32)],
}

const THROTTLES: &[Throttle] = &[
    Throttle {
        id: "V56 gRPC A6",
        max_tokens: 10,
        token_ratio: 0.1,
        events: &[
            (Fail(true), 9000),
            (Fail(true), 8000),
            (Fail(true), 7000),
            (Fail(true), 6000),
            (Fail(false), 5000),
            (Fail(false), 4000),
        ],
    },
    Throttle {
        id: "V58 gRPC",
        max_tokens: 4,
        token_ratio: 0.8,
        events: &[
            (Fail(true), 3000),
            (Fail(false), 2000),
            (Fail(false), 1000),
            (Fail(false), 0),
            (Fail(false), 0),
            (Fail(false), 0),
            (Succeed, 800),
            (Succeed, 1600),
            (Succeed, 2400),
            (Succeed, 3200),
            (Succeed, 4000),
            (Succeed, 4000),
            (Fail(true), 3000),
            (Fail(false), 2000),
        ],
    },
    Throttle {
        id: "A6: an odd number of tokens",
        max_tokens: 3,
        token_ratio: 1.0,
        events: &[(Fail(true), 2000), (Fail(false), 1000), (Succeed, 2000)],
    },
    Throttle {
        id: "A6: three decimals count, the others are cut off",
        max_tokens: 1,
        token_ratio: 0.2899,
        events: &[(Fail(false), 0), (Succeed, 289), (Succeed, 578)],
    },
    Throttle {
        id: "A6: a product that is a hair too small",
        max_tokens: 2,
        token_ratio: 1.001,
        events: &[(Fail(false), 1000), (Fail(false), 0), (Succeed, 1001)],
    },
    Throttle {
        id: "A6: the limits",
        max_tokens: 1000,
        token_ratio: f64::MAX,
        events: &[
            (Succeed, 1_000_000),
            (Fail(true), 999_000),
            (Succeed, 1_000_000),
        ],
    },
];

#[test]
fn throttling() {
    for throttle in THROTTLES {
        let budget = Budget::grpc(throttle.max_tokens, throttle.token_ratio);
        let full = throttle.max_tokens * 1000;
        assert_eq!(thousandths(&budget), full, "{}", throttle.id);
        for (step, (event, balance)) in throttle.events.iter().enumerate() {
            let name = format!("{} step {step}", throttle.id);
            match event {
                Fail(allowed) => assert_eq!(failed(&budget), *allowed, "{name}"),
                Succeed => budget.account().succeeded(),
            }
            assert_eq!(thousandths(&budget), *balance, "{name}");
        }
    }
}

/// Counts a failure; whether it may be retried.
fn failed(budget: &Budget) -> bool {
    let mut call = budget.account();
    call.failed(Verdict::Transient);
    call.withdraw(FailureClass::Failed)
}

#[expect(clippy::cast_sign_loss, reason = "a balance is never below 0")]
fn thousandths(budget: &Budget) -> u32 {
    (budget.balance() * 1000.0).round() as u32
}

/// Threads that come at the same moment take no token twice and lose none.
#[test]
fn throttling_by_many_threads() {
    static BUDGET: Budget = Budget::grpc(1000, 0.001);
    let in_step = |act: fn() -> usize| -> usize {
        let start = Barrier::new(8);
        let act = || {
            start.wait();
            act()
        };
        thread::scope(|scope| {
            let threads = [(); 8].map(|()| scope.spawn(act));
            threads
                .map(|thread| thread.join().expect("no panic"))
                .iter()
                .sum()
        })
    };
    let allowed = in_step(|| (0..100).filter(|_| failed(&BUDGET)).count());
    assert_eq!(thousandths(&BUDGET), 200_000);
    // 999 to 501 are above half.
    assert_eq!(allowed, 499);
    let succeeded = in_step(|| (0..90_000).map(|_| BUDGET.account().succeeded()).count());
    assert_eq!((succeeded, thousandths(&BUDGET)), (720_000, 920_000));
}

/// A call that has not failed has not paid: the half is the bound for it, too.
#[test]
fn nothing_has_failed_yet() {
    let budget = Budget::grpc(4, 0.5);
    let granted = || {
        [
            budget.account().withdraw(FailureClass::Failed),
            budget.try_withdraw_hedge(),
        ]
    };
    assert_eq!(granted(), [true, true]);
    assert!(failed(&budget));
    assert_eq!(granted(), [true, true]);
    assert!(!failed(&budget));
    assert_eq!(granted(), [false, false]);
    budget.account().succeeded();
    assert_eq!(granted(), [true, true]);
    budget.account().failed(Verdict::RetryForbidden);
    assert_eq!(granted(), [false, false]);
    budget.reset();
    assert_eq!((granted(), thousandths(&budget)), ([true, true], 4000));
}

#[test]
fn no_budget() {
    for (max_tokens, token_ratio) in [
        (0, 0.1),
        (1001, 0.1),
        (10, 0.0),
        (10, -0.1),
        (10, 0.0009),
        (10, f64::NAN),
        (10, f64::INFINITY),
    ] {
        let made = std::panic::catch_unwind(|| Budget::grpc(max_tokens, token_ratio));
        let message = made.expect_err("out of range");
        let message = message.downcast_ref::<String>().expect("a text");
        assert!(message.contains("rule R11: "), "{message}");
        assert!(
            message.contains(if max_tokens == 10 {
                "0.1 "
            } else {
                "1 to 1000"
            }),
            "{message}"
        );
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

struct Pushback {
    id: &'static str,
    values: &'static [&'static str],
    /// That of `RetryInfo`.
    delay: Option<Duration>,
    expected: Asked,
}

#[derive(Clone, Copy)]
enum Asked {
    Never,
    After(Option<Duration>),
}
use Asked::{After, Never};

const PUSHBACKS: &[Pushback] = &[
    pushback("absent", &[], None, After(None)),
    pushback(
        "absent, with a delay",
        &[],
        Some(ms(3000)),
        After(Some(ms(3000))),
    ),
    pushback("absent, with a delay of 0", &[], Some(ms(0)), After(None)),
    pushback("positive", &["1"], None, After(Some(ms(1)))),
    pushback(
        "positive, with a delay",
        &["1500"],
        Some(ms(3000)),
        After(Some(ms(1500))),
    ),
    pushback("0: the computed delay", &["0"], None, After(None)),
    pushback("0, with a delay", &["0"], Some(ms(3000)), After(None)),
    pushback(
        "the largest",
        &["2147483647"],
        None,
        After(Some(ms(2_147_483_647))),
    ),
    pushback("too large", &["2147483648"], None, Never),
    pushback("negative", &["-1"], None, Never),
    pushback("negative, with a delay", &["-1"], Some(ms(3000)), Never),
    pushback("the smallest", &["-2147483648"], None, Never),
    pushback("empty", &[""], None, Never),
    pushback("a word", &["soon"], Some(ms(3000)), Never),
    pushback("a unit", &["10ms"], None, Never),
    pushback("a fraction", &["1.5"], None, Never),
    pushback("a list", &["1, 2"], None, Never),
    pushback("twice", &["1", "1"], Some(ms(3000)), Never),
];

const fn pushback(
    id: &'static str,
    values: &'static [&'static str],
    delay: Option<Duration>,
    expected: Asked,
) -> Pushback {
    Pushback {
        id,
        values,
        delay,
        expected,
    }
}

fn status(code: Code, row: &Pushback) -> Status {
    let details = match row.delay {
        Some(_) => ErrorDetails::with_retry_info(row.delay),
        None => ErrorDetails::new(),
    };
    let mut status = Status::with_error_details(code, "", details);
    for value in row.values {
        let value = value.parse().expect("ASCII");
        status
            .metadata_mut()
            .append("grpc-retry-pushback-ms", value);
    }
    status
}

#[test]
fn pushbacks() {
    for row in PUSHBACKS {
        let [transient, throttled, permanent] =
            [Code::Unavailable, Code::ResourceExhausted, Code::NotFound]
                .map(|code| status(code, row).classify());
        let expected = match row.expected {
            Never => [Verdict::RetryForbidden, Verdict::RetryForbidden],
            After(None) => [Verdict::Transient, Verdict::Throttled(None)],
            After(Some(delay)) => [
                Verdict::TransientAfter(delay),
                Verdict::Throttled(Some(delay)),
            ],
        };
        assert_eq!([transient, throttled], expected, "A6: {}", row.id);
        assert_eq!(permanent, Verdict::Permanent, "A6: {}", row.id);
    }
}

/// Bytes that are no text, and details that are no message.
#[test]
fn pushback_of_garbage() {
    let mut headers = http::HeaderMap::new();
    headers.insert("grpc-status", "14".parse().expect("ASCII"));
    headers.insert("grpc-status-details-bin", "/////w".parse().expect("ASCII"));
    let status = Status::from_header_map(&headers).expect("there is one");
    assert_eq!(status.classify(), Verdict::Transient);
    let value = http::HeaderValue::from_bytes(b"1\xff").expect("opaque");
    headers.insert("grpc-retry-pushback-ms", value);
    let status = Status::from_header_map(&headers).expect("there is one");
    assert_eq!(status.classify(), Verdict::RetryForbidden);
}

/// Every code, as a server says it.
#[test]
fn codes() {
    let retried = [
        (Code::Unavailable, Verdict::Transient),
        (Code::DeadlineExceeded, Verdict::Transient),
        (Code::Aborted, Verdict::Transient),
        (Code::ResourceExhausted, Verdict::Throttled(None)),
    ];
    let mut seen = HashSet::new();
    for code in (0..=17).map(Code::from_i32) {
        let expected = retried.iter().find(|(retried, _)| *retried == code);
        let expected = expected.map_or(Verdict::Permanent, |(_, verdict)| *verdict);
        assert_eq!(Status::new(code, "").classify(), expected, "{code:?}");
        seen.insert(i32::from(code));
    }
    assert_eq!(seen.len(), 17);
}

/// What tonic says in words alone.
#[test]
fn messages() {
    // Of its server, whose time-out is mostly that of the client.
    let expired = tonic::TimeoutExpired(()).to_string();
    assert_eq!(Status::cancelled(expired).classify(), Verdict::Transient);
    // Of its client, about an answer.
    let size = "Error decompressing: size limit, of 4 bytes, exceeded while decompressing message";
    assert_eq!(
        Status::resource_exhausted(size).classify(),
        Verdict::Permanent
    );
}
