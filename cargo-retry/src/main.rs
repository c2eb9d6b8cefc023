//! `cargo retry`: what the policies of a code base are, before production shows it.

mod check;
mod code;
mod explain;
mod list;
mod output;
mod plot;
mod policy;
mod schema;
mod storm;
mod table;
mod wrap;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// As cargo calls it: `cargo-retry retry list`.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    Retry(Retry),
}

/// Lists, explains and checks the retry policies of a code base, and plays an outage with them
#[derive(Debug, clap::Args)]
#[command(version, arg_required_else_help = true)]
struct Retry {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Arguments),
    Explain(explain::Arguments),
    Check(check::Arguments),
    Schema(schema::Arguments),
    Storm(storm::Arguments),
}

fn main() -> ExitCode {
    let mut words: Vec<_> = std::env::args_os().collect();
    // Called by its own name, without cargo.
    if words.get(1).is_none_or(|word| word != "retry") {
        words.insert(words.len().min(1), "retry".into());
    }
    let Cargo::Retry(Retry { command }) = Cargo::parse_from(words);
    let done = match command {
        Command::List(arguments) => list::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Storm(arguments) => storm::run(&arguments),
    };
    done.unwrap_or_else(|fault| {
        eprintln!("error: {fault}");
        ExitCode::from(2)
    })
}
