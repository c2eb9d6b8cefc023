//! Kills processes at any moment: every task ends, nothing is recorded twice, and no recorded step
//! runs again.
//!
//! * `cargo test -p reattempt-supervisor --test crash` kills some dozens of workers.
//! * `-- --kills 1000 --store sqlite` kills 1000.
//! * `-- --kills 0 --store postgres --crowd 10000` gives 10,000 tasks to twelve processes.
//! * `-- --store postgres --chaos 240` kills, suspends and cuts off three workers for four minutes,
//!   and restarts their server.
//! * `-- --store sqlite --hell 1000` gives a database 1,000 faults of its machine and of its neighbours.
//! * `-- --kills 0 --crowd 0 --gather 5000` kills the worker of a parent that gathers 5000 children.
//! * `-- --beside [PROGRAM]` runs an earlier build of this test, or itself, beside it; `scripts/rolling` makes one.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what goes wrong here is the result"
)]

#[cfg(feature = "postgres")]
mod chaos;
mod crowd;
mod gather;
#[cfg(feature = "postgres")]
mod hell;
mod judge;
mod killer;
#[path = "../kit/mod.rs"]
mod kit;
mod ledger;
#[cfg(feature = "postgres")]
#[path = "../proxy/mod.rs"]
mod proxy;
mod rolling;
mod servers;
mod stopped;
mod stores;
mod turns;
mod work;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

/// The options of the run.
#[derive(Debug, Clone)]
struct Options {
    kills: u32,
    seed: u64,
    stores: Vec<String>,
    /// Tasks for many processes at once, on a server that is restarted.
    crowd: u32,
    /// The children of a parent whose worker is killed.
    gather: u32,
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|word| word == "worker") {
        worker::main(&arguments[at + 1..]);
        return ExitCode::SUCCESS;
    }
    // Cargo asks every test program to list its tests.
    if arguments.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    let value = |name: &str| {
        let at = arguments.iter().position(|word| word == name)?;
        let value = arguments.get(at + 1)?;
        (!value.starts_with("--")).then(|| value.clone())
    };
    let options = Options {
        kills: value("--kills").map_or(40, |kills| kills.parse().unwrap()),
        seed: value("--seed").map_or_else(rand::random, |seed| seed.parse().unwrap()),
        crowd: value("--crowd").map_or(200, |client| client.parse().unwrap()),
        gather: value("--gather").map_or(250, |count| count.parse().unwrap()),
        stores: value("--store").map_or_else(stores::all, |store| vec![store]),
    };
    #[cfg(feature = "postgres")]
    if arguments.iter().any(|word| word == "--hell") && hell::Machine::of_this_process().is_none() {
        return hell::run_below_shim();
    }
    println!("seed {}", options.seed);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for kind in options.stores.clone() {
        let Some(mut place) = stores::Place::new(&kind) else {
            continue;
        };
        if arguments.iter().any(|word| word == "--beside") {
            let before = value("--beside").map(PathBuf::from);
            let before = before.unwrap_or_else(|| std::env::current_exe().unwrap());
            runtime.block_on(rolling::run(&place, &before, options.seed));
            continue;
        }
        #[cfg(feature = "postgres")]
        if let Some(seconds) = value("--chaos").filter(|_| place.is_server()) {
            let extent = chaos::Extent::of(seconds.parse().unwrap());
            runtime.block_on(chaos::run(&mut place, extent, options.seed));
            continue;
        }
        #[cfg(feature = "postgres")]
        if let (Some(faults), Some(machine)) = (value("--hell"), hell::Machine::of_this_process()) {
            let faults = faults.parse().unwrap();
            runtime.block_on(hell::run(&mut place, &machine, faults, options.seed));
            continue;
        }
        // It prunes whatever has ended.
        if options.gather > 0 {
            runtime.block_on(gather::run(&place, options.gather));
            runtime.block_on(gather::turn_back(&place, options.gather));
        }
        runtime.block_on(killer::run(&place, &options));
        runtime.block_on(stopped::run(&place));
        runtime.block_on(turns::run(&place));
        if place.is_server() && options.crowd > 0 {
            runtime.block_on(crowd::run(&mut place, options.crowd));
        }
    }
    ExitCode::SUCCESS
}
