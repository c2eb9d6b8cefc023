//! The page of one task.

use super::html::{Text, command_fields, private, push, time, whole_page};
use super::session::{Role, Session};
use crate::client::Progress;
use crate::store::AdminCommand;
use crate::task::{FailingStep, OperatorNote, Record, RecordKind, RunningStep, Task};

/// Returns the page of one task.
pub(super) fn task(session: &Session, progress: &Progress) -> String {
    let Progress {
        task,
        history,
        running,
        failures,
        notes,
    } = progress;
    let mut body = format!(
        "<p><a href=\"../\">All tasks</a></p><h1>Task {}</h1><dl>",
        task.id
    );
    push(
        &mut body,
        format_args!("<dt>state<dd class={state}>{state}", state = task.state),
    );
    let payload =
        |text: &Option<String>| private(session, text.as_deref().unwrap_or_default()).to_owned();
    let more = [
        (
            "runs",
            running
                .iter()
                .map(running_text)
                .collect::<Vec<_>>()
                .join("; "),
        ),
        ("headers", payload(&task.headers)),
        ("arguments", private(session, &task.input).to_owned()),
        ("result", payload(&task.output)),
    ];
    for (name, value) in task.facts().chain(more) {
        if !value.is_empty() {
            push(&mut body, format_args!("<dt>{name}<dd>{}", Text(&value)));
        }
    }
    body.push_str("</dl>");
    add_commands(&mut body, session, task);
    body.push_str("<h2>Steps</h2>");
    if history.is_empty() {
        body.push_str("<p>Nothing has happened yet.</p>");
    } else {
        body.push_str("<div class=scroll><table><thead><tr><th>Step<th>Name<th>What<th>When<th>Result or error</thead><tbody>");
        for record in history {
            row(&mut body, session, record);
        }
        body.push_str("</tbody></table></div>");
    }
    add_failures(&mut body, failures);
    add_notes(&mut body, notes);
    whole_page(&format!("Task {}", task.id), &body)
}

/// Adds the form with which an operator gives a task a command.
fn add_commands(body: &mut String, session: &Session, task: &Task) {
    let commands = AdminCommand::names(|states| states.contains(&task.state));
    if session.role == Role::Look || commands.is_empty() {
        return;
    }
    push(
        body,
        format_args!(
            "<h2>Commands</h2><form method=post action=\"../act/{}\">{} <button>Send</button></form>",
            task.id,
            command_fields(session, &commands)
        ),
    );
    if AdminCommand::STOPPED.contains(&task.state) {
        push(
            body,
            format_args!(
                "<form method=post action=\"../act/{}\"><label>Step <input name=step inputmode=numeric size=4 required></label> {} \
                 <label>Result, as JSON <input name=result></label> <button>Resolve</button></form>",
                task.id,
                command_fields(session, &["not done", "done", "undo step"])
            ),
        );
    }
}

/// Describes a step that runs.
fn running_text(step: &RunningStep) -> String {
    let due = step
        .due
        .map_or_else(|| "it ends".to_owned(), |due| due.to_string());
    format!(
        "step {} {} since {} until {due}",
        step.seq, step.name, step.since
    )
}

/// Adds the steps that have failed.
fn add_failures(body: &mut String, failures: &[FailingStep]) {
    if failures.is_empty() {
        return;
    }
    body.push_str("<h2>Failures</h2><div class=scroll><table><thead><tr><th>Step<th>Direction<th>Failures<th>Last<th>Error</thead><tbody>");
    for step in failures {
        push(
            body,
            format_args!(
                "<tr><td class=number>{}<td>{}<td class=number>{}<td>{}<td class=text>{}",
                step.seq,
                step.direction.as_str(),
                step.failures,
                time(step.at),
                Text(&step.error),
            ),
        );
    }
    body.push_str("</tbody></table></div>");
}

/// Adds what operators have decided.
fn add_notes(body: &mut String, notes: &[OperatorNote]) {
    if notes.is_empty() {
        return;
    }
    body.push_str("<h2>Operators</h2><div class=scroll><table><thead><tr><th>Step<th>Verdict<th>By<th>When<th>Why</thead><tbody>");
    for note in notes {
        push(
            body,
            format_args!(
                "<tr><td class=number>{}<td>{}<td>{}<td>{}<td class=text>{}",
                note.seq.map(|seq| seq.to_string()).unwrap_or_default(),
                Text(&note.verdict),
                Text(&note.by),
                time(note.at),
                Text(&note.why),
            ),
        );
    }
    body.push_str("</tbody></table></div>");
}

/// Adds the row of a record.
fn row(body: &mut String, session: &Session, record: &Record) {
    let what = match record.kind {
        RecordKind::Begun => "begun",
        RecordKind::Done => "done",
        RecordKind::Failed => "failed",
        RecordKind::Undone => "undone",
    };
    let result = record.result.as_deref().unwrap_or_default();
    let result = record
        .error
        .as_deref()
        .unwrap_or_else(|| private(session, result));
    push(
        body,
        format_args!(
            "<tr><td class=number>{}<td>{}<td class={what}>{what}<td>{}<td class=text>{}",
            record.seq,
            Text(&record.name),
            time(record.at),
            Text(result),
        ),
    );
}
