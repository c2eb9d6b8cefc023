//! A differential test: random operations on the three stores, with the same clock. Each store must return and
//! keep the same. The store in memory is the model, because it is the simplest.
//!
//! * `cargo test -p reattempt-supervisor --test agree` takes seconds, with seeds of its own that it prints.
//! * `-- --seed 17` runs one seed again, `-- --runs 1000` tries as many.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what goes wrong here is the result"
)]

mod generator;
mod ids;
#[path = "../kit/mod.rs"]
mod kit;
#[path = "../../../../examples/servers/mod.rs"]
mod servers;
mod subject;

use std::sync::Arc;
use std::time::Duration;

use generator::Generator;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use subject::Subject;

/// How many acts a run has.
const OPERATIONS: usize = 120;

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
        let stores = Subject::all(&runtime, server.as_ref(), nth);
        run(stores, StdRng::seed_from_u64(seed));
    }
}

/// Carries out random operations on all stores.
///
/// # Panics
///
/// Panics with the latest operations when a store returns or keeps something else than the first one.
fn run(mut stores: Vec<Subject>, random: StdRng) {
    let mut generator = Generator::new(random, stores[0].now());
    let mut log = Vec::new();
    for nth in 0..OPERATIONS {
        let operation = generator.next();
        log.push(format!("operation {nth}: {operation:?}"));
        let mut seen = stores.iter_mut().map(|store| store.run(&operation));
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
        generator.learn(first, stores[0].now());
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
