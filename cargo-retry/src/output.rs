//! What is written to the terminal, and in which form.

use std::io::{self, ErrorKind, Write as _};

use serde::Serialize;

/// Whether standard output is a terminal that colours are welcome on (`NO_COLOR`, `CLICOLOR`, `TERM`).
pub(crate) fn has_colours() -> bool {
    let choice = anstream::AutoStream::choice(&io::stdout());
    !matches!(choice, anstream::ColorChoice::Never)
}

/// Writes `value` as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    print(&text)
}

/// Writes `text` to standard output. Who reads no further has read enough.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}
