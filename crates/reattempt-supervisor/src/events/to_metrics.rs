//! Events as counters, through the facade `metrics`.

use metrics::{counter, histogram};

use super::event::Event;

pub(super) fn count_event(event: &Event) {
    match event {
        Event::Claimed {
            workflow, waited, ..
        } => {
            histogram!("retry_task_wait_seconds", "workflow" => workflow.clone()).record(*waited);
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

fn count(name: &'static str, workflow: &str) {
    counter!(name, "workflow" => workflow.to_owned()).increment(1);
}
