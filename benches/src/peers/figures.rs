//! What is measured for the table: every case once, two at a time where there are two cores. Callgrind counts
//! the same whatever else the machine does.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Mutex;
use std::thread;

use super::rows::{Counted, Row};
use super::ways::Way;
use crate::allocations::allocations;
use crate::cases::Run;
use crate::measure::{FEWER, instructions_over};

/// A way, its case, and how often that fails.
type Case = (&'static str, &'static str, u32);

pub(super) struct Figures(BTreeMap<Case, f64>);

impl Figures {
    /// Counts the instructions of all cases of the rows.
    pub(super) fn measured(rows: &[&Row], ways: &[Way]) -> Result<Self, Box<dyn Error>> {
        let mut cases = BTreeSet::new();
        for (row, way) in rows
            .iter()
            .flat_map(|row| ways.iter().map(move |way| (row, way)))
        {
            let needed = needed(row.counted).into_iter();
            let known = needed.filter(|(kind, _)| run(way, kind).is_some());
            cases.extend(known.map(|(kind, failures)| (way.name, kind, failures)));
        }
        let total = cases.len();
        let (cases, counted) = (Mutex::new(cases), Mutex::new(BTreeMap::new()));
        let work = || -> Result<(), String> {
            while let Some(case) = lock(&cases).pop_first() {
                let (way, kind, failures) = case;
                let number = instructions_over(FEWER, &format!("{way}/{kind}"), failures);
                let number = number.map_err(|error| error.to_string())?;
                let mut counted = lock(&counted);
                counted.insert(case, number);
                eprint!("\r{} of {total} cases", counted.len());
            }
            Ok(())
        };
        let workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let mut outcomes = workers.into_iter().map(thread::ScopedJoinHandle::join);
            outcomes.try_for_each(|outcome| outcome.map_err(|_| "a thread panicked".to_owned())?)
        })?;
        eprintln!();
        Ok(Self(lock(&counted).clone()))
    }

    /// The number of a row for a way, if it has one.
    pub(super) fn number(&self, row: &Row, way: &Way) -> Option<f64> {
        let call = |kind, failures| self.0.get(&(way.name, kind, failures)).copied();
        let each =
            |kind, from, to| Some((call(kind, to)? - call(kind, from)?) / f64::from(to - from));
        match row.counted {
            Counted::Call(kind, failures) => call(kind, failures),
            Counted::Retry(kind, from, to) => each(kind, from, to),
            Counted::More(kind, other) => Some(call(kind, 0)? - call(other, 0)?),
            Counted::Delay => {
                let is_loop = super::LOOPS.contains(&way.name);
                let around = if is_loop { each("none", 0, 2)? } else { 0.0 };
                Some(each("delay", 1, 6)? - around)
            }
            Counted::Allocations(kind, failures) => {
                run(way, kind).map(|run| allocations(run, failures))
            }
            Counted::Bytes(kind) => {
                let (_, size) = way.sizes.iter().find(|(name, _)| *name == kind)?;
                u32::try_from(size()).ok().map(f64::from)
            }
        }
    }
}

/// The cases whose instructions a row is made of.
fn needed(counted: Counted) -> Vec<(&'static str, u32)> {
    match counted {
        Counted::Call(kind, failures) => vec![(kind, failures)],
        Counted::Retry(kind, from, to) => vec![(kind, from), (kind, to)],
        Counted::More(kind, other) => vec![(kind, 0), (other, 0)],
        Counted::Delay => vec![("delay", 1), ("delay", 6), ("none", 0), ("none", 2)],
        Counted::Allocations(..) | Counted::Bytes(_) => Vec::new(),
    }
}

fn run(way: &Way, kind: &str) -> Option<Run> {
    super::find(way.name, kind)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
