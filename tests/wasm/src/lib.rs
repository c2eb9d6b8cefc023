//! What `tests/wasm/run.mjs` calls, each with the address of its server. The answers are text, which it compares.

use std::cell::RefCell;
use std::future::pending;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use js_sys::Date;
use reattempt::http::CheckStatus as _;
use reattempt::timer::{Clock as _, DefaultTimer, Timer as _};
use reattempt::{GiveUpReason, Policy, Retry, RetryError, deadline, retry};
use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(feature = "sync")]
mod sync;

type RequestError = reattempt::http::RequestError<reqwest::Error, reqwest::Response>;

thread_local!(static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) });

fn note(what: String) {
    SEEN.with_borrow_mut(|seen| seen.push(what));
}

fn seen() -> String {
    SEEN.take().join(", ")
}

/// What failed, in a word that all platforms share.
fn word(error: Option<&RequestError>) -> String {
    match error {
        None => "timed out".to_owned(),
        Some(RequestError::Status(bad)) => bad.status().as_u16().to_string(),
        Some(RequestError::Transport(_)) => "broken".to_owned(),
        Some(error) => error.to_string(),
    }
}

async fn get(url: &str) -> Result<String, RequestError> {
    let response = reqwest::Client::new().get(url).send().await?;
    Ok(response.check_status()?.text().await?)
}

/// The quickstart: the service is busy twice, resets and hangs, and only then answers.
#[retry(max = 6, base = "50ms", timeout = "1500ms", on_retry = report)]
async fn fetch(url: &str) -> Result<String, RequestError> {
    get(url).await
}

fn report(retry: &Retry<'_, RequestError>) {
    note(word(retry.error()));
}

#[wasm_bindgen]
pub async fn attribute(server: String) -> String {
    let answer = fetch(&format!("{server}/day/attribute")).await;
    note(answer.unwrap_or_else(|error| word(Some(&error))));
    seen()
}

#[wasm_bindgen]
pub async fn runner(server: String) -> String {
    let url = format!("{server}/day/runner");
    let policy = Policy::new()
        .max(6)
        .base(Duration::from_millis(50))
        .timeout(Duration::from_millis(1500));
    let answer = policy.run_async(|| get(&url)).await;
    answer.unwrap_or_else(|error| word(Some(&error)))
}

/// Breaks off in the middle of a body, then answers.
#[wasm_bindgen]
pub async fn body(server: String) -> String {
    let answer = fetch(&format!("{server}/half")).await;
    note(answer.unwrap_or_else(|error| word(Some(&error))));
    seen()
}

/// Asks for a wait of a second, by `Retry-After`.
#[wasm_bindgen]
pub async fn requested(server: String) -> String {
    let start = DefaultTimer.now();
    let answer = fetch(&format!("{server}/later")).await;
    note(answer.unwrap_or_else(|error| word(Some(&error))));
    let took = DefaultTimer.now().since(start);
    note(format!("waited {}", took >= Duration::from_secs(1)));
    seen()
}

#[retry(max = 9, base = "20ms", deadline = "400ms")]
async fn limited(url: &str) -> Result<String, RequestError> {
    get(url).await
}

/// Returns how a call ended that may take 400 ms, and whether it took about that.
async fn end_of(call: impl Future<Output = Result<String, RequestError>>) -> String {
    let start = DefaultTimer.now();
    let end = match call.await {
        Ok(answer) => answer,
        Err(error) => match error.end() {
            Some(end) if end.reason() == GiveUpReason::Deadline => "deadline".to_owned(),
            _ => word(Some(&error)),
        },
    };
    let took = DefaultTimer.now().since(start).as_millis();
    let in_time = (390..1500).contains(&took);
    format!("{end}, in time {in_time}")
}

/// Hangs for ever.
#[wasm_bindgen]
pub async fn own_deadline(server: String) -> String {
    end_of(limited(&format!("{server}/hang"))).await
}

#[retry(max = 9, base = "20ms", timeout = "5s")]
async fn inner(url: &str) -> Result<String, RequestError> {
    note(format!("has one {}", deadline::remaining().is_some()));
    get(url).await
}

