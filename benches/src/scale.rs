//! `--scale`: so many tasks in backoff at once. Each way to retry runs in a process of its own, which is this program
//! again, so that nothing one way leaves behind is there for the next.

mod flood;
mod request;
mod ways;

use std::env;
use std::error::Error;
use std::process::Command;

use crate::matrix::Matrix;
use crate::median::median;
use flood::Figures;
use ways::WAYS;

const SCALES: [u32; 2] = [100_000, 1_000_000];
/// Of the figures that are times.
const ROUNDS: usize = 3;

const COLUMNS: &[&str] = &[
    "future, bytes",
    "allocated, bytes",
    "resident, bytes",
    "processor, us",
    "all done, s",
];

/// What the others are compared with, and what one of them may need for each byte of it.
const UNRETRIED: &str = "sleep";
const PROMISING: &str = "ours";
const PROMISED: f64 = 1.1;

/// Runs one way and prints its figures: what this program asks itself for.
pub(crate) fn one(way: &str, tasks: &str, weighed: bool) -> Result<(), Box<dyn Error>> {
    let (_, run) = WAYS
        .iter()
        .find(|(name, _)| *name == way)
        .ok_or("no way of this name")?;
    println!("{}", run(tasks.parse()?, weighed)?.to_line());
    Ok(())
}

/// All of it, or only so many tasks.
pub(crate) fn print(word: &str, markdown: bool) -> Result<(), Box<dyn Error>> {
    for tasks in SCALES {
        if !word.is_empty() && word != tasks.to_string() {
            continue;
        }
        let weighed = all(tasks, true)?;
        let rounds: Result<Vec<_>, _> = (0..ROUNDS).map(|_| all(tasks, false)).collect();
        let rounds = rounds?;
        let mut matrix = Matrix::new(format!("{tasks} tasks in backoff, each"), COLUMNS);
        for (way, ((name, _), weighed_once)) in WAYS.iter().zip(&weighed).enumerate() {
            let timed = |of: fn(&Figures) -> f64| {
                let rounds = rounds.iter().filter_map(|round| round.get(way));
                Some(median(rounds.map(of).collect()))
            };
            let numbers = vec![
                Some(weighed_once.future),
                Some(weighed_once.held),
                timed(|figures| figures.resident),
                timed(|figures| figures.worked),
                timed(|figures| figures.seconds),
            ];
            matrix.remarked(*name, numbers, judged(name, &weighed));
        }
        matrix.print(markdown);
    }
    Ok(())
}

/// Each way once, in turn.
fn all(tasks: u32, weighed: bool) -> Result<Vec<Figures>, Box<dyn Error>> {
    WAYS.iter()
        .map(|(way, _)| asked(way, tasks, weighed))
        .collect()
}

fn asked(way: &str, tasks: u32, weighed: bool) -> Result<Figures, Box<dyn Error>> {
    let word = if weighed { "--weighed" } else { "--timed" };
    let output = Command::new(env::current_exe()?)
        .args([word, way, &tasks.to_string()])
        .output()?;
    if !output.status.success() {
        let report = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{way}` with {tasks} tasks failed:\n{report}").into());
    }
    Figures::from_line(&String::from_utf8(output.stdout)?)
}

/// Memory beside that of a task that only sleeps, and whether it is as promised.
fn judged(way: &str, weighed: &[Figures]) -> String {
    let held = |way| {
        let found = WAYS.iter().zip(weighed).find(|((name, _), _)| *name == way);
        found.map_or(f64::NAN, |(_, figures)| figures.held)
    };
    let times = held(way) / held(UNRETRIED);
    match way {
        PROMISING if times <= PROMISED => format!("memory * {times:.2}, ok   <= {PROMISED}"),
        PROMISING => format!("memory * {times:.2}, OVER <= {PROMISED}"),
        _ => format!("memory * {times:.2}"),
    }
}
