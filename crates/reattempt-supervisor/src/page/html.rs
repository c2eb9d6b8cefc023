//! Shows tasks as HTML. Every text of a task is escaped.

use std::fmt::{self, Write as _};

use serde::Deserialize;

use super::access::{Role, Session};
use crate::client::{Progress, SubmitError};
use crate::store::Filter;
use crate::task::{
    FailingStep, OperatorNote, Record, RecordKind, RunningStep, State, Task, TaskId, UnknownState,
};
use crate::time::ParseTimeError;

/// The tasks that the address of a list asks for.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(super) struct ListQuery {
    pub(super) state: String,
    workflow: String,
    queue: String,
    key: String,
    header: String,
    error: String,
    since: String,
    until: String,
    pub(super) before: String,
}

impl ListQuery {
    /// Returns the names, labels and values of what an operator can search for.
    fn fields(&self) -> [(&'static str, &'static str, &str); 7] {
        [
            ("workflow", "Workflow", &self.workflow),
            ("queue", "Queue", &self.queue),
            ("key", "Key", &self.key),
            ("header", "Header, as name=value", &self.header),
            ("error", "Part of the error", &self.error),
            ("since", "Submitted since (UTC)", &self.since),
            ("until", "Submitted before", &self.until),
        ]
    }

    /// Returns the filter, or what is wrong with it.
    pub(super) fn filter(&self) -> Result<Filter, String> {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let time = |text: &str| match text {
            "" => Ok(None),
            text => text
                .parse()
                .map(Some)
                .map_err(|error: ParseTimeError| error.to_string()),
        };
        let header = match self.header.split_once('=') {
            Some((name, value)) => Some((name.to_owned(), value.to_owned())),
            None if self.header.is_empty() => None,
            None => return Err("Write the name of a header, `=` and its value.".to_owned()),
        };
        Ok(Filter {
            state: match &*self.state {
                "" => None,
                state => Some(
                    state
                        .parse()
                        .map_err(|error: UnknownState| error.to_string())?,
                ),
            },
            workflow: text(&self.workflow),
            queue: text(&self.queue),
            key: text(&self.key),
            header,
            error: text(&self.error),
            since: time(&self.since)?,
            until: time(&self.until)?,
            ..Filter::default()
        })
    }

    /// Returns the address of the same search with another state, and from another task on.
    fn address(&self, state: &str, before: Option<TaskId>) -> String {
        let mut address = format!("?state={}", Part(state));
        for (name, _, value) in self.fields() {
            if !value.is_empty() {
                push(&mut address, format_args!("&amp;{name}={}", Part(value)));
            }
        }
        if let Some(before) = before {
            push(&mut address, format_args!("&amp;before={before}"));
        }
        address
    }

