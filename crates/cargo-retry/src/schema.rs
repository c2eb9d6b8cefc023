//! `cargo retry schema`.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use reattempt_config::schema;

use crate::output;

/// Prints the JSON schema of configuration files, for editors
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Writes it to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    match &arguments.output {
        None => output::print(schema())?,
        Some(path) => std::fs::write(path, schema()).map_err(|fault| {
            let path = path.display();
            format!("cannot write `{path}` ({fault}); check the folder and its permissions")
        })?,
    }
    Ok(ExitCode::SUCCESS)
}
