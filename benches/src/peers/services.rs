//! Services: tower's own retry layer, with and without its budget, and ours.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::LazyLock;
use std::time::Duration;

use http::{HeaderValue, Request, Response};
use reattempt::overload::budget::FailureClass;
use reattempt::tower::{RetryLayer, ServerProtocol};
use reattempt::{Backoff, Budget, Policy};
use tower::retry::backoff::{
    Backoff as TowerBackoff, ExponentialBackoff, ExponentialBackoffMaker, MakeBackoff as _,
};
use tower::retry::budget::{Budget as TowerBudget, TpsBudget};
use tower::retry::{Policy as TowerPolicy, Retry};
use tower::util::rng::HasherRng;
use tower::{Layer as _, Service};

use super::ways::Way;
use crate::cases::{Fault, Run, Script, Scripted, block_on, is_transient, paused};

pub(super) const TOWER: Way = Way {
    name: "tower",
    lacks: None,
    runs: &[&[
        ("service", |k, n| {
            called::<'a', _>(k, n, Ok(()), |inner| {
                Retry::new(limited(2, Free, AtOnce), inner)
            });
        }),
        ("service-wait", |k, n| {
            called_in_tokio::<'b', _>(k, n, |inner| {
                Retry::new(limited(4, Free, exponential()), inner)
            });
        }),
        ("budget", |k, n| {
            let policy = limited(2, Shared(&PLENTY), AtOnce);
            called::<'c', _>(k, n, Ok(()), |inner| Retry::new(policy, inner));
        }),
        ("refused", |k, n| {
            let policy = limited(2, Shared(&NOTHING), AtOnce);
            called::<'d', _>(k, n, Err(()), |inner| Retry::new(policy, inner));
        }),
        ("withdraw", |k, n| {
            for _ in 0..n {
                (0..k).for_each(|_| assert!(black_box(&*PLENTY).withdraw(), "plenty"));
                black_box(&*PLENTY).deposit();
            }
        }),
    ]],
    sizes: &[("service", || {
        let script = Script::default();
        let inner = Scripted::<'e'>(&script);
        size_of_val(&Retry::new(limited(4, Free, exponential()), inner).call(7))
    })],
};

pub(super) const OURS: &[(&str, Run)] = &[
    ("service", |k, n| {
        let layer = RetryLayer::new(WITHOUT);
        called::<'A', _>(k, n, Ok(()), |inner| layer.layer(inner));
    }),
    ("service-wait", |k, n| {
        let layer = RetryLayer::new(EXPONENTIAL);
        called_in_tokio::<'B', _>(k, n, |inner| layer.layer(inner));
    }),
    ("budget", |k, n| {
        let layer = RetryLayer::new(WITHOUT).budget(&OUR_PLENTY);
        called::<'C', _>(k, n, Ok(()), |inner| layer.layer(inner));
    }),
    ("refused", |k, n| {
        let layer = RetryLayer::new(WITHOUT).budget(&OUR_NOTHING);
        called::<'D', _>(k, n, Err(()), |inner| layer.layer(inner));
    }),
    ("withdraw", |k, n| withdrawn(k, n, &OUR_PLENTY)),
    ("withdraw-tokens", |k, n| withdrawn(k, n, &TOKENS)),
    ("protocol-absent", |k, n| {
        handled(k, n, ("x-request-id", "3380563a9a3e1be7"));
    }),
    ("protocol-read", |k, n| {
        handled(k, n, ("retry-context", CONTEXT));
    }),
];

/// A typical field of a second attempt.
const CONTEXT: &str =
    "left=1450.25, attempt=2, priority=low, used=(\"7f3a09c1\" \"5b20aa17.90e1c44d\")";

/// Requests with eight headers, this one among them, to a server: to the handler itself, or behind our layer.
fn handled(is_behind: u32, requests: u64, (name, value): (&'static str, &'static str)) {
    const HEADERS: [(&str, &str); 7] = [
        ("host", "orders.internal"),
        ("accept", "*/*"),
        ("accept-encoding", "gzip, br"),
        ("user-agent", "shop/1.0"),
        ("content-type", "application/json"),
        ("authorization", "Bearer 7"),
        (
            "traceparent",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ),
    ];
    // In a box, as the handlers of axum and tonic are.
    let mut handler = tower::service_fn(|request: Request<()>| {
        let answer = Response::new(request.headers().len());
        Box::pin(ready(Ok::<_, Infallible>(answer)))
    });
    let mut behind = ServerProtocol::new().layer(handler);
    for _ in 0..requests {
        let mut request = Request::new(());
        for (name, value) in HEADERS.into_iter().chain([(name, value)]) {
            let value = HeaderValue::from_static(black_box(value));
            request.headers_mut().insert(name, value);
        }
        let answer = if is_behind == 0 {
            block_on(pin!(handler.call(request)))
        } else {
            block_on(pin!(behind.call(request)))
        };
        assert!(black_box(answer).is_ok());
    }
}