    /// Returns the search as hidden fields of a form.
    fn hidden(&self) -> String {
        let mut hidden = format!(
            "<input type=hidden name=state value=\"{}\">",
            Text(&self.state)
        );
        for (name, _, value) in self.fields() {
            push(
                &mut hidden,
                format_args!("<input type=hidden name={name} value=\"{}\">", Text(value)),
            );
        }
        hidden
    }
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

/// Returns the page that asks for a token; `up` leads to the list.
pub(super) fn login(up: &str) -> String {
    whole_page(
        "Tasks",
        &format!(
            "<h1>Tasks</h1><form method=post action=\"{up}login\"><label>Your token <input type=password name=token \
             autocomplete=current-password required></label> <button>Open</button></form>"
        ),
    )
}

/// Returns the page that says how many tasks fit, with a form that gives them a command.
pub(super) fn confirm(
    session: &Session,
    query: &ListQuery,
    (command, why): (&str, &str),
    count: u64,
) -> String {
    whole_page(
        "Tasks",
        &format!(
            "<h1>{count} tasks fit</h1><p>Nothing has changed yet.</p><form method=post action=all>{}{}\
             <input type=hidden name=command value=\"{command}\"><input type=hidden name=why value=\"{}\">\
             <input type=hidden name=expect value={count}><button>{command} {count} tasks</button></form><p><a href=\"./\">All tasks</a></p>",
            query.hidden(),
            form_field(session),
            Text(why),
            command = Text(command),
        ),
    )
}

/// Returns the page after a command for many tasks.
pub(super) fn sent(expect: u64, refused: &[SubmitError]) -> String {
    let count = u64::try_from(refused.len()).unwrap_or(u64::MAX);
    let mut body = format!(
        "<h1>{} of {expect} tasks took the command</h1><ul>",
        expect.saturating_sub(count)
    );
    for error in refused {
        push(&mut body, format_args!("<li>{}", Text(&error.to_string())));
    }
    body.push_str("</ul><p><a href=\"./\">All tasks</a></p>");
    whole_page("Tasks", &body)
}

/// Returns the field that shows that a form is one of the session.
fn form_field(session: &Session) -> String {
    format!("<input type=hidden name=form value={}>", session.form)
}

/// Returns the field for a reason, and what chooses a command.
fn command_fields(session: &Session, commands: &[&str]) -> String {
    let options = commands.iter().map(|command| format!("<option>{command}"));
    format!(
        "{}<label>Command <select name=command>{}</select></label> <label>Why <input name=why required></label>",
        form_field(session),
        options.collect::<String>()
    )
}

/// Adds the form with which an operator gives a task a command.
fn add_commands(body: &mut String, session: &Session, task: &Task) {
    let (commands, is_open): (&[&str], bool) = match task.state {
        _ if session.role == Role::Look => return,
        State::Pending | State::Processing | State::Waiting => (&["cancel", "park"], false),
        State::Error => (&["resubmit", "undo"], true),
        State::Parked => (&["resubmit", "undo", "cancel", "give up"], true),
        State::Processed | State::Compensated | State::Cancelled | State::Pruned => return,
    };
    push(
        body,
        format_args!(
            "<h2>Commands</h2><form method=post action=\"../act/{}\">{} <button>Send</button></form>",
            task.id,
            command_fields(session, commands)
        ),
    );
    if is_open {
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

/// Returns a text that only somebody may see who may act.
fn private<'t>(session: &Session, text: &'t str) -> &'t str {
    match session.role {
        Role::Look if !text.is_empty() => "hidden from your role",
        Role::Look | Role::Act => text,
    }
}

/// Returns the page with the list of tasks.
pub(super) fn list(
    session: &Session,
    counts: &[(State, u64)],
    tasks: &[Task],
    (query, is_full): (&ListQuery, bool),
) -> String {
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let current = |is_current: bool| if is_current { " aria-current=page" } else { "" };
    let mut body = format!(
        "<h1>Tasks</h1><nav><a href=\"{}\"{}>all {all}</a>",
        query.address("", None),
        current(query.state.is_empty())
    );
    for (state, count) in counts {
        let mark = current(query.state == state.as_str());
        let address = query.address(state.as_str(), None);
        push(
            &mut body,
            format_args!("<a href=\"{address}\"{mark}>{state} {count}</a>"),
        );
    }
    push(
        &mut body,
        format_args!(
            "</nav><form><input type=hidden name=state value=\"{}\">",
            Text(&query.state)
        ),
    );
    for (name, label, value) in query.fields() {
        push(
            &mut body,
            format_args!(
                "<label>{label} <input name={name} value=\"{}\"></label> ",
                Text(value)
            ),
        );
    }
    body.push_str("<button>Show</button></form>");
    let is_narrowed = query
        .filter()
        .is_ok_and(|filter| filter != Filter::default());
    if session.role == Role::Act && is_narrowed && !tasks.is_empty() {
        push(
            &mut body,
            format_args!(
                "<form method=post action=all>{}{} <button>Count the tasks that fit</button></form>",
                query.hidden(),
                command_fields(session, &["resubmit", "undo", "cancel", "park", "give up"])
            ),
        );
    }
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
                "<tr><td><a href=\"tasks/{id}\">{id}</a><td>{} {}<td class={state}>{state}<td class=number>{}<td>{}{}<td class=text>{}",
                Text(&task.workflow),
                task.version,
                task.failures,
                match task.state {
                    State::Pruned => "key free at ",
                    _ => "",
                },
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
                "<p><a href=\"{}\">Older tasks</a></p>",
                query.address(&query.state, Some(last.id))
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
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let owner = task.owner.as_ref().map(ToString::to_string);
    let headers = task.headers.as_deref().unwrap_or_default();
    let output = task.output.as_deref().unwrap_or_default();
    push(
        &mut body,
        format_args!("<dt>State<dd class={state}>{state}", state = task.state),
    );
    for (name, value) in [
        ("Workflow", format!("{} {}", task.workflow, task.version)),
        (
            "Generation",
            task.continued_at
                .map(|at| format!("{}, since {at}", task.generation))
                .unwrap_or_default(),
        ),
        ("Key", task.key.clone()),
        (
            "Queue",
            format!("{}, priority {}", task.queue, task.priority),
        ),
        (
            "Lane",
            match &task.lane {
                Some(lane) if task.waits_for_turn() => format!("{lane}, waits for its turn"),
                lane => optional(lane),
            },
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
        (
            if task.state == State::Pruned {
                "Key free at"
            } else {
                "Changed"
            },
            task.updated_at.to_string(),
        ),
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
        ("Headers", private(session, headers).to_owned()),
        ("Arguments", private(session, &task.input).to_owned()),
        ("Result", private(session, output).to_owned()),
    ] {
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

fn time(time: crate::time::Time) -> String {
    format!("<time>{time}</time>")
}

fn push(body: &mut String, more: fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = body.write_fmt(more);
}
