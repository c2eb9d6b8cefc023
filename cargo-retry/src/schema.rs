//! `cargo retry schema`.

use std::error::Error;
use std::process::ExitCode;

/// Prints the JSON schema of configuration files
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    Ok(ExitCode::SUCCESS)
}
