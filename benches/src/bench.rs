//! `cargo run --release -p reattempt-benches`: measures, prints, and says which
//! promises hold. Without arguments all rows, with a word those whose title has it, with
//! `--all` beside all other libraries.
#![allow(clippy::result_large_err, reason = "an error of 128 bytes is measured")]

mod allocations;
mod building;
mod cases;
mod contended;
mod forks;
mod matrix;
mod measure;
mod median;
mod peers;
mod report;
mod rows;
mod scale;
mod sizes;
mod table;

use std::error::Error;
use std::process::ExitCode;

use cases::Run;
use peers::bounds::Asked;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let markdown = arguments.contains(&"--markdown");
    let arguments: Vec<_> = arguments
        .iter()
        .copied()
        .filter(|argument| *argument != "--markdown")
        .collect();
    let bounds = |word, is_quick| {
        peers::bounds::check(Asked {
            word,
            is_quick,
            markdown,
        })
    };
    match arguments.as_slice() {
        [] => rows::print(""),
        ["--case", case, failures, calls] => {
            find(case)?(failures.parse()?, calls.parse()?);
            Ok(())
        }
        #[cfg(unix)]
        ["--cases", words @ ..] => forks::run_each(words, find),
        ["--all"] => report::print(markdown),
        ["--peers"] => peers::print("", markdown),
        ["--peers", word] => peers::print(word, markdown),
        ["--bounds", "--attribute", word] => peers::bounds::attribute(word),
        ["--bounds", "--only"] => bounds("", true),
        ["--bounds", "--only", word] => bounds(word, true),
        ["--bounds"] => bounds("", false),
        ["--bounds", word] => bounds(word, false),
        [flag @ ("--weighed" | "--timed"), way, tasks] => {
            scale::one(way, tasks, *flag == "--weighed")
        }
        ["--contended"] => contended::print("", markdown),
        ["--contended", word] => contended::print(word, markdown),
        ["--building"] => building::print("", markdown),
        ["--building", word] => building::print(word, markdown),
        ["--scale"] => scale::print("", markdown),
        ["--scale", word] => scale::print(word, markdown),
        [word] if !word.starts_with('-') => rows::print(word),
        _ => Err("the arguments are in benches/README.md".into()),
    }
}

/// A case of ours, or `way/kind`: one of a way to retry.
fn find(case: &str) -> Result<Run, Box<dyn Error>> {
    let run = match case.split_once('/') {
        Some((way, kind)) => peers::find(way, kind),
        None => cases::find(case),
    };
    Ok(run.ok_or("no case of this name")?)
}
