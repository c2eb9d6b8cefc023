//! The table.

use crate::place::Kind;
use crate::rounds::{LOADS, Measured, Row};

pub fn print(rows: &[Row]) {
    println!("\n| store | each step | | durability |{}", heads());
    println!("|---|---|---|---|---:|---:|---:|");
    for row in rows {
        let cells = row.measured.iter().map(|rounds| match rates(rounds) {
            _ if rounds.is_empty() => String::new(),
            (rate, lowest, highest) => format!("{rate:.0} ({lowest:.0} to {highest:.0})"),
        });
        print_row(row, row.name, row.durability, cells);
        if row.is_ours() {
            let times = (0..LOADS.len()).map(|load| beside(row, rows, load));
            let name = format!("{}, beside the best peer of the round", row.name);
            print_row(row, &name, "", times);
        }
    }
    println!("\n| ours, submit to start | each step | in flight | median | 99 % |");
    println!("|---|---|---:|---:|---:|");
    for row in rows {
        for (rounds, (in_flight, _)) in row.measured.iter().zip(LOADS) {
            let started: Vec<_> = rounds.iter().filter_map(|one| one.started).collect();
            if !started.is_empty() {
                println!(
                    "| {}, {} | {} | {in_flight} | {:.2} ms | {:.2} ms |",
                    row.kind.name(),
                    row.durability,
                    row.work.name(),
                    median(started.iter().map(|one| one.0)) * 1e3,
                    median(started.iter().map(|one| one.1)) * 1e3,
                );
            }
        }
    }
}

fn heads() -> String {
    let heads = LOADS.map(|(in_flight, pool)| match in_flight {
        1 => " 1 in flight |".to_owned(),
        _ => format!(" {in_flight} in flight, peers with a pool of {pool} |"),
    });
    heads.concat()
}

fn print_row(row: &Row, name: &str, durability: &str, cells: impl Iterator<Item = String>) {
    let (kind, work) = (row.kind.name(), row.work.name());
    let cells: Vec<String> = cells.collect();
    println!(
        "| {kind} | {work} | {name} | {durability} | {} |",
        cells.join(" | ")
    );
}

/// How many times as fast ours is as the best of the others on the same store in the same round: the median, the lowest and
/// the highest. Ours, which has one pool, is compared with the peers' second, too.
fn beside(ours: &Row, rows: &[Row], load: usize) -> String {
    let is_beside =
        |other: &&Row| !other.is_ours() && other.kind == ours.kind && other.work == ours.work;
    let others: Vec<_> = rows.iter().filter(is_beside).collect();
    let own = ours.measured[..=load]
        .iter()
        .rfind(|rounds| !rounds.is_empty());
    let times = own
        .into_iter()
        .flatten()
        .enumerate()
        .filter_map(|(round, own)| {
            let rates = others
                .iter()
                .filter_map(|other| other.measured[load].get(round));
            let best = rates.map(|measured| measured.rate).max_by(f64::total_cmp)?;
            Some(Measured {
                rate: own.rate / best,
                started: None,
            })
        });
    let times: Vec<_> = times.collect();
    if times.is_empty() {
        return String::new();
    }
    let (middle, lowest, highest) = rates(&times);
    format!("**{middle:.1}x** ({lowest:.1} to {highest:.1})")
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
