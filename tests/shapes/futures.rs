//! Functions that return a future.

use std::pin::Pin;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Either, LocalBoxFuture};
use reattempt::retry;

use crate::{Fault, Script, sendable};

type Answer = Result<u32, Fault>;

async fn step(script: &Script) -> Answer {
    script.step_async().await
}

// An `async move` block.
#[retry(max = 3, on(_))]
fn block(script: &Script) -> impl Future<Output = Result<u32, Fault>> {
    async move { script.step_async().await }
}

// `?` and `return` in the block.
#[retry(max = 3, on(_))]
fn block_returns(script: &Script) -> impl Future<Output = Answer> {
    async move {
        let number = script.step_async().await?;
        return Ok(number);
    }
}

// Statements before the block.
#[retry(max = 3, on(_))]
fn prefix(script: &Script) -> impl Future<Output = Answer> + Send {
    let script = script.clone();
    assert_eq!(script.attempts(), 0);
    if script.attempts() > 0 {
        unreachable!("the statements run once");
    }
    async move { script.step_async().await }
}

// Nothing is borrowed.
#[retry(max = 3, on(_))]
fn owned(script: Script, text: String) -> impl Future<Output = Answer> + Send + 'static {
    async move {
        assert_eq!(text, "text");
        script.step_async().await
    }
}

// The block moves a parameter.
#[retry(max = 3, on(_), clone(text))]
fn moved(script: &Script, text: String) -> impl Future<Output = Answer> + use<'_> {
    async move {
        drop(text);
        script.step_async().await
    }
}

// The future of another function.
#[retry(max = 3, on(_))]
fn another(script: &Script) -> impl Future<Output = Answer> {
    step(script)
}

// The same after statements, which then belong to the attempt.
#[retry(max = 3, on(_))]
fn another_after_prefix(script: &Script) -> impl Future<Output = Answer> {
    let same = script;
    assert!(same.attempts() < 3);
    step(same)
}

// A future that is ready.
#[retry(max = 3, on(_))]
fn ready(script: &Script) -> impl Future<Output = Answer> {
    std::future::ready(script.step())
}

// A future with methods called on it.
#[retry(max = 3, on(_))]
fn combinators(script: &Script) -> impl Future<Output = Answer> {
    async move { script.step_async().await }.map(|outcome| outcome)
}

// One of two blocks.
#[retry(max = 3, on(_))]
fn one_of_two(script: &Script, left: bool) -> impl Future<Output = Answer> {
    if left {
        Either::Left(async move { script.step_async().await })
    } else {
        Either::Right(async move { script.step() })
    }
}

// A block in braces.
#[allow(unused_braces, reason = "it is the shape")]
#[retry(max = 3, on(_))]
fn in_braces(script: &Script) -> impl Future<Output = Answer> {
    { async move { script.step_async().await } }
}

// `return` in front of the block.
#[retry(max = 3, on(_))]
fn returned(script: &Script) -> impl Future<Output = Answer> {
    return async move { script.step_async().await };
}

// Boxed.
#[retry(max = 3, on(_))]
fn boxed(script: &Script) -> Pin<Box<dyn Future<Output = Result<u32, Fault>> + Send + '_>> {
    Box::pin(async move { script.step_async().await })
}

// Boxed, after statements.
#[retry(max = 3, on(_))]
fn boxed_after_prefix(script: &Script) -> Pin<Box<dyn Future<Output = Answer> + Send>> {
    let script = script.clone();
    Box::pin(async move { script.step_async().await })
}

// Boxed, the future of another function.
#[retry(max = 3, on(_))]
fn boxed_another(script: &Script) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
    Box::pin(step(script))
}

// Boxed, with a `return` before the end.
#[retry(max = 3, on(_))]
fn boxed_early(script: &Script) -> Pin<Box<dyn Future<Output = Answer> + Send + '_>> {
    if script.attempts() < 100 {
        return Box::pin(async move { script.step_async().await });
    }
    Box::pin(async move { Ok(0) })
}

macro_rules! unless {
    ($condition:expr, $future:expr) => {
        if $condition {
            return $future;
        }
    };
}

// Boxed, with a `return` that a macro hides.
#[retry(max = 3, on(_))]
fn boxed_hidden(script: &Script) -> BoxFuture<'_, Answer> {
    unless!(script.attempts() < 100, Box::pin(step(script)));
    Box::pin(async move { Ok(0) })
}

// Not boxed, with a `return` before the end.
#[retry(max = 3, on(_))]
fn early(script: &Script) -> impl Future<Output = Answer> {
    if script.attempts() < 100 {
        return Either::Left(async move { script.step_async().await });
    }
    Either::Right(async move { Ok(0) })
}

// `BoxFuture`.
#[retry(max = 3, on(_))]
fn box_future(script: &Script) -> BoxFuture<'_, Result<u32, Fault>> {
    Box::pin(async move { script.step_async().await })
}

// `.boxed()`.
#[retry(max = 3, on(_))]
fn boxed_by_method(script: &Script) -> BoxFuture<'_, Answer> {
    async move { script.step_async().await }.boxed()
}

