//! `cargo retry list`.

use std::error::Error;
use std::process::ExitCode;

/// Lists every `#[retry]` and `retry_block!` of the workspace
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    Ok(ExitCode::SUCCESS)
}
