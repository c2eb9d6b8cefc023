//! Hooks: functions that give a closure the types of its parameters, and the
//! choice between a value and a future where a hook may be async.

use core::future::{Future, Ready, ready};

use reattempt_core::around::BoundsScope;
use reattempt_core::inherited;
use retry_runtime::Retry;
use retry_runtime::driver::Until;
use retry_runtime::timer::Clock;

/// `on_retry`, and `before_retry` in a sync function.
#[inline(always)]
pub fn observe<E: ?Sized>(retry: &Retry<'_, E>, hook: impl FnOnce(&Retry<'_, E>)) {
    hook(retry);
}

/// Runs a hook: under the deadline, but not as an attempt.
pub fn hooked<R>(until: Until, clock: &impl Clock, hook: impl FnOnce() -> R) -> R {
    let _inside = BoundsScope::new(inherited::on_shared_clock(clock, until.bounds()), false);
    hook()
}

/// `before_retry` in an async function. One lifetime instead of all of them: the future of an async
/// hook may keep the retry.
#[inline(always)]
pub fn before<'r, 'e, E: ?Sized, O>(
    retry: &'r Retry<'e, E>,
    hook: impl FnOnce(&'r Retry<'e, E>) -> O,
) -> O {
    hook(retry)
}

/// `observe` of a hook that also takes the value that `until` refused.
#[inline(always)]
pub fn observe_value<E: ?Sized, V: ?Sized>(
    retry: &Retry<'_, E>,
    value: Option<&V>,
    hook: impl FnOnce(&Retry<'_, E>, Option<&V>),
) {
    hook(retry, value);
}

/// `before` of a hook that also takes that value.
#[inline(always)]
pub fn before_value<'r, 'e, E: ?Sized, V: ?Sized, O>(
    retry: &'r Retry<'e, E>,
    value: Option<&'r V>,
    hook: impl FnOnce(&'r Retry<'e, E>, Option<&'r V>) -> O,
) -> O {
    hook(retry, value)
}

/// `before_retry` or `fallback` that looks at nothing: nothing borrows the error while it runs.
#[inline(always)]
pub fn unseen<O>(hook: impl FnOnce(Unseen) -> O) -> O {
    hook(Unseen)
}

/// What `before_retry` answers with in an async function.
#[inline(always)]
pub fn nothing<N: Nothing>(_: N) {}

/// What `before_retry` may return.
#[diagnostic::on_unimplemented(
    message = "`before_retry` must return `()`, but returns `{Self}`",
    label = "expected `()`",
    note = "end the closure with `;`, as in `before_retry = |retry| {{ renew(retry); }}`; of an async call write `before_retry = async |retry| {{ let _ = renew(retry).await; }}`",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait Nothing {}

impl Nothing for () {}

// A hook that never returns: `!` has this name alone.
#[diagnostic::do_not_recommend]
impl Nothing for <fn() -> ! as Returns>::Output {}

/// Names the type that a function returns.
pub trait Returns {
    type Output;
}

impl<O> Returns for fn() -> O {
    type Output = O;
}

/// In place of the retry, or of the error.
#[derive(Debug)]
pub struct Unseen;

/// `Reply(Some(answer)).settle().await`: a future is awaited, a value is taken.
/// The method that takes `self` is tried before the one that takes `&mut self`.
#[derive(Debug)]
pub struct Reply<O>(pub Option<O>);

/// Takes a reply that is a future.
pub trait SettleFuture {
    type Future;

    fn reattempt_settle(self) -> Self::Future;
}

impl<F: Future> SettleFuture for Reply<F> {
    type Future = Settle<F>;

    #[expect(clippy::unreachable, reason = "an expansion makes it with its answer")]
    fn reattempt_settle(self) -> Settle<F> {
        match self.0 {
            Some(future) => future,
            None => unreachable!("a reply is made with its answer"),
        }
    }
}

type Settle<F> = F;

/// Takes a reply that is a value.
pub trait SettleValue {
    type Value;

    fn reattempt_settle(&mut self) -> Ready<Self::Value>;
}

impl<O> SettleValue for Reply<O> {
    type Value = O;

    #[expect(clippy::unreachable, reason = "an expansion asks once")]
    fn reattempt_settle(&mut self) -> Ready<O> {
        match self.0.take() {
            Some(value) => ready(value),
            None => unreachable!("a reply is settled once"),
        }
    }
}
