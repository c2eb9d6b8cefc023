//! Services of tower. What stands for the loop by hand is tower's own retry layer.

use std::future::{Ready, ready};
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll};

use reattempt::tower::RetryLayer;
use reattempt::{Budget, Policy};
use tower::Service;
use tower::retry::{Policy as TowerPolicy, Retry};

use super::{Fault, Run, Script, block_on, is_transient};

const POLICY: Policy = Policy::new().max(5).without_budget().checked();

static BUDGET: Budget = Budget::per_success(0.1);

pub(super) const CASES: &[(&str, Run)] = &[
    ("tower-bare", |_, calls| {
        called::<'0', _>(calls, |service| service);
    }),
    ("tower-hand", |_, calls| {
        called::<'1', _>(calls, |service| Retry::new(FourTimes(4), service));
    }),
    ("tower-ours", |_, calls| {
        let layer = RetryLayer::new(POLICY);
        called::<'2', _>(calls, |service| tower::Layer::layer(&layer, service));
    }),
    ("tower-budget", |_, calls| {
        let layer = RetryLayer::new(POLICY).budget(&BUDGET);
        called::<'3', _>(calls, |service| tower::Layer::layer(&layer, service));
    }),
];

/// A type for each case: what is used once, as in a program, is inlined there.
#[derive(Clone, Copy)]
pub(crate) struct Scripted<'s, const CASE: char>(pub(crate) &'s Script);

impl<const CASE: char> Service<u64> for Scripted<'_, CASE> {
    type Response = u64;
    type Error = Fault;
    type Future = Ready<Result<u64, Fault>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: u64) -> Self::Future {
        ready(black_box(self.0).small().map(|value| value + request))
    }
}

#[derive(Clone, Copy)]
struct FourTimes(u32);

impl TowerPolicy<u64, u64, Fault> for FourTimes {
    type Future = Ready<()>;

    fn retry(&mut self, _: &mut u64, result: &mut Result<u64, Fault>) -> Option<Ready<()>> {
        let fault = result.as_ref().err()?;
        if self.0 == 0 || !is_transient(fault) {
            return None;
        }
        self.0 -= 1;
        Some(ready(()))
    }

    fn clone_request(&mut self, request: &u64) -> Option<u64> {
        Some(*request)
    }
}

/// Calls a service, made once, that succeeds.
fn called<'s, const CASE: char, S: Service<u64>>(
    calls: u64,
    made: impl FnOnce(Scripted<'s, CASE>) -> S,
) {
    // A case runs once, and the service may not outlive what it looks at.
    let script: &'s Script = Box::leak(Box::default());
    let mut service = made(Scripted(script));
    for _ in 0..calls {
        let future = black_box(&mut service).call(black_box(7));
        let _ = black_box(block_on(pin!(future)));
    }
}
