//! The budget that an operation has by default, beside none, and beside the rules of others.
//!
//! `cargo test --release -p reattempt-storm --lib -- --ignored default_budget --nocapture` prints what
//! `docs/storms/budgets.txt` has. `STORM_SEED` is the seed, 1 where it is not set.

use super::*;

mod availability;
mod rules;
mod storms;

use rules::Rule;

fn number(count: u64) -> f64 {
    f64::from(u32::try_from(count).expect("a run is short"))
}

/// Prints the tables, which are stored for the seed 1.
#[test]
#[ignore = "it takes minutes; its module has the command"]
fn the_tables() {
    let given = std::env::var("STORM_SEED").ok();
    let seed = given.map_or(1, |it| it.parse().expect("`STORM_SEED` is a number"));
    let (storms, is_right) = storms::table(seed);
    let (availability, faults) = availability::table(seed);
    let tables = format!("{storms}\n\n{availability}\n");
    println!("seed {seed}\n\n{tables}");
    assert!(is_right && faults.is_empty(), "{faults:#?}");

    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/storms/budgets.txt");
    let stored = std::fs::read_to_string(stored).expect("it is in the repository");
    assert!(
        seed != 1 || stored.ends_with(&tables),
        "docs/storms/budgets.txt has others"
    );
}

/// Random, and printed with what fails.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(0) % 10_000
}
