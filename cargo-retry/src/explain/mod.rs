//! `cargo retry explain`.

use std::error::Error;
use std::process::ExitCode;

/// Explains a policy: in words, as a plot, with the rules that it breaks
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    Ok(ExitCode::SUCCESS)
}
