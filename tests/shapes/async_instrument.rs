//! The same on async functions and on those that return a future.

use reattempt::retry;
use tracing::instrument;

use crate::{Fault, Script, sendable};

// Async, with `RetryError`, above.
#[instrument(skip_all)]
#[retry(max = 3, on(_))]
async fn async_instrument_failed(script: &Script) -> Result<u32, reattempt::RetryError<Fault>> {
    Ok(script.step_async().await?)
}

// Async, above.
#[instrument]
#[retry(max = 3, on(_))]
async fn async_instrument_above(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// Below.
#[retry(max = 3, on(_))]
#[instrument]
async fn async_instrument_below(script: &Script) -> Result<u32, Fault> {
    script.step_async().await
}

// Async with keys, above.
#[instrument(skip_all, err, ret)]
#[retry(max = 3, on(_))]
async fn async_instrument_keys_above(script: &Script, text: String) -> Result<u32, Fault> {
    assert_eq!(text, "text");
    let number = script.step_async().await?;
    Ok(number)
}

// Only `err`, above.
#[instrument(skip_all, err)]
#[retry(max = 3, on(_))]
async fn async_instrument_err(script: &Script, text: String) -> Result<u32, Fault> {
    assert_eq!(text, "text");
    script.step_async().await
}

// Only `ret`, above.
#[instrument(skip_all, ret)]
#[retry(max = 3, on(_))]
async fn async_instrument_ret(script: &Script, text: String) -> Result<u32, Fault> {
    assert_eq!(text, "text");
    script.step_async().await
}

// With keys, below.
#[retry(max = 3, on(_), clone(text))]
#[instrument(skip_all, err, ret)]
async fn async_instrument_keys_below(script: &Script, text: String) -> Result<u32, Fault> {
    drop(text);
    script.step_async().await
}

// A `String` that the body borrows, above, recorded.
#[instrument]
#[retry(max = 3, on(_))]
async fn async_instrument_string(script: &Script, text: String) -> Result<u32, Fault> {
    assert_eq!(text, "text");
    script.step_async().await
}

// A `String` that the body moves, above.
#[instrument]
#[retry(max = 3, on(_), clone(text))]
async fn async_instrument_cloned(script: &Script, text: String) -> Result<u32, Fault> {
    let text = async move { text }.await;
    assert_eq!(text, "text");
    script.step_async().await
}

// `async move` in the body stays `async move`.
#[instrument(skip_all, err)]
#[retry(max = 3, on(_), clone(text))]
async fn async_instrument_spawn(script: &Script, text: String) -> Result<u32, Fault> {
    let task = tokio::spawn(async move { text });
    assert_eq!(task.await.map_err(|_| Fault(0))?, "text");
    script.step_async().await
}

// A function that returns a future, above and below.
#[instrument(skip_all)]
#[retry(max = 3, on(_))]
fn future_instrument_above(script: &Script) -> impl Future<Output = Result<u32, Fault>> {
    async move { script.step_async().await }
}

#[retry(max = 3, on(_))]
#[instrument(skip_all)]
fn future_instrument_below(script: &Script) -> impl Future<Output = Result<u32, Fault>> {
    async move { script.step_async().await }
}

// With a parameter that the future owns.
#[instrument(skip_all)]
#[retry(max = 3, on(_))]
fn future_instrument_string(
    script: Script,
    text: String,
) -> impl Future<Output = Result<u32, Fault>> {
    async move {
        assert_eq!(text, "text");
        script.step_async().await
    }
}

#[derive(Debug)]
struct Service {
    script: Script,
    calls: u32,
}

impl Service {
    fn of(script: &Script) -> Self {
        let script = script.clone();
        Self { script, calls: 0 }
    }

    // `&mut self`, above.
    #[instrument(skip(self), err, ret)]
    #[retry(max = 3, on(_))]
    async fn async_instrument_mut_self(&mut self, text: String) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step_async().await?;
        Ok(self.calls + text.len() as u32)
    }

    // Without `skip`.
    #[instrument]
    #[retry(max = 3, on(_), before_retry = async |_| self.refresh().await)]
    async fn async_instrument_refresh(&mut self) -> Result<u32, Fault> {
        self.script.step_async().await?;
        Ok(self.calls + 1)
    }

    async fn refresh(&mut self) {
        self.calls += 1;
    }
}

async_shapes! {
    async_instrument_above => async |script| sendable(async_instrument_above(script)).await,
    async_instrument_below => async |script| sendable(async_instrument_below(script)).await,
    async_instrument_keys_above => async |script| sendable(async_instrument_keys_above(script, "text".into())).await,
    async_instrument_failed => async |script| crate::last(async_instrument_failed(script).await),
    async_instrument_err => async |script| sendable(async_instrument_err(script, "text".into())).await,
    async_instrument_ret => async |script| sendable(async_instrument_ret(script, "text".into())).await,
    async_instrument_keys_below => async |script| sendable(async_instrument_keys_below(script, "text".into())).await,
    async_instrument_string => async |script| sendable(async_instrument_string(script, "text".into())).await,
    async_instrument_cloned => async |script| sendable(async_instrument_cloned(script, "text".into())).await,
    async_instrument_spawn => async |script| sendable(async_instrument_spawn(script, "text".into())).await,
    future_instrument_above => async |script| sendable(future_instrument_above(script)).await,
    future_instrument_string => async |script| future_instrument_string(script.clone(), "text".into()).await,
    future_instrument_below => async |script| sendable(future_instrument_below(script)).await,
    async_instrument_mut_self => async |script| sendable(Service::of(script).async_instrument_mut_self(String::new())).await,
    async_instrument_refresh => async |script| Service::of(script).async_instrument_refresh().await,
}
