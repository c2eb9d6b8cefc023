//! Prints the figures and draws the pictures of the documentation.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use reattempt_storm::{figures, pictures, scenarios};

/// Beside the other documents, wherever this is started.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/storms");

fn main() -> Result<ExitCode, Box<dyn Error>> {
    println!("{}", figures::heading());
    let mut all_met = true;
    for figure in scenarios::figures() {
        println!("{figure}");
        all_met &= figure.is_met();
    }

    fs::create_dir_all(FOLDER)?;
    let measured = fs::read_to_string(Path::new(FOLDER).join("measured.txt"))?;
    for (name, chart) in pictures::all(&measured) {
        fs::write(Path::new(FOLDER).join(name), chart.svg())?;
        println!("docs/storms/{name}");
    }
    Ok(if all_met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
