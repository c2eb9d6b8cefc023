//! A line for each retry, metrics, and a unit test with faults in virtual time.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusBuilder;
use reattempt::retry;
use reattempt::testing::{self, FaultPlan};
use tracing_subscriber::fmt;

use crate::capture::capture;

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

fn logged(run: impl FnOnce()) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _captured = capture(subscriber);
    run();
    let bytes = lines.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
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
