//! What one more function costs: a program with many of them compared with one that has none.

use std::error::Error;

use super::crates::{Crate, Folder};
use super::sources::{WAYS, Way};
use crate::matrix::Matrix;
use crate::median::median;

const FUNCTIONS: u32 = 200;
const ROUNDS: usize = 3;

const CHECK: &[&str] = &["check"];
const RELEASE: &[&str] = &["build", "--release"];

/// One way, with the functions and without.
struct Pair {
    many: Crate,
    none: Crate,
    check: Vec<f64>,
    release: Vec<f64>,
}

impl Pair {
    fn add(folder: &Folder, number: usize, way: &Way) -> Result<Self, Box<dyn Error>> {
        let add = |count| {
            let name = format!("way-{number}-{count}");
            folder.add(&name, "target", &way.dependencies(), way.program(count))
        };
        let (many, none) = (add(FUNCTIONS)?, add(0)?);
        // What they depend on is no cost of a function.
        for built in [&many, &none] {
            built.timed(CHECK)?;
            built.timed(RELEASE)?;
        }
        Ok(Self {
            many,
            none,
            check: Vec::new(),
            release: Vec::new(),
        })
    }

    fn round(&mut self) -> Result<(), Box<dyn Error>> {
        for (words, differences) in [(CHECK, &mut self.check), (RELEASE, &mut self.release)] {
            differences.push(self.many.renewed(words)? - self.none.renewed(words)?);
        }
        Ok(())
    }

    fn code(&self) -> Result<f64, Box<dyn Error>> {
        Ok((self.many.code()? - self.none.code()?) / f64::from(FUNCTIONS))
    }
}

pub(super) fn matrix(folder: &Folder) -> Result<Matrix, Box<dyn Error>> {
    let pairs = WAYS.iter().enumerate();
    let pairs = pairs.map(|(number, way)| Pair::add(folder, number, way));
    let mut pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    for _ in 0..ROUNDS {
        for pair in &mut pairs {
            pair.round()?;
        }
    }
    let plain = pairs.first().map_or(Ok(0.0), Pair::code)?;
    let columns = ["check, ms", "release, ms", "code, bytes", "over plain"];
    let mut matrix = Matrix::new("one more async function", &columns);
    let each = |differences| Some(median(differences) * 1e3 / f64::from(FUNCTIONS));
    for (way, pair) in WAYS.iter().zip(pairs) {
        let code = pair.code()?;
        let (check, release) = (each(pair.check), each(pair.release));
        matrix.row(
            way.title,
            vec![check, release, Some(code), Some(code - plain)],
        );
    }
    Ok(matrix)
}
