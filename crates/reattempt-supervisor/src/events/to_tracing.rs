//! Events as lines of the log, through `tracing`.

use tracing::{Level, event};

use super::Event;
use crate::store::Swept;
use crate::task::{RunId, State};

pub(super) fn tell(event: &Event) {
    match event {
        Event::Claimed {
            run,
            workflow,
            waited,
        } => {
            let (task, waited) = (run.0, waited.as_secs_f64());
            event!(Level::DEBUG, task, workflow, waited, "a task is taken");
        }
        Event::Ended {
            run,
            workflow,
            state,
            error,
        } => ended(*run, workflow, *state, error.as_deref(), event.is_alert()),
        Event::Failed {
            run,
            workflow,
            failures,
            delay,
            error,
        } => {
            let (task, delay) = (run.0, delay.as_secs_f64());
            let message = "a task failed and is tried again";
            event!(Level::WARN, task, workflow, failures, delay, error, message);
        }
        Event::TurnedBack {
            run,
            workflow,
            error,
        } => {
            let task = run.0;
            event!(
                Level::WARN,
                task,
                workflow,
                error,
                "what a task did is undone"
            );
        }
        Event::Swept(swept) => self::swept(swept, event.is_alert()),
        Event::Lost { run, workflow } => {
            let message = "a task was lost to another worker; nothing of it was written";
            event!(Level::WARN, task = run.0, workflow, message);
        }
        Event::Trouble(error) => event!(Level::ERROR, error, "the store of tasks is in trouble"),
    }
}

fn ended(run: RunId, workflow: &str, state: State, error: Option<&str>, is_alert: bool) {
    let (task, state) = (run.0, state.word());
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

fn swept(swept: &Swept, is_alert: bool) {
    let (task, workflow) = (swept.run.0, &swept.workflow);
    let (state, expired) = (swept.state.word(), swept.expired.message());
    let owner = swept.owner.as_ref().map(|owner| &*owner.0);
    if is_alert {
        let message = "a task needs an operator";
        event!(Level::ERROR, task, workflow, state, owner, expired, message);
    } else {
        let message = "a task is given back";
        event!(Level::WARN, task, workflow, state, owner, expired, message);
    }
}
