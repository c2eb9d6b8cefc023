//! OpenTelemetry: through the bridge of `tracing` each attempt is a span below that of the caller, and what follows a
//! failure an event of the caller's span; an observer counts.
//!
//! Metrics need no feature for that. The facade `metrics` has a bridge, too (`metrics-exporter-opentelemetry`), but its
//! version 0.2 forgets a description when it is first used, and then exports the metric twice.
//!
//! Spans and metrics are exported to the standard output and, to look at them here, to memory; with
//! `opentelemetry-otlp` in their place they go to a collector.
//!
//! `cargo run -p service-examples --example opentelemetry`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::collections::BTreeSet;
use std::io::{Error, ErrorKind};
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter, MeterProvider as _};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use reattempt::observe::{self, Event, Observer};
use reattempt::{Policy, Telemetry, retry};
use tracing::{Instrument as _, info_span, level_filters::LevelFilter};
use tracing_subscriber::{Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// A span for each attempt is something to ask for.
const RATES: Policy = Policy::new()
    .base(Duration::from_millis(1))
    .telemetry(Telemetry::new().spans());

#[retry(policy = RATES, name = "rates.fetch")]
async fn rate(failures: &mut u32) -> Result<f64, Error> {
    if *failures > 0 {
        *failures -= 1;
        return Err(ErrorKind::ConnectionReset.into());
    }
    Ok(1.09)
}

struct Instruments {
    calls: Counter<u64>,
    delays: Histogram<f64>,
}

impl Instruments {
    fn of(meter: &Meter) -> Self {
        let delays = meter.f64_histogram("retry.delay").with_unit("s");
        Self {
            calls: meter.u64_counter("retry.calls").build(),
            delays: delays.with_boundaries(vec![0.01, 0.1, 1.0, 10.0]).build(),
        }
    }
}

impl Observer for Instruments {
    fn observe(&self, event: &Event<'_>) {
        let Some(facts) = event.facts() else {
            return;
        };
        let operation = KeyValue::new("operation", facts.operation());
        let result = match event {
            Event::Retry(_, delay) => return self.delays.record(delay.as_secs_f64(), &[operation]),
            Event::GaveUp(_, reason) => reason.as_str(),
            Event::Recovered(_) => "recovered",
            _ => return,
        };
        self.calls
            .add(1, &[operation, KeyValue::new("result", result)]);
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spans = InMemorySpanExporter::default();
    let tracers = SdkTracerProvider::builder()
        .with_simple_exporter(opentelemetry_stdout::SpanExporter::default())
        .with_simple_exporter(spans.clone())
        .build();
    // The first retry of a call is logged at the level DEBUG.
    let layer = tracing_opentelemetry::layer().with_tracer(tracers.tracer("shop"));
    tracing_subscriber::registry()
        .with(layer.with_filter(LevelFilter::DEBUG))
        .try_init()?;

    let metrics = InMemoryMetricExporter::default();
    let meters = SdkMeterProvider::builder()
        .with_periodic_exporter(opentelemetry_stdout::MetricExporter::default())
        .with_periodic_exporter(metrics.clone())
        .build();
    observe::add(Instruments::of(&meters.meter("shop")));

    let price = rate(&mut 2).instrument(info_span!("price")).await?;
    println!("{price}");
    tracers.force_flush()?;
    meters.force_flush()?;

    let spans = spans.get_finished_spans()?;
    let caller = spans.iter().find(|span| span.name == "price");
    let caller = caller.ok_or("no span of the caller")?;
    let events: Vec<_> = caller.events.iter().map(|event| &*event.name).collect();
    assert_eq!(events, ["retry", "retry", "recovered"]);
    let attempts: Vec<_> = spans.iter().filter(|span| span.name == "attempt").collect();
    assert_eq!(attempts.len(), 3);
    for attempt in attempts {
        assert_eq!(attempt.parent_span_id, caller.span_context.span_id());
    }

    let metrics = metrics.get_finished_metrics()?;
    let scopes = metrics.iter().flat_map(ResourceMetrics::scope_metrics);
    // In whichever order they are exported.
    let names: BTreeSet<_> = scopes
        .flat_map(|scope| scope.metrics().map(|metric| metric.name().to_owned()))
        .collect();
    assert!(names.iter().eq(["retry.calls", "retry.delay"]), "{names:?}");
    tracers.shutdown()?;
    meters.shutdown()?;
    Ok(())
}
