//! Metrics for Prometheus: an endpoint of the service's own, and a scrape of it.
//!
//! `cargo run -p service-examples --example prometheus`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::io::{Error, ErrorKind};

use axum::{Router, routing::get};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use prometheus_parse::{Scrape, Value};
use reattempt::retry;
use tokio::net::TcpListener;

#[retry(name = "rates.fetch", max = 3, base = "1ms")]
async fn rate(failures: &mut u32) -> Result<f64, Error> {
    if *failures > 0 {
        *failures -= 1;
        return Err(ErrorKind::ConnectionReset.into());
    }
    Ok(1.09)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Before the first call: what is counted without a recorder is lost. With buckets a histogram can be added up over
    // several instances.
    let delays = Matcher::Full("retry_delay_seconds".to_owned());
    let metrics = PrometheusBuilder::new()
        .set_buckets_for_metric(delays, &[0.001, 0.01, 0.1, 1.0, 10.0])?
        .install_recorder()?;
    let app = Router::new().route("/metrics", get(move || async move { metrics.render() }));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, app).await });

    for failures in [0, 1, 9] {
        let _ = rate(&mut { failures }).await;
    }

    let scraped = reqwest::get(format!("http://{address}/metrics"))
        .await?
        .text()
        .await?;
    print!("{scraped}");
    let scrape = Scrape::parse(scraped.lines().map(|line| Ok(line.to_owned())))?;
    let counted = |name: &str| -> f64 {
        let samples = scrape.samples.iter().filter(|sample| sample.metric == name);
        let counts = samples.map(|sample| match sample.value {
            Value::Counter(count) => count,
            _ => 0.0,
        });
        counts.sum()
    };
    // One call recovered with its second attempt, one gave up after three; the first one is not counted.
    assert_eq!(counted("retry_calls_total").to_string(), "2");
    assert_eq!(counted("retry_attempts_total").to_string(), "5");
    assert_eq!(counted("retry_give_ups_total").to_string(), "1");
    Ok(())
}
