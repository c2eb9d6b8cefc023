//! Shows tasks as HTML. Every text of a task is escaped.

use std::fmt::{self, Write as _};

use serde::Deserialize;

use crate::client::Progress;
use crate::task::{OperatorNote, Record, RecordKind, RunningStep, State, Task};

/// The tasks that the address of a list asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListQuery {
    pub(super) state: String,
    pub(super) workflow: String,
    pub(super) before: Option<i64>,
}

const STYLE: &str = include_str!("style.css");

/// A text from outside, with the characters of HTML escaped.
struct Text<'t>(&'t str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c if c.is_control() => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A text from outside, escaped for a part of an address.
struct Part<'t>(&'t str);

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    f.write_char(char::from(byte))?;
                }
                byte => write!(f, "%{byte:02X}")?,
            }
        }
        Ok(())
    }
}

/// Returns a whole page.
fn whole_page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}</style><body>{body}</body></html>",
        Text(title)
    )
}

/// Returns a page with one message.
pub(super) fn message(text: &str) -> String {
    whole_page(
        "Tasks",
        &format!(
            "<h1>Tasks</h1><p>{}</p><p><a href=\"../\">All tasks</a></p>",
            Text(text)
        ),
    )
}

/// Returns the page with the list of tasks.
pub(super) fn list(
    counts: &[(State, u64)],
    tasks: &[Task],
    query: &ListQuery,
    is_full: bool,
) -> String {
    let workflow = Part(&query.workflow);
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let current = |is_current: bool| if is_current { " aria-current=page" } else { "" };
    let mut body = format!(
        "<h1>Tasks</h1><nav><a href=\"?workflow={workflow}\"{}>all {all}</a>",
        current(query.state.is_empty())
    );
    for (state, count) in counts {
        let mark = current(query.state == state.as_str());
        push(
            &mut body,
            format_args!(
                "<a href=\"?state={state}&amp;workflow={workflow}\"{mark}>{state} {count}</a>"
            ),
        );
    }
    push(
        &mut body,
        format_args!(
            "</nav><form><input type=hidden name=state value=\"{}\"><label>Workflow <input name=workflow value=\"{}\"></label> <button>Show</button></form>",
            Text(&query.state),
            Text(&query.workflow)
        ),
    );
    if tasks.is_empty() {
        body.push_str("<p>There are no such tasks.</p>");
        return whole_page("Tasks", &body);
    }
    body.push_str(
        "<div class=scroll><table><thead><tr><th>Task<th>Workflow<th>State<th>Failures<th>Changed<th>Last error</thead><tbody>",
    );
    for task in tasks {
        push(
            &mut body,
            format_args!(
                "<tr><td><a href=\"tasks/{id}\">{id}</a><td>{} {}<td class={state}>{state}<td class=number>{}<td>{}<td class=text>{}",
                Text(&task.workflow),
                task.version,
                task.failures,
                time(task.updated_at),
                Text(task.error.as_deref().unwrap_or_default()),
                id = task.id,
                state = task.state,
            ),
        );
    }
    body.push_str("</tbody></table></div>");
    if let Some(last) = tasks.last().filter(|_| is_full) {
        push(
            &mut body,
            format_args!(
                "<p><a href=\"?state={}&amp;workflow={workflow}&amp;before={}\">Older tasks</a></p>",
                Part(&query.state),
                last.id
            ),
        );
    }
    whole_page("Tasks", &body)
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

/// Returns the page of one task.
pub(super) fn task(progress: &Progress) -> String {
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
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let owner = task.owner.as_ref().map(ToString::to_string);
    push(
        &mut body,
        format_args!("<dt>State<dd class={state}>{state}", state = task.state),
    );
    for (name, value) in [
        ("Workflow", format!("{} {}", task.workflow, task.version)),
        ("Key", task.key.clone()),
        (
            "Queue",
            format!("{}, priority {}", task.queue, task.priority),
        ),
        (
            "Failures",
            format!("{} in a row, at most {}", task.failures, task.max_failures),
        ),
        (
            "Deaths",
            match task.deaths {
                0 => String::new(),
                deaths => format!("{deaths} of its workers in a row"),
            },
        ),
        ("Owner", owner.unwrap_or_default()),
        ("Submitted", task.created_at.to_string()),
        ("Changed", task.updated_at.to_string()),
        (
            "Complete by",
            task.complete_by
                .map(|by| by.to_string())
                .unwrap_or_default(),
        ),
        (
            "Runs",
            running
                .iter()
                .map(running_text)
                .collect::<Vec<_>>()
                .join("; "),
        ),
        ("Last error", optional(&task.error)),
        ("Arguments", task.input.clone()),
        ("Result", optional(&task.output)),
    ] {
        if !value.is_empty() {
            push(&mut body, format_args!("<dt>{name}<dd>{}", Text(&value)));
        }
    }
    body.push_str("</dl><h2>Steps</h2>");
    if history.is_empty() {
        body.push_str("<p>Nothing has happened yet.</p>");
    } else {
        body.push_str("<div class=scroll><table><thead><tr><th>Step<th>Name<th>What<th>When<th>Result or error</thead><tbody>");
        for record in history {
            row(&mut body, record);
        }
        body.push_str("</tbody></table></div>");
    }
    if !failures.is_empty() {
        body.push_str("<h2>Failures</h2><div class=scroll><table><thead><tr><th>Step<th>Direction<th>Failures<th>Last<th>Error</thead><tbody>");
        for step in failures {
            push(
                &mut body,
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
    add_notes(&mut body, notes);
    whole_page(&format!("Task {}", task.id), &body)
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
fn row(body: &mut String, record: &Record) {
    let what = match record.kind {
        RecordKind::Begun => "begun",
        RecordKind::Done => "done",
        RecordKind::Failed => "failed",
        RecordKind::Undone => "undone",
    };
    let result = record.error.as_ref().or(record.result.as_ref());
    let result = result.map(String::as_str).unwrap_or_default();
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

fn time(time: crate::time::Time) -> String {
    format!("<time>{time}</time>")
}

fn push(body: &mut String, more: fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = body.write_fmt(more);
}
