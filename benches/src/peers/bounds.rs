//! `--bounds`: what the project promises, beside the best library and two loops by hand. The policy is that of
//! `--peers`, every error is retried, and is 8 bytes large.

mod bare;
mod bodies;
mod client;
mod hand;
mod libraries;
mod lists;
#[cfg(feature = "config")]
mod named;
mod ours;
mod rows;

use std::error::Error;

use super::figures::Figures;
use super::ways::Way;
use super::{resilience, services};
use crate::matrix::Matrix;
use crate::table::{Numbers, short};
use rows::{Bounded, rows};

pub(super) const WAYS: &[Way] = &[
    bare::WAY,
    hand::NAIVE,
    hand::COLD,
    ours::WAY,
    libraries::backon::WAY,
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
const OWN: usize = 4;

/// Prints the rows whose title contains `word`; it is an error if one is over its bound.
pub(crate) fn check(word: &str, markdown: bool) -> Result<(), Box<dyn Error>> {
    match print(word, markdown)? {
        0 => Ok(()),
        over => Err(format!("{over} rows are over their bounds").into()),
    }
}

/// Prints them, and returns how many are over their bounds.
pub(crate) fn print(word: &str, markdown: bool) -> Result<usize, Box<dyn Error>> {
    let rows: Vec<_> = rows().filter(|row| row.row.title.contains(word)).collect();
    let counted: Vec<_> = rows.iter().map(|row| &row.row).collect();
    let figures = Figures::measured(&counted, WAYS)?;
    let columns = [
        "bare",
        "hand",
        "hand, cold",
        "best library",
        "ours",
        "bound",
    ];
    let mut matrix = Matrix::new("bounds", &columns);
    let mut over = 0;
    for Bounded { row, bound } in &rows {
        let numbers: Vec<_> = WAYS.iter().map(|way| figures.number(row, way)).collect();
        let &[bare, naive, cold, ours, ..] = numbers.as_slice() else {
            continue;
        };
        let libraries = WAYS.iter().zip(&numbers).skip(OWN);
        let known = libraries.filter_map(|(way, number)| Some((way, (*number)?)));
        let best = known.min_by(|(_, a), (_, b)| a.total_cmp(b));
        let mut remark: Vec<_> = best.map(|(way, _)| way.described()).into_iter().collect();
        let hand = [naive, cold].into_iter().flatten().reduce(f64::min);
        let limit = ours.and_then(|ours| {
            let hand = hand.unwrap_or(f64::NAN);
            let (limit, origin) = bound.limit(&Numbers { bare, hand, ours }, ["bare", "hand"])?;
            let is_over = ours > limit + 0.05;
            over += usize::from(is_over);
            remark.push(if is_over {
                format!("OVER by {}{origin}", short(ours - limit))
            } else {
                format!("ok{origin}")
            });
            Some(limit)
        });
        let numbers = vec![
            bare,
            naive,
            cold,
            best.map(|(_, number)| number),
            ours,
            limit,
        ];
        matrix.remarked(row.title, numbers, remark.join("; "));
    }
    matrix.print(markdown);
    Ok(over)
}