pub(super) fn our_size() -> usize {
    let script = Script::default();
    let mut service = RetryLayer::new(EXPONENTIAL).layer(Scripted::<'E'>(&script));
    size_of_val(&service.call(7))
}

const WITHOUT: Policy = Policy::new()
    .max(3)
    .backoff(Backoff::None)
    .without_budget()
    .checked();
const EXPONENTIAL: Policy = Policy::new()
    .max(5)
    .base(Duration::from_millis(1))
    .without_budget()
    .checked();

// Tower counts a reserve for each second, ours what a success brings.
static PLENTY: LazyLock<TpsBudget> =
    LazyLock::new(|| TpsBudget::new(Duration::from_secs(60), 1_000_000, 1.0));
static NOTHING: LazyLock<TpsBudget> =
    LazyLock::new(|| TpsBudget::new(Duration::from_secs(60), 0, 0.1));
static OUR_PLENTY: Budget = Budget::per_success(1.0);
static TOKENS: Budget = Budget::tokens(500);
static OUR_NOTHING: Budget = Budget::per_success(0.1).initial(0).floor(0.0);

/// Pays for each retry of a call, which then succeeds.
fn withdrawn(retries: u32, calls: u64, budget: &'static Budget) {
    for _ in 0..calls {
        let mut account = black_box(budget).account();
        for _ in 0..retries {
            assert!(account.withdraw(FailureClass::Failed), "plenty");
            account.spend();
        }
        account.succeeded();
    }
}

/// A number of attempts, by the error, with a budget and delays.
#[derive(Clone)]
struct Limited<B, D> {
    left: u32,
    budget: B,
    delays: D,
}

const fn limited<B, D>(retries: u32, budget: B, delays: D) -> Limited<B, D> {
    Limited {
        left: retries,
        budget,
        delays,
    }
}

impl<B: TowerBudget, D: TowerBackoff> TowerPolicy<u64, u64, Fault> for Limited<B, D> {
    type Future = D::Future;

    fn retry(&mut self, _: &mut u64, result: &mut Result<u64, Fault>) -> Option<D::Future> {
        let Err(fault) = result else {
            self.budget.deposit();
            return None;
        };
        if self.left == 0 || !is_transient(fault) || !self.budget.withdraw() {
            return None;
        }
        self.left -= 1;
        Some(self.delays.next_backoff())
    }

    fn clone_request(&mut self, request: &u64) -> Option<u64> {
        Some(*request)
    }
}

/// No budget.
#[derive(Clone)]
struct Free;

impl TowerBudget for Free {
    fn deposit(&self) {}

    fn withdraw(&self) -> bool {
        true
    }
}

#[derive(Clone)]
struct Shared(&'static TpsBudget);

impl TowerBudget for Shared {
    fn deposit(&self) {
        self.0.deposit();
    }

    fn withdraw(&self) -> bool {
        self.0.withdraw()
    }
}

/// No delays.
#[derive(Clone)]
struct AtOnce;

impl TowerBackoff for AtOnce {
    type Future = Ready<()>;

    fn next_backoff(&mut self) -> Ready<()> {
        ready(())
    }
}

fn exponential() -> ExponentialBackoff {
    let (least, most) = (Duration::from_millis(1), Duration::from_secs(20));
    ExponentialBackoffMaker::new(least, most, 0.99, HasherRng::default())
        .unwrap_or_else(|error| panic!("{error}"))
        .make_backoff()
}

/// Calls a service, made once, that fails so often each time; the last call has to end as is
/// `expected`, so that a budget does not run dry in secret.
fn called<'s, const CASE: char, S: Service<u64>>(
    failures: u32,
    calls: u64,
    expected: Result<(), ()>,
    made: impl FnOnce(Scripted<'s, CASE>) -> S,
) {
    // A case runs once, and the service may not outlive what it looks at.
    let script: &'s Script = Box::leak(Box::default());
    let mut service = made(Scripted(script));
    let mut last = false;
    for _ in 0..calls {
        script.fail(failures);
        let future = black_box(&mut service).call(black_box(7));
        last = black_box(block_on(pin!(future))).is_ok();
    }
    assert_eq!(last, failures == 0 || expected.is_ok(), "as expected");
}

fn called_in_tokio<'s, const CASE: char, S: Service<u64>>(
    failures: u32,
    calls: u64,
    made: impl FnOnce(Scripted<'s, CASE>) -> S,
) {
    let runtime = paused();
    let script: &'s Script = Box::leak(Box::default());
    let mut service = made(Scripted(script));
    for _ in 0..calls {
        script.fail(failures);
        let future = black_box(&mut service).call(black_box(7));
        let future: Pin<&mut dyn Future<Output = _>> = pin!(future);
        let _ = black_box(runtime.block_on(future));
    }
}
