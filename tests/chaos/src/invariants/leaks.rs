//! After the storm: everything works again, and nothing is left behind.

use super::Violation;
use crate::tales::Run;

/// Every operation succeeds, every breaker is closed, and what dropped calls held is there again.
pub(super) fn recovered(run: &Run<'_>) -> Vec<Violation> {
    let at = run.counts.storm_ended;
    let unwell = run.counts.unwell.iter();
    unwell
        .map(|what| Violation::new(at, 0, what.clone()))
        .collect()
}

/// As many tasks and open files as before, and hardly more memory than in the middle.
pub(super) fn leaks(run: &Run<'_>) -> Vec<Violation> {
    const MEMORY: usize = 24 << 20;
    let counts = run.counts;
    let mut found = Vec::new();
    let mut wrong = |what: String| found.push(Violation::new(counts.storm_ended, 0, what));
    let (before, after) = counts.tasks;
    if after > before {
        wrong(format!(
            "{after} tasks are left, and there were {before} at the beginning"
        ));
    }
    let (before, after) = counts.sockets;
    if after > before {
        wrong(format!(
            "{after} files are open, and there were {before} at the beginning"
        ));
    }
    let (middle, end) = counts.bytes;
    if end > middle + MEMORY {
        let (middle, end) = (middle >> 20, end >> 20);
        wrong(format!(
            "{middle} MiB in the middle and {end} MiB at the end"
        ));
    }
    found
}
