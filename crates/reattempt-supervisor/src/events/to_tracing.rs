//! Events as lines of the log, through `tracing`.

use tracing::{Level, event};

use super::event::Event;
use crate::store::Reclaimed;
use crate::task::{State, TaskId};

pub(super) fn log_event(event: &Event) {
    match event {
        Event::Claimed {
            task,
            workflow,
            waited,
        } => {
            let (task, waited) = (task.0, waited.as_secs_f64());
            event!(
                Level::DEBUG,
                task,
                workflow,
                waited,
                "a worker claimed a task"
            );
        }
        Event::StepStarted { .. } | Event::StepEnded { .. } => log_step(event),
        // Gauges have them.
        Event::Queue(_) | Event::OldestSnapshot(_) => {}
        Event::Ended {
            task,
            workflow,
            state,
            error,
        } => log_end(*task, workflow, *state, error.as_deref(), event.is_alert()),
        Event::Continued {
            task,
            workflow,
            generation,
        } => {
            let task = task.0;
            let message = "a task continues as new";
            event!(Level::DEBUG, task, workflow, generation, message);
        }
        Event::Failed {
            task,
            workflow,
            failures,
            delay,
            error,
        } => {
            let (task, delay) = (task.0, delay.as_secs_f64());
            let message = "a task failed and will run again";
            event!(Level::WARN, task, workflow, failures, delay, error, message);
        }
        Event::TurnedBack {
            task,
            workflow,
            error,
        } => {
            let task = task.0;
            let message = "the steps of a task will be undone";
            event!(Level::WARN, task, workflow, error, message);
        }
        Event::Reclaimed(reclaimed) => log_reclaim(reclaimed, event.is_alert()),
        Event::Lost { task, workflow } => {
            let message = "this worker has lost a task to another; the store refused its write";
            event!(Level::WARN, task = task.0, workflow, message);
        }
        Event::Blocked { worker, steps } => {
            let steps = steps.iter();
            let steps = steps.map(|step| format!("{} of task {}", step.name, step.task));
            let (worker, steps) = (&worker.0, steps.collect::<Vec<_>>().join(", "));
            event!(Level::ERROR, worker, steps, "steps block the runtime");
        }
        Event::UnknownWorkflow(unknown) => {
            let (queue, workflow, version) = (&unknown.queue, &unknown.workflow, unknown.version);
            let waited = unknown.waited.as_secs_f64();
            let message = "tasks wait for a workflow that this scheduler does not have; \
                           register this version, or start a program that does";
            event!(Level::ERROR, queue, workflow, version, waited, message);
        }
        Event::StoreError {
            error,
            kind,
            task,
            table,
        } => {
            let (task, table) = (task.map(|task| task.0), table.as_deref());
            let message = "the store of tasks has an error";
            event!(Level::ERROR, error, ?kind, task, table, message);
        }
    }
}

/// Logs that a step began or ended.
fn log_step(event: &Event) {
    match event {
        Event::StepStarted {
            task,
            workflow,
            seq,
            step,
        } => {
            let task = task.0;
            event!(Level::DEBUG, task, workflow, seq, step, "a step began");
        }
        Event::StepEnded {
            task,
            workflow,
            seq,
            step,
            ending,
            duration,
        } => {
            let (task, ending) = (task.0, ending.as_str());
            let duration = duration.as_secs_f64();
            let message = "a step ended";
            event!(
                Level::DEBUG,
                task,
                workflow,
                seq,
                step,
                ending,
                duration,
                message
            );
        }
        _ => {}
    }
}

fn log_end(task: TaskId, workflow: &str, state: State, error: Option<&str>, is_alert: bool) {
    let (task, state) = (task.0, state.as_str());
    match error {
        Some(error) if is_alert => {
            event!(
                Level::ERROR,
                task,
                workflow,
                state,
                error,
                "a task needs an operator"
            );
        }
        Some(error) => event!(
            Level::WARN,
            task,
            workflow,
            state,
            error,
            "a task has ended"
        ),
        None => event!(Level::INFO, task, workflow, state, "a task has ended"),
    }
}

fn log_reclaim(reclaimed: &Reclaimed, is_alert: bool) {
    let (task, workflow) = (reclaimed.task.0, &reclaimed.workflow);
    let (state, expired) = (reclaimed.state.as_str(), reclaimed.expiry.message());
    let owner = reclaimed.owner.as_ref().map(|owner| &*owner.0);
    if is_alert {
        let message = "a task needs an operator";
        event!(Level::ERROR, task, workflow, state, owner, expired, message);
    } else {
        let message = "a supervisor reclaimed a task";
        event!(Level::WARN, task, workflow, state, owner, expired, message);
    }
}
