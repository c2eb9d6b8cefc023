//! Events as lines of the log, through `tracing`.

use tracing::{Level, event};

use super::Event;

pub(super) fn tell(event: &Event) {
    match event {
        Event::Claimed {
            run,
            workflow,
            waited,
        } => {
            let waited = waited.as_secs_f64();
            event!(
                Level::DEBUG,
                task = run.0,
                workflow,
                waited,
                "a task is taken"
            );
        }
        Event::Ended {
            run,
            workflow,
            state,
            error,
        } => {
            let (state, error) = (state.word(), error.as_deref().unwrap_or_default());
            if event.is_alert() {
                event!(
                    Level::ERROR,
                    task = run.0,
                    workflow,
                    state,
                    error,
                    "a task needs an operator"
                );
            } else if error.is_empty() {
                event!(
                    Level::INFO,
                    task = run.0,
                    workflow,
                    state,
                    "a task has ended"
                );
            } else {
                event!(
                    Level::WARN,
                    task = run.0,
                    workflow,
                    state,
                    error,
                    "a task has ended"
                );
            }
        }
        Event::Failed {
            run,
            workflow,
            failures,
            delay,
            error,
        } => {
            let delay = delay.as_secs_f64();
            event!(
                Level::WARN,
                task = run.0,
                workflow,
                failures,
                delay,
                error,
                "a task failed and is tried again"
            );
        }
        Event::TurnedBack {
            run,
            workflow,
            error,
        } => {
            event!(
                Level::WARN,
                task = run.0,
                workflow,
                error,
                "what a task did is undone"
            );
        }
        Event::Swept(swept) => {
            let (task, workflow) = (swept.run.0, &swept.workflow);
            let (state, expired) = (swept.state.word(), swept.expired.message());
            let owner = swept
                .owner
                .as_ref()
                .map(|owner| &*owner.0)
                .unwrap_or_default();
            if event.is_alert() {
                event!(
                    Level::ERROR,
                    task,
                    workflow,
                    state,
                    owner,
                    expired,
                    "a task needs an operator"
                );
            } else {
                event!(
                    Level::WARN,
                    task,
                    workflow,
                    state,
                    owner,
                    expired,
                    "a task is given back"
                );
            }
        }
        Event::Lost { run, workflow } => {
            event!(
                Level::WARN,
                task = run.0,
                workflow,
                "a task was lost to another worker; nothing of it was written"
            );
        }
        Event::Trouble(error) => event!(Level::ERROR, error, "the store of tasks is in trouble"),
    }
}
