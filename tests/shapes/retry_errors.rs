//! `RetryError` under other names, and other types under its name.

use std::fmt;

use reattempt::{GaveUp, GiveUpReason, Policy, RetryError as CallError, retry, retry_block};

use crate::{Fault, Script, last};

/// Behind an alias, with a parameter for the value, and without.
type Reported<T> = Result<T, CallError<Fault>>;
type Answer = std::result::Result<u32, CallError<Fault>>;
type CallResult<T, E = Fault> = Result<T, CallError<E>>;

const POLICY: Policy = Policy::new().max(3);

#[retry(max = 3, backoff = "none", on(_))]
fn renamed(script: &Script) -> Result<u32, CallError<Fault>> {
    script.step()
}

#[retry(max = 3, backoff = "none", on(_))]
fn alias(script: &Script) -> Reported<u32> {
    let number = script.step()?;
    Ok(number)
}

#[retry(max = 3, backoff = "none", on(_), on_retry = |retry| assert!(retry.error().is_some()))]
fn alias_of_all(script: &Script) -> Answer {
    script.step()
}

#[retry(max = 3, backoff = "none", on(_), until = |value| *value > 0)]
fn alias_until(script: &Script) -> CallResult<u32> {
    script.step()
}

#[retry(max = 3, on(_))]
async fn renamed_async(script: &Script) -> Result<u32, CallError<Fault>> {
    let number = script.step_async().await?;
    Ok(number)
}

#[retry(max = 3, on(_), timeout = "1m", deadline = "1h")]
async fn limited(script: &Script) -> Reported<u32> {
    script.step_async().await
}

#[retry(policy = POLICY, on(_))]
async fn inherited(script: &Script) -> CallResult<u32> {
    script.step_async().await
}

#[retry(max = 3, on(_), until = |value| *value > 0, deadline = "1h")]
async fn polled(script: &Script) -> Reported<u32> {
    script.step_async().await
}

#[retry(max = 3, on(_), fallback = |error| Err(error))]
async fn with_fallback(script: &Script) -> Reported<u32> {
    script.step_async().await
}

fn block(script: &Script) -> Reported<u32> {
    retry_block!(max = 3, backoff = "none", on(_), || -> Reported<u32> {
        script.step()
    })
}

shapes! {
    renamed => |script| last(renamed(script)),
    alias => |script| last(alias(script)),
    alias_of_all => |script| last(alias_of_all(script)),
    alias_until => |script| last(alias_until(script)),
    block => |script| last(block(script)),
}

async_shapes! {
    renamed_async => async |script| last(renamed_async(script).await),
    limited => async |script| last(limited(script).await),
    inherited => async |script| last(inherited(script).await),
    polled => async |script| last(polled(script).await),
    with_fallback => async |script| last(with_fallback(script).await),
}

/// A limit that only the running program knows cuts an attempt off: the answer can say so.
#[tokio::test(start_paused = true)]
async fn an_alias_can_say_that_it_was_cut_off() {
    #[retry(policy = policy, on(_))]
    async fn hangs(policy: Policy) -> Reported<u32> {
        std::future::pending().await
    }
    let policy = Policy::new()
        .max(2)
        .timeout(std::time::Duration::from_secs(1));
    let end = hangs(policy).await.expect_err("it is cut off");
    assert_eq!(
        (end.reason(), end.attempts(), end.is_timeout()),
        (GiveUpReason::Attempts, 2, true)
    );
}

mod own {
    //! A type of the user's own has nothing to do with it.

    use super::*;

    #[derive(Debug)]
    struct RetryError<E>(E);

    impl<E: fmt::Display> fmt::Display for RetryError<E> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    impl From<Fault> for RetryError<Fault> {
        fn from(fault: Fault) -> Self {
            Self(fault)
        }
    }

    impl From<GaveUp> for RetryError<Fault> {
        fn from(_: GaveUp) -> Self {
            Self(Fault(0))
        }
    }

    #[retry(max = 3, backoff = "none", on(_))]
    fn own(script: &Script) -> Result<u32, RetryError<Fault>> {
        Ok(script.step()?)
    }

    #[retry(max = 3, on(_), deadline = "1h")]
    async fn own_async(script: &Script) -> Result<u32, RetryError<Fault>> {
        script.step_async().await.map_err(RetryError)
    }

    #[retry(policy = POLICY, on(_))]
    async fn own_inherited(script: &Script) -> Result<u32, RetryError<Fault>> {
        Ok(script.step_async().await?)
    }

    /// In a generic function the error is what it is written as.
    #[retry(max = 3, backoff = "none", on(_))]
    fn generic<T, E>(
        step: &mut impl FnMut() -> Result<T, CallError<E>>,
    ) -> Result<T, Wrapped<CallError<E>>> {
        step().map_err(Wrapped)
    }

    struct Wrapped<E>(E);

    fn unwrapped(script: &Script) -> Result<u32, Fault> {
        let mut step = || {
            script.step().map_err(|fault| {
                CallError::new(GaveUp::new(GiveUpReason::Attempts, 1), Some(fault))
            })
        };
        generic(&mut step).map_err(|Wrapped(error)| error.into_last().unwrap_or(Fault(0)))
    }

    shapes! { own, unwrapped }
    async_shapes! { own_async, own_inherited }
}
