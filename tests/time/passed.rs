//! A deadline of the caller that has passed: a call whose answer can say so makes no attempt, any other call makes its first.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use reattempt::{GaveUp, GiveUpReason, Policy, RetryError, deadline, retry, retry_block};

use crate::support::{Still, assert_nothing_is_left, drive};

type Calls = Cell<u32>;

fn lost<E: From<Lost>>(calls: &Calls) -> Result<(), E> {
    calls.set(calls.get() + 1);
    Err(Lost.into())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lost;

impl From<Lost> for io::Error {
    fn from(_: Lost) -> Self {
        io::ErrorKind::ConnectionReset.into()
    }
}

/// How a call ended.
trait End {
    fn end(self) -> Option<GaveUp>;
}

impl End for Result<(), RetryError<Lost>> {
    fn end(self) -> Option<GaveUp> {
        let error = self.err()?;
        Some(GaveUp::new(error.reason(), error.attempts()))
    }
}

impl End for Result<(), io::Error> {
    fn end(self) -> Option<GaveUp> {
        let source = self.err()?.into_inner()?;
        source.downcast_ref().copied()
    }
}

impl End for Result<(), GaveUp> {
    fn end(self) -> Option<GaveUp> {
        self.err()
    }
}

fn makes_none<R: End>(call: impl FnOnce(&Calls) -> R) {
    let calls = Calls::new(0);
    let answer = deadline::within_blocking(Duration::ZERO, || call(&calls));
    let end = answer.end().expect("the answer says how the call ended");
    assert_eq!((calls.get(), end.attempts()), (0, 0));
    assert_eq!(end.reason(), GiveUpReason::Deadline);
    assert_nothing_is_left();
}

fn makes_one<R>(call: impl FnOnce(&Calls) -> R) {
    let calls = Calls::new(0);
    deadline::within_blocking(Duration::ZERO, || call(&calls));
    assert_eq!(calls.get(), 1);
    assert_nothing_is_left();
}

#[test]
fn answers_that_say_why() {
    #[retry(on(_), timer = Still)]
    fn sync(calls: &Calls) -> Result<(), RetryError<Lost>> {
        lost(calls)
    }
    #[retry(on(_), timer = Still)]
    async fn asynchronous(calls: &Calls) -> Result<(), RetryError<Lost>> {
        lost(calls)
    }
    makes_none(sync);
    makes_none(|calls| drive(asynchronous(calls)));
    makes_none(|calls| {
        retry_block!(on(_), timer = Still, || -> Result<(), RetryError<Lost>> {
            lost(calls)
        })
    });
}

#[test]
fn runners() {
    const POLICY: Policy = Policy::new();
    let runner = || POLICY.on(|_: &Lost| true).timer(Still);
    makes_none(|calls| runner().try_run(|| lost::<Lost>(calls)));
    makes_none(|calls| drive(runner().try_run_async(async || lost::<Lost>(calls))));
    makes_none(|calls| {
        let runner = POLICY.on(|_: &io::Error| true).timer(Still);
        drive(runner.run_async(async || lost::<io::Error>(calls)))
    });
}

#[test]
fn limits_of_its_own() {
    #[retry(deadline = "1h", on(_), timer = Still)]
    fn sync(calls: &Calls) -> Result<(), RetryError<Lost>> {
        lost(calls)
    }
    #[retry(timeout = "1s", on(_), timer = Still)]
    async fn times_out(calls: &Calls) -> io::Result<()> {
        lost(calls)
    }
    #[retry(deadline = "1h", on(_), timer = Still)]
    async fn deadline(calls: &Calls) -> io::Result<()> {
        lost(calls)
    }
    #[retry(deadline = "1h", on(_), timer = Still)]
    fn sync_io(calls: &Calls) -> io::Result<()> {
        lost(calls)
    }
    #[retry(policy = policy, on(_), timer = Still)]
    fn by_policy(policy: &Policy, calls: &Calls) -> io::Result<()> {
        lost(calls)
    }
    #[retry(on(_), timer = Still, map_err = |error: RetryError<Lost>| GaveUp::new(error.reason(), error.attempts()))]
    async fn mapped(calls: &Calls) -> Result<(), GaveUp> {
        lost(calls)
    }
    #[retry(deadline = "1h", on(_), timer = Still, fallback = |error: RetryError<Lost>| Err(error))]
    fn fallen_back(calls: &Calls) -> Result<(), RetryError<Lost>> {
        lost(calls)
    }
    #[retry(deadline = "1h", on(_), timer = Still, fallback = || 7)]
    fn answered(calls: &Calls) -> Result<u32, Lost> {
        lost(calls).map(|()| 0)
    }
    makes_none(sync);
    makes_none(|calls| drive(times_out(calls)));
    makes_none(|calls| drive(deadline(calls)));
    makes_none(sync_io);
    makes_none(|calls| by_policy(&Policy::new(), calls));
    makes_none(|calls| drive(mapped(calls)));
    makes_none(fallen_back);
    let calls = Calls::new(0);
    let answer = deadline::within_blocking(Duration::ZERO, || answered(&calls));
    assert_eq!((calls.get(), answer), (0, Ok(7)));
}

#[test]
fn answers_that_cannot_say_so() {
    const POLICY: Policy = Policy::new();
    #[retry(on(_), timer = Still)]
    fn sync(calls: &Calls) -> Result<(), Lost> {
        lost(calls)
    }
    #[retry(on(_), timer = Still)]
    async fn asynchronous(calls: &Calls) -> Result<(), Lost> {
        lost(calls)
    }
    #[retry(deadline = "1h", on(_), timer = Still)]
    fn limited(calls: &Calls) -> Result<(), Lost> {
        lost(calls)
    }
    makes_one(sync);
    makes_one(limited);
    makes_one(|calls| drive(asynchronous(calls)));
    makes_one(|calls| {
        POLICY
            .on(|_: &Lost| true)
            .timer(Still)
            .run(|| lost::<Lost>(calls))
    });
}
