//! `#[tracing::instrument]` above and below: which of the two wraps the other.

use reattempt::retry;
use tracing::instrument;

use crate::{Fault, Script, sendable};

// `#[instrument]` above.
#[instrument]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_above(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// Below.
#[retry(max = 3, backoff = "none", on(_))]
#[instrument]
fn instrument_below(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// With its keys, above.
#[instrument(skip_all, err, ret, level = "debug", fields(attempts = script.attempts()))]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_keys_above(script: &Script) -> Result<u32, Fault> {
    let number = script.step()?;
    Ok(number)
}

// Below.
#[retry(max = 3, backoff = "none", on(_))]
#[instrument(skip_all, err(Debug), ret, level = "debug")]
fn instrument_keys_below(script: &Script) -> Result<u32, Fault> {
    let number = script.step()?;
    Ok(number)
}

// A `String` that the body borrows, above.
#[instrument]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_string(script: &Script, text: String) -> Result<u32, Fault> {
    assert_eq!(text, "text");
    script.step()
}

// The same with `err`, which calls a `move` closure.
// DEFECT: E0507, the `move` of `(move || { .. })()` stays and moves the parameters.
#[cfg(any())]
#[instrument(skip_all, err)]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_string_err(script: &Script, text: String) -> Result<u32, Fault> {
    assert_eq!(text, "text");
    script.step()
}

// The same with `&mut`.
// DEFECT: the same.
#[cfg(any())]
#[instrument(skip_all, err, ret)]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_mut_err(script: &mut Script) -> Result<u32, Fault> {
    *script = script.clone();
    script.step()
}

// A `String` that the body moves, above.
#[instrument]
#[retry(max = 3, backoff = "none", on(_), clone(text))]
fn instrument_cloned(script: &Script, text: String) -> Result<u32, Fault> {
    drop(text);
    script.step()
}

// An answer told by `Failed`, above.
// DEFECT: E0308, the false return of `#[instrument]` has the type of the whole answer.
#[cfg(any())]
#[instrument(skip_all)]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_failed_above(script: &Script) -> Result<u32, reattempt::Failed<Fault>> {
    Ok(script.step()?)
}

// Below.
#[retry(max = 3, backoff = "none", on(_))]
#[instrument(skip_all)]
fn instrument_failed_below(script: &Script) -> Result<u32, reattempt::Failed<Fault>> {
    Ok(script.step()?)
}

// An answer with `impl Trait`.
#[instrument(skip_all)]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_impl(script: &Script) -> Result<impl Iterator<Item = u32>, Fault> {
    let number = script.step()?;
    Ok(0..number)
}

// Async, with `Failed`, above.
// DEFECT: the same.
#[cfg(any())]
#[instrument(skip_all)]
#[retry(max = 3, on(_))]
async fn async_instrument_failed(script: &Script) -> Result<u32, reattempt::Failed<Fault>> {
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
// DEFECT: E0382, the `async move` of `#[instrument]` stays.
#[cfg(any())]
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

    // `&mut self`, sync, below.
    #[retry(max = 3, backoff = "none", on(_))]
    #[instrument(skip(self))]
    fn instrument_mut_self_below(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step()?;
        Ok(self.calls)
    }

    // Above.
    #[instrument(skip(self))]
    #[retry(max = 3, backoff = "none", on(_))]
    fn instrument_mut_self_above(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step()?;
        Ok(self.calls)
    }
}

shapes! {
    instrument_above, instrument_below, instrument_keys_above, instrument_keys_below,
    instrument_string => |script| instrument_string(script, "text".into()),
    #[cfg(any())]
    instrument_string_err => |script| instrument_string_err(script, "text".into()),
    #[cfg(any())]
    instrument_mut_err => |script| instrument_mut_err(&mut script.clone()),
    instrument_cloned => |script| instrument_cloned(script, "text".into()),
    #[cfg(any())]
    instrument_failed_above => |script| crate::last(instrument_failed_above(script)),
    instrument_failed_below => |script| crate::last(instrument_failed_below(script)),
    instrument_impl => |script| instrument_impl(script).map(Iterator::count),
    instrument_mut_self_below => |script| Service::of(script).instrument_mut_self_below(),
    instrument_mut_self_above => |script| Service::of(script).instrument_mut_self_above(),
}

async_shapes! {
    async_instrument_above => async |script| sendable(async_instrument_above(script)).await,
    async_instrument_below => async |script| sendable(async_instrument_below(script)).await,
    async_instrument_keys_above => async |script| sendable(async_instrument_keys_above(script, "text".into())).await,
    #[cfg(any())]
    async_instrument_failed => async |script| crate::last(async_instrument_failed(script).await),
    async_instrument_err => async |script| sendable(async_instrument_err(script, "text".into())).await,
    async_instrument_ret => async |script| sendable(async_instrument_ret(script, "text".into())).await,
    async_instrument_keys_below => async |script| sendable(async_instrument_keys_below(script, "text".into())).await,
    async_instrument_string => async |script| sendable(async_instrument_string(script, "text".into())).await,
    async_instrument_cloned => async |script| sendable(async_instrument_cloned(script, "text".into())).await,
    async_instrument_spawn => async |script| sendable(async_instrument_spawn(script, "text".into())).await,
    future_instrument_above => async |script| sendable(future_instrument_above(script)).await,
    #[cfg(any())]
    future_instrument_string => async |script| future_instrument_string(script.clone(), "text".into()).await,
    future_instrument_below => async |script| sendable(future_instrument_below(script)).await,
    async_instrument_mut_self => async |script| sendable(Service::of(script).async_instrument_mut_self(String::new())).await,
    async_instrument_refresh => async |script| Service::of(script).async_instrument_refresh().await,
}
