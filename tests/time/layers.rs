//! Layers of retried calls, of which the innermost always fails: k layers of n
//! attempts come to n + (k - 1)(n - 1) calls, or, with `nested = "multiply"`, to n^k.

use std::cell::Cell;
use std::pin::Pin;

use async_trait::async_trait;
use reattempt::{Jitter, Policy, policy::Nested, retry, retry_block};

use crate::bombs::yield_once;
use crate::support::{Still, assert_nothing_is_left, drive, ms};

type Answer = Result<u32, u32>;

struct Bottom(Cell<u32>);

impl Bottom {
    fn fail(&self) -> Answer {
        self.0.set(self.0.get() + 1);
        Err(self.0.get())
    }
}

#[track_caller]
fn calls(run: impl FnOnce(&Bottom) -> Answer) -> u32 {
    let bottom = Bottom(Cell::new(0));
    assert_eq!(run(&bottom), Err(bottom.0.get()));
    assert_nothing_is_left();
    bottom.0.get()
}

const fn collapsed(layers: u32, attempts: u32) -> u32 {
    attempts + (layers - 1) * (attempts - 1)
}

/// Itself below itself, so many layers deep.
mod sync {
    use super::*;

    #[retry(max = 5, on(_), timer = Still)]
    pub(super) fn collapse(layers: u32, bottom: &Bottom) -> Answer {
        match layers {
            1 => bottom.fail(),
            _ => collapse(layers - 1, bottom),
        }
    }

    #[retry(max = 5, on(_), timer = Still, nested = "multiply")]
    pub(super) fn multiply(layers: u32, bottom: &Bottom) -> Answer {
        match layers {
            1 => bottom.fail(),
            _ => multiply(layers - 1, bottom),
        }
    }

    #[retry(max = 5, on(_), timer = Still, deadline = "1h", on_retry = |_| (), before_retry = |_| ())]
    pub(super) fn watched(layers: u32, bottom: &Bottom) -> Answer {
        match layers {
            1 => bottom.fail(),
            _ => watched(layers - 1, bottom),
        }
    }

    #[retry(policy = policy, on(_), timer = Still)]
    pub(super) fn inherited(policy: Policy, layers: u32, bottom: &Bottom) -> Answer {
        match layers {
            1 => bottom.fail(),
            _ => inherited(policy, layers - 1, bottom),
        }
    }
}

mod asynchronous {
    use super::*;

    #[retry(max = 5, on(_), timer = Still)]
    pub(super) async fn collapse(layers: u32, bottom: &Bottom) -> Answer {
        yield_once().await;
        match layers {
            1 => bottom.fail(),
            _ => Box::pin(collapse(layers - 1, bottom)).await,
        }
    }

    #[retry(max = 5, on(_), timer = Still, nested = "multiply")]
    pub(super) async fn multiply(layers: u32, bottom: &Bottom) -> Answer {
        if layers == 1 {
            return bottom.fail();
        }
        let answer = Box::pin(multiply(layers - 1, bottom)).await;
        yield_once().await;
        answer
    }

    #[retry(policy = policy, cut_off = false, on(_), timer = Still)]
    pub(super) async fn inherited(policy: Policy, layers: u32, bottom: &Bottom) -> Answer {
        yield_once().await;
        match layers {
            1 => bottom.fail(),
            _ => Box::pin(inherited(policy, layers - 1, bottom)).await,
        }
    }

    #[retry(max = 5, on(_), timer = Still)]
    pub(super) fn boxed(
        layers: u32,
        bottom: &Bottom,
    ) -> Pin<Box<dyn Future<Output = Answer> + '_>> {
        Box::pin(async move {
            yield_once().await;
            match layers {
                1 => bottom.fail(),
                _ => boxed(layers - 1, bottom).await,
            }
        })
    }
}

#[async_trait(?Send)]
trait Layer {
    async fn call(&self, layers: u32) -> Answer;
}

#[async_trait(?Send)]
impl Layer for Bottom {
    #[retry(max = 5, on(_), timer = Still)]
    async fn call(&self, layers: u32) -> Answer {
        yield_once().await;
        match layers {
            1 => self.fail(),
            _ => self.call(layers - 1).await,
        }
    }
}

