//! The kill switch in a client of reqwest-middleware.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reattempt::http::RetryMiddleware;
use reattempt::observe::{self, Event};
use reattempt::{Policy, config};
use reqwest_middleware::{ClientBuilder, Middleware, Next, Result};

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
        .with(RetryMiddleware::new(Policy::new().max(3).base(ms(1000))))
        .with(busy.clone())
        .build();
    let requests = async || {
        let answer = client.get("http://localhost/").send().await.unwrap();
        assert_eq!(answer.status(), 503);
        busy.0.swap(0, Ordering::Relaxed)
    };
    assert_eq!(requests().await, 3);
    let stopping = |event: &Event<'_>| {
        if event.name() == "retry" {
            config::stop_retries();
        }
    };
    assert_eq!(observe::scope(Arc::new(stopping), requests()).await, 1);
    assert_eq!(requests().await, 1);
}
