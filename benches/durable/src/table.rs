//! The table.

use crate::place::Kind;
use crate::rounds::{Measured, Row};

pub fn print(rows: &[Row]) {
    println!(
        "\n| store | in flight | | durability | workflows/s (lowest to highest) | beside the best peer |"
    );
    println!("|---|---:|---|---|---:|---:|");
    for row in rows {
        let (rate, lowest, highest) = rates(&row.measured);
        println!(
            "| {} | {} | {} | {} | {rate:.0} ({lowest:.0} to {highest:.0}) | {} |",
            row.kind.name(),
            row.in_flight,
            row.name,
            row.durability,
            beside(row, rows).map_or_else(String::new, |times| format!("{times:.1}x")),
        );
    }
    println!("\n| ours, submit to start | in flight | median | 99 % |");
    println!("|---|---:|---:|---:|");
    for row in rows {
        let started: Vec<_> = row.measured.iter().filter_map(|one| one.started).collect();
        if !started.is_empty() {
            let middle = median(started.iter().map(|one| one.0)) * 1e3;
            let late = median(started.iter().map(|one| one.1)) * 1e3;
            println!(
                "| {} | {} | {middle:.2} ms | {late:.2} ms |",
                row.kind.name(),
                row.in_flight
            );
        }
    }
}

/// How many times as fast ours is as the best of the others on the same store.
fn beside(row: &Row, rows: &[Row]) -> Option<f64> {
    let is_beside = |other: &&Row| {
        other.name != "ours" && other.kind == row.kind && other.in_flight == row.in_flight
    };
    let others = rows.iter().filter(is_beside);
    let best = others.map(|other| rates(&other.measured).0);
    let best = best.max_by(f64::total_cmp)?;
    (row.name == "ours").then(|| rates(&row.measured).0 / best)
}

fn rates(measured: &[Measured]) -> (f64, f64, f64) {
    let rates = || measured.iter().map(|one| one.rate);
    (
        median(rates()),
        rates().fold(f64::INFINITY, f64::min),
        rates().fold(0.0, f64::max),
    )
}

pub fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

pub fn print_grown(tasks: u64, rows: &[(Kind, usize, f64, f64)]) {
    println!("\n| ours | in flight | empty store | with {tasks} finished tasks | cost |");
    println!("|---|---:|---:|---:|---:|");
    for (kind, in_flight, empty, grown) in rows {
        println!(
            "| {} | {in_flight} | {empty:.0}/s | {grown:.0}/s | {:.2}x |",
            kind.name(),
            empty / grown
        );
    }
}
