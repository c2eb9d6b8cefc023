//! How late this machine is at times: what ought to have happened a moment ago may not have had a processor yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::log::{self, At, Record, What};

const STEP: Duration = Duration::from_millis(4);
/// Shorter ones are in the tolerance anyway.
const SHORT: Duration = Duration::from_millis(12);
/// What is tolerated where the machine is not late at all.
const BASE: Duration = Duration::from_millis(60);

pub(crate) struct Watching(Arc<AtomicBool>);

impl Watching {
    pub(crate) fn end(self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Notes what comes late: of threads, and of tasks of this runtime.
pub(crate) fn watch(runtime: &Runtime) -> Watching {
    let ended = Arc::new(AtomicBool::new(false));
    for _ in 0..3 {
        let own = Arc::clone(&ended);
        thread::spawn(move || {
            while !own.load(Ordering::SeqCst) {
                let start = Instant::now();
                thread::sleep(STEP);
                late(start.elapsed());
            }
        });
    }
    let handle = runtime.handle().clone();
    let own = Arc::clone(&ended);
    thread::spawn(move || {
        while !own.load(Ordering::SeqCst) {
            let start = Instant::now();
            let task = handle.spawn(async { tokio::time::sleep(STEP).await });
            while !task.is_finished() {
                thread::sleep(Duration::from_millis(1));
            }
            late(start.elapsed().saturating_sub(Duration::from_millis(2)));
        }
    });
    Watching(ended)
}

fn late(took: Duration) {
    let late = took.saturating_sub(STEP);
    if late > SHORT {
        log::note(0, What::Stall(late));
    }
}

/// The stalls of a run.
#[derive(Debug)]
pub(crate) struct Stalls(Vec<(At, Duration)>);

impl Stalls {
    pub(crate) fn of(records: &[Record]) -> Self {
        let stalls = records.iter().filter_map(|record| match record.what {
            What::Stall(late) => Some((record.at, late)),
            _ => None,
        });
        Self(stalls.collect())
    }

    /// What may be too late, or seem too early, between two moments.
    pub(crate) fn tolerance(&self, from: At, to: At) -> Duration {
        const AROUND: Duration = Duration::from_millis(200);
        let (from, to) = (from.saturating_sub(AROUND), to + AROUND);
        let first = self.0.partition_point(|(at, _)| *at < from);
        let around = self.0[first..]
            .iter()
            .take_while(|(at, late)| at.saturating_sub(*late) <= to);
        BASE + around.map(|(_, late)| *late).max().unwrap_or_default() * 2
    }

    pub(crate) fn longest(&self) -> Duration {
        self.0
            .iter()
            .map(|(_, late)| *late)
            .max()
            .unwrap_or_default()
    }
}
