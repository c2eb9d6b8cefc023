//! What one more function costs: a program with many of them compared with one that has one.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Mutex, PoisonError};

use super::crates::{Crate, Folder};
use super::sources::{WAYS, Way};
use crate::matrix::Matrix;
use crate::median::median;

const FUNCTIONS: u32 = 200;
const ROUNDS: usize = 3;

const CHECK: &[&str] = &["check"];
const DEBUG: &[&str] = &["build"];
const RELEASE: &[&str] = &["build", "--release"];

/// What a way costs; times are those of processors.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    /// Milliseconds of one more function.
    pub(crate) check: f64,
    pub(crate) debug: f64,
    /// Seconds of a program with 200 functions.
    pub(crate) release: f64,
    /// Bytes of one more function.
    pub(crate) code: f64,
    /// Bytes of a program with one function.
    program: f64,
}

/// Those of these ways, as far as they have functions. Each is measured once.
pub(crate) fn costs(
    is_asked: impl Fn(&str) -> bool,
) -> Result<Vec<(&'static str, Cost)>, Box<dyn Error>> {
    static KNOWN: Mutex<BTreeMap<&str, Cost>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Folder::make()?;
    let asked = WAYS.iter().filter(|way| is_asked(way.name));
    asked
        .map(|way| {
            if !known.contains_key(way.name) {
                let cost = measured(&folder, known.len(), way)?;
                known.insert(way.name, cost);
            }
            Ok((way.name, known[way.name]))
        })
        .collect()
}

fn measured(folder: &Folder, number: usize, way: &Way) -> Result<Cost, Box<dyn Error>> {
    let add = |count: u32| {
        let name = format!("functions-{number}-{count}");
        folder.add(&name, "target", &way.dependencies(), way.program(count))
    };
    let (many, one) = (add(FUNCTIONS)?, add(1)?);
    // What they depend on is no cost of a function.
    for words in [CHECK, DEBUG, RELEASE] {
        one.asked(words)?;
    }
    let more = |words| {
        let rounds = (0..ROUNDS).map(|_| Ok(spent(&many, words)? - spent(&one, words)?));
        let rounds: Result<Vec<_>, Box<dyn Error>> = rounds.collect();
        Ok::<_, Box<dyn Error>>(median(rounds?) * 1e3 / f64::from(FUNCTIONS - 1))
    };
    Ok(Cost {
        check: more(CHECK)?,
        debug: more(DEBUG)?,
        release: spent(&many, RELEASE)?,
        code: (many.size()? - one.size()?) / f64::from(FUNCTIONS - 1),
        program: one.size()?,
    })
}

/// Seconds of processors when nothing but this crate has changed.
fn spent(built: &Crate, words: &[&str]) -> Result<f64, Box<dyn Error>> {
    let before = super::crates::processor()?;
    built.renewed(words)?;
    Ok(super::crates::processor()? - before)
}

pub(super) fn matrix() -> Result<Matrix, Box<dyn Error>> {
    let columns = [
        "check, ms",
        "debug, ms",
        "release of 200, s",
        "code, bytes",
        "program with one, bytes",
    ];
    let mut matrix = Matrix::new("one more async function", &columns);
    for (way, (_, cost)) in WAYS.iter().zip(costs(|_| true)?) {
        let figures = [
            cost.check,
            cost.debug,
            cost.release,
            cost.code,
            cost.program,
        ];
        matrix.row(way.title, figures.map(Some).to_vec());
    }
    Ok(matrix)
}
