//! `retry_block!` in its async forms.

use reattempt::{retry, retry_block};

use crate::{Fault, Script, sendable};

// An `async` block.
async fn async_block(script: &Script) -> Result<u32, Fault> {
    sendable(retry_block!(max = 3, on(_), async {
        script.step_async().await
    }))
    .await
}

// An `async move` block.
async fn async_move_block(script: &Script) -> Result<u32, Fault> {
    let script = script.clone();
    let text = "text".to_owned();
    let future = retry_block!(max = 3, on(_), async move {
        assert_eq!(text, "text");
        script.step_async().await
    });
    tokio::spawn(future).await.map_err(|_| Fault(0))?
}

// An async closure with its type.
async fn async_closure(script: &Script) -> Result<u32, Fault> {
    let future = retry_block!(max = 3, on(_), async || -> Result<u32, Fault> {
        let number = script.step_async().await?;
        Ok(number)
    });
    sendable(future).await
}

// `async move ||`.
async fn async_move_closure(script: &Script) -> Result<u32, Fault> {
    let script = script.clone();
    let future = retry_block!(max = 3, on(_), async move || -> Result<u32, Fault> {
        let number = script.step_async().await?;
        Ok(number)
    });
    tokio::spawn(future).await.map_err(|_| Fault(0))?
}

// A closure that gives an `async` block.
async fn closure_of_async(script: &Script) -> Result<u32, Fault> {
    retry_block!(max = 3, on(_), || async { script.step_async().await }).await
}

// One that gives an `async move` block.
async fn closure_of_async_move(script: &Script) -> Result<u32, Fault> {
    retry_block!(max = 3, on(_), || async move { script.step_async().await }).await
}

// An async block that changes what is around it.
async fn async_mutates(script: &Script) -> Result<u32, Fault> {
    let mut calls = 0;
    let answer = retry_block!(max = 3, on(_), async {
        calls += 1;
        script.step_async().await
    });
    let answer = answer.await;
    assert_eq!(calls, 3);
    answer
}

// The attempt is seen, and waited for.
async fn async_context(script: &Script) -> Result<u32, Fault> {
    let future = retry_block!(
        max = 3,
        backoff = "fixed",
        base = "1s",
        jitter = "none",
        on(_),
        context = ctx,
        async {
            assert_eq!(ctx.elapsed().as_secs(), u64::from(script.attempts()));
            script.step_async().await
        }
    );
    future.await
}

// A sync block in an async function.
async fn sync_in_async(script: &Script) -> Result<u32, Fault> {
    tokio::task::yield_now().await;
    retry_block!(max = 3, backoff = "none", on(_), { script.step() })
}

// In a retried function.
#[retry(max = 3, on(_))]
async fn async_in_retried(script: &Script) -> Result<u32, Fault> {
    let zero: Option<u32> = retry_block!(max = 2, on(_), async { Some(0) }).await;
    Ok(script.step_async().await? + zero.unwrap_or(1))
}

// One of two futures of the same type, boxed.
async fn async_boxed(script: &Script) -> Result<u32, Fault> {
    let future = Box::pin(retry_block!(max = 3, on(_), async {
        script.step_async().await
    }));
    future.await
}

async_shapes! {
    async_block, async_move_block, async_closure, async_move_closure, closure_of_async, closure_of_async_move,
    async_mutates, async_context, sync_in_async, async_in_retried, async_boxed,
}
