//! What the program says of a policy: its JSON.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct Said {
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) rest: Option<Rest>,
    pub(crate) never: Option<u32>,
    pub(crate) deadline_ns: Option<u64>,
    pub(crate) timeout_ns: Option<u64>,
    pub(crate) worst_case: Worst,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) number: u32,
    pub(crate) delay: Option<Delay>,
    pub(crate) start: Start,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Delay {
    pub(crate) least_ns: u64,
    pub(crate) longest_ns: u64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Start {
    pub(crate) earliest_ns: u64,
    pub(crate) latest_ns: u64,
    pub(crate) is_certain: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Rest {
    pub(crate) from: u32,
    pub(crate) to: Option<u32>,
    pub(crate) least_ns: u64,
    pub(crate) longest_ns: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Worst {
    pub(crate) attempts: Option<u32>,
    pub(crate) load: Option<u32>,
    pub(crate) sleeping_ns: Option<u64>,
    pub(crate) wall_ns: Option<u64>,
}

impl Said {
    /// The longest that an attempt takes here: nothing where nothing bounds it.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout_ns.map_or(Duration::ZERO, Duration::from_nanos)
    }
}

/// Where an attempt of this number stands in the list.
pub(crate) fn attempts(number: u32) -> usize {
    usize::try_from(number).unwrap() - 1
}

/// What the program says of each of them.
pub(crate) fn explain(texts: &[&str]) -> Vec<Said> {
    let mut all = Vec::new();
    // A few at a time: most of it is waiting.
    for some in texts.chunks(8) {
        let running: Vec<Child> = some.iter().map(|text| start(text)).collect();
        for (child, text) in running.into_iter().zip(some) {
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{text}");
            let said = serde_json::from_slice(&output.stdout);
            all.push(said.unwrap_or_else(|fault| panic!("{text}: {fault}")));
        }
    }
    all
}

fn start(text: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_cargo-retry"))
        .args(["retry", "explain", "--json", text])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}
