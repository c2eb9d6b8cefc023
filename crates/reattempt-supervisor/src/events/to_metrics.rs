//! Events as counters, through the facade `metrics`.

use metrics::{counter, histogram};

use super::Event;

pub(super) fn tell(event: &Event) {
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
                ("state", state.word().to_owned()),
            ];
            counter!("retry_tasks_ended_total", &labels).increment(1);
        }
        Event::Failed { workflow, .. } => count("retry_task_failures_total", workflow),
        Event::TurnedBack { workflow, .. } => count("retry_tasks_turned_back_total", workflow),
        Event::Swept(swept) => count("retry_tasks_swept_total", &swept.workflow),
        Event::Lost { workflow, .. } => count("retry_tasks_lost_total", workflow),
        Event::Trouble(_) => counter!("retry_store_troubles_total").increment(1),
    }
}

fn count(name: &'static str, workflow: &str) {
    counter!(name, "workflow" => workflow.to_owned()).increment(1);
}
