//! The deadline from above: it nests, it only shrinks, and it is obeyed.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::pending;
use std::time::Duration;

use reattempt::{GiveUpReason, RetryError, deadline, retry};
use tokio::time::{Instant, sleep};

use crate::support::{assert_nothing_is_left, ms};

const SECOND: Duration = Duration::from_secs(1);

/// In whichever order, the earlier one holds.
#[tokio::test(start_paused = true)]
async fn it_only_shrinks() {
    let seen = || deadline::remaining();
    deadline::within(10 * SECOND, async {
        assert_eq!(seen(), Some(10 * SECOND));
        sleep(SECOND).await;
        assert_eq!(seen(), Some(9 * SECOND));
        deadline::within(SECOND, async {
            assert_eq!(seen(), Some(SECOND));
            deadline::within_blocking(5 * SECOND, || assert_eq!(seen(), Some(SECOND)));
            deadline::within_blocking(Duration::ZERO, || assert_eq!(seen(), Some(Duration::ZERO)));
            sleep(3 * SECOND).await;
            assert_eq!(seen(), Some(Duration::ZERO));
        })
        .await;
        assert_eq!(seen(), Some(6 * SECOND));
        deadline::within(Duration::MAX, async {
            assert_eq!(seen(), Some(6 * SECOND));
        })
        .await;
    })
    .await;
    assert_nothing_is_left();
}

/// It is counted from when it was said, not from when it is polled.
#[tokio::test(start_paused = true)]
async fn from_the_call_on() {
    let later = deadline::within(3 * SECOND, async { deadline::remaining() });
    sleep(SECOND).await;
    assert_eq!(later.await, Some(2 * SECOND));
}

/// The smaller of its own and the one from above, at both kinds of end.
#[tokio::test(start_paused = true)]
async fn the_smaller_one_holds() {
    #[retry(deadline = "5s", on(_))]
    async fn hangs() -> Result<u32, RetryError<u32>> {
        assert!(deadline::remaining() <= Some(5 * SECOND));
        pending().await
    }
    #[retry(
        base = "1s",
        cap = "1s",
        max = 5,
        jitter = "none",
        deadline = "5s",
        on(_)
    )]
    async fn fails(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    for (ambient, expected) in [(2, 2), (60, 5)] {
        let start = Instant::now();
        let failed = deadline::within(ambient * SECOND, hangs()).await;
        let failed = failed.expect_err("cut off");
        assert_eq!(
            (failed.reason(), failed.attempts()),
            (GiveUpReason::Deadline, 1)
        );
        assert_eq!(start.elapsed(), expected * SECOND);
        let calls = Cell::new(0);
        let failed = deadline::within(ambient * SECOND, fails(&calls)).await;
        assert!(failed.is_err());
        assert_eq!(calls.get(), expected);
    }
    assert_nothing_is_left();
}

/// A call without limits of its own begins no delay that it has no time for.
#[tokio::test(start_paused = true)]
async fn a_plain_call_obeys() {
    #[retry(base = "1s", cap = "1s", max = 20, jitter = "none", on(_))]
    async fn fetch(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        sleep(SECOND / 2).await;
        Err(1)
    }
    let (calls, start) = (Cell::new(0), Instant::now());
    let failed = deadline::within(4 * SECOND, fetch(&calls)).await;
    let failed = failed.expect_err("always");
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Deadline, 3)
    );
    assert_eq!(start.elapsed(), 3 * SECOND + SECOND / 2);
}

/// A wait that ends too late, because timers count in milliseconds, is not
/// followed by an attempt.
#[tokio::test(start_paused = true)]
async fn between_two_milliseconds() {
    #[retry(base = "9500us", jitter = "none", on(_))]
    async fn plain(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    #[retry(base = "9500us", jitter = "none", on(_), timeout = "1s")]
    async fn limited(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    #[retry(base = "9500us", jitter = "none", on(_), before_retry = async |_| ())]
    async fn hooked(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    let limit = Duration::from_micros(9_700);
    let calls = [(); 3].map(|()| Cell::new(0));
    let _ = deadline::within(limit, limited(&calls[0])).await;
    let _ = deadline::within(limit, hooked(&calls[1])).await;
    let _ = deadline::within(limit, plain(&calls[2])).await;
    assert_eq!(calls.map(Cell::into_inner), [1; 3]);
}

/// A time-out shrinks with it, and is seen as it is.
#[tokio::test(start_paused = true)]
async fn time_outs_shrink() {
    #[retry(max = 3, base = "1s", jitter = "none", timeout = "4s", on(_))]
    async fn fetch(seen: &Cell<Option<Duration>>) -> Result<u32, RetryError<u32>> {
        seen.set(deadline::remaining());
        pending().await
    }
    let (seen, start) = (Cell::new(None), Instant::now());
    let failed = deadline::within(3 * SECOND, fetch(&seen)).await;
    let failed = failed.expect_err("cut off");
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Deadline, 1)
    );
    assert_eq!(
        (seen.get(), start.elapsed()),
        (Some(3 * SECOND), 3 * SECOND)
    );
    // 4 s, 1 s of delay, and the one second that is left.
    let failed = deadline::within(6 * SECOND, fetch(&seen)).await;
    let failed = failed.expect_err("cut off");
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Deadline, 2)
    );
    assert_eq!((seen.get(), start.elapsed()), (Some(SECOND), 9 * SECOND));
    assert_nothing_is_left();
}