#[test]
fn three_layers_of_five() {
    assert_eq!(calls(|bottom| sync::collapse(3, bottom)), 13);
    assert_eq!(calls(|bottom| sync::watched(3, bottom)), 13);
    assert_eq!(calls(|bottom| sync::multiply(3, bottom)), 125);
    assert_eq!(calls(|bottom| drive(asynchronous::collapse(3, bottom))), 13);
    assert_eq!(calls(|bottom| drive(asynchronous::boxed(3, bottom))), 13);
    assert_eq!(
        calls(|bottom| drive(asynchronous::multiply(3, bottom))),
        125
    );
    assert_eq!(calls(|bottom| drive(bottom.call(3))), 13);
}

#[test]
fn layers_and_attempts_by_the_formula() {
    for layers in 1..=5 {
        let expected = collapsed(layers, 5);
        assert_eq!(calls(|bottom| sync::collapse(layers, bottom)), expected);
        assert_eq!(
            calls(|bottom| drive(asynchronous::collapse(layers, bottom))),
            expected
        );
    }
    for (layers, attempts) in [(2, 2), (2, 7), (3, 5), (4, 3), (4, 5)] {
        let policy = Policy::new().max(attempts).base(ms(1)).jitter(Jitter::None);
        for policy in [policy, policy.timeout(ms(900)), policy.deadline(ms(900))] {
            for (nested, expected) in [
                (Nested::Collapse, collapsed(layers, attempts)),
                (Nested::Multiply, attempts.pow(layers)),
            ] {
                let policy = policy.nested(nested);
                assert_eq!(
                    calls(|bottom| sync::inherited(policy, layers, bottom)),
                    expected
                );
                assert_eq!(
                    calls(|bottom| drive(asynchronous::inherited(policy, layers, bottom))),
                    expected
                );
            }
        }
    }
}

/// Neither kind sees where the other begins.
#[test]
fn sync_and_async_mixed() {
    #[retry(max = 5, on(_), timer = Still)]
    fn over_async(bottom: &Bottom) -> Answer {
        drive(asynchronous::collapse(1, bottom))
    }
    #[retry(max = 5, on(_), timer = Still)]
    async fn over_sync(layers: u32, bottom: &Bottom) -> Answer {
        yield_once().await;
        sync::collapse(layers, bottom)
    }
    #[retry(max = 5, on(_), timer = Still)]
    async fn over_both(bottom: &Bottom) -> Answer {
        yield_once().await;
        over_async(bottom)
    }
    #[retry(max = 5, on(_), timer = Still)]
    fn over_an_executor(bottom: &Bottom) -> Answer {
        futures::executor::block_on(over_sync(1, bottom))
    }
    assert_eq!(calls(over_async), 9);
    assert_eq!(calls(|bottom| drive(over_sync(1, bottom))), 9);
    assert_eq!(calls(|bottom| drive(over_sync(2, bottom))), 13);
    assert_eq!(calls(|bottom| drive(over_both(bottom))), 13);
    assert_eq!(calls(over_an_executor), 13);
}

/// Attribute, block and builder are one language.
#[test]
fn every_form_below_every_other() {
    const FIVE: Policy = Policy::new().max(5).jitter(Jitter::None);
    fn run(bottom: &Bottom) -> Answer {
        FIVE.on(|_: &u32| true).timer(Still).run(|| bottom.fail())
    }
    fn tried(bottom: &Bottom) -> Answer {
        FIVE.on(|_: &u32| true)
            .timer(Still)
            .try_run(|| block(bottom))
            .map_err(|failed| failed.into_last().unwrap_or_default())
    }
    fn block(bottom: &Bottom) -> Answer {
        retry_block!(max = 5, on(_), timer = Still, { run(bottom) })
    }
    #[retry(max = 5, on(_), timer = Still)]
    fn function(bottom: &Bottom) -> Answer {
        block(bottom)
    }
    #[retry(max = 5, on(_), timer = Still)]
    fn over_tried(bottom: &Bottom) -> Answer {
        tried(bottom)
    }
    async fn innermost(bottom: &Bottom) -> Answer {
        let runner = FIVE.on(|_: &u32| true).timer(Still);
        let answer = runner.try_run_async(async || bottom.fail()).await;
        answer.map_err(|failed| failed.into_last().unwrap_or_default())
    }
    async fn tried_async(bottom: &Bottom) -> Answer {
        let runner = FIVE.on(|_: &u32| true).timer(Still);
        let answer = runner.try_run_async(async || innermost(bottom).await).await;
        answer.map_err(|failed| failed.into_last().unwrap_or_default())
    }
    async fn async_block(bottom: &Bottom) -> Answer {
        retry_block!(max = 5, on(_), timer = Still, async {
            yield_once().await;
            tried_async(bottom).await
        })
        .await
    }
    assert_eq!(calls(run), 5);
    assert_eq!(calls(block), 9);
    assert_eq!(calls(function), 13);
    assert_eq!(calls(tried), 13);
    assert_eq!(calls(over_tried), 17);
    assert_eq!(calls(|bottom| drive(tried_async(bottom))), 9);
    assert_eq!(calls(|bottom| drive(async_block(bottom))), 13);
}

