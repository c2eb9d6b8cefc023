//! How late this machine is at times: what ought to have happened a moment ago may not have had a processor yet.

use std::collections::BTreeMap;
use std::fs;
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

/// Notes what comes late: of threads, and of tasks of this runtime; and how long each thread waits for a processor.
pub(crate) fn watch(runtime: &Runtime) -> Watching {
    let ended = Arc::new(AtomicBool::new(false));
    let own = Arc::clone(&ended);
    thread::spawn(move || {
        let mut before = BTreeMap::new();
        while !own.load(Ordering::SeqCst) {
            let start = Instant::now();
            thread::sleep(STEP);
            late(start.elapsed());
            waited(&mut before);
        }
    });
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

/// By the account that the system keeps of each thread, since the last look at it.
fn waited(before: &mut BTreeMap<u32, u64>) {
    const LEAST: u64 = 1_000_000;
    for entry in fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name();
        let thread = name.to_str().and_then(|name| name.parse().ok());
        let account = fs::read_to_string(entry.path().join("schedstat")).unwrap_or_default();
        let nanos = account
            .split(' ')
            .nth(1)
            .and_then(|nanos| nanos.parse().ok());
        let (Some(thread), Some(nanos)) = (thread, nanos) else {
            continue;
        };
        let last = before.entry(thread).or_insert(nanos);
        if nanos - *last >= LEAST {
            let long = Duration::from_nanos(nanos - *last);
            log::note(0, What::Waited { thread, long });
            *last = nanos;
        }
    }
}

/// The stalls of a run.
#[derive(Debug)]
pub(crate) struct Stalls {
    late: Vec<(At, Duration)>,
    /// Of each thread, all that it had waited up to a moment.
    waited: BTreeMap<u32, Vec<(At, Duration)>>,
}

impl Stalls {
    pub(crate) fn of(records: &[Record]) -> Self {
        let mut stalls = Self {
            late: Vec::new(),
            waited: BTreeMap::new(),
        };
        for record in records {
            match record.what {
                What::Stall(late) => stalls.late.push((record.at, late)),
                What::Waited { thread, long } => {
                    let list = stalls.waited.entry(thread).or_default();
                    let all = list.last().map_or(long, |(_, all)| *all + long);
                    list.push((record.at, all));
                }
                _ => (),
            }
        }
        stalls
    }

    /// What may be too late, or seem too early, between two moments.
    pub(crate) fn tolerance(&self, from: At, to: At) -> Duration {
        const AROUND: Duration = Duration::from_millis(200);
        const LOOK: Duration = Duration::from_millis(40);
        let early = from.saturating_sub(AROUND);
        let first = self.late.partition_point(|(at, _)| *at < early);
        let late = self.late[first..].iter();
        let late = late.take_while(|(at, late)| at.saturating_sub(*late) <= to + AROUND);
        let late = late.map(|(_, late)| *late).max().unwrap_or_default();
        let waited = self.waited.values().map(|list| {
            let until = |at: At| match list.partition_point(|(moment, _)| *moment <= at) {
                0 => Duration::ZERO,
                n => list[n - 1].1,
            };
            until(to + LOOK).saturating_sub(until(from.saturating_sub(LOOK)))
        });
        BASE + late * 2 + waited.max().unwrap_or_default()
    }

    pub(crate) fn longest(&self) -> Duration {
        self.late
            .iter()
            .map(|(_, late)| *late)
            .max()
            .unwrap_or_default()
    }
}
