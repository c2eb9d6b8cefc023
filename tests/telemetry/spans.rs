//! The span of an attempt, where the policy asks for it.

use std::time::Duration;

use reattempt::tower::RetryLayer;
use reattempt::{Jitter, Policy, Telemetry, observe, retry};
use serde_json::json;
use tracing::{Level, info};

use crate::support::{Declined, Lines, reported};

const STEADY: Policy = Policy::new()
    .base(Duration::from_millis(100))
    .jitter(Jitter::None);
const SPANS: Policy = STEADY.telemetry(Telemetry::new().spans());

#[retry(policy = SPANS, name = "spans.sync", on(_))]
fn inside(failures: &mut u32) -> Result<(), Declined> {
    info!("in the body");
    if *failures > 0 {
        *failures -= 1;
        return Err(Declined(503));
    }
    Ok(())
}

#[retry(policy = SPANS, name = "spans.async", on(_))]
async fn inside_async(failures: &mut u32) -> Result<(), Declined> {
    tokio::time::sleep(Duration::from_millis(1)).await;
    info!("in the body");
    if *failures > 0 {
        *failures -= 1;
        return Err(Declined(503));
    }
    Ok(())
}

#[retry(policy = STEADY, name = "spans.none", on(_))]
fn outside() -> Result<(), Declined> {
    info!("in the body");
    Ok(())
}

/// Two attempts below the span `handler`; the lines between them belong to the caller.
fn assert_spans(lines: &Lines, operation: &str) {
    let lines = lines.take();
    assert_eq!(
        reported(&lines),
        ["INFO in the body", "INFO in the body", "INFO recovered"]
    );
    let handler = json!({ "name": "handler" });
    for (line, attempt) in lines.iter().zip(1..=2) {
        let span = json!({
            "name": "attempt",
            "operation": operation,
            "attempt": attempt,
            "max": 3,
            "request_id": "r-1",
        });
        assert_eq!(line["spans"], json!([handler, span]));
    }
    assert_eq!(lines[2]["spans"], json!([handler]));
}

#[test]
fn each_attempt_has_one() {
    let (_time, lines) = (reattempt::testing::virtual_time(), Lines::keep(Level::INFO));
    tracing::info_span!("handler")
        .in_scope(|| observe::request_blocking("r-1", || inside(&mut 1)))
        .unwrap();
    assert_spans(&lines, "spans.sync");
}

#[tokio::test(start_paused = true)]
async fn each_attempt_of_an_async_call_has_one() {
    use tracing::Instrument as _;

    let lines = Lines::keep(Level::INFO);
    observe::request("r-1", inside_async(&mut 1))
        .instrument(tracing::info_span!("handler"))
        .await
        .unwrap();
    assert_spans(&lines, "spans.async");
}

#[tokio::test(start_paused = true)]
async fn each_attempt_of_a_layer_has_one() {
    use tower::{Layer as _, ServiceExt as _, service_fn};

    let lines = Lines::keep(Level::INFO);
    let fails = |()| async {
        info!("in the body");
        Err::<(), _>(std::io::Error::from(std::io::ErrorKind::TimedOut))
    };
    let layer = RetryLayer::new(SPANS.max(2)).name("spans.layer");
    layer
        .layer(service_fn(fails))
        .oneshot(())
        .await
        .unwrap_err();
    let lines = lines.take();
    let inside = lines
        .iter()
        .filter(|line| line["fields"]["message"] == "in the body");
    let expected = |attempt| json!([{ "name": "attempt", "operation": "spans.layer", "attempt": attempt, "max": 2 }]);
    let spans = inside.map(|line| line["spans"].clone());
    assert_eq!(spans.collect::<Vec<_>>(), [expected(1), expected(2)]);
}

/// A request that is sent again says how often, by the name of OpenTelemetry.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_sent_again_says_so() {
    use tower::{Layer as _, ServiceExt as _, service_fn};

    let lines = Lines::keep(Level::INFO);
    let busy = |_: http::Request<()>| async {
        info!("in the body");
        let busy = http::Response::builder().status(503).body(());
        Ok::<_, std::io::Error>(busy.unwrap())
    };
    let layer = RetryLayer::http(SPANS.max(3)).name("spans.http").cut_off();
    layer
        .layer(service_fn(busy))
        .oneshot(http::Request::new(()))
        .await
        .unwrap();
    let lines = lines.take();
    let inside = lines
        .iter()
        .filter(|line| line["fields"]["message"] == "in the body");
    let counts = inside.map(|line| line["spans"][0]["http.request.resend_count"].clone());
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [json!(null), json!(1), json!(2)]
    );
}

#[test]
fn without_being_asked_there_is_none() {
    let lines = Lines::keep(Level::INFO);
    tracing::info_span!("handler").in_scope(outside).unwrap();
    assert_eq!(lines.take()[0]["spans"], json!([{ "name": "handler" }]));
}
