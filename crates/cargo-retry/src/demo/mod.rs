//! `cargo retry demo`: one outage under three policies, as it goes on.

mod picture;
mod runs;
mod screen;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::io::{IsTerminal as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use crate::output;
use crate::plot::Look;
use runs::Run;

/// Plays one outage under three policies: retries at once, a backoff, the default budget
///
/// Needs no project and no network: the server and the time are simulated, and the policies and the budget are
/// those of the library. On a terminal the run takes 12 s. The same seed gives the same run.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Prints the end of the run at once, as it does where standard output is not a terminal
    #[arg(long)]
    fast: bool,

    /// Of the random numbers
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    seed: u64,

    /// Writes the picture of the run to this file; `-` is standard output, and then nothing else is written
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Writes nothing but ASCII
    #[arg(long)]
    ascii: bool,
}

/// How long the run takes on a terminal.
const SHOWN: Duration = Duration::from_secs(12);

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let runs = runs::all(arguments.seed);
    if let Some(path) = &arguments.svg {
        output::write_picture(path, &picture::svg(&runs))?;
        return Ok(ExitCode::SUCCESS);
    }
    let look = Look {
        ascii: arguments.ascii,
        ..Look::of_stdout(screen::HEIGHT)
    };
    if stdout().is_terminal() && !arguments.fast {
        animate(&runs, look)?;
    } else {
        output::coloured(&screen::frame(&runs, runs::SECONDS, look))?;
    }
    output::coloured(&screen::closing(&runs, look))?;
    Ok(ExitCode::SUCCESS)
}

/// Each second of the run over the one before.
fn animate(runs: &[Run], look: Look) -> Result<(), Box<dyn Error>> {
    let pause = SHOWN.checked_div(runs::SECONDS).unwrap_or_default();
    for second in 0..=runs::SECONDS {
        let frame = screen::frame(runs, second, look);
        let lines = frame.lines().count();
        // To the end of each line there may be more of the frame before.
        output::coloured(&frame.replace('\n', "\x1b[K\n"))?;
        if second < runs::SECONDS {
            thread::sleep(pause);
            output::coloured(&format!("\x1b[{lines}A"))?;
        }
    }
    Ok(())
}
