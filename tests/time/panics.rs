//! A panic at every step in turn - in a body, at each of its polls, in a judgement,
//! in a hook, in the clock and in the timer - reaches the caller, and leaves nothing.

use reattempt::{RetryError, Verified, deadline, retry, retry_block};

use crate::bombs::{catch, explode_after, has_exploded, step, yield_once};
use crate::support::{Alive, Fault, Hand, assert_nothing_is_left, drive, ms};

/// Runs `call` with a bomb at step 0, 1, 2, ... until it comes to its end; answers
/// with the number of steps.
#[track_caller]
fn panicking_at_each_step<R>(call: impl Fn() -> R) -> usize {
    for steps in 0..1000 {
        explode_after(steps);
        let caught = catch(|| drop(call()));
        let exploded = has_exploded();
        assert_eq!(Alive::count(), 0, "at step {steps}");
        assert_nothing_is_left();
        assert_eq!(caught.is_err(), exploded);
        if !exploded {
            return steps;
        }
    }
    panic!("it never ends");
}

fn work() -> Result<u32, Fault> {
    let _alive = Alive::new();
    step();
    Err(Fault::new())
}

async fn work_async() -> Result<u32, Fault> {
    let _alive = Alive::new();
    yield_once().await;
    Err(Fault::new())
}

#[test]
fn sync() {
    #[retry(timer = hand, budget = "none")]
    fn plain(hand: &Hand) -> Result<u32, Fault> {
        work()
    }
    #[retry(
        timer = hand,
        deadline = "20s",
        context = attempt,
        except = |_| { step(); false },
        on_retry = |_| step(),
        before_retry = |_| step(),
        fallback = |fault| { step(); drop(fault); 7 },
    )]
    fn hooks(hand: &Hand) -> Result<u32, Fault> {
        let _number = attempt.number();
        work()
    }
    #[retry(timer = hand, idempotent = false, verify = |_| { step(); Verified::NotDone })]
    fn verified(hand: &Hand) -> Result<u32, RetryError<Fault>> {
        work()
    }
    #[retry(timer = hand)]
    fn nested(hand: &Hand) -> Result<u32, Fault> {
        let _alive = Alive::new();
        deadline::within_blocking(ms(9_000), || {
            retry_block!(timer = hand, max = 4, { plain(hand) })
        })
    }
    // A body and a judgement each, and two delays.
    assert_eq!(panicking_at_each_step(|| plain(&Hand::default())), 8);
    assert!(panicking_at_each_step(|| hooks(&Hand::default())) > 14);
    assert!(panicking_at_each_step(|| verified(&Hand::default())) > 8);
    assert!(panicking_at_each_step(|| nested(&Hand::default())) > 14);
}

#[test]
fn asynchronous() {
    #[retry(timer = hand, budget = "none")]
    async fn plain(hand: &Hand) -> Result<u32, Fault> {
        work_async().await
    }
    #[retry(
        timer = hand,
        deadline = "20s",
        timeout = "10s",
        context = attempt,
        on_retry = |_| step(),
        before_retry = async |_| { drop(work_async().await); },
        fallback = async |fault| { step(); drop(fault); 7 },
    )]
    async fn hooks(hand: &Hand) -> Result<u32, Fault> {
        let _number = attempt.number();
        work()
    }
    #[retry(timer = hand, timeout = "1s", max = 2)]
    async fn limited(hand: &Hand) -> Result<u32, Fault> {
        work_async().await
    }
    #[retry(timer = hand)]
    async fn nested(hand: &Hand) -> Result<u32, Fault> {
        let _alive = Alive::new();
        deadline::within(ms(9_000), async {
            let policy = reattempt::Policy::new();
            let runner = policy.runner().timer(hand);
            runner.run_async(async || plain(hand).await).await
        })
        .await
    }
    assert_eq!(
        panicking_at_each_step(|| drive(plain(&Hand::default()))),
        15
    );
    assert!(panicking_at_each_step(|| drive(hooks(&Hand::default()))) > 14);
    assert!(panicking_at_each_step(|| drive(limited(&Hand::default()))) > 8);
    assert!(panicking_at_each_step(|| drive(nested(&Hand::default()))) > 15);
}

/// What goes on after a panic below sees its own deadline and attempt again.
#[test]
fn caught_inside() {
    #[retry(timer = hand)]
    fn inner(hand: &Hand) -> Result<u32, Fault> {
        if deadline::attempt() == 2 {
            explode_after(0);
        }
        work()
    }
    let hand = Hand::default();
    deadline::within_blocking(ms(9_000), || {
        let caught = catch(|| {
            deadline::within_blocking(ms(1_000), || drop(inner(&hand)));
        });
        assert!(caught.is_err());
        assert!(deadline::remaining() > Some(ms(1_000)));
        assert_eq!(deadline::attempt(), 1);
    });
    assert_nothing_is_left();
}
