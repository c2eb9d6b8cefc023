//! How parameters come into async functions.

use std::rc::Rc;
use std::sync::Arc;

use reattempt::retry;

use crate::{Fault, Script, sendable};

// An `Arc` that goes into a spawned task.
#[retry(max = 3, on(_), clone(script))]
async fn arc_into_spawn(script: Arc<Script>) -> Result<u32, Fault> {
    let task = tokio::spawn(async move { script.step_async().await });
    task.await.expect("no panic")
}

// `impl Future`, awaited by each attempt.
#[retry(max = 3, on(_), clone(future))]
async fn impl_future(
    script: &Script,
    future: impl Future<Output = u32> + Clone,
) -> Result<u32, Fault> {
    Ok(script.step_async().await? + future.await)
}

// A pinned future that is awaited in the attempt that succeeds.
#[retry(max = 3, on(_))]
async fn impl_future_unpin(
    script: &Script,
    mut future: impl Future<Output = u32> + Unpin,
) -> Result<u32, Fault> {
    let number = script.step_async().await?;
    Ok(number + (&mut future).await)
}

// An async closure.
#[retry(max = 3, on(_))]
async fn async_fn(step: impl AsyncFn() -> Result<u32, Fault>) -> Result<u32, Fault> {
    step().await
}

// An async closure that changes something.
#[retry(max = 3, on(_))]
async fn async_fn_mut(step: &mut impl AsyncFnMut() -> Result<u32, Fault>) -> Result<u32, Fault> {
    step().await
}

// What is not `Send`.
#[retry(max = 3, on(_))]
async fn not_send(script: Rc<Script>) -> Result<u32, Fault> {
    let kept = Rc::clone(&script);
    kept.step_async().await
}

// References with lifetimes of their own.
#[retry(max = 3, on(_))]
async fn elided_several(script: &Script, text: &str, calls: &mut u32) -> Result<u32, Fault> {
    *calls += 1;
    assert_eq!(text, "text");
    script.step_async().await
}

// Owned, `mut`, patterns and `_`, async.
#[retry(max = 3, on(_), clone(text))]
async fn async_patterns(
    mut text: String,
    (script, mut zero): (&Script, u32),
    _: Vec<u8>,
) -> Result<u32, Fault> {
    text.push('!');
    zero += 1;
    assert_eq!((text.as_str(), zero), ("text!", script.attempts() + 1));
    let text = sendable(async move { text }).await;
    Ok(script.step_async().await? + u32::from(text.is_empty()))
}

async_shapes! {
    arc_into_spawn => async |script| sendable(arc_into_spawn(Arc::new(script.clone()))).await,
    impl_future => async |script| impl_future(script, std::future::ready(0)).await,
    impl_future_unpin => async |script| impl_future_unpin(script, Box::pin(async { 0 })).await,
    async_fn => async |script| async_fn(async || script.step_async().await).await,
    async_fn_mut => async |script| async_fn_mut(&mut async || script.step_async().await).await,
    not_send => async |script| not_send(Rc::new(script.clone())).await,
    elided_several => async |script| sendable(elided_several(script, "text", &mut 0)).await,
    async_patterns => async |script| sendable(async_patterns("text".into(), (script, 0), vec![])).await,
}

/// Its method has the name of one that usually takes its receiver by value.
struct Tasks(Vec<u8>);

impl Tasks {
    async fn shutdown(&mut self) -> &mut [u8] {
        self.0.push(1);
        &mut self.0
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_only_borrows_its_parameter_moves_nothing() {
    #[retry(max = 3, base = "1ms", on(_))]
    async fn end(mut tasks: Tasks) -> Result<usize, usize> {
        match tasks.shutdown().await.len() {
            done @ 3.. => Ok(done),
            left => Err(left),
        }
    }
    assert_eq!(end(Tasks(Vec::new())).await, Ok(3));
}
