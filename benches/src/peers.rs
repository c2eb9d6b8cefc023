//! All libraries in one table: the same function with the same policy, as nearly as each has it:
//! at most 5 attempts, 3 where they come without delays, delays from 1 ms on that double up to 20 s,
//! with jitter, for errors that a function picks.

mod backoff;
mod backon;
mod backon_macros;
mod bare;
mod bodies;
pub(crate) mod bounds;
mod breakers;
mod figures;
mod hand;
mod ours;
mod resilience;
mod retry;
mod retry_block;
mod retry_if;
mod retrying;
mod rows;
mod services;
mod tokio_retry;
mod tokio_retry2;
mod tryhard;
mod ways;

use std::error::Error;

use crate::cases::Run;
use crate::matrix::Matrix;
use figures::Figures;
use rows::ROWS;
use ways::{Size, Way};

const WAYS: &[Way] = &[
    bare::WAY,
    hand::WAY,
    ours::WAY,
    ours::ALIAS,
    ours::PLAIN,
    backon::WAY,
    backon_macros::WAY,
    tokio_retry2::WAY,
    tokio_retry::WAY,
    retry::WAY,
    tryhard::WAY,
    backoff::WAY,
    retrying::WAY,
    retry_if::WAY,
    retry_block::WAY,
    services::TOWER,
    resilience::WAY,
    breakers::FAILSAFE,
    breakers::RECLOSER,
];

/// The case of a way.
pub(crate) fn find(way: &str, kind: &str) -> Option<Run> {
    let mut runs = named(way).flat_map(|way| way.runs.iter().copied().flatten());
    let (_, run) = runs.find(|(name, _)| *name == kind)?;
    Some(*run)
}

/// The bytes of a way's future.
fn size(way: &str, kind: &str) -> Option<Size> {
    let (_, size) = named(way)
        .flat_map(|way| way.sizes)
        .find(|(name, _)| *name == kind)?;
    Some(*size)
}

fn named(name: &str) -> impl Iterator<Item = &'static Way> {
    let ways = WAYS.iter().chain(bounds::WAYS);
    ways.filter(move |way| way.name == name)
}

/// Prints the rows whose title contains `word`, and which of them are not as they should be.
pub(crate) fn print(word: &str, markdown: bool) -> Result<(), Box<dyn Error>> {
    let rows: Vec<_> = ROWS.iter().filter(|row| row.title.contains(word)).collect();
    let figures = Figures::measured(&rows, WAYS)?;
    let names: Vec<_> = WAYS.iter().map(|way| way.name).collect();
    let mut matrix = Matrix::new("per call", &names);
    let mut behind = Vec::new();
    for row in rows {
        let numbers: Vec<_> = WAYS.iter().map(|way| figures.number(row, way)).collect();
        let verdict = rows::judged(WAYS, &numbers);
        if !verdict.is_kept {
            behind.push(format!("{}: {}", row.title, verdict.words));
        }
        matrix.remarked(row.title, numbers, verdict.words);
    }
    matrix.print(markdown);
    if behind.is_empty() {
        println!(
            "\nours is the best of the libraries in every row, and within 10 % of the loop by hand"
        );
    } else {
        println!(
            "\nrows where ours is not the best of the libraries, or more than 10 % over the loop by hand:"
        );
        for row in behind {
            println!("- {row}");
        }
    }
    Ok(())
}
