//! The kill switch in clients: middleware of reqwest, layers of tower, runners, and async functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reattempt::http::RetryMiddleware;
use reattempt::observe::{self, Event};
use reattempt::tower::RetryLayer;
use reattempt::{Policy, config, retry};
use reqwest_middleware::{ClientBuilder, Middleware, Next, Result};
use tower::{Layer as _, ServiceExt as _};

use crate::support::{ms, turn};

/// Answers that it is busy, and sends nothing.
#[derive(Clone, Default)]
struct Busy(Arc<AtomicU32>);

#[async_trait::async_trait]
impl Middleware for Busy {
    async fn handle(
        &self,
        _: reqwest::Request,
        _: &mut http::Extensions,
        _: Next<'_>,
    ) -> Result<reqwest::Response> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let answer = http::Response::builder().status(503).body("").unwrap();
        Ok(answer.into())
    }
}

/// A wait ends with the last answer if retries are switched off while it lasts.
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_after_the_switch() {
    let _turn = turn();
    let busy = Busy::default();
    let client = ClientBuilder::new(reqwest::Client::builder().no_proxy().build().unwrap())
        .with(RetryMiddleware::new(POLICY))
        .with(busy.clone())
        .build();
    let requests = async || {
        let answer = client.get("http://localhost/").send().await.unwrap();
        assert_eq!(answer.status(), 503);
        busy.0.swap(0, Ordering::Relaxed)
    };
    assert_eq!(requests().await, 3);
    assert_eq!(stopped(requests()).await, 1);
    assert_eq!(requests().await, 1);
}

/// Runs a call during which retries are switched off, before its first wait.
async fn stopped<R>(call: impl Future<Output = R>) -> R {
    let stopping = |event: &Event<'_>| {
        if event.name() == "retry" {
            config::stop_retries();
        }
    };
    observe::scope(Arc::new(stopping), call).await
}

const POLICY: Policy = Policy::new().max(3).base(ms(1000));

fn busy(calls: &AtomicU32) -> std::result::Result<(), String> {
    calls.fetch_add(1, Ordering::Relaxed);
    Err("busy".to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_layer_ends() {
    let _turn = turn();
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let service = tower::service_fn(move |()| std::future::ready(busy(&count)));
    let layer = RetryLayer::new(POLICY)
        .on_answer(|answer: &std::result::Result<(), String>| answer.is_err());
    assert!(stopped(layer.layer(service).oneshot(())).await.is_err());
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[retry(base = "1s", on(_))]
async fn function(calls: &AtomicU32) -> std::result::Result<(), String> {
    busy(calls)
}

#[tokio::test(start_paused = true)]
async fn a_runner_and_a_function_end() {
    let _turn = turn();
    let calls = AtomicU32::new(0);
    let runner = POLICY.on(|_: &String| true);
    assert!(
        stopped(runner.try_run_async(async || busy(&calls)))
            .await
            .is_err()
    );
    assert_eq!(calls.swap(0, Ordering::Relaxed), 1);
    config::resume_retries();
    assert!(stopped(function(&calls)).await.is_err());
    assert_eq!(calls.swap(0, Ordering::Relaxed), 1);
}
