//! The tests of Finagle's retries: `RetryBudgetTest`, `RetryFilterTest`, `RetryPolicyTest`. The share of its budgets is
//! in `tests/vectors/budget.rs`. `README.md` beside this file lists what is different here.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use reattempt::overload::budget::FailureClass;
use reattempt::{
    Backoff, Budget, Classify, GiveUpReason, Jitter, Policy, RetryError, Verdict, retry, testing,
};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Classify)]
enum Fault {
    /// `WriteException`: nothing was sent.
    #[retry(refused)]
    Write,
    #[retry(permanent)]
    Other,
}

type Answer = Result<u32, Fault>;
type Make = fn() -> Budget;

/// Answers in order; one call more is a failure of the test.
struct Service {
    answers: RefCell<Vec<Answer>>,
    calls: Cell<u32>,
}

impl Service {
    fn new(answers: &[Answer]) -> Self {
        Self {
            answers: RefCell::new(answers.iter().rev().copied().collect()),
            calls: Cell::new(0),
        }
    }

    fn call(&self) -> Result<u32, Fault> {
        self.calls.set(self.calls.get() + 1);
        self.answers.borrow_mut().pop().unwrap()
    }
}

const GOOD: u32 = 321;
const BAD: u32 = 111;

/// `RetryPolicy.tries(3, ...)`
#[retry(max = 3, base = "1s")]
fn tries(service: &Service) -> Result<u32, Fault> {
    service.call()
}

#[retry(max = 3, base = "1s", idempotent = false)]
fn not_idempotent(service: &Service) -> Result<u32, RetryError<Fault>> {
    service.call()
}

/// "with `RetryPolicy.tries`"
#[test]
fn retry_filter_tries() {
    let _time = testing::virtual_time();
    let cases: [(&str, &[Answer], Answer); 4] = [
        ("always try once", &[Ok(GOOD)], Ok(GOOD)),
        (
            "retry n-1 times",
            &[Err(Fault::Write); 3],
            Err(Fault::Write),
        ),
        ("fail immediately", &[Err(Fault::Other)], Err(Fault::Other)),
        (
            "a non-retryable failure after one that is retried",
            &[Err(Fault::Write), Err(Fault::Other)],
            Err(Fault::Other),
        ),
    ];
    for (name, answers, end) in cases {
        let service = Service::new(answers);
        assert_eq!(tries(&service), end, "{name}");
        assert!(service.answers.borrow().is_empty(), "{name}");
    }
}

/// "when failing with `WriteExceptions` and non-idempotent request, don't retry": here it is retried, since what was not sent
/// was not executed. What may have been executed is not.
#[test]
fn retry_filter_of_requests_that_are_not_idempotent() {
    let _time = testing::virtual_time();
    let service = Service::new(&[Err(Fault::Write), Ok(GOOD)]);
    assert_eq!(not_idempotent(&service).unwrap(), GOOD);
    let policy = Policy::new().idempotent(false);
    let calls = Cell::new(0);
    let end = policy.on(|_: &Fault| Verdict::Transient).try_run(|| {
        calls.set(calls.get() + 1);
        Err::<u32, _>(Fault::Other)
    });
    assert_eq!(
        (end.unwrap_err().into_last(), calls.get()),
        (Some(Fault::Other), 1)
    );
}

/// "with `RetryPolicy.backoff`": 1, 2 and 3 s, for errors and for answers that are not good.
#[test]
fn retry_filter_backoff() {
    #[retry(max = 4, backoff = "linear", base = "1s", jitter = "none", until = |answer: &u32| *answer != BAD)]
    fn backoff(service: &Service) -> Result<u32, RetryError<Fault>> {
        service.call()
    }
    let exhausted = |answer| [answer; 4];
    for (answers, seconds) in [
        (&[Err(Fault::Write), Ok(GOOD)][..], 1),
        (&[Ok(BAD), Ok(GOOD)][..], 1),
        (&[Ok(BAD), Err(Fault::Write), Ok(BAD), Ok(GOOD)][..], 6),
    ] {
        let time = testing::virtual_time();
        assert_eq!(backoff(&Service::new(answers)).unwrap(), GOOD);
        assert_eq!(time.elapsed(), seconds * SECOND);
    }
    let time = testing::virtual_time();
    let end = backoff(&Service::new(&exhausted(Err(Fault::Write)))).unwrap_err();
    assert_eq!((end.attempts(), end.last()), (4, Some(&Fault::Write)));
    assert_eq!(time.elapsed(), 6 * SECOND);
    // There the last answer comes back as it is, here an error.
    let end = backoff(&Service::new(&exhausted(Ok(BAD)))).unwrap_err();
    assert_eq!((end.attempts(), end.reason()), (4, GiveUpReason::Attempts));
}

/// "respects `RetryBudget`": two retries, however many the policy allows.
#[test]
fn retry_filter_budget() {
    let budget = Budget::per_request(0.000_000_001).initial(2).floor(0.0);
    let _time = testing::virtual_time();
    let calls = Cell::new(0);
    let policy = Policy::new().max(10).base(SECOND);
    let end = policy.on(|_: &Fault| true).budget(&budget).run(|| {
        calls.set(calls.get() + 1);
        Err::<(), _>(Fault::Write)
    });
    assert_eq!((end, calls.get()), (Err(Fault::Write), 3));
}

/// "apply with minRetries and maxPercentOver" with time that stands still: withdrawals for 10,000 requests.
#[test]
fn retry_budget_with_a_reserve() {
    for (ttl, share, expected) in [(1, 0.1, 1_010), (2, 0.5, 5_010)] {
        let budget = Budget::per_request(share).ttl(ttl * SECOND).initial(10);
        let _time = testing::virtual_time();
        let mut retried = 0_i32;
        for _ in 0..10_000 {
            let mut call = budget.account();
            if call.withdraw(FailureClass::Failed) {
                call.spend();
                retried += 1;
            }
        }
        assert!((retried - expected).abs() <= 1, "{share}: {retried}");
    }
}

/// "apply ttl bounds check", "apply minRetriesPerSec bounds check", "apply maxPercentOver bounds", and what is there `Empty`
/// or above 1.
#[test]
fn retry_budget_bounds() {
    let refused: [(&str, Make); 6] = [
        ("no ttl", || Budget::per_request(0.1).ttl(Duration::ZERO)),
        ("a ttl of 61 s", || {
            Budget::per_request(0.1).ttl(61 * SECOND)
        }),
        ("a negative reserve", || {
            Budget::per_request(0.1).floor(-1.0)
        }),
        ("a negative share", || Budget::per_request(-1.0)),
        ("no share", || Budget::per_request(0.0)),
        ("a share of 2", || Budget::per_request(2.0)),
    ];
    for (name, make) in refused {
        assert!(std::panic::catch_unwind(make).is_err(), "{name}");
    }
}

/// `RetryPolicy.limit`: the number of retries is read while the program runs.
#[test]
fn retry_policy_limit() {
    for limit in 0..5 {
        let policy = Policy::new()
            .max(limit.min(3) + 1)
            .backoff(Backoff::Fixed)
            .base(Duration::from_millis(10))
            .jitter(Jitter::None);
        let time = testing::virtual_time();
        let calls = Cell::new(0);
        let _ = policy.on(|_: &Fault| true).run(|| {
            calls.set(calls.get() + 1);
            Err::<(), _>(Fault::Write)
        });
        assert_eq!(calls.get(), limit.min(3) + 1);
        assert_eq!(time.elapsed(), Duration::from_millis(10) * limit.min(3));
    }
}
