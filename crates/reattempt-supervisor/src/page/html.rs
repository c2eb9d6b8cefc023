//! Tasks as HTML. All that comes from a task is escaped.

use std::fmt::{self, Write as _};

use super::Wanted;
use crate::task::{Kind, Record, Run, State};
use crate::tasks::Progress;

const STYLE: &str = include_str!("style.css");

/// A text from outside: what HTML would read is written as what it shows.
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

/// A text from outside as part of an address.
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

fn whole(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}</style><body>{body}</body></html>",
        Text(title)
    )
}

/// A page that says one thing.
pub(super) fn message(text: &str) -> String {
    whole(
        "Tasks",
        &format!(
            "<h1>Tasks</h1><p>{}</p><p><a href=\"../\">All tasks</a></p>",
            Text(text)
        ),
    )
}

pub(super) fn list(
    counts: &[(State, u64)],
    runs: &[Run],
    wanted: &Wanted,
    is_full: bool,
) -> String {
    let workflow = Part(&wanted.workflow);
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let current = |is_it: bool| if is_it { " aria-current=page" } else { "" };
    let mut body = format!(
        "<h1>Tasks</h1><nav><a href=\"?workflow={workflow}\"{}>all {all}</a>",
        current(wanted.state.is_empty())
    );
    for (state, count) in counts {
        let is_it = current(wanted.state == state.word());
        push(
            &mut body,
            format_args!(
                "<a href=\"?state={state}&amp;workflow={workflow}\"{is_it}>{state} {count}</a>"
            ),
        );
    }
    push(
        &mut body,
        format_args!(
            "</nav><form><input type=hidden name=state value=\"{}\"><label>Workflow <input name=workflow value=\"{}\"></label> <button>Show</button></form>",
            Text(&wanted.state),
            Text(&wanted.workflow)
        ),
    );
    if runs.is_empty() {
        body.push_str("<p>There are none.</p>");
        return whole("Tasks", &body);
    }
    body.push_str(
        "<div class=scroll><table><thead><tr><th>Task<th>Workflow<th>State<th>Failures<th>Changed<th>Why it failed last</thead><tbody>",
    );
    for run in runs {
        push(
            &mut body,
            format_args!(
                "<tr><td><a href=\"tasks/{id}\">{id}</a><td>{} {}<td class={state}>{state}<td class=number>{}<td>{}<td class=text>{}",
                Text(&run.workflow),
                run.version,
                run.failures,
                time(run.updated_at),
                Text(run.error.as_deref().unwrap_or_default()),
                id = run.id,
                state = run.state,
            ),
        );
    }
    body.push_str("</tbody></table></div>");
    if let Some(last) = runs.last().filter(|_| is_full) {
        push(
            &mut body,
            format_args!(
                "<p><a href=\"?state={}&amp;workflow={workflow}&amp;before={}\">Older tasks</a></p>",
                Part(&wanted.state),
                last.id
            ),
        );
    }
    whole("Tasks", &body)
}

pub(super) fn task(Progress { run, history }: &Progress) -> String {
    let mut body = format!(
        "<p><a href=\"../\">All tasks</a></p><h1>Task {}</h1><dl>",
        run.id
    );
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let owner = run.owner.as_ref().map(ToString::to_string);
    push(
        &mut body,
        format_args!("<dt>State<dd class={state}>{state}", state = run.state),
    );
    for (name, value) in [
        ("Workflow", format!("{} {}", run.workflow, run.version)),
        ("Key", run.key.clone()),
        ("Queue", format!("{}, priority {}", run.queue, run.priority)),
        (
            "Failures",
            format!("{} of {}", run.failures, run.max_failures),
        ),
        ("Owner", owner.unwrap_or_default()),
        ("Submitted", run.created_at.to_string()),
        ("Changed", run.updated_at.to_string()),
        (
            "Complete by",
            run.complete_by.map(|by| by.to_string()).unwrap_or_default(),
        ),
        ("Why it failed last", optional(&run.error)),
        ("Arguments", run.input.clone()),
        ("Answer", optional(&run.output)),
    ] {
        if !value.is_empty() {
            push(&mut body, format_args!("<dt>{name}<dd>{}", Text(&value)));
        }
    }
    body.push_str("</dl><h2>Steps</h2>");
    if history.is_empty() {
        body.push_str("<p>Nothing has happened yet.</p>");
    } else {
        body.push_str("<div class=scroll><table><thead><tr><th>Step<th>Name<th>What<th>When<th>Answer or error</thead><tbody>");
        for record in history {
            row(&mut body, record);
        }
        body.push_str("</tbody></table></div>");
    }
    whole(&format!("Task {}", run.id), &body)
}

fn row(body: &mut String, record: &Record) {
    let what = match record.kind {
        Kind::Begun => "begun",
        Kind::Done => "done",
        Kind::Failed => "failed",
        Kind::Undone => "undone",
    };
    let answer = record.error.as_ref().or(record.result.as_ref());
    let answer = answer.map(String::as_str).unwrap_or_default();
    push(
        body,
        format_args!(
            "<tr><td class=number>{}<td>{}<td class={what}>{what}<td>{}<td class=text>{}",
            record.seq,
            Text(&record.name),
            time(record.at),
            Text(answer),
        ),
    );
}

fn time(time: crate::Time) -> String {
    format!("<time>{time}</time>")
}

fn push(body: &mut String, more: fmt::Arguments<'_>) {
    // Writing to a text does not fail.
    let _ = body.write_fmt(more);
}
