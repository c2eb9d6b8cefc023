//! A server, a database and a network that misbehave at random, and what has to hold all the same. See the README.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a run that panics has failed"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "numbers of one run are small"
)]

mod calls;
mod calm;
mod drills;
mod invariants;
mod log;
mod ops;
mod other;
mod plan;
mod policies;
mod proxy;
mod random;
mod run;
mod server;
#[path = "../../../examples/servers/mod.rs"]
mod servers;
mod shared_budgets;
mod stalls;
mod storm;
mod tales;
mod work;

use std::env;
use std::process::{Command, ExitCode};
use std::time::Duration;

use plan::Plan;

const USAGE: &str = "usage: reattempt-chaos [--seed NUMBER] [--seconds NUMBER] [--seeds HOW_MANY]";

/// What the command line says.
struct Asked {
    seed: u64,
    seconds: u64,
    /// So many seeds from `seed` on, each in a process of its own.
    seeds: Option<u64>,
}

impl Asked {
    fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut asked = Self {
            seed: 7,
            seconds: 60,
            seeds: None,
        };
        while let Some(word) = words.next() {
            let number = words.next()?.parse().ok()?;
            match word.as_str() {
                "--seed" => asked.seed = number,
                "--seconds" => asked.seconds = number,
                "--seeds" => asked.seeds = Some(number),
                _ => return None,
            }
        }
        Some(asked)
    }
}

/// The program.
pub fn main() -> ExitCode {
    let Some(asked) = Asked::read(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let is_well = match asked.seeds {
        Some(seeds) => all(&asked, seeds),
        None => one(&asked),
    };
    if is_well {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Budgets and breakers are statics, so that each seed has a process of its own.
fn all(asked: &Asked, seeds: u64) -> bool {
    let own = env::current_exe().unwrap();
    let seconds = asked.seconds.to_string();
    let run = |seed: u64| {
        let words = ["--seed", &seed.to_string(), "--seconds", &seconds];
        Command::new(&own).args(words).status().unwrap().success()
    };
    let failed: Vec<_> = (asked.seed..asked.seed + seeds)
        .filter(|seed| !run(*seed))
        .collect();
    println!("{seeds} seeds, {} failed: {failed:?}", failed.len());
    failed.is_empty()
}

fn one(asked: &Asked) -> bool {
    let Some(postgres) = servers::Server::postgres() else {
        // It has said how to install it.
        return false;
    };
    let plan = Plan {
        seed: asked.seed,
        length: Duration::from_secs(asked.seconds),
    };
    let counts = run::run(plan, postgres.port);
    invariants::report(plan, &counts)
}
