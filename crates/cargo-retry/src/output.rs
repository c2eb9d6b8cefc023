//! What is written to the terminal, and in which form.

use std::error::Error;
use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use serde::Serialize;

/// Whether standard output is a terminal that colours are welcome on (`NO_COLOR`, `CLICOLOR`, `TERM`).
pub(crate) fn has_colours() -> bool {
    let choice = anstream::AutoStream::choice(&io::stdout());
    !matches!(choice, anstream::ColorChoice::Never)
}

/// `text` without what a terminal would obey: names and paths may hold it. Other characters and new lines stay.
pub(crate) fn shown(text: &impl ToString) -> String {
    written(&text.to_string(), |c| format!("\\u{{{:x}}}", u32::from(c)))
}

/// The same for a text that is JSON.
pub(crate) fn shown_in_json(text: &str) -> String {
    written(text, |c| format!("\\u{:04x}", u32::from(c)))
}

fn written(text: &str, as_text: impl Fn(char) -> String) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) {
            shown += &as_text(c);
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether a terminal does something else with it than to show it; the last ones turn the direction of writing.
fn is_obeyed(c: char) -> bool {
    let is_control = c.is_control() && c != '\n';
    is_control || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Writes `value` as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    coloured(&shown_in_json(&text))
}

/// Writes `text` to standard output, with nothing in it that a terminal obeys.
pub(crate) fn print(text: &str) -> io::Result<()> {
    coloured(&shown(&text))
}

/// Writes a picture to a file; `-` is standard output.
pub(crate) fn write_picture(path: &Path, svg: &str) -> Result<(), Box<dyn Error>> {
    if path == Path::new("-") {
        return Ok(print(svg)?);
    }
    fs::write(path, svg).map_err(|fault| {
        let path = path.display();
        format!("cannot write `{path}` ({fault}); check the folder and its permissions").into()
    })
}

/// Writes `text` to standard output, colours of ours included: what is somebody else's in it went through [`shown`]. Who
/// reads no further has read enough.
pub(crate) fn coloured(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}