/// Only the layer that says so multiplies; what is below it still looks up.
#[test]
fn multiplied_in_the_middle() {
    #[retry(max = 3, on(_), timer = Still)]
    fn innermost(bottom: &Bottom) -> Answer {
        bottom.fail()
    }
    #[retry(max = 3, on(_), timer = Still, nested = "multiply")]
    fn middle(bottom: &Bottom) -> Answer {
        innermost(bottom)
    }
    #[retry(max = 3, on(_), timer = Still)]
    fn outermost(bottom: &Bottom) -> Answer {
        middle(bottom)
    }
    assert_eq!(calls(middle), 5);
    assert_eq!(calls(outermost), 5 + 3 + 3);
}

/// Each shape takes a way of its own through the step, and none of them may pass
/// the call above by.
#[test]
fn every_shape_collapses() {
    macro_rules! shapes {
        ($($name:ident { $($keys:tt)* })*) => { $({
            #[retry(max = 3, on(_), timer = Still, $($keys)*)]
            fn inner(bottom: &Bottom) -> Answer { bottom.fail() }
            #[retry(max = 3, on(_), timer = Still, $($keys)*)]
            fn outer(bottom: &Bottom) -> Answer { inner(bottom) }
            #[retry(max = 3, on(_), timer = Still, on_retry = |_| (), $($keys)*)]
            fn watched(bottom: &Bottom) -> Answer { bottom.fail() }
            #[retry(max = 3, on(_), timer = Still, $($keys)*)]
            fn over_watched(bottom: &Bottom) -> Answer { watched(bottom) }
            #[retry(max = 3, on(_), timer = Still, $($keys)*)]
            async fn inner_async(bottom: &Bottom) -> Answer { bottom.fail() }
            #[retry(max = 3, on(_), timer = Still, $($keys)*)]
            async fn outer_async(bottom: &Bottom) -> Answer { inner_async(bottom).await }
            let name = stringify!($name);
            assert_eq!(calls(outer), 5, "{name}");
            assert_eq!(calls(over_watched), 5, "{name}");
            assert_eq!(calls(|bottom| drive(outer_async(bottom))), 5, "{name}");
        })* };
    }
    shapes! {
        none { backoff = "none" }
        fixed { backoff = "fixed" }
        linear { backoff = "linear" }
        exponential { backoff = "exp" }
        fast { fast_first }
        fibonacci { backoff = "fibonacci" }
        decorrelated { backoff = "decorrelated" }
        custom { backoff = |_| ms(3) }
        spread { jitter = 0.3 }
        uneven { backoff = "exp", first = "7ms" }
    }
}

/// A delay that the service asks for changes nothing.
#[test]
fn throttled_collapses() {
    #[retry(max = 3, on = |_| reattempt::Verdict::Throttled(Some(ms(10))), timer = Still)]
    fn inner(bottom: &Bottom) -> Answer {
        bottom.fail()
    }
    #[retry(max = 3, on(_), timer = Still)]
    fn outer(bottom: &Bottom) -> Answer {
        inner(bottom)
    }
    assert_eq!(calls(outer), 5);
}
