//! Events as counters, through the facade `metrics`.

use metrics::{counter, gauge, histogram};

use super::event::Event;
use crate::store::QueueStatus;

pub(super) fn count_event(event: &Event) {
    match event {
        Event::Claimed {
            workflow, waited, ..
        } => {
            histogram!("retry_task_wait_seconds", "workflow" => workflow.clone()).record(*waited);
        }
        Event::StepStarted { .. } => {}
        Event::StepEnded {
            workflow,
            step,
            ending,
            duration,
            ..
        } => {
            let labels = [
                ("workflow", workflow.clone()),
                ("step", step.clone()),
                ("ending", ending.as_str().to_owned()),
            ];
            histogram!("retry_step_seconds", &labels).record(*duration);
        }
        Event::Queue(status) => set_gauges(status),
        Event::OldestSnapshot(age) => {
            gauge!("retry_oldest_snapshot_seconds").set(age.as_secs_f64());
        }
        Event::Ended {
            workflow, state, ..
        } => {
            let labels = [
                ("workflow", workflow.clone()),
                ("state", state.as_str().to_owned()),
            ];
            counter!("retry_tasks_ended_total", &labels).increment(1);
        }
        Event::Continued { workflow, .. } => count("retry_tasks_continued_total", workflow),
        Event::Failed { workflow, .. } => count("retry_task_failures_total", workflow),
        Event::TurnedBack { workflow, .. } => count("retry_tasks_turned_back_total", workflow),
        Event::Reclaimed(reclaimed) => count("retry_tasks_reclaimed_total", &reclaimed.workflow),
        Event::Lost { workflow, .. } => count("retry_tasks_lost_total", workflow),
        Event::Blocked { .. } => counter!("retry_runtime_blocked_total").increment(1),
        Event::UnknownWorkflow(unknown) => {
            count("retry_unknown_workflows_total", &unknown.workflow);
        }
        Event::StoreError { .. } => counter!("retry_store_errors_total").increment(1),
    }
}

/// Each process sets the same numbers of the store.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "a count is small"
)]
fn set_gauges(status: &QueueStatus) {
    let set = |name: &'static str, value: f64| {
        gauge!(name, "queue" => status.queue.clone()).set(value);
    };
    set("retry_queue_pending", status.pending as f64);
    set("retry_queue_oldest_seconds", status.oldest.as_secs_f64());
    set("retry_queue_in_flight", status.in_flight as f64);
    set("retry_queue_parked", status.parked as f64);
}

fn count(name: &'static str, workflow: &str) {
    counter!(name, "workflow" => workflow.to_owned()).increment(1);
}
