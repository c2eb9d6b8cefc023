//! What is measured for the table: every case once, two at a time where there are two cores. Callgrind counts
//! the same whatever else the machine does.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
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
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let mut shares = vec![Vec::new(); workers];
        for (share, case) in (0..workers).cycle().zip(cases) {
            shares[share].push(case);
        }
        let mut counted = BTreeMap::new();
        thread::scope(|scope| -> Result<(), Box<dyn Error>> {
            let work = |cases: &[Case]| {
                let asked = cases
                    .iter()
                    .map(|(way, kind, failures)| (format!("{way}/{kind}"), *failures));
                let asked: Vec<_> = asked.collect();
                instructions_over(FEWER, &asked).map_err(|error| error.to_string())
            };
            let workers = shares.iter().map(|share| scope.spawn(move || work(share)));
            let workers: Vec<_> = workers.collect();
            for (share, worker) in shares.iter().zip(workers) {
                let numbers = worker.join().map_err(|_| "a thread panicked")??;
                counted.extend(share.iter().copied().zip(numbers));
            }
            Ok(())
        })?;
        let mut built = BTreeMap::new();
        if rows
            .iter()
            .any(|row| matches!(row.counted, Counted::Built(_)))
        {
            built.extend(costs(|name| ways.iter().any(|way| way.name == name))?);
        }
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
