//! `cargo retry`: what the policies of a code base are, before production shows it.

mod check;
mod code;
mod demo;
mod explain;
mod faults;
mod fix;
mod input;
mod list;
mod output;
mod plot;
mod policy;
mod schema;
mod storm;
mod suggest;
mod table;
mod top;
mod wrap;

use std::io;
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;

use clap::{Parser, Subcommand};

/// As cargo calls it: `cargo-retry retry list`.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    Retry(Retry),
}

/// Lists, explains and checks the retry policies of a code base, simulates an outage, and watches a running service
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
    Demo(demo::Arguments),
    Suggest(suggest::Arguments),
    Fix(fix::Arguments),
    Top(top::Arguments),
}

/// Code nests, and who reads it does so, too: in generated code deeper than the stack of the main thread is.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let mut words: Vec<_> = std::env::args_os().collect();
    // Called by its own name, without cargo.
    if words.get(1).is_none_or(|word| word != "retry") {
        words.insert(words.len().min(1), "retry".into());
    }
    let Cargo::Retry(Retry { command }) = Cargo::parse_from(words);
    done(command).unwrap_or_else(|fault| {
        eprintln!("error: {}", output::shown(&fault));
        ExitCode::from(2)
    })
}

fn done(command: Command) -> Result<ExitCode, String> {
    let run = || {
        let done = match command {
            Command::List(arguments) => list::run(&arguments),
            Command::Explain(arguments) => arguments
                .of_code(list::keys)
                .and_then(|it| explain::run(&it)),
            Command::Check(arguments) => check::run(&arguments),
            Command::Schema(arguments) => schema::run(&arguments),
            Command::Storm(arguments) => storm::run(&arguments),
            Command::Demo(arguments) => demo::run(&arguments),
            Command::Suggest(arguments) => suggest::run(&arguments),
            Command::Fix(arguments) => fix::run(&arguments),
            Command::Top(arguments) => top::run(&arguments),
        };
        done.map_err(|fault| fault.to_string())
    };
    let done = thread::Builder::new().stack_size(STACK).spawn(run);
    let done = done.map_err(|fault: io::Error| fault.to_string())?;
    done.join().unwrap_or_else(|panic| resume_unwind(panic))
}
