//! What is measured for the table: every case once, two at a time where there are two cores. Callgrind counts
//! the same whatever else the machine does.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{self, IsTerminal as _};
use std::sync::Mutex;
use std::thread;

use super::rows::{Counted, Row};
use super::ways::Way;
use crate::allocations::allocations;
use crate::building::functions::{Cost, costs};
use crate::cases::Run;
use crate::measure::{FEWER, instructions_over};

/// A way, its case, and how often that fails.
type Case = (&'static str, &'static str, u32);

pub(super) struct Figures {
    counted: BTreeMap<Case, f64>,
    built: BTreeMap<&'static str, Cost>,
}

impl Figures {
    /// Counts the instructions of all cases of the rows.
    pub(super) fn measured(rows: &[&Row], ways: &[Way]) -> Result<Self, Box<dyn Error>> {
        let mut cases = BTreeSet::new();
        for (row, way) in rows
            .iter()
            .flat_map(|row| ways.iter().map(move |way| (row, way)))
        {
            let terms = row.counted.terms(way.is_loop()).into_iter();
            let known = terms.filter(|(kind, ..)| run(way, kind).is_some());
            cases.extend(known.map(|(kind, failures, _)| (way.name, kind, failures)));
        }
        let (total, is_watched) = (cases.len(), io::stderr().is_terminal());
        let (cases, counted) = (Mutex::new(cases), Mutex::new(BTreeMap::new()));
        let work = || -> Result<(), String> {
            while let Some(case) = lock(&cases).pop_first() {
                let (way, kind, failures) = case;
                let number = instructions_over(FEWER, &format!("{way}/{kind}"), failures);
                let number = number.map_err(|error| error.to_string())?;
                let mut counted = lock(&counted);
                counted.insert(case, number);
                if is_watched {
                    eprint!("\r{} of {total} cases", counted.len());
                }
            }
            Ok(())
        };
        let workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let mut outcomes = workers.into_iter().map(thread::ScopedJoinHandle::join);
            outcomes.try_for_each(|outcome| outcome.map_err(|_| "a thread panicked".to_owned())?)
        })?;
        if is_watched {
            eprintln!();
        }
        let mut built = BTreeMap::new();
        if rows
            .iter()
            .any(|row| matches!(row.counted, Counted::Built(_)))
        {
            built.extend(costs(|name| ways.iter().any(|way| way.name == name))?);
        }
        let counted = lock(&counted).clone();
        Ok(Self { counted, built })
    }

    /// The number of a row for a way, if it has one.
    pub(super) fn number(&self, row: &Row, way: &Way) -> Option<f64> {
        match row.counted {
            Counted::Allocations(kind, failures) => {
                run(way, kind).map(|run| allocations(run, failures))
            }
            Counted::Bytes(kind) => {
                let size = super::size(way.name, kind)?;
                u32::try_from(size()).ok().map(f64::from)
            }
            Counted::Built(figure) => self.built.get(way.name).map(figure),
            counted => {
                let terms = counted.terms(way.is_loop()).into_iter();
                let mut counts = terms
                    .map(|(kind, k, times)| Some(self.counted.get(&(way.name, kind, k))? * times));
                counts.try_fold(0.0, |sum, count| Some(sum + count?))
            }
        }
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
