//! Retries without a delay, and the other tasks of an executor.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use reattempt::strategy::Decision;
use reattempt::{Backoff, Policy, RetryError, retry, retry_block};

use crate::support::{Still, ms};

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// How often a future gives the others their turn. It has to ask for its own.
fn turns<F: Future>(future: F) -> u32 {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut future = pin!(future);
    let mut turns = 0;
    while future
        .as_mut()
        .poll(&mut Context::from_waker(&waker))
        .is_pending()
    {
        turns += 1;
        assert_eq!(woken.0.load(Ordering::Relaxed), turns, "nobody wakes it");
    }
    turns
}

#[test]
fn from_the_second_delay_of_zero_in_a_row() {
    #[retry(max = 3, backoff = "none", on(_))]
    async fn plain() -> Result<(), u32> {
        Err(1)
    }
    #[retry(max = 6, on(_), strategy = |_| Decision::Retry(Duration::ZERO))]
    async fn decided() -> Result<(), u32> {
        Err(1)
    }
    #[retry(max = 3, backoff = "none", on(_), before_retry = async |_| ())]
    async fn hooked() -> Result<(), u32> {
        Err(1)
    }
    #[retry(max = 3, backoff = "none", until = |()| false, on(_))]
    async fn polled() -> Result<(), RetryError<u32>> {
        Ok(())
    }
    // One retry comes at once, the next gives a turn.
    assert_eq!(turns(plain()), 1);
    assert_eq!(turns(decided()), 4);
    assert_eq!(turns(hooked()), 1);
    assert_eq!(turns(polled()), 1);
    let block = retry_block!(
        max = 3,
        backoff = "none",
        on(_),
        async || -> Result<(), u32> { Err(1) }
    );
    assert_eq!(turns(block), 1);
    let policy = Policy::new().max(3).backoff(Backoff::None);
    let runner = policy.on(|_: &u32| true);
    assert_eq!(turns(runner.try_run_async(async || Err::<(), u32>(1))), 1);
    assert_eq!(turns(runner.try_run_async(async || Err::<(), u32>(1))), 1);
}

#[test]
fn not_where_only_the_first_comes_at_once() {
    #[retry(max = 5, fast_first, base = "1s", jitter = "equal", on(_), timer = Still)]
    async fn fast() -> Result<(), u32> {
        Err(1)
    }
    #[retry(max = 5, fast_first, backoff = "decorrelated", base = "1s", on(_), timer = Still)]
    async fn decorrelated() -> Result<(), u32> {
        Err(1)
    }
    assert_eq!(turns(fast()), 0);
    assert_eq!(turns(decorrelated()), 0);
}

/// Attempts without end are no faster than one in a millisecond, whatever the function answers.
#[test]
fn a_function_of_delays_without_end_has_a_floor() {
    #[retry(max = "unlimited", backoff = |_| Duration::ZERO, deadline = "1h", on(_))]
    fn endless(calls: &Cell<u32>) -> Result<(), u32> {
        calls.set(calls.get() + 1);
        if calls.get() < 100 { Err(1) } else { Ok(()) }
    }
    #[retry(max = 3, backoff = |_| Duration::ZERO, on(_))]
    fn bounded() -> Result<(), u32> {
        Err(1)
    }
    let time = reattempt::testing::virtual_time();
    assert_eq!(endless(&Cell::new(0)), Ok(()));
    assert_eq!(time.elapsed(), ms(99));
    assert_eq!(bounded(), Err(1));
    assert_eq!(time.elapsed(), ms(99));
}
