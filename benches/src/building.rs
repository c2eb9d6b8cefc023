//! `--building`: what a library costs the one who compiles it, once as a dependency and then with each function that has
//! its attribute. Times differ from run to run: medians are shown, and those of functions are
//! of processors.

mod crates;
pub(crate) mod functions;
mod instances;
mod libraries;
mod sources;

use std::error::Error;
use std::process::Command;
use std::thread::available_parallelism;

use crates::Folder;

/// All of it, or what begins with the word.
pub(crate) fn print(word: &str, markdown: bool) -> Result<(), Box<dyn Error>> {
    let folder = Folder::make()?;
    println!("{}", machine()?);
    if "libraries".starts_with(word) {
        libraries::matrix(&folder)?.print(markdown);
    }
    if "instances".starts_with(word) {
        instances::matrix(&folder)?.print(markdown);
    }
    if "functions".starts_with(word) {
        functions::matrix()?.print(markdown);
    }
    Ok(())
}

fn machine() -> Result<String, Box<dyn Error>> {
    let version = Command::new("rustc").arg("--version").output()?.stdout;
    let (version, cores) = (String::from_utf8(version)?, available_parallelism()?);
    Ok(format!("{cores} cores, {}", version.trim()))
}
