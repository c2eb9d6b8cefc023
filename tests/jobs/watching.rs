//! A line for each retry, metrics, and a unit test with faults in virtual time.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusBuilder;
use reattempt::http::{CheckStatus as _, RequestError};
use reattempt::retry;
use reattempt::testing::{self, FaultPlan};
use reqwest::{Client, Error, Response};
use tracing::dispatcher::DefaultGuard;
use tracing_subscriber::fmt;

use crate::capture::capture;
use crate::http::Site;

struct Shop {
    faults: FaultPlan<io::Error>,
}

impl Shop {
    fn new(script: &str) -> Self {
        Self {
            faults: FaultPlan::script(script, || ErrorKind::TimedOut.into()),
        }
    }

    #[retry(
        telemetry = "quiet",
        on_retry = |retry| tracing::warn!(
            attempt = retry.attempt(),
            delay = ?retry.delay(),
            "retrying {}: {}",
            retry.operation(),
            retry.cause(),
        ),
    )]
    fn stock(&self) -> io::Result<u32> {
        self.faults.check()?;
        Ok(7)
    }

    #[retry(name = "jobs.price", base = "2s", jitter = "none")]
    fn price(&self) -> io::Result<u32> {
        self.faults.check()?;
        Ok(7)
    }

    #[retry(name = "jobs.order", base = "2s", jitter = "none")]
    async fn order(&self) -> io::Result<u32> {
        self.faults.check()?;
        Ok(7)
    }
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// From now on, those of this thread.
    fn keep() -> (Self, DefaultGuard) {
        let lines = Self::default();
        let writer = lines.clone();
        let subscriber = fmt()
            .with_ansi(false)
            .without_time()
            .with_writer(move || writer.clone())
            .finish();
        (lines, capture(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn logged(run: impl FnOnce()) -> String {
    let (lines, _captured) = Lines::keep();
    run();
    lines.text()
}

/// A line, but for the white space and what differs in each run: times, the address, the number of the call, the module.
fn lasting(line: &str) -> Vec<String> {
    let words = line.split_whitespace();
    let lasting = words.map(|word| match word.split_once('=') {
        Some((
            key @ ("request_id" | "delay" | "elapsed" | "call_elapsed" | "started_at" | "ended_at"),
            _,
        )) => key.to_owned(),
        Some(("operation", name)) => name.rsplit("::").next().unwrap_or(name).to_owned(),
        _ if word.starts_with("(http://") => "(url)".to_owned(),
        _ => word.to_owned(),
    });
    lasting.collect()
}

/// `page` of the README, and the line that it shows.
#[tokio::test(start_paused = true)]
async fn line_of_the_readme() {
    #[retry(max = 5, timeout = "2s", deadline = "8s")]
    async fn page(web: &Client, url: &str) -> Result<String, RequestError<Error, Response>> {
        Ok(web.get(url).send().await?.check_status()?.text().await?)
    }
    let site = Site::start([503, 503, 200]).await;
    let (lines, _captured) = Lines::keep();
    assert!(page(&Client::new(), &site.url).await.is_ok());
    let logged = lines.text();
    let retry = logged.lines().find(|line| line.contains(" retry "));

    let readme = include_str!("../../README.md");
    let (_, shown) = readme
        .split_once("```text\n INFO reattempt")
        .expect(&logged);
    let (shown, _) = shown.split_once("```").unwrap();
    let shown = format!("INFO reattempt{shown}");
    assert_eq!(lasting(&shown), lasting(retry.unwrap()), "{logged}");
}

#[test]
fn line_for_each_retry() {
    let _time = testing::virtual_time();
    // A line of one's own.
    let lines = logged(|| assert_eq!(Shop::new("fail x2, ok").stock().unwrap(), 7));
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(
        lines.contains("retrying jobs::watching::Shop::stock: timed out attempt=2"),
        "{lines}"
    );

    // The feature `tracing` alone: the second retry is at INFO.
    let lines = logged(|| assert!(Shop::new("fail").price().is_err()));
    assert!(
        lines.contains("INFO reattempt: retry operation="),
        "{lines}"
    );
    assert!(
        lines.contains("WARN reattempt: gave up operation="),
        "{lines}"
    );
}

#[test]
fn metrics() {
    let _time = testing::virtual_time();
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        assert!(Shop::new("fail x2, ok").price().is_ok());
        assert!(Shop::new("fail").price().is_err());
    });
    let page = handle.render();
    for line in [
        r#"retry_calls_total{operation="jobs.price",result="recovered"} 1"#,
        r#"retry_give_ups_total{operation="jobs.price",reason="attempts"} 1"#,
        r#"retry_attempts_total{operation="jobs.price"} 6"#,
        r#"retry_failures_total{operation="jobs.price",cause="timeout"} 5"#,
    ] {
        assert!(page.contains(line), "{line} in {page}");
    }
}

#[test]
fn unit_test() {
    let time = testing::virtual_time();
    let record = testing::record();
    assert_eq!(Shop::new("fail x2, ok").price().unwrap(), 7);
    assert_eq!(time.elapsed(), Duration::from_secs(2 + 4));
    record.assert(
        "
        jobs.price
          1. failed (transient), retry in 2s
          2. failed (transient), retry in 4s
          3. succeeded
        ",
    );
}

#[tokio::test(start_paused = true)]
async fn async_unit_test() {
    let start = tokio::time::Instant::now();
    let record = testing::record();
    assert!(Shop::new("fail").order().await.is_err());
    assert_eq!(start.elapsed(), Duration::from_secs(2 + 4));
    record.assert(
        "
        jobs.order
          1. failed (transient), retry in 2s
          2. failed (transient), retry in 4s
          3. failed (transient), gave up (attempts)
        ",
    );
}