// The lifetime of a future that another function makes has a name.
#[retry(max = 3, on(_))]
fn boxed_elsewhere<'a>(script: &'a mut Script) -> BoxFuture<'a, Answer> {
    Box::pin(changed(script))
}

async fn changed(script: &mut Script) -> Answer {
    script.step_async().await
}

// `LocalBoxFuture`, `.boxed_local()`, and something that can't be sent.
#[retry(max = 3, on(_))]
fn local(script: &Script) -> LocalBoxFuture<'_, Answer> {
    let script = std::rc::Rc::new(script.clone());
    async move { script.step_async().await }.boxed_local()
}

// `Box::pin(async { ... }) as ...`.
#[allow(trivial_casts, reason = "it is the shape")]
#[retry(max = 3, on(_))]
fn cast(script: &Script) -> BoxFuture<'_, Answer> {
    Box::pin(async move { script.step_async().await }) as BoxFuture<'_, Answer>
}

// One of two boxes.
#[retry(max = 3, on(_))]
fn boxed_match(script: &Script, left: bool) -> BoxFuture<'_, Answer> {
    match left {
        true => Box::pin(async move { script.step_async().await }),
        false => Box::pin(step(script)),
    }
}

// The answer is a `RetryError`.
#[retry(max = 3, on(_))]
fn failed(
    script: &Script,
) -> impl Future<Output = Result<u32, reattempt::RetryError<Fault>>> + Send {
    let script = script.clone();
    async move { Ok(script.step_async().await?) }
}

// The same boxed, without an `async` block.
#[retry(max = 3, on(_))]
fn boxed_failed(script: &Script) -> BoxFuture<'_, Result<u32, reattempt::RetryError<Fault>>> {
    stepped(script)
}

fn stepped(script: &Script) -> BoxFuture<'_, Result<u32, Fault>> {
    Box::pin(script.step_async())
}

// The answer is an `Option`.
#[retry(max = 3, on(_))]
fn option(script: &Script) -> BoxFuture<'_, Option<u32>> {
    Box::pin(async move { Some(script.step_async().await.ok()?) })
}

/// An alias that hides the `Result`, under the name of that of `futures`.
mod hidden {
    use super::{Fault, Script};

    type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'a>>;

    #[reattempt::retry(max = 3, on(_))]
    pub(super) fn number(script: &Script) -> BoxFuture<'_, u32> {
        Box::pin(async move { script.step_async().await })
    }

    #[reattempt::retry(max = 3, on(_))]
    pub(super) fn perhaps<'a>(script: &'a Script) -> BoxFuture<'a, Option<u32>> {
        Box::pin(async move { script.step_async().await.map(Some) })
    }

    /// A success, whatever its name.
    pub(super) struct QueryResult(pub(super) u32);

    #[reattempt::retry(max = 3, on(_))]
    pub(super) fn named(script: &Script) -> BoxFuture<'_, QueryResult> {
        Box::pin(async move { script.step_async().await.map(QueryResult) })
    }

    #[reattempt::retry(max = 3, on(_))]
    pub(super) fn generic<'a, T: From<u32> + Send + 'a>(script: &'a Script) -> BoxFuture<'a, T> {
        Box::pin(async move { script.step_async().await.map(T::from) })
    }
}

// Only the signature has the type of the error.
#[retry(max = 3, on = |_| false)]
fn only_a_success(script: &Script) -> impl Future<Output = Answer> {
    std::future::ready(Ok(script.attempts()))
}

#[tokio::test]
async fn the_type_of_an_error_that_nothing_makes() {
    assert_eq!(only_a_success(&Script::failing(0)).await, Ok(0));
}

async_shapes! {
    ready, combinators, in_braces, returned, early, local,
    block => async |script| sendable(block(script)).await,
    block_returns => async |script| sendable(block_returns(script)).await,
    prefix => async |script| prefix(script).await,
    owned => async |script| tokio::spawn(owned(script.clone(), "text".into())).await.map_err(|_| Fault(0))?,
    moved => async |script| sendable(moved(script, "text".into())).await,
    another => async |script| sendable(another(script)).await,
    another_after_prefix => async |script| sendable(another_after_prefix(script)).await,
    one_of_two => async |script| one_of_two(script, true).await,
    boxed => async |script| boxed(script).await,
    boxed_after_prefix => async |script| boxed_after_prefix(script).await,
    boxed_another => async |script| boxed_another(script).await,
    boxed_early => async |script| boxed_early(script).await,
    boxed_hidden => async |script| boxed_hidden(script).await,
    box_future => async |script| box_future(script).await,
    boxed_by_method => async |script| boxed_by_method(script).await,
    cast => async |script| cast(script).await,
    boxed_match => async |script| boxed_match(script, false).await,
    failed => async |script| crate::last(failed(script).await),
    boxed_failed => async |script| crate::last(boxed_failed(script).await),
    option => async |script| option(script).await,
    boxed_elsewhere => async |script| boxed_elsewhere(&mut script.clone()).await,
    hidden_number => async |script| hidden::number(script).await,
    hidden_named => async |script| hidden::named(script).await.map(|it| it.0),
    hidden_option => async |script| hidden::perhaps(script).await.ok().flatten(),
    hidden_generic => async |script| hidden::generic::<u32>(script).await,
}
