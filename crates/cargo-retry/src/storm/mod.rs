//! `cargo retry storm`: arguments -> policy and scene -> three runs -> pictures, a table, and what they mean.

pub(crate) mod allowance;
mod arguments;
mod asked;
mod charts;
pub(crate) mod contender;
mod json;
mod meaning;
mod play;
mod progress;
mod report;
mod setting;
mod table;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

pub(crate) use arguments::Arguments;

use crate::explain::faults;
use crate::output;
use crate::plot::Look;
use crate::policy::{Given, Refused};
use asked::Asked;
use play::{Callers, Play};

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    arguments::one_policy(arguments)?;
    let given = match asked::given(arguments) {
        Ok(given) => given,
        Err(Refused::Words(words)) => return Err(words.into()),
        Err(Refused::ConfigError(faults)) => return crate::faults::refuse(&faults, arguments.json),
    };
    let look = Look {
        ascii: arguments.ascii,
        ..Look::of_stdout(report::HEIGHT)
    };
    if !given.broken.is_empty() {
        return refuse(&given, arguments.json, look);
    }
    let (play, notes) = played(arguments, &given)?;
    let files = match &arguments.svg {
        Some(folder) => pictures(&play, folder)?,
        None => Vec::new(),
    };
    if arguments.json {
        output::print_json(&json::value(&play, &notes))?;
    } else {
        let notes: Vec<_> = notes.iter().map(output::shown).collect();
        output::coloured(&report::text(&play, &notes, &files, look))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A policy that does not compile is not played.
fn refuse(given: &Given, json: bool, look: Look) -> Result<ExitCode, Box<dyn Error>> {
    if json {
        output::print_json(&json::faults(given))?;
    } else {
        anstream::eprint!("{}", faults::words(given, look));
    }
    Ok(ExitCode::FAILURE)
}

fn played(arguments: &Arguments, given: &Given) -> Result<(Play, Vec<String>), String> {
    let Asked { contender, notes } = asked::policy(arguments, given)?;
    let mut scene = setting::scene(arguments)?;
    // Of all of them, so that they differ by their retries alone.
    scene.timeout = contender.limit(scene.timeout);
    let callers = Callers {
        services: arguments.chain,
        clients: arguments.clients,
    };
    let mut play = play::play(scene, callers, contender)?;
    play.is_default = arguments.policy.is_none();
    Ok((play, notes))
}

fn pictures(play: &Play, folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let unwritten = |path: &Path, error: &io::Error| {
        let path = path.display();
        format!("cannot write to `{path}` ({error}); give `--svg` a folder that can be written to")
    };
    fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
    let mut files = Vec::new();
    for (name, chart) in charts::all(play) {
        let path = folder.join(name).with_extension("svg");
        fs::write(&path, chart.svg()).map_err(|error| unwritten(&path, &error))?;
        files.push(path);
    }
    Ok(files)
}
