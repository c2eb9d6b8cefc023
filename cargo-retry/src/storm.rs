//! `cargo retry storm`.

use std::error::Error;
use std::process::ExitCode;

/// Plays an outage with a policy: load, goodput and amplification
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    Ok(ExitCode::SUCCESS)
}
