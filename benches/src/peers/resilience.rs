//! Services with a retry, a breaker or a bulkhead: those of tower-resilience, and ours around the same service.
//! tower-resilience waits on tokio's timer also for no time, and a full bulkhead asks it, so all of this is inside a runtime.

use std::future::{Ready, pending, ready};
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use reattempt::{Breaker, Bulkhead};
use tower::{Layer as _, Service, service_fn};
use tower_resilience_bulkhead::{BulkheadConfigBuilder, BulkheadLayer};
use tower_resilience_circuitbreaker::CircuitBreakerLayer;
use tower_resilience_retry::{
    ExponentialRandomBackoff, FixedInterval, RetryBudget, RetryBudgetBuilder, RetryConfigBuilder,
    RetryLayer,
};

use super::ways::Way;
use crate::cases::{Fault, Run, block_on, is_transient, paused};

pub(super) const WAY: Way = Way {
    name: "tower-resilience",
    lacks: None,
    runs: &[&[
        ("service", |k, n| {
            let layer = at_once().build();
            called::<'a', _>(k, n, Ok(()), |inner| layer.layer(inner));
        }),
        ("service-wait", |k, n| {
            let layer = exponential();
            called_in_tokio::<'b', _>(k, n, |inner| layer.layer(inner));
        }),
        ("budget", |k, n| {
            let layer = at_once().budget(Arc::clone(&PLENTY)).build();
            called::<'c', _>(k, n, Ok(()), |inner| layer.layer(inner));
        }),
        ("refused", |k, n| {
            let layer = at_once().budget(tokens(0)).build();
            called::<'d', _>(k, n, Err(()), |inner| layer.layer(inner));
        }),
        ("withdraw", |k, n| {
            let budget = &**black_box(&PLENTY);
            for _ in 0..n {
                (0..k).for_each(|_| assert!(budget.try_withdraw(), "plenty"));
                budget.deposit();
            }
        }),
        ("guarded", |k, n| {
            let layer = done(
                CircuitBreakerLayer::builder()
                    .sliding_window_size(100)
                    .build(),
            );
            called::<'e', _>(k, n, Ok(()), |inner| layer.layer(inner));
        }),
        ("guarded-open", |k, n| {
            let open = CircuitBreakerLayer::builder()
                .sliding_window_size(10)
                .wait_duration_in_open(LONG);
            let layer = done(open.build());
            called::<'f', _>(k, n, Err(()), |inner| layer.layer(inner));
        }),
        ("bulkhead", |k, n| {
            let layer = done(slots(100).build());
            called::<'g', _>(k, n, Ok(()), |inner| layer.layer(inner));
        }),
        ("bulkhead-full", |k, n| {
            let mut holds = None;
            called::<'h', _>(k, n, Err(()), |inner| {
                let (layer, handle) = done(slots(1).build_with_handle());
                let never = service_fn(|_: u64| pending::<Result<u64, Fault>>());
                let call = holds.insert(layer.layer(never).call(7));
                let mut context = Context::from_waker(Waker::noop());
                assert!(call.as_mut().poll(&mut context).is_pending());
                assert_eq!(handle.available_permits(), 0, "full");
                layer.layer(inner)
            });
            drop(holds);
        }),
    ]],
    sizes: &[("service", || {
        let script: &SharedScript = Box::leak(Box::default());
        let future = exponential().layer(Shared::<'i'>(script)).call(7);
        size_of_val(&future) + size_of_val(&*future)
    })],
};

/// There is no layer: the breaker and the bulkhead stand in the function of a service.
pub(super) const OURS: &[(&str, Run)] = &[
    ("guarded", |k, n| {
        static BREAKER: Breaker = Breaker::count_window(100);
        called::<'A', _>(k, n, Ok(()), |inner| with_breaker(&BREAKER, inner));
    }),
    ("guarded-open", |k, n| {
        static BREAKER: Breaker = Breaker::count_window(10).cooldown(LONG);
        called::<'B', _>(k, n, Err(()), |inner| with_breaker(&BREAKER, inner));
    }),
    ("bulkhead", |k, n| {
        static BULKHEAD: Bulkhead = Bulkhead::new(100);
        called::<'C', _>(k, n, Ok(()), |inner| with_bulkhead(&BULKHEAD, inner));
    }),
    ("bulkhead-full", |k, n| {
        static BULKHEAD: Bulkhead = Bulkhead::new(1);
        let holds = done(BULKHEAD.permit());
        called::<'D', _>(k, n, Err(()), |inner| with_bulkhead(&BULKHEAD, inner));
        drop(holds);
    }),
];

