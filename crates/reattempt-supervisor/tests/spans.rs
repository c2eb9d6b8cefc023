//! The spans of tasks and steps.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that panics has failed"
)]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reattempt_supervisor::{
    Client, Memory, Scheduler, Step, StepError, WorkflowContext, step, workflow,
};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

#[step]
async fn nap(_step: &Step, seconds: u64) -> Result<(), String> {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    tracing::info!("slept");
    Ok(())
}

#[workflow]
async fn naps(context: &WorkflowContext) -> Result<(), StepError> {
    let _ = tokio::join!(nap(context, 3), nap(context, 2));
    Ok(())
}

/// Keeps all spans, with the texts of their fields.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    spans: Vec<Span>,
    entered: Vec<u64>,
    /// The spans of the log lines of the step.
    lines: Vec<u64>,
}

struct Span {
    name: &'static str,
    parent: Option<u64>,
    fields: BTreeMap<&'static str, String>,
}

struct Fields<'a>(&'a mut BTreeMap<&'static str, String>);

impl tracing::field::Visit for Fields<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut state = self.0.lock().unwrap();
        let current = state
            .entered
            .last()
            .copied()
            .filter(|_| attributes.is_contextual());
        let mut fields = BTreeMap::new();
        attributes.record(&mut Fields(&mut fields));
        state.spans.push(Span {
            name: attributes.metadata().name(),
            parent: attributes.parent().map(Id::into_u64).or(current),
            fields,
        });
        Id::from_u64(u64::try_from(state.spans.len()).unwrap())
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut state = self.0.lock().unwrap();
        let nth = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut Fields(&mut state.spans[nth].fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        if fields
            .get("message")
            .is_some_and(|message| message == "slept")
        {
            let mut state = self.0.lock().unwrap();
            let current = *state.entered.last().unwrap();
            state.lines.push(current);
        }
    }

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let left = self.0.lock().unwrap().entered.pop();
        assert_eq!(left, Some(span.into_u64()));
    }
}

impl Spans {
    /// Returns the spans of this name, with their numbers.
    fn named(&self, name: &str) -> Vec<(u64, Option<u64>, BTreeMap<&'static str, String>)> {
        let state = self.0.lock().unwrap();
        let named = (1..)
            .zip(&state.spans)
            .filter(|(_, span)| span.name == name);
        let named = named.map(|(id, span)| (id, span.parent, span.fields.clone()));
        named.collect()
    }
}

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Runs a task that carries the trace of its submitter.
async fn run_traced(scheduler: impl FnOnce(Scheduler) -> Scheduler) {
    let client = Client::new(Memory::new());
    let scheduler = scheduler(Scheduler::new(&client).register(naps));
    let scheduler = scheduler.start().unwrap();
    let headers = format!(r#"{{"traceparent":"{PARENT}"}}"#);
    let task = client.submit(naps().headers(headers)).await.unwrap();
    task.wait().await.unwrap();
    scheduler.stop(Duration::ZERO).await;
}

/// The only test here: the subscriber is that of the whole process.
#[tokio::test(start_paused = true)]
async fn a_task_and_its_steps_have_spans_in_the_trace_of_the_submitter() {
    let spans = Spans::default();
    tracing::subscriber::set_global_default(spans.clone()).unwrap();
    run_traced(|scheduler| scheduler).await;
    let tasks = spans.named("task");
    let [(task, None, fields)] = &tasks[..] else {
        panic!("{tasks:?}");
    };
    assert_eq!(fields["workflow"], "\"naps\"");
    assert_eq!(fields["traceparent"], format!("\"{PARENT}\""));
    let steps = spans.named("step");
    let found: Vec<_> = steps
        .iter()
        .map(|(_, parent, fields)| (*parent, &*fields["step"], &*fields["seq"]))
        .collect();
    let parent = Some(*task);
    assert_eq!(found, [(parent, "\"nap\"", "0"), (parent, "\"nap\"", "1")]);
    // The second step is shorter.
    let lines = spans.0.lock().unwrap().lines.clone();
    assert_eq!(lines, [steps[1].0, steps[0].0]);
    // An application makes a span of its own.
    run_traced(|scheduler| {
        scheduler.task_span(|task| {
            let parent = task.header("traceparent").unwrap();
            tracing::info_span!("own", parent)
        })
    })
    .await;
    assert_eq!(spans.named("task").len(), 1);
    let own = spans.named("own");
    let [(own, _, fields)] = &own[..] else {
        panic!("{own:?}");
    };
    assert_eq!(fields["parent"], format!("\"{PARENT}\""));
    let steps = spans.named("step").split_off(2);
    let parents: Vec<_> = steps.iter().map(|(_, parent, _)| *parent).collect();
    assert_eq!(parents, [Some(*own), Some(*own)]);
}
