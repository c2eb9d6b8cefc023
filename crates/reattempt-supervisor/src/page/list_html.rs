//! Lists of tasks, and commands for those that fit.

use serde::Deserialize;

use super::html::{Part, Text, command_fields, form_field, push, time, whole_page};
use super::session::{Role, Session};
use crate::client::SubmitError;
use crate::store::{AdminCommand, Filter};
use crate::task::{State, Task, TaskId, UnknownState};
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
    pub(super) fn filter(&self, role: Role) -> Result<Filter, String> {
        if let Some((_, label, _)) =
            (self.fields().into_iter()).find(|(.., value)| value.contains('\0'))
        {
            return Err(format!("{label}: no task has a text with a NUL."));
        }
        // A role without the headers could guess them by searching.
        if role == Role::Look && !self.header.is_empty() {
            return Err("Your role sees no headers, and cannot search for them.".to_owned());
        }
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
        .filter(session.role)
        .is_ok_and(|filter| filter != Filter::default());
    if session.role == Role::Act && is_narrowed && !tasks.is_empty() {
        push(
            &mut body,
            format_args!(
                "<form method=post action=all>{}{} <button>Count the tasks that fit</button></form>",
                query.hidden(),
                command_fields(session, &AdminCommand::names(|_| true))
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
                "<tr><td><a href=\"tasks/{id}\">{id}</a><td>{} {}<td class={state}>{state}<td class=number>{}<td>{}<td class=text>{}",
                Text(&task.workflow),
                task.version,
                task.failures,
                match task.key_free_at() {
                    Some(at) => format!("key free at {}", time(at)),
                    None => time(task.updated_at),
                },
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
