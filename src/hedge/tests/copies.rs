//! When copies start, which answer counts, what is left.

use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

const HEDGE: Hedge = Hedge::after(Duration::from_millis(50));

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test(start_paused = true)]
async fn the_first_good_answer_wins() {
    for (answers, expected, started) in [
        // The first, before there is another.
        (&[(20, Ok(1))][..], (Ok(1), 20), 1),
        // The second.
        (&[(500, Ok(1)), (10, Ok(2))], (Ok(2), 60), 2),
        (&[(500, Ok(1)), (0, Ok(2))], (Ok(2), 50), 2),
        // The first, beside the second.
        (&[(60, Ok(1)), (20, Ok(2))], (Ok(1), 60), 2),
        // Both at once: the one that was first.
        (&[(60, Ok(1)), (10, Ok(2))], (Ok(1), 60), 2),
        // The first answers just when the second would start.
        (&[(50, Ok(1)), (0, Ok(2))], (Ok(1), 50), 1),
    ] {
        assert_eq!(
            Script::new(answers).run(HEDGE, started).await,
            expected,
            "{answers:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_the_last_resort() {
    for (answers, expected, started) in [
        // Nothing else runs.
        (&[(20, Err(Passing(1)))][..], (Err(Passing(1)), 20), 1),
        (&[(0, Err(Passing(1)))], (Err(Passing(1)), 0), 1),
        // Another one runs, and makes good for it.
        (&[(60, Err(Passing(1))), (20, Ok(2))], (Ok(2), 70), 2),
        (&[(70, Ok(1)), (10, Err(Passing(2)))], (Ok(1), 70), 2),
        (&[(70, Ok(1)), (0, Err(Passing(2)))], (Ok(1), 70), 2),
        // Another one runs, and fails: the last failure.
        (
            &[(60, Err(Passing(1))), (30, Err(Passing(2)))],
            (Err(Passing(2)), 80),
            2,
        ),
        (
            &[(80, Err(Passing(1))), (10, Err(Passing(2)))],
            (Err(Passing(1)), 80),
            2,
        ),
        (
            &[(60, Err(Passing(1))), (10, Err(Passing(2)))],
            (Err(Passing(2)), 60),
            2,
        ),
        // One that another copy would not help against.
        (
            &[(60, Err(Lasting(1))), (90, Ok(2))],
            (Err(Lasting(1)), 60),
            2,
        ),
        (
            &[(90, Ok(1)), (10, Err(Lasting(2)))],
            (Err(Lasting(2)), 60),
            2,
        ),
        (
            &[(90, Ok(1)), (0, Err(Lasting(2)))],
            (Err(Lasting(2)), 50),
            2,
        ),
    ] {
        assert_eq!(
            Script::new(answers).run(HEDGE, started).await,
            expected,
            "{answers:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn until_it_waits_nothing_is_asked_for() {
    let script = Script::new(&[(0, Ok(1))]);
    let never = |_: &Answer| panic!("nothing else runs");
    let attempt = hedged(
        (),
        HEDGE,
        None,
        &script.time,
        || script.copy(),
        never,
        || false,
    );
    assert_eq!(attempt.await, Ok(1));
    assert_eq!((script.time.reads.get(), script.time.sleeps.get()), (0, 0));
    let script = Script::new(&[(200, Ok(1))]);
    assert_eq!(script.run(HEDGE, 2).await, (Ok(1), 200));
    assert_eq!((script.time.reads.get(), script.time.sleeps.get()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn the_first_copy_starts_when_it_is_polled() {
    let script = Script::new(&[]);
    let mut attempt = pin!(script.attempt(HEDGE, None));
    assert_eq!(script.started.get(), 0);
    assert!(poll(attempt.as_mut()).is_pending());
    assert_eq!(script.started.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn another_one_after_each_delay_up_to_the_most() {
    let script = Script::new(&[]);
    let mut attempt = pin!(script.attempt(HEDGE.max(3), None));
    for (wait, started) in [(49, 1), (2, 2), (48, 2), (2, 3), (48, 3), (2, 4), (5000, 4)] {
        let waited = tokio::time::timeout(MS * wait, attempt.as_mut()).await;
        assert!(waited.is_err());
        assert_eq!(script.started.get(), started);
    }
    assert_eq!(script.most.get(), 4);
}

#[tokio::test(start_paused = true)]
async fn no_copy_starts_early_for_one_that_failed() {
    // The first fails at 60 ms, the second answers at 150: the third starts at 100 all the same.
    let script = Script::new(&[(60, Err(Passing(1))), (100, Ok(2)), (40, Ok(3))]);
    assert_eq!(script.run(HEDGE.max(2), 3).await, (Ok(3), 140));
    assert_eq!(script.most.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn of_two_at_once_the_one_that_started_first() {
    let script = Script::new(&[(500, Ok(1)), (60, Ok(2)), (10, Ok(3))]);
    assert_eq!(script.run(HEDGE.max(2), 3).await, (Ok(2), 110));
}

#[tokio::test(start_paused = true)]
async fn wakes_start_nothing() {
    let script = Script::new(&[]);
    let mut attempt = pin!(script.attempt(HEDGE.max(10), None));
    for _ in 0..100 {
        assert!(poll(attempt.as_mut()).is_pending());
    }
    assert_eq!((script.started.get(), script.time.sleeps.get()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn who_pays_may_refuse() {
    for (paid, started, asked) in [(0, 1, 1), (1, 2, 2), (2, 3, 3), (9, 4, 3)] {
        let script = Script::new(&[]);
        let questions = Cell::new(0);
        let pay = || {
            questions.set(questions.get() + 1);
            questions.get() <= paid
        };
        let make = || script.copy();
        let mut attempt = pin!(hedged(
            (),
            HEDGE.max(3),
            None,
            &script.time,
            make,
            decide,
            pay
        ));
        // Once it refused it is not asked again, however often something wakes.
        for _ in 0..100 {
            assert!(poll(attempt.as_mut()).is_pending());
            tokio::time::advance(10 * MS).await;
        }
        assert_eq!((script.started.get(), questions.get()), (started, asked));
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_at_any_point_it_leaves_nothing() {
    for wait in 0..30 {
        let script = Script::new(&[(60, Err(Passing(1))), (75, Err(Passing(2)))]);
        let attempt = script.attempt(HEDGE.max(3), None);
        assert!(tokio::time::timeout(10 * MS * wait, attempt).await.is_err());
        assert_eq!(script.alive.get(), 0, "{wait}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_the_others() {
    for (wait, which, started) in [
        (0, 1, 1),
        (20, 1, 1),
        (60, 1, 2),
        (0, 2, 2),
        (20, 2, 2),
        (20, 4, 4),
    ] {
        let script = Script::new(&[]);
        let make = || {
            let copy = script.copy();
            let panics = script.started.get() == which;
            async move {
                if panics && wait > 0 {
                    tokio::time::sleep(MS * wait).await;
                }
                assert!(!panics, "of the copy");
                copy.await
            }
        };
        let mut attempt = pin!(hedged(
            (),
            HEDGE.max(3),
            None,
            &script.time,
            make,
            decide,
            || true
        ));
        let mut panicked = false;
        for _ in 0..100 {
            panicked = catch_unwind(AssertUnwindSafe(|| poll(attempt.as_mut()))).is_err();
            if panicked {
                break;
            }
            tokio::time::advance(10 * MS).await;
        }
        assert!(panicked);
        // The attempt is still there.
        assert_eq!((script.alive.get(), script.started.get()), (0, started));
    }
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "polled after its end")]
async fn it_ends_once() {
    let script = Script::new(&[(0, Ok(1))]);
    let mut attempt = pin!(script.attempt(HEDGE, None));
    assert!(poll(attempt.as_mut()).is_ready());
    let _ = poll(attempt.as_mut());
}

#[test]
fn what_it_keeps() {
    fn sizes<W, T: Timer, F: Future, M, D, P>(_: &Hedged<'_, W, T, F, M, D, P>) -> (usize, usize) {
        (
            size_of::<Hedged<'_, W, T, F, M, D, P>>(),
            size_of::<Option<F>>(),
        )
    }
    fn is_send(_: &impl Send) {}

    struct Nothing;
    impl Clock for Nothing {
        fn now(&self) -> Timestamp {
            Timestamp::ENDLESS
        }
    }
    impl Timer for Nothing {
        type Sleep = core::future::Ready<()>;
        fn sleep(&self, _: Duration) -> Self::Sleep {
            core::future::ready(())
        }
    }
    let make = || async {
        core::future::pending::<()>().await;
        Ok(1)
    };
    let attempt = hedged((), HEDGE, None, Nothing, make, decide, || true);
    is_send(&attempt);
    let (whole, copy) = sizes(&attempt);
    assert!(whole - copy <= 40, "{whole} {copy}");
}
