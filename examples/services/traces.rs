//! OpenTelemetry and durable tasks: the span of a task continues the trace of whoever submitted it, also in another
//! process and days later, and its steps have spans below it.
//!
//! The submitter puts the context of its trace into the headers of the task, and the scheduler takes it out again.
//!
//! `cargo run -p service-examples --example traces`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::collections::HashMap;
use std::time::Duration;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use reattempt_supervisor::{
    Client, Memory, Scheduler, Step, StepError, Task, WorkflowContext, step, workflow,
};
use tracing::{Instrument as _, Span, info_span, level_filters::LevelFilter};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::{Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _};

#[step]
async fn ship(_step: &Step, order: u32) -> Result<u32, String> {
    Ok(order)
}

#[workflow]
async fn order(context: &WorkflowContext, order: u32) -> Result<u32, StepError> {
    ship(context, order).await
}

/// Returns the headers of a task that belongs to the trace of the current span.
fn headers() -> String {
    let mut headers = HashMap::new();
    TraceContextPropagator::new().inject_context(&Span::current().context(), &mut headers);
    serde_json::to_string(&headers).unwrap_or_default()
}

/// Returns the span of a task, in the trace that its headers name.
fn span(task: &Task) -> Span {
    let span = info_span!("task", task = task.id.0, workflow = task.workflow);
    let headers = task.headers.as_deref().unwrap_or_default();
    let headers: HashMap<String, String> = serde_json::from_str(headers).unwrap_or_default();
    // Without a layer of OpenTelemetry there is nothing to continue.
    let _ = span.set_parent(TraceContextPropagator::new().extract(&headers));
    span
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spans = InMemorySpanExporter::default();
    let tracers = SdkTracerProvider::builder()
        .with_simple_exporter(opentelemetry_stdout::SpanExporter::default())
        .with_simple_exporter(spans.clone())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(tracers.tracer("shop"));
    tracing_subscriber::registry()
        .with(layer.with_filter(LevelFilter::INFO))
        .try_init()?;

    let client = Client::new(Memory::new());
    let scheduler = Scheduler::new(&client)
        .register(order)
        .task_span(span)
        .start()?;
    let submit = async { client.submit(order(17).headers(headers())).await };
    let task = submit.instrument(info_span!("request")).await?;
    assert_eq!(task.wait().await?, 17);
    scheduler.stop(Duration::from_secs(1)).await;
    tracers.force_flush()?;

    let spans = spans.get_finished_spans()?;
    let find = |name: &'static str| {
        let span = spans.iter().find(|span| span.name == name);
        span.ok_or_else(|| format!("no span `{name}`"))
    };
    let (request, task, step) = (find("request")?, find("task")?, find("step")?);
    assert_eq!(
        task.span_context.trace_id(),
        request.span_context.trace_id()
    );
    assert_eq!(task.parent_span_id, request.span_context.span_id());
    assert_eq!(step.parent_span_id, task.span_context.span_id());
    tracers.shutdown()?;
    Ok(())
}