#[retry(max = 1, deadline = "400ms")]
async fn outer(url: &str) -> Result<String, RequestError> {
    inner(url).await
}

/// The deadline of the call around it.
#[wasm_bindgen]
pub async fn inherited_deadline(server: String) -> String {
    let end = end_of(outer(&format!("{server}/hang"))).await;
    note(end);
    seen()
}

/// Polls this once, and drops it.
async fn poll_once<T>(future: impl Future<Output = T>) -> bool {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

/// A wait that is dropped, one that is longer than `setTimeout` takes, and one longer than any clock.
#[wasm_bindgen]
pub async fn begin_waits(days: u32) -> bool {
    let duration = Duration::from_secs(u64::from(days) * 86_400);
    poll_once(DefaultTimer.sleep(duration)).await
        || poll_once(DefaultTimer.sleep(Duration::MAX)).await
}

/// A wait as libraries box and spawn it: `Send`, although what JavaScript gives out is not.
fn boxed_sleep(duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(DefaultTimer.sleep(duration))
}

/// Returns whether a wait, polled again by each of its timers, took as long as it was asked to.
#[wasm_bindgen]
pub async fn wait(millis: u32) -> bool {
    let duration = Duration::from_millis(millis.into());
    let start = DefaultTimer.now();
    boxed_sleep(duration).await;
    DefaultTimer.now().since(start) >= duration
}

/// A call that is dropped in its delay asks no more.
#[wasm_bindgen]
pub async fn dropped(server: String) -> bool {
    let url = format!("{server}/busy");
    let policy = Policy::new()
        .base(Duration::from_millis(400))
        .jitter(reattempt::Jitter::None);
    let mut call = pin!(policy.run_async(|| get(&url)));
    let mut time = pin!(DefaultTimer.sleep(Duration::from_millis(200)));
    std::future::poll_fn(|cx| match call.as_mut().poll(cx) {
        Poll::Ready(_) => Poll::Ready(false),
        Poll::Pending => time.as_mut().poll(cx).map(|()| true),
    })
    .await
}

/// Ends by an error of the caller's own.
#[retry(max = 3, base = "1ms", on(_), context = attempt)]
async fn keyed(keys: &RefCell<Vec<String>>) -> Result<(), RetryError<&'static str>> {
    keys.borrow_mut()
        .push(attempt.idempotency_key().to_string());
    Err("busy".into())
}

/// Returns the key of a call, if all its attempts had the same.
#[wasm_bindgen]
pub async fn key() -> String {
    let keys = RefCell::default();
    let _failed = keyed(&keys).await;
    let mut keys = keys.take();
    assert_eq!(keys.len(), 3);
    keys.dedup();
    keys.join(" ")
}

#[wasm_bindgen]
pub fn random() -> String {
    DefaultTimer.random().to_string()
}

/// Returns how far the times of events are from the clock of JavaScript, in milliseconds.
#[cfg(feature = "observe")]
#[wasm_bindgen]
pub async fn event_is_off_by() -> f64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::UNIX_EPOCH;

    static ENDED_AT: AtomicU64 = AtomicU64::new(0);
    let observer = reattempt::observe::add(|event: &reattempt::observe::Event<'_>| {
        if let reattempt::observe::Event::Retry(call, _) = event {
            let since = call
                .ended_at()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            ENDED_AT.store(since.as_millis() as u64, Ordering::Relaxed);
        }
    });
    let _failed = keyed(&RefCell::default()).await;
    drop(observer);
    (Date::now() - ENDED_AT.load(Ordering::Relaxed) as f64).abs()
}

/// Never ends, so that what runs around it is cut off.
#[wasm_bindgen]
pub async fn timed_out() -> String {
    let policy = Policy::new()
        .max(2)
        .base(Duration::from_millis(1))
        .timeout(Duration::from_millis(50));
    let answer: Result<(), RetryError<&str>> = policy
        .on(|_: &RetryError<&str>| true)
        .run_async(|| async { pending().await })
        .await;
    answer.map_or_else(|error| error.to_string(), |()| "ended".to_owned())
}