const LONG: Duration = Duration::from_secs(3_600);

static PLENTY: LazyLock<Arc<dyn RetryBudget>> = LazyLock::new(|| tokens(1_000_000));

fn with_breaker<const CASE: char>(
    breaker: &'static Breaker,
    inner: Shared<'static, CASE>,
) -> impl Service<u64> {
    service_fn(move |request| {
        let mut inner = inner;
        breaker.call_async(async move { inner.call(request).await })
    })
}

fn with_bulkhead<const CASE: char>(
    bulkhead: &'static Bulkhead,
    inner: Shared<'static, CASE>,
) -> impl Service<u64> {
    service_fn(move |request| {
        let mut inner = inner;
        async move {
            let _slot = bulkhead.permit().map_err(|_| Fault::Broken)?;
            inner.call(request).await
        }
    })
}

/// As many attempts as ours without delays.
fn at_once() -> RetryConfigBuilder<u64, u64, Fault> {
    RetryLayer::builder()
        .max_attempts(3)
        .backoff(FixedInterval::new(Duration::ZERO))
        .retry_on(is_transient)
}

fn exponential() -> RetryLayer<u64, u64, Fault> {
    let delays = done(ExponentialRandomBackoff::new(Duration::from_millis(1), 0.5));
    RetryLayer::builder()
        .max_attempts(5)
        .backoff(delays.max_interval(Duration::from_secs(20)))
        .retry_on(is_transient)
        .build()
}

/// A budget to which successes alone bring something.
fn tokens(initial: usize) -> Arc<dyn RetryBudget> {
    let budget = RetryBudgetBuilder::new()
        .token_bucket()
        .tokens_per_second(0.0)
        .max_tokens(1_000_000)
        .initial_tokens(initial);
    done(budget.build())
}

/// Without `reject_when_full` callers of a full bulkhead wait.
fn slots(number: usize) -> BulkheadConfigBuilder {
    BulkheadLayer::builder()
        .max_concurrent_calls(number)
        .reject_when_full()
}

fn done<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error:?}"))
}

/// The same as `cases::Scripted`, and `Send`.
#[derive(Clone, Copy)]
struct Shared<'s, const CASE: char>(&'s SharedScript);

#[derive(Default)]
struct SharedScript {
    failures: AtomicU32,
    value: u64,
}

impl<const CASE: char> Service<u64> for Shared<'_, CASE> {
    type Response = u64;
    type Error = Fault;
    type Future = Ready<Result<u64, Fault>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: u64) -> Self::Future {
        let script = black_box(self.0);
        ready(match script.failures.load(Relaxed) {
            0 => Ok(script.value + request),
            left => {
                script.failures.store(left - 1, Relaxed);
                Err(black_box(Fault::Busy))
            }
        })
    }
}

/// Calls a service in a runtime, as `services::called` does.
fn called<const CASE: char, S: Service<u64>>(
    failures: u32,
    calls: u64,
    expected: Result<(), ()>,
    made: impl FnOnce(Shared<'static, CASE>) -> S,
) {
    let runtime = paused();
    let _inside = runtime.enter();
    let script: &SharedScript = Box::leak(Box::default());
    let mut service = made(Shared(script));
    let mut last = false;
    for _ in 0..calls {
        script.failures.store(failures, Relaxed);
        let future = black_box(&mut service).call(black_box(7));
        last = black_box(block_on(pin!(future))).is_ok();
    }
    assert_eq!(last, failures == 0 || expected.is_ok(), "as expected");
}

fn called_in_tokio<const CASE: char, S: Service<u64>>(
    failures: u32,
    calls: u64,
    made: impl FnOnce(Shared<'static, CASE>) -> S,
) {
    let runtime = paused();
    let script: &SharedScript = Box::leak(Box::default());
    let mut service = made(Shared(script));
    for _ in 0..calls {
        script.failures.store(failures, Relaxed);
        let future = black_box(&mut service).call(black_box(7));
        let future: Pin<&mut dyn Future<Output = _>> = pin!(future);
        let _ = black_box(runtime.block_on(future));
    }
}
