//! Drawn writes, sweeps and pauses on three stores with one clock: what they return and what they keep is the
//! same. The store in memory, which is the shortest, says what the others should do.
//!
//! * `cargo test -p reattempt-supervisor --test agree` takes seconds, with seeds of its own that it prints.
//! * `-- --seed 17` runs one seed again, `-- --runs 1000` draws as many.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what goes wrong here is the result"
)]

mod draw;
mod ids;
mod place;
#[path = "../../../../examples/servers/mod.rs"]
mod servers;

use std::sync::Arc;
use std::time::Duration;

use draw::{Act, Draw};
use place::Place;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

/// How many acts a run has.
const ACTS: usize = 120;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    // Cargo asks every test program to list its tests.
    if arguments.iter().any(|word| word == "--list") {
        return;
    }
    let option = |name: &str| -> Option<u64> {
        let at = arguments.iter().position(|word| word == name)?;
        Some(arguments[at + 1].parse().unwrap())
    };
    let seed = option("--seed");
    let seeds = seed.map_or_else(
        || {
            (0..option("--runs").unwrap_or(6))
                .map(|_| rand::random())
                .collect()
        },
        |seed| vec![seed],
    );
    let runtime = Arc::new(tokio::runtime::Runtime::new().unwrap());
    let server = servers::Server::postgres();
    for (nth, seed) in seeds.into_iter().enumerate() {
        println!("seed {seed}");
        let stores = Place::all(&runtime, server.as_ref(), nth);
        run(stores, StdRng::seed_from_u64(seed));
    }
}

/// Lets the stores do the same, until what one returns or keeps is something else.
fn run(mut stores: Vec<Place>, random: StdRng) {
    let mut draw = Draw::new(random, stores[0].now());
    let mut log = Vec::new();
    for nth in 0..ACTS {
        let act = draw.act();
        log.push(format!("act {nth}: {act:?}"));
        if let Act::Pass(time) = act {
            draw.now = draw.now.after(time);
        }
        let mut seen = stores.iter_mut().map(|store| store.run(&act));
        let first = seen.next().unwrap();
        let others: Vec<_> = seen.zip(["sqlite", "postgres"]).collect();
        let differs = others
            .iter()
            .filter(|(other, _)| other.lines != first.lines);
        let differences: Vec<_> = differs
            .map(|(other, store)| difference(store, &first.lines, &other.lines))
            .collect();
        if !differences.is_empty() {
            let from = log.len().saturating_sub(12);
            panic!("{}\n{}", log[from..].join("\n"), differences.join("\n"));
        }
        draw.learn(first);
    }
}

/// Returns the lines that two stores do not share.
fn difference(store: &str, memory: &[String], other: &[String]) -> String {
    let only = |these: &[String], those: &[String]| {
        let only = these.iter().filter(|line| !those.contains(line));
        only.map(String::as_str).collect::<Vec<_>>().join("\n  ")
    };
    format!(
        "memory:\n  {}\n{store}:\n  {}",
        only(memory, other),
        only(other, memory)
    )
}

/// Seconds.
const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
