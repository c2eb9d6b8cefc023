//! The spans of tasks and steps, for `tracing`. Without that feature they are nothing.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
#[cfg(feature = "tracing")]
use std::sync::Arc;

use crate::task::{Task, TaskId};

/// The span of a task or of a step.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

impl Span {
    /// Returns the span of a step, below that of its task.
    #[cfg_attr(
        not(feature = "tracing"),
        expect(unused_variables, reason = "the span has the fields")
    )]
    pub(crate) fn of_step(task: TaskId, seq: i32, step: &str) -> Self {
        Self {
            #[cfg(feature = "tracing")]
            span: tracing::info_span!("step", task = task.0, seq, step),
        }
    }

    /// Does something within the span.
    #[cfg_attr(
        not(feature = "tracing"),
        expect(clippy::unused_self, reason = "there is no span")
    )]
    pub(crate) fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
        #[cfg(feature = "tracing")]
        let _entered = self.span.enter();
        work()
    }

    /// Polls a future within the span.
    pub(crate) async fn instrument<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| self.enter(|| future.as_mut().poll(cx))).await
    }
}

/// Makes the span of a task.
#[cfg(feature = "tracing")]
type MakeSpan = dyn Fn(&Task) -> tracing::Span + Send + Sync;

/// Makes the spans of tasks.
#[derive(Clone, Default)]
pub(crate) struct TaskSpans {
    /// Set if the application makes them.
    #[cfg(feature = "tracing")]
    pub(crate) make: Option<Arc<MakeSpan>>,
}

impl fmt::Debug for TaskSpans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskSpans")
    }
}

impl TaskSpans {
    /// Returns the span of a task, which has no parent in this process.
    #[cfg_attr(
        not(feature = "tracing"),
        expect(unused_variables, clippy::unused_self, reason = "the span has them")
    )]
    pub(crate) fn span(&self, task: &Task) -> Span {
        Span {
            #[cfg(feature = "tracing")]
            span: match &self.make {
                Some(make) => make(task),
                None => span_of_task(task),
            },
        }
    }
}

/// Returns a span with what the submitter has said about its trace.
#[cfg(feature = "tracing")]
fn span_of_task(task: &Task) -> tracing::Span {
    use tracing::field::Empty;
    let workflow = &*task.workflow;
    let span =
        tracing::info_span!(parent: None, "task", task = task.id.0, workflow, traceparent = Empty);
    if !span.is_disabled()
        && let Some(parent) = task.header("traceparent")
    {
        span.record("traceparent", parent);
    }
    span
}
