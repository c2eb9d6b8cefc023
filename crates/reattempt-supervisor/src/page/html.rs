//! What the pages are built of. Every text of a task is escaped.

use std::fmt::{self, Write as _};

use super::session::{Role, Session};

const STYLE: &str = include_str!("style.css");

/// A text from outside, with the characters of HTML escaped.
pub(super) struct Text<'t>(pub(super) &'t str);

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
pub(super) struct Part<'t>(pub(super) &'t str);

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
pub(super) fn whole_page(title: &str, body: &str) -> String {
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

/// Returns the field that shows that a form is one of the session.
pub(super) fn form_field(session: &Session) -> String {
    format!("<input type=hidden name=form value={}>", session.form)
}

/// Returns the field for a reason, and what chooses a command.
pub(super) fn command_fields(session: &Session, commands: &[&str]) -> String {
    let options = commands.iter().map(|command| format!("<option>{command}"));
    format!(
        "{}<label>Command <select name=command>{}</select></label> <label>Why <input name=why required></label>",
        form_field(session),
        options.collect::<String>()
    )
}

/// Returns a text that only an operator may see that may give commands.
pub(super) fn private<'t>(session: &Session, text: &'t str) -> &'t str {
    match session.role {
        Role::Look if !text.is_empty() => "hidden from your role",
        Role::Look | Role::Act => text,
    }
}

pub(super) fn time(time: crate::time::Time) -> String {
    format!("<time>{time}</time>")
}

pub(super) fn push(body: &mut String, more: fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = body.write_fmt(more);
}
