//! A service that fails, and a subscriber that keeps its lines as JSON.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tracing::dispatcher::DefaultGuard;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::capture::capture;

/// What the service says when it fails.
#[derive(Debug)]
pub(crate) struct Declined(pub(crate) u16);

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}", self.0)
    }
}

impl std::error::Error for Declined {}

/// Lines of `tracing` of this thread, as `tracing_subscriber` writes them for machines.
pub(crate) struct Lines {
    written: Written,
    _subscriber: DefaultGuard,
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// From now on, of this level and more important ones.
    pub(crate) fn keep(level: tracing::Level) -> Self {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .with_max_level(level)
            .with_span_events(FmtSpan::NONE)
            .with_writer(move || writer.clone())
            .finish();
        Self {
            written,
            _subscriber: capture(subscriber),
        }
    }

    /// Those of this crate since the last time.
    pub(crate) fn take(&self) -> Vec<Value> {
        let written = std::mem::take(&mut *self.written.0.lock().unwrap());
        let lines = String::from_utf8(written).unwrap();
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        lines
            .filter(|line: &Value| line["target"] != "elsewhere")
            .collect()
    }
}

/// `LEVEL message` of each line.
pub(crate) fn reported(lines: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let reported = |line: &Value| {
        format!(
            "{} {}",
            text(&line["level"]),
            text(&line["fields"]["message"])
        )
    };
    lines.iter().map(reported).collect()
}