/// Over before it begins: what is cut off is not begun, what is not makes its one
/// attempt.
#[tokio::test(start_paused = true)]
async fn over_before_it_begins() {
    #[retry(timeout = "4s", on(_))]
    async fn limited(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    #[retry(backoff = "none", on(_))]
    async fn plain(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    #[retry(backoff = "none", on(_))]
    fn sync(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        Err(1)
    }
    let calls = Cell::new(0);
    let end = |answer: Result<u32, RetryError<u32>>| {
        let failed = answer.expect_err("over");
        (failed.reason(), failed.attempts(), failed.last().copied())
    };
    let limited = deadline::within(Duration::ZERO, limited(&calls)).await;
    assert_eq!(
        (end(limited), calls.get()),
        ((GiveUpReason::Deadline, 0, None), 0)
    );
    let plain = deadline::within(Duration::ZERO, plain(&calls)).await;
    assert_eq!(
        (end(plain), calls.get()),
        ((GiveUpReason::Deadline, 0, None), 0)
    );
    let sync = deadline::within_blocking(Duration::ZERO, || sync(&calls));
    assert_eq!(
        (end(sync), calls.get()),
        ((GiveUpReason::Deadline, 0, None), 0)
    );
}

/// What is polled by turns has each its own.
#[tokio::test(start_paused = true)]
async fn siblings() {
    let one = deadline::within(3 * SECOND, async {
        sleep(SECOND).await;
        deadline::remaining()
    });
    let other = async {
        sleep(SECOND).await;
        deadline::remaining()
    };
    let third = deadline::within(2 * SECOND, async {
        sleep(SECOND).await;
        deadline::remaining()
    });
    let seen = tokio::join!(one, other, third);
    assert_eq!(seen, (Some(2 * SECOND), None, Some(SECOND)));
}

/// A call that is taken out of a scope while an attempt runs has its own time again,
/// and one that gets into a scope has less.
#[tokio::test(start_paused = true)]
async fn moved_out_and_in() {
    #[retry(max = 3, deadline = "60s", on(_))]
    async fn fetch(calls: &Cell<u32>) -> Result<u32, RetryError<u32>> {
        calls.set(calls.get() + 1);
        sleep(ms(5_000)).await;
        Ok(calls.get())
    }
    let (calls, start) = (Cell::new(0), Instant::now());
    let mut call = Box::pin(fetch(&calls));
    let within = deadline::within(ms(1_000), &mut call);
    assert!(tokio::time::timeout(ms(500), within).await.is_err());
    assert_eq!(call.await.unwrap(), 1);
    assert_eq!((calls.get(), start.elapsed()), (1, ms(5_000)));

    let (calls, start) = (Cell::new(0), Instant::now());
    let mut call = Box::pin(fetch(&calls));
    assert!(tokio::time::timeout(ms(500), &mut call).await.is_err());
    let failed = deadline::within(ms(1_000), call).await.unwrap_err();
    assert_eq!(
        (failed.reason(), failed.attempts()),
        (GiveUpReason::Deadline, 1)
    );
    assert_eq!((calls.get(), start.elapsed()), (1, ms(1_500)));
}

/// A pool as rayon has it: who waits in `join` runs the jobs of others on its own thread.
#[derive(Default)]
struct Pool<'j>(RefCell<VecDeque<Box<dyn FnOnce() + 'j>>>);

impl<'j> Pool<'j> {
    fn spawn(&self, job: impl FnOnce() + 'j) {
        self.0.borrow_mut().push_back(Box::new(job));
    }

    fn join(&self) {
        let stolen = self.0.borrow_mut().pop_front();
        stolen.expect("a job of somebody else")();
    }
}

/// What a job saw: whether there is a deadline, and how many attempts its call made.
type Seen = RefCell<Vec<(bool, u32)>>;

/// Somebody else's job, which fails however often it is tried.
fn job(seen: &Seen) {
    #[retry(max = 3, backoff = "none", on(_))]
    fn stored(attempts: &Cell<u32>) -> Result<(), u32> {
        attempts.set(attempts.get() + 1);
        Err(attempts.get())
    }
    let attempts = Cell::new(0);
    assert!(stored(&attempts).is_err());
    seen.borrow_mut()
        .push((deadline::remaining().is_some(), attempts.get()));
}

/// A call that waits in each of its two attempts, and fails both times.
#[retry(max = 2, backoff = "none", deadline = "30s", on(_))]
fn waits(pool: &Pool<'_>) -> Result<(), u32> {
    pool.join();
    Err(1)
}

/// A thread that waits lends its deadline and its retry to the jobs that it steals; a job that begins with
/// `isolate_blocking` takes neither.
#[test]
fn a_job_that_a_waiting_thread_steals() {
    let (borrowed, isolated) = (Seen::default(), Seen::default());
    let pool = Pool::default();
    for _ in 0..2 {
        pool.spawn(|| job(&borrowed));
    }
    assert_eq!(waits(&pool), Err(1));
    assert_eq!(*borrowed.borrow(), [(true, 3), (true, 1)]);

    for _ in 0..2 {
        pool.spawn(|| deadline::isolate_blocking(|| job(&isolated)));
    }
    assert_eq!(waits(&pool), Err(1));
    assert_eq!(*isolated.borrow(), [(false, 3), (false, 3)]);
    assert_nothing_is_left();
}
