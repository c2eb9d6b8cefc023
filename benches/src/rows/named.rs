//! The rows about named policies: what the name adds to a success.

use super::Row;
use super::limits::limited;
use crate::measure::instructions;
use crate::table::Bound;

pub(super) const ROWS: &[Row] = &[
    Row {
        title: "sync success, named policy",
        bound: Bound::OverHand(5.0),
        number: |way| instructions(&named("sync-small", way), 0),
        bare: true,
    },
    Row {
        title: "async success, named policy",
        bound: Bound::OverHand(5.0),
        number: |way| instructions(&named("async-pending", way), 0),
        bare: true,
    },
];

fn named(function: &str, way: &str) -> String {
    limited(function, "named", way)
}
