//! `--bounds`: what the project promises, beside the best library and two loops by hand. The policy is that of
//! `--peers`; where nothing else is said every error is retried, and is 8 bytes large.

mod bare;
mod bodies;
mod client;
mod hand;
mod libraries;
mod lists;
mod ours;
mod over;
mod rows;

use std::error::Error;
use std::process::Command;

use super::figures::Figures;
use super::rows::Counted;
use super::ways::Way;
use super::{resilience, services};
use crate::matrix::Matrix;
use crate::measure;
use crate::table::{Numbers, short};
use over::{Kept, committed};
use rows::{BUILDS, Bounded, Build};

pub(super) const WAYS: &[Way] = &[
    bare::WAY,
    hand::NAIVE,
    hand::COLD,
    ours::WAY,
    ours::ALIAS,
    libraries::backon::WAY,
    super::backon_macros::WAY,
    libraries::tokio_retry2::WAY,
    libraries::tokio_retry::WAY,
    libraries::retry::WAY,
    libraries::tryhard::WAY,
    libraries::backoff::WAY,
    libraries::retrying::WAY,
    libraries::retry_if::WAY,
    libraries::retry_block::WAY,
    services::TOWER,
    resilience::WAY,
    super::breakers::FAILSAFE,
];

/// The ways that are no libraries, which stand in front.
const OWN: usize = 5;

const COLUMNS: &[&str] = &[
    "bare",
    "hand",
    "hand, cold",
    "best library",
    "ours",
    "ours, alias",
    "bound",
];

/// What of the bounds is looked at: the rows whose title contains `word`.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) word: &'a str,
    /// Without the libraries, and without programs of 200 functions unless `word` asks for them: they take most of the time.
    pub(crate) is_quick: bool,
    pub(crate) markdown: bool,
}

impl Asked<'_> {
    fn rows(self, build: &Build) -> Vec<&'static Bounded> {
        let mut rows = build.rows(self.word);
        if self.is_quick && self.word.is_empty() {
            rows.retain(|bounded| !matches!(bounded.row.counted, Counted::Built(_)));
        }
        rows
    }
}

/// Prints the rows of all builds; it is an error if one is not as it should be.
pub(crate) fn check(asked: Asked<'_>) -> Result<(), Box<dyn Error>> {
    match print(asked)? {
        0 => Ok(()),
        broken => Err(format!("{broken} rows or builds are not as they should be").into()),
    }
}

/// Prints them, and returns how many rows are not, of this build, and how many builds.
pub(crate) fn print(asked: Asked<'_>) -> Result<usize, Box<dyn Error>> {
    let mut broken = 0;
    let current = BUILDS.iter().filter(|build| build.is_current());
    for build in current.filter(|build| !asked.rows(build).is_empty()) {
        broken += print_build(build, asked)?;
    }
    // They are other programs. One that has a feature is such a one, and prints its own rows.
    let others = BUILDS.iter().filter(|_| BUILDS[0].is_current()).skip(1);
    for build in others.filter(|build| !asked.rows(build).is_empty()) {
        let mut words = vec!["--bounds"];
        words.extend(asked.is_quick.then_some("--only"));
        words.extend((!asked.word.is_empty()).then_some(asked.word));
        words.extend(asked.markdown.then_some("--markdown"));
        let done = Command::new("cargo")
            .args(["run", "--quiet", "--release", "-p", "reattempt-benches"])
            .args(["--features", build.feature, "--"])
            .args(words)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()?;
        broken += usize::from(!done.success());
    }
    Ok(broken)
}

fn print_build(build: &Build, asked: Asked<'_>) -> Result<usize, Box<dyn Error>> {
    let rows = asked.rows(build);
    let ways = if asked.is_quick { &WAYS[..OWN] } else { WAYS };
    let counted: Vec<_> = rows.iter().map(|row| &row.row).collect();
    let figures = Figures::measured(&counted, ways)?;
    let mut matrix = Matrix::new("bounds", COLUMNS);
    // Which this makes anew.
    let committed = if asked.markdown {
        String::new()
    } else {
        committed()?
    };
    let mut broken = 0;
    for Bounded { row, bound } in rows {
        let numbers: Vec<_> = ways.iter().map(|way| figures.number(row, way)).collect();
        let &[bare, naive, cold, ours, alias, ..] = numbers.as_slice() else {
            continue;
        };
        let libraries = ways.iter().zip(&numbers).skip(OWN);
        let known = libraries.filter_map(|(way, number)| Some((way, (*number)?)));
        let best = known.min_by(|(_, a), (_, b)| a.total_cmp(b));
        let mut remark: Vec<_> = best.map(|(way, _)| way.described()).into_iter().collect();
        let hand = [naive, cold].into_iter().flatten().reduce(f64::min);
        // The worse one, however the type is spelled.
        let worse = [ours, alias].into_iter().flatten().reduce(f64::max);
        let worse = worse.ok_or_else(|| format!("nothing is measured for `{}`", row.title))?;
        let numbers = Numbers {
            bare,
            hand: hand.unwrap_or(f64::NAN),
            ours: worse,
        };
        let limit = bound.limit(&numbers, ["bare", "hand"]);
        let (limit, origin) = limit.ok_or_else(|| format!("`{}` has no bound", row.title))?;
        let kept = Kept::of(row.title, worse, limit, &committed);
        broken += usize::from(kept.is_broken());
        remark.push(format!("{kept}{origin}"));
        let best = best.map(|(_, number)| number);
        let numbers = vec![bare, naive, cold, best, ours, alias, Some(limit)];
        matrix.remarked(row.title, numbers, remark.join("; "));
    }
    if !build.words.is_empty() {
        println!("\n{}", build.words);
    }
    matrix.print(asked.markdown);
    Ok(broken)
}

/// Prints in which functions the instructions of rows are, as far as this build has them.
pub(crate) fn attribute(word: &str) -> Result<(), Box<dyn Error>> {
    let builds = BUILDS.iter().filter(|build| build.is_current());
    for Bounded { row, .. } in builds.flat_map(|build| build.rows(word)) {
        for way in [&ours::WAY, &ours::ALIAS] {
            let terms = row.counted.terms(way.is_loop());
            let terms: Vec<_> = terms
                .into_iter()
                .filter(|(kind, ..)| super::find(way.name, kind).is_some())
                .map(|(kind, failures, times)| (format!("{}/{kind}", way.name), failures, times))
                .collect();
            if terms.is_empty() {
                continue;
            }
            let functions = measure::functions(&terms)?;
            let total = functions.iter().map(|(_, number)| number).sum();
            println!("\n{}, {}: {}", row.title, way.name, short(total));
            for (name, number) in functions {
                println!("{:>8}  {name}", short(number));
            }
        }
    }
    Ok(())
}
