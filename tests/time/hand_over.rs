//! Deadlines and nesting handed over to tasks and threads.

use std::time::Duration;

use reattempt::deadline::{self, Deadline};
use reattempt::{GiveUpReason, RetryError, nesting, retry};
use tokio::time::{Instant, sleep};

use crate::support::{Still, assert_nothing_is_left, drive};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn to_a_task() {
    #[retry(max = 9, base = "1s", cap = "1s", jitter = "none", on(_))]
    async fn fetch() -> Result<u32, RetryError<u32>> {
        Err(1)
    }
    let (with, without, start) = deadline::within(3 * SECOND, async {
        let here = deadline::current();
        assert_eq!(here.map(Deadline::remaining), Some(3 * SECOND));
        let with = tokio::spawn(deadline::scope(here, async {
            sleep(SECOND).await;
            (deadline::remaining(), fetch().await)
        }));
        let without = tokio::spawn(async { (deadline::remaining(), fetch().await) });
        (with, without, Instant::now())
    })
    .await;
    let (seen, answer) = with.await.expect("no panic");
    let failed = answer.expect_err("always");
    assert_eq!(
        (seen, failed.reason()),
        (Some(2 * SECOND), GiveUpReason::Deadline)
    );
    assert_eq!((failed.attempts(), start.elapsed()), (2, 2 * SECOND));
    let (seen, answer) = without.await.expect("no panic");
    let failed = answer.expect_err("always");
    assert_eq!((seen, failed.reason()), (None, GiveUpReason::Attempts));
    assert_nothing_is_left();
}

/// What is handed over only shrinks, too; nothing handed over changes nothing.
#[tokio::test(start_paused = true)]
async fn it_only_shrinks() {
    let (short, long) = (Deadline::after(SECOND), Deadline::after(9 * SECOND));
    assert!(short < long && !short.is_over());
    let seen = async || deadline::remaining();
    let under = |first, second| deadline::scope(first, deadline::scope(second, seen()));
    assert_eq!(under(Some(short), Some(long)).await, Some(SECOND));
    assert_eq!(under(Some(long), Some(short)).await, Some(SECOND));
    assert_eq!(under(Some(long), None).await, Some(9 * SECOND));
    assert_eq!(under(None, None).await, None);
    assert_eq!(
        deadline::scope_blocking(long, deadline::current),
        Some(long)
    );
    assert_eq!(deadline::scope_blocking(None, deadline::current), None);
    sleep(SECOND).await;
    assert!(short.is_over() && short.remaining().is_zero());
    assert_nothing_is_left();
}

/// By the clock of the operating system, of which a test knows no more than that
/// it does not take an hour.
#[test]
fn to_a_thread() {
    let hour = 3600 * SECOND;
    deadline::within_blocking(hour, || {
        let here = deadline::current();
        std::thread::scope(|scope| {
            let with = scope.spawn(|| {
                let seen = deadline::scope_blocking(here, || {
                    assert_eq!(deadline::current(), here);
                    deadline::remaining()
                });
                assert_nothing_is_left();
                seen
            });
            let without = scope.spawn(deadline::remaining);
            let seen = with.join().expect("no panic").expect("handed over");
            assert!(seen <= hour && !seen.is_zero());
            assert_eq!(without.join().expect("no panic"), None);
        });
    });
    assert_nothing_is_left();
}

#[tokio::test]
async fn to_a_thread_that_may_block() {
    let seen = deadline::within(3600 * SECOND, async {
        let here = deadline::current();
        let blocking = move || deadline::scope_blocking(here, deadline::current);
        let seen = tokio::task::spawn_blocking(blocking).await;
        assert_eq!(deadline::current(), here);
        seen.expect("no panic")
    })
    .await;
    assert!(seen.is_some_and(|deadline| !deadline.is_over()));
}

/// A scope that is polled by one thread and then by another takes its deadline along.
#[test]
fn from_thread_to_thread() {
    let mut scope = Box::pin(deadline::within(3600 * SECOND, async {
        let first = deadline::current();
        tokio::task::yield_now().await;
        (first, deadline::current())
    }));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(scope.as_mut().poll(&mut context).is_pending());
    assert_nothing_is_left();
    let (first, second) = std::thread::spawn(move || drive(scope))
        .join()
        .expect("no panic");
    assert!(first.is_some());
    assert_eq!(first, second);
}

/// The first owner polls for all of them; `outside` keeps its deadline and its retry from the others.
#[test]
fn a_shared_future_taken_out() {
    use futures::FutureExt as _;

    let seen = || async { deadline::remaining() };
    let below = deadline::within(SECOND, seen().shared());
    assert!(drive(below).is_some());
    let shared = deadline::isolate(seen()).shared();
    assert_eq!(drive(deadline::within(SECOND, shared.clone())), None);
    assert_eq!(drive(shared), None);
}

#[retry(max = 3, on(_), timer = Still)]
fn inner() -> Result<u32, RetryError<u32>> {
    Err(deadline::attempt())
}

fn attempts(answer: Result<u32, RetryError<u32>>) -> u32 {
    answer.expect_err("always").attempts()
}

/// An operation that gave up in the attempt before makes one attempt in this one, also where the retry is handed to.
#[test]
fn nesting_to_a_thread() {
    #[retry(max = 2, on(_), timer = Still)]
    fn outer(seen: &mut Vec<[u32; 3]>) -> Result<u32, u32> {
        let here = nesting::current();
        let [with, without] = std::thread::scope(|scope| {
            let with = scope.spawn(|| nesting::scope_blocking(&here, || attempts(inner())));
            let without = scope.spawn(|| attempts(inner()));
            [with, without].map(|thread| thread.join().expect("no panic"))
        });
        seen.push([attempts(inner()), with, without]);
        Err(deadline::attempt())
    }
    let mut seen = Vec::new();
    assert_eq!(outer(&mut seen), Err(2));
    assert_eq!(seen, [[3, 3, 3], [1, 1, 3]]);
    assert_nothing_is_left();
}

#[tokio::test]
async fn nesting_to_a_task() {
    #[retry(max = 2, on(_), timer = Still)]
    async fn outer(seen: &mut Vec<[u32; 3]>) -> Result<u32, u32> {
        let below = async { (deadline::attempt(), attempts(inner())) };
        let with = tokio::spawn(nesting::scope(nesting::current(), below));
        let without = tokio::spawn(async { attempts(inner()) });
        let (attempt, with) = with.await.expect("no panic");
        assert_eq!(attempt, deadline::attempt());
        seen.push([attempts(inner()), with, without.await.expect("no panic")]);
        Err(attempt)
    }
    let mut seen = Vec::new();
    assert_eq!(outer(&mut seen).await, Err(2));
    assert_eq!(seen, [[3, 3, 3], [1, 1, 3]]);
    assert_nothing_is_left();
}

/// A thread has the real clock, and that of tokio may stand still or be ahead: what is left of a deadline is the same.
#[tokio::test(start_paused = true)]
async fn a_deadline_of_a_thread_in_another_time() {
    #[retry(deadline = "20m", on(_))]
    fn left() -> Result<Option<Duration>, RetryError<u32>> {
        Ok(deadline::remaining())
    }
    for _ in 0..3 {
        let left = left().expect("it succeeds").expect("a deadline");
        assert!(
            left > Duration::ZERO && left <= Duration::from_secs(1200),
            "{left:?}"
        );
        tokio::time::advance(Duration::from_secs(3600)).await;
    }
}
